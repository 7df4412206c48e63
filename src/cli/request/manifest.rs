//! `ctxc manifest @NAME`: the segments of requests with their tokens.

use super::load::{self, LoadedRequest, call_threads};
use crate::cli::prelude::*;
use crate::context::manifest::Tokenizer;
use crate::eval::request::examined_request::{RequestModelFacts, model_facts};
use crate::eval::request::find_sections as sections_of;
use crate::project::config::Config;
use crate::record::recording::AnsweredBy;
use crate::request::segments::RequestSegment;
use crate::request::threads::Attribution;
use crate::schema::json::names;
use std::collections::BTreeMap;

/// The maximum number of sections listed for a segment.
const MAX_LISTED_SECTIONS: usize = 4;

/// The segments of requests: `ctxc manifest @NAME --json`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct RequestManifest {
    /// The version of the format.
    schema: &'static str,
    /// The calls, in order.
    calls: Vec<ManifestCallRow>,
}

/// A request.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "CallRow")]
pub(crate) struct ManifestCallRow {
    /// The id of the call.
    id: String,
    /// The agent of the call.
    agent: String,
    /// The conversation of the call.
    conversation: String,
    /// The form of the request, by the words of `ctxc render --as`.
    dialect: &'static str,
    /// The model; null if neither body nor address names it.
    model: Option<String>,
    /// The tokenizer that counted.
    tokenizer: Tokenizer,
    /// The segments, in the order in which a provider's cache sees them.
    pub(super) segments: Vec<SegmentRow>,
    /// The total of tokens.
    pub(super) total: usize,
    /// The tokens that the provider counted; null if it reported none.
    reported: Option<u64>,
}

/// A segment.
#[derive(JsonSchema, Serialize)]
pub(crate) struct SegmentRow {
    /// The id of the segment in its request.
    pub(super) id: String,
    /// The group that it belongs to: `tools`, `response_format`, `system`, `message:N`.
    group: String,
    /// The speaker; null for tools and the form of the answer.
    speaker: Option<&'static str>,
    /// The place in the body, as a JSON pointer.
    pub(super) pointer: String,
    /// The text; tools, calls and the form of the answer as JSON.
    text: String,
    /// The tokens of the segment.
    pub(super) tokens: usize,
    /// True if a cache breakpoint follows it.
    pub(super) breakpoint: bool,
    /// The named sections of the segment, in order.
    pub(super) sections: Vec<SectionRow>,
}

/// A section.
#[derive(JsonSchema, Serialize)]
pub(crate) struct SectionRow {
    /// The heading, the name of the element, or the text behind the fence.
    pub(super) title: String,
    /// The text, its title included.
    text: String,
    /// The tokens of the section.
    pub(super) tokens: usize,
}

/// Returns the manifest of the calls of a subject.
pub(crate) fn subject_manifest(
    subject: &str,
    root: &Path,
    config: &Config,
    cx: &mut Cx,
) -> Result<RequestManifest> {
    Ok(build_manifest(
        &load::load_calls(
            std::slice::from_ref(&subject.to_owned()),
            root,
            &mut |line| cx.print_note(line),
        )?,
        config,
    ))
}

/// Returns the manifest of some calls.
pub(super) fn build_manifest(calls: &[LoadedRequest], config: &Config) -> RequestManifest {
    let rows = calls.iter().zip(call_threads(calls)).map(|(call, thread)| {
        call_row(
            call,
            thread,
            &model_facts(&call.request, &config.models),
            &config.requests.blocks,
        )
    });
    RequestManifest {
        schema: names::REQUEST_MANIFEST,
        calls: rows.collect(),
    }
}

