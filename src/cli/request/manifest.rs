//! `ctxc manifest @NAME`: the segments of requests with their tokens.

use super::load::{LoadedRequest, call_threads};
use super::missing_tokens::MissingTokens;
use super::session_calls::{SubjectReader, add_missing, missing_parts_line};
use crate::cli::prelude::*;
use crate::cli::render::markup::{code_element, escape_cell, escape_html as escaped};
use crate::cli::render::summary::format_thousands;
use crate::context::manifest::Tokenizer;
use crate::eval::request::examined_request::{RequestModelFacts, model_facts};
use crate::eval::request::find_sections as sections_of;
use crate::kernel::conversation::Part;
use crate::project::config::Config;
use crate::record::recording::AnsweredBy;
use crate::request::model::ModelRequest;
use crate::request::segments::RequestSegment;
use crate::request::threads::Attribution;
use crate::schema::json::names;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The maximum number of sections listed for a segment.
const MAX_LISTED_SECTIONS: usize = 4;
/// The maximum number of segments that are all listed.
const MAX_LISTED_SEGMENTS: usize = 40;
/// The number of segments of a longer request that are listed, and of the kinds of its segments.
const MAX_LARGEST_SEGMENTS: usize = 10;
const MAX_LISTED_GROUPS: usize = 12;

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
    /// The parts of the request that the session does not hold, such as tool definitions; empty for
    /// recordings.
    missing_parts: Vec<&'static str>,
    /// The billed tokens of these parts; null without a bill, and for recordings.
    missing_tokens: Option<MissingTokens>,
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
    /// The tool of a call or result; else null.
    tool: Option<String>,
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
    project: &Project,
    cx: &mut Cx,
) -> Result<RequestManifest> {
    let reader = SubjectReader::new(project, cx);
    let calls = reader.load_calls(&[subject.to_owned()], &mut |line| cx.print_note(line))?;
    Ok(build_manifest(&calls, &project.config))
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
    let tools = called_tools(&loaded.request);
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
            tool: tools
                .get(segment.pointer.as_str())
                .map(|name| (*name).to_owned()),
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
    let total = segments.iter().map(|segment| segment.tokens).sum();
    let call = loaded.call.as_ref();
    let call = call.filter(|call| call.answered_by != AnsweredBy::Script);
    let reported = call.and_then(|call| call.usage.input);
    let missing = reported.map(|tokens| tokens.saturating_sub(total as u64));
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
        total,
        segments,
        missing_parts: loaded.missing_parts.clone(),
        missing_tokens: missing.and_then(|tokens| loaded.bills.divide(tokens)),
        reported,
    }
}

/// Returns the tools of calls and results, by the pointers of these parts.
fn called_tools(request: &ModelRequest) -> BTreeMap<&str, &str> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    let mut tools = BTreeMap::new();
    for (_, placed) in request.message_parts() {
        let name = match &placed.part {
            Some(Part::Call(call)) => {
                names.insert(&call.id, &call.name);
                Some(call.name.as_str())
            }
            Some(Part::Result(result)) => names.get(result.call.as_str()).copied(),
            _ => None,
        };
        tools.extend(name.map(|name| (placed.pointer.as_str(), name)));
    }
    tools
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
    } else if !call.missing_parts.is_empty() {
        // Of a session, only the last call is in the document.
        format!("{}: ", call.agent)
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
        cx.print_hanging(&head, 2)?;
        if let Some(missing) = &call.missing_tokens {
            cx.print_hanging(&format!("  {}", missing.describe()), 4)?;
        }
        let largest = largest_segments(&call.segments);
        let is_long = largest.len() < call.segments.len();
        if is_long {
            print_groups(call, cx)?;
        }
        let width = largest
            .iter()
            .map(|segment| segment.id.chars().count())
            .max()
            .unwrap_or(0);
        for segment in largest {
            let breakpoint = if segment.breakpoint {
                "  | cache breakpoint"
            } else {
                ""
            };
            let id = escape_line(&segment.id);
            let pad = width.saturating_sub(segment.id.chars().count());
            let tool = segment.tool.as_deref().filter(|_| is_long);
            let line = format!(
                "  {id}{:pad$}  {:>8}{}{}{breakpoint}",
                "",
                format_thousands(segment.tokens),
                tool.map_or_else(String::new, |tool| format!("  {}", escape_line(tool))),
                list_sections(&segment.sections)
            );
            cx.print_hanging(&line, width + 14)?;
        }
    }
    let mut missing_parts = Vec::new();
    for call in &document.calls {
        add_missing(&mut missing_parts, call.missing_parts.clone());
    }
    missing_parts_line(&missing_parts).map_or(Ok(()), |line| cx.print_hanging(&line, 2))
}

