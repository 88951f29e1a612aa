"""No fault: prints its arguments, its environment, its directory and its process group as JSON."""

import json
import os
import sys
from pathlib import Path

said = {"arguments": sys.argv[1:], "environ": dict(os.environ), "cwd": str(Path.cwd())}
print(json.dumps(said | {"leads": os.getpgrp() == os.getpid()}))
