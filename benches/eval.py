#!/usr/bin/env python3
"""eval.py CTXC [OTHER]: what `ctxc eval` with answers takes: its start, 10,000 scenarios kept in a history, their page, 1,000 calls. Medians of
processes. With an OTHER program: both in turns on the 10,000 scenarios, the least processor time of seven runs of each, and their ratio."""
import asyncio
import multiprocessing
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


def run(path, args, program=ctxc):
    begun = time.perf_counter()
    process = subprocess.Popen([program, *args], cwd=path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, args
    return (time.perf_counter() - begun) * 1000, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def measure(name, path, args, rounds):
    rows = [run(path, args) for _ in range(rounds)]
    print(f"{name}: {statistics.median(row[0] for row in rows):.1f} ms, {max(row[1] for row in rows):.0f} MB", flush=True)


one, many = project(1), project(10_000)
if len(sys.argv) > 2:
    for args in (["eval", "--no-history"], ["eval", "--out", "card.json"]):
        pairs = [[run(many, args, program) for program in (ctxc, os.path.abspath(sys.argv[2]))] for _ in range(7)]
        (own, memory), (other, theirs) = ((min(row[2] for row in rows), max(row[1] for row in rows)) for rows in zip(*pairs))
        print(f"ctxc {' '.join(args)}: {own:.2f} s and {memory:.0f} MB, the other {other:.2f} s and {theirs:.0f} MB: {own / other:.2f}")
    sys.exit()
measure("1 scenario", one, ["eval"], 15)
measure("10,000 scenarios, kept", many, ["eval", "--out", "card.json"], 5)
measure("10,000 scenarios, not kept", many, ["eval", "--no-history"], 3)
measure("10,000 scenarios, not kept, as a page", many, ["eval", "--no-history", "--report", "html=page.html"], 3)
print(f"the page: {(many / 'page.html').stat().st_size / 1e6:.1f} MB")

# Calls of a model that takes 200 ms, 64 at a time: an upstream of our own on loopback.
REPLY = b'{"choices":[{"message":{"role":"assistant","content":"billing"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":2}}'
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(REPLY), REPLY)


async def converse(reader, writer):
    while head := await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b"":
        length = next((int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
        await reader.readexactly(length)
        await asyncio.sleep(0.2)
        writer.write(ANSWER)
        await writer.drain()


async def polite(reader, writer):
    try:
        await converse(reader, writer)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


def serve(port):
    async def main():
        server = await asyncio.start_server(polite, "127.0.0.1", 0)
        port.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()
    asyncio.run(main())


ports = multiprocessing.Queue()
upstream = multiprocessing.Process(target=serve, args=(ports,), daemon=True)
upstream.start()
asking = project(1_000)
config = (asking / "ctxc.toml").read_text()
(asking / "ctxc.toml").write_text(config + f"""[models.m]
provider = "here"
tier = "economy"
context_window = 8000
[providers.here]
kind = "openai"
base_url = "http://127.0.0.1:{ports.get()}/v1"
""" + "".join(f'[roles.r{number}]\ntemplate = "t{number}"\nmodel = "m"\n' for number in range(50)))
for path in (asking / "scenarios").iterdir():
    path.write_text(path.read_text().replace("task: t", "role: r"))
run(asking, ["trust", "--yes"])
for args in (["--answers", "live"], ["--record"]):
    measure(f"1,000 calls of 200 ms, 64 at a time, {' '.join(args)}", asking, ["eval", "--jobs", "64", *args], 3)
upstream.terminate()
