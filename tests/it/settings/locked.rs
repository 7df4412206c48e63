//! No registry holds a conflict of settings or lacks a written one, with any rule off, allowed,
//! lowered or misspelt.

use crate::cli::project::Project;
use crate::project::reading::read;
use ctxc::compile_sources;
use ctxc::internals::base::diagnostic::Diagnostic;
use ctxc::internals::base::fs::MemoryFs;
use ctxc::internals::base::rule_meta::{Code, Fixable, RuleMeta, Severity};
use ctxc::internals::project::config::{Config, ConfigInput};
use ctxc::internals::project::suppressions::Suppressions;
use ctxc::internals::rules::check;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::Value;
use std::path::Path;

/// The rules that check more than settings, and families of them.
const RULES: [&str; 14] = [
    "wrong-root",
    "bad-value",
    "bad-boolean",
    "empty-value",
    "unknown-element",
    "misplaced-element",
    "repeated-element",
    "unknown-attribute",
    "misplaced-text",
    "ref-with-body",
    "missing-type",
    "structure",
    "context",
    "all",
];

fn task(attributes: &str, inside: &str) -> String {
    format!("<task name=\"a\" {attributes}><description>t</description>{inside}</task>")
}

fn block(inside: &str) -> String {
    format!("<context_management>{inside}</context_management>")
}

fn errors(config: &Config, text: &str) -> Vec<&'static str> {
    let built = compile_sources(config, [("a.xml", text)]);
    let found: Vec<_> = built
        .diagnostics
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| finding.rule.name)
        .collect();
    assert_eq!(built.registry.is_none(), !found.is_empty(), "{text}");
    found
}

/// An omission from a prompt is never silenced, under any rule.
#[test]
fn what_loses_a_text_or_a_value_cannot_be_switched_off() {
    for (rule, inside) in [
        (
            "repeated-element",
            "<instructions>one</instructions><instructions>two</instructions>",
        ),
        ("misplaced-text", "<constraints>three</constraints>"),
        ("misplaced-element", "<constraint>four</constraint>"),
        (
            "unknown-element",
            "<instructions>x <b>five</b> y</instructions>",
        ),
        ("unknown-element", "<type>script</type>"),
        ("unknown-element", "<subtype>subtask</subtype>"),
        (
            "two-values",
            "<inputs><input name=\"i\" from=\"p\">six</input></inputs>",
        ),
        ("bad-number", "<sampling temperature=\"0,2\"/>"),
        (
            "bad-value",
            "<parameters><parameter name=\"p\" trust=\"yes\"/></parameters>",
        ),
        (
            "duplicate-entry",
            "<inputs><input name=\"x\">seven</input><input name=\"x\">eight</input></inputs>",
        ),
        ("missing-attribute", "<inputs><input>nine</input></inputs>"),
        ("other-type", "<command>ten</command>"),
        (
            "other-type",
            "<steps><task><description>eleven</description></task></steps>",
        ),
    ] {
        let text = task("type=\"atomic\"", inside);
        let own = |found: Vec<&'static str>| found.contains(&rule);
        assert!(
            own(errors(&Config::default(), &text)),
            "{text}: {:?}",
            errors(&Config::default(), &text)
        );
        for name in [rule, "structure", "all"] {
            assert!(
                own(errors(
                    &read(&format!("[lints]\n{name} = \"off\"\n")),
                    &text
                )),
                "{name}: {text}"
            );
        }
        let allow = format!("<?ctxc allow {rule} reason=\"x\"?><description>");
        assert!(
            own(errors(
                &Config::default(),
                &text.replace("<description>", &allow)
            )),
            "{text}"
        );
        let mut found = compile_sources(&Config::default(), [("a.xml", &*text)]).diagnostics;
        Suppressions::from_findings(&found).apply(&mut found, |_| true);
        assert!(
            found.iter().any(|finding| finding.rule.name == rule),
            "{text}"
        );
    }
}

