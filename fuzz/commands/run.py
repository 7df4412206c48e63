#!/usr/bin/env python3
"""A fuzzer of whole commands: this repository's projects, damaged at random, through every verb of the built program.

A run fails on: an exit code that docs/CLI.md does not list, exit code 3 for a reason that is not in REASONS, any other exit than 0 without a
word, a panic, a signal, more than ten seconds of processor time, JSON that is none, a file written beside the project or by a command
that only reads, a temporary file left behind, and a `fmt` or `build` that would change something when it is run again.

What fails is kept as it was before the command, with `command.txt` beside the project; the seed and the number of the round make it
again: `--seed N --first ROUND --rounds 1`.
"""
import argparse
import json
import os
import random
import re
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
CPU_SECONDS, WALL_SECONDS, MEMORY = 10, 300, 4 << 30
CODES = {0, 1, 2, 3, 5}
# What exit code 3 may be for; every other reason is to be looked at.
REASONS = [
    re.compile(r"error: cannot write "),
    re.compile(r"newer"),
    # What nothing decides, as `eval` shows it.
    re.compile(r'INCONCLUSIVE|"verdict": "(error|inconclusive)"|\bERROR\b'),
]
BUG = re.compile(r"ctxc has a bug|panicked at|RUST_BACKTRACE")

FORMATS = "full concise json jsonl sarif github gitlab junit checkstyle rdjson".split()
SETTINGS = "inherit_context accumulate_data accumulation_format fresh_context".split()
TARGETS = "openai-chat openai-responses anthropic gemini ollama".split()
SPECIAL = [
    b"", b"\0", b"\xff", b"\xef\xbb\xbf", b"\r\n", b"\t", b"<", b">", b"&", b'"', b"'", b"]]>", b"<![CDATA[", b"<!--", b"-->", b"<?x ?>", b"<!DOCTYPE x [", b"&#0;", b"&x;",
    b"</task>", b"<task/>", b"<history/>", b"{{", b"}}", b"{{x}}", b"\\{{", b"{% if x %}", b"{% endif %}", b"{%", b"{#", b"{% for a in range(9999) %}", b"{% include 'x' %}", b"|tojson",
    b"0", b"-1", b"1e999", b"NaN", b"1.5", b"99999999999999999999", b"true", b"null", b"~", b"[]", b"{}", b"[" * 300, b"(" * 300, b"<a>" * 300, b"a: " * 50, b": ", b"- ", b"#", b"!file x",
    b"&a ", b"*a", b"<<: ", b"|\n", b">-\n", b"---\n", b"../", b"../../outside/secret.txt", b"/dev/null", b"**/*", b"(a+)+$", b"\\", b"$.a[*]", b"..", b"1999-12-31", b"\n[", b"]\n", b"= ", b'"""',
    "ünïcode 😀 \u202e".encode(), b"\x1b[31m", b"::error::x",
]
TEMPORARY = re.compile(r"\.ctxc-\w+\.tmp$")


