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


DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ABOUT = "Find an order by its number"


def openai_chat(number: int, turns: int) -> None:
    from openai import OpenAI

    messages: list = [{"role": "system" if number % 2 else "developer", "content": "You help with orders."}]
    for turn in range(turns):
        shown = [{"type": "text", "text": f"Where is order {turn}?"}, {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DOT}"}}]
        calls = [{"id": f"c{turn}{at}", "type": "function", "function": {"name": "find_order", "arguments": json.dumps({"number": at})}} for at in range(1 + number % 2)]
        messages += [{"role": "user", "content": shown if number % 3 == 0 else f"Where is order {turn}?"}, {"role": "assistant", "tool_calls": calls}]
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": "in Oslo"} for call in calls]
    more: dict = {"response_format": {"type": "json_object"}} if number % 5 == 0 else {"temperature": 0.2}
    function = {"name": "find_order", "description": ABOUT, "parameters": {**TOOL, "additionalProperties": False}, "strict": number % 2 == 0}
    asked = OpenAI().chat.completions.create(model="gpt-4.1", messages=messages, tools=[{"type": "function", "function": function}], stream=number % 4 == 0, **more)
    if number % 4 == 0:
        assert list(asked)


def openai_responses(number: int, turns: int) -> None:
    from openai import OpenAI

    given: list = []
    for turn in range(turns):
        given += [
            {"role": "user", "content": f"Where is order {turn}?"},
            {"type": "function_call", "call_id": f"c{turn}", "name": "find_order", "arguments": json.dumps({"number": turn})},
            {"type": "function_call_output", "call_id": f"c{turn}", "output": "in Oslo"},
            {"role": "assistant", "content": "It is in Oslo."},
        ]
    given.append({"role": "user", "content": [{"type": "input_text", "text": "And now?"}]})
    tool = {"type": "function", "name": "find_order", "description": ABOUT, "parameters": {**TOOL, "additionalProperties": False}, "strict": True}
    more: dict = {"reasoning": {"effort": "low"}} if number % 2 else {"max_output_tokens": 500}
    OpenAI().responses.create(model="o4-mini" if number % 2 else "gpt-4.1", instructions="You help with orders.", input=given, tools=[tool], **more)


def anthropic_messages(number: int, turns: int) -> None:
    import anthropic

    messages: list = []
    for turn in range(turns):
        asked: list = [{"type": "text", "text": f"Where is order {turn}?"}]
        if number % 3 == 0:
            asked.append({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DOT}})
        messages += [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": f"t{turn}", "name": "find_order", "input": {"number": turn}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{turn}", "content": "in Oslo"}]},
            {"role": "assistant", "content": "It is in Oslo."},
        ]
    messages.append({"role": "user", "content": "And now?"})
    system: list = [{"type": "text", "text": "You help with orders.", "cache_control": {"type": "ephemeral"}}]
    tools: list = [{"name": "find_order", "description": ABOUT, "input_schema": TOOL}]
    asked_for: dict = {"model": "claude-sonnet-4-5", "max_tokens": 200, "messages": messages, "system": system, "tools": tools}
    client = anthropic.Anthropic(api_key="k")
    if number % 4 == 0:
        with client.messages.stream(**asked_for) as stream:
            assert stream.get_final_text()
    else:
        client.messages.create(**asked_for)


def gemini_contents(number: int, turns: int) -> None:
    from google import genai
    from google.genai import types

    contents: list = []
    for turn in range(turns):
        contents += [
            types.UserContent(f"Where is order {turn}?"),
            types.ModelContent(types.Part.from_function_call(name="find_order", args={"number": turn})),
            types.UserContent(types.Part.from_function_response(name="find_order", response={"place": "Oslo"})),
            types.ModelContent("It is in Oslo."),
        ]
    contents.append(types.UserContent("And now?"))
    declared = types.FunctionDeclaration(name="find_order", description=ABOUT, parameters_json_schema=TOOL)
    config = types.GenerateContentConfig(system_instruction="You help with orders.", temperature=0.1 * (number % 5), tools=[types.Tool(function_declarations=[declared])])
    client = genai.Client(api_key="k")
    if number % 4 == 0:
        assert list(client.models.generate_content_stream(model="gemini-2.5-flash", contents=contents, config=config))
    else:
        client.models.generate_content(model="gemini-2.5-flash", contents=contents, config=config)


def langchain(number: int, turns: int) -> None:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_openai import ChatOpenAI

    messages: list = [SystemMessage("You help with orders.")]
    for turn in range(turns):
        call = {"name": "find_order", "args": {"number": turn}, "id": f"c{turn}"}
        messages += [HumanMessage(f"Where is order {turn}?"), AIMessage("", tool_calls=[call]), ToolMessage("in Oslo", tool_call_id=f"c{turn}")]
    tool = {"type": "function", "function": {"name": "find_order", "description": ABOUT, "parameters": TOOL}}
    model = ChatOpenAI(model="gpt-4.1", use_responses_api=number % 2 == 0).bind_tools([tool])
    model.invoke([*messages, HumanMessage("And now?")])


def test_300_requests_of_clients_are_not_refused_and_seldom_warned_of():
    kinds = (openai_chat, openai_responses, anthropic_messages, gemini_contents, langchain)
    with ctxc.strict("openai", "anthropic", "gemini", script=HELLO) as calls:
        for number in range(60):
            for ask in kinds:
                ask(number, 1 + number % 6)
    assert len(calls) == 300
    found = [[finding for finding in call.findings] for call in calls]
    assert [str(one) for all_of in found for one in all_of if one.severity == "error"] == []
    assert sorted(sum(one.severity == "warning" for one in all_of) for all_of in found)[150] <= 1
