#!/usr/bin/env python3
"""packages.py PROGRAM [--tasks N] [--packages N] [--rounds N]: `check` of tasks from packages against the same tasks in one project.

Three projects of the same tasks, in turn: all in the project, all in `path:` packages, and all in packages with locked hashes (`vendor/ctxc`).
Each package has a fragment that its tasks use, and the project has one task for each package. Exits with 1 if packages take more than 1.3 times as long."""
import argparse
import hashlib
import os
import pathlib
import tempfile
from measure import Command

PROMISE = 1.3


def task(name, reference):
    return (f'<task name="{name}">\n  <description>Sort the ticket of the customer.</description>\n'
            f'  <instructions>Read the ticket <use fragment="{reference}"/> and say which team it belongs to: {name}.</instructions>\n'
            '  <context_management>\n    <inherit_context>none</inherit_context>\n  </context_management>\n</task>\n')


def fragment(name):
    return f'<library>\n  <fragment name="{name}">with care</fragment>\n</library>\n'


def users(count, name):
    steps = "".join(f'    <task ref="{name(number)}"/>\n' for number in range(count))
    return f'<task name="all" type="sequential">\n  <description>All of them.</description>\n  <steps>\n{steps}  </steps>\n</task>\n'


def write(root, files):
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def one_project(tasks, packages):
    files = {"ctxc.toml": 'edition = "2026"\n', "templates/all.xml": users(packages, lambda number: f"p{number}-0")}
    for number in range(packages):
        files[f"templates/p{number}/tone.xml"] = fragment(f"tone-{number}")
        files |= {f"templates/p{number}/t{at}.xml": task(f"p{number}-{at}", f"tone-{number}") for at in range(tasks // packages)}
    return files


def with_packages(tasks, packages, locked):
    files = {"templates/all.xml": users(packages, lambda number: f"acme/p{number}/p{number}-0")}
    required, entries = "", ["version = 1\n"]
    for number in sorted(range(packages), key=lambda number: f"acme/p{number}"):
        name = f"acme/p{number}"
        folder = f"vendor/ctxc/{name}" if locked else f"packages/p{number}"
        source = f"git+https://example.org/p{number}.git@v1.0.0" if locked else f"path:{folder}"
        exports = ", ".join(f'"tasks/p{number}-{at}"' for at in range(tasks // packages))
        own = {"ctxc.toml": f'[package]\nname = "{name}"\nversion = "1.0.0"\nexports = [{exports}]\n', "templates/tone.xml": fragment(f"tone-{number}")}
        own |= {f"templates/t{at}.xml": task(f"p{number}-{at}", f"tone-{number}") for at in range(tasks // packages)}
        hashes = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in sorted(own.items())}
        tree = hashlib.sha256("".join(f"{digest}  {path}\n" for path, digest in hashes.items()).encode()).hexdigest()
        resolved = f'resolved = "{"a" * 40}"\n' if locked else ""
        listed = "".join(f'"{path}" = "{digest}"\n' for path, digest in hashes.items())
        entries.append(f'[[package]]\nname = "{name}"\nversion = "1.0.0"\nsource = "{source}"\n{resolved}tree = "{tree}"\ndependencies = []\n[package.files]\n{listed}')
        required += f'"{name}" = "{source}"\n'
        files |= {f"{folder}/{path}": text for path, text in own.items()}
    return files | {"ctxc.toml": f'edition = "2026"\n[dependencies]\n{required}', "ctxc.lock": "".join(entries)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--packages", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        shapes = {"one project": one_project(args.tasks, args.packages), "path packages": with_packages(args.tasks, args.packages, False),
                  "locked packages": with_packages(args.tasks, args.packages, True)}
        commands = {}
        for name, files in shapes.items():
            root = pathlib.Path(folder) / name.replace(" ", "-")
            write(root, files)
            commands[name] = Command([args.program, "check", "-q"], cwd=root)
        for round_number in range(args.rounds + 1):
            for command in commands.values():
                command.run(round_number > 0)
        base = commands["one project"]
        worst = 0.0
        for name, command in commands.items():
            ratio = command.median / base.median
            worst = max(worst, ratio)
            print(f"| {name} | {command.median:,.0f} ms | {ratio:.2f} | {command.memory:,.0f} MB |")
    raise SystemExit(0 if worst <= PROMISE else 1)


main()