def read_tree(folder, at=""):
    return {at + path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def projects():
    """The projects of this repository, as files by path."""
    one = {name: (REPOSITORY / name).read_bytes() for name in ("ctxc.toml", "README.md", "docs/STYLE.md", "docs/PROJECT.md")}
    shipped = one | read_tree(REPOSITORY / "templates", "templates/") | read_tree(REPOSITORY / "scenarios", "scenarios/")
    yield "shipped", shipped
    # Every command looks at less here, so that more of them are run.
    small = [path for path in shipped if path.startswith("templates/imported") or re.search(r"templates/(triage|review|roles)|scenarios/(triage|contract|planner|files)", path)]
    yield "small", one | {path: shipped[path] for path in small}
    prompts = {path: text for path, text in read_tree(REPOSITORY / "tests/import", "prompts/").items() if not path.endswith(".py")}
    yield "prompts", {"ctxc.toml": b'edition = "2026"\n'} | prompts
    for example in ("agent_loop", "build_step"):
        yield example, read_tree(REPOSITORY / "examples" / example)
    yield "registries", {"ctxc.toml": b'edition = "2026"\n'} | read_tree(REPOSITORY / "tests/compat") | read_tree(REPOSITORY / "fuzz/corpus/registry")
    scenario = read_tree(REPOSITORY / "fuzz/corpus/scenario", "scenarios/")
    yield "scenarios", {"ctxc.toml": (REPOSITORY / "fuzz/corpus/project/full.toml").read_bytes()} | scenario | {path: text for path, text in shipped.items() if path.startswith("templates/")}
    for page in sorted((REPOSITORY / "tests/cases").glob("*.md")):
        files, block = {"ctxc.toml": b'edition = "2026"\n'}, None
        for part in re.split(r"^## ", page.read_text(), flags=re.M)[1:]:
            for number, (language, text) in enumerate(re.findall(r"^```(\w+)\n(.*?)^```", part, flags=re.M | re.S)):
                name = part.split("\n")[0].strip().lower().replace(" ", "-")[:20]
                first, *beside = text.split("# file: ")
                if language == "xml":
                    files[f"templates/{name}-{number}.xml"] = text.encode()
                    continue
                if first.strip() and language == "toml":
                    files["ctxc.toml"] = first.encode()
                for rest in beside:
                    path, _, content = rest.partition("\n")
                    files[path.strip()] = content.encode()
        if len(files) > 1:
            yield f"cases/{page.stem}", {path: text for path, text in files.items() if not path.startswith(("/", ".."))}


class Round:
    """One damaged project and the commands that are run in it, one after the other."""

    def __init__(self, seeds, words, seed, number):
        self.rng = random.Random(f"{seed}/{number}")
        many = [seed for seed in seeds if not seed[0].startswith("cases/")]
        self.base, files = self.rng.choice(many if self.rng.random() < 0.7 else seeds)
        self.words, self.original = words, files
        self.files = {os.fsencode(path): text for path, text in files.items()}
        self.links, self.pipes = {}, []
        text = b"\n".join(files.values()).decode("utf-8", "replace")
        self.tasks = sorted(set(re.findall(r'name="([\w-]+)"', text))) or ["x"]
        self.roles = sorted(set(re.findall(r"^\[roles\.([\w-]+)\]", text, flags=re.M))) or ["x"]
        for _ in range(self.rng.choice([1, 1, 2, 3, 5, 8])):
            if self.files:
                self.damage()

    def damage(self):
        rng = self.rng
        path = rng.choice(sorted(self.files))
        if rng.random() < 0.25 and b"ctxc.toml" in self.files:
            path = b"ctxc.toml"
        if rng.random() < 0.1:
            self.damage_tree(path)
            return
        text = self.files[path]
        for _ in range(rng.choice([1, 1, 2, 4, 12])):
            text = self.damaged(text)
        self.files[path] = text[:400_000]

    def damage_tree(self, path):
        """Files that are gone, elsewhere, links, folders, pipes, or of no name that one can read."""
        rng, other = self.rng, self.rng.choice(sorted(self.files))
        text, ending = self.files[path], os.path.splitext(path)[1]
        kind = rng.randrange(8)
        if kind == 0:
            del self.files[path]
        elif kind == 1:
            self.files[os.path.dirname(other) + b"/" * bool(os.path.dirname(other)) + rng.choice([b"n\xff", b"a b", b"-x", b"\n::error::", b"CON", "ü".encode()]) + ending] = text
        elif kind == 2:
            self.files[path] = self.files[other]
        elif kind == 3:
            del self.files[path]
            self.links[path] = rng.choice([b"../outside/secret.txt", b"nowhere", os.path.basename(path), os.path.basename(other), b"/dev/zero", b"."])
        elif kind == 4:
            del self.files[path]
            self.files[path + b"/" + os.path.basename(other)] = text
        elif kind == 5:
            del self.files[path]
            self.pipes.append(path)
        elif kind == 6 and b"/" in path:
            folder = path.split(b"/")[0]
            self.files = {name: text for name, text in self.files.items() if not name.startswith(folder + b"/")}
            self.links[folder] = rng.choice([b"../outside", b".", b"..", b"nowhere"])
        else:
            self.files[path] = text * rng.randrange(2, 60)

    def damaged(self, text):
        rng = self.rng
        at = rng.randrange(len(text) + 1)
        to = min(len(text), at + rng.choice([1, 1, 3, 10, 60, 400]))
        kind = rng.randrange(12)
        if kind == 0:
            return text[:at] + text[to:]
        if kind == 1:
            return text[:at] + text[at:to] * rng.choice([2, 2, 3, 50]) + text[to:]
        if kind in (2, 3):
            return text[:at] + rng.choice(SPECIAL) + text[rng.choice([at, at, to]):]
        if kind in (4, 5):
            found = list(re.finditer(rb"[\w-]+", text)) or [re.match(b"", text)]
            word = rng.choice(found)
            return text[:word.start()] + rng.choice(self.words) + text[word.end():]
        if kind == 6:
            found = list(re.finditer(rb'"[^"\n]*"|>[^<\n]*<|: [^\n]+|= [^\n]+', text)) or [re.match(b"", text)]
            value = rng.choice(found)
            inner = rng.choice([*SPECIAL, rng.choice(self.words)])
            return text[:value.start() + 1] + inner + text[max(value.end() - 1, value.start() + 1):] if value.end() else inner
        lines = text.split(b"\n")
        line = rng.randrange(len(lines))
        if kind == 7:
            del lines[line]
        elif kind == 8:
            lines.insert(rng.randrange(len(lines) + 1), lines[line])
        elif kind == 9:
            other = rng.choice(sorted(self.original))
            lines.insert(line, rng.choice(self.original[other].split(b"\n")))
        elif kind == 10:
            lines[line] = b" " * rng.randrange(6) + lines[line].lstrip(b" ")
        else:
            return text[:at] + bytes([rng.randrange(256)]) + text[at + 1:]
        return b"\n".join(lines)

    def write(self, folder):
        """Writes the project; whatever finds no place beside the others is left out."""
        for path, content in [*self.files.items(), *((path, None) for path in self.pipes), *self.links.items()]:
            target = os.path.join(os.fsencode(folder), path)
            try:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                if path in self.links:
                    os.symlink(content, target)
                elif content is None:
                    os.mkfifo(target)
                else:
                    with open(target, "wb") as file:
                        file.write(content)
            except OSError:
                continue
        if self.rng.random() < 0.15:
            for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "a", "--allow-empty"]):
                subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a", *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def path(self):
        """A path that can be waited for: whoever names a pipe as an operand is to be answered when somebody writes to it."""
        paths = {*self.files, *self.links, b".", b"templates", b"nothing"} - set(self.pipes)
        return os.fsdecode(self.rng.choice(sorted(paths)))

    def agent(self):
        rng = self.rng
        words = rng.choice([[self.task()], [rng.choice(self.roles)], ["--role", rng.choice(self.roles)]])
        for _ in range(rng.choice([0, 0, 1, 4])):
            value = rng.choice(["x", "", "[1]", "{}", "true", "1e9", "@README.md", "@../outside/secret.txt", "@nothing", "ü{{x}}</x>"])
            words += [rng.choice(["--input", "--result"]), f"{self.task()}={value}"]
        return words + rng.choice([[], ["--node", "steps/0"], ["--objective", "a {{x}}"], ["--budget", str(rng.choice([0, 1, 200, 10**18]))], ["--history", self.path()]])

    def task(self):
        return self.rng.choice(self.tasks)

    def commands(self):
        rng = self.rng
        form, target, setting = rng.choice(FORMATS), rng.choice(TARGETS), rng.choice(SETTINGS)
        rule = rng.choice(["duplicate-name", "CTX101", "syntax", self.task()])
        scope = rng.choice([[], [], [], [self.path()]])
        table = [
            ["check", "--format", form, *scope], ["check", "-v", *scope], ["check", "--diff", "--unsafe-fixes", *scope], ["check", "--select", rule], ["check", "--report", f"{form}=o.txt"],
            ["check", "--fix", *scope], ["check", "--fix", "--unsafe-fixes"], ["check", "--suppress-existing"], ["fmt", *scope], ["fmt", "--check"], ["fmt", "--diff", *scope],
            ["build"], ["build", "--check"], ["build", "-o", "o.json", "--format", "json"], ["list"], ["list", rng.choice(["tasks", "roles", "scenarios", "agents"]), "--json"],
            ["show", self.task()], ["show", "--json", self.task()], ["explain", f"{self.task()}.{setting}"], ["explain", rule, "--json"], ["defaults"], ["defaults", "--json"],
            ["render", *self.agent()], ["render", "--explain", *self.agent()], ["render", "--as", target, *self.agent()], ["render", "--profile", rng.choice(["xml", "plain", "sections"]), *self.agent()],
            ["manifest"], ["manifest", "--json"], ["manifest", "--format", rng.choice(["markdown", "html"])], ["manifest", *self.agent()], ["manifest", "-o", "m.json", "--json"], ["manifest", "-o", "m.json", "--check"],
            ["manifest", "diff", rng.choice(["HEAD", "m.json", self.path()]), "."], ["diff", self.path(), "registry.json"], ["diff", "registry.json", self.path(), "--json"],
            ["search", "roll back", self.task()], ["search", "--json", self.task(), "--limit", "3"], ["search", rng.choice(["", '"', "a AND (", "*", "NEAR"])],
            ["eval"], ["eval", "--json"], ["eval", "-v", "--full"], ["eval", "--mutate"], ["eval", "--mutate", "--json"], ["eval", "--accept"], ["eval", "--since", rng.choice(["HEAD", "o.json"])],
            ["eval", "--out", "o.json", "--junit", "j.xml"], ["eval", self.path()], ["new", "scenario", *self.agent()], ["new", "scenario", self.task(), "--name", "made", "--snapshot"],
            ["import", *([self.path()] if self.base != "prompts" else ["prompts"])], ["import", "--dry-run", "."], ["import", "--json", "--force", self.path(), "-o", "made"],
            ["import", "--from", rng.choice(["jinja", "dotprompt", "prompty", "langchain", "markdown"]), self.path()], ["import", ".", "--verify", rng.choice(["prompts/filters.jsonl", self.path()])],
            ["init"], ["init", "--ci", "github", rng.choice([".", "made"])], ["rules", "--json"], ["schema", rng.choice(["rng", "rnc", "xsd", "scenario", "config"])], ["schema", "json", "registry"],
        ]
        return rng.sample(table, 8)


