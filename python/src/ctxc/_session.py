"""The run of pytest that is going on, as far as snapshots need it. Nothing of pytest is imported here."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Optional

accepts = False
"""Whether what is sent is to be stored."""
root: Optional[Path] = None
test: Optional[tuple[Path, str]] = None
"""The file of the test that runs, and its name."""
raised: Optional[BaseException] = None
"""What the test that ran ended with, where it did not pass."""
count = 0
"""How many snapshots the test that runs has named."""
# Parameters that make a name of their own. Others that differ may read alike in a file's name.
_PLAIN = re.compile(r"[a-z0-9_]{1,80}")


def shown(file: Path) -> str:
    """A path as it is shown: below the root of the tests."""
    try:
        return file.resolve().relative_to((root or Path.cwd()).resolve()).as_posix()
    except ValueError:
        return file.as_posix()


def snapshot() -> Path:
    """Where the requests of the test that runs are stored: a file for each call of this function in a test."""
    global count
    if test is None:
        raise ValueError(
            "no test of pytest runs with the plugin of ctxc: name the file, as in `calls.assert_snapshot('requests.json')`, or load the "
            "plugin with `pytest -p ctxc.pytest_plugin`, which an installed package does by itself"
        )
    path, name = test
    count += 1
    number = f".{count}" if count > 1 else ""
    return path.parent / "snapshots" / path.stem / f"{_stem(name)}{number}.json"


def _stem(name: str) -> str:
    """A file's name for a test, unlike that of any other test of its file, whatever its parameters."""
    function, _, parameters = name.partition("[")
    function, parameters = function.replace("::", "-"), parameters[:-1]
    if not parameters:
        return function
    if _PLAIN.fullmatch(parameters):
        return f"{function}-{parameters}"
    shown = re.sub(r"[^\w.-]+", "-", parameters).strip("-.")[:40]
    return f"{function}-{shown}-{hashlib.sha256(parameters.encode()).hexdigest()[:8]}"
