"""Differences between the results of two programs, what explains them, and how they are told."""
import difflib
import hashlib
import json
import re
import tomllib
from collections import Counter
from dataclasses import dataclass

# Words of a line that differ from case to case where the difference is the same.
VARIABLE = re.compile(r"\"[^\"]*\"|`[^`]*`|[\w./-]*\d[\w./-]*|[\w-]+(?:/[\w.-]+)+")


@dataclass
class Difference:
    """One stream of one case: the lines of the old program that are gone, those of the new one that have come."""
    case: str
    stream: str
    removed: list
    added: list
    diff: str

    @property
    def id(self):
        return id_of(self.diff.split("\n"))

    @property
    def shape(self):
        """Differences of one shape are shown once."""
        lines = [sorted({VARIABLE.sub("…", line) for line in side})[:40] for side in (self.removed, self.added)]
        verb = re.sub(r"^.*?: ", "", self.case).split(" ")[0]
        return verb, re.sub(r"file .*\.", "file .", self.stream), str(lines)


def id_of(lines):
    """Names a difference by its lines, wherever in the text they stand."""
    return hashlib.sha256("\n".join(line for line in lines if not line.startswith("@@")).encode("utf-8", "backslashreplace")).hexdigest()[:8]


class Rules:
    """The checked-in list of accepted differences."""

    def __init__(self, path):
        self.rows = tomllib.loads(path.read_text()).get("accepted", [])
        self.used = Counter()
        for row in self.rows:
            unknown = row.keys() - {"row", "why", "command", "stream", "replace", "old", "new", "diffs"}
            if unknown or not row.get("row") or not row.get("why"):
                raise SystemExit(f"{path}: a row needs `row` and `why`, and may have command, stream, replace, old, new, diffs: {row}")

    def of(self, case, stream):
        return [(at, row) for at, row in enumerate(self.rows)
                if re.search(row.get("command", ""), case) and re.search(row.get("stream", ""), stream)]

    def replaced(self, rows, text):
        """The text with what rows replace, and which of them did."""
        hits = set()
        for at, row in rows:
            for pattern, instead in row.get("replace", []):
                text, count = re.subn(pattern, instead, text)
                if count:
                    hits.add(at)
        return text, hits

    def unexplained(self, rows, side, lines):
        """The lines that no row accepts on this side, and the rows that accept others."""
        left, hits = [], set()
        for line in lines:
            by = [at for at, row in rows if any(re.search(pattern, line) for pattern in row.get(side, []))]
            hits.update(by)
            if not by:
                left.append(line)
        return left, hits

    def stale(self):
        return [row for at, row in enumerate(self.rows) if not self.used[at]]


def pretty(text):
    """JSON with a line for each value, so that differences are small; anything else as it is."""
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except ValueError:
        pass
    try:
        return "\n".join(json.dumps(json.loads(line), indent=1, ensure_ascii=False) for line in text.splitlines())
    except ValueError:
        return text


def streams(step, result):
    """The parts of a result that are held against each other."""
    prefix = f"step {step + 1}, " if step else ""
    yield prefix + "exit", result.exit
    yield prefix + "stdout", result.stdout
    yield prefix + "stderr", result.stderr
    for path, text in result.files.items():
        yield f"{prefix}file {path}", "(deleted)" if text is None else "(written)\n" + text


def difference(case, stream, old, new, rules, used):
    """The difference of one stream, unless the accepted rows explain all of it."""
    if old == new:
        return None
    rows = rules.of(case, stream)
    (old, hits), (new, more) = (rules.replaced(rows, text) for text in (old, new))
    used.update(hits | more)
    if old == new:
        return None
    before, after = pretty(old).split("\n"), pretty(new).split("\n")
    if before == after:
        before, after = [*before, "(the same JSON in other bytes)"], [*after, "(the same JSON)"]
    lines = list(quick_diff(before, after))
    exact = [at for at, row in rows if id_of(lines) in row.get("diffs", [])]
    if exact:
        used.update(exact)
        return None
    removed, hits = rules.unexplained(rows, "old", [line[1:] for line in lines if line[0] == "-"])
    added, more = rules.unexplained(rows, "new", [line[1:] for line in lines if line[0] == "+"])
    used.update(hits | more)
    return Difference(case, stream, removed, added, "\n".join(lines)) if removed or added else None


def quick_diff(before, after):
    """A unified diff without its head; long texts without what is the same at both ends, which difflib takes long for."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    keep = max(0, start - 3)
    old, new = before[keep:len(before) - max(0, end - 3)], after[keep:len(after) - max(0, end - 3)]
    if len(old) * len(new) > 25_000_000:
        # Too long to align: what stands in one alone.
        gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
        return [*(f"-{line}" for line in gone), *(f"+{line}" for line in come)] or ["-(lines)", "+(the same lines in another order)"]
    lines = list(difflib.unified_diff(old, new, lineterm="", n=2))[2:]
    return [line for line in lines if line]


def compare(case, old, new, rules):
    """The differences of a case that nothing explains, and the rows that explain others."""
    found, used = [], Counter()
    for step in range(max(len(old), len(new))):
        sides = [dict(streams(step, results[step])) if step < len(results) else {} for results in (old, new)]
        if [side.get("exit") for side in sides] == ["timeout", "timeout"]:
            continue
        for stream in [*sides[0], *(name for name in sides[1] if name not in sides[0])]:
            pair = [side.get(stream, "(unchanged)" if "file " in stream else "(not run)") for side in sides]
            found.append(difference(case.name, stream, *pair, rules, used))
    return [each for each in found if each], used


def report(differences, rules, whole, show, ids):
    """Prints differences by shape, the commonest first."""
    shapes = {}
    for each in differences:
        shapes.setdefault(each.shape, []).append(each)
    for alike in sorted(shapes.values(), key=len, reverse=True):
        first = min(alike, key=lambda each: len(each.diff))
        cases = list(dict.fromkeys(each.case for each in alike))
        print(f"\n== {len(alike)} x {first.stream} of {first.case}")
        for other in cases[1:5]:
            print(f"   and of {other}" if other != first.case else f"   and of {cases[0]}")
        if len(cases) > 5:
            print(f"   and of {len(cases) - 5} more")
        print("   diffs " + " ".join(list(dict.fromkeys(each.id for each in [first, *alike]))[:ids]))
        lines = first.diff.split("\n")
        print("\n".join("   " + (line if len(line) < 400 else line[:400] + " …") for line in lines[:show]))
        if len(lines) > show:
            print(f"   … {len(lines) - show} lines more")
    if whole:
        for row in rules.stale():
            print(f"\n== accepted, but nothing differs so any more: {row['row']}: {row['why']}")
    if differences:
        print()
    return len(shapes)
