"""Renders inputs.jsonl of a folder with the engine of its prompts: samples for `ctxc import --verify`."""

import asyncio
import json
import sys
from pathlib import Path


def dotprompt(path, inputs):
    from dotpromptz.dotprompt import Dotprompt
    from dotpromptz.typing import DataArgument

    async def run():
        result = Dotprompt().render(path.read_text(), DataArgument(input=inputs))
        return await result if asyncio.iscoroutine(result) else result

    messages = asyncio.run(run()).messages
    text = lambda part: getattr(part, "text", None) or part.root.text
    return [{"role": message.role.value, "content": "".join(map(text, message.content))} for message in messages]


def prompty(path, inputs):
    import prompty as engine

    messages = engine.prepare(engine.load(str(path)), inputs)
    text = lambda message: "".join(part.value for part in message.parts)
    return [{"role": message.role, "content": text(message)} for message in messages]


def langchain(path, inputs):
    from langchain_core.prompts import load_prompt

    return load_prompt(path).format(**inputs)


folder = Path(sys.argv[1])
engine = {"dotprompt": dotprompt, "prompty": prompty, "langchain": langchain}[sys.argv[2]]
for line in (folder / "inputs.jsonl").read_text().splitlines():
    sample = json.loads(line)
    sample["expected"] = engine(folder / sample["template"], sample["inputs"])
    sample["template"] = f"{folder.name}/{sample['template']}"
    print(json.dumps(sample, ensure_ascii=False))
