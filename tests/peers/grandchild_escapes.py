"""Leaves a child behind in a session of its own, which keeps standard output open until its input ends."""

import subprocess
import sys

subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3)"], start_new_session=True)
