"""What is said of an error in the kit itself."""

from __future__ import annotations

import json

from conformance.errors import ExitCode, OwnFault


def test_an_own_fault_says_what_it_was_and_where_in_the_kit() -> None:
    try:
        json.loads("{")
    except ValueError as error:
        fault = OwnFault.of(error)
    head, _, where = str(fault).rpartition(" (")
    assert head.startswith("an error in the kit, not in what it judges: JSONDecodeError: ")
    assert where.startswith("decoder.py:")
    assert fault.exit_code == ExitCode.KIT_ERROR


def test_of_an_error_that_nobody_raised_no_place_is_known() -> None:
    said = "an error in the kit, not in what it judges: KeyError: 'x' (?)"
    assert str(OwnFault.of(KeyError("x"))) == said
