"""What can go wrong with the kit, a pack, a configuration or a cable.

Nothing here is ever a finding: a finding is about the implementation, an error is about us.
Each error is named for its condition, carries one sentence for a person, and knows the exit code
that a command line ends with.
"""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path


class ExitCode(IntEnum):
    """What a command ends with."""

    HOLDS = 0
    BROKEN = 1
    USAGE = 2
    UNDECIDED = 3
    KIT_ERROR = 4
    INTERRUPTED = 130


class ConformanceError(Exception):
    """Any condition that is not the implementation's fault; `str()` is one sentence for a person."""

    exit_code = ExitCode.KIT_ERROR


class UsageError(ConformanceError):
    """The command or its configuration asks for something that cannot be done."""

    exit_code = ExitCode.USAGE


class NoSuchPack(UsageError):
    """No pack has the protocol or revision that was asked for."""


class NoSuchKind(UsageError):
    """A pack has no message kind of that name."""


class NoSuchRequirement(UsageError):
    """No pack, or not the one that was asked for, has a requirement of that id."""


class NoSuchScenario(UsageError):
    """No scenario or requirement matches the selection."""


class BadConfiguration(UsageError):
    """`conformance.toml` or an option holds something that it may not hold."""


class BadTarget(UsageError):
    """A target is written in a way that no transport understands."""


class BadPack(UsageError):
    """A pack's own files contradict each other or their schema."""


class BadScenario(UsageError):
    """A scenario file does not say what it should; the sentence starts with file:line:column.

    `text` is the file's, where it is known, and `line` and `column` the place in it, from 1.
    """

    def __init__(self, said: str, text: str = "", line: int = 1, column: int = 1) -> None:
        super().__init__(said)
        self.text, self.line, self.column = text, line, column


class OwnFault(ConformanceError):
    """Something in the kit went wrong that nobody foresaw."""

    @classmethod
    def of(cls, error: Exception) -> OwnFault:
        """This error, with the line of the kit where it was raised."""
        frame = error.__traceback__
        while frame is not None and frame.tb_next is not None:
            frame = frame.tb_next
        where = f"{Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno}" if frame else "?"
        said = f"{type(error).__name__}: {error}"
        return cls(f"an error in the kit, not in what it judges: {said} ({where})")


class WorkerLost(ConformanceError):
    """A process that was to judge files ended before it had."""


class CannotJudge(ConformanceError):
    """Nothing is wrong with the request, but there was nothing to judge."""

    exit_code = ExitCode.UNDECIDED


class InputUnreadable(CannotJudge):
    """A file that was to be judged cannot be read or is no record of messages."""


class UnknownProtocol(CannotJudge):
    """A message does not say, in any way a pack knows, which protocol it belongs to."""


class TargetUnavailable(CannotJudge):
    """The implementation could not be started or reached.

    `status` is the one of HTTP with which it refused a connection; 0 where it did nothing of that sort.
    """

    def __init__(self, said: str, status: int = 0) -> None:
        super().__init__(said)
        self.status = status


class AccessRefused(TargetUnavailable):
    """The implementation wants credentials, or other ones than the kit's."""


class NotTrusted(TargetUnavailable):
    """The implementation's TLS certificate is of nobody whom the kit trusts, or TLS failed otherwise."""


class WrongSubprotocol(TargetUnavailable):
    """The implementation did not choose a subprotocol that the kit offered."""


class ConnectionLost(CannotJudge):
    """The cable broke while the kit was writing."""


class InputUnread(ConnectionLost):
    """The implementation read nothing for as long as the kit waits for that."""
