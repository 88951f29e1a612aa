"""Scenarios: what the kit actively does, read from YAML into frozen steps.

Errors stand at file:line:column. The YAML is that of the 1.2 core schema (`yes` and `2026-04-01` are
strings) and of the safe loader; a member written twice is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from conformance.errors import BadScenario, NoSuchScenario
from conformance.packs import Pack, data_root
from conformance.schemas import Schemas

PATIENCE = 5.0
"""How long an awaited message may take, in seconds, where a step does not say."""

SUFFIX = ".yaml"


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `verb` is its kind, `args` the members as written, `line` where it stands."""

    verb: str
    args: Mapping[str, Any]
    line: int = 0

    @property
    def proves(self) -> tuple[str, ...]:
        """The requirements that this step decides."""
        named = self.args.get("proves", ())
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

    @property
    def requirements(self) -> tuple[str, ...]:
        """Every requirement that it covers or proves, in order, once."""
        proved = (name for step in self.steps for name in step.proves)
        return tuple(dict.fromkeys((*self.covers, *proved)))


Positions: TypeAlias = dict[str, tuple[int, int]]


def seconds(written: str) -> float:
    """`500 ms` or `5 s` in seconds."""
    number = float(written.rstrip("ms "))
    return number / 1000 if written.endswith("ms") else number


class _Loader(yaml.SafeLoader):
    """The safe loader with the scalars of YAML 1.2's core schema."""


_TAG = "tag:yaml.org,2002:"
_DROPPED = {_TAG + name for name in ("timestamp", "bool", "int", "float")}
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rows if tag not in _DROPPED]
    for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _name, _pattern, _first in (
    ("bool", r"^(?:true|false)$", "tf"),
    ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
    ("float", r"^[-+]?(?:[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)$", "-+0123456789"),
):
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(_pattern), list(_first))


def _value(node: yaml.Node, where: str, positions: Positions, name: str, loader: _Loader) -> Any:
    positions[where] = (node.start_mark.line + 1, node.start_mark.column + 1)
    if isinstance(node, yaml.MappingNode):
        made: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            if key in made:
                mark = key_node.start_mark
                raise BadScenario(
                    f"{name}:{mark.line + 1}:{mark.column + 1}: the member {key!r} is written twice"
                )
            inside = where + "/" + key.replace("~", "~0").replace("/", "~1")
            made[key] = _value(value_node, inside, positions, name, loader)
        return made
    if isinstance(node, yaml.SequenceNode):
        return [
            _value(item, f"{where}/{index}", positions, name, loader) for index, item in enumerate(node.value)
        ]
    return loader.construct_object(node)


def _parse(text: str, name: str) -> tuple[Any, Positions]:
    loader = _Loader(text)
    positions: Positions = {}
    try:
        node = loader.get_single_node()
        if node is None:
            raise BadScenario(f"{name}:1:1: the file is empty")
        return _value(node, "", positions, name, loader), positions
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{mark.line + 1}:{mark.column + 1}" if mark else "1:1"
        raise BadScenario(f"{name}:{where}: {getattr(error, 'problem', None) or error}") from None
    except RecursionError:
        raise BadScenario(f"{name}:1:1: the file is nested too deeply") from None
    finally:
        loader.dispose()


@cache
def _schema() -> Schemas:
    name = "scenario.schema.json"
    text = (data_root() / "schemas" / "kit" / name).read_text(encoding="utf-8")
    return Schemas({name: json.loads(text)}, "https://json-schema.org/draft/2020-12/schema")


def read(text: str, name: str, pack: Pack, folder: Path | None = None) -> Scenario:
    """The scenario in `text`; `name` stands in errors, `folder` holds what `use` names.

    Raises BadScenario at file:line:column.
    """
    value, positions = _parse(text, name)
    for error in _schema().errors("scenario.schema.json", value):
        line, column = _position(positions, error.pointer)
        raise BadScenario(f"{name}:{line}:{column}: {error.message}")
    _check_names(value, positions, name, pack)
    steps = tuple(_steps(value["steps"], "/steps", positions, pack, folder, name, ()))
    stem = Path(name).name.removesuffix(SUFFIX).removesuffix(".conformance")
    return Scenario(
        stem, value["title"], value["role"], tuple(value["covers"]), steps, value.get("needs", {}), name
    )


def _position(positions: Positions, pointer: str) -> tuple[int, int]:
    while pointer not in positions:
        pointer = pointer.rpartition("/")[0]
    return positions[pointer]


