#!/usr/bin/env python3
"""Records what the tests of the command line run: `record.recorded(base, home, build)`. A script stands in for the program, keeps the folder, the
arguments and the standard input of each call, and goes on as the program. So every project of the tests is an input, with its commands.

As a program it is that script: `record.py OUT PROGRAM ARGUMENT…`."""
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

MOST_FILES, MOST_BYTES = 120, 2_000_000
# What runs until it is ended, shows where in the sources something stands, or describes the command line itself.
LEFT_OUT = {"watch", "lsp", "completions", "man", "debug-panic"}
ENVIRONMENT = ("NO_COLOR", "COLUMNS", "GITHUB_ACTIONS", "CTXC_")
SKIPPED = ("kill", "watch", "terminal", "pipe", "permissions", "disk", "lsp", "tidy", "peers")


def keep(out, arguments):
    """Stores a call: its folder once by its content, and a line about it."""
    here, files, size, whole = os.getcwd(), [], 0, hashlib.sha256()
    for folder, folders, names in os.walk(here):
        folders[:] = sorted(name for name in folders if not os.path.islink(f"{folder}/{name}") or names.append(name))
        for name in sorted(names):
            path = f"{folder}/{name}"
            about = os.lstat(path)
            if not stat.S_ISREG(about.st_mode) and not stat.S_ISLNK(about.st_mode):
                return
            data = os.readlink(path).encode() if os.path.islink(path) else Path(path).read_bytes()
            inside, size = os.path.relpath(path, here), size + len(data)
            files.append(inside)
            whole.update(os.fsencode(inside) + b"\0%d\0%o\0" % (len(data), about.st_mode) + data)
        if len(files) > MOST_FILES or size > MOST_BYTES:
            return
        if not names and not folders:
            whole.update(os.fsencode(os.path.relpath(folder, here)))
    name = whole.hexdigest()[:16]
    stdin = None
    if not sys.stdin.isatty() and stat.S_ISFIFO(os.fstat(0).st_mode):
        stdin = sys.stdin.buffer.read()
    tree = Path(out) / "trees" / name
    if not tree.exists():
        part = tree.with_name(f"{name}.{os.getpid()}")
        shutil.copytree(here, part, symlinks=True)
        try:
            part.rename(tree)
        except OSError:
            shutil.rmtree(part)
    env = {key: value for key, value in os.environ.items() if key.startswith(ENVIRONMENT)}
    call = {"tree": name, "argv": [each.replace(here, "$AT") for each in arguments], "stdin": stdin and stdin.hex(), "env": env}
    Path(out, "calls").mkdir(exist_ok=True)
    line = json.dumps(call, sort_keys=True)
    Path(out, "calls", hashlib.sha256(line.encode()).hexdigest()[:24]).write_text(line)
    return stdin


def recorded(base, home, build):
    """The recorded calls of a base, recorded once: `build` gives a command that builds with its arguments, in the base."""
    out = Path(home) / "recorded"
    if not (out / "done").exists():
        shutil.rmtree(out, ignore_errors=True)
        (out / "trees").mkdir(parents=True)
        said = build("test", "--no-run", "--test", "it", "--message-format=json")
        artifacts = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
        programs = {each["target"]["name"]: each["executable"] for each in artifacts if each.get("executable")}
        tests, program = programs["it"], Path(programs["ctxc"])
        real = out / "ctxc"
        shutil.copy2(program, real)
        program.unlink()
        program.write_text(f"#!/bin/sh\nexec {sys.executable} {Path(__file__).resolve()} {out} {real} \"$@\"\n")
        program.chmod(0o755)
        try:
            skipped = [word for name in SKIPPED for word in ("--skip", name)]
            subprocess.run([tests, "cli::", "eval::", "rules::", "store::", *skipped, "--test-threads", "4", "-q"], cwd=base, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, env={**os.environ, "CARGO_MANIFEST_DIR": str(base)}, timeout=1_800)
        finally:
            shutil.move(real, program)
        (out / "done").touch()
    calls = [json.loads(path.read_text()) for path in sorted((out / "calls").iterdir())]
    return out, [call for call in calls if usable(call)]


def usable(call):
    """Whether a call can be made again elsewhere: it ends by itself and names nothing outside of its folder."""
    words = [word for word in call["argv"] if not word.startswith("-")]
    return not LEFT_OUT & set(words[:1]) and "--help" not in call["argv"] and not any(tempfile.gettempdir() in word or word.startswith("/") for word in call["argv"])


if __name__ == "__main__":
    given = None
    try:
        given = keep(sys.argv[1], sys.argv[3:])
    except OSError:
        pass
    if given is not None:
        ended = subprocess.run(sys.argv[2:], input=given)
        sys.exit(ended.returncode if ended.returncode >= 0 else 128 - ended.returncode)
    os.execv(sys.argv[2], sys.argv[2:])
