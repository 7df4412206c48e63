#!/usr/bin/env bash
# Size of `src/`: lines of code (no comments, no blank lines) and tokens (words and signs; comments, strings,
# characters and lifetimes left out), for each room and in all. Packing lines or deleting words gains nothing.
# `benches/lines.sh [REVISION]`: of the working tree, or of a commit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec python3 - "$@" <<'PYTHON'
import collections, re, subprocess, sys

TOKEN = re.compile(
    r"""
    //[^\n]* | /\*.*?\*/                                                        # comments
  | \b(?:b|c)?r(?P<hashes>\#*)".*?"(?P=hashes) | \b(?:b|c)?"(?:\\.|[^"\\])*"    # strings, raw and plain
  | "(?:\\.|[^"\\])*"
  | \bb?'(?:\\.[^']*|[^'\\])' | '(?:\\.[^']*|[^'\\])'                           # characters
  | '[A-Za-z_]\w*                                                               # lifetimes
  | (?P<counted>\d\w*(?:\.\d\w*)? | \w+ | [^\w\s])
    """,
    re.X | re.S,
)


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


revision = sys.argv[1] if len(sys.argv) > 1 else None
listing = git("ls-tree", "-r", "--name-only", revision, "src") if revision else git("ls-files", "--cached", "--others", "--exclude-standard", "src")
sizes = collections.defaultdict(lambda: [0, 0, 0])
for path in sorted(set(listing.splitlines())):
    if not path.endswith(".rs"):
        continue
    try:
        text = git("show", f"{revision}:{path}") if revision else open(path, encoding="utf-8").read()
    except FileNotFoundError:
        continue  # deleted in the working tree
    parts = path.split("/")
    code = sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("//"))
    tokens = sum(1 for found in TOKEN.finditer(text) if found["counted"])
    for room in (parts[1] + "/" if len(parts) > 2 else "(root)", "all"):
        for column, count in enumerate((1, code, tokens)):
            sizes[room][column] += count

print(f"{'room':<12}{'files':>7}{'lines':>9}{'tokens':>10}")
for room, (files, lines, tokens) in sorted(sizes.items(), key=lambda item: (item[0] == "all", item[0])):
    print(f"{room:<12}{files:>7}{lines:>9,}{tokens:>10,}")
PYTHON
