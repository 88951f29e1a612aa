"""One large file judged by several processes, each of which judges a part of it, and told in its order.

What is told is what one process tells. The first process could judge all of the file; the others judge what
follows as if it began there, and note what of it could depend on what was before (`conversations`). Where
their part turns out to depend on it, the first one goes on and judges that too, as it would without them.
What is found ahead waits in memory, as much as AHEAD allows, and then in the pipe.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import BinaryIO, NamedTuple

from conformance import recognition, records, transcript, validation
from conformance.alternatives import Against, Alternatives
from conformance.console import heed_termination
from conformance.conversations import Before, Noted, Notes, Rule, quiet
from conformance.errors import CannotJudge, ConformanceError, InputUnreadable, OwnFault, WorkerLost
from conformance.events import Closed, Event, Received
from conformance.findings import Verdict
from conformance.framing import LineStream, Reading, read_message
from conformance.judgement import Judged, Told
from conformance.packs import Pack
from conformance.validation import Options, Tell
from conformance.workers import BATCH, lost, send, told_of, undisturbed

LEAST = 4_000_000
"""So many bytes are a part that is worth a process."""

LOOKED_THROUGH = 1_000_000
"""So many bytes are looked through for a place to cut, on either side of where one would be best."""

READ = 1 << 16
"""So many bytes are read at once."""

AHEAD = 32
"""So many answers of a process wait here until their turn comes."""


class _Cuts(NamedTuple):
    """A file that can be judged in parts, which begin and end at these places."""

    path: Path
    pack: Pack
    rule: Rule
    options: Options
    places: tuple[int, ...]


class _Found(NamedTuple):
    """What was found up to an event, and what could matter elsewhere; `reached` at the end of a part."""

    upto: int
    told: list[Told]
    noted: Noted
    reached: bool = False


class _Ended(NamedTuple):
    """What only the end showed, and how many messages there were."""

    told: list[Told]
    messages: int


class _Onward(NamedTuple):
    """Go on to this place; what is found up to that event was told already. (To end, None is sent.)"""

    place: int
    told: int


def judge_path(path: Path, options: Options, tell: Tell, jobs: int) -> Judged:
    """Judge a file, in parts where it is large and can be cut.

    Raises OwnFault for an error in one of the processes, and WorkerLost where one ended early.
    """
    cuts = None
    with suppress(OSError, ValueError):
        cuts = _cuts(path, options, jobs)
    if cuts is None:
        return validation.judge_path(path, options, tell)
    heed_termination()
    parts = [_Part(cuts, number) for number in range(len(cuts.places) - 1)]
    try:
        return _Telling(cuts, parts, tell).whole()
    finally:
        for part in parts:
            part.kill()


# ── where it is cut ──────────────────────────────────────────────────────────────────────────────


def _cuts(path: Path, options: Options, jobs: int) -> _Cuts | None:
    if options.kind or options.stateless or options.as_published or not path.is_file() or str(path) == "-":
        return None
    size = path.stat().st_size
    wanted = min(jobs, size // LEAST)
    if wanted < 2 or "fork" not in multiprocessing.get_all_start_methods():
        return None
    with path.open("rb") as file:
        pack = _pack_of(file.readline(LOOKED_THROUGH), options)
        rule = Rule.of(pack) if pack else None
        if pack is None or rule is None:
            return None
        found = {_nearest(file, size * part // wanted, rule) for part in range(1, wanted)} - {None}
    inner = sorted(place for place in found if place is not None)
    return _Cuts(path, pack, rule, options, (0, *inner, size)) if inner else None


def _pack_of(line: bytes, options: Options) -> Pack | None:
    """The pack of a record whose first line this is; None where that is no message, or tells too little."""
    reading = read_message(line.rstrip(b"\n"))
    if reading.faults or not line.endswith(b"\n") or transcript.is_header(reading.value):
        return None
    with suppress(InputUnreadable, CannotJudge):
        record = records.open_stream([line], "", options.pack())
        if isinstance(record, records.Record) and not record.others:
            return None if recognition.trace_of(reading.value, record.pack) else record.pack
    return None


def _nearest(file: BinaryIO, wanted: int, rule: Rule) -> int | None:
    """The place nearest to the one that is wanted at which no conversation seems to be going on."""
    begin = max(0, wanted - LOOKED_THROUGH)
    file.seek(begin)
    data = file.read(wanted + LOOKED_THROUGH - begin)
    first = data.find(b"\n") + 1
    places = quiet(data[first : data.rfind(b"\n") + 1], rule)[1:]  # nobody knows what is before the first
    return min((begin + first + at for at in places), key=lambda at: abs(at - wanted), default=None)


# ── what is told ─────────────────────────────────────────────────────────────────────────────────


class _Part:
    """A process that judges from a place on, as seen from here."""

    def __init__(self, cuts: _Cuts, number: int) -> None:
        context = multiprocessing.get_context("fork")
        self.end = cuts.places[number + 1]
        self.answers, sends = context.Pipe(duplex=False)
        takes, self._orders = context.Pipe(duplex=False)
        work = (cuts, number, sends, takes, self._orders)
        self._process = context.Process(target=_work, args=work, daemon=True)
        self._process.start()
        sends.close()  # or else its end could not be noticed
        takes.close()
        self.held: deque[object] = deque()

    def order(self, order: _Onward | None) -> None:
        """Let it go on, or end."""
        with undisturbed(), suppress(BrokenPipeError):
            self._orders.send(order)

    def lost(self, path: Path) -> WorkerLost:
        """That it ended too early."""
        self._process.join()
        return WorkerLost(lost(path, self._process.exitcode))

    def kill(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.join()
        self.answers.close()
        self._orders.close()


class _Telling:
    """Tells what the processes find, in the order of the file."""

    def __init__(self, cuts: _Cuts, parts: list[_Part], tell: Tell) -> None:
        self._cuts, self._parts, self._tell = cuts, parts, tell
        self._open = [*parts]
        self._judged = Judged(str(cuts.path), cuts.pack)
        self._before = Before()
        self._upto = 0

    def whole(self) -> Judged:
        """Tell all of it; how it came out."""
        try:
            for part in self._holding():
                part.order(None)
                ended = self._answer(part)
                assert isinstance(ended, _Ended), "that is what ends a part"
                self._told(ended.told)
                self._judged.messages += ended.messages
        except KeyboardInterrupt:
            self._judged.messages, self._judged.stopped = self._upto, True
        return self._judged

    def _holding(self) -> list[_Part]:
        """Tell what was found in all parts; those whose findings at the end are to be told."""
        first, *others = self._parts
        holding = [first]
        self._through(first, exact=True)
        for part in others:
            if self._through(part):
                holding.append(part)
                continue
            self._open.remove(part)
            part.kill()
            first.order(_Onward(part.end, self._upto))
            self._through(first, exact=True)
            holding = [first]
        return holding

    def _through(self, part: _Part, *, exact: bool = False) -> bool:
        """Tell what a process finds in its part, as long as that is what one process would find."""
        reached = False
        while not reached:
            found = self._answer(part)
            assert isinstance(found, _Found), "that is what comes before a part is reached"
            if not (exact or self._before.allows(found.noted)):
                return False
            self._told(found.told)
            self._before.add(found.noted)
            self._upto, reached = max(self._upto, found.upto), found.reached
        return True

    def _told(self, found: list[Told]) -> None:
        for one in found:
            self._judged.told += 1
            self._judged.fails = self._judged.fails or one.verdict is Verdict.FAIL
            self._tell(self._judged, one)

    def _answer(self, part: _Part) -> object:
        """The next answer of a part; meanwhile others may answer too. Raises what went wrong there."""
        while not part.held:
            heard = {one.answers: one for one in self._open if one is part or len(one.held) < AHEAD}
            for answers in wait([*heard]):
                self._hear(heard[answers])  # type: ignore[index]
        answer = part.held.popleft()
        if isinstance(answer, ConformanceError):
            raise answer
        return answer

    def _hear(self, part: _Part) -> None:
        try:
            with undisturbed():
                part.held.append(part.answers.recv())
        except EOFError:
            part.held.append(part.lost(self._cuts.path))
            self._open.remove(part)


# ── what a process does ──────────────────────────────────────────────────────────────────────────


def _work(cuts: _Cuts, number: int, answers: Connection, orders: Connection, theirs: Connection) -> None:
    """Judge from a place on, until there are no more orders. Ctrl-C is for the command, which ends this."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    theirs.close()  # or else the end of the command could not be noticed
    with suppress(KeyboardInterrupt, BrokenPipeError, EOFError):
        try:
            _judge(cuts, number, answers, orders)
        except ConformanceError as error:
            send(answers, error)
        except (BrokenPipeError, KeyboardInterrupt, EOFError):
            raise
        except Exception as error:
            send(answers, OwnFault.of(error))


