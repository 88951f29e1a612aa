"""How a server lets the kit in, as a person says it: the options that the command line and the plugin have.

Nothing is imported until one of them is given, since the plugin is loaded in every run of pytest.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.transports.access import Means

OPTIONS = {
    "ca": "certificates (PEM) that vouch for a wss server",
    "token-env": "the variable that holds a bearer token",
    "token-file": "the file that holds a bearer token",
    "token-by": "where the token is shown: header, which is the default, or subprotocol",
}
"""Name → what it is."""


def means(
    folder: Path,
    *,
    ca: str | Path | None = None,
    token_env: str | None = None,
    token_file: str | Path | None = None,
    token_by: str | None = None,
) -> Means:
    """The means of access that the options name; relative paths are of the folder."""
    from conformance.transports.access import Means

    return Means(
        folder / ca if ca else None,
        token_env or "",
        folder / token_file if token_file else None,
        token_by or "",
    )
