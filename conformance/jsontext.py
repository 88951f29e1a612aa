"""JSON text → value, exact to the token; and JSON Pointers into values.

A library's decoder changes what it reads: `9007199254740991.4` becomes an integer, `1E400` infinity,
the last of two equal member names wins in silence. Here a number keeps its value, and whatever is
wrong with the text is a `Fault` with its position. The text is RFC 8259, strictly.

There are three ways through, and the first that is sure answers. `plain` asks the fastest decoder, and
believes it where the value, written again, has the same characters as the text. `parse` then asks the
standard library's decoder, with hooks that give up at anything doubtful. What either lets through has no
fault and the same value. Everything else goes to `Scanner`, which is slower, knows positions and does not
recurse.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final, NamedTuple

import orjson

from conformance.events import JSON, Fault
from conformance.tokens import Broken, Scanner, fault_at, shortened

EXPONENT: Final = 10_000  # a number may not state a greater one: 1e999999999 has gigabytes of digits
REPORTED: Final = 20  # faults of one text, beside the fatal one
BOM: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class Limits:
    """What is read at most (RFC 8259 §9): `length` counts characters, `depth` brackets that are open
    at once, `digits` (16 to 4300, where `int` stops) the characters of one number."""

    length: int = 64 * 1024 * 1024
    depth: int = 512
    digits: int = 1000

    def __post_init__(self) -> None:
        """Raise ValueError for a limit that cannot be kept."""
        if not 16 <= self.digits <= 4300:
            raise ValueError(f"a limit of {self.digits} digits is not between 16 and 4300")


LIMITS: Final = Limits()


class Parsed(NamedTuple):
    """What a text says, and what is wrong with it in the order of the text."""

    value: JSON
    faults: tuple[Fault, ...] = ()

    @property
    def fatal(self) -> Fault | None:
        """The fault that leaves no value (which is then None), if there is one."""
        return next((fault for fault in self.faults if fault.fatal), None)


def parse(text: str, limits: Limits = LIMITS) -> Parsed:
    """Read one JSON text (RFC 8259 §2). Never raises; takes time in proportion to the length.

    A number is an int, a float where the float says just what the token says (`0.35`, `1e3`), else
    a Decimal (`9007199254740993.0`, `1E400`). Of members with equal names the last is kept.
    """
    if len(text) > limits.length:
        message = f"the text has {len(text)} characters; the limit is {limits.length}"
        return Parsed(None, (Fault("WIRE-LIMIT", message),))
    if _ordinary(text, limits):
        try:
            return Parsed(_FAST.decode(text))
        except (ValueError, RecursionError):
            pass  # the slow way finds what is wrong, if anything is, and where
    return _exact(text, limits)


def plain(data: bytes) -> JSON:
    """The object that bytes are as a JSON text, if they are plainly one, within LIMITS; else None.

    What a decoder drops or changes (the first of two equal names, digits, escapes) is missing when the value
    is written again: where all characters but spaces come back in their order, nothing was. What is deeper
    than 255 brackets, half of LIMITS, is not written again.
    """
    if len(data) > LIMITS.length:
        return None
    try:
        value = orjson.loads(data)
        again = orjson.dumps(value)
    except (ValueError, TypeError):  # it is no JSON, or deeper than is written again
        return None
    if again != data and again.replace(b" ", b"") != data.replace(b" ", b""):
        return None
    return value if isinstance(value, dict) else None


def is_exact(value: JSON) -> bool:
    """Whether an engine that calculates in floats, and in integers of 64 bits, sees each number as it is."""
    try:
        orjson.dumps(value)
    except (TypeError, UnicodeEncodeError):  # a Decimal, or a greater integer
        return False
    return True


def decode(data: bytes) -> tuple[str | None, tuple[Fault, ...]]:
    """Bytes → text: UTF-8 without a byte order mark (RFC 8259 §8.1).

    The offset and column of a fault in undecodable bytes count bytes.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start
        line, column = data.count(b"\n", 0, at) + 1, at - data.rfind(b"\n", 0, at)
        message = f"byte 0x{data[at]:02x} at offset {at} is not UTF-8: {error.reason}"
        return None, (Fault("WIRE-UTF8", message, at, line, column),)
    if text.startswith(BOM):
        message = "the text begins with a byte order mark (U+FEFF), which JSON must not"
        return text[1:], (Fault("WIRE-BOM", message, fatal=False),)
    return text, ()


