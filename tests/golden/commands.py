"""The table of commands: which are run in which input, in the spelling of the old program; `respelt` has the new one."""
import json
import re
from dataclasses import dataclass, replace

from cases import Case, Step

FORMATS = "full concise json jsonl sarif github gitlab junit checkstyle rdjson".split()
PROFILES = "markdown xml plain sections".split()
TARGETS = "openai-chat openai-responses anthropic gemini ollama".split()
BUDGETS = (("--budget", "200"), ("--budget", "1000"), ())
SETTINGS = "inherit_context accumulate_data accumulation_format fresh_context".split()
SCHEMAS = "rng xsd scenario config json".split()
THREADS = ("1", "7")
HISTORIES, OF_A_CASE = 1_500, 10


def respelt(argv):
    """A command line in the spelling of the new program, where it is another one than the old program's."""
    return argv


def step(command, *more, **fields):
    """A step from its words, with further arguments that may hold blanks."""
    return Step((*command.split(), *more), **fields)


def threaded(name, *steps, counts=THREADS, **fields):
    """A case for each number of threads."""
    for count in counts:
        with_count = []
        for each in steps:
            with_count.append(each if each.driver else replace(each, old=(*each.old, "--threads", count)))
        yield Case(name, tuple(with_count), **fields)


def edit(path, old, new):
    """A change of the input between two steps."""
    return Step(("@", path, old, new), driver="edit")


def everyday(name, counts=THREADS, **fields):
    """What is asked of every project of some size."""
    for form in FORMATS:
        yield from threaded(name, step(f"check --format {form}"), counts=counts, **fields)
    yield from threaded(name, step("check -v"), counts=counts, **fields)
    yield from threaded(name, step("check -q"), counts=counts, **fields)
    yield from threaded(name, step("check --diff --unsafe-fixes"), counts=counts, **fields)
    yield from threaded(name, step("check --fix"), step("check --fix"), counts=counts, **fields)
    yield from threaded(name, step("check --fix --unsafe-fixes"), step("check --fix --unsafe-fixes"), counts=counts, **fields)
    yield from threaded(name, step("check --suppress-existing"), step("check --suppress-existing"), step("check --format concise"), counts=counts, **fields)
    yield from threaded(name, step("fmt"), step("fmt --check"), counts=counts, **fields)
    yield from threaded(name, step("fmt --diff"), counts=counts, **fields)
    yield from threaded(name, step("build"), step("build"), step("build --check"), counts=counts, **fields)
    yield from threaded(name, step("build --format json -o built.json"), counts=counts, **fields)
    yield from threaded(name, step("manifest --json"), counts=counts, **fields)
    yield from threaded(name, step("defaults"), step("defaults --json"), counts=counts[-1:], **fields)


def contexts(name, agents, **fields):
    """Every agent in every look, for every provider, with every budget."""
    for agent in agents:
        for budget in BUDGETS:
            for profile in PROFILES:
                words = (*agent.render, "--profile", profile, *budget)
                for more in [(), ("--explain",), *(("--as", target) for target in TARGETS)]:
                    # What is said of threads elsewhere holds here by halves: one of the two for each look.
                    yield from threaded(name, Step((*words, *more)), counts=(THREADS[PROFILES.index(profile) % 2],), **fields)


