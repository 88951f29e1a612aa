"""Shell completion: what may stand where on the command line, and the scripts that shells read.

The shell asks the command itself, with the words of the line in its environment (click's protocol).
Completing never fails: what cannot be had is not offered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

SHELLS = ("bash", "zsh", "fish")

PROGRAM = "conformance"

VARIABLE = "_CONFORMANCE_COMPLETE"

Offer = tuple[str, str]
"""A word, and what it means."""

# bash begins words at @, = and : too, so that PROTOCOL@REVISION comes in pieces. They are put together
# again for the command, and what stands before the piece that bash replaces is cut off the answers.
BASH = """\
_conformance_completion() {
    local line=$COMP_LINE word whole head answer kind value
    local -a words=()
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if (( ${#words[@]} )) && [[ $line != [[:space:]]* ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
        line=${line#"${line%%[![:space:]]*}"}
        line=${line#"$word"}
    done
    whole=${words[-1]}
    head=${whole%"$2"}
    head=${head#--*=}
    answer=$(IFS=$'\\n'; env COMP_WORDS="${words[*]}" COMP_CWORD=$(( ${#words[@]} - 1 )) \\
        _CONFORMANCE_COMPLETE=bash_complete "$1" 2>/dev/null)
    COMPREPLY=()
    while IFS=, read -r kind value; do
        case $kind in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("${value#"$head"}") ;;
        esac
    done <<< "$answer"
}

complete -o nosort -F _conformance_completion conformance
"""


def script(shell: str, main: click.Command) -> str:
    """What a shell reads to complete the command: bash 4.4, zsh or fish."""
    if shell == "bash":
        return BASH
    made = get_completion_class(shell)
    assert made is not None
    return made(main, {}, PROGRAM, VARIABLE).source()


def enter(main: click.Group) -> None:
    """Let the parameters of all commands offer what `OFFERS` has under their names."""
    for command in main.commands.values():
        for parameter in command.params:
            offer = OFFERS.get(parameter.name or "")
            if offer is not None and not isinstance(parameter.type, click.Choice):
                parameter.shell_complete = partial(_complete, offer)  # type: ignore[method-assign]


def _complete(
    offer: Callable[[str], Iterator[Offer]], context: click.Context, begun: str
) -> list[CompletionItem]:
    try:
        offered = list(offer(_protocol(context)))
    except Exception:  # a person is typing: what is wrong is told when the command is run
        return []
    return [CompletionItem(word, help=means or None) for word, means in offered if word.startswith(begun)]


def _protocol(context: click.Context) -> str:
    """The protocol that the line names, if it does."""
    named = context.params.get("protocol")
    # While an option still lacks its value, click has not told the arguments apart.
    known = {word for word, _ in _protocols("")}
    return str(named or next((word for word in context.args if word in known), ""))


def _packs(name: str) -> tuple[Any, ...]:
    """The pack of that name, else all."""
    from conformance import packs

    return (packs.find(name),) if name else packs.find_all()


def _protocols(_: str) -> Iterator[Offer]:
    found = _packs("")
    yield from dict.fromkeys((pack.protocol, "the newest revision") for pack in found)
    yield from ((pack.name, pack.meta.get("title", "")) for pack in found)


def _kinds(name: str) -> Iterator[Offer]:
    yield from {kind.name: kind.summary for pack in _packs(name) for kind in pack.kinds}.items()


def _roles(name: str) -> Iterator[Offer]:
    yield from {role: means for pack in _packs(name) for role, means in pack.meta["roles"].items()}.items()


def _requirements(name: str) -> Iterator[Offer]:
    rows = {row.id: row.summary for pack in _packs(name) for row in pack.requirements.values()}
    yield from rows.items()


def _scenarios(name: str) -> Iterator[Offer]:
    from conformance import catalogue

    yield from dict.fromkeys((one, "") for pack in _packs(name) for one in catalogue.scenario_names(pack))


def _renderings(_: str) -> Iterator[Offer]:
    from conformance import report

    yield from ((name, "") for name in report.RENDERERS)


OFFERS: Mapping[str, Callable[[str], Iterator[Offer]]] = {
    "protocol": _protocols,
    "kind": _kinds,
    "role": _roles,
    "requirement": _requirements,
    "identifier": _requirements,
    "scenario": _scenarios,
    "form_out": _renderings,
}
"""By the name of the parameter: what it may be, given the protocol that the line names."""
