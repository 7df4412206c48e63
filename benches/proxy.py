#!/usr/bin/env python3
"""What `ctxc proxy` adds to calls: 1,000 calls at 64 at once, and the first byte of a stream, beside the same calls without it.

    benches/proxy.py [--program target/release/ctxc] [--calls 1000] [--jobs 64] [--rounds 3]

A scripted upstream on loopback answers each call after 200 ms with the number that the call has in its message, every second one as a
stream. Each round makes the calls directly and through the proxy by turns. Prints the medians over all rounds of what the proxy adds at the
50th and the 99th of 100, the most memory that it had, and how many calls were lost or got the answer to another one, in what the client
received and in the recording.
"""
import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WAIT = 0.2
FIRST = 0.02


async def upstream(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
            body = json.loads(await reader.readexactly(length))
            number = body["messages"][0]["content"].split()[0]
            if body.get("stream"):
                await asyncio.sleep(body.get("wait", WAIT))
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
                for delta, reason in [(number, None), ("", "stop")]:
                    event = "data: " + json.dumps({"model": "m", "choices": [{"index": 0, "delta": {"content": delta}, "finish_reason": reason}]}) + "\n\n"
                    writer.write(b"%x\r\n%s\r\n" % (len(event), event.encode()))
                    await writer.drain()
                    await asyncio.sleep(0.005)
                writer.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
            else:
                await asyncio.sleep(WAIT)
                answer = json.dumps({"model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "content": number}, "finish_reason": "stop"}]}).encode()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(answer), answer))
            await writer.drain()
    except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
        pass
    finally:
        writer.close()


async def call(address, path, number, stream, wait=WAIT):
    """The text of an answer, seconds to its first byte, and seconds to its end."""
    body = json.dumps({"model": "m", "stream": stream, "wait": wait, "messages": [{"role": "user", "content": f"{number} " + "word " * 400}]}).encode()
    reader, writer = await asyncio.open_connection(*address, limit=1 << 20)
    writer.write(b"POST %s HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % (path.encode(), len(body)))
    writer.write(body)
    start = time.perf_counter()
    await reader.readuntil(b"\r\n\r\n")
    first = await reader.read(1)
    to_first = time.perf_counter() - start
    if stream:
        text = first + await reader.readuntil(b"[DONE]")
    else:
        text = first + await reader.readuntil(b'"stop"}]}')
    took = time.perf_counter() - start
    writer.close()
    return text, to_first, took


def said(text, stream):
    at = text.find(b'"content": "')
    return text[at + 12 : text.find(b'"', at + 12)].decode()


async def many(address, path, count, jobs):
    gate, took, wrong = asyncio.Semaphore(jobs), [], 0

    async def one(number):
        nonlocal wrong
        async with gate:
            text, _, seconds = await call(address, path, number, number % 2 == 1)
            took.append(seconds)
            wrong += said(text, number % 2 == 1) != str(number)

    await asyncio.gather(*(one(number) for number in range(count)))
    return sorted(took), wrong


async def firsts(address, path, count):
    return [(await call(address, path, number, True, FIRST))[1] for number in range(count)]


def at(values, share):
    return values[min(len(values) - 1, int(len(values) * share))]


def kept(folder):
    """Calls in the recording, and those whose answer is not that of their request."""
    file = next(path for path in Path(folder).rglob("*.jsonl"))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    numbers = set()
    wrong = 0
    for line in lines:
        number = line["request"]["messages"][0]["content"].split()[0]
        numbers.add((number, line["stream"]))
        text = line["response"] if isinstance(line["response"], str) else json.dumps(line["response"])
        wrong += said(text.encode(), True) != number
    return len(lines), wrong


async def run(arguments):
    server = await asyncio.start_server(upstream, "127.0.0.1", 0, limit=1 << 20)
    direct = server.sockets[0].getsockname()[:2]
    added = {50: [], 99: []}
    first, memory, lost, mixed = [], 0, 0, 0
    for _ in range(arguments.rounds):
        with tempfile.TemporaryDirectory(prefix="ctxc-bench-") as folder:
            environment = {**os.environ, "XDG_DATA_HOME": folder, "XDG_STATE_HOME": folder}
            proxy = subprocess.Popen(
                [str(Path(arguments.program).resolve()), "proxy", "--upstream", f"http://127.0.0.1:{direct[1]}"],
                cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )
            for line in proxy.stdout:
                if line.startswith("export OPENAI_BASE_URL="):
                    url = line.split("'")[1]
                if line.startswith("export no_proxy="):
                    break
            host, path = url.removeprefix("http://").split("/", 1)
            through = ("127.0.0.1", int(host.split(":")[1])), f"/{path}/chat/completions"
            plain = direct, "/chat/completions"
            before, _ = await many(*plain, arguments.calls, arguments.jobs)
            behind, wrong = await many(*through, arguments.calls, arguments.jobs)
            for share in added:
                added[share].append(1000 * (at(behind, share / 100) - at(before, share / 100)))
            early, late = await firsts(*plain, 100), await firsts(*through, 100)
            first.append(1000 * (statistics.median(late) - statistics.median(early)))
            status = Path(f"/proc/{proxy.pid}/status").read_text()
            memory = max(memory, int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) // 1024)
            proxy.send_signal(signal.SIGINT)
            proxy.wait()
            lines, crossed = kept(folder)
            lost += arguments.calls + 100 - lines + arguments.calls - len(behind)
            mixed += wrong + crossed
    for share, values in added.items():
        print(f"added to a call, p{share}: {statistics.median(values):.2f} ms")
    print(f"added to the first byte of a stream: {statistics.median(first):.2f} ms")
    print(f"peak memory: {memory} MB; lost: {lost}; mixed up: {mixed}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/ctxc")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    if not Path(arguments.program).exists():
        sys.exit(f"{arguments.program} is not there: build it first")
    asyncio.run(run(arguments))


if __name__ == "__main__":
    main()
