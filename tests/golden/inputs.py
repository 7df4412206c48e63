"""Makes the folders that programs are run in, once for each base: this repository, generated corpora, prompts to import, examples of
rules, broken projects. All of them come from the base's files, so that both programs see the same whatever the tree becomes."""
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import hostile

CORPUS = 2_000
GIT = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z", "GIT_AUTHOR_NAME": "golden",
       "GIT_AUTHOR_EMAIL": "golden@example.com", "GIT_COMMITTER_NAME": "golden", "GIT_COMMITTER_EMAIL": "golden@example.com",
       "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "HOME": "/nonexistent", "PATH": os.environ["PATH"]}


def write(folder, files):
    """Writes files by their paths; a tuple is a link to its only item."""
    for path, content in files.items():
        target = Path(folder) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, tuple):
            target.symlink_to(content[0])
        else:
            target.write_bytes(content if isinstance(content, bytes) else content.encode())


def commit(folder, message):
    for arguments in (["add", "-A", "-f"], ["commit", "-q", "--allow-empty", "-m", message]):
        subprocess.run(["git", *arguments], cwd=folder, env=GIT, check=True)


class Inputs:
    """The inputs of a base below one folder, each made when it is first asked for."""

    def __init__(self, base, home):
        self.base = Path(base)
        made_by = b"".join(Path(__file__).with_name(name).read_bytes() for name in ("inputs.py", "hostile.py"))
        self.home = Path(home) / f"inputs-{hashlib.sha256(made_by).hexdigest()[:12]}"
        self.home.mkdir(parents=True, exist_ok=True)
        self.digests = {}

    def names(self):
        fixed = ["repo", "agents", "import", "examples", "recovery", "scenarios", "compat", "editor", "example-loop", "example-build"]
        return [*fixed, *(f"corpus-{seed}" for seed in (1, 2, 3)), *(f"clean-{seed}" for seed in (1, 2, 3)),
                *(f"hostile/{name}" for name in hostile.projects(self.base))]

    def folder(self, name):
        """The folder of an input."""
        folder = self.home / name
        mark = self.home / "made" / name.replace("/", "%")
        if not mark.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            self.make(name, folder)
            mark.parent.mkdir(exist_ok=True)
            mark.write_text(digest(folder))
        self.digests[name] = mark.read_text()
        return folder

    def make(self, name, folder):
        kind, _, rest = name.partition("/" if "/" in name else "-")
        if kind == "hostile":
            write(folder, hostile.projects(self.base)[rest]())
        elif kind == "corpus":
            self.corpus(folder, rest)
        elif kind == "clean":
            self.clean(folder, rest)
        elif kind == "example":
            shutil.copytree(self.base / "examples" / {"loop": "agent_loop", "build": "build_step"}[rest], folder, dirs_exist_ok=True, symlinks=True)
        else:
            getattr(self, kind)(folder)

    def repo(self, folder):
        """This repository, with a commit before it in which some of its contexts were others."""
        names = subprocess.run(["git", "ls-files", "-z"], cwd=self.base, check=True, capture_output=True).stdout.decode().split("\0")
        for name in filter(None, names):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.base / name, folder / name, follow_symlinks=False)
        now = {name: (folder / name).read_text() for name in ("ctxc.toml", "templates/triage-ticket.xml", "templates/text/severity-guide.md")}
        gone = folder / "templates/verify-claims.xml"
        write(folder, {
            "ctxc.toml": now["ctxc.toml"].replace("tokens = 32_000", "tokens = 16_000").replace('tier = "premium"', 'tier = "standard"'),
            "templates/triage-ticket.xml": now["templates/triage-ticket.xml"].replace("graver", "lesser").replace('name="plan" type="string" default="standard"', 'name="plan" type="string" default="team"'),
            "templates/text/severity-guide.md": now["templates/text/severity-guide.md"] + "\nOnce more.\n",
            "templates/gone.xml": '<task type="atomic" name="gone"><description>It is gone.</description></task>\n',
        })
        kept = gone.read_bytes()
        gone.unlink()
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, env=GIT, check=True)
        commit(folder, "before")
        (folder / "templates/gone.xml").unlink()
        write(folder, now | {"templates/verify-claims.xml": kept})
        commit(folder, "now")

    def generated(self, at, seed):
        subprocess.run([sys.executable, self.base / "benches/gen_corpus.py", at, str(CORPUS), "--seed", seed], check=True, stdout=subprocess.DEVNULL)
        expected = Path(f"{at}.expected.json")
        verdicts = json.loads(expected.read_text())
        expected.unlink()
        return verdicts

    def corpus(self, folder, seed):
        self.generated(folder / "templates", seed)
        write(folder, {"ctxc.toml": 'edition = "2026"\n'})

    def clean(self, folder, seed):
        """The corpus without its errors, so that there is a registry."""
        for path, verdict in self.generated(folder / "templates", seed).items():
            if verdict != "ok":
                (folder / "templates" / path).unlink()
        write(folder, {"ctxc.toml": 'edition = "2026"\n', "docs/guide.md": "# Guide\n\nRoll back a deploy, then verify the ledger.\n"})

    def prompts(self, folder):
        shutil.copytree(self.base / "tests/import", folder / "prompts", ignore=shutil.ignore_patterns("*.py"))
        for path in sorted((self.base / "templates/imported").rglob("*")):
            if path.is_file() and path.suffix != ".xml":
                target = folder / "shipped" / path.relative_to(self.base / "templates/imported")
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, target)
        # Each row of a file of texts is a prompt and its sample, in all Jinja that people write.
        samples = []
        for number, line in enumerate((self.base / "tests/import/filters.jsonl").read_text().splitlines()):
            row = json.loads(line)
            write(folder, {f"filters/p{number:03}.j2": row["text"]})
            samples.append(json.dumps({"template": f"filters/p{number:03}.j2", "inputs": row["inputs"], "expected": row["expected"]}))
        write(folder, {"filters.jsonl": "\n".join(samples) + "\n", "ctxc.toml": 'edition = "2026"\n'})

    def scenarios(self, folder):
        subprocess.run([sys.executable, self.base / "benches/gen_scenarios.py", folder], check=True)

    def examples(self, folder):
        """The bad and the good example of every rule, as its page shows them: one project."""
        for page in sorted((self.base / "docs/rules").glob("*.md")):
            blocks = page.read_text().split("```")[1::2]
            for number, block in enumerate(blocks):
                language, _, text = block.partition("\n")
                ending = {"xml": "xml", "yaml": "yaml", "toml": "toml"}.get(language.strip())
                if ending == "xml":
                    write(folder, {f"templates/{page.stem}-{number}.xml": text})
                elif ending == "yaml":
                    write(folder, {f"scenarios/{page.stem}-{number}.yaml": text})
                elif ending == "toml":
                    write(folder, {f"projects/{page.stem}-{number}/ctxc.toml": text})
        write(folder, {"ctxc.toml": 'edition = "2026"\n'})

    def recovery(self, folder):
        """Damaged files: those of the tests and of the fuzzers, whole and with slips of a letter."""
        sources = sorted((self.base / "tests/it/syntax/recovery").glob("*.xml")) + sorted((self.base / "fuzz/corpus/reader").glob("*.xml"))
        for path in sources:
            data = path.read_bytes()
            write(folder, {f"templates/{path.name}": data})
            for number in range(1, 25):
                at = len(data) * number // 25
                damage = [data[:at], data[:at] + data[at + 1:], data[:at] + "😀\r\n".encode() + data[at:], data[:at] + b"<" + data[at:]][number % 4]
                write(folder, {f"templates/{path.stem}-{number}.xml": damage.replace(b'name="', b'name="n%d-' % number)})
        write(folder, {"ctxc.toml": ""})

    def compat(self, folder):
        """Registries of released formats beside a project."""
        shutil.copytree(self.base / "tests/compat", folder / "compat")
        shutil.copytree(self.base / "fuzz/corpus/registry", folder / "registries")
        write(folder, {"ctxc.toml": 'edition = "2026"\n',
                       "templates/a.xml": '<task type="atomic" name="a"><description>Say {{x}}.</description><parameters><parameter name="x"/></parameters></task>'})

    def agents(self, folder):
        """The agents of this repository with a few pages to look things up in: every context in every look has to be quick."""
        shutil.copy2(self.base / "ctxc.toml", folder / "ctxc.toml")
        for part in ("templates", "scenarios"):
            shutil.copytree(self.base / part, folder / part)
        shown = {path for page in (folder / "templates").rglob("*.xml") for path in re.findall(r"<path>([^<]+)</path>", page.read_text())}
        for path in sorted(shown | {f"docs/{page}.md" for page in ("LANGUAGE", "PROJECT", "tutorial")}):
            if (self.base / path).is_file():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.base / path, folder / path)

    def editor(self, folder):
        """What histories of edits are made in: templates, their texts, scenarios."""
        shutil.copy2(self.base / "ctxc.toml", folder / "ctxc.toml")
        for part in ("templates", "scenarios"):
            shutil.copytree(self.base / part, folder / part)
        rng, corpus = random.Random(5), folder / "corpus"
        self.generated(corpus, "5")
        for path in rng.sample(sorted(corpus.rglob("*.xml")), 12):
            shutil.copy2(path, folder / "templates" / f"more-{path.name}")
        shutil.rmtree(corpus)

    # A folder cannot be called by the word of the language.
    locals()["import"] = prompts


def digest(folder):
    """A hash of everything under a folder but `.git`, whose commits say what is in it."""
    whole = hashlib.sha256()
    for path in sorted(Path(folder).rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name == ".git" or name.startswith(".git/"):
            continue
        data = os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        whole.update(os.fsencode(name) + b"\0" + hashlib.sha256(data).digest())
    return whole.hexdigest()
