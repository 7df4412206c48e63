"""The program `ctxc`: where it is, and how it is run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence


class CtxcError(Exception):
    """What the program could not do, in its own words."""


def program() -> str:
    """The path of the program: beside the interpreter, else in the variable CTXC, else on PATH."""
    name = "ctxc.exe" if os.name == "nt" else "ctxc"
    for folder in (sysconfig.get_path("scripts"), os.path.dirname(sys.executable)):
        beside = os.path.join(folder, name)
        if os.access(beside, os.X_OK):
            return beside
    named = os.environ.get("CTXC")
    if named:
        if not os.access(named, os.X_OK):
            raise CtxcError(f"the variable CTXC holds {named}, which is no program; let it hold the path of `ctxc`, or unset it")
        return os.path.abspath(named)
    found = shutil.which(name)
    if found is None:
        raise CtxcError(
            "the program `ctxc` was not found beside the interpreter, in the variable CTXC, or on PATH; "
            "install the wheel of this package again, or let CTXC hold the path of the program"
        )
    return found


def run(arguments: Sequence[str], *, project: Optional[Path] = None, ok: Sequence[int] = (0,)) -> str:
    """Runs the program and returns what it printed. Another exit code than those in `ok` is an error."""
    command = [program(), *arguments]
    if project is not None:
        command += ["--project", str(project)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL, env=environment())
    if done.returncode not in ok:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise CtxcError("\n".join(said) or f"`ctxc {arguments[0]}` ended with exit code {done.returncode} and said nothing")
    return done.stdout


def run_json(arguments: Sequence[str], *, project: Optional[Path] = None, ok: Sequence[int] = (0,)) -> Any:
    """Runs the program and reads what it printed as JSON."""
    return json.loads(run(arguments, project=project, ok=ok))


def environment(more: Optional[Mapping[str, str]] = None) -> dict[str, str]:
    """The variables for the program: no colours."""
    return {**os.environ, "NO_COLOR": "1", **(more or {})}
