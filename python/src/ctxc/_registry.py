"""Tasks of a project, assembled to messages."""

from __future__ import annotations

import difflib
import json
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional, Union

from ._program import CtxcError, run_json

# An argument of a program is limited to 128 KiB on Linux; longer values go through a file.
_LONGEST_ARGUMENT = 60_000
# The name in a body where neither the caller nor the project chooses a model; `messages` leaves it out.
_NO_MODEL = "no-model"


class Context:
    """What an agent receives: messages for the libraries of providers, and the report of `ctxc render --json`."""

    def __init__(self, task: str, arguments: list[str], project: Path, model: Optional[str], files: Any) -> None:
        self._task = task
        self._arguments = arguments
        self._project = project
        self._model = model
        # The folder with long values lives as long as this object.
        self._files = files
        self.report: dict[str, Any] = run_json(["render", *arguments, "--json"], project=project)
        """The whole report: `segments`, `tokens`, `budget` and the rest."""

    @property
    def tokens(self) -> int:
        """How many tokens the context has."""
        return int(self.report["tokens"])

    def body(self, dialect: str) -> dict[str, Any]:
        """The whole request body in a dialect: `openai-chat`, `openai-responses`, `anthropic`, `gemini` or `ollama`."""
        model = self._model or (None if self.report.get("model") else _NO_MODEL)
        more = ["--model", model] if model else []
        body: dict[str, Any] = run_json(["render", *self._arguments, "--as", dialect, *more], project=self._project)
        return body

    @cached_property
    def messages(self) -> list[dict[str, Any]]:
        """The messages as `openai` takes them: `client.chat.completions.create(messages=context.messages, …)`."""
        messages: list[dict[str, Any]] = self.body("openai-chat")["messages"]
        return messages

    @cached_property
    def anthropic(self) -> dict[str, Any]:
        """System and messages as `anthropic` takes them: `client.messages.create(**context.anthropic, …)`."""
        body = self.body("anthropic")
        return {key: body[key] for key in ("system", "messages") if key in body}

    def __repr__(self) -> str:
        return f"<Context of {self._task}: {self.tokens} tokens>"


class Task:
    """A task of a project."""

    def __init__(self, name: str, project: Path) -> None:
        self.name = name
        self._project = project

    def assemble(
        self,
        inputs: Optional[Mapping[str, Any]] = None,
        *,
        budget: Optional[int] = None,
        model: Optional[str] = None,
        node: Optional[str] = None,
        session: Optional[str] = None,
        index: bool = True,
    ) -> Context:
        """Assembles the context of the task. Texts are given as they are, other values as JSON.

        `index=False` looks nothing up in the files of the project.
        """
        files = tempfile.TemporaryDirectory(prefix="ctxc-")
        arguments = [self.name] if index else [self.name, "--no-index"]
        for name, value in (inputs or {}).items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            if len(text) > _LONGEST_ARGUMENT:
                path = Path(files.name, f"{len(arguments)}.txt")
                path.write_bytes(text.encode())
                text = f"@{path}"
            elif text.startswith("@"):
                text = f"@{text}"
            arguments += ["--input", f"{name}={text}"]
        for option, given in (("--budget", budget), ("--node", node), ("--session", session)):
            if given is not None:
                arguments += [option, str(given)]
        return Context(self.name, arguments, self._project, model, files)

    def __repr__(self) -> str:
        return f"<Task {self.name}>"


class Registry(Mapping[str, Task]):
    """The tasks of a project, by their names."""

    def __init__(self, project: Path, names: list[str]) -> None:
        self._project = project
        self._names = names

    @classmethod
    def load(cls, path: Union[str, Path] = ".") -> Registry:
        """Loads the project in a folder, or that of a `ctxc.toml`. Templates with errors are refused."""
        project = Path(path)
        if project.name == "ctxc.toml":
            project = project.parent
        if not project.is_dir():
            raise CtxcError(f"{path} is no folder; expected the one that holds ctxc.toml")
        project = project.resolve()
        listed = run_json(["list", "--json"], project=project)
        return cls(project, [task["name"] for task in listed["tasks"]])

    def __getitem__(self, name: str) -> Task:
        if name not in self._names:
            near = difflib.get_close_matches(name, self._names, 1)
            raise KeyError(f"the project has no task {name!r}; " + (f"did you mean {near[0]!r}?" if near else f"it has {self._names}"))
        return Task(name, self._project)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
