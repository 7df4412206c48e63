"""The run of pytest that is going on, as far as snapshots need it. Nothing of pytest is imported here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Optional

accepts = False
"""Whether what is sent is to be stored."""
root: Optional[Path] = None
test: Optional[tuple[Path, str]] = None
"""The file of the test that runs, and its name."""


def shown(file: Path) -> str:
    """A path as it is shown: below the root of the tests."""
    try:
        return file.resolve().relative_to((root or Path.cwd()).resolve()).as_posix()
    except ValueError:
        return file.as_posix()


def snapshot() -> Path:
    """Where the requests of the test that runs are stored."""
    if test is None:
        raise ValueError("no test of pytest runs: name the file, as in `calls.assert_snapshot('requests.json')`")
    path, name = test
    return path.parent / "snapshots" / path.stem / (re.sub(r"[^\w.-]+", "-", name).strip("-") + ".json")
