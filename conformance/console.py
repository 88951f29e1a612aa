"""What is printed. A reader that goes away (`| head`) is no error, and changes no verdict.

That nothing more can be written is an error, where it is what was asked for; where it is an error that
cannot be written, nobody can be told.
"""

from __future__ import annotations

import os
import signal
import sys

import click

from conformance.errors import UsageError


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text on standard output, or on standard error. UsageError where the former is full."""
    is_read(text, err=err, nl=nl)


def is_read(text: str, *, err: bool = False, nl: bool = True) -> bool:
    """Print a text as `say` does; whether anybody is there who reads it."""
    try:
        click.echo(text, err=err, nl=nl)
    except OSError as error:
        # What is still to come goes nowhere, and what is left in the buffer must not complain at exit.
        stream = sys.stderr if err else sys.stdout
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not err and not isinstance(error, BrokenPipeError):
            raise UsageError(f"standard output cannot be written: {error.strerror}") from None
        return False
    return (sys.stderr if err else sys.stdout) is not None


def heed_termination() -> None:
    """From now on SIGTERM ends a command as Ctrl-C does, so that it leaves no process behind."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def width(*, err: bool = False) -> int:
    """The columns of the terminal on standard output, or on standard error; 0 where it is none."""
    stream = sys.stderr if err else sys.stdout
    shown = stream is not None and stream.isatty()
    if not shown:
        return 0
    import shutil  # and with it what it unpacks archives by

    return shutil.get_terminal_size().columns
