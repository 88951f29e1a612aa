"""ATEP: what each step of a run made, and what of it was dropped again."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from conformance.checks import same
from conformance.protocols.atep_exchange import Input, Remark
from conformance.remembered import forget_oldest
from conformance.wording import shown

Payload = dict[str, Any]

MADE = 200
"""What so many steps of one run made is remembered, and what was dropped of as many."""


@dataclass(slots=True)
class Payloads:
    """What steps made that counts, by step, and what was made and then rolled back.

    `rejected` is what the last step made, if it was rejected; what the steps of `awaited` made may have
    been changed by whoever was waited for.
    """

    made: dict[str, Payload] = field(default_factory=dict)
    dropped: list[tuple[str, Payload]] = field(default_factory=list)
    rejected: tuple[str, Payload] | None = None
    awaited: set[str] = field(default_factory=set)

    def clear(self) -> None:
        """Nothing is known of them, or another run begins."""
        self.made.clear()
        self.dropped.clear()
        self.awaited.clear()
        self.rejected = None

    def take(self, step: str, status: object, action: object, payload: Any) -> None:
        """An output came."""
        self.rejected = None
        self.made.pop(step, None)
        self.awaited.discard(step)
        if status == "YIELD_EXTERNAL":
            self.awaited.add(step)
        if not isinstance(payload, dict):
            return
        if (status, action) == ("SUCCESS", "PROCEED"):
            self.made[step] = payload
            if forget_oldest(self.made, MADE):
                self.dropped.clear()  # it may be what one of these made
        elif status == "QA_REJECTED":
            self.rejected = step, payload

    def drop(self, way: str, step: str) -> None:
        """The run went back to `step`: to the previous one, or to the first, and then all is dropped."""
        if way not in ("previous", "first"):
            return
        if self.rejected is not None:
            self.dropped.append(self.rejected)
        for name in list(self.made) if way == "first" else [step]:
            if name in self.made:
                self.dropped.append((name, self.made.pop(name)))
        del self.dropped[:-MADE]
        self.awaited.clear()

    def judge(
        self, new: Input, before: str | None, known: Collection[str], awaited: bool
    ) -> Iterable[Remark]:
        """Whether previous_output is what the step `before` made.

        It may also be an object of what several steps made, by their ids, or empty, where nothing is
        handed on. `awaited` if the run waited for somebody, who may have changed it.
        """
        found = new.previous
        if not isinstance(found, dict):
            return
        wanted = self.made.get(before) if before is not None else None
        at = f"{new.at}/step_context/previous_output"
        if wanted is not None and same(found, wanted):
            yield Remark("previous", True, new.message)
        elif not found:
            yield from self._left_out(new, at)
        elif all(name in known or name in new.needs or name in self.made for name in found):
            yield from self._by_step(new, found, at)
        elif not awaited and before not in self.awaited:
            yield from self._other(new, found, at, wanted, before)

    def _left_out(self, new: Input, at: str) -> Iterable[Remark]:
        for step in new.needs:
            if self.made.get(step):
                said = (
                    f"previous_output is empty, and the step depends on {shown(step)}, which made something"
                )
                yield Remark("previous", False, new.message, said, at, (self.made[step],), {})
                return

    def _by_step(self, new: Input, found: Payload, at: str) -> Iterable[Remark]:
        certain = [name for name in found if name not in self.awaited]
        judged = [name for name in certain if name in self.made or self._is_dropped(found[name])]
        wrong = [name for name in judged if not same(self.made.get(name), found[name])]
        for name in wrong:
            said = f"previous_output has for {shown(name)} what it did not make, or what was rolled back"
            wanted = (self.made[name],) if name in self.made else ()
            yield Remark("previous", False, new.message, said, at, wanted, found[name])
        if judged and not wrong:
            yield Remark("previous", True, new.message)

    def _other(
        self, new: Input, found: Payload, at: str, wanted: Payload | None, before: str | None
    ) -> Iterable[Remark]:
        if before is None and (self.awaited or any(same(found, payload) for payload in self.made.values())):
            return  # it may be what the step before made, whichever that is
        if self._is_dropped(found):
            said = "previous_output is what a step made before it was rolled back"
        elif wanted is not None:
            said = f"previous_output is not what {shown(before)}, the step before, made"
        else:
            return
        yield Remark("previous", False, new.message, said, at, () if wanted is None else (wanted,), found)

    def _is_dropped(self, found: Any) -> bool:
        return any(same(found, payload) for _, payload in self.dropped if payload)