/// Every former way to suppress a finding on one of the four settings, a type or a subtype.
#[test]
fn what_decides_a_setting_cannot_be_switched_off() {
    let enabled = "<fresh_context>enabled</fresh_context>";
    let cases = [
        (
            "bad-value",
            task(
                "type=\"atomic\"",
                &block(&format!("<inherit_context>Full</inherit_context>{enabled}")),
            ),
        ),
        (
            "empty-value",
            task(
                "type=\"atomic\"",
                &block(&format!("<inherit_context></inherit_context>{enabled}")),
            ),
        ),
        (
            "bad-boolean",
            task(
                "type=\"atomic\"",
                &block("<accumulate_data>yes</accumulate_data>"),
            ),
        ),
        (
            "misplaced-element",
            task(
                "type=\"atomic\"",
                &block("<fresh_context><description>enabled</description></fresh_context>"),
            ),
        ),
        (
            "misplaced-text",
            task("type=\"atomic\"", &block("inherit_context: none")),
        ),
        (
            "unknown-element",
            task(
                "type=\"atomic\"",
                &block("<inherit_contxt>none</inherit_contxt>"),
            ),
        ),
        (
            "unknown-element",
            task("type=\"atomic\"", "<fresh_contxt>enabled</fresh_contxt>"),
        ),
        (
            "unknown-element",
            task("type=\"atomic\"", "<context_managment/>"),
        ),
        (
            "unknown-element",
            task(
                "type=\"atomic\"",
                &format!("<meta>{}</meta>", block(enabled)),
            ),
        ),
        (
            "misplaced-element",
            task(
                "type=\"sequential\"",
                &format!(
                    "<steps>{}<task><description>d</description></task></steps>",
                    block(enabled)
                ),
            ),
        ),
        (
            "unknown-attribute",
            task("type=\"atomic\" subtpye=\"subtask\"", ""),
        ),
        (
            "unknown-attribute",
            task(
                "type=\"atomic\"",
                &block("<fresh_context value=\"enabled\">disabled</fresh_context>"),
            ),
        ),
        ("empty-value", task("type=\"\"", "")),
        ("empty-value", task("type=\"atomic\" subtype=\" \"", "")),
        (
            "repeated-element",
            task(
                "type=\"atomic\"",
                &format!(
                    "{}{}",
                    block(""),
                    block("<inherit_context>none</inherit_context>")
                ),
            ),
        ),
        (
            "repeated-element",
            task(
                "type=\"atomic\"",
                &block(
                    "<inherit_context>none</inherit_context><inherit_context>none</inherit_context>",
                ),
            ),
        ),
        (
            "ref-with-body",
            format!(
                "<library>{}<task name=\"b\" type=\"sequential\"><description>t</description><steps><task ref=\"a\">{}</task></steps></task></library>",
                task("type=\"atomic\"", ""),
                block(enabled)
            ),
        ),
    ];
    for (rule, text) in &cases {
        assert_eq!(errors(&Config::default(), text), [*rule], "{text}");
        for name in [rule, "structure", "all"] {
            for level in ["off", "hint", "warning"] {
                let config = read(&format!("[lints]\n{name} = \"{level}\"\n"));
                assert!(
                    check::config_findings(&config).is_empty(),
                    "{name} concerns other elements too"
                );
                assert_eq!(errors(&config, text), [*rule], "{name} = {level}\n{text}");
            }
        }
        let allow = format!("<?ctxc allow {rule} reason=\"x\"?>");
        let allowed = text
            .replace("<description>t", &format!("{allow}<description>t"))
            .replace(
                "<context_management>",
                &format!("<context_management>{allow}"),
            );
        assert_eq!(errors(&Config::default(), &allowed), [*rule], "{allowed}");
    }
}

