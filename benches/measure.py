"""Runs commands interleaved and keeps wall time and peak memory of each. Standard library only."""
import os
import resource
import statistics
import time


class Command:
    """One thing that is measured: a process (argv, its stdin from a file or nothing) or a function."""

    def __init__(self, argv=None, *, cwd=None, stdin=None, before=None, function=None, expect=(0,)):
        self.argv, self.cwd, self.stdin, self.before = argv, cwd, stdin, before
        self.function, self.expect = function, expect
        self.times, self.memory = [], 0

    def run(self, keep):
        if self.before:
            self.before()
        if self.function:
            started = time.perf_counter_ns()
            self.function()
            elapsed, peak = time.perf_counter_ns() - started, 0
        else:
            elapsed, peak = self.spawn()
        if keep:
            self.times.append(elapsed / 1e6)
            self.memory = max(self.memory, peak)

    def spawn(self):
        """Milliseconds count from before the spawn to after the wait, for every command alike."""
        actions = [(os.POSIX_SPAWN_OPEN, 0, self.stdin or os.devnull, os.O_RDONLY, 0)]
        actions += [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
        here = os.getcwd()
        if self.cwd:
            os.chdir(self.cwd)
        try:
            started = time.perf_counter_ns()
            pid = os.posix_spawnp(self.argv[0], self.argv, os.environ, file_actions=actions)
            _, status, usage = os.wait4(pid, 0)
            elapsed = time.perf_counter_ns() - started
        finally:
            os.chdir(here)
        code = os.waitstatus_to_exitcode(status)
        if code not in self.expect:
            raise SystemExit(f"{' '.join(self.argv[:6])} ended with {code}, not {self.expect}")
        return elapsed, usage.ru_maxrss / 1024

    @property
    def median(self):
        return statistics.median(self.times)

    @property
    def spread(self):
        """Half of the distance between the quartiles, as a share of the median."""
        if len(self.times) < 4:
            return 0.0
        low, _, high = statistics.quantiles(self.times, n=4)
        return (high - low) / 2 / self.median


def interleave(commands, rounds, warm=1):
    """A B C A B C …: what disturbs the machine disturbs all alike."""
    for number in range(warm + rounds):
        for command in commands.values():
            command.run(keep=number >= warm)
    return commands


def write_and_sync(path, size):
    """What any program pays that leaves so many bytes safely on this disk: a new file, a sync, a rename. The bytes come from a
    small block: a process that is started by a large one is charged with the large one's memory."""
    block = os.urandom(1 << 20)

    def work():
        with open(path + ".new", "wb", buffering=0) as file:
            for at in range(0, size, len(block)):
                file.write(block[:min(len(block), size - at)])
            file.flush()
            os.fsync(file.fileno())
        os.replace(path + ".new", path)
    return work


def machine():
    """One line about where this ran, without anything that names the machine."""
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    return f"{os.cpu_count()} × {model}, {memory} GiB, Linux {os.uname().release.split('-')[0]}, load {os.getloadavg()[0]:.1f} at the start"
