//! The reference of scenarios as a page, made from the tables of their schema: every key that is
//! read is on it.

use ctxc::internals::scenario::expect::answer::ANSWER_TABLE;
use ctxc::internals::scenario::expect::context::CONTEXT_TEST_TABLE;
use ctxc::internals::scenario::keys::{
    CASE_TABLE, CONTEXT_TABLE, DEFAULTS_TABLE, FIXTURES_TABLE, SCENARIO_TABLE, SUITE_TABLE,
};
use ctxc::internals::scenario::rubric::RUBRIC_TABLE;
use ctxc::internals::scenario::table::{KeyGroup, KeyNeed, ScenarioShape, ScenarioTable};
use std::fmt::Write as _;

/// The scenario of the page. A test runs it.
pub(super) const EXAMPLE: &str = include_str!("scenario_example.yaml");

const HEAD: &str = "\
# Scenarios and suites

A scenario freezes one situation and says what an agent must receive in it, and what it must answer. It is a YAML file under `scenarios/` (or
where `[eval] scenarios` of [ctxc.toml](PROJECT.md) says), or a JSON file that names its format in `schema`. Bodies of requests to a model in that folder are ignored. A suite holds many cases in one file.
`ctxc check` reports every error in them in one run, each with its place; `ctxc schema scenario` prints the JSON Schema for completion in
editors. This page is made from the same tables as both.

";

/// Checks of the page. Tests run them.
const CHECKS: [(&str, &str); 2] = [
    ("sh", include_str!("own_check.sh")),
    ("python", include_str!("own_check.py")),
];

const NOTES: &str = "\
## How values are read

Files are YAML 1.2 with its core schema: `yes` and `no` are texts, `1.10` is a number, dates are texts, and so are `.inf` and `.nan`, which JSON lacks. A whole number beyond 64 bits
is an error: quote it. Anchors, aliases and `<<` work. A file holds one document, with collections nested at most 64 deep
and at most a million nodes, expanded aliases included. Patterns are regular expressions of the Rust crate `regex`,
unanchored and case-sensitive; in YAML, write them in single quotes.

Paths of files are relative to the scenario and must stay inside the project. `!file PATH` or `{file: PATH}` takes a content from a file. A value under `inputs` or
`results`, and `history`, may also be the text `@PATH`; write `@@` for a text that begins with `@`.

A table of cases (`cases_from`) is CSV (RFC 4180) with the names of its columns in the first line, or JSONL. The columns `id`, `name`,
`description`, `role`, `task`, `node`, `tags`, `runs`, `pass_threshold`, `min_score`, `reviewed`, `baseline_config_hash`, `objective`, `task_id`, `risk_level`, `contains`,
`absent` and `exact` have the meaning of the key of that name (the last three are about the answer); any other column is an input of the task (write
`inputs.NAME` if the names clash). Empty fields are ignored. A line of JSONL is an object with the keys of a case. A table has at most 20,000 rows.

The `defaults` of a suite are filled into each case key by key, and so is their `context`. Lists are never joined: a case with its own
`expect_context` or `expectations` is judged by those alone, so to add an expectation, repeat those of the suite.

## How a situation reaches the agent

Each of these keys goes to the task's parameter of the same name, if the task declares one and `inputs` gives it no value: `objective`,
`constraints`, `acceptance_criteria`, `previous_output`, `failure_history`, `risk_level`, `task_id`, and each key of `extra`. A parameter that takes a text
gets a list as lines. Without such a parameter:

- `constraints` and `acceptance_criteria` become the segments `constraints:request` and `criteria:request`, after those of the task, so that the prefix that
  a provider's cache can reuse stays the same;
- `previous_output` and `failure_history` become the same segments as in a pipeline. They are untrusted, because agents wrote them;
- `objective` becomes the segment `objective` if the scenario names a role, unless a line of the description is identical. If the scenario names a task, the
  description says what to do;
- everything else is kept in the scenario and shown to no agent.

