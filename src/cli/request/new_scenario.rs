//! `ctxc new scenario --from @NAME#3`: writes a scenario from a recorded request, which passes as
//! written.

use super::load::{self, LoadedRequest, call_threads};
use crate::cli::prelude::*;
use crate::cli::record::comparison::known_secrets;
use crate::cli::record::load_salt;
use crate::eval::compile_masks;
use crate::eval::compiled_patterns::compile_volatile;
use crate::eval::draft::{round_up_limit, yaml_scalar};
use crate::eval::request::examined_request::model_facts;
use crate::eval::request::{
    answer_expectations, find_sections as sections_of, parse_plain_request, previous_segments,
    reused_share, stored_form,
};
use crate::project::config::RecordedContent;
use crate::record::mask::CallMask;
use crate::record::recording::{MaskedCount, Recording};
use crate::record::turns::{CallContent, CallPosition, call_positions};
use crate::request::segments::RequestSegment;
use crate::request::threads::Attribution;
use std::fmt::Write as _;

/// The maximum number of segments that are all listed. Of a longer request, only the segments
/// shared by all calls are listed.
const MAX_LISTED_SEGMENTS: usize = 40;
/// The default path of the subtasks in an answer.
const DEFAULT_PLAN_PATH: &str = "$.subtasks";
/// The minimum share of the call before that must be reused, if it is reused today.
const MIN_REUSED_SHARE: f64 = 0.9;

/// The texts of a new scenario.
pub(crate) struct NewScenarioTexts {
    pub(crate) scenario: String,
    /// The text of the file with the request.
    pub(crate) request: String,
    /// The snapshot of the request.
    pub(crate) snapshot: String,
    /// The number of expectations on the request.
    pub(crate) expectations: usize,
    /// The reason why the recorded answer cannot be read; `None` if it can, or if there is none.
    pub(crate) unreadable_answer: Option<String>,
    /// The number of expectations on the recorded answer.
    pub(crate) answer_expectation_count: usize,
    /// The kinds of masked values, for people; empty if there are none.
    pub(crate) masked: String,
    /// True if the scenario runs the program that sent the request.
    pub(crate) is_run: bool,
    /// The number of answered calls of that program that equal the first call of its conversation.
    /// Agents that run in parallel may begin with equal calls.
    pub(crate) alike: usize,
}

/// The options of a new scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewScenarioOptions {
    /// Stores the whole request as a snapshot.
    pub(crate) has_snapshot: bool,
    /// Copies the request, instead of running the program that sends it.
    pub(crate) is_copy: bool,
    /// Copies all calls of the recording, for scenarios that share it; otherwise only the calls up
    /// to the requested one.
    pub(crate) is_shared: bool,
}

/// The calls of a recording for which a scenario can be written, by their names: the answered ones.
pub(crate) fn calls_of(subject: &str, project: &Path) -> Result<Vec<String>> {
    let all = load::load_calls(&[subject.to_owned()], project, &mut |_| {})?;
    let answered = all
        .into_iter()
        .filter(|one| one.call.as_ref().is_some_and(Recording::is_answered));
    let names: Vec<String> = answered.map(|one| one.name).collect();
    if names.is_empty() {
        return Err(CliError::new(CliErrorKind::NothingSelected, format!("{subject} holds no recorded call that was answered"))
            .with_hint("`ctxc record -- COMMAND` records what a program sends; a file of one body needs no --all"));
    }
    Ok(names)
}

/// The request of a new scenario with the calls that belong to it.
struct RequestToCopy {
    loaded: LoadedRequest,
    /// The calls to copy; none for a file with a body alone.
    calls: Vec<Recording>,
    /// The index of the requested call in `calls`.
    at: usize,
    /// The program that sent the call, and the position of the call among those of the program;
    /// `None` if the scenario reads the copy.
    sent_by: Option<(Vec<String>, CallPosition)>,
    /// The masked values of the call itself.
    redacted: Vec<MaskedCount>,
    /// The number of answered calls of the program that equal the first call of its conversation.
    alike: usize,
}

/// Returns a name for the scenario of a request.
pub(crate) fn scenario_name(subject: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let file = subject
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or(subject)
        .replace(".jsonl", "")
        .replace(".json", "")
        .replace(".yaml", "");
    let name: String = file.trim_start_matches('@').chars().map(plain).collect();
    let name = name.trim_matches('-').to_owned();
    if name.is_empty() {
        "request".to_owned()
    } else {
        name
    }
}

