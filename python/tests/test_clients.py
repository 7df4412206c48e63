"""The clients of providers, as they are installed, against the double."""

from __future__ import annotations

import asyncio
import json

import pytest

import ctxc

HELLO = ["Hello there."]
TOOL = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}


def line_of(mark: str) -> str:
    lines = open(__file__, encoding="utf-8").read().splitlines()
    found = [number for number, line in enumerate(lines, 1) if line.endswith(f"# {mark}")]
    return f"{__file__.rsplit('/', 1)[-1]}:{found[0]}"


def test_openai_is_answered_and_its_line_is_kept():
    from openai import OpenAI

    with ctxc.strict("openai", script=HELLO) as calls:
        client = OpenAI()
        messages = [{"role": "system", "content": "Be brief.\n# Rules\nNever lie."}, {"role": "user", "content": "hi"}]
        answer = client.chat.completions.create(model="gpt-4.1", messages=messages)  # openai
        assert answer.choices[0].message.content == "Hello there."
        assert len(calls) == 1
        again = client.responses.create(model="gpt-4.1", input="hi")
        assert again.output_text == "Hello there."
    assert calls[0].caller is not None and calls[0].caller.endswith(line_of("openai"))
    assert calls[0].segments["system"].contains("Never lie")
    assert calls[0].segments["system/Rules"].text == "# Rules\nNever lie."
    assert [call.dialect for call in calls] == ["openai-chat", "openai-responses"]
    assert calls.findings == []


def test_a_client_with_the_address_of_its_vendor_is_led_to_the_double():
    from openai import OpenAI

    client = OpenAI(api_key="k", base_url="https://api.openai.com/v1")
    with ctxc.strict("openai", script=HELLO) as calls:
        client.chat.completions.create(model="gpt-4.1", messages=[{"role": "user", "content": "hi"}])
    assert calls[0].endpoint == "/chat/completions"


def test_openai_streams():
    from openai import OpenAI

    with ctxc.strict("openai", script=HELLO):
        stream = OpenAI().chat.completions.create(model="gpt-4.1", messages=[{"role": "user", "content": "hi"}], stream=True)
        assert "".join(part.choices[0].delta.content or "" for part in stream if part.choices) == "Hello there."


def test_openai_is_refused_what_its_provider_refuses():
    from openai import BadRequestError, OpenAI

    messages = [{"role": "user", "content": "hi"}, {"role": "tool", "content": "7", "tool_call_id": "a"}]
    with ctxc.strict("openai", script=HELLO) as calls:
        with pytest.raises(BadRequestError, match="uncalled-result"):
            OpenAI().chat.completions.create(model="gpt-4.1", messages=messages)  # refused
    finding = calls[0].findings[0]
    assert (finding.rule, finding.pointer, finding.severity) == ("uncalled-result", "/messages/1", "error")
    assert finding.caller is not None and finding.caller.endswith(line_of("refused"))
    with pytest.raises(AssertionError, match=line_of("refused")):
        calls.assert_no_findings()


def test_anthropic_is_answered_streamed_and_refused():
    import anthropic

    with ctxc.strict("anthropic", script=HELLO) as calls:
        client = anthropic.Anthropic(api_key="k", base_url="https://api.anthropic.com")
        asked = {"model": "claude-opus-4-8", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]}
        assert client.messages.create(**asked).content[0].text == "Hello there."
        with client.messages.stream(**asked) as stream:
            assert stream.get_final_text() == "Hello there."
        result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "7"}]}
        with pytest.raises(anthropic.BadRequestError, match="ctxc explain"):
            client.messages.create(**{**asked, "messages": [result]})
    assert all(call.caller for call in calls) and calls[2].findings


def test_clients_that_wait_are_answered():
    from openai import AsyncOpenAI

    async def ask() -> str | None:
        client = AsyncOpenAI()
        answer = await client.chat.completions.create(model="gpt-4.1", messages=[{"role": "user", "content": "hi"}])  # waits
        return answer.choices[0].message.content

    with ctxc.strict("openai", script=HELLO) as calls:
        assert asyncio.run(ask()) == "Hello there."
    assert calls[0].caller is not None and calls[0].caller.endswith(line_of("waits"))


def test_gemini_is_answered_and_streamed():
    from google import genai

    with ctxc.strict("gemini", script=HELLO) as calls:
        client = genai.Client(api_key="k")
        assert client.models.generate_content(model="gemini-2.5-flash", contents="hi").text == "Hello there."
        parts = client.models.generate_content_stream(model="gemini-2.5-flash", contents="hi")
        assert "".join(part.text or "" for part in parts) == "Hello there."

        async def ask() -> str | None:
            return (await client.aio.models.generate_content(model="gemini-2.5-flash", contents="hi")).text

        assert asyncio.run(ask()) == "Hello there."
    assert [call.dialect for call in calls] == ["gemini"] * 3 and calls[0].caller


def test_litellm_is_answered_and_streamed():
    import litellm

    asked = {"messages": [{"role": "user", "content": "hi"}]}
    with ctxc.strict("openai", "anthropic", script=HELLO) as calls:
        for model in ("gpt-4.1", "anthropic/claude-sonnet-4-5"):
            assert litellm.completion(model=model, **asked).choices[0].message.content == "Hello there."
            parts = litellm.completion(model=model, stream=True, **asked)
            assert "".join(part.choices[0].delta.content or "" for part in parts) == "Hello there."
    assert [call.dialect for call in calls] == ["openai-chat"] * 2 + ["anthropic"] * 2
    assert all(call.caller for call in calls)


def test_langchain_is_answered_streamed_and_calls_tools():
    from langchain_openai import ChatOpenAI

    script = [{"when": {"lacks": ["again"]}, "tool_calls": [{"name": "find_order", "arguments": {"number": 7}}]}, {"reply": "Hello there."}]
    tool = {"type": "function", "function": {"name": "find_order", "description": "Find an order", "parameters": TOOL}}
    with ctxc.strict("openai", script=script) as calls:
        model = ChatOpenAI(model="gpt-4.1").bind_tools([tool])
        assert model.invoke("hi").tool_calls[0]["args"] == {"number": 7}
        assert "".join(str(part.text) for part in model.stream("again")) == "Hello there."
    assert calls[0].segments["tool:find_order"].contains("Find an order")
    assert all(call.caller for call in calls)


def test_langgraph_runs_in_threads_and_its_line_is_kept():
    from langchain_openai import ChatOpenAI
    from langgraph.graph import END, START, MessagesState, StateGraph

    def ask(state: MessagesState) -> dict:
        return {"messages": [ChatOpenAI(model="gpt-4.1").invoke(state["messages"])]}  # node

    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", END)
    with ctxc.strict("openai", script=HELLO) as calls:
        end = graph.compile().invoke({"messages": [{"role": "user", "content": "hi"}]})
    assert end["messages"][-1].content == "Hello there."
    assert calls[0].caller is not None and calls[0].caller.endswith(line_of("node"))


def test_what_is_recorded_is_replayed(tmp_path):
    from openai import OpenAI

    def ask(words: str) -> str | None:
        return OpenAI().chat.completions.create(model="gpt-4.1", messages=[{"role": "user", "content": words}]).choices[0].message.content

    with ctxc.record(script=HELLO, into=tmp_path, name="hello") as calls:
        ask("hi")
    assert json.loads((tmp_path / "hello.jsonl").read_text())["caller"] == calls[0].caller
    with ctxc.record(replay=calls.path) as again:
        assert ask("hi") == "Hello there."
    assert again[0].request == calls[0].request
