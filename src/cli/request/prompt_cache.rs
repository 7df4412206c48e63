//! `ctxc prompt-cache`: the part of each call that a provider's prompt cache can reuse, and the
//! breaks that prevent more.

use super::load::{self, LoadedRequest, call_threads};
use crate::base::number;
use crate::cli::prelude::*;
use crate::cli::shared_args::FileMark;
use crate::eval::request::examined_request::{RequestModelFacts, model_facts};
use crate::project::config::Config;
use crate::request::prompt_cache::{
    BreakCause, PrefixBreak, PrefixReuse, compare_agent, compare_calls,
};
use crate::request::threads::Attribution;
use crate::scenario::date;
use crate::schema::json::names;
use clap::ValueEnum;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc prompt-cache calls.jsonl\n  ctxc prompt-cache calls.jsonl --format html > cache.html\n\n\
    A break is found by comparing bytes with the previous call, whatever the model. Calls are grouped into conversations by content, or by \
    the headers x-ctxc-agent and x-ctxc-conversation. If a model's tokenizer is not public, its tokens are estimated."
)]
pub(crate) struct PromptCacheArgs {
    /// Recordings: `@NAME`, a file, a folder
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
    /// the cache had forgotten them.
    #[schemars(extend("enum" = ["changed", "moved", "added", "removed", "expired"]))]
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
}

/// Compares the calls and prints the result.
pub(crate) fn run_prompt_cache(args: &PromptCacheArgs, cx: &mut Cx) -> Result<Exit> {
    let project = Project::load(&cx.options)?;
    let calls = load::load_calls(&args.subjects, &project.root, &mut |line| {
        cx.print_note(line);
    })?;
    let compared = compare_recorded_calls(&calls, &project.config);
    let document = build_report(&compared);
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
pub(super) fn build_report<'c>(compared: &'c [ComparedCall<'_>]) -> PromptCacheReport<'c> {
    let mut conversations: Vec<ConversationRow<'c>> = Vec::new();
    let mut total = ReuseTotal {
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
            cause: found.cause.word(),
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
            id: &one.loaded.name,
            tokens: reuse.tokens,
            reused: reuse.reused,
            new: reuse.tokens - reuse.reused - written,
            written,
            reported_cached: one.loaded.call.as_ref().and_then(|call| call.usage.cached),
            broken_by: broken,
        };
        let (agent, conversation) = (one.thread.agent.as_str(), one.thread.conversation.as_str());
        match conversations
            .iter_mut()
            .find(|known| known.agent == agent && known.conversation == conversation)
        {
            Some(known) => known.calls.push(row),
            None => conversations.push(ConversationRow {
                agent,
                conversation,
                calls: vec![row],
            }),
        }
    }
    PromptCacheReport {
        schema: names::PROMPT_CACHE,
        conversations,
        total,
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
        _ => "the cache forgot it: more than five minutes went by".to_owned(),
    }
}

/// Prints the report for people.
pub(super) fn print_report(document: &PromptCacheReport<'_>, cx: &mut Cx) -> Result<()> {
    let width = document
        .conversations
        .iter()
        .flat_map(|one| &one.calls)
        .map(|call| call.id.chars().count())
        .max()
        .unwrap_or(0)
        .max(4);
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
        cx.print_line(&head)?;
        cx.print_line(&format!(
            "  {:width$} {:>9} {:>9} {:>9} {:>9}",
            "call", "tokens", "reused", "new", "again"
        ))?;
        for call in calls {
            let numbers = [call.tokens, call.reused, call.new, call.written].map(format_thousands);
            let [tokens, reused, new, written] = numbers;
            cx.print_line(&format!(
                "  {:width$} {tokens:>9} {reused:>9} {new:>9} {written:>9}",
                escape_line(call.id)
            ))?;
            if let Some(broken) = &call.broken_by {
                let usd = broken.usd.map_or_else(String::new, |usd| {
                    format!(", US$ {}", number::format_usd(usd))
                });
                let line = format!("  {:width$} broken: {}{usd}", "", describe_break(broken));
                let line = cx.options.screen.paint(Paint::Warning, &line);
                cx.print_line(&line)?;
            }
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
    cx.print_line(&line)?;
    too_short_note(total).map_or(Ok(()), |line| cx.print_line(&line))
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
        "<p>{} tokens, {} reused, {} lost to breaks</p><p>{}</p></html>\n",
        format_thousands(document.total.tokens),
        format_thousands(document.total.reused),
        format_thousands(document.total.lost),
        too_short_note(&document.total).unwrap_or_default()
    ));
    out.concat()
}

/// Seconds after which a cache drops an unused prefix, by default.
const CACHE_SECONDS: u64 = 300;

/// A call, compared with the one before it.
#[derive(Debug)]
pub(super) struct ComparedCall<'c> {
    pub(super) loaded: &'c LoadedRequest,
    /// Its conversation and agent.
    pub(super) thread: Attribution,
    /// The part of it that a cache can reuse.
    pub(super) reuse: PrefixReuse,
    /// The facts about its model.
    pub(super) facts: RequestModelFacts,
}

/// Compares all calls, in order.
pub(super) fn compare_recorded_calls<'c>(
    calls: &'c [LoadedRequest],
    config: &Config,
) -> Vec<ComparedCall<'c>> {
    let compared = |(loaded, thread): (&'c LoadedRequest, Attribution)| {
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
            loaded,
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

/// Returns the seconds of a time such as `2026-11-23T14:03:11Z`, since a fixed day.
fn parse_seconds(at: Option<&str>) -> Option<u64> {
    let number = |range: std::ops::Range<usize>| at?.get(range)?.parse::<u64>().ok();
    let days = u64::try_from(date::day_number(date::parse_date(at?.get(..10)?)?)).ok()?;
    Some(((days * 24 + number(11..13)?) * 60 + number(14..16)?) * 60 + number(17..19)?)
}