`history` is the conversation so far, as `ctxc render --history` takes it: a list of messages here, or a file with one message a line. A task with `<history>` sees
what its `turns`, `tokens` and `compacted` leave of it, as the segment `history`. If no agent of the task has `<history>`, `check` reports it (`unheard-history`).

`ctxc render --role NAME --objective TEXT`, `ctxc manifest --role NAME` and the library's `Asked::objective` follow the same rule. Without an objective, the
manifest lists the segment on the condition that the caller names one.

A file that a template names is taken from `file_context`, else from the project; its text then counts in the context hash.

A JSON Schema in `schema` may use the keywords of drafts 4 to 2020-12, and your own if they start with `x-`. Validators silently ignore anything else, so a typo would check
nothing: `check` reports it in a scenario, and an expectation fails if the file that its `schema` names has one.

`$schema` names the draft of a schema: `http://json-schema.org/draft-04/schema#`, `draft-06`, `draft-07`, `https://json-schema.org/draft/2019-09/schema` or
`https://json-schema.org/draft/2020-12/schema`, the default. `check` compiles the schema as `eval` does and reports what its draft does not allow, such as a list under `items` in
2020-12 or another `$schema`. A `$ref` may lead into the schema itself or to the schema of a draft. `check` reports any other `$ref`, since nothing is fetched.
Keywords that a draft ignores have no effect: those of later drafts, and up to draft 7 everything next to a `$ref`.

## When `not` applies

`not` negates a check only if the check could be made. If its subject is missing, cannot be read or is of the wrong kind, both the expectation and
its opposite fail: a JSONPath that selects nothing, an answer without a risk, a node without settings, tokens that were not counted, a role's tools
when the scenario names a task. So a typo in a name fails, under `not` too.

Absence can be checked for any segment that the agent could be shown: `not: {segment: {source: docs/x.md, state: kept}}` holds if docs/x.md is a file of the
project or of the case and not part of this context. It fails if no such file exists, and for an input that no task here declares; `check` reports both
(`unknown-segment`). To rule out something that a later change might add, under any name, use `state: absent`.

## Calls of tools

`trajectory` compares all calls of tools that a trial makes with a list. `strict`: these calls in this order and no others; `unordered`: the same in any order; `superset`: at least
these; `subset`: no others. Each call of the list matches one call of the trial, so list a tool twice if it is to be called twice. `arguments` are compared as JSON; `patterns`
are searched for in the argument of that name. Arguments that are not named may be anything.

```yaml
- trajectory:
    match: strict
    calls:
      - lookup
      - {name: refund, arguments: {amount: 12}, patterns: {order: '^47'}}
```

## Checks of your own

