//! Generates a scenario in YAML from today's context: the segments and their order, a limit of
//! tokens, the resolved settings.
//!
//! The scenario passes as generated and has the style of a handwritten one. Every string that YAML
//! could read as another type is quoted.

use super::prepared_case::{PreparedCase, SeenContext};
use super::receiver::Receiver;
use crate::base::json::escape_for_yaml;
use crate::context::assemble::Assembly;
use crate::context::context_source::Match;
use crate::kernel::assembler::SegmentReport;
use crate::kernel::budget::Disposition;
use crate::kernel::context::{Kind, Trust};
use crate::scenario::expect::segments::collapse_ids;
use crate::scenario::model::SCENARIO_SCHEMA;
use crate::template::setting::{SettingName, Word};
use serde_json::Value;
use std::fmt::Write as _;

/// A value in the situation.
#[derive(Clone, Debug, PartialEq)]
pub enum SituationValue {
    /// The value itself.
    Value(Value),
    /// A file, by its path beside the scenario.
    File(String),
}

/// The input of a generated scenario.
#[derive(Clone, Copy, Debug)]
pub struct ScenarioDraft<'a> {
    /// Its name.
    pub name: &'a str,
    /// The receiver of the context.
    pub receiver: Receiver<'a>,
    /// The agent inside the task, if it is not the first one.
    pub node: Option<&'a str>,
    /// The request as text; `None` if it is not known yet.
    pub objective: Option<&'a str>,
    /// Values of the task's parameters.
    pub inputs: &'a [(String, SituationValue)],
    /// The results of earlier steps.
    pub results: &'a [(String, SituationValue)],
    /// The earlier conversation.
    pub history: Option<&'a SituationValue>,
    /// The passages that are looked up for the agent.
    pub found: &'a LookedUpPassages,
    /// The precision of the expectations on texts.
    pub holds: TextPrecision,
}

/// The precision with which a scenario fixes a context's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextPrecision {
    /// Only the segments and their total size.
    Segments,
    /// Every word, by a stored request.
    Words,
}

/// The passages that are looked up for an agent, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LookedUpPassages {
    /// Files that the task describes.
    pub files: Vec<Match>,
    /// Fresh context.
    pub fresh: Vec<Match>,
    /// The segments made from them and all others of those kinds, by id and text.
    pub held: Vec<(String, String)>,
}

/// The segments of the kinds that a lookup can produce, by id and text.
pub fn lookup_segments(assembly: &Assembly) -> Vec<(String, String)> {
    let segments = assembly
        .report
        .segments
        .iter()
        .map(|account| &account.segment);
    let can = segments
        .filter(|segment| matches!(segment.kind, Kind::Fresh | Kind::File | Kind::Inherited));
    can.map(|segment| (segment.id.clone(), segment.text.text().to_owned()))
        .collect()
}

/// Returns true if an agent receives messages of a conversation, including messages of its parent's
/// one.
pub fn has_conversation(assembly: &Assembly) -> bool {
    assembly
        .report
        .segments
        .iter()
        .any(|account| account.segment.is_turn())
}

/// Words that YAML reads as another type in one of its versions.
const YAML_KEYWORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// A text as a YAML scalar.
pub fn yaml_scalar(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
        && !YAML_KEYWORDS.contains(&text.to_ascii_lowercase().as_str());
    if is_plain {
        return text.to_owned();
    }
    escape_for_yaml(&Value::String(text.to_owned()))
}

fn write_values(out: &mut String, key: &str, values: &[(String, SituationValue)]) {
    if values.is_empty() {
        return;
    }
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(out, "  {key}:");
    for (name, given) in values {
        let value = match given {
            SituationValue::File(path) => format!("{{file: {}}}", yaml_scalar(path)),
            // A text that begins with an at sign would be read as a file.
            SituationValue::Value(Value::String(text)) if text.starts_with('@') => {
                yaml_scalar(&format!("@{text}"))
            }
            SituationValue::Value(Value::String(text)) => yaml_scalar(text),
            SituationValue::Value(value) => value.to_string(),
        };
        let _ = writeln!(out, "    {}: {value}", yaml_scalar(name));
    }
}

/// The earlier conversation: the file that contains it, or one message per line.
fn write_conversation(out: &mut String, history: Option<&SituationValue>) {
    match history {
        None => {}
        Some(SituationValue::File(path)) => {
            let _ = writeln!(out, "  history: {{file: {}}}", yaml_scalar(path));
        }
        Some(SituationValue::Value(messages)) => {
            out.push_str("  history:\n");
            for message in messages.as_array().map_or(&[][..], Vec::as_slice) {
                // A JSON object is a mapping of YAML.
                let _ = writeln!(out, "    - {message}");
            }
        }
    }
}

