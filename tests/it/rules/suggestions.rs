//! Fixes write the text that an author meant, and delete no text that one wrote: a slip, its
//! findings, the remaining ones.

use super::apply::fixed;
use crate::project::reading::{check_template, read};
use ctxc::internals::base::rule_meta::Severity;
use ctxc::internals::rules::apply::FixSelection;
use pretty_assertions::assert_eq;

/// A task with two parameters, and the given parts behind them.
fn task(kind: &str, inside: &str) -> String {
    let parameters = "<parameters><parameter name=\"ticket\"/><parameter name=\"n\" type=\"number\"/></parameters>";
    format!(
        "<task type=\"{kind}\" name=\"t\"><description>d {{{{n}}}}</description>{parameters}{inside}</task>"
    )
}

/// One finding of this rule, and the text after all fixes.
#[track_caller]
fn becomes(kind: &str, slip: &str, rule: &str, meant: &str) {
    let text = task(kind, slip);
    let found = check_template(&text, &read(""));
    let grave = found
        .iter()
        .filter(|finding| finding.severity <= Severity::Warning);
    let names: Vec<&str> = grave.map(|finding| finding.rule.name).collect();
    assert_eq!(names, [rule], "{slip}");
    let out = fixed(&text, "", FixSelection::Suggested);
    assert_eq!((out.text, out.fixed), (task(kind, meant), 1));
}

const READ: &str = "<instructions>{{ticket}}</instructions>";

#[test]
fn a_word_that_is_misspelt_is_read_as_what_is_meant() {
    let text = |syntax| {
        format!(
            "<instructions syntax=\"{syntax}\">{{% if n %}}{{{{ ticket|upper }}}}{{% endif %}}</instructions>"
        )
    };
    for word in ["jinja2", "Jinja", "j2"] {
        becomes("atomic", &text(word), "bad-value", &text("jinja"));
    }
    let verbatim = |word| format!("{READ}<system verbatim=\"{word}\">{{{{nobody}}}}</system>");
    becomes("atomic", &verbatim("yes"), "bad-boolean", &verbatim("true"));
    let names = |name| format!("<inputs><input {name}=\"ticket\" name=\"a\"/></inputs>");
    becomes("atomic", &names("frm"), "unknown-attribute", &names("from"));
    let step = |name| {
        format!(
            "{READ}<steps><task {name}=\"a\"><description>e</description></task><task><description>{{{{a}}}}</description></task></steps>"
        )
    };
    becomes(
        "sequential",
        &step("result"),
        "unknown-attribute",
        &step("as"),
    );
}

#[test]
fn a_text_where_elements_stand_becomes_one() {
    let cases = [
        (
            "<constraints>No jargon.</constraints>",
            "<constraints><constraint>No jargon.</constraint></constraints>",
        ),
        (
            "<file_paths>a.md</file_paths>",
            "<file_paths><path>a.md</path></file_paths>",
        ),
    ];
    for (slip, meant) in cases {
        becomes(
            "atomic",
            &format!("{READ}{slip}"),
            "misplaced-text",
            &format!("{READ}{meant}"),
        );
    }
    let condition = |inside| {
        let parts = "<director><description>e {{evaluation_feedback}}</description></director><evaluator><description>f</description></evaluator>";
        format!("{READ}{parts}<termination_condition>{inside}</termination_condition>")
    };
    let test = "evaluation.success == true";
    becomes(
        "director_evaluator_loop",
        &condition(test),
        "misplaced-text",
        &condition(&format!("<condition>{test}</condition>")),
    );
}

#[test]
fn a_value_in_an_attribute_moves_between_the_tags() {
    let command = |args| format!("<command>{args}</command>");
    becomes(
        "script",
        &command("<arg value=\"a &amp; {{ticket}}\"/>"),
        "unknown-attribute",
        &command("<arg>a &amp; {{ticket}}</arg>"),
    );
    let inputs = |input| format!("<inputs>{input}</inputs>");
    becomes(
        "atomic",
        &inputs("<input name=\"a\" value=\"{{ticket}}\"></input>"),
        "unknown-attribute",
        &inputs("<input name=\"a\">{{ticket}}</input>"),
    );
    becomes(
        "atomic",
        &inputs("<input name=\"a\" value=\"ticket\"/>"),
        "unknown-attribute",
        &inputs("<input name=\"a\" from=\"ticket\"/>"),
    );
}

#[test]
fn what_other_languages_write_in_a_text_is_put_into_this_one() {
    let text = |words| format!("<instructions>{words}</instructions>");
    for braces in ["{ticket}", "${ticket}", "%(ticket)s"] {
        becomes(
            "atomic",
            &text(braces),
            "unused-parameter",
            &text("{{ticket}}"),
        );
    }
    for braces in ["{{ticket}", "{{tickt}", "{{ticket"] {
        becomes(
            "atomic",
            &text(braces),
            "bad-expression",
            &text("{{ticket}}"),
        );
    }
    let filters = "{{ticket|upper}} {{ n + 1 }} {% if n %}!{% endif %}";
    becomes(
        "atomic",
        &text(filters),
        "bad-expression",
        &format!("<instructions syntax=\"jinja\">{filters}</instructions>"),
    );
}

