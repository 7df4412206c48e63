//! `ctxc prompt-cache`: the part of each call that a provider's prompt cache can reuse, and the
//! breaks that prevent more.

use super::compared_call::{CACHE_SECONDS, ComparedCall, SessionBill, parse_seconds};
use super::load::{self, LoadedRequest, call_threads};
use super::session_cache::compare_session_calls;
use super::session_calls::{SubjectReader, add_missing, missing_parts_line};
use crate::base::number;
use crate::cli::compaction::names_session;
use crate::cli::prelude::*;
use crate::cli::shared_args::FileMark;
use crate::eval::request::examined_request::model_facts;
use crate::project::config::Config;
use crate::request::prompt_cache::{
    BreakCause, PrefixBreak, PrefixReuse, compare_agent, compare_calls,
};
use crate::request::threads::Attribution;
use crate::schema::json::names;
use crate::session::calls::Shrinkage;
use clap::ValueEnum;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc prompt-cache calls.jsonl\n  ctxc prompt-cache session.jsonl\n  ctxc prompt-cache calls.jsonl --format html > cache.html\n\n\
    A break is found by comparing bytes with the previous call, whatever the model. Calls are grouped into conversations by content, or by \
    the headers x-ctxc-agent and x-ctxc-conversation. If a model's tokenizer is not public, its tokens are estimated.\n\n\
    `ctxc prompt-cache @claude` reads the newest session of Claude Code in this folder (also `@codex`, `@pi`, `@gemini`): what the calls have in common, as a forecast, \
    against the tokens that were billed. System text and tools are not in a session, so they are billed and not counted. `@claude#3` is its third call (in `compaction`, its third compaction)."
)]
pub(crate) struct PromptCacheArgs {
    /// Recordings: `@NAME`, a file, a folder; or sessions of coding agents
    #[arg(value_name = "RECORDING", default_value = "@last")]
    subjects: Vec<String>,
    #[command(flatten)]
    output: OutputArgs<PromptCacheFormat>,
}

/// Formats of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PromptCacheFormat {
    /// For people
    #[default]
    Text,
    /// One JSON document
    Json,
    /// A page with a picture
    Html,
}

impl OutputFormat for PromptCacheFormat {
    fn file_mark(self) -> Option<FileMark> {
        match self {
            Self::Text => None,
            Self::Json => Some(FileMark {
                artifact: "result of ctxc",
                text: "\"ctxc/",
            }),
            Self::Html => Some(FileMark {
                artifact: "page of ctxc",
                text: "<title>Prompt cache",
            }),
        }
    }
}

/// The tokens that a prompt cache can reuse: `ctxc prompt-cache --json`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct PromptCacheReport<'c> {
    /// The version of the format.
    schema: &'static str,
    /// The conversations, in the order of their first calls.
    conversations: Vec<ConversationRow<'c>>,
    /// The totals of all conversations.
    total: ReuseTotal,
    /// The parts of requests that sessions do not hold, so that they are not counted; empty for
    /// recordings.
    pub(super) missing_parts: Vec<&'static str>,
}

/// A conversation.
#[derive(JsonSchema, Serialize)]
#[allow(
    clippy::struct_field_names,
    reason = "the keys of the artifact are as designed"
)]
#[schemars(rename = "Conversation")]
pub(crate) struct ConversationRow<'c> {
    /// The agent of the conversation.
    agent: &'c str,
    /// The name or number of the conversation.
    conversation: &'c str,
    /// The calls, in order.
    calls: Vec<ReuseRow<'c>>,
    /// The tokens of a session as its provider billed them; null if it reported none, and for
    /// recordings.
    billed: Option<BillTotal>,
}

