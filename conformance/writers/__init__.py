"""How `validate` tells what it finds: a writer for each format, in the table `WRITERS`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Protocol, cast

from conformance.judgement import Judged, Told

Write = Callable[[str], None]
"""Prints one text and a newline."""


class Writer(Protocol):
    """Is told everything in order, and writes it: at once where the format allows."""

    def told(self, judged: Judged, told: Told) -> None:
        """A finding against an input."""
        ...

    def done(self, judged: Judged) -> None:
        """An input was judged, or could not be."""
        ...

    def end(self) -> None:
        """There are no more inputs."""
        ...


WRITERS = {
    "text": "conformance.writers.text",
    "json": "conformance.writers.machine",
    "sarif": "conformance.writers.sarif",
    "junit": "conformance.writers.junit",
    "github": "conformance.writers.github",
}
"""Format → the module that has its `Writing`: a format that nobody asked for is not imported."""


def writer(form: str, write: Write, width: int = 0) -> Writer:
    """The writer of a format; `width` is that of the terminal in columns, 0 where there is none."""
    made = import_module(WRITERS[form]).Writing(write, width)
    return cast("Writer", made)
