//! All findings in one run: seven planted defects of different kinds give exactly seven findings,
//! each at its own place.

use ctxc::{Config, Severity, compile_sources};
use pretty_assertions::assert_eq;

const PLANTED: &str = r#"<task type="sequental" name="plan">
  <instrutions>plan the move</instrutions>
  <description>plan the migration of one service</description>
  <context_management>
    <accumulate_data>yes</accumulate_data>
    <accumulation_format>notes</accumulation_format>
  </context_management>
  <inputs>
    <input name="service">billing</input>
    <input name="service">search</input>
  </inputs>
  <steps>
    <task type="atomic">
      <description>list what depends on it</description>
      <context_management>
        <inherit_context>full</inherit_context>
        <fresh_context>enabled</fresh_context>
      </context_management>
    </task>
    <task type="atomic">
      <instructions>write the plan</instructions>
    </task>
  </steps>
</task>
"#;

#[test]
fn seven_defects_give_seven_findings() {
    let built = compile_sources(&Config::default(), [("plan.xml", PLANTED)]);
    let grave = built
        .diagnostics
        .iter()
        .filter(|finding| finding.severity <= Severity::Warning);
    let found: Vec<(&str, &str)> = grave
        .map(|finding| (finding.rule.name, finding.span.slice(PLANTED)))
        .collect();
    let expected = [
        ("unknown-type", "sequental"),
        ("unknown-element", "instrutions"),
        ("bad-boolean", "yes"),
        ("bad-value", "notes"),
        ("duplicate-entry", "service"),
        ("context-conflict", "<fresh_context>enabled</fresh_context>"),
        ("missing-description", "task"),
    ];
    assert_eq!(found, expected);
}
