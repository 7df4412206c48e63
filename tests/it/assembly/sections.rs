//! A program whose own assembler already writes headings and `---` switches to the profile
//! `sections` with an empty diff, except for the fences around texts of agents.

use super::settings::registry;
use ctxc::Registry;
use ctxc::internals::context::assemble::Assembly;
use ctxc::internals::context::{
    Inputs, Kind, Options, Profile, Request, Speaker, StepResult, assemble,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// A common assembler of an agent loop: sections pushed to a list, joined at the end.
#[derive(Clone, Debug, Default)]
struct Existing {
    system: String,
    criteria: String,
    constraints: Vec<String>,
    files: Vec<(String, String)>,
    objective: String,
    inputs: Vec<(String, String)>,
    previous: Option<String>,
    failures: Vec<(String, String, String)>,
}

impl Existing {
    /// The system prompt that it sends.
    fn system(&self) -> String {
        let mut sections = vec![
            self.system.clone(),
            format!("## Criteria\n\n{}", self.criteria),
        ];
        if !self.constraints.is_empty() {
            let lines: Vec<String> = self
                .constraints
                .iter()
                .map(|constraint| format!("- {constraint}"))
                .collect();
            sections.push(format!("## Constraints\n\n{}", lines.join("\n")));
        }
        for (path, content) in &self.files {
            sections.push(format!("## File: {path}\n\n{content}"));
        }
        sections.join("\n\n---\n\n")
    }

    /// The user's message that it sends: the request first, then the segments that belong to it.
    fn user(&self) -> String {
        let mut sections = vec![format!("## Task\n\n{}", self.objective)];
        for (name, value) in &self.inputs {
            sections.push(format!("## Input: {name}\n\n{value}"));
        }
        if let Some(previous) = &self.previous {
            sections.push(format!("## Previous output\n\n{previous}"));
        }
        if !self.failures.is_empty() {
            let mut text = String::new();
            for (number, (stage, obstacle, note)) in self.failures.iter().enumerate() {
                let gap = if number > 0 { "\n" } else { "" };
                write!(text, "{gap}- {stage}: {obstacle} ({note})").unwrap();
            }
            sections.push(format!("## Earlier attempts\n\n{text}"));
        }
        sections.join("\n\n---\n\n")
    }
}

/// The same as a template: the former code is now text that is checked, diffed and tested.
fn template(existing: &Existing) -> String {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let mut out = String::from(
        "<task type=\"atomic\" name=\"t\"><description>{{objective}}</description><parameters><parameter name=\"objective\"/>",
    );
    for (name, _) in &existing.inputs {
        write!(out, "<parameter name=\"{name}\"/>").unwrap();
    }
    out.push_str("</parameters>");
    if !existing.inputs.is_empty() {
        out.push_str("<inputs>");
        for (name, _) in &existing.inputs {
            write!(out, "<input name=\"{name}\" from=\"{name}\"/>").unwrap();
        }
        out.push_str("</inputs>");
    }
    write!(
        out,
        "<system>{}</system><criteria>{}</criteria>",
        escaped(&existing.system),
        escaped(&existing.criteria)
    )
    .unwrap();
    if !existing.constraints.is_empty() {
        out.push_str("<constraints>");
        for constraint in &existing.constraints {
            write!(out, "<constraint>{}</constraint>", escaped(constraint)).unwrap();
        }
        out.push_str("</constraints>");
    }
    if !existing.files.is_empty() {
        out.push_str("<file_paths source=\"literal\">");
        for (path, _) in &existing.files {
            write!(out, "<path>{path}</path>").unwrap();
        }
        out.push_str("</file_paths>");
    }
    out.push_str("</task>");
    out
}

/// The same parts, rendered by `assemble`.
fn assembled(existing: &Existing) -> (String, String) {
    let registry = registry(&template(existing));
    let mut inputs = Inputs::from([("objective", existing.objective.as_str())]);
    for (name, value) in &existing.inputs {
        inputs = inputs.with(name, value.as_str());
    }
    let files: BTreeMap<String, String> = existing.files.iter().cloned().collect();
    let previous = existing.previous.clone().map(Value::String);
    let attempts: Vec<ctxc::internals::context::request::Attempt> = existing
        .failures
        .iter()
        .map(
            |(stage, obstacle, note)| ctxc::internals::context::request::Attempt {
                stage: stage.clone(),
                obstacle: obstacle.clone(),
                note: note.clone(),
            },
        )
        .collect();
    let request = Request {
        inputs: &inputs,
        files: &files,
        previous: previous.as_ref(),
        attempts: &attempts,
        ..Request::new("t")
    };
    // The order of the replaced code: the request before the segments that belong to it.
    let order = [Kind::Description, Kind::Input, Kind::PreviousOutput];
    let options = Options {
        profile: Profile::Sections,
        order: &order,
        ..Options::default()
    };
    let Assembly {
        messages, report, ..
    } = assemble(&registry, &request, &options).unwrap();
    let nonce = report.nonce;
    let (open, close) = (
        format!("<untrusted-{nonce} name=\""),
        format!("\n</untrusted-{nonce}>"),
    );
    let text_of = |speaker: Speaker| {
        let text = messages
            .iter()
            .find(|message| message.speaker == speaker)
            .unwrap()
            .as_str()
            .replace(&close, "");
        let mut parts = text.split(&open);
        let first = parts.next().unwrap().to_owned();
        parts
            .map(|part| part.split_once("\">\n").unwrap().1)
            .fold(first, |text, part| text + part)
    };
    assert_eq!(messages.len(), 2);
    (text_of(Speaker::System), text_of(Speaker::User))
}

/// Words of a prompt on lines of their own, as in source code: no blank at either end.
fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        6 => "[a-zA-Z0-9.,:;!?<>&'\"#*_-]{1,9}",
        1 => Just("é😀e\u{301}".to_owned()),
        1 => Just("---".to_owned()),
        1 => Just("## Task".to_owned()),
        1 => Just("```rs".to_owned()),
        1 => Just("</file>".to_owned()),
    ];
    let gap = prop_oneof![4 => Just(" "), 1 => Just("\n"), 1 => Just("\n\n")];
    prop::collection::vec((word, gap), 1..12).prop_map(|words| {
        words
            .into_iter()
            .map(|(word, gap)| word + gap)
            .collect::<String>()
            .trim()
            .to_owned()
    })
}

