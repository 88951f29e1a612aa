"""Several files judged at a time, by processes that share them, and told in their order.

What is told is what one process tells. A file is judged whole by one process, and what is found waits in the
pipe until it is the file's turn, so that nothing is collected: a process that is ahead waits too. What is no
regular file, standard input or a pipe by name, is judged here in its turn.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple, TypeAlias

from conformance import packs
from conformance.console import heed_termination
from conformance.errors import ConformanceError, OwnFault, WorkerLost
from conformance.events import Event, Received, Sent
from conformance.judgement import Judged, Told
from conformance.validation import Options, Tell, judge_path

BATCH = 256
"""So many findings are sent at once."""

NESTED = 10_000
"""Calls within calls that it takes to send a value as deep as any that is read (jsontext.LIMITS)."""


class _Done(NamedTuple):
    """A file was judged; a pack goes by its name."""

    judged: Judged
    pack: str


_Found: TypeAlias = list[tuple[str, Told]]
"""Findings, each with the name of the pack that it is against."""


def judge_paths(paths: Sequence[Path], options: Options, tell: Tell, jobs: int) -> Iterator[Judged]:
    """Judge these, `jobs` at a time, and tell each finding; how they came out, in their order.

    Ends the processes when it is closed. Raises OwnFault for an error in one of them, and WorkerLost where
    one ended before it had judged its files.
    """
    options.pack()  # Read once, for all of them; and what is wrong with it is said once.
    heed_termination()
    shares = _shares(paths, jobs)
    workers = {number: _Worker(share, options) for number, share in _by_worker(paths, shares).items()}
    try:
        for path, number in zip(paths, shares, strict=True):
            yield judge_path(path, options, tell) if number is None else workers[number].judged(path, tell)
    finally:
        for worker in workers.values():
            worker.end()


def _shares(paths: Sequence[Path], jobs: int) -> list[int | None]:
    """Which process judges each: the one with the fewest bytes so far; None for what is judged here."""
    loads, shares = [0] * jobs, list[int | None]()
    for path in paths:
        size = _size(path)
        least = loads.index(min(loads)) if size is not None else None
        if least is not None and size is not None:
            loads[least] += size + 1
        shares.append(least)
    return shares


def _size(path: Path) -> int | None:
    """Bytes of a regular file; None for anything else."""
    with suppress(OSError):
        return path.stat().st_size if path.is_file() and str(path) != "-" else None
    return None


def _by_worker(paths: Sequence[Path], shares: Sequence[int | None]) -> dict[int, list[Path]]:
    found: dict[int, list[Path]] = {}
    for path, number in zip(paths, shares, strict=True):
        if number is not None:
            found.setdefault(number, []).append(path)
    return found


class _Worker:
    """A process that judges its share one after the other, as seen from here."""

    def __init__(self, share: list[Path], options: Options) -> None:
        # A fork has all that was imported and read; where there is none, a new process does it again.
        forks = "fork" in multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("fork") if forks else multiprocessing.get_context("spawn")
        self._answers, sends = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(share, options, sends), daemon=True)
        process.start()
        sends.close()  # or else its end could not be noticed
        self._process = process

    def judged(self, path: Path, tell: Tell) -> Judged:
        """How the next of its files came out; each finding is told as it comes."""
        judged = Judged(str(path))
        try:
            return self._heard(judged, tell)
        except EOFError:
            self._process.join()
            raise WorkerLost(lost(path, self._process.exitcode)) from None
        except KeyboardInterrupt:
            self._process.terminate()
        with suppress(EOFError, OSError, KeyboardInterrupt):
            return self._heard(judged, tell)  # how far it came
        return replace(judged, stopped=True)

    def _heard(self, judged: Judged, tell: Tell) -> Judged:
        while True:
            self._answers.poll(None)
            with undisturbed():
                answer = self._answers.recv()
            if isinstance(answer, ConformanceError):
                raise answer
            if isinstance(answer, _Done):
                return replace(answer.judged, pack=_pack(answer.pack))
            for name, told in answer:
                judged.pack = _pack(name)
                tell(judged, told)

    def end(self) -> None:
        """End it, whatever it does."""
        self._process.kill()  # it may be waiting until its turn comes, and has nothing to put away
        self._process.join()
        self._answers.close()


def _pack(name: str) -> packs.Pack | None:
    return packs.find(name) if name else None


def lost(path: Path, code: int | None) -> str:
    """That a process ended too early."""
    how = f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with exit code {code}"
    return f"the process that was to judge {path} {how} before it had; without --jobs, there is none"


@contextmanager
def undisturbed() -> Iterator[None]:
    """An interruption meanwhile comes afterwards: after half an answer, nothing could be read any more."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# ── what the process does ────────────────────────────────────────────────────────────────────────


def _work(share: list[Path], options: Options, answers: Connection) -> None:
    """Judge these in their order and answer. Ctrl-C is for the command, which then ends its processes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt, BrokenPipeError):
        for path in share:
            if not _answered(path, options, answers):
                break


def _answered(path: Path, options: Options, answers: Connection) -> bool:
    """Judge a file and send what is found; whether the next one can be judged."""
    sending = _Sending(answers)
    try:
        judged = judge_path(path, options, sending.tell)
        sending.flush()
        send(answers, _Done(replace(judged, pack=None), _name(judged)))
    except ConformanceError as error:
        send(answers, error)
        return False
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:
        send(answers, OwnFault.of(error))
        return False
    return not judged.stopped


def send(answers: Connection, answer: object) -> None:
    """Send an answer, however deep what it holds."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(NESTED)
    try:
        with undisturbed():
            answers.send(answer)
    finally:
        sys.setrecursionlimit(usual)


class _Sending:
    """Sends findings, some at a time."""

    def __init__(self, answers: Connection) -> None:
        self._answers = answers
        self._held: _Found = []

    def tell(self, judged: Judged, told: Told) -> None:
        """Send it, or hold it until there are more."""
        self._held.append((_name(judged), told._replace(event=told_of(told.event))))
        if len(self._held) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Send what is held."""
        held, self._held = self._held, []
        if held:
            send(self._answers, held)


def _name(judged: Judged) -> str:
    return judged.pack.name if judged.pack else ""


def told_of(event: Event | None) -> Event | None:
    """The event without its value, which nobody reads who tells of it: its text says it all."""
    return event._replace(value=None) if isinstance(event, (Sent, Received)) else event