#[test]
fn the_rules_of_settings_types_and_subtypes_alone_are_locked_as_a_whole() {
    let cases = [
        (
            "unknown-type",
            task(
                "type=\"zz\"",
                &block("<fresh_context>enabled</fresh_context>"),
            ),
        ),
        (
            "unknown-subtype",
            task(
                "type=\"atomic\" subtype=\"zz\"",
                &block("<fresh_context>enabled</fresh_context>"),
            ),
        ),
        (
            "misplaced-setting",
            task("type=\"atomic\"", "<fresh_context>enabled</fresh_context>"),
        ),
        (
            "misplaced-setting",
            task("type=\"atomic\" fresh_context=\"enabled\"", ""),
        ),
    ];
    for (rule, text) in &cases {
        let config = read(&format!("[lints]\n{rule} = \"off\"\n"));
        assert_eq!(
            check::config_findings(&config)
                .iter()
                .map(|finding| finding.rule.name)
                .collect::<Vec<_>>(),
            ["locked-lint"]
        );
        assert_eq!(
            errors(&read("[lints]\nstructure = \"off\"\n"), text),
            [*rule]
        );
        let allowed = text.replace(
            "<description>",
            &format!("<?ctxc allow {rule}?><description>"),
        );
        let built = compile_sources(&Config::default(), [("a.xml", &*allowed)]);
        let names: Vec<_> = built
            .diagnostics
            .iter()
            .map(|finding| finding.rule.name)
            .collect();
        assert!(
            names.contains(&"locked-allow") && names.contains(rule) && built.registry.is_none(),
            "{names:?}"
        );
    }
}

/// The same rules elsewhere can still be lowered, silenced and recorded.
#[test]
fn what_decides_no_setting_can_be_switched_off() {
    let text = task(
        "type=\"atomic\" verson=\"2\"",
        "<output_format type=\"JSON\"/><provider/><instrctions>x</instrctions>",
    );
    assert_eq!(errors(&Config::default(), &text).len(), 4);
    assert!(errors(&read("[lints]\nstructure = \"off\"\n"), &text).is_empty());
    let allow =
        "<?ctxc allow bad-value empty-value unknown-element unknown-attribute?><description>";
    assert!(errors(&Config::default(), &text.replace("<description>", allow)).is_empty());
    let mut found = compile_sources(&Config::default(), [("a.xml", &*text)]).diagnostics;
    Suppressions::from_findings(&found).apply(&mut found, |_| true);
    assert!(found.is_empty(), "{found:?}");
}

/// The second lock: with such a rule off, the conflict that it hides would be reported in its
/// place.
#[test]
fn a_conflict_that_nothing_stands_for_is_reported() {
    static OPEN: RuleMeta = RuleMeta {
        code: Code(121),
        name: "unknown-type",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::None,
        summary: "",
        case: "",
    };
    let text = "[lints]\nunknown-type = \"off\"\n";
    let files = MemoryFs::new();
    let config = Config::read(&ConfigInput {
        path: "ctxc.toml",
        text,
        root: Path::new("work"),
        files: &files,
        rules: &[&OPEN],
    });
    let conflict = block("<fresh_context>enabled</fresh_context>");
    assert_eq!(
        errors(&config, &task("type=\"zz\"", &conflict)),
        ["context-conflict-with-default"]
    );
    assert!(errors(&config, &task("type=\"zz\"", "")).is_empty());
}

/// `check` and `build` end alike, and a suppression file of an older release does not help.
#[test]
fn a_suppression_does_not_hide_an_error_in_a_setting() {
    let text = task(
        "type=\"atomic\"",
        &block("<inherit_context>Full</inherit_context><fresh_context>enabled</fresh_context>"),
    );
    let project = Project::new()
        .with_file("templates/a.xml", &text)
        .with_file("ctxc.toml", "[lints]\nbad-value = \"off\"\n");
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("error[bad-value]");
    project.run(&["check", "--suppress-existing"]).exits_with(1);
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("error[bad-value]");
    project.run(&["build"]).exits_with(1);
    assert!(!project.files().contains(&"registry.json".to_owned()));
    let mut found: Vec<Diagnostic> =
        compile_sources(&Config::default(), [("a.xml", &*text)]).diagnostics;
    let mut older = found.clone();
    for finding in &mut older {
        finding.locked = false;
    }
    let recorded = Suppressions::from_findings(&older);
    assert_eq!(
        (
            recorded.finding_count(),
            recorded.apply(&mut found, |_| true).suppressed
        ),
        (1, 0)
    );
}

