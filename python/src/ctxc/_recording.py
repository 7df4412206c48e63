"""Records what a block of code sends to models, or answers it from a script."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional, Sequence, Union, overload

from . import _session
from ._findings import Finding, check_file
from ._hook import Hook
from ._network import Guard
from ._program import CtxcError, environment, program, run, run_json

Answers = Union[str, "os.PathLike[str]", Sequence[Union[str, Mapping[str, Any]]]]

_NAME = "calls"
_EXPORT = re.compile(r"^export (\w+)='(.*)'$", re.MULTILINE)
# Placeholders have a part that differs from user to user.
_MASKED = re.compile(r"⟦(\w+):[0-9a-f]+⟧")
_VENDORS = ("openai", "anthropic", "gemini", "ollama")
_PATIENCE = 30


class CtxcWarning(UserWarning):
    """Something that a block probably was not meant to do, such as to send nothing."""


@dataclass(frozen=True)
class Segment:
    """A part of a request, by the name that scenarios use: `system`, `tool:search`, `message:2`, `system/Runbook`."""

    id: str
    text: str
    tokens: int

    def contains(self, pattern: Union[str, "re.Pattern[str]"]) -> bool:
        """Whether the text has these words, or a match of this compiled pattern."""
        return pattern in self.text if isinstance(pattern, str) else pattern.search(self.text) is not None


class Segments(Mapping[str, Segment]):
    """The segments of a request. A group (`system`, `tools`, `message:2`) and a section (`system/Rules`) are found by name too."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._own = {row["id"]: Segment(row["id"], row["text"], row["tokens"]) for row in rows}
        groups: dict[str, list[Segment]] = {}
        self._named: dict[str, Segment] = {}
        for row in rows:
            groups.setdefault(row["group"], []).append(self._own[row["id"]])
            for section in row["sections"]:
                for of in (row["id"], row["group"]):
                    name = f"{of}/{section['title']}"
                    self._named.setdefault(name, Segment(name, section["text"], section["tokens"]))
        for name, parts in groups.items():
            text = "\n".join(part.text for part in parts)
            self._named.setdefault(name, Segment(name, text, sum(part.tokens for part in parts)))

    def __getitem__(self, name: str) -> Segment:
        found = self._own.get(name) or self._named.get(name)
        if found is None:
            raise KeyError(f"the request has no segment {name!r}; it has {', '.join([*self._own, *self._named])}")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)


class Call:
    """A call to a model, as it was sent and answered."""

    def __init__(self, calls: Calls, at: int, kept: Mapping[str, Any]) -> None:
        self._calls = calls
        self._at = at
        self.request: dict[str, Any] = kept["request"]
        """The body of the request."""
        self.response: Any = kept["response"]
        """The body of the response; the text of a stream; None where none came."""
        self.status: Optional[int] = kept["status"]
        self.dialect: str = kept["dialect"]
        self.endpoint: str = kept["endpoint"]
        self.model: str = kept["model"]
        self.caller: Optional[str] = kept.get("caller")
        """The file and line that sent it."""

    @property
    def segments(self) -> Segments:
        """The parts of the request, by their names."""
        return self._calls._segments(self._at)

    @property
    def findings(self) -> list[Finding]:
        """What its provider would refuse, and what misleads."""
        return [finding for at, finding in self._calls._checked() if at == self._at]

    def __repr__(self) -> str:
        return f"<Call {self._at + 1} to {self.model or self.endpoint} from {self.caller or 'an unknown line'}>"