/// A call.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "CallRow")]
pub(crate) struct ReuseRow<'c> {
    /// The id of the call.
    id: &'c str,
    /// The tokens that the call sends.
    tokens: usize,
    /// The tokens at the front that the previous call had as well.
    reused: usize,
    /// The tokens that are new with this call.
    new: usize,
    /// The tokens that the previous call had and that are written to the cache again.
    written: usize,
    /// The tokens that the provider reported as read from its cache; null if it reported none.
    reported_cached: Option<u64>,
    /// The segment that broke the prefix; null if none did.
    broken_by: Option<BreakRow<'c>>,
    /// The tokens of a call of a session as its provider billed them; null if it reported none, and
    /// for recordings.
    billed: Option<SessionBill>,
}

/// The tokens of calls as their provider billed them.
#[derive(Clone, Copy, Debug, Default, JsonSchema, Serialize)]
pub(crate) struct BillTotal {
    /// Everything that was sent.
    input: u64,
    /// The tokens that were read from the cache.
    cached: u64,
    /// The tokens that were written to the cache, if the provider reports them.
    written: u64,
    /// The tokens that the cache had for the call before, and no longer had.
    missed: u64,
    /// US$ that the missed tokens cost beyond their price from the cache; null if a price is unknown.
    usd: Option<f64>,
}

/// A segment that broke a prefix.
#[derive(JsonSchema, Serialize)]
pub(crate) struct BreakRow<'c> {
    /// The segment.
    segment: &'c str,
    /// The first byte in the segment that differs.
    offset: usize,
    /// The text there in the previous call.
    before: &'c str,
    /// The text there now.
    after: &'c str,
    /// The cause: `changed`, `moved`, `added`, `removed`, or `expired` if the bytes are equal and
    /// the cache had forgotten them. In a session: `compacted` if a summary replaced messages,
    /// `cleared` if results of tools were cleared, `rewound` if the user went back.
    #[schemars(extend("enum" = ["changed", "moved", "added", "removed", "expired", "compacted", "cleared", "rewound"]))]
    cause: &'static str,
    /// US$ that the tokens cost beyond their price from the cache; null if a price is unknown.
    usd: Option<f64>,
}

/// The totals of all calls.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Total")]
pub(crate) struct ReuseTotal {
    /// The tokens that were sent.
    tokens: usize,
    /// The tokens that a cache can reuse.
    reused: usize,
    /// The reusable tokens that the provider's cache does not keep because their prefixes are
    /// shorter than its minimum.
    too_short: usize,
    /// The tokens that a cache could have reused if no prefix had been broken.
    lost: usize,
    /// US$ for the lost tokens; null if a price is unknown.
    usd: Option<f64>,
    /// The tokens of sessions as their providers billed them; null if they reported none, and for
    /// recordings.
    billed: Option<BillTotal>,
}

/// Compares the calls and prints the result.
pub(crate) fn run_prompt_cache(args: &PromptCacheArgs, cx: &mut Cx) -> Result<Exit> {
    let project = Project::load(&cx.options)?;
    let reader = SubjectReader::new(&project, cx);
    let (sessions, recordings): (Vec<String>, Vec<String>) = args
        .subjects
        .iter()
        .cloned()
        .partition(|subject| names_session(subject));
    let calls = load::load_calls(&recordings, &project.root, &mut |line| {
        cx.print_note(line);
    })?;
    let mut compared = compare_recorded_calls(&calls, &project.config);
    let mut missing_parts = Vec::new();
    for subject in &sessions {
        let found = reader.find_sessions(subject)?;
        found.notes.iter().for_each(|line| cx.print_note(line));
        let missing = compare_session_calls(&found, &project.config, &mut compared)?;
        add_missing(&mut missing_parts, missing);
    }
    let document = PromptCacheReport {
        missing_parts,
        ..build_report(&compared)
    };
    cx.emit_result(&args.output, |format, cx| match format {
        PromptCacheFormat::Json => cx.print_json(&document),
        PromptCacheFormat::Text => print_report(&document, cx),
        PromptCacheFormat::Html => {
            let page = html_page(&document);
            cx.print(|out| std::io::Write::write_all(out, page.as_bytes()))
        }
    })?;
    Ok(Exit::Success)
}