/// The passages, frozen. If there are files that the task describes, all others come from memory,
/// which has no files.
fn write_lookups(out: &mut String, found: &LookedUpPassages) {
    let LookedUpPassages {
        files,
        fresh,
        held: _,
    } = found;
    let (memory, retrieval) = if files.is_empty() {
        (&[][..], &fresh[..])
    } else {
        (&fresh[..], &files[..])
    };
    for (key, matches) in [("memory", memory), ("retrieval", retrieval)] {
        if matches.is_empty() {
            continue;
        }
        let _ = writeln!(out, "  {key}:");
        for Match { id, text, trust: _ } in matches {
            let _ = writeln!(
                out,
                "    - id: {}\n      text: {}",
                yaml_scalar(id),
                literal_block(text, 8)
            );
        }
    }
}

/// A text of several lines as a literal block, indented by `indent` spaces; any other text as a
/// scalar.
fn literal_block(text: &str, indent: usize) -> String {
    let is_strange = |c: char| {
        c != '\n'
            && c != '\t'
            && (c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}'))
    };
    let body = text.trim_end_matches('\n');
    if !body.contains('\n') || text.contains(is_strange) {
        return yaml_scalar(text);
    }
    // The chomping indicator for no, one, or several line breaks at the end.
    let (chomp, lines) = match text.len() - body.len() {
        0 => ("-", text),
        1 => ("", body),
        _ => ("+", text.strip_suffix('\n').unwrap_or(text)),
    };
    let first = if body.starts_with([' ', '\t', '\n']) {
        "2"
    } else {
        ""
    };
    let mut out = format!("|{first}{chomp}");
    for line in lines.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            out.push_str(&" ".repeat(indent));
            out.push_str(line);
        }
    }
    out
}

/// A limit above a number of tokens: a tenth more, rounded up to a round number.
pub fn round_up_limit(tokens: usize) -> usize {
    let more = tokens + tokens.div_ceil(10);
    let step = match more {
        0..100 => 10,
        100..1_000 => 50,
        1_000..10_000 => 100,
        _ => 1_000,
    };
    more.div_ceil(step) * step
}

/// The text of a scenario with expectations on the assembled context; without a context, with a
/// minimal expectation.
pub fn scenario_yaml(draft: &ScenarioDraft<'_>, seen: Option<&SeenContext<'_>>) -> String {
    let ScenarioDraft {
        name,
        receiver,
        node,
        objective,
        inputs,
        results,
        history,
        found,
        holds,
    } = *draft;
    let mut out = String::new();
    let subject = receiver.name();
    let _ = writeln!(
        out,
        "# What {subject} receives today, as `ctxc new scenario` took it from a render. Take out what may change, and"
    );
    out.push_str("# add what the answer must satisfy: `expectations`.\n");
    out.push_str(match holds {
        TextPrecision::Segments => "# Words may still change: `contains` names those that must stay, `snapshot: true` holds every one.\n",
        TextPrecision::Words => "# No word may change: `ctxc eval --accept` takes over a change that is meant, after showing it.\n",
    });
    let _ = writeln!(out, "schema: {SCENARIO_SCHEMA}");
    let _ = writeln!(out, "name: {}", yaml_scalar(name));
    let key = if receiver.role.is_some() {
        "role"
    } else {
        "task"
    };
    let _ = writeln!(out, "{key}: {}", yaml_scalar(subject));
    if let Some(node) = node {
        let _ = writeln!(out, "node: {}", yaml_scalar(node));
    }
    let _ = writeln!(
        out,
        "context:\n  objective: {}",
        yaml_scalar(objective.unwrap_or(subject))
    );
    write_values(&mut out, "inputs", inputs);
    write_values(&mut out, "results", results);
    write_conversation(&mut out, history);
    write_lookups(&mut out, found);
    out.push_str("expect_context:\n");
    match seen {
        Some(seen) => {
            write_expectations(&mut out, seen);
            if holds == TextPrecision::Words {
                out.push_str("  - snapshot: true\n");
            }
        }
        None => out.push_str("  - nothing_cut: true\n"),
    }
    out
}

