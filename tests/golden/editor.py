"""Drives `ctxc lsp` as an editor does and records what it answers: random histories of edits, and a log of every question at
many places of every file. A driver is called with the words behind `@` of its case."""
import json
import os
import random
import re
import select
import subprocess
import time
from pathlib import Path

from sandbox import Result

PULL = {"textDocument": {"diagnostic": {}}}
# What clients with everything can do. Files are watched by the client, so nothing depends on when the server looks by itself.
COMMON = {
    "textDocument": {
        "hover": {"contentFormat": ["markdown"]},
        "completion": {"completionItem": {"snippetSupport": True, "documentationFormat": ["markdown"], "insertReplaceSupport": True}},
        "codeAction": {"dataSupport": True, "resolveSupport": {"properties": ["edit"]}},
    },
    "workspace": {
        "workspaceEdit": {"documentChanges": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
        "codeLens": {"refreshSupport": True},
    },
}


class Ended(Exception):
    """The server has ended or does not answer."""


class Client:
    """A server process and what it said."""

    def __init__(self, slot, argv, encoding, pulls, patience=60):
        self.slot, self.encoding, self.patience = slot, encoding, patience
        self.process = subprocess.Popen(argv, cwd=slot.at, env=slot.environment({}), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, bufsize=0)
        os.set_blocking(self.process.stdin.fileno(), False)
        self.buffer, self.messages, self.next, self.said, self.pushed = b"", [], 0, [], {}
        self.texts, self.versions = {}, {}
        can = json.loads(json.dumps(COMMON))
        can["general"] = {"positionEncodings": [encoding]}
        if pulls:
            can["textDocument"].update(PULL["textDocument"])
        self.can = self.ask("initialize", {"processId": None, "rootUri": self.uri(""), "capabilities": can})
        self.tell("initialized", {})

    def uri(self, path):
        return f"file://{self.slot.at}/{path}"

    def receive(self):
        if not select.select([self.process.stdout], [], [], self.patience)[0]:
            raise Ended("no answer")
        data = os.read(self.process.stdout.fileno(), 1 << 20)
        if not data:
            raise Ended("the server has ended")
        self.buffer += data
        while (at := self.buffer.find(b"\r\n\r\n")) >= 0:
            end = at + 4 + int(re.search(rb"Content-Length: *(\d+)", self.buffer[:at]).group(1))
            if len(self.buffer) < end:
                break
            self.messages.append(json.loads(self.buffer[at + 4:end]))
            self.buffer = self.buffer[end:]

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        left = b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        while left:
            readable, writable, _ = select.select([self.process.stdout], [self.process.stdin], [], self.patience)
            if readable:
                self.receive()
            if writable:
                try:
                    left = left[os.write(self.process.stdin.fileno(), left):]
                except BrokenPipeError as error:
                    raise Ended("the server has ended") from error
            if not readable and not writable:
                raise Ended("the server takes nothing")

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def ask(self, method, params):
        """The result of a request, or its error."""
        self.next += 1
        self.send({"id": self.next, "method": method, "params": params})
        while True:
            while self.messages:
                message = self.messages.pop(0)
                if message.get("id") == self.next and "method" not in message:
                    return message["result"] if "result" in message else {"error": message.get("error")}
                self.hear(message)
            self.receive()

    def hear(self, message):
        """Takes what came unasked: the last findings of each document count, of the rest each thing that was said."""
        method = message.get("method")
        if method == "textDocument/publishDiagnostics":
            self.pushed[message["params"]["uri"]] = message["params"]
        elif method == "window/showMessage":
            self.said.append(message["params"])
        elif "id" in message and method:
            if method == "client/registerCapability":
                self.said.append(message["params"])
            self.send({"id": message["id"], "result": None})

    def settle(self):
        """Waits until what was pushed is there: the server pushes before it takes the second question."""
        for _ in range(2):
            self.ask("workspace/symbol", {"query": "\0nothing"})

    def counted(self, path):
        """Waits until tokens are counted: one thread counts and renders, one thing after the other."""
        self.settle()
        self.ask("workspace/executeCommand", {"command": "ctxc.render", "arguments": [{"uri": self.uri(path)}]})

    def open(self, path, text):
        self.texts[path], self.versions[path] = text, 1
        language = {"toml": "toml", "yaml": "yaml", "xml": "xml"}.get(path.rsplit(".", 1)[-1], "plaintext")
        self.tell("textDocument/didOpen", {"textDocument": {"uri": self.uri(path), "languageId": language, "version": 1, "text": text}})

    def change(self, path, start, end, insert):
        text = self.texts[path]
        span = {"start": self.position(text, start), "end": self.position(text, end)}
        self.versions[path] += 1
        self.texts[path] = text[:start] + insert + text[end:]
        self.tell("textDocument/didChange", {"textDocument": {"uri": self.uri(path), "version": self.versions[path]},
                                             "contentChanges": [{"range": span, "text": insert}]})

    def close(self, path):
        del self.texts[path]
        self.tell("textDocument/didClose", {"textDocument": {"uri": self.uri(path)}})

    def position(self, text, offset):
        lines = re.split(r"\r\n|\n|\r", text[:offset])
        return {"line": len(lines) - 1, "character": len(lines[-1].encode("utf-8" if self.encoding == "utf-8" else "utf-16-le")) // (1 if self.encoding == "utf-8" else 2)}

    def at(self, method, path, offset, **more):
        return self.ask(method, {"textDocument": {"uri": self.uri(path)}, "position": self.position(self.texts[path], offset), **more})

    def of(self, method, path, **more):
        return self.ask(method, {"textDocument": {"uri": self.uri(path)}, **more})

    def end(self):
        self.ask("shutdown", None)
        self.tell("exit", None)
        return self.process.wait(20)

    def kill(self):
        self.process.kill()
        self.process.communicate()


def canonical(value):
    """An answer without what names one state of one session."""
    if isinstance(value, dict):
        return {key: canonical(each) for key, each in value.items() if key != "resultId"}
    return [canonical(each) for each in value] if isinstance(value, list) else value


def everything(client):
    """What a client that asks for findings gets for the whole project, by document."""
    answer = client.ask("workspace/diagnostic", {"previousResultIds": []})
    items = answer.get("items") if isinstance(answer, dict) else None
    if items is None:
        return answer
    return {item["uri"]: item.get("items") for item in sorted(items, key=lambda item: item["uri"]) if item.get("items")}


PIECES = [
    '<task type="atomic" name="other"><description>d</description></task>', 'name="triage"', 'ref="triage-ticket"', '<task ref="review-code"/>',
    "</task>", "<", ">", "😀", "é", "\r\n", "\n", "\r", "", "", "{{topic}}", "{{", '"', "atomic", "sequential", "<!--", "-->", "&", "<![CDATA[",
    'inherit_context = "full"\n', "<inherit_context>full</inherit_context>", "<fresh_context>enabled</fresh_context>", "enabled", "none",
    "<description>", "</description>", "{% if x %}", "[roles.x]\n", "  - nothing_cut: true\n", 'trust="untrusted"', "<parameter name=\"p\"/>",
    "<context_management>\n", "</context_management>\n", 'syntax="jinja"', "<?ctxc allow no-context reason=\"x\"?>",
]
ASKED = ["textDocument/hover", "textDocument/completion", "textDocument/definition", "textDocument/references",
         "textDocument/documentHighlight", "textDocument/prepareRename", "textDocument/linkedEditingRange"]


def files_of(folder, endings=(".xml", ".toml", ".yaml", ".md", ".jinja", ".json", ".txt")):
    """Project files below a folder by their relative paths."""
    found = (path.relative_to(folder).as_posix() for path in sorted(Path(folder).rglob("*")) if path.is_file() and path.name.endswith(endings))
    return [path for path in found if not path.startswith((".git/", ".ctxc/"))]


def one_history(client, slot, rng, names, record):
    """Some twenty things that a user may do, with a question after most."""
    for number in range(rng.randrange(8, 24)):
        path = rng.choice(names)
        dice = rng.random()
        if path not in client.texts and dice < 0.75:
            disk = slot.at / path
            text = disk.read_bytes().decode("utf-8", "replace") if disk.exists() and rng.random() < 0.85 else rng.choice(PIECES)
            client.open(path, text)
            done = f"open {path}"
        elif path in client.texts and dice < 0.8:
            text = client.texts[path]
            start = rng.randrange(len(text) + 1)
            end = min(len(text), start + rng.choice([0, 0, 0, 1, 2, 5, 20, 60]))
            while 0 < start < len(text) and text[start - 1:start + 1] == "\r\n":
                start -= 1
            while end < len(text) and text[end - 1:end + 1] == "\r\n":
                end += 1
            client.change(path, start, max(start, end), "".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 3))))
            done = f"change {path}"
        elif path in client.texts and dice < 0.85:
            client.close(path)
            done = f"close {path}"
        else:
            done = on_disk(client, slot, rng, path)
        wants = rng.random()
        if wants < 0.35 and path in client.texts:
            method = rng.choice(ASKED)
            if method == "textDocument/hover":
                client.counted(path)
            more = {"context": {"includeDeclaration": True}} if method.endswith("references") else {}
            record(number, done, method, client.at(method, path, rng.randrange(len(client.texts[path]) + 1), **more))
        elif wants < 0.7 and path in client.texts and client.pulls:
            record(number, done, "textDocument/diagnostic", client.of("textDocument/diagnostic", path))
        elif wants < 0.8:
            client.settle()
            record(number, done, "", None)