_BRACKET = re.compile(r"[\[\]{}]")
_SAMPLES = re.compile(r"[-+.0-9eE]{16}")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_WHOLE = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
# Behind another backslash this need not be an escape, so such a pair is left to the slow way.
_PAIR = re.compile(r"(?<!\\)" + _WHOLE)
_LONE = re.compile(_WHOLE + r"|(\\u[dD][89a-fA-F]..|[\ud800-\udfff])|\\.")


def _ordinary(text: str, limits: Limits) -> bool:
    """Whether depth, digits and surrogates, which the fast way does not notice, are right; in doubt, no."""
    return (
        (text.count("[") + text.count("{") <= limits.depth or _depth(text) <= limits.depth)
        # a number of more digits would fill 16 samples
        and (len(text) <= limits.digits or _SAMPLES.search(text[:: limits.digits // 16]) is None)
        and ("\\u" not in text or _HALF.search(_PAIR.sub(" ", text)) is None)
        and (text.isascii() or _SURROGATE.search(text) is None)
    )


def _depth(text: str) -> int:
    """How deep brackets nest, exactly, as far as the text is JSON."""
    # Without escapes each quotation mark begins or ends a string, so every second piece is outside.
    bare = text.replace("\\\\", "").replace('\\"', "").split('"')[::2]
    steps = (1 if bracket in "[{" else -1 for piece in bare for bracket in _BRACKET.findall(piece))
    return max(accumulate(steps), default=0)


def _unique(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError
    return members


def _fraction(token: str) -> float | Decimal:
    """The exact value of a number with a fraction or an exponent; ValueError if that is too great."""
    near = float(token)
    shortest = repr(near)
    if shortest == token:
        return near
    if abs(int(token.lower().partition("e")[2] or 0)) > EXPONENT:
        raise ValueError
    exact = Decimal(token)
    return near if Decimal(shortest) == exact else exact  # "inf", of a float that overflowed, differs


# `int` refuses each of the constants that RFC 8259 §6 does: NaN, Infinity, -Infinity.
_FAST = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_fraction, parse_constant=int)


def _exact(text: str, limits: Limits) -> Parsed:
    scanner = Scanner(limits.depth)
    builder = _Builder(text, limits, scanner)
    try:
        for token in scanner.tokens(text):
            builder.add(*token)
        scanner.finish(text)
    except Broken as broken:
        return Parsed(None, (*builder.faults, broken.fault))
    return Parsed(builder.opened[0][0], tuple(builder.faults))


class _Builder:
    """Puts tokens together to a value, and notes what is wrong with it on the way."""

    def __init__(self, text: str, limits: Limits, scanner: Scanner) -> None:
        self.faults: list[Fault] = []
        self.opened: list[Any] = [[]]  # the open containers, in a list that holds the whole value
        self._text, self._limits, self._scanner = text, limits, scanner

    def add(self, kind: str, start: int, end: int, value: JSON) -> None:
        if kind in ("name", "string") and _SURROGATE.search(value):
            self._note_halves(start, end)
        if kind == "name":
            if value in self.opened[-1]:
                self._note("WIRE-KEYS", f"the member {shortened(value)} occurs twice", start)
        elif kind in ("}", "]"):
            self.opened.pop()
        else:
            self._put(kind, self._number(start, end) if kind == "number" else value)

    def _put(self, kind: str, value: JSON) -> None:
        value = {"{": {}, "[": []}.get(kind, value)
        parent = self.opened[-1]
        if isinstance(parent, list):
            parent.append(value)
        else:
            parent[self._scanner.steps[-1]] = value
        if kind in ("{", "["):
            self.opened.append(value)

    def _number(self, start: int, end: int) -> int | float | Decimal:
        token = self._text[start:end]
        if end - start > self._limits.digits:
            message = f"a number of {end - start} characters; the limit is {self._limits.digits}"
            raise Broken("WIRE-LIMIT", message, self._text, start)
        try:
            return int(token) if token.lstrip("-").isdigit() else _fraction(token)
        except ValueError:
            raise Broken("WIRE-LIMIT", f"an exponent beyond {EXPONENT}", self._text, start) from None

    def _note_halves(self, start: int, end: int) -> None:
        for match in _LONE.finditer(self._text, start, end):
            if match[1]:
                point = match[1][2:] or f"{ord(match[1]):x}"
                self._note("WIRE-SURROGATE", f"U+{point.upper()} is half a surrogate pair", match.start())

    def _note(self, code: str, message: str, at: int) -> None:
        if len(self.faults) < REPORTED:
            where = _SURROGATE.sub("\ufffd", pointer(self._scanner.steps))
            message = f"{message}, at {shortened(where)}"
            self.faults.append(fault_at(code, message, self._text, at, fatal=False, pointer=where))


def pointer(steps: Iterable[str | int]) -> str:
    """The JSON Pointer that takes these steps (RFC 6901 §3)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def parts(pointer: str) -> list[str]:
    """The steps of a JSON Pointer (RFC 6901 §3); ValueError if it is none."""
    if (pointer and pointer[0] != "/") or _BAD_TILDE.search(pointer):
        raise ValueError(f"{pointer!r} is no JSON Pointer")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


@lru_cache(maxsize=4096)
def steps(pointer: str) -> tuple[str, ...]:
    """The steps of a JSON Pointer; the same few are asked for with every message."""
    return tuple(parts(pointer))


_BAD_TILDE = re.compile(r"~(?![01])")
_INDEX = re.compile(r"0|[1-9][0-9]{0,17}")


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final[Any] = _Missing()
"""What `resolve` finds where there is nothing."""


def resolve(value: JSON, pointer: str) -> JSON:
    """The part of a value that a JSON Pointer means (RFC 6901 §4), or MISSING."""
    for step in steps(pointer):
        if type(value) is dict:
            value = value.get(step, MISSING)
        elif isinstance(value, list) and _INDEX.fullmatch(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return value


@lru_cache(maxsize=4096)
def getter(pointer: str) -> Callable[[JSON], JSON]:
    """What gives the part of a value that a JSON Pointer means; None where there is nothing.

    Who asks every message for the same part makes it once.
    """
    path = steps(pointer)

    def get(value: JSON) -> JSON:
        part = value
        for step in path:
            if type(part) is not dict:  # an item of an array, or nothing
                whole = resolve(value, pointer)
                return None if whole is MISSING else whole
            part = part.get(step)
            if part is None:
                return None
        return part

    if len(path) == 1:
        return _member(path[0], get)
    return _member_of_member(path[0], path[1], get) if len(path) == 2 else get


Getter = Callable[[JSON], JSON]
"""What gives a part of a value, or None."""


def _member(name: str, otherwise: Getter) -> Getter:
    def get_member(value: JSON) -> JSON:
        return value.get(name) if type(value) is dict else otherwise(value)

    return get_member


def _member_of_member(first: str, second: str, otherwise: Getter) -> Getter:
    def get_member(value: JSON) -> JSON:
        part = value.get(first) if type(value) is dict else None
        return part.get(second) if type(part) is dict else otherwise(value)

    return get_member


def leaves(value: JSON) -> Iterator[tuple[str, JSON]]:
    """Every part of a value that is neither an object nor an array, with its JSON Pointer; in no order."""
    pending = [("", value)]
    while pending:
        where, part = pending.pop()
        if isinstance(part, dict):
            pending += [(where + pointer([name]), inner) for name, inner in part.items()]
        elif isinstance(part, list):
            pending += [(f"{where}/{index}", inner) for index, inner in enumerate(part)]
        else:
            yield where, part


def replace_lone_surrogates(value: JSON) -> JSON:
    """A copy with U+FFFD for each lone surrogate, for engines that refuse them; of names that become
    equal the last is kept."""
    holder = [value]
    unseen: list[Any] = [holder]
    while unseen:
        container = unseen.pop()
        for key, part in enumerate(container) if isinstance(container, list) else container.items():
            container[key] = copy = _replaced(part)
            if isinstance(copy, (dict, list)):
                unseen.append(copy)
    return holder[0]


def _replaced(part: JSON) -> JSON:
    if isinstance(part, str):
        return _SURROGATE.sub("\ufffd", part)
    if isinstance(part, dict):
        return {_SURROGATE.sub("\ufffd", name): inner for name, inner in part.items()}
    return list(part) if isinstance(part, list) else part