/// Builds the report.
pub(super) fn build_report(compared: &[ComparedCall]) -> PromptCacheReport<'_> {
    let mut conversations: Vec<ConversationRow<'_>> = Vec::new();
    let mut total = ReuseTotal {
        billed: None,
        tokens: 0,
        reused: 0,
        too_short: 0,
        lost: 0,
        usd: Some(0.0),
    };
    for one in compared {
        let reuse = &one.reuse;
        let written = reuse.lost.min(reuse.tokens.saturating_sub(reuse.reused));
        // Tokens below the minimum of the cache were never stored, so they are not lost.
        let had = reuse.reused + reuse.lost;
        let usd = one.facts.lost_usd(if had < one.facts.cache_floor {
            0
        } else {
            reuse.lost
        });
        let broken = reuse.broken_by.as_ref().map(|found| BreakRow {
            segment: &found.segment,
            offset: found.offset,
            before: &found.before,
            after: &found.after,
            cause: one.shrinkage.map_or(found.cause.word(), Shrinkage::word),
            usd,
        });
        total.tokens += reuse.tokens;
        total.reused += reuse.reused;
        total.lost += reuse.lost;
        total.too_short += if reuse.reused < one.facts.cache_floor {
            reuse.reused
        } else {
            0
        };
        total.usd = total
            .usd
            .zip(usd)
            .map(|(sum, usd)| ((sum + usd) * 1e9).round() / 1e9);
        let row = ReuseRow {
            id: &one.name,
            tokens: reuse.tokens,
            reused: reuse.reused,
            new: reuse.tokens - reuse.reused - written,
            written,
            reported_cached: one.reported_cached,
            broken_by: broken,
            billed: one.billed.clone(),
        };
        BillTotal::add(&mut total.billed, one.billed.as_ref());
        let (agent, conversation) = (one.thread.agent.as_str(), one.thread.conversation.as_str());
        let is_own = |known: &&mut ConversationRow<'_>| {
            known.agent == agent && known.conversation == conversation
        };
        if let Some(known) = conversations.iter_mut().find(is_own) {
            BillTotal::add(&mut known.billed, row.billed.as_ref());
            known.calls.push(row);
        } else {
            let mut billed = None;
            BillTotal::add(&mut billed, row.billed.as_ref());
            conversations.push(ConversationRow {
                agent,
                conversation,
                calls: vec![row],
                billed,
            });
        }
    }
    PromptCacheReport {
        schema: names::PROMPT_CACHE,
        conversations,
        total,
        missing_parts: Vec::new(),
    }
}

impl BillTotal {
    /// Adds the bill of a call, if there is one.
    fn add(total: &mut Option<Self>, bill: Option<&SessionBill>) {
        let Some(bill) = bill else { return };
        let own = total.get_or_insert(Self {
            usd: Some(0.0),
            ..Self::default()
        });
        own.input += bill.input;
        own.cached += bill.cached.unwrap_or(0);
        own.written += bill.written.unwrap_or(0);
        if let Some(missed) = &bill.missed {
            own.missed += missed.tokens;
            own.usd = own.usd.zip(missed.usd).map(|(sum, usd)| sum + usd);
        }
    }

    /// Describes the bill for people.
    fn describe(&self) -> String {
        let count = |tokens: u64| usize::try_from(tokens).unwrap_or(usize::MAX);
        let full = self.input.saturating_sub(self.cached + self.written);
        let written = if self.written > 0 {
            format!(", {} written to it", format_thousands(count(self.written)))
        } else {
            String::new()
        };
        format!(
            "billed: {} tokens, {} read from the cache ({}){written}, {} not cached",
            format_thousands(count(self.input)),
            format_thousands(count(self.cached)),
            percentage(count(self.cached), count(self.input)),
            format_thousands(count(full))
        )
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "counts of tokens are below 2^53"
)]
fn percentage(part: usize, whole: usize) -> String {
    if whole == 0 {
        "0 %".to_owned()
    } else {
        format!("{:.0} %", part as f64 / whole as f64 * 100.0)
    }
}

