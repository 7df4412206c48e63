#!/usr/bin/env python3
"""answers.py CTXC PROMPTFOO PYTHON [COUNT…]: evaluations with an echo in place of a model, beside promptfoo and inspect_ai. `.ci/peers bench` has all three.

Each tool gets the same COUNT cases (1 and 10,000 where none is named): a ticket put into a prompt, one answer, one check for a word, results kept as the tool keeps them by
itself. ctxc has one script for an answer, promptfoo its provider `echo`, inspect_ai its `mockllm`. Wall time of the process and its peak of memory, medians."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ctxc, promptfoo, python = (os.path.abspath(path) for path in sys.argv[1:4])
counts = [int(count) for count in sys.argv[4:]] or [1, 10_000]
root = pathlib.Path(tempfile.mkdtemp(prefix="ctxc-answers"))
quiet = {
    "PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1", "PROMPTFOO_CONFIG_DIR": str(root / "promptfoo"),
    "INSPECT_DISPLAY": "none", "INSPECT_LOG_LEVEL": "error", "XDG_STATE_HOME": str(root / "state"), "XDG_CACHE_HOME": str(root / "cache"),
    "XDG_DATA_HOME": str(root / "data"), "NO_COLOR": "1",
}


def ours(path, count):
    (path / "templates").mkdir(parents=True)
    (path / "scenarios").mkdir()
    (path / "ctxc.toml").write_text('edition = "2026"\n[eval]\nruns = 1\npass = 1\n')
    (path / "templates/t.xml").write_text("""<task type="atomic" name="t">
  <description>Sort ticket {{ticket}}.</description>
  <parameters><parameter name="ticket" type="string" required="true"/></parameters>
</task>
""")
    case = "  - {{id: c{0}, input: {{objective: sort, inputs: {{ticket: number {0}}}}}, expected: [{{contains: [billing]}}], answers: [{{reply: billing}}]}}\n"
    cases = "".join(case.format(number) for number in range(count))
    (path / "scenarios/s.yaml").write_text(f"id: s\ndefaults: {{task: t}}\ncases:\n{cases}")
    return [ctxc, "eval", "--out", "card.json"]


def theirs(path, count):
    tests = [{"vars": {"ticket": f"number {number} billing"}, "assert": [{"type": "contains", "value": "billing"}]} for number in range(count)]
    config = {"prompts": ["Sort ticket {{ticket}}."], "providers": ["echo"], "tests": tests}
    path.mkdir(parents=True)
    (path / "promptfooconfig.json").write_text(json.dumps(config))
    return [promptfoo, "eval", "--config", "promptfooconfig.json", "--no-progress-bar", "--no-table", "--no-share", "--output", "results.json"]


def inspect(path, count):
    path.mkdir(parents=True)
    (path / "task.py").write_text(f"""from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import includes


@task
def sort():
    samples = [Sample(input=f"Sort ticket number {{number}}.", target="Default") for number in range({count})]
    return Task(dataset=MemoryDataset(samples), scorer=includes())
""")
    return [python, "-m", "inspect_ai", "eval", "task.py", "--model", "mockllm/model", "--log-dir", "logs"]


def run(argv, cwd):
    begun = time.perf_counter()
    process = subprocess.Popen(argv, cwd=cwd, env=dict(os.environ, **quiet), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{argv[0]}: {said.decode()[-2000:]}")
    return time.perf_counter() - begun, usage.ru_maxrss / 1024


print("| cases | tool | time | memory | times ctxc |\n|---|---|---|---|---|")
for count in counts:
    first = None
    for name, make in (("ctxc", ours), ("promptfoo", theirs), ("inspect_ai", inspect)):
        path = root / f"{name}-{count}"
        argv = make(path, count)
        rounds = 5 if count < 100 or name == "ctxc" else 1
        rows = [run(argv, path) for _ in range(rounds)]
        seconds, memory = statistics.median(row[0] for row in rows), max(row[1] for row in rows)
        first = first or seconds
        print(f"| {count:,} | {name} | {seconds * 1000:,.0f} ms | {memory:,.0f} MB | {seconds / first:,.1f} |", flush=True)
