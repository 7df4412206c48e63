"""What contexts cost: assembly in memory, cold processes of `render` and `manifest`, many tasks, many scenarios.

Called by compare.py. Standard library only."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from measure import Command, interleave

SHIPPED = ("ctxc.toml", "templates", "prompts", "scenarios", "docs", "src", "README.md", "CHANGELOG.md")


def shipped(home):
    """This repository's own project, without what earlier runs kept."""
    folder = f"{home}/shipped"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name in SHIPPED:
        if os.path.isdir(name):
            shutil.copytree(name, f"{folder}/{name}")
        elif os.path.exists(name):
            shutil.copy(name, folder)
    return folder


def scenarios(home):
    folder = f"{home}/scenarios"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "benches/gen_scenarios.py", folder], check=True)
    return folder


def conversation(home):
    """A task with `<history>`, and 2,000 messages of two kilobytes."""
    talk = Path(home) / "talk"
    (talk / "templates").mkdir(parents=True, exist_ok=True)
    (talk / "ctxc.toml").write_text('edition = "2026"\n')
    task = '<task name="reply" type="atomic">\n  <description>Answer.</description>\n  <history/>\n</task>\n'
    (talk / "templates" / "reply.xml").write_text(task)
    said = "The runbook says what to look at first, who is told, and when the service is started again. " * 22
    lines = [json.dumps({"role": ("user", "assistant")[at % 2], "content": f"{at}\n{said}"}) for at in range(2000)]
    (talk / "chat.jsonl").write_text("\n".join(lines) + "\n")
    return talk


def assembly(rounds):
    argv = ["cargo", "bench", "--quiet", "--locked", "--profile", "dist", "--bench", "assembly", "--", str(rounds * 5)]
    result = subprocess.run(argv, capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(result.stderr)
    return json.loads(result.stdout.strip().splitlines()[-1])


def measure(report, ctxc, empty, home, tasks, count, options):
    """`tasks` is a folder of `count` templates without faults."""
    figures = assembly(options.rounds)
    copied = f"{figures['copy_ms']:.2f} ms to copy {figures['bytes'] / 1e6:.1f} MB once"
    for what, key in (("without counting", "assemble_ms"), ("in half of the room", "fit_ms")):
        report.promise(f"assembly of 1,000 segments, 2 MB, {what}", "≤ 5 ms", f"{figures[key]:.2f} ms", copied, figures[key] / 5, 1)
    speed = figures["bytes"] / figures["tokens_ms"] / 1e3
    report.promise("the same with every token counted", "≥ 26 MB/s, as tiktoken-rs counts", f"{figures['tokens_ms']:.1f} ms: {speed:.0f} MB/s", "26 MB/s", 26 / speed, 1)

    for what, key, most in (("by an estimate", "talk_ms", 80), ("with exact counts", "talk_tokens_ms", 350)):
        report.promise(f"a conversation of 2,000 messages, 4 MB, {what}, in memory", f"≤ {most} ms", f"{figures[key]:.1f} ms", copied, figures[key] / most, 1)

    here, many = shipped(home), scenarios(home)
    known = ["triage-ticket", "--input", "subject=Login", "--input", "ticket=I cannot log in since we moved."]
    talk = conversation(home)
    commands = {
        "an empty Rust program": Command([empty]),
        "ctxc check, shipped project": Command([ctxc, "check", "-q"], cwd=here),
        "ctxc render, one task, cold": Command([ctxc, "render", *known], cwd=here),
        "ctxc manifest, shipped project, cold": Command([ctxc, "manifest", "--json"], cwd=here),
        "ctxc render, a conversation of 4 MB, cold": Command([ctxc, "render", "reply", "--history", "chat.jsonl", "--raw"], cwd=talk),
        "the same with exact counts": Command(
            [ctxc, "render", "reply", "--history", "chat.jsonl", "--raw", "--tokenizer", "o200k", "--budget", "400000"], cwd=talk
        ),
    }
    report.group("context of the shipped project", interleave(commands, options.rounds))
    bare, checked, render, cold, said, counted = (command.median for command in commands.values())
    floor = f"{bare:.1f} ms an empty Rust program, {checked:.1f} ms `ctxc check`"
    report.promise("`render` of one task, cold", "≤ 20 ms", f"{render:.1f} ms", floor, render / 20, 1)
    report.promise("`render` of a conversation of 2,000 messages, 4 MB, cold", "≤ 80 ms", f"{said:.1f} ms", floor, said / 80, 1)
    report.promise("the same with exact counts", "≤ 350 ms", f"{counted:.1f} ms", floor, counted / 350, 1)
    report.promise("`manifest` of the shipped project, cold, token table loaded", "≤ 150 ms", f"{cold:.1f} ms", floor, cold / 150, 1)

    commands = {
        f"ctxc check, {count:,} tasks": Command([ctxc, "check", "-q"], cwd=tasks),
        f"ctxc manifest, {count:,} tasks, cold": Command([ctxc, "manifest", "--json"], cwd=tasks),
    }
    report.group("manifest of many tasks", interleave(commands, options.rounds))
    checked, cold = (command.median for command in commands.values())
    report.promise(f"`manifest`, {count:,} tasks, cold", "≤ 2 s", f"{cold:.0f} ms", f"{checked:.0f} ms `ctxc check`", cold / 2000, 1)

    commands = {
        "ctxc check, 1,000 scenarios": Command([ctxc, "check", "-q"], cwd=many),
        "ctxc eval, 1,000 scenarios, cold": Command([ctxc, "eval", "-q"], cwd=many),
    }
    report.group("1,000 scenarios", interleave(commands, options.rounds))
    checked, cold = (command.median for command in commands.values())
    floor = f"{checked:.0f} ms `ctxc check`"
    report.promise("`eval`, 1,000 scenarios on the context, cold", "≤ 0.5 s", f"{cold:.0f} ms", floor, cold / 500, 1)
