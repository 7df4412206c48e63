"""Reads every body of the vectors and of the page with the providers' own client types, which must take all of it and know each field.

What a type does not know it leaves out, so a body is sound only if it comes back whole.
"""

import json
import re
import sys
import typing

# What is read as an iterable is read lazily, and gone once a union has tried it: lists are the same to JSON.
typing.Iterable = typing.List

from anthropic.types.message_create_params import MessageCreateParamsNonStreaming as AnthropicMessage
from google.genai import types as gemini
from ollama._types import ChatRequest
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming as OpenaiChat
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming as OpenaiResponse
from pydantic import BaseModel, ConfigDict, TypeAdapter


class Strict(BaseModel):
    """The fields of generateContent that its parts make up; the client has no type for the whole."""

    model_config = ConfigDict(extra="forbid")
    systemInstruction: gemini.Content | None = None
    contents: list[gemini.Content]
    tools: list[gemini.Tool] | None = None
    toolConfig: gemini.ToolConfig | None = None
    generationConfig: gemini.GenerationConfig | None = None


READERS = {
    "openai-chat": OpenaiChat,
    "openai-responses": OpenaiResponse,
    "anthropic": AnthropicMessage,
    "gemini": Strict,
    "ollama": ChatRequest,
}


def read(target, body):
    adapter = TypeAdapter(READERS[target])
    parsed = adapter.validate_python(body)
    dumped = adapter.dump_json(parsed, by_alias=True, exclude_none=True, warnings=False)
    return json.loads(dumped)


def main(path, page):
    with open(path, encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    with open(page, encoding="utf-8") as file:
        shown = re.findall(r"^#### `(\S+)`\n\n```json\n(.*?)\n```", file.read(), re.MULTILINE | re.DOTALL)
    cases.append({"name": "the page", "bodies": dict(shown)})
    count = 0
    for case in cases:
        for target, text in case["bodies"].items():
            body = json.loads(text)
            back = read(target, body)
            assert back == body, f"{case['name']}, {target}:\n{json.dumps(body)}\ncame back as\n{json.dumps(back)}"
            count += 1
    # The readers must be able to refuse: a field too many, a field of the wrong type, a required one that is missing.
    for target, text in cases[0]["bodies"].items():
        body = json.loads(text)
        said = "contents" if target == "gemini" else "input" if target == "openai-responses" else "messages"
        for broken in ({**body, "nonsense": 1}, {**body, said: 3}):
            try:
                taken = read(target, broken) == broken
            except ValueError:
                taken = False
            assert not taken, f"{target} takes {json.dumps(broken)}"
            count += 1
    print(f"{count} bodies read")


main(*sys.argv[1:])
