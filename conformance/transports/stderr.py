"""What a process writes to standard error: read for ever, so it never blocks, and kept up to a limit."""

from __future__ import annotations

from contextlib import suppress
from typing import BinaryIO

from conformance.errors import BadConfiguration
from conformance.transports import Options

TAIL = 4096
SHOWN = 200


def excerpt(data: bytes) -> str:
    """The last line of `data` that is not blank, for a person: printable, at most 200 characters."""
    lines = [line for line in data.decode(errors="replace").splitlines() if line.strip()]
    line = "".join(c if c.isprintable() else " " for c in lines[-1].strip()) if lines else ""
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"


class ErrorLog:
    """A sink for the standard error of one process; `last_line` is in memory, the rest in a file."""

    def __init__(self, options: Options) -> None:
        """Open the file; raises BadConfiguration if it cannot be written."""
        self._limit = options.stderr_limit
        self._tail = b""
        self._access = options.access
        self._held = b""  # what might be the beginning of the token
        self._file: BinaryIO | None = None
        if options.stderr is None:
            return
        try:
            options.stderr.parent.mkdir(parents=True, exist_ok=True)
            self._file = options.stderr.open("ab")
        except OSError as error:
            raise BadConfiguration(f"cannot record standard error: {error}") from None

    @property
    def last_line(self) -> str:
        """The last line so far that is not blank."""
        return excerpt(self._tail + self._held)

    def write(self, data: bytes) -> None:
        """Take what the process wrote; a token of the kit's that it repeats is hidden."""
        data = self._access.hidden_in(self._held + data)
        ready = max(0, len(data) - self._access.longest)
        self._held = data[ready:]
        self._keep(data[:ready])

    def _keep(self, data: bytes) -> None:
        """Write it down. A file that cannot take more is closed: the log is no evidence."""
        self._tail = (self._tail + data[-TAIL:])[-TAIL:]
        if self._file is None:
            return
        with suppress(OSError):
            room = self._limit - self._file.tell()
            self._file.write(data[: max(room, 0)])
            self._file.flush()
            if len(data) <= room:
                return
            self._file.write(f"\n[the kit keeps {self._limit} bytes of standard error, no more]\n".encode())
        self._close()

    def close(self) -> None:
        """Close the file; idempotent. What is written afterwards is dropped."""
        held, self._held = self._held, b""
        self._keep(held)
        self._close()

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.close()
