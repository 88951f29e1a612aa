"""How every command ends: with the right exit code, an error as one sentence, and never a traceback."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import click

from conformance.console import say, width
from conformance.errors import BadScenario, ConformanceError, ExitCode
from conformance.wording import printable

P = ParamSpec("P")
R = TypeVar("R")


def guarded(command: Callable[P, int]) -> Callable[P, None]:
    """Turn a command's errors into one sentence and the right exit code."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            code = command(*args, **kwargs)
        except ConformanceError as error:
            say(printable(f"conformance: {error}"), err=True)
            _point(error)
            code = error.exit_code
        except KeyboardInterrupt:
            say("conformance: interrupted", err=True)
            code = ExitCode.INTERRUPTED
        except click.ClickException:
            raise
        except Exception as error:
            code = ExitCode.KIT_ERROR
            _own_fault(error)
        sys.exit(code)

    return run


def _point(error: ConformanceError) -> None:
    """Show a person the place in a scenario file that an error is about."""
    columns = width(err=True)
    if columns and isinstance(error, BadScenario):
        from conformance.excerpt import pointed

        for line in pointed(error, columns - 4):
            say(f"    {line}", err=True)


def _own_fault(error: Exception) -> None:
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f"{Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno}" if frame else "?"
    said = f"{type(error).__name__}: {error}"
    say(f"conformance: an error in the kit, not in what it judges: {said} ({where})", err=True)
