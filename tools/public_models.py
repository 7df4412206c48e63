#!/usr/bin/env python3
"""Makes src/request/public_models.csv: facts of public models, from the price map that LiteLLM publishes.

    python3 tools/public_models.py PATH/model_prices_and_context_window.json DATE > src/request/public_models.csv

DATE is the day on which the map was taken. Prices are US$ for a million tokens; what the map does not say stays empty.
"""
import json
import re
import sys

VENDORS = {"openai": "openai", "anthropic": "anthropic", "gemini": "gemini"}
LEFT_OUT = re.compile(r"^ft:|audio|tts|lyria|live|image|search|realtime|container|computer-use|deep-research|robotics|gemma|learnlm|omni|-exp")

# Where the map says less than the vendor takes: the first GPT-4 answers with as many tokens as it reads (OpenAI's page of the model).
OUTPUT = {"gpt-4": 8192, "gpt-4-0613": 8192}


def price(model, key):
    value = model.get(key)
    return "" if value is None else f"{value * 1e6:.6f}".rstrip("0").rstrip(".")


def flag(model, key):
    return "" if f"supports_{key}" not in model else str(int(bool(model[f"supports_{key}"])))


def main(path, date):
    with open(path, encoding="utf-8") as file:
        models = json.load(file)
    rows = {}
    for name, model in models.items():
        vendor = VENDORS.get(model.get("litellm_provider"))
        if vendor is None or model.get("mode") not in ("chat", "responses") or LEFT_OUT.search(name):
            continue
        window, output = model.get("max_input_tokens"), OUTPUT.get(name, model.get("max_output_tokens"))
        if not isinstance(window, int) or not isinstance(output, int):
            continue
        prices = [price(model, key + "_cost") for key in ("cache_read_input_token", "cache_creation_input_token")]
        prices = [price(model, "input_cost_per_token"), *prices, price(model, "output_cost_per_token")]
        floor = str(model.get("prompt_cache_min_tokens", ""))
        flags = [flag(model, "reasoning"), flag(model, "assistant_prefill")]
        rows[name.rsplit("/", 1)[-1]] = [vendor, str(window), str(output), *prices, floor, *flags]
    print(f"# Facts of public models as LiteLLM's price map had them on {date}; made by tools/public_models.py.")
    print("model,vendor,window,output,usd_input,usd_cached,usd_write,usd_output,cache_floor,reasoning,prefill")
    for name in sorted(rows):
        print(",".join([name, *rows[name]]))


if __name__ == "__main__":
    main(*sys.argv[1:])
