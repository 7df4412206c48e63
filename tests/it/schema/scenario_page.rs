//! The reference of scenarios as a page, made from the same tables as their schema: a key that is read is on it.

use ctxc::internals::scenario::expect::answer::ANSWER;
use ctxc::internals::scenario::expect::context::CONTEXT_TEST;
use ctxc::internals::scenario::keys::{CASE, CONTEXT, DEFAULTS, FIXTURES, SCENARIO, SUITE};
use ctxc::internals::scenario::table::{Group, Need, Shape, Table};
use std::fmt::Write as _;

/// The scenario of the page. A test runs it.
pub(super) const EXAMPLE: &str = include_str!("scenario_example.yaml");

const HEAD: &str = "\
# Scenarios and suites

A scenario freezes one situation and says what an agent must receive in it, and what it must answer. It is a YAML file under `scenarios/` (or
where `[eval] scenarios` of [ctxc.toml](PROJECT.md) says), or a JSON file that names its format in `schema`. The body of a request to a model that lies there too is passed over. A suite holds many cases in one file.
`ctxc check` tells everything that is wrong with them in one run, each at its place; `ctxc schema scenario` prints the JSON Schema by which
editors complete them. This page is made from the tables that both are made from.

";

/// Checks of the page. Tests run them.
const CHECKS: [(&str, &str); 2] = [("sh", include_str!("own_check.sh")), ("python", include_str!("own_check.py"))];

const NOTES: &str = "\
## How values are read

YAML 1.2 with its core schema: `yes` and `no` are texts, `1.10` is a number, a day is a text, and so are `.inf` and `.nan`, which JSON lacks. A whole number beyond 64 bits
is an error: put it into quotes. Anchors, aliases and `<<` work; a file holds one document, 64
collections inside each other and a million nodes with what its aliases repeat. Patterns are regular expressions of the Rust crate `regex`,
unanchored and case-sensitive; in YAML they are best written in single quotes.

Files lie beside the scenario and inside the project. A content is taken from one by `!file PATH` or `{file: PATH}`; a value under `inputs` or
`results`, and `history`, by the text `@PATH` too; `@@` begins a text that begins with `@`.

A table of cases (`cases_from`) is CSV as RFC 4180 says, with the names of its columns in the first line, or JSONL. The columns `id`, `name`,
`description`, `role`, `task`, `node`, `tags`, `runs`, `pass_threshold`, `reviewed`, `baseline_config_hash`, `objective`, `task_id`, `risk_level`, `contains`,
`absent` and `exact` have the meaning of the key of that name (the last three are about the answer); any other column is an input of the task (write
`inputs.NAME` if the names clash). Empty fields are ignored. A line of JSONL is an object with the keys of a case. A table has 20,000 rows at most.

The `defaults` of a suite are filled into a case key by key, and so is its `context`. A list is taken or replaced, never joined: a case with an
`expect_context` or `expectations` of its own is held against those alone, so one that adds an expectation repeats the suite's.

## How a situation reaches the agent

What the situation says goes to the task's parameter of that name, where the task declares one and `inputs` gives it no value: `objective`,
`constraints`, `acceptance_criteria`, `previous_output`, `failure_history`, `risk_level`, `task_id`, and each key of `extra`. A parameter that takes a text
gets a list as lines. Without such a parameter

- `constraints` and `acceptance_criteria` become the segments `constraints:request` and `criteria:request`, behind those of the task, so that nothing moves
  that a provider's cache can reuse;
- `previous_output` and `failure_history` become those of a pipeline, which are untrusted: agents have said them;
- `objective` becomes the segment `objective` where a role is asked for, unless a line of the description says the same; a task asked for by itself says in
  its description what is to be done;
- everything else is carried and shown to nobody.

`history` is the conversation so far, as `ctxc render --history` takes it: a list of messages here, or a file of one message a line. A task with `<history>` sees
of it what its `turns`, `tokens` and `compacted` leave, as the segment `history`; where no agent of the task has one, `check` says so (`unheard-history`).

