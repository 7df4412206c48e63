"""Renders each row of a file with Jinja2 itself: what `ctxc import --verify` has to give for the same text and inputs."""

import json
import sys
from pathlib import Path

from jinja2 import Environment

environment = Environment()
for line in Path(sys.argv[1]).read_text().splitlines():
    row = json.loads(line)
    row["expected"] = environment.from_string(row["text"]).render(**row["inputs"])
    print(json.dumps(row, ensure_ascii=False))
