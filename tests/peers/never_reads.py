"""Never reads its input, so that the pipe fills."""

import time

time.sleep(600)