def on_disk(client, slot, rng, path):
    """Another program writes, makes or deletes a file, and the client tells of it."""
    target, kind = slot.at / path, 2
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(rng.choice(PIECES))
        kind = 1
    elif rng.random() < 0.3:
        target.unlink()
        kind = 3
    elif path in client.texts and rng.random() < 0.5:
        target.write_bytes(client.texts[path].encode("utf-8"))
        client.tell("textDocument/didSave", {"textDocument": {"uri": client.uri(path)}})
    else:
        text = target.read_bytes().decode("utf-8", "replace")
        at = rng.randrange(len(text) + 1)
        target.write_bytes((text[:at] + rng.choice(PIECES) + text[at:]).encode("utf-8"))
    client.tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": client.uri(path), "type": kind}]})
    return f"{['', 'make', 'write', 'delete'][kind]} {path}"


def histories(slot, argv, timeout):
    """Histories, format 2: `@ FIRST COUNT`."""
    at = argv.index("@")
    argv, first, count = argv[:at], int(argv[at + 1]), int(argv[at + 2])
    lines, exits = [], set()
    for seed in range(first, first + count):
        rng = random.Random(seed)
        all_names = files_of(slot.at)
        names = rng.sample([name for name in all_names if name.endswith(".xml")], 3) + ["ctxc.toml", "templates/new.xml"]
        others = [name for name in all_names if not name.endswith(".xml") and name != "ctxc.toml"]
        names += rng.sample(others, min(2, len(others)))

        def record(number, done, method, answer, seed=seed):
            lines.append(json.dumps([f"history {seed}.{number}", done, method, canonical(answer)], ensure_ascii=False))
        client = None
        try:
            client = Client(slot, argv, rng.choice(["utf-8", "utf-16"]), seed % 2 == 0)
            client.pulls = seed % 2 == 0
            one_history(client, slot, rng, names, record)
            client.settle()
            if client.pulls:
                record(99, "end", "workspace/diagnostic", everything(client))
            for uri, params in sorted(client.pushed.items()):
                record(99, "end", "pushed", params)
            for path in sorted(client.texts):
                record(99, "end", "textDocument/formatting", client.of("textDocument/formatting", path, options={"tabSize": 2, "insertSpaces": True}))
            record(99, "end", "said", sorted(client.said, key=json.dumps))
            exits.add(str(client.end()))
        except Ended as error:
            record(99, "end", "died", str(error))
            exits.add("died")
        finally:
            if client:
                client.kill()
        slot.reset()
    return Result(",".join(sorted(exits)), slot.plain("\n".join(lines)), "", {})


