#!/usr/bin/env python3
"""The most memory that `ctxc proxy` has for one large request: passed on to a provider and recorded, and answered by a script.

    benches/bodies.py [--program target/release/ctxc] [--size 99] [--spaced]

The request has images of 5 MB and messages of 4 kB half and half; `--spaced` writes it with white space between its values.
Prints the peak of the process (`VmHWM`) after the call, and how many bytes of it were recorded.
"""
import argparse
import base64
import http.client
import json
import os
import random
import signal
import subprocess
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

ANSWER = {"model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}]}
WORDS = "order refund ticket customer ship the of to and with for on is was will please check status update invoice payment error".split()


class Upstream(BaseHTTPRequestHandler):
    def do_POST(self):
        left = int(self.headers["content-length"])
        while left:
            left -= len(self.rfile.read(min(left, 1 << 20)))
        body = json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def request(size, spaced):
    rng = random.Random(1)
    image = "data:image/png;base64," + base64.b64encode(rng.randbytes(3_750_000)).decode()
    messages, images, texts = [], 0, 0
    while images + texts < size:
        if images <= texts:
            messages.append({"role": "user", "content": [{"type": "image_url", "image_url": {"url": image}}]})
            images += len(image)
        else:
            words = " ".join(rng.choice(WORDS) for _ in range(650))
            messages.append({"role": "user" if len(messages) % 2 else "assistant", "content": words + "\n"})
            texts += len(words)
    separators = None if spaced else (",", ":")
    return json.dumps({"model": "a-model", "messages": messages}, separators=separators).encode()


def peak(program, flags, body):
    with tempfile.TemporaryDirectory(prefix="ctxc-bench-") as folder:
        environment = {**os.environ, "XDG_DATA_HOME": folder, "XDG_STATE_HOME": folder}
        (Path(folder) / "script.yaml").write_text("answers: [{reply: Done.}]\n")
        argv = [str(Path(program).resolve()), "proxy", "--name", "large", *flags]
        proxy = subprocess.Popen(argv, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in proxy.stdout:
            if line.startswith("export OPENAI_BASE_URL="):
                url = line.split("'")[1]
            if line.startswith("export no_proxy="):
                break
        host, path = url.removeprefix("http://").split("/", 1)
        client = http.client.HTTPConnection(host, timeout=600)
        client.request("POST", f"/{path}/chat/completions", body, {"content-type": "application/json"})
        response = client.getresponse()
        answer = response.read().decode()
        status = Path(f"/proc/{proxy.pid}/status").read_text()
        memory = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) // 1024
        proxy.send_signal(signal.SIGINT)
        proxy.wait()
        kept = sum(file.stat().st_size for file in Path(folder).rglob("*.jsonl"))
        assert response.status == 200, answer[:500]
        return f"{memory} MB, {kept} bytes recorded"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/ctxc")
    parser.add_argument("--size", type=int, default=99, help="of the request, in MB")
    parser.add_argument("--spaced", action="store_true")
    arguments = parser.parse_args()
    body = request(arguments.size * 1_000_000, arguments.spaced)
    server = HTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"a request of {len(body)} bytes")
    print("recorded from a provider:", peak(arguments.program, ["--upstream", f"http://127.0.0.1:{server.server_port}"], body))
    print("answered by a script:", peak(arguments.program, ["--script", "script.yaml"], body))


if __name__ == "__main__":
    main()