/// A block of settings beside a wrapped task that has one of its own.
#[test]
fn the_settings_of_a_wrapped_task_are_not_overridden() {
    let wrapped = format!(
        "<task><description>d</description>{}</task>",
        block("<fresh_context>disabled</fresh_context>")
    );
    let text = task(
        "type=\"reduce\"",
        &format!(
            "<inputs><input name=\"i\">x</input></inputs><inner_task>{wrapped}{}</inner_task><reduction_task><description>r</description></reduction_task>",
            block("")
        ),
    );
    assert_eq!(errors(&Config::default(), &text), ["repeated-element"]);
}

/// It would not be read, and every task would have settings that were never chosen.
#[test]
fn a_section_of_settings_by_another_name_cannot_be_switched_off() {
    for section in ["default.atomic", "defaluts.atomic", "operator.atomic.x"] {
        for lint in ["unknown-key", "project", "all"] {
            let config = read(&format!(
                "[{section}]\ninherit_context = \"none\"\n[lints]\n{lint} = \"off\"\n"
            ));
            let found: Vec<_> = check::config_findings(&config)
                .iter()
                .map(|finding| finding.rule.name)
                .collect();
            assert!(
                found.contains(&"unknown-key"),
                "[{section}], {lint}: {found:?}"
            );
        }
    }
}

/// Ten thousand silenced faults of another kind do not hide one of a setting.
#[test]
fn a_typo_of_a_setting_is_seen_behind_many_others() {
    let many = "<provider/>".repeat(10_100);
    let text = task(
        "type=\"atomic\"",
        &format!("{many}{}", block("<inherit_context>Full</inherit_context>")),
    );
    let found = errors(&read("[lints]\nstructure = \"off\"\n"), &text);
    assert!(found.contains(&"bad-value"), "{found:?}");
}

/// Writes a setting and its value wrongly.
type Mistake = fn(&str, &str) -> String;

/// The mistakes of a template; `None` for a sound one.
const MISTAKES: [Option<Mistake>; 14] = [
    None,
    None,
    Some(|name, value| block(&format!("<{name}>{value}x</{name}>"))),
    Some(|name, _| block(&format!("<{name}/>"))),
    Some(|name, value| block(&format!("<{name}>{}</{name}>", value.to_uppercase()))),
    Some(|name, value| block(&format!("<{name} value=\"{value}\"/>"))),
    Some(|name, value| block(&format!("<{name}><b>{value}</b></{name}>"))),
    Some(|name, value| block(&format!("<{name}s>{value}</{name}s>"))),
    Some(|name, value| block(&format!("<{name}>{value}</{name}><{name}>{value}</{name}>"))),
    Some(|name, value| block(&format!("{name}={value}"))),
    Some(|name, value| format!("<{name}>{value}</{name}>")),
    Some(|name, value| format!("<context_managment><{name}>{value}</{name}></context_managment>")),
    Some(|name, value| {
        format!(
            "<settings>{}</settings>",
            block(&format!("<{name}>{value}</{name}>"))
        )
    }),
    Some(|name, value| {
        format!(
            "{}{}",
            block(""),
            block(&format!("<{name}>{value}</{name}>"))
        )
    }),
];

