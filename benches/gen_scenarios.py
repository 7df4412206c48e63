#!/usr/bin/env python3
"""gen_scenarios.py DIR: a project of 50 tasks and 1,000 scenarios that expect things of the context alone."""
import pathlib
import sys

root = pathlib.Path(sys.argv[1])
for folder in ("templates", "scenarios", "docs"):
    (root / folder).mkdir(parents=True, exist_ok=True)
(root / "ctxc.toml").write_text('edition = "2026"\n')
(root / "docs/runbook.md").write_text("# Runbook\n" + "Restart the service and wait for a minute.\n" * 60)
for number in range(50):
    (root / f"templates/t{number}.xml").write_text(f"""<task type="atomic" name="t{number}">
  <description>Sort ticket {{{{ticket}}}} for {number}.</description>
  <parameters>
    <parameter name="ticket" type="string" required="true"/>
  </parameters>
  <system>You triage support tickets of desk {number}. Never promise a refund.</system>
  <instructions>{"Read the message and choose a team. " * 20}</instructions>
  <file_paths source="literal"><path>docs/runbook.md</path></file_paths>
  <context_management><inherit_context>none</inherit_context><fresh_context>disabled</fresh_context></context_management>
</task>
""")
for number in range(1000):
    (root / f"scenarios/s{number:04}.yaml").write_text(f"""name: s{number:04}
task: t{number % 50}
context:
  objective: sort it
  inputs:
    ticket: number {number} did not arrive
expect_context:
  - segment: {{id: system, state: kept}}
  - segment: {{id: "file:docs/runbook.md", state: kept}}
  - order: [system, instructions, "file:docs/runbook.md", description]
  - contains: ["number {number} did not", "(?i)never promise"]
  - absent: [password]
  - tokens: {{of: total, max: 2000}}
  - setting: {{name: fresh_context, value: disabled}}
""")
