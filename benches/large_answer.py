#!/usr/bin/env python3
"""The time and the most memory that `ctxc eval` takes for one answer of a model that is nearly as large as is accepted (50 MB).

    benches/large_answer.py [--program target/release/ctxc] [--size 45]

The answer is prose, then JSON of small objects, from a server of its own: asked and kept in the history (`--answers live`), asked
and recorded (`--record`), and answered from that recording. Patterns are looked for in it, and its tokens are counted.
"""
import argparse
import json
import os
import subprocess
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PROSE = "the order was shipped to Oslo yesterday and it will arrive on Friday, number %d. "
OBJECT = '{"id": %d, "place": "Oslo", "items": [1, 2, 3], "state": "shipped"}, '
PROJECT = """edition = "2026"
[roles.writer]
template = "write"
model = "m"
[models.m]
provider = "house"
tier = "economy"
context_window = 100_000_000
output_reserve = 1000
[providers.house]
kind = "openai"
base_url = "http://127.0.0.1:%d"
"""
TEMPLATE = '<task type="atomic" name="write">\n  <description>Write a long text.</description>\n</task>\n'
SCENARIO = """name: one
role: writer
context: {objective: write}
runs: 1
expectations:
  - contains: [shipped, '(?i)oslo']
  - absent: ['never \\w+ there']
  - max_tokens: 100000000
"""


def body(line, size):
    """A response whose bytes are about so many, escapes included."""
    count = size // (len(json.dumps(line % 100_000)) - 2)
    text = "".join(line % number for number in range(count))
    text = f"[{text}0]" if line == OBJECT else text
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 10, "completion_tokens": count * 20, "total_tokens": count * 20 + 10}
    return json.dumps({"model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": usage}).encode()


class Upstream(BaseHTTPRequestHandler):
    answer = b""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(self.answer)))
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, *_):
        pass


def run(program, folder, *args):
    environment = {**os.environ, **{f"XDG_{name}_HOME": f"{folder}/{name}" for name in ("STATE", "CACHE", "DATA")}}
    begun = time.monotonic()
    with subprocess.Popen([program, *args], cwd=f"{folder}/project", env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
        said = child.stdout.read().decode()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, said
    return time.monotonic() - begun, used.ru_maxrss / 1000


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--program", default="target/release/ctxc")
    arguments.add_argument("--size", type=int, default=45, help="megabytes of the response")
    asked = arguments.parse_args()
    program = str(Path(asked.program).resolve())
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name, line in (("prose", PROSE), ("JSON", OBJECT)):
        Upstream.answer = body(line, asked.size * 1_000_000)
        with tempfile.TemporaryDirectory(prefix="ctxc-bench-") as folder:
            project = Path(folder, "project")
            files = {"ctxc.toml": PROJECT % server.server_port, "templates/write.xml": TEMPLATE, "scenarios/one.yaml": SCENARIO}
            for path, text in files.items():
                (project / path).parent.mkdir(parents=True, exist_ok=True)
                (project / path).write_text(text)
            for state in ("STATE", "CACHE", "DATA"):
                Path(folder, state).mkdir()
            run(program, folder, "trust", "--yes")
            for options in (["--answers", "live"], ["--record"], []):
                took, peak = run(program, folder, "eval", *options)
                print(f"{name}, {len(Upstream.answer) / 1e6:.1f} MB, `{' '.join(['eval', *options])}`: {took:.1f} s, {peak:.0f} MB")


if __name__ == "__main__":
    main()
