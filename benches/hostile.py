"""Inputs made to hurt: each has to be refused with a clear diagnostic, quickly and in little memory."""
import os
import subprocess
import sys
import tempfile
import time


def inputs():
    head = b"<task><description>"
    yield "4,000 nested elements with a namespace each", b"".join(b'<n%d:e xmlns:n%d="urn:n%d">' % (i, i, i) for i in range(4000)) + b"".join(b"</n%d:e>" % i for i in reversed(range(4000)))
    yield "50,000 attributes", b"<task " + b" ".join(b'a%d="v"' % i for i in range(50_000)) + b"/>"
    yield "1,000,000 nested tags", b"<a>" * 1_000_000
    yield "1,000,000 nested tags, closed", b"<a>" * 1_000_000 + b"</a>" * 1_000_000
    yield "an entity bomb", b'<!DOCTYPE task [<!ENTITY a "aaaaaaaaaa">' + b"".join(b'<!ENTITY %c "%s">' % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(20)) + b"]><task><description>&u;</description></task>"
    yield "NUL bytes", head + b"\0" * 1_000_000 + b"</description></task>"
    yield "lone surrogates", "\ufeff<task><description>".encode("utf-16-le") + b"\x00\xd8" * 500_000 + "</description></task>".encode("utf-16-le")
    yield "invalid UTF-8", head + b"\xff\xc0\x80" * 300_000 + b"</description></task>"
    yield "100,000 errors", b"<task>" + b"<b></c>\n" * 100_000 + b"</task>"
    yield "20,000 open quotes", b"<task>" + b'<a b="\n' * 20_000 + b"</task>"
    yield "1,000,000 ampersands", head + b"&" * 1_000_000 + b"</description></task>"
    yield "comments that never end", b"<task>" + b"<!-- <![CDATA[ <?a " * 50_000


def growing():
    """Constructs whose cost once grew faster than their number: name → a file with so many of them."""
    task = '<task name="t"><description>%s</description></task>'
    allow = '<task type="atomic" name="t%d"><?ctxc allow no-context reason="r"?><description>d</description><context_management><inherit_context>none</inherit_context></context_management></task>'
    yield "tasks with an `allow` each", lambda n: "<library>" + "\n".join(allow % i for i in range(n)) + "</library>"
    yield "unresolved references beside as many tasks", lambda n: '<library><task type="sequential" name="t"><description>d</description><steps>' + "".join(f'<task ref="nowhere-at-all-{i}"/>' for i in range(n)) + "</steps></task>" + "".join(f'<task name="anything-you-want-{i}"><description>d</description></task>' for i in range(n)) + "</library>"
    yield "broken expressions on one line", lambda n: task % ("{{f(" * n)
    yield "unknown elements on one line", lambda n: "<task>" + "<zz/>" * n + "</task>"
    yield "misspelt elements, repeated", lambda n: "<task><description>d</description>" + "<instruction>x</instruction>" * n + "</task>"
    yield "tasks with a misspelt element each", lambda n: "<library>" + "<task><descripton>x</descripton></task>" * n + "</library>"
    yield "fragments that use the next one twice", lambda n: "<library>" + "".join(f'<fragment name="g{i}">x <use fragment="g{i + 1}"/><use fragment="g{i + 1}"/></fragment>' for i in range(n)) + f'<fragment name="g{n}">x</fragment><task name="t"><description><use fragment="g0"/></description></task></library>'


def grow(program, folder, sizes=(2000, 4000, 8000)):
    """Seconds of `check --format json` for each of them at n, 2n and 4n."""
    os.makedirs(folder, exist_ok=True)
    for name, text in growing():
        seconds = []
        for size in sizes:
            path = f"{folder}/grows.xml"
            with open(path, "w", encoding="utf-8") as file:
                file.write(text(size))
            start = time.perf_counter()
            subprocess.run([program, "check", "--format", "json", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            seconds.append(time.perf_counter() - start)
        print(f"{name}: " + ", ".join(f"{size:,} {second:.2f} s" for size, second in zip(sizes, seconds)))


def write(folder):
    """Writes all of them once. Returns name → path. The file of 200 MB is sparse: nobody should read it."""
    os.makedirs(folder, exist_ok=True)
    paths = {}
    for number, (name, data) in enumerate(inputs()):
        paths[name] = f"{folder}/{number:02}.xml"
        if not os.path.exists(paths[name]):
            with open(paths[name], "wb") as file:
                file.write(data)
    paths["a file of 200 MB"] = f"{folder}/huge.xml"
    with open(paths["a file of 200 MB"], "wb") as file:
        file.write(b"<task><description>")
        file.truncate(200_000_000)
    return paths


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        grow(sys.argv[1] if len(sys.argv) > 1 else "ctxc", scratch)
