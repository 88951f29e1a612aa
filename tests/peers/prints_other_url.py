"""Prints a URL of another kind on its first line."""

import time

print("http://127.0.0.1:80/", flush=True)
time.sleep(600)