/// A successful run, as input of a scenario of the whole task.
#[derive(Clone, Copy, Debug)]
pub struct RunDraft<'a> {
    /// Its name.
    pub name: &'a str,
    /// The receiver.
    pub receiver: Receiver<'a>,
    /// The request as text.
    pub objective: Option<&'a str>,
    /// Values of the task's parameters.
    pub inputs: &'a [(String, SituationValue)],
    /// The path of agents and scripts that it took.
    pub path: &'a [String],
    /// True if no context was cut.
    pub is_whole: bool,
    /// The way it ended.
    pub ends: &'a str,
    /// The outputs of scripts.
    pub scripts: &'a [(String, Value)],
    /// The tokens of its calls.
    pub tokens: u64,
}

/// The text of a scenario that runs a whole task.
pub fn run_yaml(draft: &RunDraft<'_>) -> String {
    let RunDraft {
        name,
        receiver,
        objective,
        inputs,
        path,
        is_whole,
        ends,
        scripts,
        tokens,
    } = *draft;
    let key = if receiver.role.is_some() {
        "role"
    } else {
        "task"
    };
    let subject = receiver.name();
    let mut out = format!(
        "# A run of {subject}, whose answers are recorded beside this file. Add what must hold of its result and, by `node`, of its agents.\n\
        schema: {SCENARIO_SCHEMA}\nname: {}\n{key}: {}\nrun: true\nruns: 1\npass_threshold: 1\ncontext:\n  objective: {}\n",
        yaml_scalar(name),
        yaml_scalar(subject),
        yaml_scalar(objective.unwrap_or(if receiver.role.is_some() { "" } else { subject }))
    );
    write_values(&mut out, "inputs", inputs);
    if is_whole {
        out.push_str("expect_context:\n  - nothing_cut: true\n");
    }
    let steps: Vec<String> = path.iter().map(|step| yaml_scalar(step)).collect();
    let max = round_up_limit(usize::try_from(tokens).unwrap_or(usize::MAX)).max(100);
    let _ = write!(
        out,
        "expectations:\n  - path: [{}]\n  - max_tokens: {max}\n",
        steps.join(", ")
    );
    if ends != "complete" {
        let _ = writeln!(out, "  - ends: {ends}");
    }
    if !scripts.is_empty() {
        out.push_str("answers:\n");
    }
    for (node, written) in scripts {
        let reply = written
            .as_str()
            .map_or_else(|| written.to_string(), |text| literal_block(text, 6));
        let _ = write!(
            out,
            "  - when: {{node: {}}}\n    reply: {reply}\n",
            yaml_scalar(node)
        );
    }
    out
}

/// Writes the expectations on segments, their order and tokens, on settings, and on the other
/// properties of a role.
fn write_expectations(out: &mut String, seen: &SeenContext<'_>) {
    let assembly = seen.assembly;
    let stands: Vec<String> = collapse_ids(super::context::retained_ids(assembly))
        .iter()
        .map(|id| yaml_scalar(id))
        .collect();
    let _ = writeln!(out, "  - segments: {{exactly: [{}]}}", stands.join(", "));
    let mut is_whole = true;
    for account in &assembly.report.segments {
        let state = match account.disposition {
            Disposition::Kept => continue,
            Disposition::Cut { .. } | Disposition::Shortened { .. } => "cut",
            Disposition::Dropped => "dropped",
        };
        is_whole = false;
        let _ = writeln!(
            out,
            "  - segment: {{id: {}, state: {state}}}",
            yaml_scalar(&account.segment.id)
        );
    }
    if is_whole {
        out.push_str("  - nothing_cut: true\n");
    }
    // Messages of a conversation are never trusted.
    let from_outside = |account: &&SegmentReport| {
        account.segment.trust == Trust::Untrusted && account.segment.kind != Kind::History
    };
    for account in assembly.report.segments.iter().filter(from_outside) {
        let _ = writeln!(
            out,
            "  - trust: {{segment: {}, is: untrusted}}",
            yaml_scalar(&account.segment.id)
        );
    }
    if let Some(tokens) = assembly.report.tokens {
        // A limit above the budget could never fail.
        let max = assembly
            .report
            .budget
            .map_or(usize::MAX, |budget| budget.saturating_sub(1))
            .max(tokens);
        let _ = writeln!(
            out,
            "  - tokens: {{of: total, max: {}}}",
            round_up_limit(tokens).min(max)
        );
    }
    write_settings(out, seen);
    write_role(out, seen);
}