/// Returns the segments to list, in order: all, or the largest of a long request.
fn largest_segments(segments: &[SegmentRow]) -> Vec<&SegmentRow> {
    let mut listed: Vec<&SegmentRow> = segments.iter().collect();
    if segments.len() > MAX_LISTED_SEGMENTS {
        listed.sort_by_key(|segment| Reverse(segment.tokens));
        listed.truncate(MAX_LARGEST_SEGMENTS);
    }
    listed
}

/// Returns the tokens of a request by the kinds of its segments, the largest first.
fn group_segments(call: &ManifestCallRow) -> Vec<SegmentGroup> {
    let mut groups: BTreeMap<String, SegmentGroup> = BTreeMap::new();
    for segment in &call.segments {
        let kind = segment_kind(segment);
        let own = groups.entry(kind.clone()).or_insert(SegmentGroup {
            kind,
            tokens: 0,
            count: 0,
        });
        own.tokens += segment.tokens;
        own.count += 1;
    }
    let mut groups: Vec<SegmentGroup> = groups.into_values().collect();
    groups.sort_by_key(|group| Reverse(group.tokens));
    let rest = groups.split_off(groups.len().min(MAX_LISTED_GROUPS));
    if !rest.is_empty() {
        groups.push(SegmentGroup {
            kind: "the rest".to_owned(),
            tokens: rest.iter().map(|group| group.tokens).sum(),
            count: rest.iter().map(|group| group.count).sum(),
        });
    }
    groups
}

/// Prints the tokens of a long request by the kinds of its segments.
fn print_groups(call: &ManifestCallRow, cx: &mut Cx) -> Result<()> {
    let groups = group_segments(call);
    let width = groups.iter().map(|group| group.kind.chars().count()).max();
    for group in &groups {
        let pad = width
            .unwrap_or(0)
            .saturating_sub(group.kind.chars().count());
        cx.print_line(&format!(
            "  {}{:pad$}  {:>8}  {:>3} %  in {}",
            escape_line(&group.kind),
            "",
            format_thousands(group.tokens),
            group.percentage(call.total),
            pluralize(group.count, "segment")
        ))?;
    }
    let line = format!("  the largest {MAX_LARGEST_SEGMENTS}:");
    cx.print_line(&line)
}

/// The segments of a kind.
struct SegmentGroup {
    /// The kind, for people.
    kind: String,
    tokens: usize,
    count: usize,
}

impl SegmentGroup {
    /// Returns its share of the tokens of a request.
    fn percentage(&self, total: usize) -> usize {
        (self.tokens * 100 + total / 2) / total.max(1)
    }
}

