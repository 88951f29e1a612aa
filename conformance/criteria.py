"""How a requirement is judged, in words: each kind of check as a sentence made from its parameters.

A kind of check that has no sentence of its own is told by the docstring of its class, and its parameters.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from conformance import protocols
from conformance.families import CHECKS
from conformance.findings import Requirement
from conformance.packs import Pack

Spec = Mapping[str, Any]
Sentence = Callable[[Spec, Pack], str]


def sentence(requirement: Requirement, spec: Spec, pack: Pack) -> str:
    """What one check of a requirement judges."""
    kind = spec["kind"]
    if kind == "code":
        return _in_words(_of_code(spec["function"]), requirement.id, {})
    if kind in SENTENCES:
        return SENTENCES[kind](spec, pack)
    parameters = {name: value for name, value in spec.items() if name != "kind"}
    made = CHECKS.get(kind)
    docstring = _docstring(made.__module__, getattr(made, "__name__", ""), made) if made else None
    return _in_words(docstring, requirement.id, parameters)


def claim(spec: Spec, pack: Pack) -> str:
    """Which constraints of schemas one claim of a requirement makes its own."""
    keyword = f"the keyword {spec['keyword']}" if "keyword" in spec else "every constraint"
    words = [keyword]
    if "at" in spec:
        words.append(f"at {spec['at']}")
    if "instance" in spec:
        words.append(f"on the message's {spec['instance']}" if spec["instance"] else "on the whole message")
    if "on" in spec:
        words.append(f"of {_kinds(spec, pack)}")
    return " ".join(words)


def _of_code(function: str) -> str | None:
    module, _, name = function.partition(".")
    place = f"{protocols.__name__}.{module}"
    return _docstring(place, name, getattr(import_module(place), name, None))


def _in_words(docstring: str | None, name: str, parameters: Spec) -> str:
    told = (docstring or "A check that says nothing of itself.").split("\n\n")[0]
    said = " ".join(told.split()).removeprefix(f"{name}: ")
    if said.partition(" ")[0].isalpha():  # and is not a method's name
        said = said[0].upper() + said[1:]
    return f"{said} {_json(parameters)}" if parameters else said


def _docstring(module: str, name: str, made: Any) -> str | None:
    """What a class or a rule says of itself; where it was compiled, its source beside it does."""
    return inspect.getdoc(made) or _written(module, name)


def _written(module: str, name: str) -> str | None:
    """The docstring of a class or a function in the source of a module that is imported."""
    place = getattr(sys.modules.get(module), "__file__", None)
    return _docstrings(Path(place).with_name(f"{module.rpartition('.')[2]}.py")).get(name) if place else None


@cache
def _docstrings(source: Path) -> Mapping[str, str | None]:
    text = source.read_text(encoding="utf-8") if source.is_file() else ""
    made = [node for node in ast.parse(text).body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
    return {node.name: ast.get_docstring(node) for node in made}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _listed(names: Iterable[str], last: str = "or") -> str:
    """`a`, `a or b`, `a, b or c`."""
    *most, final = names
    return f"{', '.join(most)} {last} {final}" if most else final


def _kinds(spec: Spec, pack: Pack, member: str = "on") -> str:
    named = spec.get(member, ["*"])
    if "*" in named or {kind.name for kind in pack.kinds} <= set(named):
        return "any kind"
    return _listed(named)


def _table(spec: Spec) -> str:
    return f"the lifecycle {spec['lifecycle']}"


def _schema(spec: Spec, pack: Pack) -> str:
    return f"A message of {_kinds(spec, pack)} keeps the constraints of schemas that are this requirement's."


def _bounds(spec: Spec, _: Pack) -> str:
    said = [
        f"{bounds} at {_listed(spec[name], 'and')}"
        for name, bounds in (("u53", "0 to 2^53-1"), ("i53", "-(2^53-1) to 2^53-1"))
        if name in spec
    ]
    if spec.get("only") == "type":
        return f"These values are numbers: {_listed([*spec.get('u53', ()), *spec.get('i53', ())], 'and')}."
    return f"These numbers are integers, as exact tokens: {'; '.join(said)}."


def _requires(spec: Spec, pack: Pack) -> str:
    said = f"The value at {spec['at']} of a message" if spec.get("at") else "A message"
    said += f" of {_kinds(spec, pack)}"
    if "from" in spec:
        said += f" that moves something on from {_listed(spec['from'])} ({_table(spec)})"
    said += f" fits {_json(spec['then'])}"
    return f"{said}, if it fits {_json(spec['when'])}." if "when" in spec else f"{said}."


def _matches(spec: Spec, pack: Pack) -> str:
    said = f"{spec['field']} of {_kinds(spec, pack)} equals {spec['their']} of "
    related = spec.get("related")
    if related == "request":
        return f"{said}the {_kinds(spec, pack, 'with')} that it answers."
    said += f"an earlier {_kinds(spec, pack, 'with')}"
    return f"{said} whose {related[1]} is its {related[0]}." if related else f"{said}."


def _sequence(spec: Spec, pack: Pack) -> str:
    again = {True: ", which may repeat an earlier one", False: ""}
    rows = [f"{row['at']} of {_kinds(row, pack)}{again[row.get('report', False)]}" for row in spec["fields"]]
    said = f"Over a session, these numbers start at {spec['start']} and grow by one: {'; '.join(rows)}."
    got = [f"{row['at']} of {_kinds(row, pack)}" for row in spec.get("acknowledged", ())]
    return f"{said} What the other side says it got was sent: {'; '.join(got)}." if got else said


def _monotonic(spec: Spec, pack: Pack) -> str:
    return " ".join(_series(row, pack) for row in spec["series"])


def _series(row: Spec, pack: Pack) -> str:
    said = f"Over a session, {row['at']} of {_kinds(row, pack)} "
    said += "always grows" if row.get("strict") else "never goes back"
    said += f", for each {row['per']} of its own" if "per" in row else ""
    return f"{said}, in the order of {row['order']}." if "order" in row else f"{said}."


def _transition(spec: Spec, pack: Pack) -> str:
    said = f"Every move that a message of {_kinds(spec, pack)} tells of is a transition of {_table(spec)}."
    if spec.get("begun"):
        said += " A state of what never began is no move."
    if "unless" in spec:
        said += f" What follows {_listed(spec['unless'])} is judged by another requirement."
    return said


def _silence(spec: Spec, pack: Pack) -> str:
    states = _listed(spec["states"])
    return f"No message of {_kinds(spec, pack)} is about what was {states} already ({_table(spec)})."


def _reason_required(spec: Spec, pack: Pack) -> str:
    states = _listed(spec["states"])
    return f"A message of {_kinds(spec, pack)} that reports {states} ({_table(spec)}) gives a reason."


def _reason_allowed(spec: Spec, _: Pack) -> str:
    return (
        f"The reason of a move is one that the transition lists ({_table(spec)}), or fits the pattern "
        f"{_json(spec['vendor'])}. Where it lists none, a reason is a warning."
    )


SENTENCES: Mapping[str, Sentence] = {
    "schema": _schema,
    "json-text": lambda spec, pack: "The text of each message is free of this fault.",
    "integer-bounds": _bounds,
    "direction": lambda spec, pack: "Each message is of a kind that its sender's role may send.",
    "requires": _requires,
    "matches": _matches,
    "sequence": _sequence,
    "monotonic": _monotonic,
    "transition": _transition,
    "terminal-silence": _silence,
    "reason-required": _reason_required,
    "reason-allowed": _reason_allowed,
    "scenario": lambda spec, pack: "A step of a scenario proves it, or does not.",
}
"""By kind of check; that of `code` is the docstring of what its `function` names."""