fn describe_break(broken: &BreakRow<'_>) -> String {
    let segment = escape_line(broken.segment);
    match broken.cause {
        "changed" => format!(
            "{segment} changed from its byte {}: `{}` became `{}`",
            broken.offset,
            escape_line(broken.before),
            escape_line(broken.after)
        ),
        "moved" => format!("{segment} moved to another place"),
        "added" => format!("{segment} was put in front of what follows"),
        "removed" => format!("{segment} was taken out"),
        "compacted" => "the conversation was compacted".to_owned(),
        "cleared" => "results of tools were cleared".to_owned(),
        "rewound" => "the user went back to an earlier message".to_owned(),
        _ => "the cache forgot it: more than five minutes went by".to_owned(),
    }
}

/// The number of calls up to which a conversation lists all of them, not only those that broke.
const MAX_LISTED_CALLS: usize = 20;

/// The columns of a line beside the name of its call.
const NUMBER_COLUMNS: usize = 42;

/// Prints the report for people.
pub(super) fn print_report(document: &PromptCacheReport<'_>, cx: &mut Cx) -> Result<()> {
    let calls = document.conversations.iter().flat_map(|one| &one.calls);
    let longest = calls.clone().map(|call| call.id.chars().count()).max();
    let is_narrow = cx
        .options
        .screen
        .width
        .is_some_and(|columns| longest.unwrap_or(0) + NUMBER_COLUMNS > columns);
    // On a narrow terminal, calls of long names have only their numbers.
    let label = |call: &ReuseRow<'_>| {
        let at = call.id.rfind('#').filter(|_| is_narrow).unwrap_or(0);
        escape_line(call.id.get(at..).unwrap_or(call.id)).into_owned()
    };
    let widths = calls.map(|call| label(call).chars().count());
    let width = widths.max().unwrap_or(0).max(4);
    for conversation in &document.conversations {
        let calls = &conversation.calls;
        let sum = |of: fn(&ReuseRow<'_>) -> usize| calls.iter().map(of).sum::<usize>();
        let (tokens, reused) = (sum(|call| call.tokens), sum(|call| call.reused));
        let head = format!(
            "{}, conversation {}: {}, {} tokens, {} reused ({})",
            escape_line(conversation.agent),
            escape_line(conversation.conversation),
            pluralize(calls.len(), "call"),
            format_thousands(tokens),
            format_thousands(reused),
            percentage(reused, tokens)
        );
        let head = cx.options.screen.paint(Paint::Strong, &head);
        cx.print_hanging(&head, 2)?;
        if let Some(billed) = &conversation.billed {
            cx.print_hanging(&format!("  {}", billed.describe()), 4)?;
        }
        let is_listed = |call: &&ReuseRow<'_>| {
            let missed = call.billed.as_ref().map(|billed| billed.missed.is_some());
            calls.len() <= MAX_LISTED_CALLS || call.broken_by.is_some() || missed == Some(true)
        };
        let listed: Vec<&ReuseRow<'_>> = calls.iter().filter(is_listed).collect();
        if !listed.is_empty() {
            cx.print_line(&format!(
                "  {:width$} {:>9} {:>9} {:>9} {:>9}",
                "call", "tokens", "reused", "new", "again"
            ))?;
        }
        for call in &listed {
            let numbers = [call.tokens, call.reused, call.new, call.written].map(format_thousands);
            let [tokens, reused, new, written] = numbers;
            cx.print_line(&format!(
                "  {:width$} {tokens:>9} {reused:>9} {new:>9} {written:>9}",
                label(call)
            ))?;
            if let Some(broken) = &call.broken_by {
                let usd = broken.usd.filter(|usd| *usd > 0.0);
                let usd = usd.map_or_else(String::new, |usd| {
                    format!(", US$ {}", number::format_usd(usd))
                });
                let line = format!("  {:width$} broken: {}{usd}", "", describe_break(broken));
                let line = cx.options.screen.paint(Paint::Warning, &line);
                cx.print_hanging(&line, width + 5)?;
            }
            if let Some(billed) = &call.billed
                && let Some(missed) = &billed.missed
            {
                let missed = missed.describe(billed.cached.unwrap_or(0));
                let line = format!("  {:width$} billed: {}", "", escape_line(&missed));
                let line = cx.options.screen.paint(Paint::Warning, &line);
                cx.print_hanging(&line, width + 5)?;
            }
        }
        if listed.len() < calls.len() {
            cx.print_line(&format!(
                "  {} not listed: they repeat the one before and add to it",
                pluralize(calls.len() - listed.len(), "call")
            ))?;
        }
    }
    let total = &document.total;
    let usd = total.usd.map_or_else(
        || "price unknown".to_owned(),
        |usd| format!("US$ {}", number::format_usd(usd)),
    );
    let line = format!(
        "in all: {} tokens, {} reused ({}), {} lost to breaks: {usd}",
        format_thousands(total.tokens),
        format_thousands(total.reused),
        percentage(total.reused, total.tokens),
        format_thousands(total.lost)
    );
    cx.print_hanging(&line, 2)?;
    let lines = [
        total.billed.as_ref().map(missed_line),
        too_short_note(total),
        missing_parts_line(&document.missing_parts),
    ];
    lines
        .iter()
        .flatten()
        .try_for_each(|line| cx.print_hanging(line, 2))
}

