"""Scenarios: what the kit actively does, read from YAML into frozen steps.

Errors stand at file:line:column. Whatever can be seen to be wrong without an implementation is an
error here, so that no step is silently passed over in a run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from conformance import formats, vetting, yamltext
from conformance.errors import BadScenario, NoSuchScenario
from conformance.packs import Pack
from conformance.revisions import Layers
from conformance.vetting import Mistake, Vetting
from conformance.yamltext import Positions

PATIENCE = 5.0
"""How long an awaited message may take, in seconds, where a step does not say."""

SUFFIX = ".yaml"

STEPS = 20_000
"""A scenario has at most this many steps when `repeat` and `use` are written out."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `verb` is its kind, `args` the members as written.

    `line` is the line of the scenario's own file: of a step that is used, that of the `use`.
    """

    verb: str
    args: Mapping[str, Any]
    line: int = 0

    @property
    def proves(self) -> tuple[str, ...]:
        """The requirements that this step decides."""
        return self._named("proves")

    @property
    def breaks(self) -> tuple[str, ...]:
        """The requirements that what this step sends breaks on purpose."""
        return self._named("breaks")

    @property
    def timed(self) -> bool:
        """Whether what it finds depends on time, and so on how late the kit was too."""
        return self.verb == "never" or "deadline" in self.args or bool(self.args.get("timely"))

    def _named(self, member: str) -> tuple[str, ...]:
        named = self.args.get(member, ())
        return (named,) if isinstance(named, str) else tuple(named)

    @property
    def patience(self) -> float:
        """How long its message may take, in seconds."""
        written = self.args.get("deadline", self.args.get("within"))
        return seconds(written) if written else PATIENCE


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario of one pack: `name` is its file's, `role` what the kit plays."""

    name: str
    title: str
    role: str
    covers: tuple[str, ...]
    steps: tuple[Step, ...]
    needs: Mapping[str, Any] = field(default_factory=dict)
    path: str = ""
    takes: tuple[str, ...] = ()
    """What of the implementation it needs for itself alone, sorted."""

    @property
    def requirements(self) -> tuple[str, ...]:
        """Every requirement that it covers or proves, in order, once."""
        proved = (name for step in self.steps for name in step.proves)
        return tuple(dict.fromkeys((*self.covers, *proved)))


VERBS = (
    *("send", "raw", "request", "reply", "expect", "never", "wait"),
    *("silence", "given", "set", "connect", "close", "drop", "ends", "knock"),
    *("take", "leave", "operate", "read"),
)
"""What a step may do; `repeat` and `use` are written out when a scenario is read."""


_TIME = re.compile(r"([0-9]{1,15}(?:\.[0-9]+)?) ?(ms|s)")


def seconds(written: str) -> float:
    """`500 ms` or `5 s` in seconds; BadScenario where a name in it stood for no number."""
    found = _TIME.fullmatch(written)
    if found is None:
        raise BadScenario(f"{written!r} is no time; let a step `given` see to it before")
    return float(found[1]) / (1000 if found[2] == "ms" else 1)


def read(text: str, name: str, pack: Pack, folder: Path | None = None) -> Scenario:
    """The scenario in `text`; `name` stands in errors, `folder` holds what `use` names, else the pack does.

    Raises BadScenario at file:line:column.
    """
    return _scenario(_Source.parse(text, name), pack, folder)


def step(row: Mapping[str, Any], pack: Pack, role: str) -> Step:
    """One step on its own, where the kit plays `role`; BadScenario says what is wrong with it."""
    alone = {"title": "a step", "role": role, "covers": [pack.unknown_kind_id], "steps": [row]}
    try:
        return read(json.dumps(alone), "a step", pack).steps[0]
    except BadScenario as error:
        raise BadScenario(str(error).split(": ", 1)[1]) from None


def load(path: Path, pack: Pack) -> Scenario:
    """The scenario in a file; what it uses stands beside it."""
    return _scenario(_Source.load(path), pack, path.parent)


def _scenario(
    source: _Source, pack: Pack, folder: Path | None, used: dict[Path, _Source] | None = None
) -> Scenario:
    value, name = source.value, source.name
    source.refuse(_mistakes(value, pack))
    stem = Path(name).name.removesuffix(SUFFIX).removesuffix(".conformance")
    beside = Layers(folder) if folder else pack.specimens.inside("scenarios")
    reader = _Reader(beside, Vetting(pack, value["role"]), {} if used is None else used)
    steps = tuple(islice(reader.steps(source, value["steps"], "/steps", (stem,)), STEPS + 1))
    if len(steps) > STEPS:
        raise source.error("/steps", f"written out, the scenario has more than {STEPS} steps")
    covers, needs = tuple(value["covers"]), value.get("needs", {})
    taken = tuple(sorted({*value.get("takes", ()), *reader.taken}))
    return Scenario(stem, value["title"], value["role"], covers, steps, needs, name, taken)


