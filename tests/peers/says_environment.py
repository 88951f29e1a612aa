"""No fault: prints its environment, its directory and its process group as JSON."""

import json
import os
from pathlib import Path

print(json.dumps({"environ": dict(os.environ), "cwd": str(Path.cwd()), "leads": os.getpgrp() == os.getpid()}))
