"""`ctxc compaction` of public sessions of Claude Code and pi, by commit, beside pinned figures and beside a count of the rows that shares no code with it.

The design counts each kind of call by itself: a file that was written and edited counts twice, the plan of the agent's program (`.claude/plans`)
counts as written, and a path counts as named if the summary contains it or its unique base name, even inside another name
(`session_registry.ex` in `active_session_registry.ex`). ctxc counts a file once, by its strongest use, and only whole names.

    .ci/sessions/public.py PROGRAM FOLDER
"""
import collections
import json
import re
import subprocess
import sys
from pathlib import Path

CLAUDE = ["258c7280-ae70-4798-800f-63464d01a85d", "4d5611e5-241a-462a-8d15-5122611a9569", "8463c716-a2ea-4c14-9efa-87158ebd9f20",
    "ae4a77f8-aedd-4bc1-888f-c94edc91af04", "fa812bfe-b295-4cca-9c2f-fdf01028cb46"]
# The design's count of the sessions of Claude Code: files that the summary names, of all; and first lines of failed calls that it contains.
DESIGN = {"written": (29, 31), "edited": (50, 50), "read": (13, 28), "error": (0, 27)}
# All under the MIT license. The last are sessions with instructions, from the branch `entire/checkpoints/v1`.
SOURCES = [
    ("marot/spotter", "8cc42b0bd39d04e71e509d7d58e6782ab435329f", [f"test/fixtures/transcripts/{name}.jsonl" for name in CLAUDE],
     # Compactions; files by their uses: those that the summary names, of all.
     5, {"file.created": (20, 21), "file.modified": (47, 47), "file.read": (12, 28)}),
    ("badlogic/pi-mono", "83378aad7e74a0e2bb8f37c007a9685fb4609d8a", ["packages/coding-agent/test/fixtures/before-compaction.jsonl"],
     2, {"file.created": (16, 16), "file.modified": (25, 25), "file.read": (2, 4)}),
    ("entireio/cli", "394f81fab87f71aa8938d91ff7a067c524ff344b", ["b0/dc55b3a1dc/1/full.jsonl", "9b/04c3d92e38/4/full.jsonl", "83/a0bb2f3f73/0/full.jsonl", "76/9ddf2969b6/1/full.jsonl"],
     6, {"instruction": (3, 13)}),
]


def git(folder, *arguments):
    return subprocess.run(["git", "-C", folder, *arguments], check=True, stdout=subprocess.PIPE).stdout


def fetch(folder, name, commit, paths):
    own = folder / name.replace("/", "+")
    if not (own / ".git").exists():
        own.mkdir(parents=True, exist_ok=True)
        git(own, "init", "--quiet")
        git(own, "remote", "add", "origin", f"https://github.com/{name}")
        git(own, "fetch", "--quiet", "--depth", "1", "--filter=blob:none", "origin", commit)
    for path in paths:
        file = own / path.replace("/", "+")
        if not file.exists():
            file.write_bytes(git(own, "show", f"{commit}:{path}"))
        yield file


class RawSession:
    """The calls before the first compaction of a session of Claude Code, and its summary."""

    def __init__(self, file):
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        texts = (row["message"]["content"] for row in rows if row.get("isCompactSummary"))
        self.summary = next(texts)
        self.folder = next(row["cwd"] for row in rows if row.get("cwd")) + "/"
        self.calls, self.results = [], {}
        for row in rows[:next(at for at, row in enumerate(rows) if row.get("subtype") == "compact_boundary")]:
            parts = (row.get("message") or {}).get("content")
            for part in parts if isinstance(parts, list) else []:
                if part["type"] == "tool_use":
                    self.calls.append(part)
                elif part["type"] == "tool_result":
                    self.results[part["tool_use_id"]] = part

    def text(self, result):
        content = result["content"]
        return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)

    def uses(self):
        """The tool, the path and the result of each call that names a file."""
        for call in self.calls:
            if call["name"] in ("Write", "Edit", "MultiEdit", "Read"):
                yield call["name"], call["input"]["file_path"].removeprefix(self.folder), self.text(self.results[call["id"]])

    def files(self, *tools):
        return {path for tool, path, _ in self.uses() if tool in tools}

    def named(self, path, form):
        names = [other.rpartition("/")[2] for other in self.files("Write", "Edit", "MultiEdit", "Read")]
        name = path.rpartition("/")[2]
        return any(re.search(form.format(re.escape(text)), self.summary) for text in [path] + [name] * (names.count(name) == 1))

    def design_counts(self):
        written, edited = self.files("Write"), self.files("Edit", "MultiEdit")
        kinds = {"written": written, "edited": edited, "read": self.files("Read") - written - edited}
        counts = {kind: (sum(self.named(path, "{}") for path in paths), len(paths)) for kind, paths in kinds.items()}
        errors = [self.text(result).strip().splitlines()[0] for result in self.results.values() if result.get("is_error")]
        return {**counts, "error": (sum(line in self.summary for line in errors), len(errors))}

    def own_counts(self):
        """What ctxc has to find: each file once, by its strongest use."""
        use, known = {}, set()
        for tool, path, result in self.uses():
            if not path.startswith("/") or "/.claude/" not in path:
                is_new = tool == "Write" and path not in known and "has been updated" not in result
                use[path] = max(use.get(path, 0), 3 if is_new else 1 if tool == "Read" else 2)
                known.add(path)
        classes = {3: "file.created", 2: "file.modified", 1: "file.read"}
        counts = {}
        for kind, name in classes.items():
            paths = [path for path in use if use[path] == kind]
            counts[name] = (sum(self.named(path, r"(?<!\w){}(?!\w)") for path in paths), len(paths))
        return counts


def added(counts):
    """The sums of pairs, by their keys."""
    sums = {}
    for count in counts:
        for key, pair in count.items():
            sums[key] = tuple(map(sum, zip(sums.get(key, (0, 0)), pair)))
    return sums


def main():
    program, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    faults = 0
    for name, commit, paths, expected_compactions, expected in SOURCES:
        kept, facts, compactions = collections.Counter(), collections.Counter(), 0
        raw = [RawSession(file) for file in fetch(folder, name, commit, paths)] if name == "marot/spotter" else []
        for title, counts, pinned in [("the design", [one.design_counts() for one in raw], DESIGN), ("whole names", [one.own_counts() for one in raw], expected)]:
            if raw and added(counts) != pinned:
                print(f"{name}: {title}: {added(counts)}, expected {pinned}")
                faults += 1
        for file in fetch(folder, name, commit, paths):
            run = subprocess.run([program, "compaction", file, "--json"], stdout=subprocess.PIPE, check=True, cwd=folder)
            for session in json.loads(run.stdout)["sessions"]:
                if session["unknown_rows"] or session["unreadable_rows"]:
                    print(f"{file.name}: rows that could not be used")
                    faults += 1
                for compaction in session["compactions"]:
                    compactions += 1
                    for row in compaction["classes"]:
                        facts[row["class"]] += row["facts"]
                        kept[row["class"]] += sum(count["facts"] for count in row["verdicts"] if count["verdict"] == "kept")
        found = {key: (kept[key], facts[key]) for key in expected}
        is_same = compactions == expected_compactions and found == expected
        faults += not is_same
        print(f"{name}: {compactions} compactions, {found}" + ("" if is_same else f", expected {expected_compactions} and {expected}"))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
