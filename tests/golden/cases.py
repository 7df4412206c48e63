"""What is run: cases of one or several steps, and the memory of what the old program did in them."""
import dataclasses
import hashlib
import json
import sqlite3
import zlib
from dataclasses import dataclass

from editor import DRIVERS
from sandbox import PLACE, Result

PATIENCE = 60


@dataclass(frozen=True)
class Step:
    """A command line in the spelling of the old program, or what a driver does with the program."""
    old: tuple
    stdin: bytes = None
    env: tuple = ()
    driver: str = None
    cwd: str = ""


@dataclass(frozen=True)
class Case:
    """Steps one after the other in one copy of an input."""
    input: str
    steps: tuple
    timeout: int = PATIENCE

    @property
    def name(self):
        words = " ; ".join(" ".join(word if len(word) < 60 else word[:50] + "…" for word in step.old) for step in self.steps)
        return f"{self.input}: {words}".replace("\n", "⏎")

    def key(self, digest):
        """What the old program's results are kept under: everything that they depend on but the program."""
        steps = [(step.old, step.stdin.hex() if step.stdin is not None else None, step.env, step.driver, step.cwd) for step in self.steps]
        about = [str(PLACE), digest, steps, [DRIVERS[step.driver].__doc__ for step in self.steps if step.driver], self.timeout]
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()

    def run(self, slot, folder, program, spelling=lambda argv: argv):
        """Runs the steps with a program, in its spelling; no step after one that took too long."""
        slot.load(folder)
        results = []
        for step in self.steps:
            argv = [program, *spelling(step.old)]
            if step.driver:
                result = DRIVERS[step.driver](slot, argv, self.timeout)
            else:
                result = slot.run(argv, step.stdin, dict(step.env), self.timeout, step.cwd)
            results.append(result)
            if result.exit == "timeout":
                break
        slot.reset()
        return results


class Memory:
    """Results of one program on disk, by the keys of cases."""

    def __init__(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.base = sqlite3.connect(path, timeout=120, isolation_level=None)
        self.base.execute("pragma journal_mode = wal")
        self.base.execute("pragma synchronous = off")
        self.base.execute("create table if not exists results (key text primary key, body blob)")

    def get(self, key):
        row = self.base.execute("select body from results where key = ?", (key,)).fetchone()
        return row and [Result(**each) for each in json.loads(zlib.decompress(row[0]))]

    def put(self, key, results):
        body = zlib.compress(json.dumps([dataclasses.asdict(each) for each in results]).encode(), 1)
        self.base.execute("insert or replace into results values (?, ?)", (key, body))
