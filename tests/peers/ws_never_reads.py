"""Never reads after the opening handshake, so that the buffers fill."""

import time

import raw

with raw.upgraded() as connection:
    time.sleep(600)
