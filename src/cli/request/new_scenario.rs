//! `ctxc new scenario --from @NAME#3`: a scenario from a request that was sent, which passes as it is written.

use super::load::{self, Loaded, threads_of};
use crate::cli::error::{CliError, Result};
use crate::cli::project::Project;
use crate::cli::render::summary::plural;
use crate::eval::context::stored_sent;
use crate::eval::draft::{ceiling, scalar};
use crate::eval::request::facts::facts;
use crate::record::recording::Recording;
use crate::request::segments::Segment;
use std::fmt::Write as _;

/// Segments of a request that are all named; of a longer one those that are the same with every call.
const NAMED: usize = 40;

/// What is to be written.
pub(crate) struct Written {
    /// The text of the scenario.
    pub(crate) scenario: String,
    /// The text of the file that holds the request.
    pub(crate) request: String,
    /// The request as it is stored.
    pub(crate) snapshot: String,
    /// How many expectations there are.
    pub(crate) expectations: usize,
    /// What was replaced in what is copied, in words; empty where nothing was.
    pub(crate) masked: String,
}

/// A name for the scenario of a request.
pub(crate) fn name_of(subject: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let file =
        subject.rsplit(['/', '\\']).next().unwrap_or(subject).replace(".jsonl", "").replace(".json", "").replace(".yaml", "");
    let name: String = file.trim_start_matches('@').chars().map(plain).collect();
    let name = name.trim_matches('-').to_owned();
    if name.is_empty() { "request".to_owned() } else { name }
}

/// Words a scenario of a request; `file` is where the request will lie beside it.
pub(crate) fn write(subject: &str, name: &str, file: &str, holds_words: bool, project: &Project) -> Result<Written> {
    let (loaded, calls) = conversation(subject, project)?;
    let counter = facts(&loaded.request, &project.config.models).counter;
    let tokens: usize = loaded.segments.iter().map(|segment| segment.tokens(&*counter)).sum();
    let mut lines = Vec::new();
    let is_shared = |segment: &&Segment| matches!(segment.group.as_str(), "tools" | "system" | "response_format");
    let ids = |segments: Vec<&Segment>| segments.iter().map(|segment| scalar(&segment.id)).collect::<Vec<_>>().join(", ");
    if loaded.segments.len() <= NAMED {
        lines.push(format!("segments: {{exactly: [{}]}}", ids(loaded.segments.iter().collect())));
    } else {
        let shared: Vec<&Segment> = loaded.segments.iter().filter(is_shared).collect();
        if shared.len() > 1 {
            lines.push(format!("order: [{}]", ids(shared)));
        }
    }
    let tools: Vec<String> = loaded.request.tools.iter().map(|tool| scalar(&tool.name)).collect();
    lines.push(format!("tools: {{exactly: [{}]}}", tools.join(", ")));
    if let Some(model) = &loaded.request.model {
        lines.push(format!("model: {}", scalar(model)));
    }
    let sections = loaded.segments.iter().filter(|segment| segment.group == "system").flat_map(Segment::sections);
    let mut seen = std::collections::BTreeSet::new();
    for section in sections.filter(|section| seen.insert(section.title.clone())) {
        lines.push(format!("segment: {{id: {}, state: kept}}", scalar(&format!("system/{}", section.title))));
    }
    lines.push(format!("tokens: {{max: {}}}", ceiling(tokens)));
    if holds_words {
        lines.push("snapshot: true".to_owned());
    }
    let subject_line = if calls.is_empty() { file.to_owned() } else { format!("{file}#{}", calls.len()) };
    let mut scenario = format!("name: {}\nrequest: {{file: {}}}\nexpect_context:\n", scalar(name), scalar(&subject_line));
    for line in &lines {
        // Writing to a string cannot fail.
        let _ = writeln!(scenario, "  - {line}");
    }
    let request = if calls.is_empty() {
        serde_json::to_string_pretty(&loaded.request.body).unwrap_or_default() + "\n"
    } else {
        calls.iter().map(Recording::line).collect()
    };
    let snapshot = stored_sent(&loaded.request);
    Ok(Written { scenario, request, snapshot, expectations: lines.len(), masked: masked(&calls) })
}

/// The call that is meant, and the calls of its conversation up to it; none of a file that holds a body alone.
fn conversation(subject: &str, project: &Project) -> Result<(Loaded, Vec<Recording>)> {
    let whole =
        subject.rsplit_once('#').filter(|(_, number)| number.parse::<usize>().is_ok()).map_or(subject, |(whole, _)| whole);
    let wanted = load::one(subject, &project.root)?;
    if wanted.call.is_none() {
        return Ok((wanted, Vec::new()));
    }
    let all = load::load(&[whole.to_owned()], &project.root)?;
    let threads = threads_of(&all);
    let lost = || CliError::usage(format!("{subject} is not there any more"));
    let at = all.iter().position(|one| one.name == wanted.name).unwrap_or_default();
    let own = threads.get(at).ok_or_else(lost)?;
    let calls = all.iter().zip(&threads).take(at + 1);
    let calls = calls.filter(|(_, thread)| thread.agent == own.agent && thread.conversation == own.conversation);
    Ok((wanted, calls.filter_map(|(one, _)| one.call.clone()).collect()))
}

/// What was replaced, by kind.
fn masked(calls: &[Recording]) -> String {
    let mut counts = std::collections::BTreeMap::<&str, u64>::new();
    for one in calls.iter().flat_map(|call| &call.redacted) {
        *counts.entry(&one.kind).or_default() += one.count;
    }
    counts
        .into_iter()
        .map(|(kind, count)| plural(usize::try_from(count).unwrap_or(usize::MAX), kind))
        .collect::<Vec<_>>()
        .join(", ")
}