`ctxc render --role NAME --objective TEXT`, `ctxc manifest --role NAME` and the library's `Asked::objective` follow the same rule: the manifest shows the
segment as one that is there when the caller names an objective.

A file that a template names is the one in `file_context`, else that of the project, whose text then counts in the context hash.

A JSON Schema in `schema` may use the keywords of drafts 4 to 2020-12, and your own if they start with `x-`. Validators silently ignore anything else, so a typo would check
nothing: `check` reports it in a scenario, and an expectation whose `schema` names a file with one fails.

`$schema` names the draft by which a schema is read: `http://json-schema.org/draft-04/schema#`, `draft-06`, `draft-07`, `https://json-schema.org/draft/2019-09/schema` or
`https://json-schema.org/draft/2020-12/schema`, the last one where it is left out. `check` compiles the schema as `eval` does and reports what its draft does not allow: a list under `items` in
2020-12, another `$schema`. A `$ref` leads into the schema itself or to the schema of a draft; nothing is fetched from elsewhere, and `check` says so.
Keywords that a draft ignores have no effect: those of later drafts, and up to draft 7 everything next to a `$ref`.

## When `not` applies

`not` negates a check only if the check could be made. Where what it asks about is missing, cannot be read or is of the wrong kind, neither the expectation nor
its opposite holds: a JSONPath that selects nothing, a risk that the answer does not say, a node without settings, tokens that nobody counted, a role's tools
where a task is asked for. So a slip in a name fails, under `not` too.

A segment that is absent was looked at, if the agent could be shown it: `not: {segment: {source: docs/x.md, state: kept}}` holds where docs/x.md is a file of the
project or of the case and no part of this context. It fails where no such file is there, and of an input that no task here declares; `check` says so too
(`unknown-segment`). To rule out something that a later change might add, under any name, use `state: absent`.

## Calls of tools

`trajectory` holds all calls of tools that a trial makes against a list. `strict`: these calls in this order, and no others; `unordered`: the same in any order; `superset`: these at
least; `subset`: none but these. A call of the list stands for one call of the trial, so a tool that is to be called twice is listed twice. `arguments` are compared as JSON, `patterns`
are looked for in the argument of that name; arguments that are not named may be anything.

```yaml
- trajectory:
    match: strict
    calls:
      - lookup
      - {name: refund, arguments: {amount: 12}, patterns: {order: '^47'}}
```

## Checks of your own

`command` runs a program of yours, `python` calls a function: in a project that `ctxc trust` permits it to, else `ctxc eval` and `ctxc gate` refuse to begin. It is started in the project's
folder without a shell, and reads the trial from its standard input as JSON: `scenario`, `task`, `role`, `model`, `inputs`, `answer` (the text), `json` (the answer as JSON, else null),
`tool_calls` (a list of `name` and `arguments`), `tokens` (`input` and `output`), `latency_ms` and `cost_usd`. Keys may be added. It writes `{\"pass\": true, \"reason\": \"…\"}` to its standard
output, or a list of such, which have to pass all; a Python function returns that, or `True` or `False`.

```yaml
- command: [sh, checks/calm.sh]
- python: checks.plan:owners
- command: {argv: [./checks/slow], timeout_s: 60}
```

";

const AFTER: &str = "\
A check that gives no such verdict is an error of the trial, which neither passes nor fails (exit code 3): the program is not there, ends with another exit code than 0 or with a signal,
writes more than 1 MiB, or is not done within `timeout_s`, 10 seconds where that is left out. It is killed then, with everything that it started. With `gate: false` such an expectation is
skipped. It gets the environment of ctxc, without variables that end in `_KEY`, `_TOKEN` or `_SECRET` and without those of `api_key_env`. A change of a file of the project that the command or
the module names moves the case key, and the gate lists it as a weakening; what else the check reads is not looked at, so let it depend on nothing but the trial.

