//! The project with the edited files.

/// Files, each under a key word, with their texts. In a text `⟦n:WORD⟧` is a name, `⟦p:FILE⟧` a
/// path of the project, `⟦r:FILE⟧` a path from the folder of the text and `⟦s:FILE⟧` the name of a
/// task that is derived from its file. Every other word stays as it is.
pub(super) const FILES: &[(&str, &str, &str)] = &[
    (
        "config",
        "ctxc.toml",
        r#"edition = "2026"

[project]
name = "plan"
description = "docs/page.md of the plan"

[templates]
include = ["⟦p:templates⟧"]

[context]
include = ["⟦p:docs⟧/**", "src/**"]

[eval]
scenarios = ["⟦p:scenarios⟧"]

[owners]
"⟦p:templates⟧/**" = "plan"

[roles.⟦n:clerk⟧]
template = "⟦n:flow⟧"
system = { file = "⟦p:page⟧" }
protected_paths = ["⟦p:docs⟧", "src"]

[roles.'⟦n:plan⟧']
template = "⟦s:letter⟧"

[[require]]
name = ["⟦n:flow⟧", "⟦s:letter⟧"]
must = "has owner"
reason = "plan of flow"

[[require]]
role = ["⟦n:plan⟧", '⟦n:clerk⟧']
must = "has description"
reason = "plan of clerk"
"#,
    ),
    (
        "flow",
        "templates/flow.xml",
        r#"<task type="sequential" name="⟦n:flow⟧">
  <description>plan of {{⟦n:ticket⟧}} ticket</description>
  <parameters>
    <parameter name="⟦n:ticket⟧" type="string" required="true"/>
    <parameter name="⟦n:tone⟧" type="string" default="plan"/>
  </parameters>
  <steps>
    <task ref="⟦s:letter⟧" as="⟦n:draft⟧"/>
    <task as="⟦n:final⟧">
      <description>plan docs flow</description>
      <inputs><input name="⟦n:body⟧">{{⟦n:draft⟧}} draft</input></inputs>
      <instructions>Answer in {{⟦n:tone⟧}} with plan, docs, body. <use fragment="⟦n:rules⟧"/></instructions>
    </task>
  </steps>
</task>
"#,
    ),
    (
        "letter",
        "templates/parts/letter.xml",
        r#"<task type="atomic">
  <description>letter docs</description>
  <parameters>
    <parameter name="⟦n:ticket⟧" type="string" required="true"/>
  </parameters>
  <instructions src="⟦r:guide⟧" syntax="jinja"/>
  <file_paths>
    <path>⟦p:page⟧</path>
  </file_paths>
</task>
"#,
    ),
    (
        "rules",
        "templates/parts/rules.xml",
        r#"<library>
  <fragment name="⟦n:rules⟧">Be plan, rules.</fragment>
</library>
"#,
    ),
    (
        "guide",
        "templates/text/guide.jinja",
        r#"Read {{ ⟦n:ticket⟧ }} of "ticket" docs/page.md, {{ ⟦n:ticket⟧|upper }} plan. {# ticket plan #}
"#,
    ),
    (
        "page",
        "docs/page.md",
        r"plan docs letter
",
    ),
    (
        "whole",
        "scenarios/whole.yaml",
        r#"name: whole
description: draft of the plan
task: ⟦n:flow⟧
run: true
context: {objective: draft, inputs: {⟦n:ticket⟧: ticket}}
expect_context:
  - {node: ⟦n:draft⟧, contains: ["letter"]}
  - {node: "⟦n:final⟧", contains: ["plan"]}
expectations:
  - path: [⟦n:draft⟧, '⟦n:final⟧']
  - {node: ⟦n:final⟧@1, contains: ["final"]}
answers:
  - {when: {node: ⟦n:draft⟧}, reply: "draft"}
  - {when: {node: /steps/1}, reply: "final"}
"#,
    ),
    (
        "end",
        "scenarios/end.yaml",
        r#"name: end
role: ⟦n:clerk⟧
node: ⟦n:final⟧
context:
  objective: plan
  inputs: {⟦n:ticket⟧: ticket, ⟦n:tone⟧: tone}
  results:
    ⟦n:draft⟧: draft
expect_context:
  - any_of: [{contains: {in: {source: "input:⟦n:body⟧"}, patterns: [plan]}}, {contains: [draft]}]
  - contains: {in: {source: ⟦n:rules⟧}, patterns: [rules]}
  - segment: {id: input:⟦n:body⟧, state: kept}
  - not: {contains: {in: {source: ⟦n:draft⟧}, patterns: [plan]}}
"#,
    ),
    (
        "part",
        "scenarios/more/part.yaml",
        r#"name: part
task: "⟦s:letter⟧"
context:
  objective: letter
  inputs:
    ⟦n:ticket⟧: "@⟦r:page⟧"
  file_context:
    ⟦p:page⟧: docs
expect_context:
  - segment: {id: "file:⟦p:page⟧", state: kept}
  - contains: [letter]
"#,
    ),
    (
        "many",
        "scenarios/many.yaml",
        r"id: many
defaults:
  task: ⟦s:letter⟧
  context:
    file_context: {⟦p:page⟧: docs}
  expect_context: [{nothing_cut: true}]
cases_from: ⟦r:rows⟧
",
    ),
    (
        "rows",
        "scenarios/files/rows.csv",
        r#"id,objective,⟦n:ticket⟧
ticket,letter,plan
b,"letter, plan",docs
"#,
    ),
    (
        "lines",
        "scenarios/files/lines.jsonl",
        r#"{"id": "flow", "task": "⟦n:flow⟧", "node": "⟦n:final⟧", "context": {"objective": "plan", "inputs": {"⟦n:ticket⟧": "plan"}, "results": {"⟦n:draft⟧": "draft"}}}
{"id": "plan", "role": "⟦n:plan⟧", "context": {"objective": "plan", "inputs": {"⟦n:ticket⟧": "clerk"}}}
"#,
    ),
    (
        "listed",
        "scenarios/listed.yaml",
        r#"id: listed
cases_from: "⟦r:lines⟧"
defaults:
  expect_context: [{nothing_cut: true}]
"#,
    ),
];
/// Folders with names of their own.
pub(super) const FOLDERS: &[&str] = &[
    "templates",
    "templates/parts",
    "templates/text",
    "docs",
    "scenarios",
    "scenarios/more",
    "scenarios/files",
];
/// Candidates for names and parts of paths; many are words of the texts as well.
pub(super) const WORDS: &[&str] = &[
    "plan", "docs", "letter", "answer", "draft", "body", "page", "rules", "ticket", "tone",
    "final", "flow", "note", "mail", "read",
];
