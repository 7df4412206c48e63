"""Renders inputs.jsonl of a folder with Jinja2 itself: samples for `ctxc import --verify`."""

import json
import sys
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

folder, switches = Path(sys.argv[1]), {name: True for name in sys.argv[2:]}
environment = Environment(loader=FileSystemLoader(folder), **switches)
for line in (folder / "inputs.jsonl").read_text().splitlines():
    sample = json.loads(line)
    text = environment.get_template(sample["template"]).render(**sample["inputs"])
    sample["template"] = f"{folder.name}/{sample['template']}"
    print(json.dumps({**sample, "expected": text}, ensure_ascii=False))
