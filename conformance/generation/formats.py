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
    day = choices.integer(0, 4 * 12 * 28 - 1)
    return f"{2026 + day // 336}-{day // 28 % 12 + 1:02}-{day % 28 + 1:02}"


_FRACTIONS = ("", "", "", "", ".5", ".123", ".000001")
_ZONES = ("Z", "Z", "Z", "+00:00", "+02:00", "-08:30")
_ENDS = tuple(fraction + zone for zone in _ZONES for fraction in _FRACTIONS)


def _time(choices: Choices) -> str:
    ending, second = divmod(choices.integer(0, len(_ENDS) * 24 * 3600 - 1), 24 * 3600)
    end = _ENDS[ending]
    return f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}{end}"


def _date_time(choices: Choices) -> str:
    # Within one month, as the times of one message are.
    return f"2026-01-{choices.integer(1, 28):02}T{_time(choices)}"


def _uuid(choices: Choices) -> str:
    digits = f"{choices.integer(0, 16**30 - 1):030x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[12:15]}-8{digits[15:18]}-{digits[18:]}"


def _uri(choices: Choices) -> str:
    return f"https://{_HOSTS[choices.index(len(_HOSTS))]}{_PATHS[choices.index(len(_PATHS))]}"


def _email(choices: Choices) -> str:
    return f"{_NAMES[choices.index(len(_NAMES))]}@{_HOSTS[choices.index(3)]}"


def _ipv4(choices: Choices) -> str:
    return ".".join(map(str, choices.integer(0, 2**32 - 1).to_bytes(4, "big")))


def _ipv6(choices: Choices) -> str:
    digits = f"{choices.integer(0, 2**128 - 1):032x}"
    return ":".join(digits[at : at + 4] for at in range(0, 32, 4))


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