def repo(name, agents):
    yield from everyday(name)
    for task in sorted({agent.task for agent in agents}):
        yield from threaded(name, step("show", task), step("show --json", task), counts=("7",))
        for setting in SETTINGS:
            yield from threaded(name, step("explain", f"{task}.{setting}"), step("explain --json", f"{task}.{setting}"), counts=("7",))
        yield from threaded(name, step("manifest", task), step("manifest --json --budget 700", task), counts=("7",))
    for role in sorted({agent.role for agent in agents if agent.role}):
        yield from threaded(name, step("manifest --role", role), step("manifest --format markdown --role", role), counts=("7",))
    for form in ("text", "json", "markdown", "html"):
        yield from threaded(name, step(f"manifest --format {form}"))
    for tokenizer in ("o200k", "cl100k", "claude", "gemini", "llama", "bytes"):
        yield from threaded(name, step(f"manifest --json --tokenizer {tokenizer}"), counts=("7",))
    yield from threaded(name, step("manifest -o m.json"), step("manifest --check -o m.json"), edit("templates/triage-ticket.xml", "graver", "lesser"), step("manifest --check -o m.json"),
                        step("manifest diff m.json ."))
    for form in ("text", "json", "markdown"):
        yield from threaded(name, step(f"manifest diff HEAD~1 --format {form}"), step(f"manifest diff HEAD~1 HEAD --format {form}"))
    yield from threaded(name, step("manifest diff HEAD HEAD~1"), step("manifest diff HEAD~1... --budget 700"), step("manifest diff nothing"), counts=("7",))
    yield from threaded(name, step("build -o old.json"), edit("templates/triage-ticket.xml", "graver", "lesser"), edit("ctxc.toml", '[defaults.reduce.inner_task]\ninherit_context = "none"', '[defaults.reduce.inner_task]\ninherit_context = "full"'),
                        step("build -o new.json"), step("diff old.json new.json"), step("diff old.json new.json --json"), step("manifest diff old.json new.json"))
    for words in ("", "--json", "--full --json", "--junit j.xml --out o.json", "--mutate", "--mutate --json", "--since HEAD~1", "--since HEAD~1 --json", "--affected --since HEAD~1 --json", "--since HEAD --json",
                  "--tag support", "--role planner", "--filter triage", "triage-locked-out --json", "-v", "-q", "--accept", "nothing"):
        yield from threaded(name, step(f"eval {words}"))
    yield from threaded(name, step("eval --out o.json"), step("eval --since o.json --json"), edit("templates/triage-ticket.xml", "graver", "lesser"), step("eval --since o.json --json"))
    for query in ("roll back a deploy", "tokens of a context", "zzz nothing", "the", "", '"quoted" AND (x) NEAR', "ünïcode 😀"):
        words = [query] if query else []
        yield from threaded(name, step("search", *words), step("search --json --limit 20", *words))
    for agent in agents:
        yield from threaded(name, Step((*agent.render, "--explain")), counts=("7",))


def agents_of_repo(name, agents):
    """All that depends on the agent: its context in every look, and a scenario of it."""
    for agent in agents:
        yield from threaded(name, Step(("new", "scenario", *agent.render[1:], "--name", "made")), step("eval made --json"), Step(("new", "scenario", *agent.render[1:], "--name", "made")), counts=("7",))
        yield from threaded(name, Step(("new", "scenario", *agent.render[1:], "--name", "made", "--snapshot")), step("eval made"), counts=("7",))
    yield from contexts(name, agents)


def rules(name, all_rules):
    """The pages of every rule, and every schema."""
    yield from threaded(name, step("rules"), step("rules --json"), counts=("7",))
    for rule in all_rules:
        yield from threaded(name, step("explain", rule), step("explain --json", rule), counts=("7",))
    for schema in SCHEMAS:
        yield from threaded(name, step("schema", schema), counts=("7",))
    for artifact in ARTIFACTS:
        yield from threaded(name, step("schema json", artifact), counts=("7",))


ARTIFACTS = "config defaults diagnostics diff explain import manifest manifest-diff mutations registry rule rules scenario scorecard search show watch".split()


def imports(name, _):
    for folder in ("jinja", "dotprompt", "prompty", "langchain"):
        place = f"prompts/{folder}"
        yield from threaded(name, step("import", place), step("check --json"), step("manifest --json"))
        yield from threaded(name, step("import --json", place), counts=("7",))
        yield from threaded(name, step("import --dry-run", place), counts=("7",))
        yield from threaded(name, step("import --trim-blocks --lstrip-blocks --keep-trailing-newline", place), step("import --force", place), counts=("7",))
        yield from threaded(name, step("import", place, "--verify", f"{place}/inputs.jsonl"), step("import --json --verify", f"{place}/inputs.jsonl"))
        for form in ("jinja", "dotprompt", "prompty", "langchain", "markdown"):
            yield from threaded(name, step(f"import --from {form}", place), counts=("7",))
    yield from threaded(name, step("import prompts/jinja/base.j2 prompts/jinja/report.j2 -o made"), step("check made --json"))
    yield from threaded(name, step("import filters"), step("import --verify filters.jsonl"), step("import --json --verify filters.jsonl"), step("check --format concise"), step("build"))
    yield from threaded(name, step("import shipped -o templates --verify shipped/samples.jsonl"), step("import --verify prompts/shipped.jsonl"), step("import --json --verify shipped/samples.jsonl"), step("fmt --check"))
    yield from threaded(name, step("import nothing"), step("import ."), counts=("7",))