def _judge(cuts: _Cuts, number: int, answers: Connection, orders: Connection) -> None:
    begin, place = cuts.places[number], cuts.places[number + 1]
    with cuts.path.open("rb") as file:
        lines = sum(piece.count(b"\n") for piece in _pieces(file, begin))
        judge, order = _Judge(cuts, lines, exact=begin == 0), _Onward(place, 0)
        while order is not None:
            for found in judge.through(
                _pieces(file, order.place), order.place == cuts.places[-1], order.told
            ):
                send(answers, found)
            order = orders.recv()
    send(answers, judge.ended())


def _pieces(file: BinaryIO, place: int) -> Iterator[bytes]:
    """The bytes from where the file stands to a place."""
    while piece := file.read(min(READ, place - file.tell())):
        yield piece


class _Judge:
    """Judges a record from a line on, of which it takes each for one message."""

    def __init__(self, cuts: _Cuts, lines: int, *, exact: bool) -> None:
        self._pack, self._exact = cuts.pack, exact
        self._judges = Alternatives((cuts.pack,), partial(validation.monitor_of, options=cuts.options))
        self._judged = Judged(str(cuts.path), cuts.pack)
        self._stream = LineStream(line=lines + 1)
        self._lines = self._seq = lines
        self._notes = Notes(cuts.rule)
        self._found: list[Told] = []

    def through(self, pieces: Iterator[bytes], last: bool, told: int) -> Iterator[_Found]:
        """What is found in these bytes, which are the last ones or not, without what was told already."""
        for piece in pieces:
            self._lines += piece.count(b"\n")
            yield from self._see(self._stream.feed(piece), told)
            if not self._exact and self._notes.hopeless:
                break
        if last:
            yield from self._see(self._stream.end(), told)
        yield self._news(reached=True)

    def _see(self, readings: list[Reading], told: int) -> Iterator[_Found]:
        feed, take, monitor = self._judges.feed, self._notes.take, self._judges.chosen.monitor
        for reading in readings:
            self._seq += 1
            event = transcript.event_of(reading, self._seq, "")
            found = feed(event)
            take(monitor.message if isinstance(event, Received) and not event.faults else None)
            if found and self._seq > told:
                self._found += self._told(found)
                if len(self._found) >= BATCH:
                    yield self._news()

    def _told(self, found: list[Against]) -> Iterator[Told]:
        for finding, event in found:
            said = validation.of_kind(finding, event, self._pack)
            yield self._judged.tell(said, told_of(event))

    def _news(self, *, reached: bool = False) -> _Found:
        noted = self._notes.news(whole=reached)
        if reached and self._seq != self._lines:
            noted = noted._replace(odd=True)  # a line is no message, or a message is on several
        found, self._found = self._found, []
        return _Found(self._seq, found, noted, reached)

    def ended(self) -> _Ended:
        """What the end shows."""
        closing: Event = Closed(self._seq + 1)
        found = [*self._judges.feed(closing), *self._judges.end()]
        return _Ended([*self._told(found)], self._judges.chosen.monitor.messages)
