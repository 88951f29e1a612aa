"""Validates each line of a file with jsonschema-rs: rust_lines.py SCHEMA LINES."""

import json
import sys
from pathlib import Path

import jsonschema_rs

validator = jsonschema_rs.validator_for(
    json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), validate_formats=True
)
with Path(sys.argv[2]).open("rb") as lines:
    invalid = sum(not validator.is_valid(json.loads(line)) for line in lines)
print(invalid, "invalid")
sys.exit(invalid > 0)