def of_seed(name):
    """The numbers of threads for a generated corpus: the first seed has both, each of the others one."""
    return {"2": THREADS[:1], "3": THREADS[1:]}.get(name[-1], THREADS)


def generated(name, _):
    yield from everyday(name, counts=of_seed(name))


def clean(name, agents):
    """A corpus that compiles: what is made of a registry. What is found in templates the corpora with errors show."""
    counts = dict(counts=of_seed(name))
    yield from threaded(name, step("check -v"), **counts)
    yield from threaded(name, step("fmt"), step("fmt --check"), **counts)
    yield from threaded(name, step("build"), step("build --check"), step("build --format json -o built.json"), **counts)
    yield from threaded(name, step("manifest --json"), **counts)
    yield from threaded(name, step("manifest --format html --budget 300"), **counts)
    yield from threaded(name, step("search --json roll back a deploy"), step("search"), **counts)
    for agent in agents[:: max(1, len(agents) // 5)][:5]:
        for words in (("--explain",), ("--as", "anthropic", "--budget", "200"), ("--profile", "xml", "--budget", "1000")):
            yield from threaded(name, Step((*agent.render, *words)), counts=of_seed(name)[:1])
    yield from threaded(name, step("build -o a.json"), edit("ctxc.toml", 'edition = "2026"\n', 'edition = "2026"\n[defaults.atomic]\ninherit_context = "none"\n'), step("build -o b.json"), step("diff a.json b.json --json"),
                        step("diff a.json b.json"), step("manifest diff a.json b.json --json"), **counts)


def scenarios(name, agents):
    for words in ("", "--json", "--mutate --json --filter s00", "--full --junit j.xml --out o.json", "--filter s09 -v"):
        yield from threaded(name, step(f"eval {words}"))
    yield from threaded(name, step("eval --out o.json"), edit("templates/t7.xml", "choose a team", "choose a desk"), edit("docs/runbook.md", "minute", "second"), step("eval --since o.json --json"),
                        step("eval --since o.json --affected"))
    yield from threaded(name, edit("templates/t7.xml", "You triage", "You sort"), edit("scenarios/s0008.yaml", "max: 2000", "max: 20"), edit("scenarios/s0009.yaml", "did not arrive", "was lost"), step("check --json"), step("eval --json"))
    yield from everyday(name, counts=THREADS[1:])
    for words in (("--explain",), ("--as", "gemini"), ("--budget", "200")):
        yield from threaded(name, Step((*agents[0].render, *words)))


def examples(name, _):
    yield from everyday(name)
    yield from threaded(name, step("eval --json"))


def compat(name, _):
    registries = ["compat/registry-1.json", "registries/compat_1.json", "registries/empty_task.json", "registries/newer.json", "registries/open.json"]
    for number, old in enumerate(registries):
        for new in registries[number:]:
            yield from threaded(name, step("diff", old, new), step("diff --json", old, new), step("manifest diff", old, new), step("manifest diff --json", old, new), counts=("7",))
        yield from threaded(name, step("manifest diff", old, "."), step("manifest diff --format markdown", old), counts=("7",))
    yield from threaded(name, step("build"), step("build --check"), edit("templates/a.xml", "Say", "Tell"), step("build --check"))


def plain(name, agents):
    yield from everyday(name)
    yield from threaded(name, step("eval --json"))
    yield from contexts(name, agents)


def hostile(name, _):
    """Each of the broken projects and bombs: everything that reads it."""
    at = dict(cwd="p") if name.startswith("hostile/link-") else {}
    patience = dict(timeout=10, counts=("7",))
    jinja, bench = "/jinja-" in name, "/bench-" in name
    yield from threaded(name, step("check", **at), **patience)
    yield from threaded(name, step("check --format json", **at), timeout=10)
    yield from threaded(name, step("check --fix --unsafe-fixes", **at), step("check --fix --unsafe-fixes", **at), **patience)
    yield from threaded(name, step("fmt", **at), **patience)
    yield from threaded(name, step("build", **at), **patience)
    if bench:
        return
    yield from threaded(name, step("check -v --format concise", **at), step("check --suppress-existing", **at), step("check", **at), **patience)
    yield from threaded(name, step("manifest --json", **at), **patience)
    yield from threaded(name, step("render a --explain", **at), **patience)
    yield from threaded(name, step("render a --as anthropic -i x=1 -i p=1 -i mail=1", **at), **patience)
    yield from threaded(name, step("render o --node /steps/0 -i c=1", **at), **patience)
    yield from threaded(name, step("show a --json", **at), step("defaults", **at), **patience)
    if jinja or "/odd-prompt" in name:
        yield from threaded(name, step("import prompts p", **at), step("check --format concise", **at), step("render p --raw -i x=1 -i d={} -i p=1", **at), **patience)
        if jinja:
            return
    yield from threaded(name, step("eval --json", **at), **patience)
    yield from threaded(name, step("new scenario a -i x=1", **at), **patience)
    if name.startswith(("hostile/link-", "hostile/odd-", "hostile/project-")):
        yield from threaded(name, step("search deploy", **at), step("search a review faster", **at), **patience)
        yield from threaded(name, step("init --ci github", **at), **patience)
        yield from threaded(name, step("import legacy", **at), **patience)
        yield from threaded(name, step("eval --affected", **at), step("manifest --check -o context-manifest.json", **at), **patience)


def editor(name, step_size, parts, logs):
    """Sessions of the language server: histories, by turns with one and with seven threads, and logs of some parts of the input."""
    if name == "editor":
        for number, first in enumerate(range(0, HISTORIES, OF_A_CASE)):
            yield Case(name, (Step(("lsp", "--threads", THREADS[number % 2], "@", str(first), str(OF_A_CASE)), driver="histories"),), timeout=600)
    for count in THREADS:
        for part in range(logs):
            encoding = ("utf-8", "utf-16")[part % 2]
            yield Case(name, (Step(("lsp", "--threads", count, "@", encoding, str(step_size), str(part), str(parts)), driver="log"),), timeout=600)


@dataclass(frozen=True)
class Agent:
    """An agent and the command that renders it with values for everything that it needs."""
    role: str
    task: str
    render: tuple


SAMPLES = {"number": "3", "integer": "3", "boolean": "true", "object": '{"name": "n", "plan": "team"}', "array": '["first", "second"]'}


def agents_of(manifest, registry, texts):
    """The agents of a project, from what the old program says of it; `texts`: all of its templates, for the fields of results."""
    tasks = {task["name"]: task for task in registry.get("tasks", [])}
    found = []
    for entry in manifest.get("entries", []):
        words = ["render", "--role", entry["role"]] if entry["role"] else ["render", entry["task"]]
        words += ["--node", entry["node"]]
        if entry["role"]:
            words += ["--objective", "Do what the material asks for, nothing else."]
        for parameter in tasks.get(entry["task"], {}).get("parameters", []):
            name, kind = parameter["name"], parameter.get("type") or "string"
            if name != "objective" or not entry["role"]:
                words += ["--input", f"{name}={SAMPLES.get(kind, SAMPLES['array'] if kind.endswith('[]') else f'Some words — about {name}.' * 9)}"]
        variables = {name for segment in entry["segments"] for name in segment["variable"]}
        for name in sorted(name.removeprefix("result of ") for name in variables if name.startswith("result of ")):
            fields = sorted(set(re.findall(rf"\b{re.escape(name)}\.(\w+)", texts)) - {"md", "xml", "json", "success", "output"})
            value = json.dumps({field: "sev1" for field in fields}) if fields else f"What {name} left behind. " * 7
            words += ["--result", f"{name}={value}"]
        if entry["node"].endswith("/reduction_task"):
            words += ["--result", "current_result=What the parts gave so far."]
        found.append(Agent(entry["role"], entry["task"], tuple(words)))
    return found


TABLE = {
    "repo": repo, "agents": agents_of_repo, "import": imports, "examples": examples, "recovery": generated, "scenarios": scenarios, "compat": compat, "example-loop": plain, "example-build": plain,
    "corpus": generated, "clean": clean, "hostile": hostile,
}


def cases_of(name, ask):
    """All cases of an input. `ask`: runs the old program in it, for what depends on what it says."""
    if name == "editor":
        return [*editor(name, 3, 8, 8)]
    maker = TABLE.get(name) or TABLE[re.split("[-/]", name)[0]]
    if maker is repo:
        return [*repo(name, ask.agents(name)), *rules(name, ask.rules(name))]
    cases = list(maker(name, ask.agents(name) if maker in (agents_of_repo, clean, plain, scenarios) else None))
    return cases + ([*editor(name, 40, 100, 2)] if name == "corpus-1" else [])
