"""Connects to the kit twice at once, and says nothing on either connection."""

import time

import raw_dial

first, second = raw_dial.dialled(), raw_dial.dialled()
time.sleep(600)
