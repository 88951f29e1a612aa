"""Closes its standard input and goes on running."""

import os
import time

os.close(0)
print("ready", flush=True)
time.sleep(600)
