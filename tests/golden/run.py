#!/usr/bin/env python3
"""Holds the program against the one of a remembered commit (`tests/golden/base`): the same inputs, the same commands, and every
byte of standard output, standard error, exit code and files written that differs is either accepted in `accepted.toml` or a failure.

  run.py                                 builds both programs and compares everything
  run.py --new target/debug/ctxc         takes a program that is there
  run.py --in repo --only ': eval'       the cases of an input whose `INPUT: COMMAND` holds this pattern
  run.py --in hostile --list             names them

What the old program does is remembered under target/golden, so it runs once for each case."""
import argparse
import hashlib
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import commands
import record
from cases import Case, Memory, Step
from compare import Rules, compare, report
from inputs import Inputs
from sandbox import Slot, settled

HERE = Path(__file__).parent.resolve()
ROOT = HERE.parent.parent
CHUNK = 25
# A bomb that takes the machine's memory takes a program's life instead.
MOST_MEMORY = 6 << 30


def build(source, *arguments):
    """Runs cargo in a source tree, with the target folder of this one: what both depend on is built once."""
    env = {**os.environ, "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_TERM_COLOR": "never"}
    command = ["nice", "cargo", arguments[0], "--locked", "--quiet", "--target-dir", str(ROOT / "target"), *arguments[1:]]
    ended = subprocess.run(command, cwd=source, env=env, stdout=subprocess.PIPE, check=False)
    if ended.returncode:
        sys.exit(f"cargo {' '.join(arguments)} fails in {source}")
    return ended.stdout.decode()


class Golden:
    """Where everything lies, and the old program."""

    def __init__(self, options):
        self.home = Path(options.cache or ROOT / "target/golden").resolve()
        self.commit = subprocess.run(["git", "rev-parse", "--verify", f"{(HERE / 'base').read_text().strip()}^{{commit}}"], cwd=ROOT,
                                     check=True, capture_output=True, text=True).stdout.strip()
        self.kept = self.home / self.commit[:12]
        self.base = self.kept / "source"
        self.kept.mkdir(parents=True, exist_ok=True)
        if not (self.base / "Cargo.toml").exists():
            subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
            subprocess.run(["git", "worktree", "add", "--quiet", "--force", "--detach", self.base, self.commit], cwd=ROOT, check=True)
        self.old = Path(options.old).resolve() if options.old else self.built_old()
        self.new = Path(options.new).resolve() if options.new else self.built_new()
        for program in (self.old, self.new):
            if not os.access(program, os.X_OK):
                sys.exit(f"there is no program {program}")
        self.old, self.new = settled(self.old), settled(self.new)
        self.inputs = Inputs(self.base, self.kept)
        self.memory_path = self.kept / (f"results-{self.old.parent.name}.sqlite" if options.old else "results.sqlite")
        self.memory = Memory(self.memory_path)
        self.slot = None

    def built(self, source, at):
        build(source, "build", "--bin", "ctxc")
        at.parent.mkdir(exist_ok=True)
        shutil.copy2(ROOT / "target/debug/ctxc", at)
        return at

    def built_old(self):
        at = self.kept / "ctxc"
        return at if at.exists() else self.built(self.base, at)

    def built_new(self):
        return self.built(ROOT, self.home / "new/ctxc")

    def recorded(self):
        return record.recorded(self.base, self.kept, lambda *arguments: build(self.base, *arguments))

    def folder(self, name):
        if name.startswith("tests/"):
            folder = self.kept / "recorded/trees" / name.removeprefix("tests/")
            self.inputs.digests[name] = folder.name
            return folder
        return self.inputs.folder(name)

    def ask(self, name, *argv):
        """What the old program does with a command that the table depends on."""
        case = Case(name, (Step(argv),))
        folder = self.folder(name)
        key = case.key(self.inputs.digests[name])
        results = self.memory.get(key)
        if results is None:
            self.slot = self.slot or Slot()
            results = case.run(self.slot, folder, str(self.old))
            self.memory.put(key, results)
        return results[0]

    def agents(self, name):
        manifest = json.loads(self.ask(name, "manifest", "--json").stdout or "{}")
        registry = json.loads(self.ask(name, "build", "-o", "golden.json").files.get("golden.json", "{}").removeprefix("(written)\n"))
        texts = "\n".join(path.read_text(errors="replace") for path in sorted((self.folder(name) / "templates").rglob("*")) if path.is_file()) if name in ("repo", "agents") else ""
        return commands.agents_of(manifest, registry, texts)

    def rules(self, name):
        return [rule["name"] for rule in json.loads(self.ask(name, "rules", "--json").stdout)["rules"]]

    def cases(self, within, only, whole):
        """Every case of the table that is wanted. What the base's tests run is recorded by running them, which takes longer than a sample of
        all else, so a sample has them where they are named alone."""
        pattern = re.compile(only or "")
        for name in self.inputs.names():
            if name.startswith(within):
                yield from (case for case in commands.cases_of(name, self) if pattern.search(case.name))
        if any("tests/"[:len(name)] == name[:6] for name in within if name or whole):
            _, calls = self.recorded()
            for call in calls:
                stdin = bytes.fromhex(call["stdin"]) if call["stdin"] is not None else None
                case = Case(f"tests/{call['tree']}", (Step(tuple(call["argv"]), stdin, tuple(sorted(call["env"].items()))),))
                if pattern.search(case.name):
                    yield case