/// Writes the texts of a scenario; `file` is the path of the request relative to the scenario.
pub(crate) fn write_scenario(
    subject: &str,
    name: &str,
    file: &str,
    hold: NewScenarioOptions,
    project: &Project,
) -> Result<NewScenarioTexts> {
    let RequestToCopy {
        loaded,
        calls,
        at,
        sent_by,
        redacted,
        alike,
    } = load_request(subject, hold, project)?;
    let until = calls.get(..=at).unwrap_or_default();
    let counter = model_facts(&loaded.request, &project.config.models).counter;
    let lines = context_expectations(&loaded, until, hold, project);
    let source = match &sent_by {
        Some((command, turn)) => {
            let words: Vec<String> = command.iter().map(|word| yaml_scalar(word)).collect();
            format!(
                "\n  command: [{}]\n  call: {{conversation: {}, n: {}}}\n  answers: {}",
                words.join(", "),
                turn.conversation,
                turn.n,
                yaml_scalar(file)
            )
        }
        None if calls.is_empty() => format!(" {{file: {}}}", yaml_scalar(file)),
        None => format!(
            " {{file: {}}}",
            yaml_scalar(&format!("{file}#{}", until.len()))
        ),
    };
    let place = project
        .config
        .eval
        .plan_path
        .as_ref()
        .map_or(DEFAULT_PLAN_PATH, |path| &path.value);
    let of_answer = until
        .last()
        .map(|call| answer_expectations(call, &loaded.segments, &*counter, place));
    let (of_answer, unread) = match of_answer.transpose() {
        Ok(lines) => (lines.unwrap_or_default(), None),
        Err(why) => (Vec::new(), Some(why)),
    };
    let mut scenario = format!(
        "name: {}\nrequest:{source}\nexpect_context:\n",
        yaml_scalar(name)
    );
    for line in &lines {
        // Writing to a string cannot fail.
        let _ = writeln!(scenario, "  - {line}");
    }
    if !of_answer.is_empty() {
        let _ = writeln!(
            scenario,
            "expectations:\n  - {}\nruns: 1\npass_threshold: 1",
            of_answer.join("\n  - ")
        );
    }
    let request = if calls.is_empty() {
        serde_json::to_string_pretty(&loaded.request.body).unwrap_or_default() + "\n"
    } else {
        calls.iter().map(Recording::to_line).collect()
    };
    let body = loaded.request.body.to_string();
    let endpoint = loaded.call.as_ref().map_or_else(
        || loaded.request.dialect.path_suffix(),
        |call| &call.endpoint,
    );
    let plain = parse_plain_request(&body, Some(endpoint)).map_err(CliError::usage)?;
    let is_run = sent_by.is_some();
    let (expectations, of_answer) = (lines.len(), of_answer.len());
    let masked = if calls.is_empty() {
        describe_masked(redacted.iter())
    } else {
        describe_masked(calls.iter().flat_map(|call| &call.redacted))
    };
    Ok(NewScenarioTexts {
        scenario,
        request,
        snapshot: stored_form(&plain, Some(&compile_volatile(&project.config))),
        expectations,
        answer_expectation_count: of_answer,
        unreadable_answer: unread,
        masked,
        is_run,
        alike,
    })
}

/// Returns the expectations on the context of a scenario, one a line.
fn context_expectations(
    loaded: &LoadedRequest,
    until: &[Recording],
    hold: NewScenarioOptions,
    project: &Project,
) -> Vec<String> {
    let counter = model_facts(&loaded.request, &project.config.models).counter;
    let tokens: usize = loaded
        .segments
        .iter()
        .map(|segment| segment.tokens(&*counter))
        .sum();
    let mut lines = Vec::new();
    let is_shared = |segment: &&RequestSegment| {
        matches!(
            segment.group.as_str(),
            "tools" | "system" | "response_format"
        )
    };
    let ids = |segments: Vec<&RequestSegment>| {
        segments
            .iter()
            .map(|segment| yaml_scalar(&segment.id))
            .collect::<Vec<_>>()
            .join(", ")
    };
    if loaded.segments.len() <= MAX_LISTED_SEGMENTS {
        lines.push(format!(
            "segments: {{exactly: [{}]}}",
            ids(loaded.segments.iter().collect())
        ));
    } else {
        let shared: Vec<&RequestSegment> = loaded.segments.iter().filter(is_shared).collect();
        if shared.len() > 1 {
            lines.push(format!("order: [{}]", ids(shared)));
        }
    }
    let tools: Vec<String> = loaded
        .request
        .tools
        .iter()
        .map(|tool| yaml_scalar(&tool.name))
        .collect();
    lines.push(format!("tools: {{exactly: [{}]}}", tools.join(", ")));
    if let Some(model) = &loaded.request.model {
        lines.push(format!("model: {}", yaml_scalar(model)));
    }
    let sections = loaded
        .segments
        .iter()
        .filter(|segment| segment.group == "system");
    let sections =
        sections.flat_map(|segment| sections_of(segment, &project.config.requests.blocks));
    let mut seen = std::collections::BTreeSet::new();
    for section in sections.filter(|section| seen.insert(section.title.clone())) {
        lines.push(format!(
            "segment: {{id: {}, state: kept}}",
            yaml_scalar(&format!("system/{}", section.title))
        ));
    }
    lines.push(format!("tokens: {{max: {}}}", round_up_limit(tokens)));
    let before = until
        .split_last()
        .and_then(|(own, earlier)| previous_segments(own, earlier));
    if before.is_some_and(|before| {
        reused_share(&before, &loaded.segments, &*counter) >= MIN_REUSED_SHARE
    }) {
        lines.push(format!("prompt_cache: {{min_reused: {MIN_REUSED_SHARE}}}"));
    }
    if hold.has_snapshot {
        lines.push("snapshot: true".to_owned());
    }
    lines
}

