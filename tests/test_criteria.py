"""Each kind of check as a sentence, made from its parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from judging import row, toy

from conformance import criteria, packs
from conformance.families import CHECKS
from conformance.monitor import NOT_OBSERVED
from conformance.packs import Pack

THEN: dict[str, Any] = {"required": ["a"]}


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    return toy(tmp_path, row({"kind": "direction"}))


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"kind": "schema", "on": ["go"]},
         "A message of go keeps the constraints of schemas that are this requirement's."),
        ({"kind": "schema", "on": ["ask", "begin", "go", "end", "note"]},
         "A message of any kind keeps the constraints of schemas that are this requirement's."),
        ({"kind": "json-text"}, "The text of each message is free of this fault."),
        ({"kind": "direction"}, "Each message is of a kind that its sender's role may send."),
        ({"kind": "integer-bounds", "u53": ["a.json#/x", "a.json#/y"], "i53": ["a.json#/z"]},
         "These numbers are integers, as exact tokens: 0 to 2^53-1 at a.json#/x and a.json#/y; "
         "-(2^53-1) to 2^53-1 at a.json#/z."),
        ({"kind": "integer-bounds", "i53": ["a.json#/z"], "only": "type"},
         "These values are numbers: a.json#/z."),
        ({"kind": "requires", "on": ["*"], "then": THEN},
         'A message of any kind fits {"required": ["a"]}.'),
        ({"kind": "requires", "on": ["go"], "at": "/p", "when": {"const": "é"}, "then": THEN},
         'The value at /p of a message of go fits {"required": ["a"]}, if it fits {"const": "é"}.'),
        ({"kind": "requires", "on": ["go"], "lifecycle": "life", "from": ["x", "y"], "then": THEN},
         "A message of go that moves something on from x or y (the lifecycle life) fits "
         '{"required": ["a"]}.'),
        ({"kind": "matches", "on": ["end"], "field": "/i", "with": ["ask"], "their": "/j"},
         "/i of end equals /j of an earlier ask."),
        ({"kind": "matches", "on": ["end"], "field": "/i", "with": ["ask"], "their": "/j",
          "related": ["/mine", "/theirs"]},
         "/i of end equals /j of an earlier ask whose /theirs is its /mine."),
        ({"kind": "matches", "on": ["end"], "field": "/i", "with": ["ask"], "their": "/j",
          "related": "request"},
         "/i of end equals /j of the ask that it answers."),
        ({"kind": "sequence", "start": 1, "fields": [{"on": ["go"], "at": "/n"},
                                                     {"on": ["end"], "at": "/m", "report": True}]},
         "Over a session, these numbers start at 1 and grow by one: /n of go; /m of end, which may repeat "
         "an earlier one."),
        ({"kind": "sequence", "start": 0, "fields": [{"on": ["go"], "at": "/n"}],
          "acknowledged": [{"on": ["ask"], "at": "/got"}]},
         "Over a session, these numbers start at 0 and grow by one: /n of go. What the other side says it "
         "got was sent: /got of ask."),
        ({"kind": "monotonic", "series": [{"on": ["go"], "at": "/t", "order": "/n"},
                                          {"on": ["end"], "at": "/s", "per": "/c", "strict": True}]},
         "Over a session, /t of go never goes back, in the order of /n. "
         "Over a session, /s of end always grows, for each /c of its own."),
        ({"kind": "transition", "lifecycle": "life", "begun": True, "unless": ["x", "y", "z"]},
         "Every move that a message of any kind tells of is a transition of the lifecycle life. "
         "A state of what never began is no move. What follows x, y or z is judged by another requirement."),
        ({"kind": "transition", "lifecycle": "life", "on": ["go"]},
         "Every move that a message of go tells of is a transition of the lifecycle life."),
        ({"kind": "terminal-silence", "lifecycle": "life", "states": ["x"], "on": ["go"]},
         "No message of go is about what was x already (the lifecycle life)."),
        ({"kind": "reason-required", "lifecycle": "life", "states": ["x"], "on": ["go"]},
         "A message of go that reports x (the lifecycle life) gives a reason."),
        ({"kind": "reason-allowed", "lifecycle": "life", "vendor": "^x-"},
         "The reason of a move is one that the transition lists (the lifecycle life), or fits the pattern "
         '"^x-". Where it lists none, a reason is a warning.'),
        ({"kind": "scenario"}, "A step of a scenario proves it, or does not."),
    ],
)  # fmt: skip
def test_a_check_is_a_sentence(spec: dict[str, Any], said: str, pack: Pack) -> None:
    assert criteria.sentence(pack.requirements["TOY-MSG-001"], spec, pack) == said


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"on": ["go"]}, "every constraint of go"),
        ({"at": "a.json#/x", "keyword": "type"}, "the keyword type at a.json#/x"),
        ({"instance": "/p"}, "every constraint on the message's /p"),
        ({"instance": "", "on": ["go", "end"]}, "every constraint on the whole message of go or end"),
    ],
)
def test_a_claim_is_a_phrase(spec: dict[str, Any], said: str, pack: Pack) -> None:
    assert criteria.claim(spec, pack) == said


def test_what_is_judged_by_code_is_told_by_its_docstring() -> None:
    va = packs.find("va-agent-protocol@0.1.0")
    requirement = va.requirements["VA-CAN-001"]
    said = criteria.sentence(requirement, requirement.checks[0], va)
    assert said == "After cancel nothing is said of the execution but what was already under way."


def test_a_kind_of_check_without_a_sentence_is_told_by_its_docstring(
    pack: Pack, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Novel:
        """Nothing is said
        twice.

        Parameters: `on`.
        """

    monkeypatch.setitem(CHECKS, "novel", Novel)  # type: ignore[arg-type]
    requirement = pack.requirements["TOY-MSG-001"]
    said = criteria.sentence(requirement, {"kind": "novel", "on": ["go"]}, pack)
    assert said == 'Nothing is said twice. {"on": ["go"]}'
    unknown = criteria.sentence(requirement, {"kind": "unheard-of"}, pack)
    assert unknown == "A check that says nothing of itself."


def test_every_check_of_every_pack_is_told() -> None:
    for pack in packs.find_all():
        for requirement in pack.requirements.values():
            said = [criteria.sentence(requirement, spec, pack) for spec in requirement.checks]
            assert all(len(one) > 20 and "says nothing of itself" not in one for one in said), requirement.id


def test_the_sentences_are_of_kinds_that_there_are() -> None:
    assert set(criteria.SENTENCES) <= {*CHECKS, *NOT_OBSERVED}