def log_of(client, path, step, record):
    """Every question at every some-th place of a file."""
    text = client.texts[path]
    client.of("textDocument/codeLens", path)
    client.counted(path)
    whole = {"start": {"line": 0, "character": 0}, "end": client.position(text, len(text))}
    for method, more in [
        ("textDocument/documentSymbol", {}), ("textDocument/foldingRange", {}), ("textDocument/semanticTokens/full", {}),
        ("textDocument/documentLink", {}), ("textDocument/codeLens", {}), ("textDocument/inlayHint", {"range": whole}),
        ("textDocument/formatting", {"options": {"tabSize": 2, "insertSpaces": True}}), ("textDocument/diagnostic", {}),
        ("textDocument/codeAction", {"range": whole, "context": {"diagnostics": []}}),
    ]:
        answer = client.of(method, path, **more)
        record(path, method, answer)
        if method.endswith("codeAction") and isinstance(answer, list):
            for action in answer:
                record(path, "codeAction/resolve", client.ask("codeAction/resolve", action))
    # Behind the signs that something begins at, then evenly.
    marks = [match.end() for match in re.finditer(r'[<"{.]|</|\n *', text)]
    for place in sorted({*marks[::step], *range(0, len(text), 40 * step)}):
        for method in ("textDocument/hover", "textDocument/completion", "textDocument/definition", "textDocument/prepareRename",
                       "textDocument/linkedEditingRange"):
            record(f"{path}@{place}", method, client.at(method, path, place))
    for match in list(re.finditer(r'name="([\w-]+)"|\{\{ *(\w+)|ref="([\w-]+)"', text))[::max(1, step // 2)]:
        place = match.end() - 1 if match.group(2) is None else match.end()
        record(f"{path}@{place}", "textDocument/references", client.at("textDocument/references", path, place, context={"includeDeclaration": True}))
        record(f"{path}@{place}", "textDocument/documentHighlight", client.at("textDocument/documentHighlight", path, place))
        for name in ("renamed", "no name"):
            record(f"{path}@{place}", "textDocument/rename", client.at("textDocument/rename", path, place, newName=name))
    places = [client.position(text, place) for place in range(0, len(text), 200 * step)]
    record(path, "textDocument/selectionRange", client.of("textDocument/selectionRange", path, positions=places))
    for place in places:
        arguments = [{"uri": client.uri(path), "position": place}]
        record(f"{path}@{place}", "ctxc.render", client.ask("workspace/executeCommand", {"command": "ctxc.render", "arguments": arguments}))


def damaged(text, number):
    """The text with a slip: a misspelt word, a lost sign, a wrong value."""
    return [lambda: text.replace("<description>", "<descripton>", 1), lambda: text.replace('type="atomic"', 'type="atomc"', 1),
            lambda: text.replace("</", "<", 1), lambda: text.replace('"', "", 1), lambda: text.replace("{{", "{{ x.", 1),
            lambda: text.replace("enabled", "Enabled", 1).replace("none", "nnoe", 1)][number % 6]()


def log(slot, argv, timeout):
    """Log, format 2: `@ ENCODING STEP PART OF` over every so-many-th file of the input."""
    at = argv.index("@")
    argv, encoding, step, part, of = argv[:at], argv[at + 1], int(argv[at + 2]), int(argv[at + 3]), int(argv[at + 4])
    lines = []

    def record(place, method, answer):
        lines.append(json.dumps([place, method, canonical(answer)], ensure_ascii=False))
    code, client, started = "died", None, time.monotonic()
    try:
        client = Client(slot, argv, encoding, True)
        record("", "initialize", client.can)
        for number, path in enumerate(files_of(slot.at, (".xml", ".toml", ".yaml", ".jinja"))):
            if number % of != part:
                continue
            text = (slot.at / path).read_bytes().decode("utf-8", "replace")
            client.open(path, text)
            log_of(client, path, step, record)
            client.close(path)
            if path.endswith(".xml"):
                client.open(path, damaged(text, number))
                log_of(client, path, step * 4, record)
                client.close(path)
            if time.monotonic() - started > timeout:
                return Result("timeout", "", "", {})
        for query in ("", "tri", "a"):
            record("", "workspace/symbol", client.ask("workspace/symbol", {"query": query}))
        record("", "workspace/diagnostic", everything(client))
        record("", "said", sorted(client.said, key=json.dumps))
        code = str(client.end())
    except Ended as error:
        record("", "died", str(error))
    finally:
        if client:
            client.kill()
    return Result(code, slot.plain("\n".join(lines)), "", slot.written())


def edit(slot, argv, timeout):
    """Edit, format 1: `@ PATH OLD NEW` in the copy; no program runs."""
    path, old, new = argv[argv.index("@") + 1:]
    text = (slot.at / path).read_text()
    if old not in text:
        raise ValueError(f"{path} does not hold {old!r}")
    (slot.at / path).write_text(text.replace(old, new))
    return Result("0", "", "", {})


DRIVERS = {"histories": histories, "log": log, "edit": edit}
