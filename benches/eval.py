#!/usr/bin/env python3
"""eval.py CTXC: what `ctxc eval` with answers takes: its start, 10,000 scenarios kept in a history, their page. Medians of processes."""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ctxc = os.path.abspath(sys.argv[1])
root = pathlib.Path(tempfile.mkdtemp(prefix="ctxc-eval"))
env = dict(os.environ, XDG_STATE_HOME=str(root / "state"), XDG_CACHE_HOME=str(root / "cache"))


def project(count):
    path = root / f"p{count}"
    (path / "templates").mkdir(parents=True)
    (path / "scenarios").mkdir()
    (path / "ctxc.toml").write_text('edition = "2026"\n[eval]\nruns = 1\npass = 1\n')
    tasks = min(count, 50)
    for number in range(tasks):
        (path / f"templates/t{number}.xml").write_text(
            f"""<task type="atomic" name="t{number}">
  <description>Sort ticket {{{{ticket}}}}.</description>
  <parameters><parameter name="ticket" type="string" required="true"/></parameters>
</task>
""")
    for first in range(0, count, 100):
        cases = "".join(
            f"""  - id: c{number}
    task: t{number % tasks}
    context: {{objective: sort, inputs: {{ticket: number {number}}}}}
    expectations: [{{contains: [billing]}}]
    answers: [{{reply: billing}}]
"""
            for number in range(first, min(first + 100, count)))
        (path / f"scenarios/s{first // 100:03}.yaml").write_text(f"id: s{first // 100:03}\nversion: '1'\ncases:\n{cases}")
    return path


def run(path, args):
    begun = time.perf_counter()
    process = subprocess.Popen([ctxc, *args], cwd=path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, args
    return (time.perf_counter() - begun) * 1000, usage.ru_maxrss / 1024


def measure(name, path, args, rounds):
    rows = [run(path, args) for _ in range(rounds)]
    print(f"{name}: {statistics.median(row[0] for row in rows):.1f} ms, {max(row[1] for row in rows):.0f} MB", flush=True)


one, many = project(1), project(10_000)
measure("1 scenario", one, ["eval"], 15)
measure("10,000 scenarios, kept", many, ["eval", "--out", "card.json"], 5)
measure("10,000 scenarios, not kept", many, ["eval", "--no-history"], 3)
measure("10,000 scenarios, not kept, as a page", many, ["eval", "--no-history", "--report", "html=page.html"], 3)
print(f"the page: {(many / 'page.html').stat().st_size / 1e6:.1f} MB")
