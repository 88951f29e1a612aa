"""Answers with permessage-deflate, which was not offered, and sends 1 GiB of zeros in 1 MiB."""

import zlib

import raw

with raw.upgraded("Sec-WebSocket-Extensions: permessage-deflate\r\n") as connection:
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = b"".join(packed.compress(b"0" * 2**20) for _ in range(64)) + packed.flush(zlib.Z_SYNC_FLUSH)
    connection.sendall(bytes([0xC1, 127]) + len(body).to_bytes(8, "big") + body)
    while connection.recv(4096):
        pass