/// Loads the requested call with the calls before it: all of them if its program is to be run
/// again, otherwise those of its conversation.
fn load_request(
    subject: &str,
    NewScenarioOptions {
        is_copy, is_shared, ..
    }: NewScenarioOptions,
    project: &Project,
) -> Result<RequestToCopy> {
    let whole = subject
        .rsplit_once('#')
        .filter(|(_, number)| number.parse::<usize>().is_ok())
        .map_or(subject, |(whole, _)| whole);
    let loaded = load::load_single(subject, &project.root)?;
    let command = loaded.call.as_ref().map(|call| call.command.clone());
    // Recordings and files of other tools may contain unmasked values.
    let mask = copy_mask(
        loaded.call.as_ref().map_or(&[], |call| &call.secrets),
        project,
    )?;
    let (loaded, redacted) = load::mask_request(loaded, &mask)?;
    let Some(command) = command else {
        return Ok(RequestToCopy {
            loaded,
            calls: Vec::new(),
            at: 0,
            sent_by: None,
            redacted,
            alike: 0,
        });
    };
    let lost = || CliError::usage(format!("{subject} is not there any more"));
    // A command with a masked word cannot be run.
    let command = command.filter(|words| {
        !is_copy && !words.is_empty() && !words.iter().any(|word| word.contains('⟦'))
    });
    if let Some(command) = command {
        let is_own = |call: &Recording| call.command.as_ref() == Some(&command);
        let until = load::calls_until(whole, Some(&loaded.name), &project.root)?;
        let at = until
            .iter()
            .filter(|call| is_own(call))
            .count()
            .checked_sub(1)
            .ok_or_else(lost)?;
        let source_calls = if is_shared {
            load::calls_until(whole, None, &project.root)?
        } else {
            until
        };
        let calls: Vec<Recording> = source_calls
            .into_iter()
            .filter(is_own)
            .map(|call| mask.mask_call(call))
            .collect();
        let contents: Vec<Option<CallContent>> = calls.iter().map(CallContent::from_call).collect();
        let turns = call_positions(&contents);
        let turn = turns.get(at).copied().flatten().ok_or_else(lost)?;
        let first = turns
            .iter()
            .position(|other| *other == Some(CallPosition { n: 1, ..turn }))
            .and_then(|at| calls.get(at));
        let is_alike = |call: &&Recording| {
            first.is_some_and(|first| (&first.key, &first.agent) == (&call.key, &call.agent))
                && call.is_answered()
        };
        let all = load::load_calls(&[whole.to_owned()], &project.root, &mut |_| {})?;
        let alike = all
            .iter()
            .filter_map(|one| one.call.as_ref())
            .filter(is_alike)
            .count();
        return Ok(RequestToCopy {
            loaded,
            calls,
            at,
            sent_by: Some((command, turn)),
            redacted,
            alike,
        });
    }
    let all = load::load_calls(&[whole.to_owned()], &project.root, &mut |_| {})?;
    let all = all
        .into_iter()
        .map(|one| Ok(load::mask_request(one, &mask)?.0))
        .collect::<Result<Vec<_>>>()?;
    let at = all
        .iter()
        .position(|one| one.name == loaded.name)
        .ok_or_else(lost)?;
    let threads = call_threads(&all);
    let own = threads.get(at).ok_or_else(lost)?;
    let mine = |(_, thread): &(&LoadedRequest, &Attribution)| {
        is_shared || thread.agent == own.agent && thread.conversation == own.conversation
    };
    let copied = all
        .iter()
        .zip(&threads)
        .take(if is_shared { all.len() } else { at + 1 });
    let calls: Vec<Recording> = copied
        .filter(mine)
        .filter_map(|(one, _)| one.call.clone())
        .collect();
    let at = if is_shared {
        at
    } else {
        calls.len().saturating_sub(1)
    };
    Ok(RequestToCopy {
        loaded,
        calls,
        at,
        sent_by: None,
        redacted,
        alike: 0,
    })
}

/// Returns the mask for everything that is copied into the project.
pub(super) fn copy_mask(known: &[String], project: &Project) -> Result<CallMask> {
    let content = match project.config.record.content {
        RecordedContent::Full => RecordedContent::Full,
        RecordedContent::Redacted | RecordedContent::Shape => RecordedContent::Redacted,
    };
    let secrets = known_secrets(&project.root, &project.config).chain(known.iter().cloned());
    Ok(CallMask::new(load_salt()?, secrets, content)
        .with_patterns(&compile_masks(&project.config.record.mask)))
}

/// Describes the masked values by kind.
pub(crate) fn describe_masked<'r>(redacted: impl Iterator<Item = &'r MaskedCount>) -> String {
    let mut counts = std::collections::BTreeMap::<&str, u64>::new();
    for one in redacted {
        *counts.entry(&one.kind).or_default() += one.count;
    }
    counts
        .into_iter()
        .map(|(kind, count)| pluralize(usize::try_from(count).unwrap_or(usize::MAX), kind))
        .collect::<Vec<_>>()
        .join(", ")
}
