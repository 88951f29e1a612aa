"""A WebSocket server that takes one connection, echoes what it says, and listens no more."""

import asyncio
import os
import sys

from websockets.asyncio.server import ServerConnection, serve


async def main() -> None:
    first = asyncio.Event()

    async def echo(connection: ServerConnection) -> None:
        first.set()
        async for message in connection:
            await connection.send(message)

    async with serve(echo, "127.0.0.1", 0) as server:
        [listening] = server.sockets
        print(f"ws://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        await first.wait()
        server.close(close_connections=False)
        await asyncio.sleep(3600)


asyncio.run(main())
sys.exit(os.EX_OK)
