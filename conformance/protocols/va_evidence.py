"""va-agent-protocol: whether the gates of an evidence say what their numbers say, and whether what was
promised is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any, ClassVar, NamedTuple

from conformance.checks import Follower, Observation, failed, passed
from conformance.correlation import Message
from conformance.events import JSON
from conformance.findings import Finding, Requirement
from conformance.integers import I53, bounds_fault
from conformance.jsontext import getter
from conformance.packs import Pack
from conformance.protocols.va_attempts import RESULTS, Attempts
from conformance.wording import shown, type_name

Gate = dict[str, JSON]


class Told(NamedTuple):
    """What a rule makes of one gate: `wrong` says what is wrong at its member `at`; empty if nothing."""

    wrong: str = ""
    at: str = ""
    expected: tuple[JSON, ...] = ()


RIGHT = Told()

Rule = Callable[[Gate], Told | None]
"""None where the gate does not say enough for the rule."""


def is_command(gate: Gate) -> bool:
    """Whether an exit code decides; a gate without a type is one of those (the schema's default)."""
    return bool(gate.get("type", "command") == "command")


def mark(gate: Gate, name: str) -> Decimal | None:
    """A score or a threshold, exactly as it is written; None where it is none from 0 to 1."""
    value = gate.get(name)
    if type_name(value) != "number":
        return None
    exact = Decimal(str(value))  # a float stands for its shortest token, not for its binary value
    return exact if 0 <= exact <= 1 else None


def by_exit_code(gate: Gate) -> Told | None:
    """VA-EVD-006: a command gate has passed if and only if its exit code is 0.

    One that was killed has no exit code: it has not passed, and that it has not says nothing wrong.
    Without its command it is no whole command gate, which is another requirement's matter.
    """
    verdict, code = gate.get("passed"), gate.get("exitCode")
    if not is_command(gate) or not isinstance(verdict, bool):
        return None
    if "exitCode" not in gate:
        said = "the gate passed, and there is no exit code that shows it"
        return Told(said, "/passed", (False,)) if verdict and "command" in gate else None
    if bounds_fault(code, *I53) is not None:
        return None
    if verdict == (code == 0):
        return RIGHT
    said = f"the exit code is {shown(code)}, and the gate {_outcome(verdict)}"
    return Told(said, "/passed", (not verdict,))


def by_threshold(gate: Gate) -> Told | None:
    """VA-EVD-007: a score that reaches the threshold passes."""
    marks = _marks(gate)
    if marks is None or marks[0] < marks[1]:
        return None
    if gate["passed"]:
        return RIGHT
    said = f"the score {shown(gate['score'])} reaches the threshold {shown(gate['threshold'])}, "
    return Told(f"{said}and the gate did not pass", "/passed", (True,))


def by_severity(gate: Gate) -> Told | None:
    """VA-EVD-008: a score below the threshold does not pass; from softThreshold on it is a warning,
    and lower an error. A gate that did not pass and does not say how bad that is counts as an error.
    """
    marks = _marks(gate)
    if marks is None or marks[0] >= marks[1]:
        return None
    if gate["passed"]:
        said = f"the score {shown(gate['score'])} is below the threshold {shown(gate['threshold'])}, "
        return Told(f"{said}and the gate passed", "/passed", (False,))
    soft = mark(gate, "softThreshold")
    if "softThreshold" not in gate:
        return RIGHT
    return None if soft is None else _graded(gate, "warning" if marks[0] >= soft else "error")


def _graded(gate: Gate, wanted: str) -> Told | None:
    severity = gate.get("severity", "error")
    if severity not in ("warning", "error"):
        return None
    if severity == wanted:
        return RIGHT
    band = f"below the softThreshold {shown(gate['softThreshold'])}"
    if wanted == "warning":
        band = f"below the threshold {shown(gate['threshold'])} and not {band}"
    said = f"the score {shown(gate['score'])} is {band}, so the severity is {wanted}; "
    said += f"it is said to be {severity}" if "severity" in gate else "none is given"
    return Told(said, "/severity" if "severity" in gate else "", (wanted,))


def _marks(gate: Gate) -> tuple[Decimal, Decimal] | None:
    """Score and threshold, where they decide: not where an exit code does."""
    score, threshold = mark(gate, "score"), mark(gate, "threshold")
    if score is None or threshold is None or not isinstance(gate.get("passed"), bool):
        return None
    return None if is_command(gate) and "exitCode" in gate else (score, threshold)


def by_success(gate: Gate) -> Told | None:
    """VA-EVD-009: no gate of a completed execution failed, unless with severity warning.

    Nothing is said of a gate whose own numbers contradict it: that is the fault, and one is enough.
    """
    verdict, severity = gate.get("passed"), gate.get("severity", "error")
    if not isinstance(verdict, bool) or severity not in ("warning", "error"):
        return None
    if any((told := rule(gate)) and told.wrong for rule in (by_exit_code, by_threshold, by_severity)):
        return None
    if verdict or severity == "warning":
        return RIGHT
    of = "of severity error" if "severity" in gate else "and says nothing of its severity"
    return Told(f"the execution completed, and this gate did not pass {of}", "/passed", (True,))


def _outcome(verdict: bool) -> str:
    return "passed" if verdict else "did not pass"


RULES: dict[str, Rule] = {
    "exit-code": by_exit_code,
    "threshold": by_threshold,
    "severity": by_severity,
    "success": by_success,
}
"""By the name that a row's parameter `rule` has."""


_PLACES = {"Evidence": "", **dict.fromkeys(RESULTS, "/payload/evidence")}
"""Where the evidence of a message stands, or of a document, by kind."""

_evidence_of = getter("/payload/evidence")


class Proof:
    """The evidence of the message that is observed, which several rules look at.

    It is `at` a pointer of `message`; `sound` where it is sure that no rule has anything against its gates,
    which is asked only if nobody wants praise.
    """

    hears: ClassVar[Iterable[str]] = frozenset(_PLACES)

    def __init__(self) -> None:
        self.at = ""
        self.evidence: dict[str, JSON] | None = None
        self.sound = False

    @staticmethod
    def shared_in(shared: dict[str, Any]) -> Proof:
        """The one that all rules of one stream have in common."""
        proof: Proof = shared.setdefault("va proof", Proof())
        return proof

    def attend(self, seen: Observation) -> bool:
        """Look at what the message has; whether it has evidence."""
        message = seen.message
        at = None if message is None else _PLACES.get(message.name)
        self.evidence = None
        if message is None or at is None:
            return False
        evidence = _evidence_of(message.value) if at else message.value
        if type(evidence) is not dict:
            return False
        self.at, self.evidence = at, evidence
        self.sound = not seen.praise and _is_sound(evidence, message.name)
        return True


def _is_sound(evidence: dict[str, JSON], name: str) -> bool:
    gates, status = evidence.get("gateResults"), evidence.get("status")
    if type(gates) is not list:
        return True
    is_success = status == "completed" and name in (status, "Evidence")
    return False not in [is_plain(gate, is_success) for gate in gates]


def is_plain(gate: JSON, is_success: bool) -> bool:
    """Whether it is sure at once that none of `RULES` has anything against the gate; in doubt, it is not.

    With `is_success`, its evidence is of an execution that completed.
    """
    if type(gate) is not dict:
        return True
    verdict = gate.get("passed")
    if type(verdict) is not bool:
        return True
    if is_success and not verdict and gate.get("severity") != "warning":
        return False
    if gate.get("type", "command") == "command":
        code = gate.get("exitCode")
        if type(code) is int:  # which decides, whatever the marks are
            return verdict is (code == 0)
        if verdict or "exitCode" in gate:
            return False
    return _is_marked(gate, verdict)


def _is_marked(gate: Gate, verdict: bool) -> bool:
    """Whether it is sure at once that a verdict is that of the marks, if there are any.

    Only numbers that the decoder gave as ints and floats are compared. Each float stands for its shortest
    token, and the tokens of two floats compare as the floats do.
    """
    score, threshold = gate.get("score"), gate.get("threshold")
    if score is None or threshold is None:
        return True
    if type(score) not in _NUMBERS or type(threshold) not in _NUMBERS:
        return False
    if verdict or score >= threshold:
        return verdict and bool(score >= threshold)
    soft = gate.get("softThreshold")
    if type(soft) not in _NUMBERS:
        return "softThreshold" not in gate
    return bool(gate.get("severity", "error") == ("warning" if score >= soft else "error"))


_NUMBERS = frozenset((int, float))


class Gates:
    """One rule for each gate of an evidence.

    Parameters: `rule`, a name of `RULES`; with `status`, it is for evidence of this status alone, in a
    message of the same type.
    """

    stateless = True
    hears: ClassVar[Iterable[str]] = ("Evidence", *RESULTS)

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._rule = RULES[spec["parameters"]["rule"]]
        self._status = spec["parameters"].get("status")
        self._proof = Proof()

    def joins(self, shared: dict[str, Any]) -> Follower:
        """The evidence, which the other rules look at too."""
        self._proof = Proof.shared_in(shared)
        return self._proof

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per gate that breaks the rule, else one if the rule had something to say."""
        proof, message = self._proof, seen.message
        if proof.evidence is None or proof.sound or message is None:
            return ()
        if not self._concerns(message, proof.evidence):
            return ()
        return self._judge(message, proof.at, proof.evidence)

    def _judge(self, message: Message, at: str, evidence: dict[str, JSON]) -> Iterable[Finding]:
        told = [*self._told(at, evidence)]
        broken = [one for one in told if one[2].wrong]
        for place, gate, one in broken:
            actual = gate.get(one.at.removeprefix("/"))
            yield failed(
                self._requirement, message, one.wrong, place + one.at, expected=one.expected, actual=actual
            )
        if told and not broken:
            yield passed(self._requirement, message)

    def _concerns(self, message: Message, evidence: dict[str, JSON]) -> bool:
        if self._status is None:
            return True
        return evidence.get("status") == self._status and message.name in (self._status, "Evidence")

    def _told(self, at: str, evidence: dict[str, JSON]) -> Iterator[tuple[str, Gate, Told]]:
        gates = evidence.get("gateResults")
        for index, gate in enumerate(gates if isinstance(gates, list) else ()):
            told = self._rule(gate) if isinstance(gate, dict) else None
            if told is not None:
                yield f"{at}/gateResults/{index}", gate, told

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each evidence is judged when it is seen."""
        return ()


class Outputs:
    """VA-EVD-010: the outputs of a completed execution have the keys that its dispatch asked for, and
    no others. Judged where the dispatch was seen and declares keys.
    """

    hears: ClassVar[Iterable[str]] = ("completed",)

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._attempts = Attempts()

    def joins(self, shared: dict[str, Any]) -> Follower:
        """The attempts that others look at too."""
        self._attempts = Attempts.shared_in(shared)
        return self._attempts

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per completed message whose outputs were agreed on."""
        message, attempt = seen.message, self._attempts.attempt
        if message is None or attempt is None or message.name != "completed":
            return ()
        keys, evidence = attempt.keys, _evidence_of(message.value)
        if type(keys) is not list or type(evidence) is not dict or evidence.get("status") != "completed":
            return ()
        outputs = evidence.get("outputs", {})
        if type(outputs) is not dict or evidence.get("taskId") != attempt.task:
            return ()
        if not seen.praise and keys == [*outputs]:
            return ()  # as it is mostly, even in this order
        if not all(isinstance(key, str) for key in keys):
            return ()
        return [self._judge(message, sorted(set(keys)), outputs)]

    def _judge(self, message: Message, promised: list[str], outputs: dict[str, JSON]) -> Finding:
        missing = [key for key in promised if key not in outputs]
        extra = sorted(outputs.keys() - set(promised))
        if not missing and not extra:
            return passed(self._requirement, message)
        said = "; ".join(
            f"{word} {', '.join(map(shown, keys))}"
            for word, keys in (("missing", missing), ("not promised", extra))
            if keys
        )
        said = f"the outputs are not those of the outputContract: {said}"
        at = "/payload/evidence" + ("/outputs" if message.at("/payload/evidence/outputs") is not None else "")
        return failed(self._requirement, message, said, at, expected=promised, actual=sorted(outputs))

    def end(self, complete: bool) -> Iterable[Finding]:
        """Nothing: each message is judged when it is seen."""
        return ()
