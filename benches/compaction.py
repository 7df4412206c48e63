#!/usr/bin/env python3
"""`ctxc compaction` of long sessions of Claude Code.

    benches/compaction.py [--program target/dist/ctxc] [--rounds 5]

Makes sessions of 3 MB, of 36,611 messages and of 200 MB, each with a compaction every 400 messages, the same on every machine, in a
folder that goes away. Prints the least and the median of wall time, and the most memory that the process had, beside what is promised.
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
# Messages, bytes of a result, and what is promised: milliseconds and megabytes.
CASES = [("3 MB", 1_000, 5_800, 100, None), ("36,611 messages", 36_611, 2_000, 5_000, 300), ("200 MB", 20_000, 21_500, None, None)]
FOLDER = "/srv/shop"


def rows(count, size):
    rng = random.Random(1)
    text = lambda size: " ".join(rng.choice(WORDS) for _ in range(size // 6))
    message = lambda at, role, content: {"parentUuid": f"u{at - 1}", "uuid": f"u{at}", "type": role, "isSidechain": False, "cwd": FOLDER, "sessionId": "s",
        "timestamp": "2026-11-28T10:00:00Z", "message": {"role": role, "id": f"m{at}", "content": content}}
    at, end = 0, 0
    while at < count:
        if at >= end:
            end += 400
            if at:
                yield {"type": "system", "subtype": "compact_boundary", "parentUuid": None, "logicalParentUuid": f"u{at - 1}", "uuid": f"b{at}", "sessionId": "s", "compactMetadata": {"trigger": "auto", "preTokens": 150_000}}
                yield message(at, "user", text(12_000)) | {"isCompactSummary": True, "parentUuid": f"b{at}", "uuid": f"s{at}"}
            yield message(at, "user", f"Never touch the part{at} of the shop. {text(600)}") | ({"parentUuid": f"s{at}"} if at else {})
            at += 1
        path = f"{FOLDER}/src/{rng.choice(WORDS)}/file{at % 900}.rs"
        name, given = rng.choice([("Read", {"file_path": path}), ("Edit", {"file_path": path, "old_string": text(300), "new_string": text(300)}), ("Bash", {"command": f"npm run {rng.choice(WORDS)}{at % 50}"})])
        yield message(at, "assistant", [{"type": "tool_use", "id": f"c{at}", "name": name, "input": given}])
        is_error = rng.random() < 0.1
        result = f"TypeError: no {rng.choice(WORDS)} of file{at}\n{text(size)}" if is_error else text(size)
        yield message(at + 1, "user", [{"type": "tool_result", "tool_use_id": f"c{at}", "content": result, "is_error": is_error}])
        at += 2


def measured(argv, folder):
    start = time.perf_counter()
    process = subprocess.Popen(argv, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{argv} ended with {process.returncode}")
    return seconds * 1_000, used.ru_maxrss // 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/dist/ctxc")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    program = str(Path(options.program).resolve())
    print("| session | size | least | median | memory | promised |\n|---|--:|--:|--:|--:|--:|")
    is_kept = True
    with tempfile.TemporaryDirectory() as folder:
        for name, count, size, limit, memory_limit in CASES:
            path = Path(folder) / "s.jsonl"
            with path.open("w", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows(count, size))
            runs = [measured([program, "compaction", str(path), "--json"], folder) for _ in range(options.rounds)]
            least, memory = min(time for time, _ in runs), max(memory for _, memory in runs)
            promise = ", ".join(([f"{limit:,} ms"] if limit else []) + ([f"{memory_limit} MB"] if memory_limit else [])) or "–"
            is_kept &= (limit is None or least < limit) and (memory_limit is None or memory < memory_limit)
            median = statistics.median(time for time, _ in runs)
            print(f"| {name} | {path.stat().st_size / 1e6:.1f} MB | {least:,.0f} ms | {median:,.0f} ms | {memory} MB | {promise} |", flush=True)
    sys.exit(0 if is_kept else 1)


if __name__ == "__main__":
    main()
