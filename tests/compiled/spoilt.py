"""Inputs made of the fixtures, spoilt at random: the same for the same seed. Nothing of the kit is used.

Values become others of every JSON type, as tokens that no decoder would write; members and lines are left
out, said twice, moved and mixed with those of other protocols; bytes are changed, and inputs cut.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

NUMBERS = [
    *("0", "1", "-1", "2", "-0", "-0.0", "1.0", "1E3", "3.5", "0.1", "1e22", "1e308", "1e309", "1e400"),
    *("-1e400", "1e-400", "1.5e-320", "9007199254740991.4", "9007199254740993", "9007199254740993.0"),
    *("0.30000000000000000000001", "123456789012345.678901", "4611686018427387904", "-4611686018427387905"),
    *("9223372036854775807", "18446744073709551616", "-9223372036854775809", "1" + "0" * 300),
    *("1" + "0" * 400, "-1" + "0" * 400, "9" * 1001, "1e10001"),
]  # fmt: skip
STRINGS = [
    *(
        '""',
        '"x"',
        '"1"',
        r'"\ud800"',
        r'"\udfff\ud800"',
        r'"\u0000"',
        '"~0/~1"',
        '"\u2028"',
        '"é\U0001f600"',
    ),
    *('"2026-04-01T09:00:02Z"', '"2026-04-01T23:59:60.999999999999Z"', '"0000-01-01T00:00:00+23:59"'),
    *('"T-1"', '"agent://x"', '"9999999999999999999"', '"' + "a" * 5000 + '"', '"\ud800"'),
]
CONTAINERS = [
    *("[]", "{}", "[[]]", "[1]", '["x"]', "[null]", "[{}]", '{"":1}', '{"id":null}', '{"a":1,"a":2}'),
    *("[1e400]", '{"a":[],"b":{}}', '{"channel":[]}', "[" + ",".join("0" * 200) + "]"),
    *("[" * 40 + "]" * 40, '{"a":' * 40 + "1" + "}" * 40, "[" * 300 + "]" * 300, "[" * 600 + "]" * 600),
]  # fmt: skip
BROKEN = ["NaN", "Infinity", "-Infinity", "01", "1.", "tru", r'"\x"', ""]
TOKENS = [*NUMBERS, *STRINGS, *CONTAINERS, *BROKEN, "true", "false", "null"]
NAMES = ["", "id", "method", "params", "result", "error", "type", "payload", "seq", "message", "event", "~"]
PIECES = [b"\xff", b"\r", b"\n", b"\r\n", b"\xef\xbb\xbf", b"{", b"}", b"]", b'"', b",", b"\x00",
          b"\xed\xa0\x80", b"[info] x\n", b"1"]  # fmt: skip

Container = dict[str, Any] | list[Any]


class Input(NamedTuple):
    """Bytes to judge; `protocol` is named for them, or is empty; `chunks` is their size, or 0 for one."""

    name: str
    data: bytes
    protocol: str
    options: dict[str, Any]
    chunks: int = 0


class _Pack(NamedTuple):
    name: str
    files: list[tuple[Path, list[Any]]]
    messages: list[Any]


def inputs(root: Path, count: int, seed: int) -> Iterator[Input]:
    """Every fixture as it is, and then so many inputs made of them."""
    for path in sorted(root.glob("fixtures/*/*/*/*/*.json*")):
        yield Input(str(path.relative_to(root)), path.read_bytes(), "", {})
    chance = random.Random(seed)
    packs = _packs(root)
    for number in range(count):
        yield _made(chance, packs, number, root)


def _packs(root: Path) -> list[_Pack]:
    found = []
    for folder in sorted(root.glob("fixtures/*/*/transcripts")):
        paths = sorted([*folder.glob("*/*.jsonl"), *folder.parent.glob("messages/*/*.json")])
        files = [(path, _lines(path)) for path in paths if path.stat().st_size < 200_000]
        said = [line["message"] for _, lines in files for line in lines if _has_message(line)]
        found.append(_Pack("@".join(folder.parts[-3:-1]), files, said))
    return found


def _lines(path: Path) -> list[Any]:
    texts = path.read_text("utf-8").splitlines() if path.suffix == ".jsonl" else [path.read_text("utf-8")]
    made: list[Any] = []
    for text in texts:
        try:
            made.append(json.loads(text))
        except (ValueError, RecursionError):
            made.append(text)
    return made


def _has_message(line: Any) -> bool:
    return isinstance(line, dict) and "message" in line


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _made(chance: random.Random, packs: list[_Pack], number: int, root: Path) -> Input:
    pack = chance.choice(packs)
    path, lines = chance.choice(pack.files)
    lines = _copy(lines)
    if path.suffix == ".json" or chance.random() < 0.5:  # without the lines of a transcript around them
        lines = [line["message"] if _has_message(line) else line for line in lines]
    if chance.random() < 0.35:
        lines += _copy(chance.sample(pack.messages, min(len(pack.messages), chance.randrange(1, 12))))
    for _ in range(chance.choice((0, 1, 1, 1, 2, 4))):
        _change(chance, packs, lines)
    data = "\n".join(line if isinstance(line, str) else _written(line) for line in lines)
    coded = data.encode("utf-8", "surrogatepass") + b"\n"
    if chance.random() < 0.15:
        coded = _noisy(chance, coded)
    options: dict[str, Any] = {"form": "receiver"} if chance.random() < 0.15 else {}
    options |= {name: True for name in ("stateless", "as_published") if chance.random() < 0.1}
    protocol = pack.name if chance.random() < 0.4 else ""
    chunks = chance.choice((1, 7, 64, 1000)) if chance.random() < 0.15 else 0
    return Input(f"{number} {path.relative_to(root)}", coded, protocol, options, chunks)


def _change(chance: random.Random, packs: list[_Pack], lines: list[Any]) -> None:
    at, deed = chance.randrange(len(lines)), chance.random()
    if at == 0 and chance.random() < 0.7:  # a header, mostly
        at = len(lines) - 1
    if deed < 0.65:
        if _has_message(lines[at]) and chance.random() < 0.8:
            lines[at]["message"] = _spoilt(chance, lines[at]["message"])
        else:
            lines[at] = _spoilt(chance, lines[at])
    elif deed < 0.72:
        lines.insert(at, _copy(lines[at]))
    elif deed < 0.79 and len(lines) > 1:
        del lines[at]
    elif deed < 0.86:
        lines.insert(chance.randrange(len(lines) + 1), lines.pop(at))
    elif deed < 0.93:
        lines.append(_copy(chance.choice(chance.choice(packs).messages)))
    elif isinstance(lines[at], dict) and "event" in lines[at]:
        lines[at]["connection"] = chance.choice(("main", "2", "", 1, None))
    else:
        lines[at] = _written(lines[at])[: chance.randrange(60)]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each container within a value, and each key or index of it."""
    for key, part in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(part, (dict, list)):
            yield from _places(part)


