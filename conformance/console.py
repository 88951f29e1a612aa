"""What is printed. A reader that goes away (`| head`) is no error, and changes no verdict."""

from __future__ import annotations

import os
import shutil
import sys

import click


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text on standard output, or on standard error."""
    try:
        click.echo(text, err=err, nl=nl)
    except BrokenPipeError:
        # What is still to come goes nowhere, and what is left in the buffer must not complain at exit.
        stream = sys.stderr if err else sys.stdout
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def width() -> int:
    """The columns of the terminal on standard output; 0 where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
