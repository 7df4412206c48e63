//! The exact texts after fixes.

use crate::project::reading::{check_template, read};
use ctxc::internals::base::fix;
use pretty_assertions::assert_eq;

/// The text after the first fix of the first finding of a rule.
fn fixed(text: &str, rule: &str) -> String {
    let found = check_template(text, &read(""));
    let finding = found
        .iter()
        .find(|finding| finding.rule.name == rule)
        .unwrap_or_else(|| panic!("no {rule} in {found:#?}"));
    fix::apply_edits(text, &finding.fixes[0].edits).expect("the edits fit")
}

const HEAD: &str = "<task type=\"atomic\" name=\"t\">\n  <description>d</description>\n";

#[test]
fn stray_settings_move_into_the_block() {
    let stray =
        "  <inherit_context>none</inherit_context>\n  <fresh_context>enabled</fresh_context>\n";
    let block = "  <context_management>\n    <inherit_context>none</inherit_context>\n    <fresh_context>enabled</fresh_context>\n  </context_management>\n";
    assert_eq!(
        fixed(&format!("{HEAD}{stray}</task>\n"), "misplaced-setting"),
        format!("{HEAD}{block}</task>\n")
    );
    // Into the existing block.
    let half = "  <context_management>\n    <inherit_context>none</inherit_context>\n  </context_management>\n  <fresh_context>enabled</fresh_context>\n";
    assert_eq!(
        fixed(&format!("{HEAD}{half}</task>\n"), "misplaced-setting"),
        format!("{HEAD}{block}</task>\n")
    );
    // From attributes.
    let attributes = "<task type=\"atomic\" name=\"t\" inherit_context=\"none\" fresh_context=\"enabled\">\n  <description>d</description>\n</task>\n";
    assert_eq!(
        fixed(attributes, "misplaced-setting"),
        format!("{HEAD}{block}</task>\n")
    );
    // On one line, and with the line ends of the file.
    let flat = "<task type=\"atomic\" name=\"t\"><description>d</description><inherit_context>full</inherit_context></task>";
    assert_eq!(
        fixed(flat, "misplaced-setting"),
        "<task type=\"atomic\" name=\"t\"><description>d</description><context_management><inherit_context>full</inherit_context></context_management></task>"
    );
    let windows = format!("{HEAD}{stray}</task>\n").replace('\n', "\r\n");
    assert_eq!(
        fixed(&windows, "misplaced-setting"),
        format!("{HEAD}{block}</task>\n").replace('\n', "\r\n")
    );
}

#[test]
fn a_setting_written_twice_is_not_moved() {
    let twice = format!(
        "{HEAD}  <fresh_context>enabled</fresh_context>\n  <context_management><fresh_context>disabled</fresh_context></context_management>\n</task>\n"
    );
    let found = check_template(&twice, &read(""));
    let stray = found
        .iter()
        .find(|finding| finding.rule.name == "misplaced-setting")
        .expect("it is reported");
    assert!(!stray.is_fixable());
}

#[test]
fn tags_in_texts_become_text() {
    let text = "<task type=\"atomic\" name=\"t\">\n  <description>answer in <answer>one <b>word</b></answer>, <br/></description>\n</task>\n";
    let once = fixed(text, "unknown-element");
    assert_eq!(
        once,
        "<task type=\"atomic\" name=\"t\">\n  <description>answer in &lt;answer>one &lt;b>word&lt;/b>&lt;/answer>, <br/></description>\n</task>\n"
    );
    assert!(check_template(&fixed(&once, "unknown-element"), &read("")).is_empty());
}

#[test]
fn elements_move_to_where_they_belong() {
    let text =
        format!("{HEAD}  <input name=\"a\">x</input>\n  <input name=\"b\">y</input>\n</task>\n");
    let once = fixed(&text, "misplaced-element");
    assert_eq!(
        fixed(&once, "misplaced-element"),
        format!(
            "{HEAD}  <inputs>\n    <input name=\"a\">x</input>\n    <input name=\"b\">y</input>\n  </inputs>\n</task>\n"
        )
    );
}

#[test]
fn older_forms_become_modern_ones() {
    let text = "<task type=\"evaluator\" name=\"t\">\n  <description>d</description>\n  <disable_reparsing/>\n</task>\n";
    let once = fixed(text, "legacy-type");
    assert_eq!(
        fixed(&once, "deprecated-element"),
        "<task type=\"atomic\" subtype=\"evaluator\" name=\"t\">\n  <description>d</description>\n</task>\n"
    );
    let slot = "<task type=\"sequential\" name=\"t\">\n  <description>d</description>\n  <steps>\n    <task>\n      <description>e</description>\n      <output_slot>notes</output_slot>\n    </task>\n  </steps>\n</task>\n";
    assert_eq!(
        fixed(slot, "deprecated-element"),
        "<task type=\"sequential\" name=\"t\">\n  <description>d</description>\n  <steps>\n    <task as=\"notes\">\n      <description>e</description>\n    </task>\n  </steps>\n</task>\n"
    );
}

#[test]
fn a_wrapped_part_loses_its_wrap() {
    let text = "<task type=\"reduce\" name=\"t\">\n  <description>d</description>\n  <inputs><input name=\"i\">x</input></inputs>\n  <inner_task>\n    <task type=\"atomic\">\n    <description>a</description>\n    </task>\n  </inner_task>\n  <reduction_task>\n    <description>b</description>\n  </reduction_task>\n</task>\n";
    assert_eq!(
        fixed(text, "nested-task"),
        "<task type=\"reduce\" name=\"t\">\n  <description>d</description>\n  <inputs><input name=\"i\">x</input></inputs>\n  <inner_task>\n    <description>a</description>\n  </inner_task>\n  <reduction_task>\n    <description>b</description>\n  </reduction_task>\n</task>\n"
    );
}
