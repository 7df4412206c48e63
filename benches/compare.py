#!/usr/bin/env python3
"""The table of processes: what is promised, against what, what was measured.

Builds its corpora once, outside of any repository ($CTXC_BENCH_DIR, else below the folder for temporary files), then
measures floors, peers and ctxc interleaved in one run. Called by compare.sh, which builds the programs first. Standard
library only."""
import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import context  # noqa: E402
import hostile  # noqa: E402
import lsp  # noqa: E402
from measure import Command, interleave, machine, write_and_sync  # noqa: E402

CTXC, FLOORS, EMPTY = (os.path.abspath(f"target/{path}") for path in ("dist/ctxc", "floors/release/floors", "floors/release/empty"))
SCHEMA = os.path.abspath("benches/peers/structure.rng")
HOME = os.environ.get("CTXC_BENCH_DIR", f"{tempfile.gettempdir()}/ctxc-bench")
ANY = (0, 1)
# Peers are left out where they are not installed.
HAS_XMLLINT = shutil.which("xmllint") is not None


class Report:
    """Collects the rows of the two tables."""

    def __init__(self):
        self.promises, self.raw, self.kept = [], [], 0

    def promise(self, work, promise, measured, against, ratio, limit):
        kept = ratio <= limit
        self.kept += kept
        self.promises.append((work, promise, measured, against, f"{ratio:.2f}", "kept" if kept else "**missed**"))
        print(f"  {'kept  ' if kept else 'MISSED'} {work}: {measured}, {promise} (ratio {ratio:.2f} of {limit})", file=sys.stderr)

    def group(self, title, commands):
        for name, command in commands.items():
            memory = f"{command.memory:.0f}" if command.memory else "–"
            self.raw.append((title, name, f"{command.median:.1f}", f"± {command.spread:.0%}", memory))
            print(f"    {title} / {name}: {command.median:.1f} ms, {memory} MB", file=sys.stderr)

    def text(self, options):
        given = os.environ.get("CTXC_BENCH_WITH")
        command = (f'CTXC_BENCH_WITH="{given}" ' if given else "") + "benches/compare.sh" + "".join(f" {flag}" for flag in sys.argv[1:] if flag != "--write")
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
        lines = [f"`{command}` on {datetime.date.today()}, commit {commit or 'unknown'}, {options.machine}{f'; {options.rounds} rounds, medians' if self.raw else ''}.", "",
                 f"{self.kept} of {len(self.promises)} promises kept.", "",
                 "| work | promise | measured | against | ratio | verdict |", "|---|---|---|---|---|---|"]
        lines += ["| " + " | ".join(row) + " |" for row in self.promises]
        if not self.raw:
            return "\n".join(lines) + "\n"
        lines += ["", "| group | command | median ms | half the quartiles' distance | peak MB |", "|---|---|---|---|---|"]
        return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in self.raw]) + "\n"


def corpus(count, *, clean=False):
    """A folder of COUNT generated files; `clean`: only files that are neither malformed nor in conflict."""
    folder = f"{HOME}/{'clean' if clean else 'mixed'}-{count}"
    if os.path.exists(folder + ".done"):
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    made = count * 104 // 100 + 20 if clean else count
    subprocess.run([sys.executable, "benches/gen_corpus.py", folder, str(made)], check=True)
    if clean:
        with open(folder + ".expected.json", encoding="utf-8") as file:
            expected = json.load(file)
        left = 0
        for path, verdict in expected.items():
            left += verdict == "ok"
            if verdict != "ok" or left > count:
                os.remove(f"{folder}/{path}")
    open(folder + ".done", "w").close()
    return folder


def floor(work, folder, threads):
    return Command([FLOORS, work, folder, str(threads)])


def check(path, threads=2, expect=ANY):
    folder, name = (path, ".") if os.path.isdir(path) else os.path.split(path)
    return Command([CTXC, "check", "--threads", str(threads), name], cwd=folder, expect=expect)


def build(folder, threads=2, before=None):
    return Command([CTXC, "build", "--threads", str(threads), "-o", f"{folder}/registry.json", "."], cwd=folder, before=before)


def listing(folder):
    """The names of all files, each ended by NUL, for xargs."""
    names = sorted(os.path.join(at, name) for at, _, files in os.walk(folder) for name in files if name.endswith(".xml"))
    with open(folder + ".list", "w", encoding="utf-8") as file:
        file.write("".join(name + "\0" for name in names))
    return folder + ".list"