## Whole tasks

With `run: true` the whole task is run, as `ctxc run` does it, with all its agents. `answers` gives them what they answer, by `when: {node: NAME}` in turn, or the
recording beside the scenario does. No command runs: what a script writes is an answer, too. Tools give back what `fixtures: {tools: …}` of the suite says.

```yaml
task: review-code
run: true
expect_context:
  - nothing_cut: true                                    # in the context of each agent that is asked
  - {node: /director@2, contains: [\"no longer cut\"]}     # the second time that it is asked
expectations:
  - path: [/director, /script_execution, /evaluator]     # exactly these, in this order
  - {node: /evaluator, field_matches: {path: $.success, pattern: \"^true$\"}}
  - contains: [\"min\"]                                    # the result of the task
answers:
  - {when: {node: /director}, reply: \"size = min(size, LIMIT)\"}
  - {when: {node: /script_execution}, reply: \"test result: ok\"}
  - {when: {node: /evaluator}, reply: {success: true}}
```

`node` beside an expectation names an agent by its name or path; the expectation has to hold each time that the agent is asked, or only the second time behind `@2`. Without `node`
an expectation on the context is about every agent, and one on the answer about the result of the task: its text, the calls of tools and the tokens of the whole run. `path` with
`match: superset` holds that the run comes by some nodes, `not` around it that it does not. A run that ends *blocked* or *failed* fails its trial, unless `ends` expects that. What
happens in the subtasks of an agent is part of that agent.

`ctxc eval --mutate` tries changes in what each agent of a run receives, and lists those that no expectation notices.

`ctxc new scenario --from run:ID` writes such a scenario from a run, with its answers; `run:ID/NODE` one of a single agent. `ctxc new scenario --best N` writes scenarios of the
N kept runs, of all tasks or of one that is named, that cover the most of what no scenario covers yet: tasks and roles first, then agents, the ways between them, whole paths and ends. It writes
fewer where no other run adds anything, takes a complete run before one that is not, and passes over runs that no scenario can hold. With `--from run:ID --propose` the project's role `archivist` proposes a name, a reason and further
expectations: they stand in the scenario as comments, and nothing of them holds before somebody takes it over.

## Where answers come from

Expectations on the context are always judged. Those on the answer are judged against, in this order:

1. **the recording** of the case, `recordings/NAME.jsonl` beside its file: a call a line (`ctxc/request/1`), found again by what is asked. `ctxc eval --record` writes it: it asks
   the model of the role as often as `runs` says, and keeps what it answers; `--answers replay-or-record` asks only where nothing was recorded for the request, `--answers live` records
   nothing. `--record --stale` is the former: it records what is stale, was never recorded, or lost trials. All three need a project that `ctxc trust` permits it to, or `--trust-hash` in CI; `--budget-usd` and `--budget-tokens` end the calls. Replayed, a case has as many trials as
   there are answers to its request, and no more than `runs`; where those are fewer, the report says so (`1 of 3 recorded`). Each line says how many trials there were to be: where some
   of them are gone, `rule` holds as it is written, and what is left passes or fails only where it decides that; else the case is `INCONCLUSIVE`;
2. **the script** under `answers`, where there is no recording: the first whose `when` holds. It is a person's answer, and every report says `scripted`, as it does of a line of a
   recording that says `\"answered_by\": \"script\"`.

Until all trials of a case are answered, its new recording lies in `recordings/NAME.jsonl.part`, and the old one stays where it is. A run that was killed, or whose budget ended, leaves the
answers there that were paid for; the next `--record` goes on from them. No model is asked where its answer could not be kept.

While models are asked, a line every ten seconds says how far the run is, what it cost and how long it may take (`-q`: none). A call that fails is made up to twice more; one that the provider
limits (429) is made again until it has waited five minutes in all, and never sooner than `Retry-After` says. A call ends after 10 seconds without a connection, after five minutes without a byte,
and after ten minutes in all. What stays unanswered is an error of its scenario, never a fail.