`command` runs a program of yours, `python` calls a function. A scenario whose program or check `ctxc trust` does not permit is
skipped and `INCONCLUSIVE` (exit code 7); with `gate: false` it is skipped and does not count. The other scenarios run, and a note says how many were not decided. The check runs in the project's
folder without a shell, and reads the trial from standard input as JSON: `scenario`, `task`, `role`, `model`, `inputs`, `answer` (the text), `json` (the answer as JSON, else null),
`tool_calls` (a list of `name` and `arguments`), `tokens` (`input` and `output`), `latency_ms` and `cost_usd`. Later versions may add keys. It writes `{\"pass\": true, \"reason\": \"…\"}` to standard
output, or a list of these, all of which must pass; a Python function returns the same, or `True` or `False`. In a [scored](#scores) scenario, a `score` from 0 to 1 beside `pass` counts.

```yaml
- command: [sh, checks/calm.sh]
- python: checks.plan:owners
- command: {argv: [./checks/slow], timeout_s: 60}
```

";

const AFTER: &str = "\
A check that gives no such verdict is an error of the trial, which then neither passes nor fails (exit code 3): the program does not exist, ends with a signal or an exit code other than 0,
writes more than 1 MiB, or exceeds `timeout_s` (default: 10 seconds). It is then killed with everything that it started. With `gate: false`, such an expectation is
skipped. A check gets the environment of ctxc, without variables that end in `_KEY`, `_TOKEN` or `_SECRET` and without those of `api_key_env`. If a file of the project that the command or
the module names changes, so does the case key, and the gate lists it as a weakening. Nothing else that the check reads is tracked, so let it depend on the trial alone.

## Whole tasks

With `run: true` the whole task is run with all its agents, as `ctxc run` does it. Their answers come from `answers`, in turn by `when: {node: NAME}`, or from the
recording beside the scenario. No command runs: the output of a script is an answer, too. Tools return what `fixtures: {tools: …}` of the suite says.

```yaml
task: review-code
run: true
context:
  objective: Improve the change until its review finds no defect.
  inputs:
    goal: uploads stay below the limit
    diff: \"+    size = LIMIT\"
expect_context:
  - nothing_cut: true                                    # in the context of each agent that is asked
  - {node: /director@2, contains: [\"no longer cut\"]}     # the second time that it is asked
expectations:
  - path: [/director, /script_execution, /evaluator, /director, /script_execution, /evaluator]   # exactly these, in this order
  - {node: /evaluator@2, field_matches: {path: $.success, pattern: \"^true$\"}}
  - contains: [\"min\"]                                    # the result of the task
answers:
  - {when: {node: /director}, reply: \"size = size\"}
  - {when: {node: /director}, reply: \"size = min(size, LIMIT)\"}
  - {when: {node: /script_execution}, reply: \"test result: FAILED\", exit: 101}
  - {when: {node: /script_execution}, reply: \"test result: ok\"}
  - {when: {node: /evaluator}, reply: {success: false, feedback: \"The size is no longer cut to the limit.\"}}
  - {when: {node: /evaluator}, reply: {success: true, feedback: \"\"}}
```

The answer of a script also says how the script ends: `exit: 1` (default: 0) with `stderr`, or `killed_by: signal` or `killed_by: timeout`. As in a real run, the evaluator of a loop is
shown the output with the exit code. A failing script anywhere else fails the run, and so does a killed script, even in a loop; `ends: failed` expects that.

`node` beside an expectation names an agent by its name or path. The expectation must hold each time that the agent is asked; with `@2` after the name, only the second time. Without `node`,
an expectation on the context is about every agent, and one on the answer about the result of the task: its text, and the calls of tools and the tokens of the whole run. `path` with
`match: superset` requires the run to visit some nodes; `not` around it, not to. A run that ends *blocked* or *failed* fails its trial, unless `ends` expects that. What
happens in the subtasks of an agent is part of that agent.

`ctxc eval --mutate` tries changes in what each agent of a run receives, and lists those that no expectation notices.

`ctxc new scenario --from run:ID` writes such a scenario from a run, with its answers; `run:ID/NODE` writes one of a single agent. `ctxc new scenario --best N` does so for the
N kept runs (of all tasks, or of the one you name) that cover the most of what no scenario covers yet: tasks and roles first, then agents, the transitions between them, whole paths and ends. It writes
fewer if no other run adds anything, prefers complete runs, and skips runs that no scenario can hold. With `--from run:ID --propose` the project's role `archivist` proposes a name, a reason and further
expectations. They are comments in the scenario and have no effect until somebody accepts them.

## The compaction of a session

With `compaction`, a scenario repeats a compaction of a coding agent's session, and the summary is its answer. `survives` expects a share of the facts of each class: 1 or `all`, 0.5 for half of them. A fact survives if the summary or a message that stays has it, or if
the agent's program loads it again. `needed_again` limits the facts that were dropped although the agent used them later in the session. All other expectations on answers apply to the text of the summary. A class without a fact in the session fails, so a typo does not pass.

```yaml
name: checkout
compaction:
  session: b3:5b1c0a4f4a9f7f0e2d1c3b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796
  number: 2
  method: {role: compactor}
expectations:
  - survives: {instruction: all, file.modified: 1.0, error: 0.5, needed_again: 0}
```

The method is `recorded` (the summary in the session), `truncate` (the newest messages up to a number of tokens), a program, or a role. A program gets the messages that the compaction dropped from standard input as JSON: `summary` (the one before, else an empty text) and `messages`, each with `role`
and `text`; it writes the summary to standard output, or returns it if it is a Python function. It runs as [checks of your own](#checks-of-your-own) do, with the permission of `ctxc trust`. A role gets the same as the input `conversation` of its task; its answers are recorded, replayed and stale like all others.

The session is `sessions/HASH.jsonl` beside the scenario, or in the user's folder for state, where `ctxc new scenario --from SESSION#2` puts it, masked as recordings are; `--embed` puts it beside the scenario. Without the session the scenario is `INCONCLUSIVE` (exit code 7). No answer is recorded for a session that is not in the
project, since a recording contains what was sent. `ctxc eval --mutate` drops one fact of the summary at a time, and lists those whose loss no scenario notices. [COMPACTION.md](COMPACTION.md) goes from a session to such a test.

## Where answers come from

Expectations on the context are always judged. Those on the answer are judged against, in this order:

1. **the recording** of the case, `recordings/NAME.jsonl` beside its file: one call a line (`ctxc/request/1`), found by its request. `ctxc eval --record` writes it: it asks
   the model of the role as often as `runs` says, and keeps the answers. `--answers replay-or-record` asks only if nothing was recorded for the request; `--answers live` records
   nothing. `--record --stale` is short for `--answers replay-or-record`: it records cases that are stale, were never recorded, or lost trials. All of these need the permission of `ctxc trust`, or `--trust-hash` in CI; `--budget-usd` and `--budget-tokens` limit the calls. On replay, a case has as many trials as
   there are answers to its request, but at most `runs`; if there are fewer, the report says so (`1 of 3 recorded`). Each line says how many trials were planned. If some
   are missing, `rule` applies unchanged: the case passes or fails only if the trials that are left decide it, else it is `INCONCLUSIVE`;
2. **the script** under `answers`, if there is no recording: the first answer whose `when` matches. A person wrote it, so every report says `scripted`, also for a line of a
   recording that says `\"answered_by\": \"script\"`.

Until all trials of a case are answered, its new recording is in `recordings/NAME.jsonl.part`, and the old one stays where it is. If a run is killed or its budget ends, the
answers already paid for stay there, and the next `--record` goes on from them. A model is asked only if its answer can be kept.

While models are asked, a line every ten seconds says how far the run is, what it has cost and how long it may take (`-q`: none). A failed call is retried up to twice; if the provider
limits the rate (429), it is retried until it has waited five minutes in all, and never sooner than `Retry-After` says. A call times out after 10 seconds without a connection, after five minutes without a byte,
and after ten minutes in all. A call that stays unanswered is an error of its scenario, never a failure.

A trial fails if its answer was cut at the token limit, withheld by the provider or refused by the model, or is empty and calls no tool; the report gives that reason, since what such an answer lacks
says nothing about the agent. Expectations on called tools, tokens, time or price alone are still judged. `refuses: true` expects a refusal: what was said with it
is then judged like any answer. A script never refuses.

`--answers replay` and `--answers scripted` use only one of the two. A case without either is *not recorded*: its context decides, and if it has no expectation on that, it is
`INCONCLUSIVE` (exit code 7).

[`judge` and `rubric`](#judged-by-a-model) are scored by a model. `todo: TEXT` names an expectation that is still to be written; `ctxc import` writes it for assertions that it cannot
carry over. A case with one is never `PASS`, with or without an answer: it is `INCONCLUSIVE`, or `FAIL` if something else fails. With `gate: false` it only informs. `ctxc check` reports it, and a `judge` or `rubric` in a project without the role `judge` (`unjudged-expectation`).
The last line of `ctxc eval` says how many scenarios had answers, if one that expects something of its answer has none. A case that was recorded more often than its `runs` says so: only the first
`runs` trials count.

An answer belongs to its request, however the program sends that now: the order of fields, escapes and the spelling of numbers make no difference, nor do masked values or parts that
[`volatile`](PROJECT.md#requests) leaves out. In the recording itself the request stays as it was written, since its `key` is the hash of that; the order of the other fields of the line is free. If a template, a setting, a tool or a model changes the request, the case is `STALE` (exit code 6, or 0 with `stale = \"warn\"` in
`[eval]`): the report says which part of the request changed and what it takes to record it again. Neither the old answer nor the script is used instead.

`ctxc eval --plan` says before any call what asking takes: calls, the least and the most US$ (by recorded usage if there is any, else by the tokens of the context and the limit of
the answer), time, and how the rule decides for a scenario with a given pass rate. A case passes when `pass` of its `runs` trials do. With `--answers live`, trials stop once that is
certain, unless you add `--full`. `--confirm` tries a failing case in a second stage, `confirm` or 7 of 10. With 2 of 3 alone, twenty cases that pass nine trials of ten are red in 43 % of
all runs; with the second stage in less than 1 %, for 0.22 more trials a case. A case that fell to 30 % is still caught in three of four runs. `strict: true` turns the second stage off. `rule.stage` in the
scorecard says which stage decided. A call that got no answer does not count as a trial. `--runs N --pass K` sets the rule of every case, and `--jobs N` limits the calls at any one time. With a budget, a case begins only if the budget covers it beside those under way, so that as many cases as possible are finished.

A tool that the agent calls returns the value under its name in `fixtures: {tools: …}` of the suite, and the agent is asked again, at most 16 times; a tool without a fixture ends the
conversation. Expectations see the last answer, and the calls and tokens of all answers.

Before a call is kept, values of variables with names of secrets (`*_KEY`, `PGPASSWORD`, …), values behind such names, keys of known form, e-mail addresses, phone numbers, cards (by their check digit) and IBANs become
placeholders such as `⟦email:3fa2⟧`, the same for the same value; `redacted` lists where. So do the values of `api_key_env`. A value of fewer than 8 characters is replaced only if it is a
separate word with a letter and a digit, one of fewer than 4 never. Everything but these values is found by its form alone: read a recording before you commit it.

### Judged by a model

`ctxc new judge --model NAME` writes the role `judge`, its prompt as a template of the project, and a first rubric. All three are yours to change.

```yaml
expectations:
  - judge: {rubric: {file: rubrics/answer.yaml}, criteria: [correct], min_score: 4}
  - rubric: it names the team that has to act
```

The answer is fenced in the judge's prompt, the criteria are asked in an order that depends on the case, and each score has a quote, which is looked up in the answer. A missing, repeated, unknown or
invalid score is asked for twice more; then the case is an error. Nothing is filled in. The judge's calls are recorded in `recordings/judge/`, replayed without a key, and counted by `--plan`; with another prompt,
model or rubric they are stale, and `ctxc eval --record --stale` asks the judge alone. A prompt of your own that shows `answer` or `request` outside of a fence is refused: pass both on by an `<input>` that is `untrusted`, as the written template does. The fence proves that text of an answer stays inside of it, not that a model resists what it reads there.

**Scores count only on criteria on which the judge is known to agree with people**; on all others they inform. `ctxc label` shows one answer and one criterion at a time, without the judge's score, and takes a
verdict with one key; each is added to `labels/NAME.jsonl` at once, and the next call goes on with the rest. `ctxc label --html labels.html` writes a page for people without this program. Then

```console
$ ctxc label report --record --budget-usd 1
```

takes the judge's scores on the labelled answers from its recorded judgements, asks about up to twenty of them in other forms (criteria reordered, empty words added, as a list, twice more as it is), keeps both in
`labels/judge.jsonl`, and shows κ (on scales weighted by squares), α, Spearman's ρ, and which share the judge passes of what people pass, and fails of what they fail, each with its 95 % interval. A criterion is

- *trusted* if the lower bound of κ is at least 0.6 on the labels that are held out (three of four, chosen by a hash of criterion, request and answer), both shares are at least 0.8, at least 15 labels are of each verdict, prompt, model,
  parameters and criterion are those that were judged with, at most 5 % of the verdicts change in any form of the question (which takes 20 verdicts in each; the order counts where there are several criteria), and at most 5 %
  of the held-out labels have no score of the judge;
- *not trusted*, with each condition that does not hold;
- or it has *too few labels*, with about how many more it takes.

Looking again and trying other prompts are further chances to pass by luck. Decisions are made at 30, 40, 50 … held-out labels, and the bound gets stricter with each of them and with each version of the judge, so a judge of κ 0.5 is
trusted in less than 2.5 %, even with ten versions. Write the prompt by the disagreements that the report lists: they are those of the labels that are not held out. Of several labels for an answer the earliest counts;
where two people labelled, their own agreement is shown. Labels belong to a request with its answer, by the hash of both: an answer that is recorded anew has to be labelled anew, and those of the old answer count as long as the judge stays the same.
Another judge cannot score an answer that is gone: remove its labels, which the gate lists. The time of a label is in UTC and past.

`ctxc gate` lets a score count only if the judge is trusted at the base as well, with the same prompt, model, parameters and criterion: the first labels count from the next change on, and a change of the judge makes its scores inform, which
is listed as [loosened](GATE.md#what-loosens). So are labels and scores of `labels/` that are removed, changed or displaced by an earlier one, and a version of the judge that is left out of `labels/judge.jsonl`; more of them are not. A scenario that
expects nothing else is undecided while its judge only informs. `ctxc eval` then ends with 7; the gate names it in a note and lets it pass, since it loosens nothing.

## Two models, roles or revisions

`ctxc compare --across model small large` runs the same scenarios with each of two or more models of `[models]`, and compares each model with the first: scenarios that passed and now fail (or the other
way round), trials that pass, tokens, US$, latency as recorded, the scores of the judge, and for each scenario that differs the first expectation that fails on one side alone. An exact one-sided sign
test over the scenarios that differ says whether the difference can be chance; fewer than five can never be significant. `--across role A B` gives the scenarios of these roles (or those that you name) to
each role, and `--across revision main .` runs today's scenarios over the templates, roles and settings of two revisions, where `.` is the current files.

Answers are found by their request: in the recording of the scenario, in the one that a revision contains, and in `compare/SIDE/recordings/NAME.jsonl` beside it, which `ctxc compare --record` writes for what is missing; it never changes
the recording of the scenario. A request that two sides share is asked once. Where one side has fewer recorded trials than the other, the scenario is not compared; `--record` asks for all of its trials anew. All calls go to the providers of the current `ctxc.toml`. `--plan` says before what that takes. Scripts answer for roles and revisions, not for models, since a script gives every
model the same answer. `snapshot` is left out, since the requests of the sides differ; all other expectations count as in `eval`. The judge is the current one on every side. A scenario
that is not decided on both sides, such as one without an answer, is listed as not compared with the reason, and the exit code is 7; if the templates of a revision have errors, it is 1. Otherwise it is 0 whatever the results are: `compare` informs, [`gate`](GATE.md) decides.

## Scores

A scenario with `min_score` is scored: a trial passes from that score on, whichever of its expectations on the answer hold. **The score of a trial is the sum of the weights of its expectations, each times
1 if it holds and 0 if it fails, was not judged or is missing, divided by the sum of all their weights**; so nothing that is skipped, missing or an error ever raises a score. A `judge` or `rubric` of its own counts with the mean of its
criteria (score by highest score, by their `weight`), a check of your own with the `score` from 0 to 1 beside `pass`, if it writes one. `gate: false` leaves an expectation out. Expectations on the context must hold in any case, and an answer that is cut,
withheld or empty fails its trial.

```yaml
min_score: 0.7
expectations:
  - {contains: billing, weight: 3}
  - max_tokens: 900
  - {contains: '(?i)thank', gate: false}   # reported alone
```

If what was not judged could still reach `min_score`, the trial is undecided and the scenario `INCONCLUSIVE`: this is so with a judge that is not trusted, with `todo`, and with `max_latency_ms` and `max_cost_usd` on replay. An error of a check or of the judge
is an error of the scenario, as anywhere. The score of a scenario is the mean of its trials; one that was planned and is missing counts as 0. So a scored scenario makes all of its trials, also with `--answers live`, unless its rule is `sequential`.

A `weight` without `min_score` gives a score that decides nothing. `thresholds` of a suite are limits for all of its cases together: `min_score` of the mean of their scores, which each case with an expectation on the answer then has, and `pass_rate` of the
share that passes. What was not judged counts as 0; if it could still reach a limit, the run ends with 7, else with 1. Where a run leaves out cases of the suite, its thresholds are not checked.

`pass_rate` decides in place of each case: with `pass_rate: 0.9`, nine of ten are enough. While it is reached, a case that fails by its answers is listed as `FAIL`, but does not fail the run, nor the gate, and is skipped in JUnit's XML. Expectations on the context must hold in any case.

Reports list, by each tag that has answers, the scenarios that pass, the mean pass rate of their decided trials and their mean score. pass@k is the chance that at least one of k trials passes, pass^k that all of them do, with k as `pass` of the scenario says: unbiased estimates from n
trials with c passes, 1 − C(n−c, k) / C(n, k) and C(c, k) / C(n, k). Trials that end early would bias them, so they are shown for full rows of at least two trials of a model: with `--full`, while recording, and for scored scenarios.

The gate lists a lower `min_score` or `weight`, and a new or lower `pass_rate`, as a weakening, and in a scenario with `min_score` whatever else lets more weight be lost: one more expectation, or a higher weight beside it, without a higher `min_score`. What raises the mean of a suite with `thresholds` alone, such as further cases, is not listed: the thresholds of the base have to be reached by its own cases with their weights, too.

## What is run again

Every result belongs to two keys. The *context hash* covers what decides the context: the task and everything that it reaches with its resolved settings, the
role with its prompt, model, tools and budget, the token counter, and files that are not frozen. The *case key* covers what the scenario says, the
files that it names, the stored request, its recording, the fixtures of its tools, `[eval] plan_path`, and the version of ctxc. Comments and white space change neither.

- `ctxc eval --since REV` compiles the project as of a git revision and compares the keys: it runs new cases and those with a changed key.
  `ctxc eval --affected` does so with the commit where the work left the default branch, as [the gate](GATE.md) does, and on that branch itself with `HEAD`, the last commit; a note names it. A `lookup` of that revision searches the files of that revision. An unchanged case whose last run in [the history](HISTORY.md) passed
  is listed as CARRIED; if it did not pass, it is run again. If the history does not know the case, it is left out of the run and of its exit code; a note says how many.
  If the project of that revision has errors, they are reported with their files, and nothing is run.
- `ctxc eval --retry-errors` runs the cases whose last result was an error, and those that have no result for their current context and text, and lists the others as CARRIED, also those that failed.
- `ctxc eval --since FILE` compares with a scorecard that `--out` wrote, and trusts it, since you name it: it runs new cases, those with a changed key,
  and those that did not pass. All others are listed as CARRIED with the result that holds, and count in the exit code.

ctxc never exits with 0 because the output pipe was closed: `ctxc eval | head -1` exits with the verdict. If a task depends on a file with errors, its cases
are not run: their verdict is an error with the rule's code and the place. All other cases run.

";

/// The page.
pub(super) fn markdown() -> String {
    let mut out = HEAD.to_owned();
    // Writing to a string cannot fail, here and below.
    let [sh, python] = CHECKS.map(|(language, text)| format!("```{language}\n{text}```\n\n"));
    let _ = write!(
        out,
        "## An example\n\n```yaml\n{EXAMPLE}```\n\n{NOTES}{sh}{python}{AFTER}"
    );
    section(&mut out, "## A scenario", &SCENARIO_TABLE);
    section(&mut out, "### `context`", &CONTEXT_TABLE);
    section(
        &mut out,
        "### An entry of `expect_context`",
        &CONTEXT_TEST_TABLE,
    );
    section(&mut out, "### An entry of `expectations`", &ANSWER_TABLE);
    let mut told: Vec<&ScenarioTable> = vec![
        &SCENARIO_TABLE,
        &CONTEXT_TABLE,
        &CONTEXT_TEST_TABLE,
        &ANSWER_TABLE,
        &CASE_TABLE,
        &DEFAULTS_TABLE,
        &FIXTURES_TABLE,
        &SUITE_TABLE,
        &RUBRIC_TABLE,
    ];
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
    section(&mut out, "## A suite", &SUITE_TABLE);
    let _ = writeln!(
        out,
        "A case has the keys of a scenario but `schema`, and `id` as its name (`name` is a label); `defaults` has the same keys but `id` and `name`.\n"
    );
    section(&mut out, "### `fixtures`", &FIXTURES_TABLE);
    section(&mut out, "## A rubric", &RUBRIC_TABLE);
    out.truncate(out.trim_end().len());
    out + "\n"
}

fn title(what: &str) -> String {
    let mut chars = what.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

fn section(out: &mut String, title: &str, table: &ScenarioTable) {
    let _ = writeln!(out, "{title}\n\n| key | takes | says |\n|---|---|---|");
    for key in table.keys {
        let alias = key
            .alias
            .map(|alias| format!(", or `{alias}`"))
            .unwrap_or_default();
        let need = if key.need == KeyNeed::Required {
            ", required"
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "| `{}`{alias} | {}{need} | {} |",
            key.name,
            takes(key.shape),
            key.about.replace('|', "\\|")
        );
    }
    out.push('\n');
    for group in table.groups {
        let list = |keys: &[&str]| {
            keys.iter()
                .map(|key| format!("`{key}`"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let _ = match group {
            KeyGroup::ExactlyOne(keys) if keys.len() > 4 => writeln!(
                out,
                "Exactly one of these keys{}.\n",
                match table.keys.len().saturating_sub(keys.len()) {
                    0 => "",
                    1 => "; the last may be added to any of the others",
                    2 => "; the last two may be added to any of the others",
                    _ => "; the last three may be added to any of the others",
                }
            ),
            KeyGroup::ExactlyOne(keys) => writeln!(out, "Exactly one of {}.\n", list(keys)),
            KeyGroup::AtLeastOne(keys) => writeln!(out, "At least one of {}.\n", list(keys)),
            KeyGroup::Exclusive(one, others) => {
                writeln!(out, "`{one}` excludes {}.\n", list(others))
            }
        };
    }
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the rest is said by the shape itself"
)]
fn takes(shape: ScenarioShape) -> String {
    match shape {
        ScenarioShape::Word(words) => words
            .iter()
            .map(|word| format!("`{word}`"))
            .collect::<Vec<_>>()
            .join(", "),
        ScenarioShape::Date => "a day, `2026-11-21`".to_owned(),
        ScenarioShape::Pattern => "a pattern".to_owned(),
        ScenarioShape::Path => "a JSONPath of RFC 9535".to_owned(),
        ScenarioShape::Whole(least, most) if most <= 1000 => {
            format!("a whole number from {least} to {most}")
        }
        ScenarioShape::Whole(least, _) => format!("a whole number from {least}"),
        _ => shape.description().replace('|', "\\|"),
    }
}

/// The table that a shape holds.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "no other shape holds a table"
)]
fn inner(shape: ScenarioShape) -> Option<&'static ScenarioTable> {
    match shape {
        ScenarioShape::Table(table)
        | ScenarioShape::IdOr(table)
        | ScenarioShape::PatternsOr(table)
        | ScenarioShape::WordOr(_, table)
        | ScenarioShape::Or(_, table)
        | ScenarioShape::Pairs(table)
        | ScenarioShape::Messages(table)
        | ScenarioShape::MessageContent(table) => Some(table),
        ScenarioShape::List(item, _) => inner(*item),
        _ => None,
    }
}
