"""Counts texts with tiktoken over the tables that are part of the program: `count.py FOLDER-OF-TABLES < texts > counts`.

Texts come as JSON, `[{"table": "o200k", "text": "…"}, …]`; counts go out as a JSON list. The tables hold the tokens in the order
of their ranks, each as its length in one byte and its bytes; the patterns are tiktoken's own.
"""

import json
import pathlib
import sys

import tiktoken
import tiktoken_ext.openai_public as public


def encoding(folder, name):
    data = (folder / f"{name}.tokens").read_bytes()
    ranks, at = {}, 0
    while at < len(data):
        end = at + 1 + data[at]
        ranks[data[at + 1 : end]] = len(ranks)
        at = end
    # The package would fetch the table; it is handed in instead, and a table of another length is refused.
    public.load_tiktoken_bpe = lambda *_, **__: ranks
    spec = getattr(public, f"{name}_base")()
    return tiktoken.Encoding(
        name=name, pat_str=spec["pat_str"], mergeable_ranks=ranks, special_tokens=spec["special_tokens"]
    )


folder = pathlib.Path(sys.argv[1])
encodings = {}
counts = []
for item in json.load(sys.stdin):
    table = item["table"]
    if table not in encodings:
        encodings[table] = encoding(folder, table)
    counts.append(len(encodings[table].encode_ordinary(item["text"])))
json.dump(counts, sys.stdout)
