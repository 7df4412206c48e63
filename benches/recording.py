#!/usr/bin/env python3
"""`ctxc check` of a long recording and of one large request, beside a reader of the same bytes and Python's own reader of JSON.

    benches/recording.py [--program target/release/ctxc] [--calls 10000] [--rounds 3]

Makes 10,000 calls of about 41 KB in conversations of 20 (412 MB) and one request of 2 MB, the same on every machine, in a folder that
goes away. Prints the least and the median of wall time, and the most memory that the process had.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORDS = "order refund ticket customer ship the a of to and with for on is was will please check status update invoice payment error".split()
READ = "import sys\nwith open(sys.argv[1], 'rb') as file:\n    while file.read(1 << 20): pass\n"
PARSE = "import json, sys\nfor line in open(sys.argv[1], encoding='utf-8'): json.loads(line)\n"


def text(rng, size):
    return " ".join(rng.choice(WORDS) for _ in range(size // 6))


def calls(count):
    rng = random.Random(1)
    system = text(rng, 9000)
    fields = lambda: {f"p{at}": {"type": "string", "description": text(rng, 60)} for at in range(5)}
    tools = [{"type": "function", "function": {"name": f"tool_{at}", "description": text(rng, 300), "parameters": {"type": "object", "properties": fields()}}} for at in range(12)]
    messages = []
    for number in range(count):
        if number % 20 == 0:
            messages = [{"role": "system", "content": system}, {"role": "user", "content": text(rng, 1500)}]
        yield number, {"model": "gpt-4.1", "messages": messages, "tools": tools}
        call = {"id": f"call_{number}", "type": "function", "function": {"name": f"tool_{number % 12}", "arguments": json.dumps({"p0": text(rng, 60)})}}
        messages += [{"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "tool_call_id": f"call_{number}", "content": text(rng, 1900)}]


def line(number, body):
    usage = {"input": None, "cached": None, "output": None, "reasoning": None}
    return json.dumps({"schema": "ctxc/request/1", "id": str(number), "at": None, "agent": None, "conversation": None, "run": None, "command": None,
        "trial": None, "answered_by": "upstream", "dialect": "openai-chat", "endpoint": "/chat/completions", "model": body["model"], "stream": False,
        "request": body, "response": {"choices": []}, "status": 200, "usage": usage, "latency_ms": 1, "key": "b3:0", "headers": {}, "chunks": None,
        "error": None, "truncated": False, "redacted": []}, separators=(",", ":")) + "\n"


def measured(argv, folder):
    start = time.perf_counter()
    process = subprocess.Popen(argv, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{argv} ended with {process.returncode}")
    return seconds, used.ru_maxrss // 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/ctxc")
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    program = str(Path(arguments.program).resolve())
    with tempfile.TemporaryDirectory(prefix="ctxc-bench-") as folder:
        with open(Path(folder) / "calls.jsonl", "w", encoding="utf-8") as file:
            file.writelines(line(number, body) for number, body in calls(arguments.calls))
        _, body = next(calls(1))
        body["messages"][1]["content"] = "word " * 400_000
        (Path(folder) / "one.json").write_text(json.dumps({**body, "model": "a-model"}))
        work = {
            "read the recording": [sys.executable, "-c", READ, "calls.jsonl"],
            "Python's json of the recording": [sys.executable, "-c", PARSE, "calls.jsonl"],
            "ctxc check of the recording": [program, "check", "-q", "calls.jsonl"],
            "ctxc check of one request of 2 MB": [program, "check", "-q", "one.json"],
        }
        results = {name: [] for name in work}
        for _ in range(arguments.rounds):
            for name, argv in work.items():
                results[name].append(measured(argv, folder))
        for name, found in results.items():
            times = [seconds for seconds, _ in found]
            print(f"{name}: {min(times):.3f} s least, {statistics.median(times):.3f} s median, {max(size for _, size in found)} MB at most")


if __name__ == "__main__":
    main()