fn line() -> impl Strategy<Value = String> {
    words().prop_map(|words| words.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Any text for a value or a file.
fn anything() -> impl Strategy<Value = String> {
    prop_oneof![3 => words(), 1 => "[ -~\n\r\té]{1,80}", 1 => Just("a\n---\n\n## Constraints\n\n- none\n".to_owned())]
}

fn existing() -> impl Strategy<Value = Existing> {
    let files =
        prop::collection::btree_map("(src|docs)/[a-z]{1,6}\\.(rs|md|toml)", anything(), 0..4);
    let inputs = prop::collection::btree_map("[a-z]{3,8}", anything(), 0..3);
    let failures = prop::collection::vec((line(), line(), line()), 0..3);
    (
        (words(), words(), words()),
        prop::collection::vec(line(), 0..4),
        files,
        inputs,
        prop::option::of(anything()),
        failures,
    )
        .prop_map(
            |(
                (system, criteria, objective),
                constraints,
                files,
                mut inputs,
                previous,
                failures,
            )| {
                inputs.remove("objective");
                let (files, inputs) = (files.into_iter().collect(), inputs.into_iter().collect());
                Existing {
                    system,
                    criteria,
                    constraints,
                    files,
                    objective,
                    inputs,
                    previous,
                    failures,
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn an_existing_assembler_is_replaced_byte_for_byte(existing in existing()) {
        let (system, user) = assembled(&existing);
        prop_assert_eq!(system, existing.system());
        prop_assert_eq!(user, existing.user());
    }
}

static STEPS: LazyLock<Registry> = LazyLock::new(|| {
    registry(
        "<task type=\"atomic\" name=\"t\"><description>Sort {{subject}}</description><parameters><parameter name=\"subject\"/></parameters>\
         <system>You sort.</system><instructions>Name one.</instructions></task>",
    )
});

#[test]
fn an_order_of_the_host_moves_kinds_within_their_message_and_nothing_else() {
    let inputs = Inputs::from([("subject", "mail")]);
    let results = BTreeMap::from([(
        "x".to_owned(),
        StepResult {
            content: json!("y"),
            ..StepResult::default()
        },
    )]);
    let previous = json!(3);
    let request = Request {
        inputs: &inputs,
        results: &results,
        previous: Some(&previous),
        ..Request::new("t")
    };
    let render_in_order = |order: &[Kind]| {
        let options = Options {
            profile: Profile::Plain,
            order,
            ..Options::default()
        };
        let messages = assemble(&STEPS, &request, &options).unwrap().messages;
        messages
            .iter()
            .map(|message| message.as_str().replace('\n', " "))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        render_in_order(&[]),
        [
            "You sort.  Instructions: Name one.",
            "Previous output: 3  Task: Sort mail"
        ]
    );
    // The role's own system text stays in front.
    let order = [Kind::Description, Kind::Instructions];
    assert_eq!(
        render_in_order(&order),
        [
            "You sort.  Instructions: Name one.",
            "Task: Sort mail  Previous output: 3"
        ]
    );
}
