"""A support agent: one question, three tools, a loop. It knows nothing of ctxc."""

import json
import sys

from openai import OpenAI

SYSTEM = """You answer customers of a shop.
# Rules
Never promise a refund. Open a ticket when a person has to decide.
# Runbook
Look the order up, then the parcel. Answer in two sentences."""

ORDERS = {7: {"order": 7, "status": "shipped", "parcel": "P-31"}}
PARCELS = {"P-31": {"parcel": "P-31", "place": "Oslo", "due": "tomorrow"}}


def tool(name, description, argument, kind):
    parameters = {"type": "object", "properties": {argument: {"type": kind}}, "required": [argument], "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = [
    tool("find_order", "Look an order up by its number", "number", "integer"),
    tool("track_parcel", "Say where a parcel is and when it will arrive", "parcel", "string"),
    tool("open_ticket", "Ask a person of the support team to decide", "reason", "string"),
]
ACTIONS = {
    "find_order": lambda number: ORDERS.get(number, "no such order"),
    "track_parcel": lambda parcel: PARCELS.get(parcel, "no such parcel"),
    "open_ticket": lambda reason: "opened",
}


def answer(question):
    client = OpenAI()
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]
    while True:
        message = client.chat.completions.create(model="gpt-4.1", messages=messages, tools=TOOLS).choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            result = ACTIONS[call.function.name](**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})


if __name__ == "__main__":
    print(answer(" ".join(sys.argv[1:]) or "Where is order 7?"))
