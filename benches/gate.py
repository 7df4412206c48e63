#!/usr/bin/env python3
"""gate.py PROGRAM [ROUNDS]: what `gate` takes beside `eval` of the same 300 scenarios (30 tasks, a stored request each, one task changed).
The programs run in turn; medians of processor and wall time, and of the ratio pair by pair."""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

TASKS, CASES = 30, 10
program, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 15
root = pathlib.Path(tempfile.mkdtemp(prefix="ctxc-gate"))
project = root / "project"
# An identity for the commits, and no settings of the user.
env = {"PATH": os.environ["PATH"], "HOME": str(root), "XDG_STATE_HOME": str(root / "state"), "XDG_CACHE_HOME": str(root / "cache"), "GIT_CONFIG_GLOBAL": os.devnull,
       **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "bench"), ("EMAIL", "bench@example.com"))}}


def call(*argv, accepted=(0,)):
    ended = subprocess.run(argv, cwd=project, env=env, capture_output=True, text=True)
    assert ended.returncode in accepted, f"{argv} ends with {ended.returncode}: {ended.stdout}{ended.stderr}"
    return ended


def write_template(number, sentence):
    parameter = '<parameter name="ticket" type="string" required="true"/>'
    text = f"<task type=\"atomic\" name=\"t{number}\">\n  <description>Sort ticket {{{{ticket}}}} into one of the {number} queues.\n{sentence}</description>\n  <parameters>{parameter}</parameters>\n</task>\n"
    (project / f"templates/t{number}.xml").write_text(text)


def measure(argv):
    """Wall and processor time in seconds."""
    began = time.perf_counter()
    process = subprocess.Popen(argv, cwd=project, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 1, 4), argv
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime


for folder in ("templates",):
    (project / folder).mkdir(parents=True)
(project / "ctxc.toml").write_text('edition = "2026"\n')
for task in range(TASKS):
    write_template(task, "Answer with the name of the queue alone.\nA ticket without a number goes to the clerk.\n")
    for case in range(CASES):
        call(program, "new", "scenario", f"t{task}", "--input", f"ticket=number {case}", "--no-index", "--name", f"t{task}-{case}")
call("git", "init", "-q", "-b", "main")
call("git", "add", "-A")
call("git", "commit", "-q", "-m", "base")
write_template(0, "Answer with the name of the queue alone.\nA ticket without a number goes to the office.\n")
call("git", "commit", "-q", "-a", "-m", "change")
# As a clone has it.
call("git", "repack", "-a", "-d", "-q")

commands = {"eval": [program, "eval", "--no-history"], "gate": [program, "gate", "--base", "HEAD~1"]}
print(call(*commands["gate"], accepted=(4,)).stdout.splitlines()[0])
rows = {name: [] for name in commands}
for _ in range(rounds + 1):
    for name, argv in commands.items():
        rows[name].append(measure(argv))
for at, figure in enumerate(("wall", "processor")):
    medians = {name: statistics.median(row[at] for row in measured[1:]) for name, measured in rows.items()}
    ratio = statistics.median(gate[at] / alone[at] for gate, alone in zip(rows["gate"][1:], rows["eval"][1:]))
    print(f"{figure}: eval {medians['eval'] * 1000:.0f} ms, gate {medians['gate'] * 1000:.0f} ms, {ratio:.2f} times")
