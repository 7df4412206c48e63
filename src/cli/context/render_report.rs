//! The state of every segment of a context, the reason and the token count: for people, and as
//! JSON.

use crate::cli::prelude::*;
use crate::context::assemble::Assembly;
use crate::context::manifest::DefaultValue;
use crate::context::request::Request;
use crate::context::role::ModelRoute;
use crate::kernel::assembler::SegmentReport;
use crate::kernel::budget::Disposition;
use crate::kernel::context::Trust;
use crate::kernel::sampling::Sampled;
use crate::project::routing::RoutedModel;
use crate::schema::json::names::RENDER;

/// The context of an agent, and the state of each segment: `ctxc render --json`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct RenderReport<'a> {
    /// The version of the format.
    schema: &'static str,
    /// The task.
    task: &'a str,
    /// The agent inside the task.
    node: &'a str,
    /// The agent role; null if none was requested.
    role: Option<&'a str>,
    /// The project's name of the model that would be called; null if the agent has none.
    model: Option<&'a str>,
    /// The tokenizer that counted the tokens.
    tokenizer: &'a str,
    /// True if the figures are exact.
    exact: bool,
    /// The budget in tokens; null for no limit.
    budget: Option<usize>,
    /// Tokens of the segments that stay.
    tokens: Option<usize>,
    /// Tokens of the prefix that stays the same from call to call.
    prefix_tokens: Option<usize>,
    /// The messages, in order.
    messages: Vec<RenderedMessage<'a>>,
    /// Every segment, in the order of the sources.
    segments: Vec<SegmentFateRow<'a>>,
    /// Segments that are left out because their text is unknown before the agent has run.
    late: Vec<DeferredSegment<'a>>,
    /// The defaults of parameters in the context; a caller can pass other values.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    defaults: &'a [DefaultValue],
}

/// A message.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Said")]
struct RenderedMessage<'a> {
    /// The speaker of the message.
    speaker: &'static str,
    /// Its text.
    text: &'a str,
}

/// The state of a segment.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Row")]
struct SegmentFateRow<'a> {
    /// The id within this context, such as `input:ticket`.
    id: &'a str,
    /// The kind.
    kind: &'static str,
    /// `kept`, `cut` or `dropped`.
    state: &'static str,
    /// The reason for the state.
    reason: &'a str,
    /// The setting or element that requests the segment.
    why: &'a str,
    /// The position among the segments that stay, from 0; null if it is dropped.
    position: Option<usize>,
    /// The priority: the highest number is dropped first.
    priority: u8,
    /// The scope within which the text stays the same.
    stability: &'static str,
    /// True if the text is the author's own.
    trusted: bool,
    /// Tokens of the part that stays, with its heading and fence.
    tokens: Option<usize>,
    /// Tokens of the complete segment.
    full_tokens: Option<usize>,
    /// Bytes of the text that stay.
    bytes: usize,
    /// Bytes of the complete text.
    full_bytes: usize,
}

/// A segment that is left out.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Late")]
struct DeferredSegment<'a> {
    /// The id that the segment would have.
    id: &'a str,
    /// The reason that it is left out.
    reason: String,
}

/// Returns the number of bytes that are kept of a segment, and the name of its state.
fn kept_part(account: &SegmentReport) -> (usize, &'static str) {
    let whole = account.segment.text.text().len();
    match &account.disposition {
        Disposition::Kept => (whole, "kept"),
        Disposition::Cut { range, .. } => (range.len(), "cut"),
        Disposition::Shortened { left_out } => (
            whole.saturating_sub(left_out.iter().map(ExactSizeIterator::len).sum()),
            "cut",
        ),
        Disposition::Dropped => (0, "dropped"),
    }
}

