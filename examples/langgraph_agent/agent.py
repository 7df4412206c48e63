"""A support agent as LangGraph's own pages build one: a graph of a model and its tools. It knows nothing of ctxc."""

import sys

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

SYSTEM = """You answer customers of a shop.
# Rules
Never promise a refund. Open a ticket when a person has to decide.
# Runbook
Look the order up, then the parcel. Answer in two sentences."""


@tool
def find_order(number: int) -> str:
    """Look an order up by its number"""
    return {7: "order 7 is shipped as parcel P-31"}.get(number, "no such order")


@tool
def track_parcel(parcel: str) -> str:
    """Say where a parcel is and when it will arrive"""
    return {"P-31": "parcel P-31 is in Oslo and due tomorrow"}.get(parcel, "no such parcel")


@tool
def open_ticket(reason: str) -> str:
    """Ask a person of the support team to decide"""
    return "opened"


TOOLS = [find_order, track_parcel, open_ticket]


def build():
    model = ChatOpenAI(model="gpt-4.1").bind_tools(TOOLS)

    def call_model(state: MessagesState):
        return {"messages": [model.invoke([SystemMessage(SYSTEM), *state["messages"]])]}

    graph = StateGraph(MessagesState)
    graph.add_node("call_model", call_model)
    graph.add_node("tools", ToolNode(TOOLS))
    graph.add_edge(START, "call_model")
    graph.add_conditional_edges("call_model", tools_condition)
    graph.add_edge("tools", "call_model")
    return graph.compile()


if __name__ == "__main__":
    question = " ".join(sys.argv[1:]) or "Where is order 7?"
    print(build().invoke({"messages": [HumanMessage(question)]})["messages"][-1].content)