def _check_names(value: dict[str, Any], positions: Positions, name: str, pack: Pack) -> None:
    if value["role"] not in pack.roles:
        line, column = _position(positions, "/role")
        raise BadScenario(f"{name}:{line}:{column}: {pack.name} has the roles {', '.join(pack.roles)}")
    for place, wanted in enumerate(value["covers"]):
        _known(wanted, f"/covers/{place}", positions, name, pack)


def _known(requirement: str, pointer: str, positions: Positions, name: str, pack: Pack) -> None:
    if requirement not in pack.requirements:
        line, column = _position(positions, pointer)
        raise BadScenario(f"{name}:{line}:{column}: {pack.name} has no requirement {requirement!r}")


_NAMING = ("send", "request", "expect", "never")
"""The verbs whose argument is a kind."""


def _steps(
    rows: list[dict[str, Any]],
    where: str,
    positions: Positions,
    pack: Pack,
    folder: Path | None,
    name: str,
    within: tuple[str, ...],
) -> Iterator[Step]:
    for index, row in enumerate(rows):
        here = f"{where}/{index}"
        if "repeat" in row:
            inner = [
                *_steps(row["repeat"]["steps"], f"{here}/repeat/steps", positions, pack, folder, name, within)
            ]
            yield from inner * row["repeat"]["times"]
        elif "use" in row:
            yield from _used(row["use"], positions[here], pack, folder, name, within)
        else:
            yield _step(row, here, positions, pack, name)


def _step(row: dict[str, Any], here: str, positions: Positions, pack: Pack, name: str) -> Step:
    verb = next(verb for verb in VERBS if verb in row)
    line, column = positions[here]
    step = Step(verb, row, line)
    for requirement in step.proves:
        _known(requirement, here, positions, name, pack)
    if verb in _NAMING and not _is_kind(row[verb], pack):
        names = ", ".join(kind.name for kind in pack.kinds)
        raise BadScenario(f"{name}:{line}:{column}: {pack.name} has no kind {row[verb]!r}; it has {names}")
    return step


def _is_kind(name: str, pack: Pack) -> bool:
    known = {kind.name for kind in pack.kinds}
    return name in known or name.removesuffix(".error") in known or name == "*"


def _used(
    wanted: str,
    position: tuple[int, int],
    pack: Pack,
    folder: Path | None,
    name: str,
    within: tuple[str, ...],
) -> Iterator[Step]:
    path = (folder or pack.fixtures / "scenarios") / f"{wanted}{SUFFIX}"
    at = f"{name}:{position[0]}:{position[1]}"
    if wanted in within:
        raise BadScenario(f"{at}: the scenario {wanted!r} uses itself")
    if "/" in wanted or "\\" in wanted or not path.is_file():
        raise BadScenario(f"{at}: there is no scenario {wanted!r} beside this one")
    value, positions = _parse(path.read_text(encoding="utf-8"), str(path))
    for error in _schema().errors("scenario.schema.json", value):
        line, column = _position(positions, error.pointer)
        raise BadScenario(f"{path}:{line}:{column}: {error.message}")
    yield from _steps(value["steps"], "/steps", positions, pack, folder, str(path), (*within, wanted))


VERBS = tuple("send raw request expect never wait silence given set connect close drop".split())
"""What a step may do; `repeat` and `use` are written out when a scenario is read."""


def load(path: Path, pack: Pack) -> Scenario:
    """The scenario in a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadScenario(f"{path}:1:1: the file cannot be read: {error}") from None
    return read(text, str(path), pack, path.parent)


def of_pack(pack: Pack, role: str) -> list[Scenario]:
    """The pack's own scenarios in which the kit plays `role`, by file name.

    Files whose name begins with an underscore are only there to be used by others.
    """
    paths = sorted((pack.fixtures / "scenarios").glob(f"*{SUFFIX}"))
    found = [load(path, pack) for path in paths if not path.name.startswith("_")]
    return [scenario for scenario in found if scenario.role == role]


def select(
    scenarios: list[Scenario], names: tuple[str, ...], requirements: tuple[str, ...]
) -> list[Scenario]:
    """Those whose name fits one of the globs, and that cover or prove a requirement that fits one.

    Raises NoSuchScenario where nothing is left, saying what there is.
    """
    chosen = [
        scenario
        for scenario in scenarios
        if (not names or any(fnmatchcase(scenario.name, glob) for glob in names))
        and (
            not requirements
            or any(fnmatchcase(name, glob) for name in scenario.requirements for glob in requirements)
        )
    ]
    if not chosen:
        there_is = ", ".join(scenario.name for scenario in scenarios) or "none"
        raise NoSuchScenario(f"no scenario is selected; there is {there_is}")
    return chosen
