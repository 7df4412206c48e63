//! The texts for the author: the agent's context, the provenance of each value, the ways out with
//! their effect.

use crate::project::reading::{check_template, found_in, read};
use insta::assert_snapshot;

#[test]
fn a_conflict_with_a_default_of_the_language() {
    assert_snapshot!(found_in(r#"<task type="atomic" name="triage">
  <description>sort the ticket</description>
  <context_management>
    <fresh_context>enabled</fresh_context>
  </context_management>
</task>
"#, "", "context-conflict-with-default"), @r#"
    error CTX202 templates/triage.xml:4:5 `<fresh_context>enabled</fresh_context>`: looks up fresh context, but would also inherit all of its parent's
      = inherit_context is `full`: the default of type atomic; neither triage.xml nor ctxc.toml sets it
      > add <inherit_context>none</inherit_context>: receives only looked-up context (`` -> `<inherit_context>none</inherit_context>\n    `)
      > set fresh_context to disabled: receives only its parent's context (`enabled` -> `disabled`)
    "#);
}

#[test]
fn a_conflict_with_a_default_of_the_project() {
    assert_snapshot!(found_in(r#"<task type="atomic" name="triage">
  <description>sort the ticket</description>
  <context_management>
    <fresh_context>enabled</fresh_context>
  </context_management>
</task>
"#, "[defaults.atomic]\ninherit_context = \"subset\"\n", "context-conflict-with-default"), @r#"
    error CTX202 templates/triage.xml:4:5 `<fresh_context>enabled</fresh_context>`: looks up fresh context, but would also inherit part of its parent's
      at ctxc.toml:2: inherit_context comes from here
      = inherit_context is `subset`: set for type atomic in ctxc.toml:2
      > add <inherit_context>none</inherit_context>: receives only looked-up context (`` -> `<inherit_context>none</inherit_context>\n    `)
      > set fresh_context to disabled: receives only its parent's context (`enabled` -> `disabled`)
    "#);
}

#[test]
fn a_conflict_with_the_default_of_a_subtype() {
    assert_snapshot!(found_in(r#"<task type="atomic" subtype="subtask" name="triage">
  <description>sort the ticket</description>
  <context_management>
    <inherit_context>full</inherit_context>
  </context_management>
</task>
"#, "", "context-conflict-with-default"), @r#"
    error CTX202 templates/triage.xml:4:5 `<inherit_context>full</inherit_context>`: inherits all of its parent's context, but would also look up fresh context
      = fresh_context is `enabled`: the default of type atomic with subtype subtask; neither triage.xml nor ctxc.toml sets it
      > add <fresh_context>disabled</fresh_context>: receives only its parent's context (`` -> `\n    <fresh_context>disabled</fresh_context>`)
      > set inherit_context to none: receives only looked-up context (`full` -> `none`)
    "#);
}

#[test]
fn a_conflict_that_is_written() {
    assert_snapshot!(found_in(r#"<task type="atomic" name="triage">
  <description>sort the ticket</description>
  <context_management>
    <inherit_context>subset</inherit_context>
    <fresh_context>enabled</fresh_context>
  </context_management>
</task>
"#, "", "context-conflict"), @r#"
    error CTX201 templates/triage.xml:5:5 `<fresh_context>enabled</fresh_context>`: looks up fresh context, but would also inherit part of its parent's
      at templates/triage.xml:4: asks for part of its parent's context
      ? keep one of the two
      > set inherit_context to none: receives only looked-up context (`subset` -> `none`)
      > set fresh_context to disabled: receives only its parent's context (`enabled` -> `disabled`)
    "#);
}

#[test]
fn no_context_at_all() {
    assert_snapshot!(found_in(r#"<task type="atomic" name="triage">
  <description>sort the ticket</description>
  <context_management>
    <inherit_context>none</inherit_context>
  </context_management>
</task>
"#, "", "no-context"), @r#"
    warning CTX203 templates/triage.xml:4:5 `<inherit_context>none</inherit_context>`: sees nothing but its own text: inherits, carries and looks up no context
      = fresh_context is `disabled`: the default of type atomic; neither triage.xml nor ctxc.toml sets it
      ? where that is meant, say so inside the task: <?ctxc allow no-context reason="…"?>
    "#);
}

#[test]
fn no_context_but_content() {
    assert_snapshot!(found_in(r#"<task type="atomic" name="triage">
  <description>sort the ticket</description>
  <inputs>
    <input name="ticket">the ticket</input>
  </inputs>
  <context_management>
    <inherit_context>none</inherit_context>
    <fresh_context>disabled</fresh_context>
  </context_management>
</task>
"#, "", "no-context"), @r#"
    info CTX203 templates/triage.xml:7:5 `<inherit_context>none</inherit_context>`: sees only its own files, inputs, parameters and conversation: inherits, carries and looks up no context
      at templates/triage.xml:8: written here
      ? where that is meant, say so inside the task: <?ctxc allow no-context reason="…"?>
    "#);
}

#[test]
fn no_context_by_the_project() {
    assert_snapshot!(found_in(r#"<task type="atomic" name="triage">
  <description>sort the ticket</description>
</task>
"#, "[defaults.atomic]\ninherit_context = \"none\"\n", "no-context"), @r#"
    warning CTX203 templates/triage.xml:1:2 `task`: sees nothing but its own text: inherits, carries and looks up no context
      at ctxc.toml:2: inherit_context comes from here
      = inherit_context is `none`: set for type atomic in ctxc.toml:2
      = fresh_context is `disabled`: the default of type atomic; neither triage.xml nor ctxc.toml sets it
      ? where that is meant, say so inside the task: <?ctxc allow no-context reason="…"?>
      > add <fresh_context>enabled</fresh_context> in a <context_management>: looks up context of its own (`` -> `\n  <context_management>\n    <fresh_context>enabled</fresh_context>\n  </context_management>`)
      > add <inherit_context>full</inherit_context> in a <context_management>: sees its parent's context (`` -> `\n  <context_management>\n    <inherit_context>full</inherit_context>\n  </context_management>`)
    "#);
}

#[test]
fn settings_without_effect() {
    assert_snapshot!(found_in(r#"<task type="atomic" name="triage">
  <description>sort the ticket</description>
  <context_management>
    <accumulate_data>true</accumulate_data>
    <accumulation_format>full_output</accumulation_format>
  </context_management>
</task>
"#, "", "setting-without-effect"), @r#"
    warning CTX204 templates/triage.xml:4:5 `<accumulate_data>true</accumulate_data>`: `accumulate_data` has no effect: a task of type atomic has no steps whose results could be carried
      > remove <accumulate_data>: nothing changes for the agent (`    <accumulate_data>true</accumulate_data>\n` -> ``)
    warning CTX204 templates/triage.xml:5:5 `<accumulation_format>full_output</accumulation_format>`: `accumulation_format` has no effect: a task of type atomic has no steps whose results could be carried
      > remove <accumulation_format>: nothing changes for the agent (`    <accumulation_format>full_output</accumulation_format>\n` -> ``)
    "#);
    assert_snapshot!(found_in(r#"<task type="sequential" name="triage">
  <description>sort the ticket</description>
  <steps>
    <task type="atomic">
      <description>read the ticket</description>
    </task>
  </steps>
  <context_management>
    <accumulation_format>full_output</accumulation_format>
  </context_management>
</task>
"#, "[defaults.sequential]\naccumulate_data = false\n", "setting-without-effect"), @r#"
    warning CTX204 templates/triage.xml:9:5 `<accumulation_format>full_output</accumulation_format>`: `accumulation_format` has no effect: no results of earlier steps are carried
      at ctxc.toml:2: accumulate_data comes from here
      = accumulate_data is `false`: set for type sequential in ctxc.toml:2
      > remove <accumulation_format>: nothing changes for the agent (`    <accumulation_format>full_output</accumulation_format>\n` -> ``)
      > add <accumulate_data>true</accumulate_data>: carries the results of earlier steps (`` -> `<accumulate_data>true</accumulate_data>\n    `)
    "#);
}

#[test]
fn what_holds_anyway() {
    assert_snapshot!(found_in(r#"<task type="atomic" name="triage">
  <description>sort the ticket</description>
  <context_management>
    <inherit_context>subset</inherit_context>
    <fresh_context>disabled</fresh_context>
  </context_management>
</task>
"#, "[lints]\nredundant-override = \"hint\"\n[defaults.atomic]\ninherit_context = \"subset\"\n", "redundant-override"), @r#"
    hint CTX205 templates/triage.xml:4:5 `<inherit_context>subset</inherit_context>`: `inherit_context` is `subset` anyway: that is the project's default of type atomic
      at ctxc.toml:4: the default comes from here
      > remove <inherit_context> (`    <inherit_context>subset</inherit_context>\n` -> ``)
    hint CTX205 templates/triage.xml:5:5 `<fresh_context>disabled</fresh_context>`: `fresh_context` is `disabled` anyway: that is the default of type atomic
      > remove <fresh_context> (`    <fresh_context>disabled</fresh_context>\n` -> ``)
    "#);
}

#[test]
fn a_subset_of_nothing() {
    assert_snapshot!(found_in(r#"<task type="atomic" name="triage">
  <description>sort the ticket</description>
  <context_management>
    <inherit_context>subset</inherit_context>
  </context_management>
</task>
"#, "", "subset-selects-nothing"), @r#"
    warning CTX206 templates/triage.xml:4:5 `<inherit_context>subset</inherit_context>`: sees a part of its parent's context, but nothing says which part
      = without `file_paths`, `inputs` or `context_relevance` it is matched on the task's text alone
      ? add <file_paths>, <inputs> or <context_relevance>
      > set inherit_context to full: sees all of its parent's context (`subset` -> `full`)
    "#);
}

/// The names of the findings of a template.
fn names(template: &str, project: &str) -> Vec<&'static str> {
    check_template(template, &read(project))
        .iter()
        .map(|finding| finding.rule.name)
        .collect()
}

/// Those of them that are about settings.
fn of_the_family(template: &str) -> Vec<&'static str> {
    let found = check_template(template, &read(""));
    found
        .iter()
        .filter(|finding| finding.rule.code.family() == 2)
        .map(|finding| finding.rule.name)
        .collect()
}

#[test]
fn a_value_that_cannot_be_read_causes_no_second_finding() {
    for unread in ["inherit_context>ful", "inherit_context>"] {
        let (name, _) = unread.split_once('>').unwrap();
        let template = format!(
            "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n  <context_management>\n    <{unread}</{name}>\n    <fresh_context>enabled</fresh_context>\n  </context_management>\n</task>\n"
        );
        assert_eq!(of_the_family(&template), [] as [&str; 0]);
    }
}

#[test]
fn an_unknown_type_causes_no_finding_from_defaults_it_does_not_have() {
    let template = "<task type=\"atomc\" name=\"a\">\n  <description>d</description>\n  <context_management>\n    <fresh_context>enabled</fresh_context>\n  </context_management>\n</task>\n";
    assert_eq!(of_the_family(template), [] as [&str; 0]);
    // The same under a type that is known.
    assert_eq!(
        of_the_family(&template.replace("atomc", "atomic")),
        ["context-conflict-with-default"]
    );
}

#[test]
fn templates_under_conflicting_defaults_are_not_to_blame() {
    let project = "[defaults.atomic]\nfresh_context = \"enabled\"\n";
    let template = "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n  <context_management>\n    <inherit_context>full</inherit_context>\n  </context_management>\n</task>\n";
    assert_eq!(names(template, project), [] as [&str; 0]);
    // A setting that both sides write is the template's own.
    let both = template.replace(
        "</inherit_context>",
        "</inherit_context><fresh_context>enabled</fresh_context>",
    );
    assert_eq!(names(&both, project), ["context-conflict"]);
}
