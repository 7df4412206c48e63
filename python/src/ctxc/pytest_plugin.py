"""The plugin for pytest: `--ctxc-accept`, and the fixtures `ctxc_record` and `ctxc_strict`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Callable, Iterator, Optional

import pytest

from . import _recording
from ._recording import Answers, Calls

_accepts = False
_root: Optional[Path] = None
_test: Optional[tuple[Path, str]] = None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("ctxc").addoption("--ctxc-accept", action="store_true", help="store the requests that snapshots are compared with")


def pytest_configure(config: pytest.Config) -> None:
    global _accepts, _root
    _accepts = bool(config.getoption("--ctxc-accept"))
    _root = config.rootpath


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    global _test
    _test = (item.path, item.nodeid.partition("::")[2])


def accepts() -> bool:
    """Whether what is sent is to be stored."""
    return _accepts


def shown(file: Path) -> str:
    """A path as it is shown: below the root of the tests."""
    try:
        return file.resolve().relative_to(_root or Path.cwd()).as_posix()
    except ValueError:
        return file.as_posix()


def snapshot() -> Path:
    """Where the requests of the test that runs are stored."""
    if _test is None:
        raise ValueError("no test of pytest runs: name the file, as in `calls.assert_snapshot('requests.json')`")
    path, name = _test
    return path.parent / "snapshots" / path.stem / (re.sub(r"[^\w.-]+", "-", name).strip("-") + ".json")


@pytest.fixture
def ctxc_record() -> Iterator[Calls]:
    """Records the calls of the test, which go on to their vendors."""
    with _recording.record() as calls:
        yield calls


@pytest.fixture
def ctxc_strict() -> Iterator[Callable[..., Calls]]:
    """A function that starts a double for the rest of the test: `calls = ctxc_strict("openai", script=[…])`."""
    import contextlib

    with contextlib.ExitStack() as stack:

        def start(*vendors: str, script: Answers, **more: Any) -> Calls:
            return stack.enter_context(_recording.strict(*vendors, script=script, **more))

        yield start
