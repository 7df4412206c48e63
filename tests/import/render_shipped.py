"""Renders the shipped prompts with the engine of each: samples for `ctxc import --verify`."""

import json
import sys
from pathlib import Path

from jinja2 import Environment

sys.argv = [sys.argv[0], sys.argv[1], "none"]
folder = Path(sys.argv[1])
source = (Path(__file__).parent / "render_others.py").read_text().split("folder = Path")[0]
exec(source)
engines = {
    ".j2": lambda path, inputs: Environment().from_string(path.read_text()).render(**inputs),
    ".prompt": dotprompt,
    ".prompty": prompty,
    # Names are replaced one by one.
    ".md": lambda path, inputs: __import__("functools").reduce(
        lambda text, pair: text.replace("{{" + pair[0] + "}}", pair[1]), inputs.items(), path.read_text()
    ),
}
for line in (folder / "inputs.jsonl").read_text().splitlines():
    sample = json.loads(line)
    path = folder / sample["template"]
    sample["expected"] = engines[path.suffix](path, sample["inputs"])
    sample["template"] = path.stem
    print(json.dumps(sample, ensure_ascii=False))