/// Returns the report of a context.
pub(super) fn build_report<'a>(
    assembly: &'a Assembly,
    request: &Request<'a>,
    routed: Option<&'a ModelRoute<'_>>,
    defaults: &'a [DefaultValue],
) -> RenderReport<'a> {
    let report = &assembly.report;
    let row = |account: &'a SegmentReport| {
        let segment = &account.segment;
        let (bytes, state) = kept_part(account);
        SegmentFateRow {
            id: &segment.id,
            kind: segment.kind.as_str(),
            state,
            reason: &account.reason,
            why: &segment.why,
            position: account.position,
            priority: segment.priority(),
            stability: segment.stability.word(),
            trusted: segment.trust == Trust::Trusted,
            tokens: account.kept_tokens,
            full_tokens: account.full_tokens,
            bytes,
            full_bytes: segment.text.text().len(),
        }
    };
    RenderReport {
        schema: RENDER,
        task: request.task,
        node: request.node,
        role: request.role.map(|role| role.name.value.as_str()),
        model: routed.and_then(ModelRoute::model),
        tokenizer: &report.tokenizer,
        exact: report.is_exact,
        budget: report.budget,
        tokens: report.tokens,
        prefix_tokens: report.prefix_tokens,
        messages: assembly
            .messages
            .iter()
            .map(|message| RenderedMessage {
                speaker: message.speaker.word(),
                text: message.as_str(),
            })
            .collect(),
        segments: report.segments.iter().map(row).collect(),
        late: report
            .late
            .iter()
            .map(|late| DeferredSegment {
                id: &late.id,
                reason: late.reason(),
            })
            .collect(),
        defaults,
    }
}

/// Prints the state of each segment.
pub(super) fn print_explanation(
    assembly: &Assembly,
    routed: Option<&ModelRoute<'_>>,
    cx: &mut Cx,
) -> Result<()> {
    let screen = cx.options.screen;
    cx.print_line("")?;
    for account in &assembly.report.segments {
        let disposition = match kept_part(account) {
            (bytes, "cut") => {
                format!(
                    "cut to {} of {} bytes",
                    format_thousands(bytes),
                    format_thousands(account.segment.text.text().len())
                )
            }
            (_, state) => state.to_owned(),
        };
        let segment = &account.segment;
        let id = screen.paint(Paint::Strong, &escape_line(&format!("{:<28}", segment.id)));
        let line = format!(
            "{id} {}, priority {}, {}: {disposition}; {}; there by {}",
            token_figures(account),
            segment.priority(),
            segment.stability.word(),
            account.reason,
            segment.why
        );
        cx.print_hanging(&line, 29)?;
    }
    for late in &assembly.report.late {
        let id = screen.paint(Paint::Strong, &escape_line(&format!("{:<28}", late.id)));
        cx.print_hanging(
            &format!("{id} left out: {}", escape_line(&late.reason())),
            29,
        )?;
    }
    let report = &assembly.report;
    let exact = if report.is_exact { "" } else { "about " };
    let total = pluralize(report.tokens.unwrap_or(0), "token");
    let budget = report.budget.map_or_else(String::new, |budget| {
        format!(" of {}", format_thousands(budget))
    });
    let prefix = format_thousands(report.prefix_tokens.unwrap_or(0));
    let id = screen.paint(Paint::Strong, &format!("{:<28}", "total"));
    let line = format!(
        "{id} {exact}{total}{budget}, counted by {}; the first {prefix} stay the same from call to call",
        report.tokenizer
    );
    cx.print_hanging(&line, 29)?;
    let Some(routed) = routed else { return Ok(()) };
    if let Some(RoutedModel {
        model,
        reason,
        fallback,
    }) = &routed.choice
    {
        let id = screen.paint(Paint::Strong, &format!("{:<28}", "model"));
        let behind: Vec<_> = fallback
            .iter()
            .map(|model| escape_line(&model.name.value))
            .collect();
        let behind = if behind.is_empty() {
            String::new()
        } else {
            format!("; then {}", behind.join(", "))
        };
        cx.print_hanging(
            &format!(
                "{id} {}: {}{behind}",
                escape_line(&model.name.value),
                escape_line(reason)
            ),
            29,
        )?;
    }
    if routed.sampling.is_empty() {
        return Ok(());
    }
    let id = screen.paint(Paint::Strong, &format!("{:<28}", "sampling"));
    let all: Vec<String> = routed.sampling.iter().map(Sampled::describe).collect();
    cx.print_hanging(&format!("{id} {}", escape_line(&all.join(", "))), 29)
}

/// Returns the tokens of the kept part, and of the whole segment if they differ.
fn token_figures(account: &SegmentReport) -> String {
    let full = account.full_tokens.unwrap_or(0);
    match account.kept_tokens.unwrap_or(0) {
        kept if kept == full => pluralize(full, "token"),
        kept => format!("{} of {}", format_thousands(kept), pluralize(full, "token")),
    }
}
