"""`ctxc compaction` of public sessions of Claude Code and pi, by commit, beside the figures that it gave when they were pinned.

    .ci/sessions/public.py PROGRAM FOLDER
"""
import collections
import json
import subprocess
import sys
from pathlib import Path

CLAUDE = ["258c7280-ae70-4798-800f-63464d01a85d", "4d5611e5-241a-462a-8d15-5122611a9569", "8463c716-a2ea-4c14-9efa-87158ebd9f20",
    "ae4a77f8-aedd-4bc1-888f-c94edc91af04", "fa812bfe-b295-4cca-9c2f-fdf01028cb46"]
# Both under the MIT license.
SOURCES = [
    ("marot/spotter", "8cc42b0bd39d04e71e509d7d58e6782ab435329f", [f"test/fixtures/transcripts/{name}.jsonl" for name in CLAUDE],
     # Compactions; files by their uses: those that the summary names, of all.
     5, {"file.created": (20, 21), "file.modified": (47, 47), "file.read": (12, 28)}),
    ("badlogic/pi-mono", "83378aad7e74a0e2bb8f37c007a9685fb4609d8a", ["packages/coding-agent/test/fixtures/before-compaction.jsonl"],
     2, {"file.created": (16, 16), "file.modified": (25, 25), "file.read": (2, 4)}),
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
        file = own / Path(path).name
        if not file.exists():
            file.write_bytes(git(own, "show", f"{commit}:{path}"))
        yield file


def main():
    program, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    faults = 0
    for name, commit, paths, expected_compactions, expected in SOURCES:
        kept, facts, compactions = collections.Counter(), collections.Counter(), 0
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
