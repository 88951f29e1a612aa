"""`conformance init`, on a terminal or without one: the questions, and the file that is written."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from conformance import configuration, initiation, packs
from conformance.console import heed_termination, say
from conformance.errors import ConformanceError, ExitCode, UsageError
from conformance.initiation import Lesson, Statement
from conformance.packs import Pack
from conformance.transports.access import Means
from conformance.wording import printable


@dataclass(frozen=True, slots=True)
class Request:
    """What a person asked for; what is empty is asked, or has its default where nobody can be asked."""

    protocol: str = ""
    target: str = ""
    role: str = ""
    out: Path = Path(configuration.DEFAULT_NAME)
    asks: bool = False
    force: bool = False
    means: Means = field(default_factory=Means)


def on_terminal() -> bool:
    """Whether there is somebody to ask."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def execute(request: Request) -> int:
    """Ask, learn, write; the exit code. Raises a UsageError where something that is needed is missing."""
    heed_termination()
    try:
        _spare(request)
        statement = _statement(request)
        text = initiation.text(statement)
        request.out.write_text(text, encoding="utf-8")
    except click.Abort:
        raise KeyboardInterrupt from None
    except OSError as error:
        raise UsageError(f"{request.out} cannot be written: {error.strerror}") from None
    facts = initiation.facts_for(statement.pack, statement.role)
    said = f"{request.out}: {len(statement.facts)} of {len(facts)} facts stated"
    config = "" if request.out == Path(configuration.DEFAULT_NAME) else f" --config {request.out}"
    say(f"{said}; edit it, then: conformance doctor{config}")
    return ExitCode.HOLDS


def _spare(request: Request) -> None:
    """See to it that no file is overwritten unasked."""
    if not request.out.exists() or request.force:
        return
    if not request.asks:
        raise UsageError(f"{request.out} is there already; --force writes it anew")
    click.confirm(f"{request.out} is there already. Write it anew?", abort=True, err=True)


def _statement(request: Request) -> Statement:
    pack = _pack(request)
    role = _role(request, pack)
    target = request.target
    if request.asks and not target:
        _tell(
            "Where is the implementation? stdio:COMMAND, launch:COMMAND, ws://… or what else --target takes."
        )
        target = click.prompt("target", default="", show_default=False, err=True)
    lesson = _lesson(pack, role, target, request.means)
    connection = initiation.connection(request.means, request.out.parent)
    stated = Statement(pack, role, target, lesson.implementation, {}, lesson.hints, connection)
    facts = initiation.defaults(pack, role, lesson)
    if request.asks:
        stated = replace(stated, implementation=dict(_who(lesson.implementation)))
        facts = dict(_asked(pack, role, facts, lesson))
    return replace(stated, facts=facts)


def _pack(request: Request) -> Pack:
    if request.protocol:
        return packs.find(request.protocol)
    names = [pack.name for pack in packs.find_all() if initiation.roles(pack)]
    if not request.asks:
        raise UsageError(f"name a PROTOCOL; there is {', '.join(names)}")
    return packs.find(click.prompt("protocol", type=click.Choice(names), err=True))


def _role(request: Request, pack: Pack) -> str:
    there_is = initiation.roles(pack)
    if not there_is:
        raise UsageError(f"there is no scenario yet for {pack.name}, so nothing of it can be certified")
    if request.role and request.role not in there_is:
        raise UsageError(
            f"no scenario certifies {request.role!r}; those of {pack.name} {', '.join(there_is)}"
        )
    if request.role or len(there_is) == 1 or not request.asks:
        return request.role or there_is[0]
    return str(click.prompt("role", type=click.Choice(there_is), default=there_is[0], err=True))


def _lesson(pack: Pack, role: str, target: str, means: Means) -> Lesson:
    """What a first connection teaches; that there is none is told, and no obstacle."""
    if not target:
        return Lesson()
    try:
        lesson = initiation.learn(pack, role, target, means)
    except ConformanceError as error:
        lesson = Lesson(trouble=str(error))
    if lesson.trouble:
        _tell(f"nothing was learnt from a first connection: {lesson.trouble}")
    return lesson


def _who(learnt: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name in ("name", "version", "vendor"):
        said = click.prompt(f"implementation {name}", default=learnt.get(name, ""), err=True)
        if said:
            yield name, said


def _asked(pack: Pack, role: str, known: Mapping[str, Any], lesson: Lesson) -> Iterator[tuple[str, Any]]:
    """The facts as they were answered."""
    _tell("Facts that scenarios need, as JSON. No answer takes what stands in brackets, or states nothing.")
    for path, row in initiation.facts_for(pack, role).items():
        _tell(f"\n{path}: {row['summary']}")
        if path in lesson.hints:
            _tell(f"the implementation names {', '.join(map(str, lesson.hints[path]))}")
        answer = _fact(path, row["schema"], known.get(path))
        if answer is not None:
            yield path, answer


def _fact(path: str, schema: Mapping[str, Any], default: Any) -> Any:
    """One fact, asked until it is what the schema wants; None where nothing is stated."""
    if schema.get("type") == "boolean":
        return click.confirm(path, default=bool(default), err=True)
    shown = "" if default is None else json.dumps(default, ensure_ascii=False, default=str)
    while said := click.prompt(path, default=shown, show_default=bool(shown), err=True):
        if said == shown:
            return default
        value = _value(said, schema)
        wrong = initiation.mistake(schema, value)
        if not wrong:
            return value
        _tell(wrong)
    return None


def _value(said: str, schema: Mapping[str, Any]) -> Any:
    """What was typed, as JSON; a text that is none is a string where the fact may be one."""
    try:
        return json.loads(said)
    except ValueError:
        return said


def _tell(text: str) -> None:
    say(printable(text), err=True)