An answer that the limit of tokens cut, that the provider withheld, that the model refused to give, or that is empty and calls no tool, fails its trial for that reason: what it lacks would
say nothing of the agent. Expectations that look at nothing but tools that were called, tokens, time or price are judged all the same. `refuses: true` expects a refusal: then what was said with it
is judged like any answer. A script never refuses.

`--answers replay` and `--answers scripted` take one of the two alone. A case without either is *not recorded*: its context decides, and where it expects nothing of that, it is
`INCONCLUSIVE` (exit code 7).

An answer belongs to the bytes of its request. Where one moved, since a template, a setting, a tool or a model did, the case is `STALE` (exit code 6, or 0 with `stale = \"warn\"` in
`[eval]`): the report says which part of the request moved and what recording anew takes, and neither an old answer nor the script passes in its place.

`ctxc eval --plan` says before any call what asking takes: calls, US$ from the least to the most (by recorded usage where there is some, else by the tokens of the context and the limit of
the answer), time, and what the rule makes of a scenario that passes at some rate. A case passes when `pass` of its `runs` trials do; trials end once that is certain, unless `--full` says
otherwise, or they are recorded. `--confirm` tries a case that fails in a second stage, `confirm` or 7 of 10: with 2 of 3 alone, twenty cases that pass nine trials of ten are red in 43 % of
all runs, with the second stage in less than 1 %, for 0.22 trials a case more; a case that fell to 30 % is still caught in three of four runs. `strict: true` does without. `rule.stage` in the
scorecard says which stage decided. What failed to be answered is no trial. `--runs N --pass K` tries every case so, and `--jobs N` bounds the calls under way at once.

A tool that the agent calls answers with what the suite has for its name in `fixtures: {tools: …}`, and the agent is asked again, 16 times at most; a tool that is not there ends the
conversation. Expectations see the last answer, the calls of all, and the tokens of all.

Before a call is kept, values of variables that end in `_KEY`, `_TOKEN` or `_SECRET`, keys of known form, e-mail addresses, phone numbers, cards (by their check digit) and IBANs become
placeholders such as `⟦email:3fa2⟧`, the same for the same value; `redacted` lists where. So do the values of `api_key_env`. A value of fewer than 8 characters is replaced where it is a
word of its own and has a letter and a digit; one of fewer than 4 nowhere. The rest is found in texts by its form alone: read a recording before you commit it.

## What is run again

Every result belongs to two keys. The *context hash* covers what decides the context: the task and everything that it reaches with its resolved settings, the
role with its prompt, model, tools and budget, who counts the tokens, and files that are not frozen. The *case key* covers what the scenario says, the
files that it names, the stored request, its recording, the fixtures of its tools, `[eval] plan_path`, and the version of ctxc. A comment or white space moves neither.

- `ctxc eval --since REV` compiles the project as a git revision has it and compares the keys: it runs the cases of which one moved since, and those that
  are new. `ctxc eval --affected` does so with `HEAD`, the last commit. What a `lookup` would have found there is looked up in the files of that revision. All other cases are left out of the run and of its exit code, and a note says how many;
  nothing is known of their verdicts. A revision whose own project has errors is told with their files, and nothing is run.
- `ctxc eval --since FILE` compares with a scorecard that `--out` wrote, which is believed, since you name it: it runs the cases of which a key moved, those that
  are new, and those that did not pass. All others are listed as CARRIED with the result that holds, and count in the exit code as what they were.

Exit code 0 is never given because nobody reads the output: `ctxc eval | head -1` ends with the verdict. A case of a task that rests on a file with errors is
not run: its verdict is an error with the rule's code and the place, and all others run.

";

