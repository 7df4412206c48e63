"""The plugin for pytest: `--ctxc-accept`, and the fixtures `ctxc_record` and `ctxc_strict`."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator

import pytest

from . import _session
from ._recording import Answers, Calls, record, strict


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    parser.getgroup("ctxc").addoption("--ctxc-accept", action="store_true", help="store the requests that snapshots are compared with")


def pytest_configure(config: pytest.Config) -> None:
    """Keeps what snapshots need."""
    _session.accepts = bool(config.getoption("--ctxc-accept"))
    _session.root = config.rootpath


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Keeps which test runs."""
    _session.test = (item.path, item.nodeid.partition("::")[2])
    _session.count = 0
    _session.raised = None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Keeps how the test ended."""
    if call.when == "call" and call.excinfo is not None:
        _session.raised = call.excinfo.value


@pytest.fixture
def ctxc_record() -> Iterator[Calls]:
    """Records the calls of the test, which go on to their vendors."""
    with record() as calls:
        yield calls


@pytest.fixture
def ctxc_strict() -> Iterator[Callable[..., Calls]]:
    """A function that starts a double for the rest of the test: `calls = ctxc_strict("openai", script=[…])`."""
    stack = contextlib.ExitStack()

    def start(*vendors: str, script: Answers, **more: Any) -> Calls:
        return stack.enter_context(strict(*vendors, script=script, **more))

    yield start
    # What a test that failed or was skipped leaves undone is no second failure.
    raised = _session.raised
    stack.__exit__(*((type(raised), raised, raised.__traceback__) if raised is not None else (None, None, None)))