def state(folder):
    """What lies under a folder: kind, content and target of everything, but for git's own."""
    found = {}
    for at, folders, names in os.walk(os.fsencode(folder)):
        folders[:] = [name for name in folders if name != b".git"]
        for name in [*folders, *names]:
            path = os.path.join(at, name)
            about = os.lstat(path)
            kind = stat.S_IFMT(about.st_mode)
            content = os.readlink(path) if stat.S_ISLNK(kind) else b""
            if stat.S_ISREG(kind):
                with open(path, "rb") as file:
                    content = file.read()
            found[os.path.relpath(path, os.fsencode(folder))] = (kind, content)
    return found


def writes(argv):
    """Whether a command is there to write something into the project."""
    verb, rest = argv[0], argv[1:]
    changing = {"check": {"--fix", "--suppress-existing", "--report"}, "eval": {"--accept", "--out"}, "manifest": {"-o"}}
    if verb in changing:
        return bool(changing[verb] & set(rest)) and not ("--check" in rest)
    return verb in ("fmt", "build", "new", "import", "init") and not {"--check", "--diff", "--dry-run"} & set(rest)


class Runner:
    def __init__(self, program, place):
        self.program, self.place = program, place
        self.project, self.outside = place / "project", place / "outside"

    def begin(self, round_):
        for folder in (self.project, self.outside):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        (self.outside / "secret.txt").write_text("name: secret {{x}}\n<task/>\n")
        round_.write(self.project)

    def run(self, argv):
        home = self.place / "home"
        home.mkdir(exist_ok=True)
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "TMPDIR": str(self.place), "LANG": "C.UTF-8", "TERM": "dumb", "GIT_CONFIG_GLOBAL": "/dev/null"}

        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

        command = [self.program, *argv, "--threads", "2"]
        with open(self.place / "stdout", "w+b") as out, open(self.place / "stderr", "w+b") as err:
            try:
                code = subprocess.run(command, cwd=self.project, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=limit, timeout=WALL_SECONDS).returncode
            except subprocess.TimeoutExpired:
                code = "time limit"
            return code, *((self.place / name).read_bytes().decode("utf-8", "replace") for name in ("stdout", "stderr"))

    def failures(self, argv, before, beside):
        """Runs a command, and says all that is wrong with what it did."""
        code, out, err = self.run(argv)
        if code not in CODES:
            yield f"exit code {code}"
        if code == 3 and not any(reason.search(out + err) for reason in REASONS):
            yield "exit code 3 for no reason that is known"
        if code not in (0, "time limit") and not (out + err).strip():
            yield f"exit code {code} without a word"
        if BUG.search(out + err):
            yield "a bug that ctxc reports itself"
        if code in CODES and out.strip() and "-o" not in argv and ("--json" in argv or argv[-2:] == ["--format", "json"]):
            if not is_json(out):
                yield "standard output is no JSON"
        after = state(self.project)
        if state(self.outside) != beside:
            yield "wrote outside of the project"
        if not writes(argv) and after != before:
            changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
            yield f"a command that reads changed {changed[:3]}"
        if any(TEMPORARY.search(os.fsdecode(path)) for path in after if path not in before):
            yield "a temporary file was left behind"
        for path, (_, content) in after.items():
            if before.get(path, (0, b""))[1] != content and path in (b"registry.json", b"o.json", b"m.json") and not is_json(content):
                yield f"{os.fsdecode(path)} is half written"
        if code == 0 and writes(argv) and argv[0] in ("fmt", "build"):
            again, out, err = self.run([*argv, "--check"])
            if again != 0:
                yield f"`--check` right afterwards gives {again}"


