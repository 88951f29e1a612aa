"""No fault: answers each message behind a header with the same, and exits when its input ends."""

import sys

while header := sys.stdin.buffer.readline():
    if header.lower().startswith(b"content-length:"):
        length = int(header.partition(b":")[2])
    elif header == b"\r\n":
        message = sys.stdin.buffer.read(length)
        sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (length, message))
        sys.stdout.buffer.flush()