#[test]
fn a_condition_has_words_for_its_signs() {
    let steps = |test| {
        format!(
            "{READ}<steps><cond><case test=\"{test}\"><task><description>e</description></task></case></cond></steps>"
        )
    };
    becomes(
        "sequential",
        &steps("n gt 1 && n lt 3"),
        "bare-ampersand",
        &steps("n gt 1 and n lt 3"),
    );
    becomes(
        "sequential",
        &steps("n&&ticket"),
        "bare-ampersand",
        &steps("n and ticket"),
    );
    becomes(
        "sequential",
        &steps("n &amp;&amp; ticket"),
        "bad-condition",
        &steps("n and ticket"),
    );
    becomes(
        "sequential",
        &steps("n =&lt; 1"),
        "bad-condition",
        &steps("n &lt;= 1"),
    );
    becomes(
        "sequential",
        &steps("n => 1"),
        "bad-condition",
        &steps("n >= 1"),
    );
    becomes(
        "sequential",
        &steps("n < 1 or n > 3"),
        "bare-less-than",
        &steps("n &lt; 1 or n > 3"),
    );
}

#[test]
fn what_stands_in_a_condition_or_an_attribute_as_elsewhere_is_put_right() {
    let steps = |test| {
        format!(
            "{READ}<steps><cond><case test=\"{test}\"><task><description>e</description></task></case></cond></steps>"
        )
    };
    becomes(
        "sequential",
        &steps("{{n}} == 1"),
        "bad-condition",
        &steps("n == 1"),
    );
    becomes(
        "atomic",
        &format!("{READ}{SETTING}true</fresh_context></context_management>"),
        "bad-value",
        &format!("{READ}{SETTING}enabled</fresh_context></context_management>"),
    );
}

const SETTING: &str = "<context_management><inherit_context>none</inherit_context><fresh_context>";

#[test]
fn a_typo_of_a_name_of_rounds_is_no_parameter() {
    let text = |name| {
        format!(
            "<task type=\"reduce\" name=\"t\"><description>d</description><inputs><input name=\"a\">b</input></inputs>\
             <inner_task><description>e {{{{{name}}}}}</description></inner_task>\
             <reduction_task><description>f {{{{current_result}}}}</description></reduction_task></task>"
        )
    };
    let out = fixed(&text("curent_input"), "", FixSelection::Suggested);
    assert_eq!((out.text, out.fixed), (text("current_input"), 1));
}

#[test]
fn one_letter_is_not_a_typo_of_another() {
    let text = "<task type=\"atomic\" name=\"t\"><description>{{y}} {{b}}</description><parameters><parameter name=\"b\"/></parameters></task>";
    let out = fixed(text, "", FixSelection::Suggested);
    assert!(out.text.contains("{{y}} {{b}}"), "{}", out.text);
}

/// A finding that a fix reveals existed before: in the text, and in the setting, that had not been
/// read.
#[test]
fn a_fix_is_made_whatever_else_is_wrong() {
    let text = task(
        "atomic",
        "<instructions>{{ticket|upper}} {{nobody}}</instructions>",
    );
    assert!(
        fixed(&text, "", FixSelection::Suggested)
            .text
            .contains("syntax=\"jinja\"")
    );
    let block = "<context_management><inherit_context>full</inherit_context><fresh_context>enable</fresh_context></context_management>";
    let out = fixed(
        &task("atomic", &format!("{READ}{block}")),
        "",
        FixSelection::Suggested,
    );
    assert!(
        out.remaining
            .iter()
            .all(|finding| finding.severity > Severity::Warning),
        "{:#?}",
        out.remaining
    );
}

#[test]
fn what_has_no_fix_suggests_a_text() {
    let helps = |inside: &str, rule: &str| {
        let found = check_template(&task("atomic", inside), &read(""));
        let found = found
            .into_iter()
            .find(|finding| finding.rule.name == rule)
            .unwrap_or_else(|| panic!("{inside}"));
        found.help.unwrap_or_default().into_owned()
    };
    let shared = helps(
        "<instructions>{{ticket}} <include fragment=\"a\"/></instructions>",
        "unknown-element",
    );
    assert_eq!(
        shared,
        "a shared text is put in its place by `<use fragment=\"…\"/>`"
    );
    let child = helps(
        &format!("{READ}<model preferred=\"a\"/>"),
        "unknown-attribute",
    );
    assert_eq!(child, "`preferred` is an element in `<model>`");
}