def is_json(text):
    try:
        json.loads(text)
        return True
    except ValueError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(REPOSITORY / "target/debug/ctxc"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the round to begin with")
    parser.add_argument("--rounds", type=int, help="how many rounds; else as many as the time allows")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--keep", default=str(REPOSITORY / "fuzz/artifacts/commands"), help="where what fails is kept")
    arguments = parser.parse_args()
    seeds = sorted(projects())
    words = sorted({word for _, files in seeds for text in files.values() for word in re.findall(rb"[\w-]{2,30}", text)})
    until = time.monotonic() + arguments.seconds
    number, runs, failed, codes = arguments.first, 0, 0, {}
    with tempfile.TemporaryDirectory(prefix="ctxc-fuzz-") as place:
        # A program of its own: the built one may be built again meanwhile, and shows pages that lie near it.
        program = shutil.copy2(arguments.program, Path(place) / "ctxc")
        runner = Runner(program, Path(place))
        while (arguments.rounds is None or number < arguments.first + arguments.rounds) and time.monotonic() < until:
            round_ = Round(seeds, words, arguments.seed, number)
            runner.begin(round_)
            before, kept = None, Path(place) / "before"
            for argv in round_.commands():
                before, beside = state(runner.project), state(runner.outside)
                shutil.rmtree(kept, ignore_errors=True)
                subprocess.run(["cp", "-a", runner.project, kept], check=True)
                runs += 1
                wrong = list(runner.failures(argv, before, beside))
                if not wrong:
                    continue
                failed += 1
                target = Path(arguments.keep) / f"{arguments.seed}-{number}-{argv[0]}"
                shutil.rmtree(target, ignore_errors=True)
                target.mkdir(parents=True)
                subprocess.run(["cp", "-a", kept, target / "project"], check=True)
                said = "".join((Path(place) / name).read_bytes().decode("utf-8", "replace")[:20_000] for name in ("stdout", "stderr"))
                (target / "command.txt").write_text(f"ctxc {' '.join(map(repr, argv))}\n{'; '.join(wrong)}\n\n{said}", errors="replace")
                print(f"round {number} ({round_.base}): ctxc {' '.join(argv)}: {'; '.join(wrong)}\n  kept in {target}", flush=True)
            number += 1
            if number % 100 == 0:
                print(f"{number} rounds, {runs} commands, {failed} failures", file=sys.stderr, flush=True)
    print(f"seed {arguments.seed}, rounds {arguments.first} to {number}, {runs} commands, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
