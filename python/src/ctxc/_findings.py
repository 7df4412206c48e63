"""What a provider would refuse of a request, and where it stands in the body."""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional

from ._program import CtxcError, run_json

_ENDPOINTS = {
    "openai-chat": "/chat/completions",
    "openai-responses": "/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/{model}:generateContent",
    "ollama": "/api/chat",
}
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SENT_FROM = "sent from "


@dataclass(frozen=True)
class Finding:
    """A mistake in a request."""

    rule: str
    """The name of the rule."""
    severity: str
    """`error` for what the provider refuses, `warning`, `info` or `hint`."""
    message: str
    """What was found, and what was expected."""
    pointer: str
    """Where it stands in the body, as a JSON pointer."""
    help: Optional[str]
    """What to do."""
    page: str
    """The command that shows the page of the rule."""
    caller: Optional[str] = None
    """The file and line that sent the request, where it was recorded in this process."""

    def __str__(self) -> str:
        place = f"{self.caller}: " if self.caller else ""
        todo = f"; {self.help}" if self.help else ""
        return f"{place}{self.severity}[{self.rule}] {self.pointer or '/'}: {self.message}{todo} ({self.page})"


def check_request(body: Mapping[str, Any], dialect: Optional[str] = None) -> list[Finding]:
    """Checks the body of a request. The dialect is told by the body where none is given."""
    if dialect is not None and dialect not in _ENDPOINTS:
        raise ValueError(f"there is no dialect {dialect!r}; expected one of {', '.join(_ENDPOINTS)}")
    if not any(key in body for key in ("messages", "contents", "input")):
        raise ValueError("this is no request to a model: expected a body with `messages`, `contents` or `input`")
    with tempfile.TemporaryDirectory(prefix="ctxc-") as folder:
        if dialect is None:
            file = Path(folder, "request.json")
            file.write_bytes(_pretty(body).encode())
        else:
            file = Path(folder, "request.jsonl")
            file.write_bytes(json.dumps(_call(body, dialect)).encode() + b"\n")
        return [finding for _, finding in check_file(file, [body])]


def check_file(file: Path, bodies: list[Mapping[str, Any]]) -> Iterator[tuple[int, Finding]]:
    """The findings in a file of calls, each with the number of its call, from 0."""
    report = run_json(["check", str(file), "--json"], ok=(0, 1))
    for found in report["diagnostics"]:
        if not found["path"].startswith(str(file)):
            raise CtxcError(f"{found['path']}: {found['message']}")
        number = found["path"].rpartition("#")[2] if "#" in found["path"] else ""
        at = int(number) - 1 if number.isdigit() else 0
        callers = [note[len(_SENT_FROM) :] for note in found["notes"] if note.startswith(_SENT_FROM)]
        yield at, Finding(
            rule=found["name"],
            severity=found["severity"],
            message=found["message"],
            pointer=_pointer(_pretty(bodies[at]), found["span"]["start"]),
            help=found["help"],
            page=f"ctxc explain {found['name']}",
            caller=callers[0] if callers else None,
        )


def _call(body: Mapping[str, Any], dialect: str) -> dict[str, Any]:
    model = str(body.get("model", "model"))
    nulls = ("at", "agent", "conversation", "run", "command", "trial", "response", "status", "latency_ms", "chunks", "error")
    return {
        "schema": "ctxc/request/1",
        "id": "1",
        **dict.fromkeys(nulls),
        "answered_by": "script",
        "dialect": dialect,
        "endpoint": _ENDPOINTS[dialect].format(model=model.rpartition("/")[2]),
        "model": model,
        "stream": bool(body.get("stream")),
        "request": body,
        "usage": dict.fromkeys(("input", "cached", "output", "reasoning")),
        "key": "",
        "headers": {},
        "truncated": False,
        "redacted": [],
    }


def _pretty(body: Mapping[str, Any]) -> str:
    """The text in which the program counts the bytes of findings."""
    return json.dumps(body, indent=2, ensure_ascii=False)


def _pointer(text: str, start: int) -> str:
    """The JSON pointer of the value, or of the key, at a byte of a text. The text has a value or a key a line."""
    offset = len(text.encode()[:start].decode(errors="ignore"))
    stack: list[list[Any]] = []
    here: list[str] = []
    at = 0
    is_key = False
    while at < len(text):
        char = text[at]
        if char in "[{":
            if at >= offset:
                break
            stack.append(["[" if char == "[" else "{", 0])
            here.append("0" if char == "[" else "")
            is_key = char == "{"
            at += 1
        elif char in "]}":
            stack.pop()
            here.pop()
            at += 1
        elif char == ",":
            if stack[-1][0] == "[":
                stack[-1][1] += 1
                here[-1] = str(stack[-1][1])
            is_key = stack[-1][0] == "{"
            at += 1
        elif char == '"':
            string = _STRING.match(text, at)
            assert string is not None
            if is_key:
                here[-1] = json.loads(string.group()).replace("~", "~0").replace("/", "~1")
                is_key = False
            at = string.end()
            if at > offset:
                break
        elif char in " \n:":
            at += 1
        else:
            while at < len(text) and text[at] not in ",]} \n":
                at += 1
            if at > offset:
                break
    return "".join(f"/{part}" for part in here)
