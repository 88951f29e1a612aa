"""va-agent-protocol: whether the gates of an evidence say what their numbers say, and whether what was
promised is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from conformance.checks import Follower, Observation, failed, passed
from conformance.correlation import Message
from conformance.events import JSON
from conformance.findings import Finding, Requirement
from conformance.integers import I53, bounds_fault
from conformance.packs import Pack, pointer_value
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


def evidence_of(message: Message) -> tuple[str, dict[str, JSON]] | None:
    """Where the evidence of a message stands, or of a document, and what it is; None where it is none."""
    at = "" if message.is_a(["Evidence"]) else "/payload/evidence"
    found = message.at(at) if message.is_a(["Evidence", *RESULTS]) else None
    return (at, found) if isinstance(found, dict) else None


class Gates:
    """One rule for each gate of an evidence.

    Parameters: `rule`, a name of `RULES`; with `status`, it is for evidence of this status alone, in a
    message of the same type.
    """

    stateless = True
    hears = ("Evidence", *RESULTS)

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._rule = RULES[spec["parameters"]["rule"]]
        self._status = spec["parameters"].get("status")

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per gate that breaks the rule, else one if the rule had something to say."""
        message = seen.message
        found = evidence_of(message) if message is not None else None
        if message is None or found is None or not self._concerns(message, found[1]):
            return
        at, evidence = found
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

    hears = ("completed",)

    def __init__(self, requirement: Requirement, spec: dict[str, Any], pack: Pack) -> None:
        self._requirement = requirement
        self._attempts = Attempts()

    def joins(self, shared: dict[str, Any]) -> Follower:
        """The attempts that others look at too."""
        self._attempts = Attempts.shared_in(shared)
        return self._attempts

    def see(self, seen: Observation) -> Iterable[Finding]:
        """One finding per completed message whose outputs were agreed on."""
        message = self._attempts.message if self._attempts.attend(seen) else None
        if message is None:
            return
        promised = self._promised(message)
        evidence = message.at("/payload/evidence")
        if promised is None or not isinstance(evidence, dict) or evidence.get("status") != "completed":
            return
        outputs = evidence.get("outputs", {})
        if isinstance(outputs, dict):
            yield self._judge(message, promised, outputs)

    def _promised(self, message: Message) -> list[str] | None:
        attempt = self._attempts.attempt if message.is_a(["completed"]) else None
        if attempt is None:
            return None
        task, about = attempt.dispatch.at("/payload/task"), message.at("/payload/evidence/taskId")
        keys = pointer_value(task, "/outputContract/keys")
        if about != task["id"] or not isinstance(keys, list):
            return None
        return sorted(set(keys)) if all(isinstance(key, str) for key in keys) else None

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
