"""Renders inputs.jsonl of a folder with the engine of its prompts: samples for `ctxc import --verify`."""

import asyncio
import json
import sys
from pathlib import Path


def dotprompt(path, inputs, history=()):
    from dotpromptz.dotprompt import Dotprompt
    from dotpromptz.typing import DataArgument, Message

    roles = {"user": "user", "assistant": "model"}
    said = [Message(role=roles[one["role"]], content=[{"text": one["content"]}]) for one in history]

    async def run():
        result = Dotprompt().render(path.read_text(), DataArgument(input=inputs, messages=said))
        return await result if asyncio.iscoroutine(result) else result

    messages = asyncio.run(run()).messages
    text = lambda part: getattr(part, "text", None) or part.root.text
    return [{"role": message.role.value, "content": "".join(map(text, message.content))} for message in messages]


def prompty(path, inputs, _=()):
    import prompty as engine

    messages = engine.prepare(engine.load(str(path)), inputs)
    text = lambda message: "".join(part.value for part in message.parts)
    return [{"role": message.role, "content": text(message)} for message in messages]


def langchain(path, inputs, history=()):
    from langchain_core.load import loads
    from langchain_core.messages import convert_to_messages
    from langchain_core.prompts import load_prompt

    text = path.read_text()
    if '"lc"' not in text:
        return load_prompt(path).format(**inputs)
    messages = loads(text).format_messages(**inputs, chat_history=convert_to_messages(history))
    return [{"role": message.type, "content": message.content} for message in messages]


folder = Path(sys.argv[1])
engine = {"dotprompt": dotprompt, "prompty": prompty, "langchain": langchain}[sys.argv[2]]
for line in (folder / "inputs.jsonl").read_text().splitlines():
    sample = json.loads(line)
    sample["expected"] = engine(folder / sample["template"], sample["inputs"], sample.get("history", []))
    sample["template"] = f"{folder.name}/{sample['template']}"
    print(json.dumps(sample, ensure_ascii=False))