/// Returns the kind of a segment, for people.
fn segment_kind(segment: &SegmentRow) -> String {
    let kind = segment.id.rsplit('/').next().unwrap_or_default();
    let kind = kind.split(':').next().unwrap_or_default();
    match (kind, &segment.tool, segment.speaker) {
        ("tool", ..) => "tool definitions".to_owned(),
        ("tool_result", Some(tool), _) => format!("results of {tool}"),
        ("tool_call", Some(tool), _) => format!("calls of {tool}"),
        ("text", _, Some(speaker)) => format!("texts of the {speaker}"),
        _ => kind.replace('_', " "),
    }
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

const TITLE: &str = "What each agent received";
const STYLE: &str = "\
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:2rem 0 .3rem}
.bar{display:flex;height:1.6rem;border-radius:4px;overflow:hidden}
.bar span{min-width:2px;background:#2f6fb3;border-right:1px solid Canvas}
table{border-collapse:collapse;width:100%;margin:.6rem 0}
th,td{text-align:left;padding:.15rem .6rem .15rem 0;border-bottom:1px solid #8883;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;padding-right:1rem}
";

/// The manifest as Markdown.
pub(crate) fn markdown(document: &RequestManifest) -> String {
    let mut out = format!("<!-- {} -->\n# {TITLE}\n", names::REQUEST_MANIFEST);
    for last in last_calls(document) {
        let _ = write!(out, "\n## {}\n\n", escape_cell(&heading(document, &last)));
        for line in missing_lines(last.call) {
            let _ = write!(out, "{}\n\n", escape_cell(&line));
        }
        out.push_str("| segment | tokens | tool, sections | place |\n|---|---:|---|---|\n");
        for segment in &last.call.segments {
            let (id, tokens) = (escape_cell(&segment.id), format_thousands(segment.tokens));
            let _ = writeln!(
                out,
                "| {id} | {tokens} | {} | {} |",
                escape_cell(&notes(segment)),
                code_element(&segment.pointer)
            );
        }
    }
    out
}

/// The manifest as one page of HTML: a bar for each agent, its segments as wide as their tokens.
pub(crate) fn html(document: &RequestManifest) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"generator\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{TITLE}</title>\n<style>\n{STYLE}</style>\n<h1>{TITLE}</h1>\n",
        names::REQUEST_MANIFEST
    );
    for last in last_calls(document) {
        let call = last.call;
        let _ = write!(
            out,
            "<h2>{}</h2>\n<div class=\"bar\">",
            escaped(&heading(document, &last))
        );
        for segment in &call.segments {
            let (title, tokens) = (escaped(&segment.id), segment.tokens);
            let _ = write!(
                out,
                "<span style=\"flex-grow:{tokens}\" title=\"{title} {}\"></span>",
                format_thousands(tokens)
            );
        }
        out.push_str("</div>\n");
        for line in missing_lines(call) {
            let _ = writeln!(out, "<p>{}</p>", escaped(&line));
        }
        out.push_str("<table><tr><th>kind</th><th class=\"n\">tokens</th><th class=\"n\">share</th><th class=\"n\">segments</th></tr>\n");
        for group in group_segments(call) {
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{} %</td><td class=\"n\">{}</td></tr>",
                escaped(&group.kind),
                format_thousands(group.tokens),
                group.percentage(call.total),
                group.count
            );
        }
        let _ = writeln!(
            out,
            "<tr><th>in all</th><th class=\"n\">{}</th><th></th><th class=\"n\">{}</th></tr></table>",
            format_thousands(call.total),
            call.segments.len()
        );
        out.push_str("<table><tr><th>segment</th><th class=\"n\">tokens</th><th>tool, sections</th><th>place</th></tr>\n");
        for segment in &call.segments {
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td class=\"n\">{}</td><td>{}</td><td><code>{}</code></td></tr>",
                escaped(&segment.id),
                format_thousands(segment.tokens),
                escaped(&notes(segment)),
                escaped(&segment.pointer)
            );
        }
        out.push_str("</table>\n");
    }
    out.push_str("</html>\n");
    out
}

/// Returns the lines on the parts of a request that its session does not hold.
fn missing_lines(call: &ManifestCallRow) -> impl Iterator<Item = String> {
    let tokens = call.missing_tokens.as_ref().map(MissingTokens::describe);
    tokens
        .into_iter()
        .chain(missing_parts_line(&call.missing_parts))
}

/// Returns the notes on a segment: its tool, its sections with their tokens, and a cache breakpoint
/// after it.
fn notes(segment: &SegmentRow) -> String {
    let sections = segment
        .sections
        .iter()
        .map(|section| format!("{} {}", section.title, format_thousands(section.tokens)));
    let breakpoint = segment.breakpoint.then(|| "cache breakpoint".to_owned());
    let tool = segment.tool.clone().into_iter();
    tool.chain(sections)
        .chain(breakpoint)
        .collect::<Vec<_>>()
        .join(" \u{b7} ")
}
