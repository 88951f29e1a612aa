"""No test, but what those of the transports share: a loop without complaints, nothing left behind."""

from __future__ import annotations

import asyncio
import gc
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from conformance.transports import Connection, Ended, Options, Transport, make_transport


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that nobody but itself vouches for; and a file that holds its key too."""
    if (openssl := shutil.which("openssl")) is None:
        pytest.skip("needs openssl to make a certificate")
    key, path, both = folder / "key.pem", folder / "cert.pem", folder / "both.pem"
    options = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    options += ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([openssl, *options, "-keyout", key, "-out", path], check=True, capture_output=True)
    both.write_bytes(path.read_bytes() + key.read_bytes())
    return path, both


def run(main: Callable[[], Awaitable[None]]) -> None:
    """Run to the end, and accept no complaint of the event loop or of a finalizer."""
    complaints: list[dict[str, Any]] = []

    async def watched() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: complaints.append(context))
        async with asyncio.timeout(20):
            await main()
        gc.collect()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.wait(left, timeout=1) if left else None
        assert not [task for task in left if not task.done()]

    asyncio.run(watched())
    gc.collect()
    assert complaints == []


def members(leader: int) -> list[str]:
    """The living processes of a group; a zombie waits for nobody but its parent."""
    listing = subprocess.run(
        ["ps", "-A", "-o", "pgid=,stat=,args="], capture_output=True, text=True, check=True
    )
    rows = (line.split(maxsplit=2) for line in listing.stdout.splitlines())
    return [" ".join(row) for row in rows if row[0] == str(leader) and not row[1].startswith("Z")]


@asynccontextmanager
async def using(target: str, **options: Any) -> AsyncIterator[Transport]:
    """A transport that is shut down, twice, and leaves no process behind."""
    transport = make_transport(target, Options(**options))
    try:
        yield transport
    finally:
        await transport.shutdown()
        await transport.shutdown()
        assert_gone(transport)


def children(transport: Transport) -> list[int]:
    return [child.pid for child in getattr(transport, "_children", [])]


def assert_gone(transport: Transport) -> None:
    for pid in children(transport):
        assert members(pid) == []


async def rest(connection: Connection) -> tuple[bytes, Ended]:
    """All that comes until the end, which stays the end."""
    data = b""
    while not isinstance(got := await connection.receive(), Ended):
        data += got.data
    assert await connection.receive() == got
    return data, got


async def line(connection: Connection) -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        got = await connection.receive()
        assert not isinstance(got, Ended), got
        data += got.data
    return data


async def conversation(target: str, **options: Any) -> tuple[bytes, Ended]:
    """Open, say nothing, and take what comes until the peer ends."""
    async with using(target, **options) as transport:
        return await rest(await transport.open())
