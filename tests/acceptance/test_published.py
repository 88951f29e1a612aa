"""Messages on which a published schema and its own protocol differ, and some on which they agree."""

import json
from pathlib import Path

from specimens import against, each_of_packs, judged, name_of, obeys, parsed

from conformance import records
from conformance.monitor import Monitor
from conformance.packs import Pack


def verdict(pack: Pack, path: Path, *, as_published: bool) -> str:
    """Whether there is any finding against the message of the file."""
    text = json.dumps(parsed(path)["message"]).encode()
    events = records.open_record(text, name_of(path), pack).events
    return "invalid" if against(judged(events, Monitor(pack, as_published=as_published))) else "valid"


@each_of_packs("published/*.json")
def test_judged_as_published(pack: Pack, path: Path) -> None:
    """By the schema alone, as its authors published it.

    Its patterns are those of ECMA-262: `dispatch.version-with-a-newline` is refused, though a validator
    that hands the pattern to Python, whose `$` lets a final newline pass, accepts it.
    """
    obeys(parsed(path), "fixture.schema.json#/$defs/published")
    assert verdict(pack, path, as_published=True) == parsed(path)["as_published"]


@each_of_packs("published/*.json")
def test_judged_by_the_protocol(pack: Pack, path: Path) -> None:
    """With the errata applied and every check made; a SHOULD that is broken counts too."""
    assert verdict(pack, path, as_published=False) == parsed(path)["by_prose"]