/// The page.
pub(super) fn markdown() -> String {
    let mut out = HEAD.to_owned();
    // Writing to a string cannot fail, here and below.
    let [sh, python] = CHECKS.map(|(language, text)| format!("```{language}\n{text}```\n\n"));
    let _ = write!(out, "## An example\n\n```yaml\n{EXAMPLE}```\n\n{NOTES}{sh}{python}{AFTER}");
    section(&mut out, "## A scenario", &SCENARIO);
    section(&mut out, "### `context`", &CONTEXT);
    section(&mut out, "### An entry of `expect_context`", &CONTEXT_TEST);
    section(&mut out, "### An entry of `expectations`", &ANSWER);
    let mut told: Vec<&Table> = vec![&SCENARIO, &CONTEXT, &CONTEXT_TEST, &ANSWER, &CASE, &DEFAULTS, &FIXTURES, &SUITE];
    let mut at = 0;
    while let Some(table) = told.get(at).copied() {
        for inner in table.keys.iter().filter_map(|key| inner(key.shape)) {
            let is_test = inner.what == "an expectation inside another";
            if !is_test && !told.iter().any(|known| std::ptr::eq(*known, inner)) {
                section(&mut out, &format!("### {}", title(inner.what)), inner);
                told.push(inner);
            }
        }
        at += 1;
    }
    section(&mut out, "## A suite", &SUITE);
    let _ = writeln!(
        out,
        "A case has `id` in place of `name`, and every other key of a scenario; `defaults` has them all but `id` and `name`.\n"
    );
    section(&mut out, "### `fixtures`", &FIXTURES);
    out.truncate(out.trim_end().len());
    out + "\n"
}

fn title(what: &str) -> String {
    let mut chars = what.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn section(out: &mut String, title: &str, table: &Table) {
    let _ = writeln!(out, "{title}\n\n| key | takes | says |\n|---|---|---|");
    for key in table.keys {
        let alias = key.alias.map(|alias| format!(", or `{alias}`")).unwrap_or_default();
        let need = if key.need == Need::Required { ", required" } else { "" };
        let _ = writeln!(out, "| `{}`{alias} | {}{need} | {} |", key.name, takes(key.shape), key.about.replace('|', "\\|"));
    }
    out.push('\n');
    for group in table.groups {
        let list = |keys: &[&str]| keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        let _ = match group {
            Group::One(keys) if keys.len() > 4 => writeln!(
                out,
                "Exactly one of these keys{}.\n",
                if keys.len() < table.keys.len() { ", but for the last, which may stand with any" } else { "" }
            ),
            Group::One(keys) => writeln!(out, "Exactly one of {}.\n", list(keys)),
            Group::Some(keys) => writeln!(out, "At least one of {}.\n", list(keys)),
            Group::Apart(one, others) => writeln!(out, "`{one}` excludes {}.\n", list(others)),
        };
    }
}

#[allow(clippy::wildcard_enum_match_arm, reason = "the rest is said by the shape itself")]
fn takes(shape: Shape) -> String {
    match shape {
        Shape::Word(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Shape::Date => "a day, `2026-11-21`".to_owned(),
        Shape::Pattern => "a pattern".to_owned(),
        Shape::Path => "a JSONPath of RFC 9535".to_owned(),
        Shape::Whole(least, most) if most <= 1000 => format!("a whole number from {least} to {most}"),
        Shape::Whole(least, _) => format!("a whole number from {least}"),
        _ => shape.wanted().replace('|', "\\|"),
    }
}

/// The table that a shape holds.
#[allow(clippy::wildcard_enum_match_arm, reason = "no other shape holds a table")]
fn inner(shape: Shape) -> Option<&'static Table> {
    match shape {
        Shape::Table(table)
        | Shape::IdOr(table)
        | Shape::PatternsOr(table)
        | Shape::WordOr(_, table)
        | Shape::Or(_, table)
        | Shape::Pairs(table)
        | Shape::Chat(table)
        | Shape::Said(table) => Some(table),
        Shape::List(item, _) => inner(*item),
        _ => None,
    }
}
