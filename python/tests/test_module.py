"""The module without clients of providers: contexts, checks of bodies, the plugin, what is said where nothing is recorded."""

from __future__ import annotations

import base64
import os
import pathlib
import shutil
import subprocess

import pytest

import ctxc
from ctxc import _program
from ctxc._findings import _pointer, _pretty

ASKS = """
import httpx, ctxc

def ask(words):
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": words}]}
    return httpx.post("https://api.openai.com/v1/chat/completions", json=body).json()["choices"][0]["message"]["content"]
"""


@pytest.fixture
def project(tmp_path):
    done = subprocess.run([_program.program(), "init", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return tmp_path


def test_a_task_is_assembled_for_both_libraries(project):
    registry = ctxc.Registry.load(project)
    assert list(registry) == ["summarize-document"] and len(registry) == 1
    task = registry["summarize-document"]
    context = task.assemble({"document": "@home is a\nphrase"}, index=False)
    assert any("@home is a\nphrase" in message["content"] for message in context.messages)
    assert context.messages[0]["role"] in ("system", "user") and "content" in context.messages[0]
    assert context.anthropic["messages"][0]["role"] == "user"
    assert context.tokens == context.report["tokens"] > 0
    assert context.body("gemini")["contents"]
    assert context.body("anthropic")["model"] == "no-model"
    assert task.assemble({"document": "x"}, model="gpt-4.1").body("openai-chat")["model"] == "gpt-4.1"
    assert task.assemble({"document": "x"}, budget=5000).report["budget"] == 5000
    long = "many words " * 20_000
    assert any(long.strip() in message["content"] for message in task.assemble({"document": long}, index=False).messages)


def test_mistakes_with_tasks_say_what_to_do(project, tmp_path_factory):
    registry = ctxc.Registry.load(project / "ctxc.toml")
    with pytest.raises(ctxc.CtxcError, match="--input document=VALUE"):
        registry["summarize-document"].assemble()
    with pytest.raises(KeyError, match="did you mean 'summarize-document'"):
        registry["summarise-document"]
    with pytest.raises(ctxc.CtxcError, match="is no folder"):
        ctxc.Registry.load(project / "missing")


def test_a_body_is_checked():
    body = {
        "model": "gpt-4.1",
        "messages": [{"role": "user", "content": "é ⟦x⟧ \" \\"}, {"role": "tool", "content": "x", "tool_call_id": "a"}],
        "tools": [{"type": "function", "function": {"name": "a b"}}],
    }
    for dialect in (None, "openai-chat"):
        found = {finding.rule: finding.pointer for finding in ctxc.check_request(body, dialect)}
        assert found == {"uncalled-result": "/messages/1", "tool-name": "/tools/0"}, dialect
    first = ctxc.check_request(body)[0]
    assert first.page == "ctxc explain uncalled-result" and first.help and first.severity == "error"
    assert subprocess.run([_program.program(), *first.page.split()[1:]], capture_output=True).returncode == 0
    assert ctxc.check_request({"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]}) == []
    with pytest.raises(ValueError, match="no dialect 'openai'"):
        ctxc.check_request(body, "openai")
    with pytest.raises(ValueError, match="no request"):
        ctxc.check_request({"mo": 1})


def test_every_place_of_a_body_has_its_pointer():
    body = {"a/b~": [{"c": 1.5, "d": []}, [True, "é\"]"]], "": {"e": None}, "f": "g"}
    text = _pretty(body)

    def walk(value, pointer):
        yield pointer, value
        pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, inner in pairs:
            yield from walk(inner, f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}")

    pointers = [pointer for pointer, _ in walk(body, "")]
    found = {_pointer(text, len(text[:at].encode())) for at, char in enumerate(text) if char not in " \n:,]}"}
    assert found == set(pointers)


def test_the_program_is_found_or_asked_for(monkeypatch, tmp_path):
    monkeypatch.setattr(_program.sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(_program.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("CTXC", str(tmp_path / "nothing"))
    with pytest.raises(ctxc.CtxcError, match="which is no program"):
        _program.program()
    monkeypatch.delenv("CTXC")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ctxc.CtxcError, match="let CTXC hold the path"):
        _program.program()
    beside = tmp_path / "ctxc"
    beside.write_text("")
    beside.chmod(0o755)
    assert _program.program() == str(beside)


def test_variables_are_put_back_and_the_proxy_ends(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    before = dict(os.environ)
    with pytest.raises(ZeroDivisionError):
        with ctxc.strict(script=["x"]):
            assert os.environ["OPENAI_BASE_URL"] != before["OPENAI_BASE_URL"]
            raise ZeroDivisionError
    assert dict(os.environ) == before


def test_nothing_recorded_is_explained():
    import httpx

    with pytest.warns(ctxc.CtxcWarning, match="the proxy received no connection"):
        with ctxc.record():
            pass
    with pytest.warns(ctxc.CtxcWarning, match="1 request went to a mocked transport"):
        with ctxc.record() as calls:
            mock = httpx.MockTransport(lambda request: httpx.Response(200, json={"host": request.url.host}))
            with httpx.Client(transport=mock) as client:
                assert client.get("https://api.openai.com/v1/models").json() == {"host": "api.openai.com"}
    with pytest.raises(IndexError, match="0 were recorded"):
        calls[0]
    with pytest.raises(AssertionError, match="nothing to compare"):
        calls.assert_snapshot()


def test_a_script_that_cannot_be_meant_is_refused():
    with pytest.raises(ValueError, match="answer 1 of the script has no `when`"):
        with ctxc.strict(script=["a", "b"]):
            pass
    with pytest.raises(ctxc.CtxcError, match="answers"):
        with ctxc.strict(script=[{"repl": "a", "when": {}}]):
            pass
    with pytest.raises(ValueError, match="no vendor 'openia'"):
        with ctxc.strict("openia", script=["a"]):
            pass


def test_a_snapshot_is_stored_accepted_and_compared(pytester):
    pytester.makepyfile(asks=ASKS)
    test = """
    import asks

    def test_hello(ctxc_strict):
        calls = ctxc_strict("openai", script=["Hello."])
        assert asks.ask("hi") == "Hello."
        assert calls[0].caller == "asks.py:5"
        calls.assert_snapshot()
    """
    pytester.makepyfile(test_asks=test)
    run = lambda *more: pytester.runpytest_subprocess("-p", "no:cacheprovider", *more)  # noqa: E731
    run().stdout.fnmatch_lines(["*snapshots/test_asks/test_hello.json, which is not there; `pytest --ctxc-accept` stores them*"])
    run("--ctxc-accept").assert_outcomes(passed=1)
    run().assert_outcomes(passed=1)
    pytester.makepyfile(asks=ASKS.replace('"content": words', '"content": words + "!"'))
    changed = run()
    changed.assert_outcomes(failed=1)
    changed.stdout.fnmatch_lines(['*-*"content": "hi"', '*+*"content": "hi!"'])


def test_a_snapshot_with_a_secret_is_not_stored(pytester):
    value = "Fjord-99x-Winter"
    # No mask reads it in this form.
    words = base64.b64encode(f"ann:{value}".encode()).decode()
    pytester.makepyfile(asks=ASKS)
    pytester.makepyfile(
        test_asks=f"""
    import asks

    def test_hello(ctxc_strict):
        calls = ctxc_strict("openai", script=["Hello."])
        asks.ask("the words {words}")
        calls.assert_snapshot()
    """
    )
    (pytester.path / ".env").write_text(f"DB_PASSWORD={value}\n")
    (pytester.path / "ctxc.toml").write_text("")
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--ctxc-accept")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*test_hello.json was not written, because of call 1: *would hold the value of `DB_PASSWORD` in .env*"])
    assert not list(pytester.path.glob("snapshots/**/*.json"))


def test_a_call_of_another_vendor_fails_a_double(pytester):
    pytester.makepyfile(asks=ASKS)
    pytester.makepyfile(
        test_asks="""
    import asks, ctxc, pytest

    def test_hello():
        with pytest.raises(AssertionError, match="expected calls to anthropic alone, found one to openai, sent from asks.py:5"):
            with ctxc.strict("anthropic", script=["Hello."]):
                asks.ask("hi")
    """
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_a_double_fails_where_no_call_comes_and_with_an_empty_script_where_one_does():
    import httpx

    with pytest.raises(AssertionError, match="expected a call, since the script has answers, found none: .*no connection"):
        with ctxc.strict(script=["x"]):
            pass
    with pytest.raises(AssertionError, match="found none: .*1 request went to a mocked transport"):
        with ctxc.strict("openai", script=["x"]):
            with httpx.Client(transport=httpx.MockTransport(lambda request: httpx.Response(200))) as client:
                client.get("https://api.openai.com/v1/models")
    with ctxc.strict(script=[]) as calls:
        pass
    assert len(calls) == 0
    with pytest.raises(AssertionError, match="expected no call, since the script is empty, found 1"):
        with ctxc.strict(script=[]):
            body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]}
            httpx.post("https://api.openai.com/v1/chat/completions", json=body)


def test_a_double_lets_no_connection_leave_the_machine(monkeypatch):
    import asyncio
    import socket
    import urllib.request

    import httpx

    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]}

    async def ask_later():
        async with httpx.AsyncClient(base_url="https://gateway.example/v1") as client:
            await client.post("/chat/completions", json=body)

    def ask_at_an_address():
        socket.create_connection(("192.0.2.7", 443), timeout=1)

    for ask, host in (
        (lambda: httpx.post("https://gateway.example/v1/chat/completions", json=body), "gateway.example"),
        (lambda: asyncio.run(ask_later()), "gateway.example"),
        (lambda: urllib.request.urlopen("https://gateway.example/v1"), "gateway.example"),
        (ask_at_an_address, "192.0.2.7"),
    ):
        with pytest.raises(AssertionError, match=f"found a connection to {host}, which was refused"):
            with ctxc.strict(script=["x"]):
                # The double is reached all the same.
                assert httpx.post("https://api.openai.com/v1/chat/completions", json=body).status_code == 200
                with pytest.raises(Exception, match="lets nothing leave this machine"):
                    ask()
    assert os.environ["HTTPS_PROXY"] == "http://127.0.0.1:9"
    before = (socket.getaddrinfo, socket.socket.connect, socket.socket.connect_ex)
    with ctxc.strict(script=["x"], allow_hosts=["192.0.2.7"]):
        httpx.post("https://api.openai.com/v1/chat/completions", json=body)
        with socket.socket() as own:
            own.setblocking(False)
            # Begun, and not refused by ctxc.
            own.connect_ex(("192.0.2.7", 443))
    assert before == (socket.getaddrinfo, socket.socket.connect, socket.socket.connect_ex)


def test_every_snapshot_of_every_test_has_a_file_of_its_own(pytester):
    pytester.makepyfile(asks=ASKS)
    pytester.makepyfile(
        test_asks="""
    import asks, pytest

    @pytest.mark.parametrize("words", ["a/b", "a-b", "a b", "ab", "A-B", "x" * 300])
    def test_words(ctxc_strict, words):
        calls = ctxc_strict("openai", script=["Hello."])
        asks.ask(words)
        calls.assert_snapshot()

    class TestTwice:
        def test_two(self, ctxc_strict):
            first = ctxc_strict("openai", script=["Hello."])
            asks.ask("one")
            first.assert_snapshot()
            asks.ask("two")
            first.assert_snapshot()
    """
    )
    run = lambda *more: pytester.runpytest_subprocess("-p", "no:cacheprovider", *more)  # noqa: E731
    run("--ctxc-accept").assert_outcomes(passed=7)
    run().assert_outcomes(passed=7)
    names = sorted(path.name for path in pytester.path.glob("snapshots/test_asks/*"))
    assert len(names) == 8 and len({name.lower() for name in names}) == 8, names
    assert {"test_words-ab.json", "TestTwice-test_two.json", "TestTwice-test_two.2.json"} <= set(names)
    assert all(len(name) < 120 for name in names)


def test_calls_that_are_made_at_once_may_come_in_any_order(pytester):
    pytester.makepyfile(asks=ASKS)
    test = """
    import asks

    def test_hello(ctxc_strict):
        calls = ctxc_strict("openai", script=["Hello."])
        for words in {words}:
            asks.ask(words)
        calls.assert_snapshot()
    """
    run = lambda *more: pytester.runpytest_subprocess("-p", "no:cacheprovider", *more)  # noqa: E731
    pytester.makepyfile(test_asks=test.format(words=["one", "two", "three", "two"]))
    run("--ctxc-accept").assert_outcomes(passed=1)
    stored = (pytester.path / "snapshots/test_asks/test_hello.json").read_bytes()
    pytester.makepyfile(test_asks=test.format(words=["two", "three", "two", "one"]))
    run().assert_outcomes(passed=1)
    run("--ctxc-accept").assert_outcomes(passed=1)
    assert (pytester.path / "snapshots/test_asks/test_hello.json").read_bytes() == stored
    # A call more, one less and another one are changes, and the difference shows these alone.
    for words, shown in (
        (["two", "three", "two", "one", "four"], ['*+*"content": "four"']),
        (["two", "one", "three"], ['*-*"content": "two"']),
        (["three", "two", "five", "two"], ['*-*"content": "one"', '*+*"content": "five"']),
    ):
        pytester.makepyfile(test_asks=test.format(words=words))
        changed = run()
        changed.assert_outcomes(failed=1)
        changed.stdout.fnmatch_lines(shown)


def test_a_test_that_fails_or_is_skipped_has_no_second_failure(pytester):
    pytester.makepyfile(
        test_ends="""
    import pytest

    def test_fails(ctxc_strict):
        ctxc_strict("openai", script=["Hello."])
        assert False

    def test_skips(ctxc_strict):
        ctxc_strict("openai", script=["Hello."])
        pytest.skip("not here")

    def test_is_silent(ctxc_strict):
        ctxc_strict("openai", script=["Hello."])
    """
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(failed=1, skipped=1, passed=1, errors=1)


def test_the_plugin_works_from_a_clone(pytester, monkeypatch):
    source = pathlib.Path(ctxc.__file__).parent
    shutil.copytree(source, pytester.path / "clone" / "ctxc", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("PYTHONPATH", str(pytester.path / "clone"))
    monkeypatch.setenv("CTXC", _program.program())
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(asks=ASKS)
    pytester.makepyfile(
        test_asks="""
    import asks, ctxc

    def test_hello():
        with ctxc.strict("openai", script=["Hello."]) as calls:
            asks.ask("hi")
        assert "clone" in ctxc.__file__
        calls.assert_snapshot()
    """
    )
    run = lambda *more: pytester.runpytest_subprocess("-p", "no:cacheprovider", *more)  # noqa: E731
    run().stdout.fnmatch_lines(["*load the plugin with `pytest -p ctxc.pytest_plugin`*"])
    run("-p", "ctxc.pytest_plugin", "--ctxc-accept").assert_outcomes(passed=1)
    run("-p", "ctxc.pytest_plugin").assert_outcomes(passed=1)
    # An installed package loads it as well, and once.
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    run("-p", "ctxc.pytest_plugin").assert_outcomes(passed=1)
