"""Makes something else than an answer of its output file: the first argument says what."""

import os
import sys
from pathlib import Path

[_, how, output, *_] = sys.argv
path = Path(output)
made = {
    "nothing": lambda: None,
    "empty": path.touch,
    "blank": lambda: path.write_text(" \n"),
    "directory": path.mkdir,
    "link": lambda: path.symlink_to("/etc/hostname"),
    "pipe": lambda: os.mkfifo(path),
    "large": lambda: path.write_bytes(b" " * 5000 + b"{}"),
    "secret": lambda: (path.write_text("{}"), path.chmod(0)),
}
made[how]()