def peer(folder, processes):
    argv = ["xargs", "-0", f"-P{processes}", "-n", "5000", "xmllint", "--noout", "--relaxng", SCHEMA]
    return Command(argv, stdin=listing(folder), expect=(0, 123))


def measure_check(report, options):
    folder, count = corpus(options.small), f"{options.small:,} files"
    commands = {f"floor: {work}, {threads} threads": floor(work, folder, threads)
                for work in ("walk", "stat", "read", "scan", "quick-xml", "roxmltree") for threads in (1, 2)}
    commands |= {"ctxc check, 1 thread": check(folder, 1), "ctxc check, 2 threads": check(folder, 2)}
    if HAS_XMLLINT:
        commands |= {"xmllint --relaxng, 1 process": peer(folder, 1), "xmllint --relaxng, 2 processes": peer(folder, 2)}
    if shutil.which("jing"):
        commands["jing, 1 process"] = Command(["xargs", "-0", "-n", "100000", "jing", SCHEMA], stdin=listing(folder), expect=(0, 123))
    report.group(f"check {count}", interleave(commands, options.rounds))
    one, two = commands["ctxc check, 1 thread"].median, commands["ctxc check, 2 threads"].median
    read = commands["floor: read, 2 threads"].median
    report.promise(f"`check`, {count}, 2 threads", "≤ 2.5 × (walk + read)", f"{two:.1f} ms", f"{read:.1f} ms", two / read, 2.5)
    if HAS_XMLLINT:
        xmllint = commands["xmllint --relaxng, 2 processes"].median
        report.promise(f"`check`, {count}, 2 threads", "≥ 2.3 × faster than xmllint on 2 processes", f"{two:.1f} ms", f"{xmllint:.1f} ms", two / xmllint, 1 / 2.3)
    report.promise("2 threads against 1", "≥ 1.6 × faster", f"{two:.1f} ms", f"{one:.1f} ms", two / one, 1 / 1.6)


def forget(folder):
    def work():
        if os.path.exists(f"{folder}/registry.json"):
            os.remove(f"{folder}/registry.json")
    return work


def registry_size(folder):
    forget(folder)()
    build(folder).run(keep=False)
    return os.path.getsize(f"{folder}/registry.json")


def measure_build(report, options):
    folder = corpus(options.small, clean=True)
    size = registry_size(folder)
    commands = {"ctxc check": check(folder), "ctxc build": build(folder, before=forget(folder)),
                "floor: write and sync the registry": Command(function=write_and_sync(f"{HOME}/registry.json", size))}
    report.group(f"build {options.small:,} files", interleave(commands, options.rounds))
    checked, built, written = (command.median for command in commands.values())
    report.promise(f"`build`, {options.small:,} files", "≤ 1.3 × (`check` + write and sync)", f"{built:.1f} ms",
                   f"{checked:.1f} + {written:.1f} ms ({size / 1e6:.1f} MB)", built / (checked + written), 1.3)


def measure_one(report, options):
    folder = corpus(options.small, clean=True)
    path = next(os.path.join(at, name) for at, _, files in sorted(os.walk(folder)) for name in sorted(files) if name.startswith("atomic_"))
    commands = {"an empty Rust program": Command([EMPTY]), "ctxc check, one file": check(path, 2, (0,))}
    if HAS_XMLLINT:
        commands["xmllint --relaxng, one file"] = Command(["xmllint", "--noout", "--relaxng", SCHEMA, path])
    report.group("one file, cold process", interleave(commands, options.rounds * 7))
    empty, ctxc, *xmllint = (command.median for command in commands.values())
    report.promise("one file, cold process", "≤ 1.5 × an empty Rust program", f"{ctxc:.2f} ms", f"{empty:.2f} ms", ctxc / empty, 1.5)
    for other in xmllint:
        report.promise("one file, cold process", "≤ xmllint with a schema", f"{ctxc:.2f} ms", f"{other:.2f} ms", ctxc / other, 1)


def large_file(name, *size):
    path = f"{HOME}/{name}.xml"
    if not os.path.exists(path):
        subprocess.run([sys.executable, "benches/gen_corpus.py", path, *size], check=True)
    return path


