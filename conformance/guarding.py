"""How every command ends: with the right exit code, an error as one sentence, and never a traceback."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import click

from conformance.console import say, width
from conformance.errors import BadScenario, ConformanceError, ExitCode, OwnFault
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
            fault = OwnFault.of(error)
            say(f"conformance: {fault}", err=True)
            code = fault.exit_code
        sys.exit(code)

    return run


def _point(error: ConformanceError) -> None:
    """Show a person the place in a scenario file that an error is about."""
    columns = width(err=True)
    if columns and isinstance(error, BadScenario):
        from conformance.excerpt import pointed

        for line in pointed(error, columns - 4):
            say(f"    {line}", err=True)
