"""Objects of a shape: the members that have to be there, some that may, and of a map some more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from conformance.events import JSON
from conformance.generation import texts
from conformance.generation.choosing import Choices
from conformance.generation.quests import FAR, Quest
from conformance.generation.schemata import Site
from conformance.generation.shapes import Impossible, Shape, fits

if TYPE_CHECKING:
    from conformance.generation.drawing import Drawing, Spot

_TRIES = 24
_DEEP = 6
_BITS = 12


def drawn(drawing: Drawing, shape: Shape, spot: Spot) -> dict[str, JSON]:
    """An object of the shape; Impossible where none is found."""
    return _Object(drawing, shape, spot).drawn()


class _Object:
    """One object being drawn."""

    def __init__(self, drawing: Drawing, shape: Shape, spot: Spot) -> None:
        self._drawing, self._shape, self._spot = drawing, shape, spot
        self._values: dict[str, JSON] = {}
        self._extra: dict[str, list[Site]] = {}
        if "known" not in shape.parts:
            shape.parts["known"] = list(dict.fromkeys(name for one in shape.members for name in one.named))
        self._known: list[str] = shape.parts["known"]
        self._wanted: str | None = None

    def drawn(self) -> dict[str, JSON]:
        shape = self._shape
        self._wanted = self._wanted_name() if self._spot.is_seeking else None
        for names, member in shape.some_members:
            taken = [*shape.required, *self._extra]
            name = self._new_name([*shape.names, names], taken, [member])
            self._extra[name] = [member]
        needed = dict.fromkeys([*shape.required, *self._extra, *([self._wanted] if self._wanted else [])])
        if len(needed) > shape.size[1]:
            raise Impossible
        optional = [name for name in self._known if name not in needed]
        chosen = self._chosen(optional) if len(needed) < shape.size[1] else set()
        for name in [*self._known, *(name for name in needed if name not in self._known)]:
            if name in needed:
                self._add(name, needed=True)
            elif name in chosen and len(self._values.keys() | needed) < shape.size[1]:
                self._add(name, needed=False)
        self._fill()
        return self._values

    def _chosen(self, names: list[str]) -> set[str]:
        """Some of the members that need not be there."""
        often, choices = self._drawing.often(self._spot.depth), self._drawing.choices
        if often != 50:  # one, or mostly none
            place = choices.index(max(len(names) + 1, 100 // often)) if names else 0
            return {names[place - 1]} if 0 < place <= len(names) else set()
        found: set[str] = set()
        for at in range(0, len(names), _BITS):  # half of them: one decision for many
            some = names[at : at + _BITS]
            bits = choices.integer(0, (1 << len(some)) - 1)
            found |= {name for number, name in enumerate(some) if bits >> number & 1}
        return found

    def _add(self, name: str, needed: bool) -> None:
        drawing, shape = self._drawing, self._shape
        joint = drawing.joints.member(shape, name)
        if name in self._extra:
            joint = drawing.joints.of([*joint.sites, *self._extra[name]])
        try:
            if joint.hopeless or not self._is_a_name(name):
                raise Impossible
            if not needed and self._spot.depth > _DEEP and joint.height > 2:
                return
            self._values[name] = drawing.value(joint, self._spot.inside(name, name == self._wanted))
        except Impossible:
            if needed:
                raise

    def _is_a_name(self, name: str) -> bool:
        names = self._shape.names
        return not names or any(fits(one, name) for one in self._drawing.joints.of(names).shapes)

    def _fill(self) -> None:
        """As many more members as are needed, those with known names first; and some more of a map."""
        least, most = self._shape.size
        for name in self._known:
            if len(self._values) >= least:
                break
            if name not in self._values:
                self._add(name, needed=False)
        needed = max(least - len(self._values), 0)
        for number in range(min(max(self._more(), needed), most - len(self._values))):
            try:
                self._add(self._new_name(list(self._shape.names), self._values, []), needed=True)
            except Impossible:
                if number < needed:
                    raise
                return

    def _more(self) -> int:
        members, choices = self._shape.members, self._drawing.choices
        is_map = not members or any(one.patterned or one.rest is not None for one in members)
        if is_map and self._spot.depth <= _DEEP and self._may_have_more() and choices.chance(30):
            return choices.integer(1, 2)
        return 0

    def _may_have_more(self) -> bool:
        """Whether a member of another name can have a value, as far as that is seen at once."""
        if "more" not in self._shape.parts:
            rests = [one.rest for one in self._shape.members if one.rest is not None and not one.patterned]
            rests += (
                []
                if any(one.patterned for one in self._shape.members)
                else [site for _, site in self._shape.other_members]
            )
            self._shape.parts["more"] = not self._drawing.joints.of(rests).hopeless
        return bool(self._shape.parts["more"])

    def _new_name(
        self, names: list[Site], taken: Iterable[str], member: list[Site], quest: Quest | None = None
    ) -> str:
        """A name that fits and is not taken, whose member can have a value, and leads on with the quest;
        Impossible where none is."""
        hints = [pattern for one in self._shape.members for pattern, _ in one.patterned]
        for attempt in range(_TRIES):
            choices = self._drawing.choices
            choices = choices.again(attempt) if attempt else choices
            name = self._drawn_name(names, hints, attempt, choices)
            if name in taken or name in self._known or not self._is_a_name(name):
                continue
            sites = [*self._shape.member(name), *member]
            leads = quest is None or quest.distance(sites) < FAR
            if leads and not self._drawing.joints.is_hopeless(sites):
                return name
        raise Impossible

    def _drawn_name(self, names: list[Site], hints: list[str], attempt: int, choices: Choices) -> str:
        if hints and attempt % 2 == (1 if names else 0):
            name = texts.of_pattern(hints[choices.index(len(hints))], choices)
            if not names or any(fits(one, name) for one in self._drawing.joints.of(names).shapes):
                return name
        if not names:
            return texts.word(choices)
        for shape in self._drawing.joints.of(names).shapes:
            if "string" in shape.types:
                try:
                    return _of_names(shape, choices)
                except Impossible:
                    continue
        raise Impossible

    def _wanted_name(self) -> str | None:
        """The member in which the wish goes on, if it does."""
        quest = self._spot.quest
        assert quest is not None
        if quest.target is None:
            return quest.steps[self._spot.depth] if self._spot.depth < len(quest.steps) else None
        far = {
            name: quest.distance(self._drawing.joints.member(self._shape, name).sites) for name in self._known
        }
        best = min(far, key=lambda name: far[name], default=None)
        if best is not None and far[best] < FAR:
            return best
        if quest.distance(self._others()) == FAR:
            return None
        return self._new_name(list(self._shape.names), [], [], quest)

    def _others(self) -> Iterable[Site]:
        """The schemas of members that no schema names."""
        for one in self._shape.members:
            yield from (site for _, site in one.patterned)
            yield from () if one.rest is None else (one.rest,)
        yield from (site for _, site in self._shape.other_members)


def _of_names(shape: Shape, choices: Choices) -> str:
    if shape.allowed is not None:
        return str(shape.allowed[choices.index(len(shape.allowed))])
    return texts.text(shape, choices)