def measure_large(report, options):
    files = {"20,000 lines": large_file("lines", "--lines", "20000"), "10 MB": large_file("bytes", "--bytes", "10000000")}
    commands = {f"ctxc check, {name}": check(path) for name, path in files.items()}
    if HAS_XMLLINT:
        commands |= {f"xmllint --relaxng, {name}": Command(["xmllint", "--noout", "--relaxng", SCHEMA, path]) for name, path in files.items()}
    report.group("one large file", interleave(commands, options.rounds))
    lines, bytes_, *_ = commands.values()
    report.promise("one file of 20,000 lines", "≤ 15 ms", f"{lines.median:.1f} ms", "15 ms", lines.median / 15, 1)
    report.promise("one file of 10 MB", "≤ 120 ms", f"{bytes_.median:.1f} ms", "120 ms", bytes_.median / 120, 1)
    sizes = [os.path.getsize(path) for path in files.values()]
    each = [command.median / size * 1e6 for command, size in zip((lines, bytes_), sizes)]
    report.promise("10 MB against 20,000 lines", "linear: cost of a byte grows by < 10 %", f"{each[1]:.2f} ns", f"{each[0]:.2f} ns", each[1] / each[0], 1.1)


def measure_load(report, options):
    """`show` of a task that is not there reads names and hashes of the whole registry and nothing else."""
    folder = corpus(options.small, clean=True)
    size = registry_size(folder) / 1e6
    result = subprocess.run(["cargo", "bench", "--quiet", "--locked", "--profile", "dist", "--bench", "load", "--", f"{folder}/registry.json", str(options.rounds)],
                            capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(result.stderr)
    figures = json.loads(result.stdout.strip().splitlines()[-1])
    speed = size / figures["load_ms"] * 1000
    report.promise(f"registry load, {options.small:,} tasks", "≥ 300 MB/s", f"{figures['load_ms']:.1f} ms for {size:.1f} MB: {speed:.0f} MB/s", "300 MB/s", 300 / speed, 1)
    report.promise("registry lookup by name", "without scanning: ≤ 20 µs", f"{figures['lookup_us']:.2f} µs", "20 µs", figures["lookup_us"] / 20, 1)


def measure_worst(report, options):
    for name, path in hostile.write(f"{HOME}/hostile").items():
        commands = interleave({name: check(path, 2, (1,))}, options.rounds)
        report.group("worst inputs", commands)
        command = commands[name]
        report.promise(f"worst input: {name}", "≤ 100 ms", f"{command.median:.1f} ms", "100 ms", command.median / 100, 1)
        report.promise(f"worst input: {name}", "≤ 100 MB", f"{command.memory:.0f} MB", "100 MB", command.memory / 100, 1)


GROUPS = {"check": measure_check, "one": measure_one, "large": measure_large, "worst": measure_worst, "build": measure_build,
          "load": measure_load,
          "context": lambda report, options: context.measure(report, CTXC, EMPTY, HOME, corpus(options.small, clean=True), options.small, options),
          "lsp": lambda report, options: lsp.measure(report, HOME, options)}


def write(group, text):
    """Puts the tables of a group between its marks on the page; those of other groups stay as they are."""
    with open("benches/RESULTS.md", encoding="utf-8") as file:
        page = file.read()
    below, above = (f"<!-- compare.sh writes {group} {side} -->\n" for side in ("below", "above"))
    head, rest = page.split(below)
    with open("benches/RESULTS.md", "w", encoding="utf-8") as file:
        file.write(head + below + text + above + rest.split(above)[1])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true", help="a tenth of the corpus and 3 rounds: shows that all of it runs, proves nothing")
    arguments.add_argument("--write", action="store_true", help="put the tables of the groups that run into benches/RESULTS.md")
    arguments.add_argument("--only", metavar="GROUP,…", help="some of: " + " ".join(GROUPS))
    options = arguments.parse_args()
    options.small, options.rounds = (1_000, 3) if options.quick else (10_000, 9)
    options.machine = machine()
    os.makedirs(HOME, exist_ok=True)
    chosen = options.only.split(",") if options.only else list(GROUPS)
    for group in chosen:
        print(f"{group}:", file=sys.stderr)
        report = Report()
        GROUPS[group](report, options)
        text = report.text(options)
        print(text)
        if options.write:
            write(group, text)


if __name__ == "__main__":
    main()
