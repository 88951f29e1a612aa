"""What a revision of a protocol says anew of the one that it is based on: data, merged once when read.

Rows are told apart by one of their members, a requirement by its id and a kind by its name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

Row = Mapping[str, Any]


def changed(base: Row, own: Row) -> dict[str, Any]:
    """The base's members with those of `own` in their place; one that `own` has as null is dropped.

    As JSON Merge Patch has it (RFC 7396), but of the members themselves alone: a value is replaced whole.
    """
    return {name: value for name, value in {**base, **own}.items() if value is not None}


def changed_rows(base: Iterable[Row], own: Iterable[Row], key: str, without: Iterable[str]) -> list[Row]:
    """The base's rows in their order, each changed by the row of `own` that has its key, then the new ones.

    Those whose key is in `without` are left out. Raises KeyError where a row has no key, and ValueError
    where two rows of `own` have the same.
    """
    rows = list(own)
    twice = repeated(row[key] for row in rows)
    if twice:
        raise ValueError(f"more than one row of {', '.join(twice)}")
    made: dict[str, Row] = {row[key]: row for row in base if row[key] not in set(without)}
    return list((made | {row[key]: changed(made.get(row[key], {}), row) for row in rows}).values())


def changed_pack(base: Row, own: Row) -> dict[str, Any]:
    """The content of a `pack.json` whose base has the content `base`."""
    without = own.get("without", {})
    kinds = changed_rows(base["kinds"], own.get("kinds", ()), "name", without)
    kept = {name: value for name, value in base.items() if name not in ("base", "without")}
    return changed(kept, {**own, "kinds": kinds})


def repeated(names: Iterable[str]) -> list[str]:
    """The names that are there more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


class Layers(NamedTuple):
    """A folder of files over the one that it is based on, whose files it takes over but for `without`."""

    own: Path
    base: Layers | None = None
    without: Collection[str] = ()

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folder itself, then those that it is based on."""
        return self.own, *(self.base.folders if self.base else ())

    def at(self, name: str) -> Path:
        """The file or folder of that name: its own, or else the base's. It need not be there."""
        own = self.own / name
        if self.base is None or name in self.without or own.exists():
            return own
        return self.base.at(name)

    def inside(self, folder: str) -> Layers:
        """The same of a folder inside it."""
        base = self.base.inside(folder) if self.base else None
        left_out = [name for name in self.without if name.startswith(f"{folder}/")]
        return Layers(self.own / folder, base, [name.removeprefix(f"{folder}/") for name in left_out])

    def like(self, pattern: str) -> dict[str, Path]:
        """The files whose name fits the glob, by name: its own, and those of the base that it takes over."""
        own = {path.relative_to(self.own).as_posix(): path for path in self.own.glob(pattern)}
        base = self.base.like(pattern) if self.base else {}
        inherited = {name: path for name, path in base.items() if name not in self.without}
        return dict(sorted((inherited | own).items()))