fn call_row(
    loaded: &LoadedRequest,
    thread: Attribution,
    facts: &RequestModelFacts,
    blocks: &BTreeMap<String, String>,
) -> ManifestCallRow {
    let counter = &*facts.counter;
    let segment = |segment: &RequestSegment| {
        let title = |section: crate::request::sections::Section| {
            let text = segment.text.get(section.range).unwrap_or_default();
            SectionRow {
                tokens: counter.count(text),
                text: text.to_owned(),
                title: section.title,
            }
        };
        SegmentRow {
            id: segment.id.clone(),
            group: segment.group.clone(),
            speaker: segment
                .speaker
                .map(crate::kernel::conversation::Speaker::word),
            pointer: segment.pointer.clone(),
            text: segment.text.clone(),
            tokens: segment.tokens(counter),
            breakpoint: segment.is_breakpoint,
            sections: sections_of(segment, blocks)
                .into_iter()
                .map(title)
                .collect(),
        }
    };
    let segments: Vec<SegmentRow> = loaded.segments.iter().map(segment).collect();
    ManifestCallRow {
        id: loaded.name.clone(),
        agent: thread.agent,
        conversation: thread.conversation,
        dialect: loaded.request.dialect.word(),
        model: loaded.request.model.clone(),
        tokenizer: Tokenizer {
            name: counter.name().to_owned(),
            exact: counter.is_exact(),
        },
        total: segments.iter().map(|segment| segment.tokens).sum(),
        segments,
        reported: loaded
            .call
            .as_ref()
            .filter(|call| call.answered_by != AnsweredBy::Script)
            .and_then(|call| call.usage.input),
    }
}

/// The last call of an agent, and the number of its calls.
pub(super) struct LastCall<'d> {
    pub(super) call: &'d ManifestCallRow,
    count: usize,
}

/// The last call of each agent, in the order of their names.
pub(super) fn last_calls(document: &RequestManifest) -> Vec<LastCall<'_>> {
    let mut last: BTreeMap<&str, LastCall<'_>> = BTreeMap::new();
    for call in &document.calls {
        let count = last.get(&*call.agent).map_or(0, |known| known.count);
        last.insert(
            &call.agent,
            LastCall {
                call,
                count: count + 1,
            },
        );
    }
    last.into_values().collect()
}

/// The heading of a call: its agent if the document has several calls, its name, model and tokens. Not escaped.
pub(super) fn heading(document: &RequestManifest, last: &LastCall<'_>) -> String {
    let call = last.call;
    let which = if document.calls.len() == 1 {
        String::new()
    } else {
        format!(
            "{}: {}, the last of them: ",
            call.agent,
            pluralize(last.count, "call")
        )
    };
    let model = call.model.as_deref().unwrap_or("an unnamed model");
    let about = if call.tokenizer.exact { "" } else { "about " };
    let reported = call.reported.map_or_else(String::new, |tokens| {
        format!(
            "; the provider counted {}",
            format_thousands(usize::try_from(tokens).unwrap_or(usize::MAX))
        )
    });
    format!(
        "{which}{} to {model}: {about}{} {} by {}{reported}",
        call.id,
        format_thousands(call.total),
        if call.total == 1 { "token" } else { "tokens" },
        call.tokenizer.name
    )
}

/// Prints the manifest for people: of several calls the last of each agent.
pub(crate) fn print_manifest(document: &RequestManifest, cx: &mut Cx) -> Result<()> {
    for last in last_calls(document) {
        let call = last.call;
        let head = escape_line(&heading(document, &last)).into_owned();
        let head = cx.options.screen.paint(Paint::Strong, &head);
        cx.print_line(&head)?;
        let width = call
            .segments
            .iter()
            .map(|segment| segment.id.chars().count())
            .max()
            .unwrap_or(0);
        for segment in &call.segments {
            let breakpoint = if segment.breakpoint {
                "  | cache breakpoint"
            } else {
                ""
            };
            let id = escape_line(&segment.id);
            let pad = width.saturating_sub(segment.id.chars().count());
            cx.print_line(&format!(
                "  {id}{:pad$}  {:>8}{}{breakpoint}",
                "",
                format_thousands(segment.tokens),
                list_sections(&segment.sections)
            ))?;
        }
    }
    Ok(())
}

fn list_sections(sections: &[SectionRow]) -> String {
    if sections.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = sections
        .iter()
        .take(MAX_LISTED_SECTIONS)
        .map(|section| {
            format!(
                "{} {}",
                escape_line(&section.title),
                format_thousands(section.tokens)
            )
        })
        .collect();
    let more = if sections.len() > MAX_LISTED_SECTIONS {
        format!(" · {} more", sections.len() - MAX_LISTED_SECTIONS)
    } else {
        String::new()
    };
    format!("  {}{more}", shown.join(" · "))
}
