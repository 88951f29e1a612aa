"""Writes a message of a hundred thousand members of the same name."""

print("{" + ",".join(['"a":1'] * 100_000) + "}", flush=True)
