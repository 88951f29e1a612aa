"""What the whole suite has in common: what needs the interpreted kit is left out where it is compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance import monitor


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what is marked `interpreted` where the modules that judge are compiled."""
    if Path(monitor.__file__).suffix == ".py":
        return
    for item in items:
        marked = item.get_closest_marker("interpreted")
        if marked is not None:
            item.add_marker(pytest.mark.skip(reason=f"needs the interpreted kit: {marked.kwargs['reason']}"))
