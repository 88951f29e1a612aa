"""How the kit is let in by a server: whom it trusts, which bearer token (RFC 6750) it shows, and how.

A token is read from a variable or a file, is shown in the opening handshake, and leaves this package in
no other way: what comes back of it (in a message, a close reason, an error, standard error) is hidden.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from conformance.errors import BadConfiguration

SHORTEST = 8
"""Characters of a token. A shorter one is no secret, and would be hidden where it is just a word."""

HIDDEN = "redacted"

_SHOWN = re.compile(r"[!-~]+")  # visible ASCII: nothing that could end a header
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # a token of HTTP (RFC 7230, 3.2.6), as a subprotocol is

_ESCAPED = '"\\/'  # what may stand behind a backslash as itself (RFC 8259, 7)

HEADER, SUBPROTOCOL = "header", "subprotocol"
WAYS = (HEADER, SUBPROTOCOL)


@dataclass(frozen=True, slots=True)
class Means:
    """Where the means of access are, as a person says it; holds no secret. Relative paths are of here."""

    ca: Path | None = None
    token_env: str = ""
    token_file: Path | None = None
    token_by: str = ""

    @classmethod
    def stated(cls, table: Mapping[str, Any], folder: Path) -> Means:
        """The means that a table of the ICS states; its paths are of this folder."""
        files = {name: folder / table[name] for name in ("ca", "token_file") if name in table}
        return cls(
            files.get("ca"), table.get("token_env", ""), files.get("token_file"), table.get("token_by", "")
        )

    def over(self, other: Means) -> Means:
        """These means, and for what they leave open the others."""
        own = bool(self.token_env or self.token_file)
        return Means(
            self.ca or other.ca,
            self.token_env if own else other.token_env,
            self.token_file if own else other.token_file,
            self.token_by or other.token_by,
        )


@dataclass(frozen=True, slots=True)
class Access:
    """The means of access themselves. `context` is for wss, None where the system's trust will do."""

    token: str = field(default="", repr=False)
    by: str = HEADER
    context: ssl.SSLContext | None = None
    others: tuple[str, ...] = field(default=(), repr=False)
    """Tokens that are shown over other connections, and hidden all the same."""

    @property
    def headers(self) -> dict[str, str]:
        """What the opening handshake has in addition."""
        return {"Authorization": f"Bearer {self.token}"} if self.token and self.by == HEADER else {}

    def offered(self, subprotocols: Sequence[str]) -> list[str]:
        """The subprotocols to offer: those that are meant, and the token as one more."""
        if not self.token or self.by != SUBPROTOCOL:
            return list(subprotocols)
        before = f"{subprotocols[0]}." if subprotocols else ""
        return [*subprotocols, f"{before}bearer.{self.token}"]

    def hidden(self, text: str) -> str:
        """The text with each token replaced, however a JSON string may escape it; the length stays."""
        for token in self._hideable:
            instead = HIDDEN.ljust(len(token), "-")
            text = text.replace(token, instead)
            text = re.sub(_escaped(token), instead, text) if "\\" in text else text
        return text

    def hidden_in(self, data: bytes) -> bytes:
        """The same for bytes that may be no text."""
        if not self._hideable:
            return data
        return self.hidden(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    @property
    def longest(self) -> int:
        """Bytes that the token takes at most, escaped; 0 without one."""
        return max(map(len, self._hideable), default=0) * len("\\\\u0000")

    @property
    def _hideable(self) -> list[str]:
        """All tokens, the longer ones first: one may be a part of another."""
        return sorted({self.token, *self.others} - {""}, key=lambda token: (-len(token), token))


def _escaped(token: str) -> str:
    """A pattern of the token within JSON strings, in JSON within a JSON string too."""
    return "".join(map(_escapable, token))


def _escapable(mark: str) -> str:
    bare = (r"\\*" if mark in _ESCAPED else "") + re.escape(mark)
    return rf"(?:{bare}|\\+u(?i:{ord(mark):04x}))"


def gained(means: Means) -> Access:
    """The means of access, read from where they are; BadConfiguration says what is wrong with them."""
    by = means.token_by or HEADER
    if by not in WAYS:
        raise BadConfiguration(f"a token is shown by {' or '.join(WAYS)}, not by {by!r}")
    token, where = _token(means)
    if where:
        _check(token, where, by)
    return Access(token, by, _trusting(means.ca) if means.ca else None)


def all_gained(means: Means, named: Mapping[str, Means]) -> tuple[Access, dict[str, Access]]:
    """The means of access, and further ones by name; each hides all tokens. Raises BadConfiguration."""
    main = gained(means)
    others = {name: replace(gained(one), context=main.context) for name, one in named.items()}
    tokens = tuple(access.token for access in (main, *others.values()))
    hiding = {name: replace(access, others=tokens) for name, access in others.items()}
    return (replace(main, others=tokens) if others else main), hiding


def _token(means: Means) -> tuple[str, str]:
    """The token, and where it is from in words; both empty where none is asked for."""
    if means.token_env and means.token_file:
        raise BadConfiguration("a token is either in a variable or in a file, not in both")
    if means.token_env:
        if means.token_env not in os.environ:
            raise BadConfiguration("the variable that is to hold a token is not set")
        return os.environ[means.token_env].strip(), f"in ${means.token_env}"
    if means.token_file is None:
        return "", ""
    try:
        return means.token_file.read_text(encoding="utf-8").strip(), f"in {means.token_file}"
    except OSError as error:
        raise BadConfiguration(f"the token in {means.token_file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadConfiguration(f"the token in {means.token_file} is not text") from None


def _check(token: str, where: str, by: str) -> None:
    """Say what is wrong with a token, and nothing of what it is."""
    if len(token) < SHORTEST:
        raise BadConfiguration(
            f"the token {where} has {len(token)} characters; one of fewer than {SHORTEST} is no secret, "
            "and the kit could not keep it out of the report"
        )
    if not _SHOWN.fullmatch(token):
        raise BadConfiguration(f"the token {where} holds blanks, or characters that are not ASCII")
    if by == SUBPROTOCOL and not _NAME.fullmatch(token):
        raise BadConfiguration(
            f"the token {where} holds characters that a subprotocol may not have; show it by {HEADER}"
        )


def _trusting(ca: Path) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError:
        raise BadConfiguration(f"{ca} holds no certificate in PEM") from None
    except OSError as error:
        raise BadConfiguration(f"the certificate in {ca} cannot be read: {error.strerror}") from None