def _spoilt(chance: random.Random, value: Any) -> Any:
    holder = [value]
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        found = [*_places(holder)]
        container, key = chance.choice(found[1:] if len(found) > 1 else found)
        part = container[key]
        if type(part) in (int, float) and chance.random() < 0.5:
            container[key] = _mark(chance.choice(NUMBERS))
        elif chance.random() < 0.5:
            container[key] = _mark(chance.choice(TOKENS))
        else:
            chance.choice(DEEDS)(chance, container, key)
    return holder[0]


def _leave_out(_: random.Random, container: Any, key: Any) -> None:
    del container[key]
    if not container and isinstance(container, list):
        container.append(None)


def _wrap(chance: random.Random, container: Any, key: Any) -> None:
    part = container[key]
    container[key] = chance.choice(([part], {chance.choice(NAMES): part}, [part, part]))


def _add(chance: random.Random, container: Any, key: Any) -> None:
    if isinstance(container, dict):
        container[chance.choice(NAMES)] = _mark(chance.choice(TOKENS))
    else:
        container.append(container[key])


def _move_a_little(chance: random.Random, container: Any, key: Any) -> None:
    part = container[key]
    if type(part) in (int, float):
        container[key] = chance.choice(
            (float(part), -part, part + 1, part - 1, part * 2**60, str(part), part + 0.5)
        )
    elif isinstance(part, str):
        container[key] = chance.choice(
            (part + " ", part[:-1], part.upper(), part * 50, len(part), {part: part})
        )
    else:
        container[key] = chance.choice((0, 1, True, None, "true"))


def _swap(chance: random.Random, container: Any, key: Any) -> None:
    other = chance.choice([*container] if isinstance(container, dict) else range(len(container)))
    container[key], container[other] = container[other], container[key]


DEEDS: list[Callable[[random.Random, Any, Any], None]] = [_leave_out, _wrap, _add, _move_a_little, _swap]


def _mark(token: str) -> str:
    """A string that stands for a token that `json` would not write."""
    return f"\ue000{TOKENS.index(token)}\ue001"


def _written(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    first, *rest = text.split("\ue000")
    for piece in rest:
        number, _, after = piece.partition("\ue001")
        if not number.isdecimal():  # a mark that was itself spoilt
            first += piece
            continue
        token = TOKENS[int(number)]
        whole = first.endswith('"') and after.startswith('"') and not first.endswith('\\"')
        first = first[:-1] + token + after[1:] if whole else first + after
    return first


def _noisy(chance: random.Random, data: bytes) -> bytes:
    spoilt = bytearray(data)
    for _ in range(chance.choice((1, 2, 5, 20))):
        at, deed = chance.randrange(len(spoilt) + 1), chance.random()
        if deed < 0.3:
            spoilt[at : at + 1] = bytes([chance.randrange(256)])
        elif deed < 0.5:
            spoilt[at:at] = chance.choice(PIECES)
        elif deed < 0.7:
            del spoilt[at : at + chance.randrange(1, 30)]
        elif deed < 0.8:
            del spoilt[at:]
        else:
            spoilt[at:at] = spoilt[at : at + chance.randrange(1, 200)]
    return bytes(spoilt)