@dataclass(frozen=True, slots=True)
class _Source:
    """One file of a scenario: its value, and where each part stands."""

    name: str
    value: dict[str, Any]
    positions: Positions
    text: str

    @classmethod
    def parse(cls, text: str, name: str) -> _Source:
        """The source of a text that has the form of a scenario."""
        source = cls(name, *yamltext.parse(text, name), text)
        source.refuse(vetting.shape(source.value, (*VERBS, "repeat", "use")))
        source.refuse((error.pointer, error.message) for error in formats.errors("scenario", source.value))
        return source

    @classmethod
    def load(cls, path: Path) -> _Source:
        """The same of a file."""
        try:
            return cls.parse(path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise BadScenario(f"{path}:1:1: the file cannot be read: {error}") from None

    def refuse(self, mistakes: Iterable[Mistake]) -> None:
        """Raise BadScenario for the first of them."""
        for pointer, said in mistakes:
            raise self.error(pointer, said)

    def error(self, pointer: str, said: str) -> BadScenario:
        """The error at this place."""
        return yamltext.misplaced(self.name, self.text, self.positions.get(pointer, (1, 1)), said)


def _mistakes(value: Mapping[str, Any], pack: Pack) -> Iterator[Mistake]:
    if value["role"] not in pack.roles:
        yield "/role", f"{pack.name} has the roles {', '.join(pack.roles)}"
    yield from vetting.requirements(value["covers"], "/covers", pack)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Writes out the steps of a scenario, each vetted after those before it."""

    beside: Layers
    vetting: Vetting
    sources: dict[Path, _Source] = field(default_factory=dict)
    """The files that are used, each read once."""
    taken: set[str] = field(default_factory=set)
    """What they take."""

    def steps(
        self, source: _Source, rows: list[dict[str, Any]], where: str, within: tuple[str, ...]
    ) -> Iterator[Step]:
        """The steps of these rows; `within` are the scenarios that are being written out."""
        for index, row in enumerate(rows):
            here = f"{where}/{index}"
            if "repeat" in row:
                inside = f"{here}/repeat/steps"
                for _ in range(row["repeat"]["times"]):
                    yield from self.steps(source, row["repeat"]["steps"], inside, within)
            elif "use" in row:
                line = source.positions[here][0]
                yield from (replace(step, line=line) for step in self._used(source, row["use"], here, within))
            else:
                yield self._step(source, row, here)

    def _used(self, source: _Source, wanted: str, here: str, within: tuple[str, ...]) -> Iterator[Step]:
        path = self.beside.at(f"{wanted}{SUFFIX}")
        if wanted in within:
            raise source.error(here, f"the scenario {wanted!r} uses itself")
        if "/" in wanted or "\\" in wanted or not path.is_file():
            raise source.error(here, f"there is no scenario {wanted!r} beside this one")
        used = self.sources.get(path) or self.sources.setdefault(path, _Source.load(path))
        self.taken.update(used.value.get("takes", ()))
        yield from self.steps(used, used.value["steps"], "/steps", (*within, wanted))

    def _step(self, source: _Source, row: dict[str, Any], here: str) -> Step:
        verb = next(verb for verb in VERBS if verb in row)
        source.refuse((here + place, said) for place, said in self.vetting.mistakes(verb, row))
        return Step(verb, row, source.positions[here][0])


def of_pack(pack: Pack, role: str) -> list[Scenario]:
    """The pack's own scenarios in which the kit plays `role`, by file name.

    Files whose name begins with an underscore are only there to be used by others.
    """
    return [scenario for scenario in _of_pack(pack) if scenario.role == role]


@cache
def _of_pack(pack: Pack) -> tuple[Scenario, ...]:
    """All of them, which are read once."""
    paths = pack.specimens.like(f"scenarios/[!_]*{SUFFIX}").values()
    used: dict[Path, _Source] = {}
    return tuple(_scenario(_Source.load(path), pack, None, used) for path in paths)


def is_path(name: str) -> bool:
    """Whether a scenario is named by its file, and not by a glob of names."""
    return name.endswith(SUFFIX)


def select(
    scenarios: list[Scenario], names: tuple[str, ...], requirements: tuple[str, ...]
) -> list[Scenario]:
    """Those whose name fits one of the globs, and that cover or prove a requirement that fits one.

    Raises NoSuchScenario where a glob fits nothing, or nothing is left.
    """
    there_is = ", ".join(scenario.name for scenario in scenarios)
    for glob in names:
        if not any(fnmatchcase(scenario.name, glob) for scenario in scenarios):
            raise NoSuchScenario(f"no scenario is called {glob!r}; there is {there_is}")
    for glob in requirements:
        if not any(_concerns(scenario, glob) for scenario in scenarios):
            raise NoSuchScenario(f"no scenario concerns a requirement {glob!r}")
    chosen = [
        scenario
        for scenario in scenarios
        if (not names or any(fnmatchcase(scenario.name, glob) for glob in names))
        and (not requirements or any(_concerns(scenario, glob) for glob in requirements))
    ]
    if not chosen:
        raise NoSuchScenario("no scenario is selected: none of that name concerns such a requirement")
    return chosen


def _concerns(scenario: Scenario, glob: str) -> bool:
    return any(fnmatchcase(name, glob) for name in scenario.requirements)
