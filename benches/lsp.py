"""The language server over its pipes, as an editor drives it: `benches/compare.sh --only lsp`. Standard library only.

A time counts from before the message is written to after the last byte of the answer is read, so the client's own JSON is in
no time and its pipes are in all. The floor beside each is a request that the server refuses at once: what pipes and threads cost."""
import json
import os
import random
import select
import shutil
import statistics
import subprocess
import time

from gen_corpus import Writer
from measure import Command

CTXC, EMPTY = (os.path.abspath(f"target/{path}") for path in ("dist/ctxc", "floors/release/empty"))
PUSH, PULL = {}, {"textDocument": {"diagnostic": {}}}


def uri(path):
    return "file://" + path


class Server:
    """A server process in a folder, with a client that never blocks on a full pipe."""

    def __init__(self, folder, capabilities=PUSH):
        started = time.perf_counter_ns()
        self.process = subprocess.Popen([CTXC, "lsp"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, close_fds=False)
        self.input, self.output = self.process.stdin.fileno(), self.process.stdout.fileno()
        os.set_blocking(self.input, False)
        self.buffer, self.waiting, self.next, self.version = b"", [], 0, 1
        self.ask("initialize", {"processId": os.getpid(), "rootUri": uri(folder), "capabilities": capabilities})
        self.started = (time.perf_counter_ns() - started) / 1e6
        self.tell("initialized", {})

    def frames(self):
        """Takes whole messages out of what was read, with the time at which they were whole."""
        while (at := self.buffer.find(b"\r\n\r\n")) >= 0:
            end = at + 4 + int(self.buffer[:at].split(b":")[1])
            if len(self.buffer) < end:
                return
            self.waiting.append((time.perf_counter_ns(), self.buffer[at + 4:end]))
            self.buffer = self.buffer[end:]

    def take(self):
        data = os.read(self.output, 1 << 20)
        if not data:
            raise SystemExit("the language server has ended")
        self.buffer += data
        self.frames()

    def write(self, *messages):
        left = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in messages)
        while left:
            readable, writable, _ = select.select([self.output], [self.input], [])
            if readable:
                self.take()
            if writable:
                left = left[os.write(self.input, left):]

    def message(self, method, params, **more):
        return json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}, ensure_ascii=False).encode()

    def tell(self, method, params):
        self.write(self.message(method, params))

    def wait(self, wanted):
        """The next message that is wanted, and when it came; others are passed over."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            while self.waiting:
                came, body = self.waiting.pop(0)
                message = json.loads(body)
                if wanted(message):
                    return came, message
            if select.select([self.output], [], [], 60)[0]:
                self.take()
        raise SystemExit("the language server does not answer")

    def request(self, method, params):
        self.next += 1
        return self.next, self.message(method, params, id=self.next)

    def answer(self, number):
        came, message = self.wait(lambda message: message.get("id") == number and "method" not in message)
        return came, message.get("result")

    def ask(self, method, params):
        number, body = self.request(method, params)
        self.write(body)
        return self.answer(number)[1]

    def timed(self, method, params, first=()):
        """Milliseconds of a request, or of an edit and the request behind it, and its answer."""
        number, body = self.request(method, params)
        started = time.perf_counter_ns()
        self.write(*first, body)
        came, result = self.answer(number)
        return (came - started) / 1e6, result

    def open(self, path, text):
        self.version = 1
        return self.message("textDocument/didOpen", {"textDocument": {"uri": uri(path), "languageId": "xml", "version": 1, "text": text}})

    def change(self, path, changes):
        self.version += 1
        return self.message("textDocument/didChange", {"textDocument": {"uri": uri(path), "version": self.version}, "contentChanges": [changes]})

    def pushed(self, path, version):
        """When the diagnostics of a state of a document came, and how many were pushed for it until then."""
        count = 0

        def wanted(message):
            nonlocal count
            own = message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri(path)
            count += own
            return own and message["params"].get("version") == version
        return self.wait(wanted)[0], count

    def resident(self):
        """Megabytes of memory, once it has come to rest."""
        time.sleep(0.2)
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))

    def end(self):
        self.ask("shutdown", None)
        self.tell("exit", None)
        if self.process.wait(10) != 0:
            raise SystemExit("the language server ended with a fault")


class Author:
    """Edits of one document: a line of prose, a slip in a tag, a wrong value; each is taken back by the next edit. A fault in the
    last lines moves or gets company each time, so no edit leaves the findings as they were."""

    def __init__(self, text, seed):
        self.lines, self.random, self.back = text.split("\n"), random.Random(seed), None

    def pick(self, needle):
        at = self.random.randrange(len(self.lines))
        return next(number % len(self.lines) for number in range(at, at + len(self.lines)) if needle in self.lines[number % len(self.lines)])

    def edit(self):
        if self.back:
            edit, self.back = self.back, None
            return edit
        kind = self.random.randrange(3)
        if kind == 0:
            line = self.pick("<instructions>") + 1
            self.back = change(line, 0, line + 1, 0, "")
            return change(line, 0, line, 0, "each record — before the summary\n")
        needle, wrong = (("</description>", "</descripton>"), ('type="atomic"', 'type="atomc"'))[kind - 1]
        line = self.pick(needle)
        at = self.lines[line].index(needle)
        self.back = change(line, at, line, at + len(wrong), needle)
        return change(line, at, line, at + len(needle), wrong)


def change(line, column, end_line, end_column, text):
    return {"range": {"start": {"line": line, "character": column}, "end": {"line": end_line, "character": end_column}}, "text": text}


def long_file(lines, seed=7):
    """One sequential task of about so many lines with a fault in its last step."""
    writer, steps, count = Writer(seed), [], 9
    while count < lines:
        step = writer.atomic("    ", writer.r.randrange(40, 80), False)
        steps.append(step)
        count += step.count("\n")
    fault = '    <task type="atomic">\n      <description>d</description>\n      <nonsense/>\n    </task>\n'
    return f'<task type="sequential" name="long">\n  <description>one long task</description>\n  <steps>\n{"".join(steps)}{fault}  </steps>\n</task>\n'


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


class Measured:
    """Rows for the report: a target in milliseconds or megabytes each."""

    def __init__(self, report, home, options):
        self.report, self.home, self.rounds = report, f"{home}/lsp", 60 if options.quick else 1_000
        shutil.rmtree(self.home, ignore_errors=True)

    def row(self, work, target, unit, reached, against="–"):
        self.report.promise(work, f"{target[0]} {target[1]} {unit}".strip(), f"{reached:.2f} {unit}".strip() if unit else f"{reached}", against, reached / target[1], 1)

    def folder(self, name, files):
        folder = f"{self.home}/{name}"
        for path, text in {"ctxc.toml": "", **files}.items():
            os.makedirs(os.path.dirname(f"{folder}/{path}"), exist_ok=True)
            with open(f"{folder}/{path}", "w", encoding="utf-8") as file:
                file.write(text)
        return folder


def round_trip(server):
    return statistics.median(server.timed("ctxc/nothing", {})[0] for _ in range(200))


def checked(path):
    command = Command([CTXC, "check", "--threads", "1", os.path.basename(path)], cwd=os.path.dirname(path), expect=(0, 1))
    for number in range(12):
        command.run(keep=number > 2)
    return command.median


def edits(measured, lines, others, targets, opened=False):
    """From an edit to its diagnostics, pushed and pulled."""
    text, files = long_file(lines), {f"{number:03}.xml": Writer(number).document()[2] for number in range(others)}
    folder = measured.folder(f"edits-{lines}-{others}", {"long.xml": text, **files})
    path, where = f"{folder}/long.xml", f"{lines:,} lines" + (f" among {others} {'open ' * opened}templates" if others else "")
    floor = checked(path) if not others else checked(f"{folder}/.")
    for way, capabilities in (("pushed", PUSH), ("pulled", PULL)):
        server, author, times = Server(folder, capabilities), Author(text, 1), []
        server.write(*[server.open(f"{folder}/{name}", text) for name, text in files.items() if opened], server.open(path, text))
        for number in range(measured.rounds + 20):
            body = server.change(path, author.edit())
            if way == "pushed":
                started = time.perf_counter_ns()
                server.write(body)
                elapsed = (server.pushed(path, server.version)[0] - started) / 1e6
            else:
                elapsed, _ = server.timed("textDocument/diagnostic", {"textDocument": {"uri": uri(path)}}, [body])
            if number >= 20:
                times.append(elapsed)
        against = f"{round_trip(server):.2f} ms a round trip, {floor:.1f} ms `ctxc check`"
        for share, target in targets:
            measured.row(f"edit → diagnostics {way}, {where}, p{share * 100:.0f}", ("≤", target), "ms", percentile(times, share), against)
        server.end()


def burst(measured):
    text = long_file(2_000)
    folder = measured.folder("burst", {"long.xml": text})
    path, server, author, times, counts = f"{folder}/long.xml", Server(folder), Author(text, 2), [], []
    server.write(server.open(path, text))
    server.pushed(path, 1)
    for _ in range(max(10, measured.rounds // 20)):
        # The last two stay, so that the last diagnostics are others than the ones before the burst.
        line = author.pick("<instructions>") + 1
        last = change(line, 0, line, 0, "one more line\n")
        bodies = [server.change(path, edit) for edit in [author.edit() for _ in range(98)] + [last, last]]
        author.lines[line:line] = ["one more line"] * 2
        for body in bodies:
            server.write(body)
        started = time.perf_counter_ns()
        came, count = server.pushed(path, server.version)
        times.append((came - started) / 1e6)
        counts.append(count)
    server.end()
    measured.row("burst of 100 edits, 2,000 lines, last edit → last diagnostics, p99", ("≤", 25), "ms", percentile(times, 0.99))
    measured.row("burst of 100 edits, 2,000 lines, diagnostics pushed at most", ("≤", 10), "", max(counts))


def requests(measured):
    text = long_file(2_000)
    folder = measured.folder("requests", {"long.xml": text})
    path, server, author = f"{folder}/long.xml", Server(folder), Author(text, 3)
    server.write(server.open(path, text))
    floor, dice = round_trip(server), random.Random(4)
    for name, method in (("completion", "textDocument/completion"), ("hover", "textDocument/hover"), ("code action", "textDocument/codeAction")):
        times, answered = [], 0
        for number in range(measured.rounds):
            line = dice.randrange(len(author.lines))
            at = {"line": line, "character": dice.randrange(len(author.lines[line]) + 1)}
            params = {"textDocument": {"uri": uri(path)}, "position": at}
            if name == "code action":
                params = {"textDocument": {"uri": uri(path)}, "range": {"start": at, "end": at}, "context": {"diagnostics": []}}
            elapsed, result = server.timed(method, params, [server.change(path, author.edit())])
            answered += bool(result)
            if number >= 20:
                times.append(elapsed)
        if not answered:
            raise SystemExit(f"no {name} was answered with anything")
        measured.row(f"{name} behind an edit, 2,000 lines, p99", ("≤", 10), "ms", percentile(times, 0.99), f"{floor:.2f} ms a round trip, p50 {percentile(times, 0.5):.2f} ms")
    server.end()


def hovers(measured):
    """Hovers over a file that nobody edits: what is read once for it is not in the times."""
    for lines in (2_000, 20_000):
        text = long_file(lines)
        folder = measured.folder(f"hovers-{lines}", {"long.xml": text})
        path, server, dice, rows, times, answered = f"{folder}/long.xml", Server(folder), random.Random(9), text.split("\n"), [], 0
        server.write(server.open(path, text))
        server.pushed(path, 1)
        for number in range(measured.rounds + 20):
            line = dice.randrange(len(rows))
            at = {"line": line, "character": dice.randrange(len(rows[line]) + 1)}
            elapsed, result = server.timed("textDocument/hover", {"textDocument": {"uri": uri(path)}, "position": at})
            answered += bool(result)
            if number >= 20:
                times.append(elapsed)
        if not answered:
            raise SystemExit("no hover was answered with anything")
        measured.row(f"hover, {lines:,} lines without an edit, p50", ("≤", 1), "ms", percentile(times, 0.5), f"{round_trip(server):.2f} ms a round trip, p99 {percentile(times, 0.99):.2f} ms")
        server.end()


def keystrokes(measured):
    """A letter in a text of one of many templates, and the hover behind it."""
    for count in (200, 2_000):
        files = {f"templates/{number:04}.xml": Writer(number).document()[2].replace('name="', f'name="t{number}-', 1) for number in range(count)}
        own = '<task type="atomic" name="own">\n  <description>Sort it.</description>\n</task>\n'
        files["templates/own.xml"] = own
        for number in range(100):
            files[f"scenarios/{number:03}.yaml"] = f"name: s{number}\ntask: own\ncontext: {{objective: x}}\nexpect_context:\n  - tokens: {{max: 900}}\n"
        folder = measured.folder(f"keystrokes-{count}", files)
        path, server, times = f"{folder}/templates/own.xml", Server(folder), []
        server.write(server.open(path, own))
        server.pushed(path, 1)
        column = own.split("\n")[1].index("Sort")
        hover = {"textDocument": {"uri": uri(path)}, "position": {"line": 1, "character": 5}}
        for number in range(measured.rounds + 20):
            letter = change(1, column, 1, column, "a") if number % 2 == 0 else change(1, column, 1, column + 1, "")
            elapsed, _ = server.timed("textDocument/hover", hover, [server.change(path, letter)])
            if number >= 20:
                times.append(elapsed)
        measured.row(f"letter and hover behind it, among {count:,} templates and 100 scenarios, p50", ("≤", 8), "ms", percentile(times, 0.5), f"{round_trip(server):.2f} ms a round trip, p99 {percentile(times, 0.99):.2f} ms")
        server.end()


def hints(measured):
    writer = Writer(5)
    steps = "".join(writer.atomic("    ", 20, False, share=0) for _ in range(199))
    text = f'<task type="sequential" name="many">\n  <description>d</description>\n  <steps>\n{steps}  </steps>\n</task>\n'
    # A hint shows a setting that the project file sets.
    project = '[defaults.atomic]\ninherit_context = "none"\n\n[defaults.sequential]\naccumulation_format = "full_output"\n'
    folder = measured.folder("hints", {"many.xml": text, "ctxc.toml": project})
    path, server, times = f"{folder}/many.xml", Server(folder), []
    server.write(server.open(path, text))
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": text.count("\n"), "character": 0}}
    for _ in range(measured.rounds):
        elapsed, result = server.timed("textDocument/inlayHint", {"textDocument": {"uri": uri(path)}, "range": whole})
        times.append(elapsed)
        if len(result) < 100:
            raise SystemExit(f"{len(result)} hints, fewer than 100")
    floor = round_trip(server)
    server.end()
    measured.row(f"{len(result)} inlay hints, {text.count(chr(10)):,} lines, p99", ("≤", 10), "ms", percentile(times[10:], 0.99), f"{floor:.2f} ms a round trip")


def rename(measured):
    writer = Writer(6)
    users = {f"templates/{number:03}.xml": f'<task type="sequential" name="user-{number}">\n  <description>{writer.words(9)}</description>\n  <steps>\n    <task ref="shared"/>\n{writer.atomic("    ", 40, False)}  </steps>\n</task>\n'
             for number in range(199)}
    shared = '<task type="atomic" name="shared">\n  <description>d</description>\n  <instructions>do it</instructions>\n</task>\n'
    folder = measured.folder("rename", {"templates/shared.xml": shared, **users})
    path, server, times = f"{folder}/templates/shared.xml", Server(folder), []
    server.write(server.open(path, shared))
    params = {"textDocument": {"uri": uri(path)}, "position": {"line": 0, "character": shared.index("shared") + 2}, "newName": "common"}
    for number in range(max(20, measured.rounds // 10)):
        elapsed, result = server.timed("textDocument/rename", params)
        if len(result["changes"]) != 200:
            raise SystemExit(f"{len(result['changes'])} files renamed, not 200")
        if number:
            times.append(elapsed)
    server.end()
    measured.row("rename of a task over 200 files, of which one is open, p99", ("≤", 80), "ms", percentile(times, 0.99), f"p50 {percentile(times, 0.5):.2f} ms")


def start(measured):
    folder = measured.folder("start", {"a.xml": '<task type="atomic" name="a">\n  <description>d</description>\n</task>\n'})
    empty, version, times = Command([EMPTY]), Command([CTXC, "--version"]), []
    for _ in range(max(20, measured.rounds // 10)):
        server = Server(folder)
        times.append(server.started)
        server.end()
        empty.run(keep=True)
        version.run(keep=True)
    measured.row("spawn → initialize, p50", ("≤", 10), "ms", percentile(times, 0.5), f"{empty.median:.2f} ms an empty Rust program, {version.median:.2f} ms `ctxc --version`")
    server = Server(folder)
    measured.row("memory: idle", ("≤", 12), "MB", server.resident())
    server.end()


def everything(measured):
    """All templates of a project opened at once, as an editor does that restores its windows."""
    files = {f"templates/{number:03}.xml": text for number, text in enumerate(Writer(number).document()[2] for number in range(200))}
    folder, times, memory = measured.folder("everything", files), [], 0
    for _ in range(max(7, measured.rounds // 50)):
        server = Server(folder)
        bodies = [server.open(f"{folder}/{path}", text) for path, text in files.items()]
        started, left = time.perf_counter_ns(), {uri(f"{folder}/{path}") for path in files}
        server.write(*bodies)

        def wanted(message):
            if message.get("method") == "textDocument/publishDiagnostics":
                left.discard(message["params"]["uri"])
            return not left
        times.append((server.wait(wanted)[0] - started) / 1e6)
        memory = max(memory, server.resident())
        server.end()
    measured.row("200 templates, open → all diagnostics, worst", ("≤", 200), "ms", max(times), f"{checked(folder + '/.'):.1f} ms `ctxc check`")
    measured.row("memory: 200 templates", ("≤", 40), "MB", memory)


def memory(measured):
    for lines in (20_000, 2_000):
        text = long_file(lines)
        folder = measured.folder(f"memory-{lines}", {"long.xml": text})
        path, server, author = f"{folder}/long.xml", Server(folder), Author(text, 8)
        server.write(server.open(path, text))
        server.pushed(path, 1)

        def work(count):
            for _ in range(count):
                server.write(server.change(path, author.edit()))
                server.pushed(path, server.version)
        work(20)
        before = server.resident()
        if lines == 20_000:
            measured.row(f"memory: one file of 20,000 lines, {len(text.encode()) / 1e6:.1f} MB", ("≤", 40), "MB", before)
        else:
            work(measured.rounds * 10)
            measured.row(f"memory: growth over {measured.rounds * 10:,} edits, 2,000 lines", ("≤", 2), "MB", server.resident() - before, f"{before:.1f} MB before")
        server.end()


def measure(report, home, options):
    measured = Measured(report, home, options)
    edits(measured, 2_000, 0, ((0.5, 3), (0.99, 10)))
    edits(measured, 2_000, 200, ((0.5, 3), (0.99, 10)))
    edits(measured, 2_000, 200, ((0.5, 3), (0.99, 10)), opened=True)
    edits(measured, 20_000, 0, ((0.99, 40),))
    for part in (burst, requests, hovers, keystrokes, hints, rename, start, everything, memory):
        part(measured)
