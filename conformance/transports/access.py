"""How the kit is let in by a server: whom it trusts, which bearer token (RFC 6750) it shows, and how.

A token is read from a variable or a file, is shown in the opening handshake, and leaves this package in
no other way: what comes back of it (in a message, a close reason, an error, standard error) is hidden. So
is what the URL holds of that sort: the password, the credentials as HTTP sends them, the values of its query.
"""

from __future__ import annotations

import base64
import os
import re
import ssl
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, unquote_plus, urlsplit

from conformance.errors import BadConfiguration, UsageError

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
    """The means of access themselves. `context` is for wss, None where the system's trust will do; `others`
    are further secrets, which the target's URL holds.
    """

    token: str = field(default="", repr=False)
    by: str = HEADER
    context: ssl.SSLContext | None = None
    others: tuple[str, ...] = field(default=(), repr=False)

    @property
    def _secrets(self) -> list[str]:
        """Everything that is to be hidden, what holds another first."""
        return sorted({self.token, *self.others} - {""}, key=lambda secret: (-len(secret), secret))

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
        """The text with every secret replaced, however a JSON string may escape it; the length stays."""
        for secret in self._secrets:
            instead = HIDDEN.ljust(len(secret), "-")
            text = text.replace(secret, instead)
            text = re.sub(_escaped(secret), instead, text) if "\\" in text else text
        return text

    def hidden_in(self, data: bytes) -> bytes:
        """The same for bytes that may be no text."""
        if not self._secrets:
            return data
        return self.hidden(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    @property
    def longest(self) -> int:
        """Bytes that a secret takes at most, escaped; 0 without one."""
        return max(map(len, self._secrets), default=0) * len("\\\\u0000")


def _escaped(secret: str) -> str:
    """A pattern of the secret within JSON strings, in JSON within a JSON string too."""
    return "".join(map(_escapable, secret))


def _escapable(mark: str) -> str:
    bare = (r"\\*" if mark in _ESCAPED else "") + re.escape(mark)
    return rf"(?:{bare}|\\+u(?i:{ord(mark):04x}))"


SERVERS = ("ws", "wss", "launch")
"""Schemes of targets that a token can be shown to."""

SECURE = ("wss", "launch")
"""Of these, the ones whose certificate can be trusted."""


def refuse_useless(asked: Means, known: Means, target: str) -> None:
    """Raise a UsageError where means that somebody `asked` for can do nothing for the target.

    `known` are these and those of the configuration, which may be for another target and are let pass.
    """
    scheme, token = target.partition(":")[0].lower(), known.token_env or known.token_file
    given = {"--token-env": asked.token_env, "--token-file": asked.token_file, "--token-by": asked.token_by}
    shown = [name for name, value in given.items() if value]
    if shown and scheme not in SERVERS:
        raise UsageError(
            f"{' and '.join(shown)} can do nothing here: a token is shown to a WebSocket server "
            f"(ws://, wss://, launch:), and the target is of {scheme}:"
        )
    if asked.token_by and not token:
        raise UsageError(
            "--token-by says where a token is shown, and there is none: name a --token-env or --token-file"
        )
    if asked.ca and scheme not in SECURE:
        raise UsageError(
            "--ca can do nothing here: certificates vouch for a wss:// server, "
            f"and the target is of {scheme}:"
        )


def gained(means: Means, target: str = "") -> Access:
    """The means of access to a target, read from where they are; BadConfiguration says what is wrong."""
    by = means.token_by or HEADER
    if by not in WAYS:
        raise BadConfiguration(f"a token is shown by {' or '.join(WAYS)}, not by {by!r}")
    token, where = _token(means)
    if where:
        _check(token, where, by)
    return Access(token, by, _trusting(means.ca) if means.ca else None, tuple(_in_url(target)))


def _in_url(target: str) -> Iterator[str]:
    """The secrets that a URL holds, as it writes them and as they are meant; shorter ones are none."""
    try:
        url = urlsplit(target)
    except ValueError:  # which is no target, as whoever connects to it will say
        return
    if url.scheme.lower() not in ("ws", "wss"):
        return
    written = [url.password or "", *(pair.partition("=")[2] for pair in url.query.split("&"))]
    meant = [unquote_plus(one) for one in written]
    user, password = unquote(url.username or ""), unquote(url.password or "")
    basic = base64.b64encode(f"{user}:{password}".encode()).decode() if password else ""
    yield from (one for one in (*written, *meant, basic) if len(one) >= SHORTEST)


def all_gained(
    means: Means, named: Mapping[str, Means], target: str = ""
) -> tuple[Access, dict[str, Access]]:
    """The means of access to a target, and further ones by name; each hides all secrets.

    Raises BadConfiguration.
    """
    main = gained(means, target)
    others = {name: replace(gained(one), context=main.context) for name, one in named.items()}
    tokens = (*main.others, *(access.token for access in (main, *others.values())))
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
