"""Never answers a close frame."""

import raw

with raw.upgraded() as connection:
    while connection.recv(4096):
        pass
