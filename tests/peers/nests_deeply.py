"""Writes a message of a hundred thousand brackets."""

print('{"a":' + "[" * 100_000 + "]" * 100_000 + "}", flush=True)