fn settings(node: &Value, out: &mut Vec<(String, String)>) {
    match node {
        Value::Object(fields) => {
            if let (Some(inherit), Some(fresh)) =
                (fields.get("inherit_context"), fields.get("fresh_context"))
            {
                out.push((
                    inherit["value"].as_str().unwrap().to_owned(),
                    fresh["value"].as_str().unwrap().to_owned(),
                ));
            }
            fields.values().for_each(|inner| settings(inner, out));
        }
        Value::Array(items) => items.iter().for_each(|inner| settings(inner, out)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_registry_holds_a_conflict_or_lacks_a_setting(
        written in (prop::option::of(prop::sample::select(vec!["full", "none", "subset"])), prop::option::of(prop::sample::select(vec!["enabled", "disabled"]))),
        mistake in 0..MISTAKES.len(),
        is_second_wrong in any::<bool>(),
        attributes in prop::sample::select(vec!["", "type=\"atomic\"", "type=\"atomic\" subtype=\"subtask\"", "type=\"atomc\"", "type=\"\"", "subtype=\"subtsk\"", "subtyp=\"subtask\""]),
        place in 0..4_usize,
        lints in prop::collection::btree_map(prop::sample::select(RULES.to_vec()), prop::sample::select(vec!["off", "hint", "info", "warning", "error"]), 0..4),
        allows in prop::collection::vec(prop::sample::select(RULES[..11].to_vec()), 0..6),
    ) {
        let (inherit, fresh) = written;
        let pairs = [("inherit_context", inherit), ("fresh_context", fresh)];
        let mut whole = String::new();
        let mut wrong_setting = String::new();
        let mut is_wrong = ["atomc", "\"\"", "subtsk", "subtyp="].iter().any(|word| attributes.contains(word));
        for (at, (name, value)) in pairs.into_iter().enumerate() {
            let Some(value) = value else { continue };
            match MISTAKES[mistake].filter(|_| is_second_wrong == (at == 1)) {
                Some(mistake) => {
                    is_wrong = true;
                    wrong_setting = mistake(name, value);
                }
                None => whole = format!("{whole}<{name}>{value}</{name}>"),
            }
        }
        let allow = if allows.is_empty() { String::new() } else { format!("<?ctxc allow {} reason=\"x\"?>", allows.join(" ")) };
        // One block: a mistake inside it joins the sound part.
        let inside = match wrong_setting.strip_prefix("<context_management>") {
            Some(rest) => format!("<context_management>{allow}{whole}{rest}"),
            None => format!("{}{wrong_setting}", block(&format!("{allow}{whole}"))),
        };
        let body = format!("{allow}<description>t</description>{inside}");
        let text = match place {
            0 => format!("<task {attributes}>{body}</task>"),
            1 => format!("<task type=\"sequential\">{allow}<description>o</description><steps><task {attributes}>{body}</task></steps></task>"),
            2 => format!("<template name=\"f\" params=\"\"><task {attributes}>{body}</task></template>"),
            _ => format!("<library><task name=\"l\" {attributes}>{body}</task></library>"),
        };
        let lints = lints.iter().map(|(name, level)| format!("{name} = \"{level}\"\n")).collect::<Vec<_>>().concat();
        let config = read(&format!("[lints]\n{lints}"));
        prop_assert!(check::config_findings(&config).iter().all(|finding| finding.severity != Severity::Error));
        let mut built = compile_sources(&config, [("a.xml", &*text)]);
        prop_assert!(!is_wrong || built.registry.is_none(), "a setting is lost:\n{}\n{}", lints, text);
        let recorded = Suppressions::from_findings(&built.diagnostics);
        let before = built.is_broken();
        recorded.apply(&mut built.diagnostics, |_| true);
        prop_assert_eq!(before && is_wrong, is_wrong && built.is_broken(), "recorded");
        if let Some(registry) = &built.registry {
            let json: Value = serde_json::from_slice(registry.as_bytes()).unwrap();
            let mut held = Vec::new();
            settings(&json, &mut held);
            prop_assert!(!held.is_empty(), "{}", json);
            for (inherits, looks_up) in &held {
                prop_assert!(looks_up != "enabled" || inherits == "none", "{}\n{}", lints, text);
            }
            let is_held = |one: Option<&str>, of: fn(&(String, String)) -> &String| one.is_none_or(|one| held.iter().any(|pair| of(pair) == one));
            prop_assert!(is_held(inherit, |pair| &pair.0) && is_held(fresh, |pair| &pair.1), "{}\n{}", text, json);
        }
    }
}
