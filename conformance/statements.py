"""Which facts of the ICS a scenario rests on, and which of them are stated."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from conformance import jsontext
from conformance.bindings import FACTS, NAME, difference
from conformance.packs import Pack
from conformance.scenarios import Scenario


def needed(pack: Pack, scenario: Scenario) -> list[str]:
    """The facts that it needs, and those that its steps use, by path: `tasks.fails`."""
    known = pack.meta.get("ics", {})
    named = [*_paths(scenario.needs), *(name for step in scenario.steps for name in _used(step.args))]
    return [path for path in known if any(_overlap(one, path) for one in named)]


def _overlap(one: str, other: str) -> bool:
    """Whether two paths name the same, or one of them a part of the other."""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


def unstated(pack: Pack, ics: Mapping[str, Any], scenario: Scenario) -> list[str]:
    """The facts that it rests on and that nothing states; none where the ICS says that it does not apply."""
    if any(stated(ics, path) and difference(match, _at(ics, path)) for path, match in _rows(scenario.needs)):
        return []
    return [path for path in needed(pack, scenario) if not stated(ics, path)]


def stated(ics: Mapping[str, Any], path: str) -> bool:
    """Whether the ICS, defaults included, says anything of this fact."""
    return _at(ics, path) is not jsontext.MISSING


def unmet(ics: Mapping[str, Any], scenario: Scenario, credentials: Container[str]) -> str:
    """What the scenario needs and the ICS does not say, for a person; empty where it says all."""
    if missing := difference(dict(scenario.needs), dict(ics)):
        return f"the ICS does not say what this needs: {missing}"
    named = [step.args["credential"] for step in scenario.steps if "credential" in step.args]
    lacking = [name for name in named if name not in credentials]
    return f"the ICS names no credential {lacking[0]!r} in [connection.credentials]" if lacking else ""


def operated(ics: Mapping[str, Any], scenarios: Iterable[Scenario]) -> str:
    """The name of the first of these scenarios in which an operator does something; empty where none is."""
    acting = (one for one in scenarios if any(step.verb == "operate" for step in one.steps))
    return next((one.name for one in acting if not difference(dict(one.needs), dict(ics))), "")


def applies(ics: Mapping[str, Any], pack: Pack, scenario: Scenario) -> bool:
    """Whether its needs are met and all that it uses is stated."""
    return not difference(dict(scenario.needs), dict(ics)) and not unstated(pack, ics, scenario)


def _at(ics: Mapping[str, Any], path: str) -> Any:
    return jsontext.resolve(ics, jsontext.pointer(path.split(".")))


def _rows(needs: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """Each need by its path: a mapping that is no match of its own holds further ones."""
    for name, match in needs.items():
        if isinstance(match, dict) and set(match) != {"$is"}:
            yield from _rows(match, f"{within}{name}.")
        else:
            yield within + name, match


def _paths(needs: Mapping[str, Any]) -> list[str]:
    return [path for path, _ in _rows(needs)]


def _used(node: Any) -> Iterator[str]:
    """The paths of facts that stand as `${ics.PATH}` anywhere in a value."""
    if isinstance(node, dict | list):
        for inner in node.values() if isinstance(node, dict) else node:
            yield from _used(inner)
    elif isinstance(node, str):
        for found in NAME.finditer(node):
            if found[1].startswith(FACTS):
                yield found[1].removeprefix(FACTS)
