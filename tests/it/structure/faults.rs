//! Several faults in one file: all of them in one run, each once and at its own place.

use crate::project::reading::{check_template, read};
use ctxc::internals::base::diagnostic::Diagnostic;
use ctxc::internals::base::rule_meta::Severity;
use pretty_assertions::assert_eq;

/// Errors as `name at “text”`.
fn errors(text: &str) -> Vec<String> {
    let found = check_template(text, &read(""));
    let errors = found
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    errors
        .map(|finding| {
            format!(
                "{} {} `{}`",
                finding.start.line,
                finding.rule.name,
                finding.span.slice(text)
            )
        })
        .collect()
}

const SEVEN: &str = r#"<task type="sequental" name="triage-backlog">
  <description>Sort the backlog.</description>
  <instrctions>Work from the oldest ticket on.</instrctions>
  <inputs>
    <input name="tone">friendly</input>
    <input name="tone">short</input>
  </inputs>
  <context_management>
    <inherit_context>ful</inherit_context>
    <accumulate_data>yes</accumulate_data>
  </context_management>
  <steps>
    <task type="atomic">
      <description>Look the customer up.</description>
      <context_management>
        <inherit_context>full</inherit_context>
        <fresh_context>enabled</fresh_context>
      </context_management>
    </task>
    <task type="atomic">
      <instructions>Answer in one word.</instructions>
    </task>
  </steps>
</task>
"#;

#[test]
fn seven_faults_are_seven_findings_each_at_its_place() {
    let found = check_template(SEVEN, &read(""));
    assert_eq!(found.len(), 7, "{found:#?}");
    assert_eq!(
        errors(SEVEN),
        [
            "1 unknown-type `sequental`",
            "3 unknown-element `instrctions`",
            "6 duplicate-entry `tone`",
            "9 bad-value `ful`",
            "10 bad-boolean `yes`",
            "17 context-conflict `<fresh_context>enabled</fresh_context>`",
            "20 missing-description `task`",
        ]
    );
    assert!(
        found
            .iter()
            .filter(
                |finding| !["missing-description", "duplicate-entry"].contains(&finding.rule.name)
            )
            .all(Diagnostic::is_fixable)
    );
}

#[test]
fn one_typo_is_one_finding() {
    let wrap = |body: &str| format!("<task type=\"atomic\" name=\"t\">\n{body}\n</task>");
    // The description is there, under a slip of its name.
    assert_eq!(
        errors(&wrap("<descripton>sort</descripton>")),
        ["2 unknown-element `descripton`"]
    );
    // The text is there, outside of it.
    assert_eq!(
        errors(&wrap("sort the ticket")),
        ["2 misplaced-text `sort the ticket`"]
    );
    // The name is there, under a slip of its own.
    let input = "<description>sort</description><inputs><input nme=\"a\">x</input></inputs>";
    assert_eq!(errors(&wrap(input)), ["2 unknown-attribute `nme`"]);
    // Four children of another type are one wrong type.
    let reduce = "<description>sort</description>\n<initial_value>x</initial_value><inner_task><description>a</description></inner_task>\
        <reduction_task><description>b</description></reduction_task>";
    assert_eq!(errors(&wrap(reduce)), ["3 other-type `initial_value`"]);
    // Two types are two.
    let two = "<description>sort</description>\n<steps><task><description>a</description></task></steps>\n<command>ls</command>";
    assert_eq!(
        errors(&wrap(two)),
        ["3 other-type `steps`", "4 other-type `command`"]
    );
    // Missing parts of a damaged element are not reported.
    let damaged = errors(
        "<task type=\"sequential\" name=\"t\">\n<steps><task><instructions>a</task></steps>\n</task>",
    );
    assert_eq!(
        damaged
            .iter()
            .filter(|error| error.contains("missing-element"))
            .count(),
        0,
        "{damaged:?}"
    );
}

#[test]
fn what_each_type_needs() {
    let of = |kind: &str, body: &str| {
        errors(&format!(
            "<task type=\"{kind}\" name=\"t\"><description>d</description>{body}</task>"
        ))
    };
    assert_eq!(of("sequential", ""), ["1 missing-element `task`"]);
    assert_eq!(of("reduce", ""), ["1 missing-element `task`"]);
    assert_eq!(of("script", ""), ["1 missing-element `task`"]);
    assert_eq!(
        of(
            "director_evaluator_loop",
            "<director><description>d</description></director>"
        ),
        ["1 missing-element `task`"]
    );
    assert_eq!(of("atomic", ""), [""; 0]);
    let script = "<director><description>d</description></director><evaluator><description>e</description></evaluator><script_execution/>";
    assert_eq!(
        of("director_evaluator_loop", script),
        ["1 missing-element `script_execution`"]
    );
    // The parts of a reduce are atomic, whatever row their settings come from.
    let parts = "<inputs><input name=\"i\">x</input></inputs>\
        <inner_task><description>a</description></inner_task><reduction_task><description>b</description></reduction_task>";
    assert_eq!(of("reduce", parts), [""; 0]);
    // A registered task brings all of it.
    assert_eq!(
        of("sequential", "<steps><task ref=\"other\"/></steps>"),
        [""; 0]
    );
}

#[test]
fn foreign_elements_and_attributes_are_welcome_everywhere() {
    let text = r#"<task type="sequential" name="t" xmlns:x="urn:team" x:owner="a">
  <description x:lang="en">sort <x:hint>the</x:hint> ticket</description>
  <x:note>kept</x:note>
  <context_management x:y="1"><x:z/></context_management>
  <steps><x:q/><task x:a=""><description>read</description></task></steps>
</task>"#;
    assert_eq!(check_template(text, &read("")).len(), 0);
}

/// A type that the project declares has the children of the type that it is built on (finding L3).
#[test]
fn a_declared_type_has_the_children_of_its_base() {
    let project =
        read("[operators.probe]\nbase = \"atomic\"\n\n[operators.turn]\nbase = \"reduce\"\n");
    let names = |text: &str| -> Vec<String> {
        let found = check_template(text, &project);
        let errors = found
            .iter()
            .filter(|finding| finding.severity == Severity::Error);
        errors
            .map(|finding| format!("{}: {}", finding.rule.name, finding.message))
            .collect()
    };
    let steps = "<steps><task type=\"atomic\"><description>x</description></task></steps>";
    let of = |name: &str, inside: &str| {
        names(&format!(
            "<task type=\"{name}\" name=\"a\"><description>t</description>{inside}</task>"
        ))
    };
    assert_eq!(
        of("probe", steps),
        [
            "other-type: `<steps>` belongs to type sequential, but this task is of type probe, which is built on atomic"
        ]
    );
    assert_eq!(
        of("probe", "<command>ls</command>"),
        [
            "other-type: `<command>` belongs to type script, but this task is of type probe, which is built on atomic"
        ]
    );
    assert!(
        of("turn", steps)
            .iter()
            .any(|found| found.starts_with("other-type: `<steps>`"))
    );
    let inner = "<inputs><input name=\"i\">w</input></inputs><inner_task><description>x</description></inner_task>\
                 <reduction_task><description>x</description></reduction_task>";
    assert_eq!(of("turn", inner), Vec::<String>::new());
    assert_eq!(of("probe", ""), Vec::<String>::new());
    // A type without a declaration is one slip, and its parts are not reported.
    assert_eq!(of("prob", steps).len(), 1);
}