class Calls(Sequence[Call]):
    """The calls of a block, in order; those that are answered are there inside of the block already."""

    def __init__(self, folder: Any, file: Path) -> None:
        # A folder that is temporary lives as long as this object.
        self._folder = folder
        self.path = file
        """The recording, for `ctxc manifest` and the other commands."""
        self._read = 0
        self._silence = ""
        self._calls: list[Call] = []
        self._made: dict[str, Any] = {}

    def _load(self) -> list[Call]:
        data = self.path.read_bytes() if self.path.exists() else b""
        if len(data) != self._read:
            self._read = len(data)
            self._made = {}
            lines = [line for line in data.split(b"\n")[:-1] if line.strip()]
            self._calls = [Call(self, at, json.loads(line)) for at, line in enumerate(lines)]
        return self._calls

    def _segments(self, at: int) -> Segments:
        self._load()
        if "segments" not in self._made:
            rows = run_json(["manifest", str(self.path), "--json"])["calls"]
            self._made["segments"] = {int(row["id"].rpartition("#")[2] or 1) - 1: Segments(row["segments"]) for row in rows}
        if at not in self._made["segments"]:
            raise KeyError(f"call {at + 1} to {self._calls[at].endpoint} asks no model for words, so it has no segments")
        segments: Segments = self._made["segments"][at]
        return segments

    def _checked(self) -> list[tuple[int, Finding]]:
        calls = self._load()
        if "findings" not in self._made:
            found = check_file(self.path, [call.request for call in calls]) if calls else ()
            self._made["findings"] = list(found)
        findings: list[tuple[int, Finding]] = self._made["findings"]
        return findings

    @property
    def findings(self) -> list[Finding]:
        """What is found in all calls."""
        return [finding for _, finding in self._checked()]

    def assert_no_findings(self) -> None:
        """Fails where a provider would refuse one of the calls."""
        errors = [str(finding) for finding in self.findings if finding.severity == "error"]
        if errors:
            raise AssertionError("\n".join([f"expected requests that providers take, found {len(errors)} mistakes:", *errors]))

    def assert_snapshot(self, path: Union[None, str, "os.PathLike[str]"] = None) -> None:
        """Compares the requests with those that are stored; `pytest --ctxc-accept` stores them anew."""
        file = Path(path) if path is not None else _session.snapshot()
        sent = [{"dialect": call.dialect, "model": call.model, "request": call.request} for call in self._load()]
        if not sent:
            raise AssertionError("no call was recorded, so there is nothing to compare")
        before = file.read_bytes().decode() if file.exists() else None
        now = _in_order(_MASKED.sub(r"⟦\1⟧", _pretty(sent)), before)
        if now == before:
            return
        shown = _session.shown(file)
        if _session.accepts:
            self._refuse_secrets(shown)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(now.encode())
            return
        if before is None:
            raise AssertionError(f"expected the requests as stored in {shown}, which is not there; `pytest --ctxc-accept` stores them")
        diff = difflib.unified_diff(before.splitlines(), now.splitlines(), shown, "sent now", lineterm="")
        raise AssertionError(
            "\n".join([f"expected the requests as stored in {shown}, found others; `pytest --ctxc-accept` stores them", *diff])
        )

    def _refuse_secrets(self, shown: str) -> None:
        """Fails where a request holds a secret that no mask found, as everything does that the program writes into a project."""
        with tempfile.TemporaryDirectory() as folder:
            for at in range(1, len(self._load()) + 1):
                try:
                    run(["render", f"{self.path}#{at}", "--raw", "--output", os.path.join(folder, "request.json")])
                except CtxcError as error:
                    raise AssertionError(f"{shown} was not written, because of call {at}: {error}") from None

    @overload
    def __getitem__(self, at: int) -> Call: ...
    @overload
    def __getitem__(self, at: slice) -> list[Call]: ...
    def __getitem__(self, at: Union[int, slice]) -> Union[Call, list[Call]]:
        calls = self._load()
        if isinstance(at, int) and not -len(calls) <= at < len(calls):
            raise IndexError(f"there is no call {at}: {len(calls)} were recorded")
        return calls[at]

    def __len__(self) -> int:
        return len(self._load())

    def __repr__(self) -> str:
        return f"<Calls {self._load()}>"


