"""Verdicts and the fold: the order is ISO 9646's, and a verdict only gets worse."""

import itertools

import pytest

from conformance.findings import Finding, Level, Requirement, Verdict, claim_status, fold, verdict_of

MUST, SHOULD, MAY = Level.MUST, Level.SHOULD, Level.MAY


@pytest.mark.parametrize(
    ("ok", "level", "own", "inconclusive", "verdict"),
    [
        (True, MUST, None, False, "pass"),
        (True, SHOULD, None, False, "pass"),
        (False, MUST, None, False, "fail"),
        (False, SHOULD, None, False, "warn"),
        (False, MAY, None, False, "warn"),
        (False, MUST, SHOULD, False, "warn"),
        (False, SHOULD, MUST, False, "fail"),
        (False, MUST, None, True, "inconclusive"),
        (True, MUST, None, True, "inconclusive"),
    ],
)
def test_what_one_finding_says(
    ok: bool, level: Level, own: Level | None, inconclusive: bool, verdict: str
) -> None:
    finding = Finding("X-1", ok, "left", level=own, inconclusive=inconclusive)
    assert verdict_of(finding, level).word == verdict


def test_the_words_of_reports() -> None:
    words = ["not-applicable", "manual", "untested", "pass", "warn", "inconclusive", "fail"]
    assert [verdict.word for verdict in Verdict] == words


def test_nothing_observed_is_untested_and_never_a_pass() -> None:
    assert fold([]) is Verdict.UNTESTED
    assert fold([], Verdict.MANUAL) is Verdict.MANUAL


@pytest.mark.parametrize(("one", "other"), list(itertools.product(Verdict, Verdict)))
def test_a_fold_is_never_better_than_any_of_its_verdicts(one: Verdict, other: Verdict) -> None:
    assert fold([one, other]) == fold([other, one])
    assert fold([one, other]) in (one, other)
    assert fold([one, other]) >= one


@pytest.mark.parametrize(
    ("verdicts", "worst"),
    [
        ("pass pass", "pass"),
        ("pass warn", "warn"),
        ("warn inconclusive", "inconclusive"),
        ("inconclusive fail pass", "fail"),
        ("untested pass", "pass"),
    ],
)
def test_the_fold(verdicts: str, worst: str) -> None:
    by_word = {verdict.word: verdict for verdict in Verdict}
    assert fold(by_word[word] for word in verdicts.split()).word == worst


@pytest.mark.parametrize(
    ("of", "role", "concerned"),
    [("left", "left", True), ("left", "right", False), ("both", "left", True), ("both", "right", True)],
)
def test_whom_a_requirement_concerns(of: str, role: str, concerned: bool) -> None:
    assert Requirement("X-1", MUST, of, "It is so.").concerns(role) is concerned


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        ([], "not-evaluated"),
        ([(MUST, Verdict.UNTESTED)], "not-evaluated"),
        ([(MUST, Verdict.INCONCLUSIVE), (MUST, Verdict.NOT_APPLICABLE)], "not-evaluated"),
        ([(MUST, Verdict.PASS)], "conformant"),
        ([(MUST, Verdict.PASS), (MUST, Verdict.NOT_APPLICABLE)], "conformant"),
        ([(MUST, Verdict.PASS), (SHOULD, Verdict.WARN)], "conformant"),
        ([(MUST, Verdict.PASS), (SHOULD, Verdict.UNTESTED)], "conformant"),
        ([(MUST, Verdict.PASS), (SHOULD, Verdict.INCONCLUSIVE)], "conformant"),
        ([(MUST, Verdict.PASS), (MUST, Verdict.UNTESTED)], "incomplete"),
        ([(MUST, Verdict.PASS), (MUST, Verdict.MANUAL)], "incomplete"),
        ([(MUST, Verdict.PASS), (MUST, Verdict.INCONCLUSIVE)], "incomplete"),
        ([(SHOULD, Verdict.WARN), (MUST, Verdict.UNTESTED)], "incomplete"),
        ([(MUST, Verdict.FAIL)], "non-conformant"),
        ([(MUST, Verdict.FAIL), (MUST, Verdict.UNTESTED)], "non-conformant"),
        ([(MUST, Verdict.PASS), (MUST, Verdict.FAIL)], "non-conformant"),
    ],
)
def test_what_the_verdicts_of_a_run_support(verdicts: list[tuple[Level, Verdict]], status: str) -> None:
    assert claim_status(verdicts) == status