/// Writes the effective settings of the agent and of the nodes around it, which decide what the
/// agent inherits.
fn write_settings(out: &mut String, seen: &SeenContext<'_>) {
    let PreparedCase {
        forest,
        receiver,
        node,
        ..
    } = seen.case;
    for place in forest.enclosing_nodes(receiver.task, node) {
        let Ok(Some(settings)) = forest.settings(receiver.task, &place) else {
            continue;
        };
        let of = if place == *node {
            String::new()
        } else {
            format!(", node: {}", yaml_scalar(&place))
        };
        for name in SettingName::ALL.iter().copied() {
            let setting = settings.get(name);
            if setting.applies {
                let _ = writeln!(
                    out,
                    "  - setting: {{name: {}, value: {}{of}}}",
                    name.word(),
                    setting_scalar(setting.value.as_str())
                );
            }
        }
    }
}

/// The keyword of a value; `true` and `false` stay unquoted here.
fn setting_scalar(word: &str) -> String {
    if matches!(word, "true" | "false") {
        word.to_owned()
    } else {
        yaml_scalar(word)
    }
}

/// Writes the properties of a role besides its text.
fn write_role(out: &mut String, seen: &SeenContext<'_>) {
    let list = |names: &[String]| {
        names
            .iter()
            .map(|name| yaml_scalar(name))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let receiver = seen.case.receiver;
    if receiver.role.is_none() {
        return;
    }
    if let Some(model) = seen.case.model() {
        let _ = match &seen.case.routed.choice {
            None => writeln!(out, "  - model: {}", yaml_scalar(model)),
            Some(choice) => {
                let (id, provider) = (
                    yaml_scalar(&choice.model.id),
                    yaml_scalar(&choice.model.provider.value),
                );
                let settings = seen
                    .case
                    .routed
                    .sampling
                    .iter()
                    .map(|one| format!("{}: {}", one.name.word(), one.value));
                let sampling = settings.collect::<Vec<_>>().join(", ");
                writeln!(
                    out,
                    "  - model: {{name: {}, id: {id}, provider: {provider}, sampling: {{{sampling}}}}}",
                    yaml_scalar(model)
                )
            }
        };
    }
    let given: Vec<String> = receiver
        .role
        .and_then(|role| role.tools.as_ref())
        .map_or_else(Vec::new, |tools| {
            tools
                .agent_definitions()
                .into_iter()
                .map(|tool| tool.name.clone())
                .collect()
        });
    let _ = if given.is_empty() {
        writeln!(out, "  - tools: [{}]", list(&receiver.tools()))
    } else {
        writeln!(out, "  - tools: {{exactly: [{}]}}", list(&given))
    };
    let _ = writeln!(
        out,
        "  - protected_paths: [{}]",
        list(&receiver.protected_paths())
    );
}

/// The request as text: the first line of the rendered description outside of all fences, since
/// fenced values belong to one request.
pub fn first_description_line(seen: &SeenContext<'_>) -> String {
    let report = &seen.assembly.report;
    let description = report
        .segments
        .iter()
        .find(|account| account.segment.id == "description");
    let text = description.map_or("", |account| account.segment.text.text());
    let open = format!("<untrusted-{}", report.nonce);
    let close = format!("</untrusted-{}>", report.nonce);
    let mut is_inside = false;
    let mut begun = None;
    for line in text.lines() {
        if let Some((before, _)) = line.split_once(&open) {
            begun = begun.or(Some(before.trim()).filter(|before| !is_inside && !before.is_empty()));
            is_inside = true;
        } else if line.contains(&close) {
            is_inside = false;
        } else if !is_inside && !line.trim().is_empty() {
            return line.trim().to_owned();
        }
    }
    begun.unwrap_or(seen.case.receiver.task).to_owned()
}

/// An unused name for a scenario: the subject with the stem of the first file or a number as
/// suffix.
pub fn unused_name(subject: &str, file: Option<&str>, is_taken: impl Fn(&str) -> bool) -> String {
    let stem = file
        .map(|file| file.rsplit('/').next().unwrap_or(file))
        .map(|file| file.split('.').next().unwrap_or(file));
    let base = match stem {
        Some(stem) if !stem.is_empty() => format!("{subject}-{stem}"),
        _ => format!("{subject}-1"),
    };
    if !is_taken(&base) {
        return base;
    }
    (2..u32::MAX)
        .map(|number| format!("{subject}-{number}"))
        .find(|name| !is_taken(name))
        .unwrap_or(base)
}
