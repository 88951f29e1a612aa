"""An agent made with AWP's own library: it moves, and resumes its session when the connection is lost."""

import asyncio
import contextlib
import os
from typing import Any

from awp.aio import AsyncClient
from awp.client import ClientConnection
from awp.errors import AwpError

POSE = {"frame": "base", "p_m": [0.3, 0.2, 0.5], "q": [0, 0, 0, 1]}


async def move(client: AsyncClient) -> None:
    """One move, to its end."""
    record = await client.submit("move_to_pose", {"pose": POSE})
    await client.wait_terminal(record.action_id)


async def main() -> None:
    """Move until the connection is lost, resume, and move once more."""
    who: dict[str, Any] = {"name": "resumes", "version": "0.1.0", "vendor": "agent-conformance-kit"}
    connection = ClientConnection(who, ["proprio/json", "text/event+json"])
    async with AsyncClient(connection, os.environ["CONFORMANCE_URL"]) as client:
        manifest = await client.initialize()
        await client.open_session(manifest["time_models"][0], embodiment="arm_01", subscribe=["proprio"])
        try:
            for _ in range(4):
                await move(client)
        except (ConnectionError, OSError):
            await client.reconnect()
            await move(client)
        await client.close_session()


with contextlib.suppress(AwpError, OSError):
    asyncio.run(main())
