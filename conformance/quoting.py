"""What is wrong with a command that no shell reads: quoting, programs that there are not, words for a shell.

Told from the words and the file system alone; nothing is started.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

_OPERATOR = re.compile(r"\|\|?|&&?|;|\d?(?:>>?|<)(?:&\d|\S*)")
_EXPANDED = re.compile(r"~(?:/.*)?|\$[A-Za-z_{(].*|`.*")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=.*")

_OF_SHELLS = ("cd", "source", ".", "export", "exec", "alias", "ulimit", "set")

_SHELL = "no shell runs; for what only a shell does, make the command sh -c '…'"


def mistakes(words: Sequence[str]) -> Iterator[str]:
    """What is wrong with a command, a sentence each; what is found about the program comes first."""
    said = _of_program(words)
    if said:
        yield said
    for index, word in enumerate(words[1:], 1):
        if _OPERATOR.fullmatch(word):
            yield f"{word!r} is handed to the program as it is: {_SHELL}"
        elif _EXPANDED.fullmatch(word):
            yield f"{word!r} is handed to the program as it is, nothing replaces it: write it out"
        elif parted := _parted(words, index):
            yield f"{parted!r} is there and its name has a space, so it has to stand in quotes"


def _of_program(words: Sequence[str]) -> str:
    program = words[0]
    if _ASSIGNED.fullmatch(program):
        return f"{program!r} sets a variable, and {_SHELL}, or begin it with env: env {program} …"
    if _EXPANDED.fullmatch(program):
        return f"{program!r} is taken as it is, nothing replaces it: write the path out"
    if program in _OF_SHELLS and shutil.which(program) is None:
        return f"{program!r} is a command of shells, and {_SHELL}"
    if os.sep in program:
        return _of_path(words, Path(program))
    if shutil.which(program) is not None:
        return ""
    if Path(program).is_file():
        return f"{program!r} is no program on PATH; a file of this folder is named with its path: ./{program}"
    return _unfound(words, f"{program!r} is no program on PATH")


def _of_path(words: Sequence[str], path: Path) -> str:
    if path.is_dir():
        return f"{words[0]!r} is a folder: name a program in it"
    if not path.exists():
        where = "" if path.is_absolute() else f" in {str(Path.cwd())!r}, from where it would be started"
        return _unfound(words, f"there is no file {words[0]!r}{where}")
    if not os.access(path, os.X_OK):
        return f"{words[0]!r} may not be executed: chmod +x it, or name first what runs it, such as python"
    first = _first_line(path)
    if first.startswith("#!") and not Path(first[2:].strip(" ").split(" ")[0]).exists():
        return f"{words[0]!r} wants to be run by {first[2:]!r}, as its first line says, which is not there"
    return ""


def _first_line(path: Path) -> str:
    """The line with its carriage return, which is a part of the interpreter's name."""
    with path.open("rb") as file:
        return file.readline(256).decode("utf-8", "replace").removesuffix("\n")


def _unfound(words: Sequence[str], said: str) -> str:
    parted = _parted(words, 0)
    return f"{said}, but there is {parted!r}: quote a path with a space" if parted else said


def _parted(words: Sequence[str], start: int) -> str:
    """The path that this word begins and that a space in its name has torn apart; empty if it is none."""
    if os.sep not in words[start] or Path(words[start]).exists():
        return ""
    paths = (" ".join(words[start:end]) for end in range(start + 2, len(words) + 1))
    return next((path for path in paths if Path(path).exists()), "")
