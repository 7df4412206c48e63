"""Runs a program in a copy of an input folder, and says what it printed and what it wrote.

A copy is as new before each case: after a case, whatever differs from the input is put back. Copies lie in numbered folders
of one machine-wide place, each held by a lock, so that paths are of one length whoever runs and two runs never meet."""
import fcntl
import hashlib
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

PLACE = Path("/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()) / f"ctxc-golden-{os.getuid()}"
SLOTS = 40
# What the program calls a folder of its own after the path of the project.
OWN = re.compile(r"\bat-[0-9a-f]{16}\b")
# Where the program keeps what it could make again, and what lies there, wherever a link leads.
KEPT = re.compile(r"(^|/)\.ctxc(/|$)")
CACHES = re.compile(r"(^|/)(index|facts|tokens-\w+|search\.db[\w-]*|build\.lock|search\.lock)$")


@dataclass
class Result:
    """What one step of a case did. `files`: path -> text, for what differs from the input; a file that is gone has no text."""
    exit: str
    stdout: str
    stderr: str
    files: dict = field(default_factory=dict)


def text_of(data):
    return data.decode("utf-8", "backslashreplace")


def scan(root):
    """path -> what `stat` says, for everything under a folder but `.git`."""
    found, folders = {}, [(root, "")]
    while folders:
        folder, prefix = folders.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                path = prefix + entry.name
                if path == ".git":
                    continue
                about = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(about.st_mode):
                    found[path] = (about.st_mode,)
                    if about.st_mode & 0o500 == 0o500:
                        folders.append((entry.path, path + "/"))
                else:
                    found[path] = (about.st_mode, about.st_size, about.st_mtime_ns, about.st_ino)
    return found


def same_file(left, right):
    """Whether two paths hold the same: a link its target, a file its bytes and its mode."""
    modes = [os.lstat(path).st_mode for path in (left, right)]
    if modes[0] != modes[1]:
        return False
    if stat.S_ISLNK(modes[0]):
        return os.readlink(left) == os.readlink(right)
    return not stat.S_ISREG(modes[0]) or Path(left).read_bytes() == Path(right).read_bytes()


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def settled(program):
    """A copy of a program that has nothing beside it: it shows pages that lie near it."""
    name = hashlib.sha256(Path(program).read_bytes()).hexdigest()[:16]
    at = PLACE / "programs" / name / "ctxc"
    if not at.exists():
        at.parent.mkdir(parents=True, exist_ok=True)
        part = at.with_name(f"ctxc.{os.getpid()}")
        shutil.copy2(program, part)
        part.rename(at)
    at.parent.touch()
    for old in sorted((PLACE / "programs").iterdir(), key=os.path.getmtime)[:-6]:
        shutil.rmtree(old, ignore_errors=True)
    return at


class Slot:
    """A folder to run in, held until the process ends."""

    def __init__(self):
        PLACE.mkdir(exist_ok=True)
        for number in range(SLOTS):
            self.lock = open(PLACE / f"{number:02}.lock", "w")
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            self.root = PLACE / f"{number:02}"
            break
        else:
            raise SystemExit(f"all {SLOTS} folders under {PLACE} are in use")
        shutil.rmtree(self.root, ignore_errors=True)
        self.at, self.home, self.input, self.clean = self.root / "at", self.root / "home", None, {}
        self.home.mkdir(parents=True)

    def leave(self):
        shutil.rmtree(self.root, ignore_errors=True)
        self.lock.close()

    def environment(self, more):
        home = str(self.home)
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "dumb",
            "XDG_CONFIG_HOME": f"{home}/config", "XDG_CACHE_HOME": f"{home}/cache", "XDG_STATE_HOME": f"{home}/state",
            "XDG_DATA_HOME": f"{home}/data", "TMPDIR": str(self.root),
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_OPTIONAL_LOCKS": "0",
            **more,
        }

    def load(self, folder):
        """Makes the copy a copy of this input."""
        if self.input == folder:
            return
        if self.at.exists():
            shutil.rmtree(self.at)
        shutil.copytree(folder, self.at, symlinks=True)
        self.input, self.clean = folder, scan(self.at)

    def changed(self):
        now = scan(self.at)
        return [path for path in sorted(self.clean.keys() | now.keys()) if self.clean.get(path) != now.get(path)]

    def reset(self):
        """Puts back what a case changed, and empties the home folder."""
        for path in reversed(self.changed()):
            if os.path.lexists(self.at / path) and (path not in self.clean or not (self.at / path).is_dir() or (self.at / path).is_symlink()):
                remove(self.at / path)
        for path in self.changed():
            source, target = Path(self.input) / path, self.at / path
            if source.is_dir() and not source.is_symlink():
                target.mkdir(exist_ok=True)
                shutil.copystat(source, target)
            else:
                shutil.copy2(source, target, follow_symlinks=False)
            about = os.lstat(target)
            self.clean[path] = (about.st_mode,) if stat.S_ISDIR(about.st_mode) else (about.st_mode, about.st_size, about.st_mtime_ns, about.st_ino)
        for entry in list(os.scandir(self.home)):
            remove(entry.path)

    def written(self):
        """What differs from the input, caches and kept state of the program left out."""
        files = {}
        for path in self.changed():
            target, source = self.at / path, Path(self.input) / path
            if KEPT.search(path):
                continue
            if not os.path.lexists(target):
                files[path] = None
            elif target.is_symlink():
                files[path] = f"link to {os.readlink(target)}"
            elif target.is_dir():
                files[OWN.sub("at-…", path) + "/"] = "a folder"
            elif CACHES.search(path):
                files[OWN.sub("at-…", path)] = "a cache"
            elif not os.path.lexists(source) or not same_file(source, target):
                files[OWN.sub("at-…", path)] = self.plain(text_of(target.read_bytes()))
        for path, about in scan(self.home).items():
            if not stat.S_ISDIR(about[0]) and not path.startswith(("cache/ctxc/", "state/ctxc/")):
                files[f"~/{path}"] = self.plain(text_of((self.home / path).read_bytes()))
        return files

    def plain(self, text):
        """The text with the folders of this run taken out."""
        return text.replace(str(self.at), "$AT").replace(str(self.home), "$HOME").replace(str(self.root), "$TMP")

    def run(self, argv, stdin, env, timeout, cwd=""):
        """Runs a command to its end, or ends it: after so many seconds of work, or five times as many of waiting."""
        process = subprocess.Popen(
            ["ctxc", *argv[1:]], executable=argv[0], cwd=self.at / cwd, env=self.environment(env), stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (timeout, timeout + 1))
        except ProcessLookupError:
            pass
        try:
            stdout, stderr = process.communicate(stdin, 5 * timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return Result("timeout", "", "", {})
        if process.returncode == -signal.SIGXCPU:
            return Result("timeout", "", "", {})
        code = str(process.returncode) if process.returncode >= 0 else signal.Signals(-process.returncode).name
        return Result(code, self.plain(text_of(stdout)), self.plain(text_of(stderr)), self.written())
