#!/usr/bin/env python3
"""growth.py PROGRAM [SHAPE…] [--verb VERB] [--rounds N] [--scale X]: how a command grows with its input, as ratios per doubling.

Five shapes of one task, each at N and 2 N: inputs that tasks make, calls in a text, references, call steps, and steps. The two sizes run in
turn; a ratio is that of the medians of processor time within this run, so that it does not depend on the machine. `render` shows the last
agent, and names the values that it lacks."""
import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

LEAF = '<task type="atomic" name="leaf">\n  <description>Sort the ticket.</description>\n</task>\n'
WORD = '<template name="word" params="text" returns="string">\n  <task type="atomic"><description>Shorten {{text}}.</description></task>\n</template>\n'


def atomic(words, inside="", name=""):
    return f'<task type="atomic"{name}>\n  <description>{words}</description>\n{inside}</task>\n'


def sequence(steps):
    return f'<task type="sequential" name="many">\n  <description>All of them.</description>\n  <steps>\n{"".join(steps)}  </steps>\n</task>\n'


def inputs(count):
    made = (f'    <input name="i{number}">{atomic(f"Make part {number}.")}</input>\n' for number in range(count))
    return atomic("All of them.", f"  <inputs>\n{''.join(made)}  </inputs>\n", ' name="many"')


def calls(count):
    return atomic(" ".join(f"{{{{word('part {number}')}}}}" for number in range(count)), name=' name="many"')


def references(count):
    return sequence(f'    <task ref="leaf" as="s{number}"/>\n' for number in range(count))


def call_steps(count):
    return sequence(f'    <call template="word" as="s{number}"><arg name="text">part {number}</arg></call>\n' for number in range(count))


def steps(count):
    return sequence(atomic(f"Make part {number}.", name=f' as="s{number}"') for number in range(count))


# The larger size of each, and the node of its last agent.
SHAPES = {"inputs": (inputs, 800, "/inputs"), "calls": (calls, 2000, "/calls"), "references": (references, 4000, "/steps"), "call steps": (call_steps, 4000, "/steps"), "steps": (steps, 4000, "/steps")}
VERBS = {"manifest": ["manifest", "--json"], "check": ["check", "-q"], "build": ["build", "-q", "-o", os.devnull], "render": ["render", "many", "--node"]}


def write_project(root, text):
    (root / "templates").mkdir(parents=True)
    (root / "ctxc.toml").write_text('edition = "2026"\n')
    for name, words in (("leaf", LEAF), ("word", WORD), ("many", text)):
        (root / f"templates/{name}.xml").write_text(words)


def measure(argv, cwd, env):
    """Processor time in seconds, and bytes written to standard output."""
    with open(cwd / "out", "wb") as out:
        process = subprocess.Popen(argv, cwd=cwd, env=env, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) in ((0, 2) if "render" in argv else (0,)), argv
    return usage.ru_utime + usage.ru_stime, (cwd / "out").stat().st_size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("shapes", nargs="*", metavar="shape", help=f"of {', '.join(SHAPES)}; all where none is named")
    parser.add_argument("--verb", choices=VERBS, default="manifest")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="of the sizes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ctxc-growth") as folder:
        root = pathlib.Path(folder)
        env = {"PATH": os.environ["PATH"], "HOME": folder, "XDG_STATE_HOME": f"{folder}/state", "XDG_CACHE_HOME": f"{folder}/cache"}
        for name in options.shapes or SHAPES:
            make, larger, node = SHAPES[name]
            counts = [int(larger * options.scale) // 2, int(larger * options.scale)]
            projects = [root / f"{name}-{count}" for count in counts]
            for project, count in zip(projects, counts):
                write_project(project, make(count))
            tails = [[f"{node}/{count - 1}"] if options.verb == "render" else [] for count in counts]
            rounds = [[measure([options.program, *VERBS[options.verb], *tail], project, env) for project, tail in zip(projects, tails)] for _ in range(options.rounds)]
            (one, first), (two, second) = ((statistics.median(time for time, _ in column), column[0][1]) for column in zip(*rounds))
            written = f"; {first / 1e6:.1f} and {second / 1e6:.1f} MB, x {second / first:.2f}" if first else ""
            print(f"{options.verb} of {counts[1]:,} {name}: {one * 1000:.0f} and {two * 1000:.0f} ms, x {two / one:.2f} per doubling{written}", flush=True)


main()
