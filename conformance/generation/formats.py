"""Texts of the formats of JSON Schema, the simplest first; each is what a person would write."""

from __future__ import annotations

from collections.abc import Callable

from conformance.generation.choosing import Choices

Maker = Callable[[Choices], str]

_HOSTS = ("example.com", "a.example", "node-1.internal", "localhost")
_NAMES = ("ann", "bob", "team.one", "no-reply")
_PATHS = ("", "/", "/a/b", "/items/1?x=2", "/#top")
_REGEXES = ("a", "^[a-z]+$", "\\d{2}", "(a|b)*")
_POINTERS = ("", "/a", "/a/0", "/a~1b/~0")


def _of(*texts: str) -> Maker:
    return lambda choices: texts[choices.index(len(texts))]


def _date(choices: Choices) -> str:
    return f"{choices.integer(2026, 2029)}-{choices.integer(1, 12):02}-{choices.integer(1, 28):02}"


def _clock(choices: Choices) -> str:
    hour, minute, second = choices.integer(0, 23), choices.integer(0, 59), choices.integer(0, 59)
    return f"{hour:02}:{minute:02}:{second:02}"


_FRACTIONS = ("", ".5", ".123", ".000001")
_ZONES = ("Z", "+00:00", "+02:00", "-08:30")


def _time(choices: Choices) -> str:
    fraction = _FRACTIONS[choices.index(4)] if choices.chance(30) else ""
    return f"{_clock(choices)}{fraction}{_ZONES[choices.index(4)] if choices.chance(30) else 'Z'}"


def _date_time(choices: Choices) -> str:
    # Within one month, as the times of one message are.
    return f"2026-01-{choices.integer(1, 28):02}T{_time(choices)}"


def _uuid(choices: Choices) -> str:
    parts = [choices.integer(0, 16**size - 1) for size in (8, 4, 3, 3, 12)]
    first, second, third, fourth, fifth = parts
    return f"{first:08x}-{second:04x}-4{third:03x}-8{fourth:03x}-{fifth:012x}"


def _uri(choices: Choices) -> str:
    return f"https://{_HOSTS[choices.index(len(_HOSTS))]}{_PATHS[choices.index(len(_PATHS))]}"


def _email(choices: Choices) -> str:
    return f"{_NAMES[choices.index(len(_NAMES))]}@{_HOSTS[choices.index(3)]}"


def _ipv4(choices: Choices) -> str:
    return ".".join(str(choices.integer(0, 255)) for _ in range(4))


def _ipv6(choices: Choices) -> str:
    return ":".join(f"{choices.integer(0, 0xFFFF):x}" for _ in range(8))


def _duration(choices: Choices) -> str:
    return f"P{choices.integer(1, 30)}D" if choices.chance(30) else f"PT{choices.integer(1, 90)}S"


MAKERS: dict[str, Maker] = {
    "date": _date,
    "time": _time,
    "date-time": _date_time,
    "duration": _duration,
    "uuid": _uuid,
    "uri": _uri,
    "iri": _uri,
    "uri-reference": lambda choices: _PATHS[choices.index(4)] if choices.chance(50) else _uri(choices),
    "iri-reference": lambda choices: _PATHS[choices.index(4)] if choices.chance(50) else _uri(choices),
    "uri-template": _of("/items/{id}", "https://example.com/{a}/{b}"),
    "email": _email,
    "idn-email": _email,
    "hostname": _of(*_HOSTS),
    "idn-hostname": _of(*_HOSTS),
    "ipv4": _ipv4,
    "ipv6": _ipv6,
    "json-pointer": _of(*_POINTERS),
    "relative-json-pointer": _of("0", "1/a", "2#"),
    "regex": _of(*_REGEXES),
}
"""By the format's name."""