/// Returns the bill of sessions, and the tokens that their cache should have had.
fn missed_line(billed: &BillTotal) -> String {
    let usd = billed.usd.map_or_else(String::new, |usd| {
        format!(": US$ {}", number::format_usd(usd))
    });
    format!(
        "{}; {} missed in the cache{usd}",
        billed.describe(),
        format_thousands(usize::try_from(billed.missed).unwrap_or(usize::MAX))
    )
}

/// Returns a note on reused tokens that are still billed in full.
fn too_short_note(total: &ReuseTotal) -> Option<String> {
    let tokens = format_thousands(Some(total.too_short).filter(|tokens| *tokens > 0)?);
    Some(format!(
        "{tokens} of the reused tokens are billed in full all the same: their prefixes are shorter than a provider keeps in its cache (1,024 tokens for most models)"
    ))
}

/// Returns a self-contained HTML page: a bar for each call, as long as its tokens.
fn html_page(document: &PromptCacheReport<'_>) -> String {
    use crate::cli::render::markup::escape_html as markup;
    let most = document
        .conversations
        .iter()
        .flat_map(|one| &one.calls)
        .map(|call| call.tokens)
        .max()
        .unwrap_or(0)
        .max(1);
    let mut out = vec![String::from(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>Prompt cache</title>\n\
         <style>:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}\
         .bar{display:flex;height:1rem;margin:.1rem 0}.bar i{display:block}.reused{background:#2a9d6f}.new{background:#4a7fc1}.again{background:#d1495b}\
         .call{margin:.5rem 0;font-size:.9rem}.key i{display:inline-block;width:.8rem;height:.8rem;margin:0 .3rem 0 .8rem}code{overflow-wrap:anywhere}</style>\n\
         <h1>Prompt cache</h1><p class=\"key\"><i class=\"reused\"></i>reused<i class=\"new\"></i>new<i class=\"again\"></i>sent again after a break</p>\n",
    )];
    for conversation in &document.conversations {
        out.push(format!(
            "<h2>{}, conversation {}</h2>\n",
            markup(conversation.agent),
            markup(conversation.conversation)
        ));
        for call in &conversation.calls {
            let part = |class: &str, tokens: usize| {
                #[allow(
                    clippy::cast_precision_loss,
                    reason = "counts of tokens are below 2^53"
                )]
                let width = tokens as f64 / most as f64 * 100.0;
                format!("<i class=\"{class}\" style=\"width:{width:.2}%\"></i>")
            };
            let bar = [
                part("reused", call.reused),
                part("again", call.written),
                part("new", call.new),
            ]
            .concat();
            let cause = call.broken_by.as_ref().map_or_else(String::new, |broken| {
                format!(
                    "<br>broken: <code>{}</code>",
                    markup(&describe_break(broken))
                )
            });
            out.push(format!(
                "<div class=\"call\">{}: {} tokens, {} reused, {} sent again{cause}<div class=\"bar\">{bar}</div></div>\n",
                markup(call.id),
                format_thousands(call.tokens),
                format_thousands(call.reused),
                format_thousands(call.written)
            ));
        }
    }
    out.push(format!(
        "<p>{} tokens, {} reused, {} lost to breaks</p><p>{}</p>{}</html>\n",
        format_thousands(document.total.tokens),
        format_thousands(document.total.reused),
        format_thousands(document.total.lost),
        too_short_note(&document.total).unwrap_or_default(),
        document
            .total
            .billed
            .as_ref()
            .map(missed_line)
            .into_iter()
            .chain(missing_parts_line(&document.missing_parts))
            .map(|line| ["<p>", &markup(&line), "</p>"].concat())
            .collect::<Vec<_>>()
            .concat()
    ));
    out.concat()
}
/// Compares all calls, in order.
pub(super) fn compare_recorded_calls(
    calls: &[LoadedRequest],
    config: &Config,
) -> Vec<ComparedCall> {
    let compared = |(loaded, thread): (&LoadedRequest, Attribution)| {
        let facts = model_facts(&loaded.request, &config.models);
        let other = |at: Option<usize>| at.and_then(|at| calls.get(at));
        let reuse = match (other(thread.before), other(thread.agent_before)) {
            (Some(before), _) => mark_expired(
                before,
                loaded,
                compare_calls(&before.segments, &loaded.segments, &*facts.counter),
            ),
            (None, Some(before)) => {
                compare_agent(&before.segments, &loaded.segments, &*facts.counter)
            }
            (None, None) => compare_agent(&[], &loaded.segments, &*facts.counter),
        };
        ComparedCall {
            name: loaded.name.clone(),
            reported_cached: loaded.call.as_ref().and_then(|call| call.usage.cached),
            billed: None,
            shrinkage: None,
            thread,
            reuse,
            facts,
        }
    };
    calls
        .iter()
        .zip(call_threads(calls))
        .map(compared)
        .collect()
}

/// Marks the cache as expired, if a call extends the one before and the provider still reused
/// nothing.
fn mark_expired(before: &LoadedRequest, now: &LoadedRequest, reuse: PrefixReuse) -> PrefixReuse {
    let (Some(old), Some(new)) = (&before.call, &now.call) else {
        return reuse;
    };
    let is_forgotten = reuse.broken_by.is_none()
        && new.usage.cached == Some(0)
        && old.usage.input.is_some_and(|input| input > 0)
        && parse_seconds(old.at.as_deref())
            .zip(parse_seconds(new.at.as_deref()))
            .is_some_and(|(old, new)| new.saturating_sub(old) > CACHE_SECONDS);
    let Some(first) = now
        .segments
        .first()
        .filter(|_| is_forgotten && reuse.reused > 0)
    else {
        return reuse;
    };
    let broken = PrefixBreak {
        segment: first.id.clone(),
        offset: 0,
        before: String::new(),
        after: String::new(),
        cause: BreakCause::Expired,
        pointer: Some(first.pointer.clone()),
    };
    PrefixReuse {
        lost: reuse.reused,
        reused: 0,
        broken_by: Some(broken),
        ..reuse
    }
}
