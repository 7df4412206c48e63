"""Agents at once, each in a form of its own: `parallel_agents.py FORM`. The first two are the examples of LangGraph's pages on
workflows (parallelization) and on its graph API (map-reduce with `Send`)."""

from __future__ import annotations

import asyncio
import operator
import random
import sys
import time
from typing import Annotated, TypedDict


def delay() -> float:
    """A call may begin before or after each other one, as behind tools and networks."""
    return random.random() * 0.02


def model():
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model="gpt-4.1")


def branches() -> None:
    """Three nodes behind START, and one that waits for all."""
    from langgraph.graph import END, START, StateGraph

    class State(TypedDict, total=False):
        topic: str
        joke: str
        story: str
        poem: str
        combined_output: str

    llm = model()

    def call_llm(kind: str, words: str):
        def call(state: State) -> State:
            time.sleep(delay())
            return {kind: llm.invoke(f"{words} about {state['topic']}").content}

        return call

    def aggregator(state: State) -> State:
        parts = "\n\n".join(f"{kind.upper()}:\n{state[kind]}" for kind in ("story", "joke", "poem"))
        return {"combined_output": llm.invoke(f"Sum this up: {parts}").content}

    graph = StateGraph(State)
    for at, kind in enumerate(("joke", "story", "poem"), 1):
        graph.add_node(f"call_llm_{at}", call_llm(kind, f"Write a {kind}"))
        graph.add_edge(START, f"call_llm_{at}")
        graph.add_edge(f"call_llm_{at}", "aggregator")
    graph.add_node("aggregator", aggregator)
    graph.add_edge("aggregator", END)
    graph.compile().invoke({"topic": "cats"})


def sends() -> None:
    """A node that sends each subject to a node of its own, and one that takes the best."""
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Send

    class OverallState(TypedDict, total=False):
        topic: str
        subjects: list[str]
        jokes: Annotated[list[str], operator.add]
        best_selected_joke: str

    class JokeState(TypedDict):
        subject: str

    llm = model()

    def generate_topics(state: OverallState) -> OverallState:
        llm.invoke(f"Name three subjects of {state['topic']}")
        return {"subjects": ["lions", "elephants", "penguins"]}

    def generate_joke(state: JokeState) -> OverallState:
        time.sleep(delay())
        return {"jokes": [llm.invoke(f"Tell a joke about {state['subject']}").content]}

    def best_joke(state: OverallState) -> OverallState:
        return {"best_selected_joke": llm.invoke("Which is best?\n" + "\n".join(state["jokes"])).content}

    graph = StateGraph(OverallState)
    for node in (generate_topics, generate_joke, best_joke):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "generate_topics")
    graph.add_conditional_edges("generate_topics", lambda state: [Send("generate_joke", {"subject": one}) for one in state["subjects"]], ["generate_joke"])
    graph.add_edge("generate_joke", "best_joke")
    graph.add_edge("best_joke", END)
    graph.compile().invoke({"topic": "animals"})


def gather() -> None:
    """Three agents of two turns each; two of them have the same system text."""
    from openai import AsyncOpenAI

    client = AsyncOpenAI()

    async def agent(system: str, question: str) -> None:
        messages = [{"role": "system", "content": system}]
        for turn in (question, "And when?"):
            messages.append({"role": "user", "content": turn})
            await asyncio.sleep(delay())
            answer = await client.chat.completions.create(model="gpt-4.1", messages=messages)
            messages.append({"role": "assistant", "content": answer.choices[0].message.content})

    async def main() -> None:
        parcels = "You look after parcels, in one sentence, and never promise a date."
        await asyncio.gather(agent(parcels, "Where is 1?"), agent(parcels, "Where is 3?"), agent("You write poems.", "Where is 1?"))

    asyncio.run(main())


if __name__ == "__main__":
    {"branches": branches, "sends": sends, "gather": gather}[sys.argv[1]]()