@contextlib.contextmanager
def record(
    *,
    script: Optional[Answers] = None,
    replay: Union[None, str, "os.PathLike[str]"] = None,
    into: Union[None, str, "os.PathLike[str]"] = None,
    name: Optional[str] = None,
    upstream: Sequence[str] = (),
    lenient: bool = False,
) -> Iterator[Calls]:
    """Records the calls of a block. They go on to their vendors, or are answered by a script or an earlier recording."""
    with _recorded(script=script, replay=replay, into=into, name=name, upstream=upstream, lenient=lenient, warns=True) as calls:
        yield calls


@contextlib.contextmanager
def _recorded(
    *,
    script: Optional[Answers] = None,
    replay: Union[None, str, "os.PathLike[str]"] = None,
    into: Union[None, str, "os.PathLike[str]"] = None,
    name: Optional[str] = None,
    upstream: Sequence[str] = (),
    lenient: bool = False,
    warns: bool = False,
) -> Iterator[Calls]:
    if script is not None and replay is not None:
        raise ValueError("calls are answered by a script or by a recording, not by both")
    with contextlib.ExitStack() as stack:
        own = tempfile.TemporaryDirectory(prefix="ctxc-")
        folder = Path(into) if into is not None else Path(own.name, "kept")
        name = name or _NAME
        calls = Calls(own, folder / f"{name}.jsonl")
        arguments = ["proxy", "--into", str(folder), "--name", name]
        arguments += ["--script", _script(script, own.name)] if script is not None else []
        arguments += ["--replay", os.fspath(replay)] if replay is not None else []
        arguments += [word for one in upstream for word in ("--upstream", one)]
        arguments += ["--lenient"] if lenient else []
        # A file by this name is of an earlier run until the proxy replaces it.
        calls.path.unlink(missing_ok=True)
        proxy = _Proxy(arguments, own.name)
        stack.callback(proxy.kill)
        stack.callback(_restore, {name: os.environ.get(name) for name in proxy.variables})
        os.environ.update(proxy.variables)
        hook = Hook(proxy.variables)
        stack.callback(hook.leave)
        yield calls
        said = proxy.end()
        if len(calls) == 0:
            count = "1 request" if hook.mocked == 1 else f"{hook.mocked} requests"
            mocked = f"; {count} went to a mocked transport: leave the mock out of this block, and give a `script`" if hook.mocked else ""
            calls._silence = said + mocked
            if warns:
                warnings.warn(CtxcWarning(calls._silence), stacklevel=5)


@contextlib.contextmanager
def strict(*vendors: str, script: Answers, lenient: bool = False, allow_hosts: Sequence[str] = ()) -> Iterator[Calls]:
    """A double for providers: answers from a script, and refuses what they would refuse.

    Connections of this process to other machines are refused, but for those to `allow_hosts`. A block fails where one was refused, and
    where a script has answers and no call came; the script `[]` stands for a block that makes no call.
    """
    for vendor in vendors:
        if vendor not in _VENDORS:
            raise ValueError(f"there is no vendor {vendor!r}; expected one of {', '.join(_VENDORS)}")
    # With an empty script nothing is answered, so any answer does to start the double.
    expects_none = isinstance(script, Sequence) and not isinstance(script, str) and not script
    with contextlib.ExitStack() as stack:
        calls = stack.enter_context(_recorded(script=["no answer was expected"] if expects_none else script, lenient=lenient))
        guard = Guard(allow_hosts)
        stack.callback(guard.leave)
        yield calls
        stack.close()
        if guard.refused:
            raise AssertionError(
                f"expected calls to the double alone, found a connection to {guard.refused[0]}, which was refused; build the client "
                "inside of the block and without a `base_url` of its own, or name the host in `allow_hosts` if it is no provider"
            )
        if expects_none and len(calls):
            raise AssertionError(f"expected no call, since the script is empty, found {len(calls)}, the first sent from {calls[0].caller}")
        if not expects_none and not len(calls):
            raise AssertionError(f"expected a call, since the script has answers, found none: {calls._silence}; `script=[]` expects none")
        for call in calls:
            asked = call.dialect.partition("-")[0]
            if vendors and asked in _VENDORS and asked not in vendors:
                raise AssertionError(f"expected calls to {', '.join(vendors)} alone, found one to {asked}, sent from {call.caller}")