worker = {}


def begin(old, new, memory, accepted):
    """Makes a worker of this process."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    worker.update(slot=Slot(), old=old, new=new, memory=Memory(memory), rules=Rules(accepted))


def work(chunk):
    """Runs some cases with both programs, the old one where nobody knows yet, and compares."""
    found, used, ran, failed, took = [], Counter(), 0, [], []
    for case, folder, digest in chunk:
        started = time.monotonic()
        try:
            key = case.key(digest)
            old = worker["memory"].get(key)
            if old is None:
                old, ran = case.run(worker["slot"], folder, worker["old"]), ran + 1
                worker["memory"].put(key, old)
            new = case.run(worker["slot"], folder, worker["new"], commands.respelt)
            differences, rows = compare(case, old, new, worker["rules"])
            found.extend(differences)
            used.update(rows)
        except Exception as error:  # noqa: BLE001: whatever it is, the other cases are still to be run
            failed.append(f"{case.name}: {type(error).__name__}: {error}")
            worker["slot"].input = None
        took.append((time.monotonic() - started, case.name))
    return found, used, ran, failed, took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", help="the program to hold against [default: built from the remembered commit]")
    parser.add_argument("--new", help="the program that is held against it [default: built from this tree]")
    parser.add_argument("--in", dest="within", default="", help="inputs whose names begin so, divided by commas: repo,hostile/jinja")
    parser.add_argument("--only", help="cases whose name holds this regular expression")
    parser.add_argument("--sample", type=int, default=1, help="one case of so many, chosen at random but always alike")
    parser.add_argument("--list", action="store_true", help="names the cases and runs none")
    parser.add_argument("--jobs", type=int, default=2, help="programs at a time [default: 2]")
    parser.add_argument("--cache", help="folder of what is remembered [default: target/golden]")
    parser.add_argument("--ids", type=int, default=8, help="ids shown of differences of one shape [default: 8]")
    parser.add_argument("--slow", type=int, default=0, help="names the slowest so many cases")
    parser.add_argument("--lines", type=int, default=30, help="lines shown of a difference [default: 30]")
    options = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace", line_buffering=True)
    started = time.monotonic()
    golden = Golden(options)
    cases = list(golden.cases(tuple(options.within.split(",")), options.only, options.sample == 1))
    if options.sample > 1:
        cases = [case for case in cases if int(hashlib.sha256(case.name.encode()).hexdigest(), 16) % options.sample == 0]
    if options.list:
        print("\n".join(case.name for case in cases))
        return 0
    jobs = [(case, golden.folder(case.input), golden.inputs.digests[case.input]) for case in cases]
    chunks = [jobs[at:at + CHUNK] for at in range(0, len(jobs), CHUNK)]
    random.Random(1).shuffle(chunks)
    print(f"{len(cases)} cases, the program of {golden.commit[:7]} against {options.new or 'this tree'} ({time.monotonic() - started:.0f} s to make ready)")
    found, used, ran, failed, took, done = [], Counter(), 0, [], [], 0
    accepted = HERE / "accepted.toml"
    rules = Rules(accepted)
    if golden.slot:
        golden.slot.leave()
    with ProcessPoolExecutor(options.jobs, initializer=begin, initargs=(str(golden.old), str(golden.new), golden.memory_path, accepted)) as pool:
        for future in as_completed([pool.submit(work, chunk) for chunk in chunks]):
            more, rows, count, broken, seconds = future.result()
            found.extend(more)
            used.update(rows)
            failed.extend(broken)
            took.extend(seconds)
            ran, done = ran + count, done + 1
            if sys.stderr.isatty():
                print(f"\r{done * 100 // len(chunks)} % · {len(found)} differences ", end="", file=sys.stderr)
    rules.used = used
    shapes = report(sorted(found, key=lambda each: (each.case, each.stream)), rules, not options.only and not options.within and options.sample == 1, options.lines, options.ids)
    for line in failed:
        print(f"== could not be run: {line}")
    for seconds, name in sorted(took, reverse=True)[:options.slow]:
        print(f"{seconds:7.1f} s {name[:200]}")
    differing = len({each.case for each in found})
    print(f"{len(cases)} cases in {time.monotonic() - started:.0f} s, {ran} of them new to the old program: {differing} differ in {shapes} ways that nothing accepts; "
          f"{len(used)} of {len(rules.rows)} accepted rows met")
    bad = differing + len(failed)
    print(f"{len(cases) - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