def _script(script: Answers, folder: str) -> str:
    if isinstance(script, (str, os.PathLike)):
        return os.fspath(script)
    answers = [{"reply": answer} if isinstance(answer, str) else dict(answer) for answer in script]
    for at, answer in enumerate(answers[:-1], 1):
        if "when" not in answer:
            raise ValueError(
                f"answer {at} of the script has no `when`, so it is given to every request and those behind it to none; "
                "add a `when` such as {'lacks': ['words of an earlier result']}, or move it to the end"
            )
    path = Path(folder, "script.json")
    path.write_bytes(json.dumps({"answers": answers}).encode())
    return str(path)


def _pretty(sent: Any) -> str:
    return json.dumps(sent, indent=2, ensure_ascii=False) + "\n"


def _in_order(now: str, before: Optional[str]) -> str:
    """The requests of a snapshot in the order of the stored one: calls that are made at once come in any order."""
    try:
        stored = json.loads(before or "[]")
    except ValueError:
        return now
    sent = json.loads(now)
    if not isinstance(stored, list):
        return now
    # What is not stored takes the free places, in its own order.
    places: list[Any] = []
    for one in stored:
        places.append(sent.pop(sent.index(one)) if one in sent else None)
    filled = [one if one is not None else sent.pop(0) for one in places if one is not None or sent]
    return _pretty(filled + sent)


def _restore(before: Mapping[str, Optional[str]]) -> None:
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


class _Proxy:
    """`ctxc proxy` as a child of this process."""

    def __init__(self, arguments: list[str], folder: str) -> None:
        self._said = Path(folder, "stderr")
        printed = Path(folder, "stdout")
        # A group of its own: Ctrl-C in a terminal reaches Python, which ends the proxy in order.
        group: dict[str, Any] = {"creationflags": 0x200} if os.name == "nt" else {"start_new_session": True}
        with open(printed, "wb") as out, open(self._said, "wb") as err:
            self._child = subprocess.Popen(
                [program(), *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment(), **group
            )
        until = time.monotonic() + _PATIENCE
        while "listening on port" not in self.said():
            if self._child.poll() is not None:
                raise CtxcError(self.said())
            if time.monotonic() > until:
                self.kill()
                raise CtxcError(f"`ctxc proxy` did not listen within {_PATIENCE} s; it said: {self.said()}")
            time.sleep(0.005)
        text = printed.read_text(encoding="utf-8")
        self.variables = {name: value.replace("'\\''", "'") for name, value in _EXPORT.findall(text)}

    def said(self) -> str:
        """What it wrote to standard error."""
        return self._said.read_text(encoding="utf-8", errors="replace").strip()

    def end(self) -> str:
        """Ends it in order, and returns what it said at the end."""
        if self._child.poll() is None:
            self._child.send_signal(signal.CTRL_BREAK_EVENT if os.name == "nt" else signal.SIGINT)  # type: ignore[attr-defined,unused-ignore]
        try:
            code = self._child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            raise CtxcError(f"`ctxc proxy` did not end within {_PATIENCE} s; it said: {self.said()}") from None
        said = "; ".join(line.strip() for line in self.said().splitlines() if "listening on port" not in line)
        # 6: a call had no answer, which its caller was told.
        if code not in (0, 6):
            raise CtxcError(said)
        return said

    def kill(self) -> None:
        """Ends it at once, where it still runs."""
        if self._child.poll() is None:
            self._child.kill()
            self._child.wait()
