//! The outcome of a run for people: its result or its failure, and with `--explain` its events.

use crate::cli::cx::Cx;
use crate::cli::error::Result;
use crate::cli::render::escape::{escape_line, escape_lines};
use crate::cli::render::summary::{format_thousands, pluralize};
use crate::record::redact::Redactor;
use crate::run::trace::{End, TraceEvent};
use serde_json::Value;

/// Prints the content of the result and nothing else.
pub(super) fn print_result(content: &Value, cx: &mut Cx) -> Result<()> {
    // Byte for byte for files and pipes; a terminal would interpret control characters of the text.
    let is_terminal = cx.is_terminal();
    let pretty = || serde_json::to_string_pretty(content).unwrap_or_default();
    let text = content.as_str().map_or_else(pretty, str::to_owned);
    let text = if is_terminal {
        escape_lines(&text).into_owned()
    } else {
        text
    };
    let end = if text.ends_with('\n') { "" } else { "\n" };
    cx.print(|out| write!(out, "{text}{end}"))
}

/// Prints the events of a run, one per line, without secrets.
pub(super) fn print_events(events: &[TraceEvent], redactor: &Redactor, cx: &mut Cx) {
    for line in events.iter().filter_map(event_line) {
        cx.print_note(&escape_line(&redactor.mask_text(&line).0));
    }
}

fn event_line(event: &TraceEvent) -> Option<String> {
    Some(match event {
        TraceEvent::Stage {
            stage,
            model,
            segments,
            ..
        } => {
            let tokens: usize = segments.iter().filter_map(|segment| segment.tokens).sum();
            let lost: Vec<String> = segments
                .iter()
                .filter(|segment| segment.state != "kept")
                .map(|segment| format!("{} {}", segment.id, segment.state))
                .collect();
            let lost = if lost.is_empty() {
                String::new()
            } else {
                format!("; {}", lost.join(", "))
            };
            let model = model.as_deref().unwrap_or("no model known");
            format!(
                "{stage}: {}, {} tokens, {model}{lost}",
                pluralize(segments.len(), "segment"),
                format_thousands(tokens)
            )
        }
        TraceEvent::Case {
            stage,
            case: Some(case),
            test,
        } => {
            let test = test.as_deref().map_or_else(
                || "it has no test".to_owned(),
                |test| format!("`{test}` holds"),
            );
            format!("{stage}: case {case}, since {test}")
        }
        TraceEvent::Case {
            stage, case: None, ..
        } => format!("{stage}: no case, since no test holds"),
        TraceEvent::Round { stage, round, ends } => {
            format!(
                "{stage}: round {round} {}",
                if *ends {
                    "is the last: the condition holds"
                } else {
                    "is over, and the condition does not hold"
                }
            )
        }
        TraceEvent::Tool(tool) => {
            let how = if tool.is_error { "failed" } else { "answered" };
            let first = tool.result.lines().next().unwrap_or_default();
            format!(
                "{}: {}({}) {how}: {first}",
                tool.stage, tool.name, tool.arguments
            )
        }
        TraceEvent::Command { stage, argv, .. } => format!("{stage}: command {}", argv.join(" ")),
        TraceEvent::Subtask {
            stage,
            depth,
            request,
            refused,
            ..
        } => match refused {
            Some(why) => format!("{stage}: its subtask is refused: {why}"),
            None => format!("{stage}: subtask at depth {depth}: {}", request.description),
        },
        TraceEvent::Failed { stage, obstacle } => {
            format!("{stage}: {}: {}", obstacle.kind, obstacle.note)
        }
        TraceEvent::Result { stage, output, .. } => {
            let first = output.text().lines().next().unwrap_or_default().to_owned();
            format!("{stage}: {first}")
        }
        TraceEvent::Begin(_) | TraceEvent::End(_) => return None,
    })
}

/// Prints the results of the stages of a run that has no result, without secrets.
pub(super) fn print_partial_results(end: &End, redactor: &Redactor, cx: &mut Cx) {
    for left in &end.partial {
        let first = redactor
            .mask_text(left.notes.lines().next().unwrap_or_default())
            .0;
        cx.print_note(&escape_line(&format!("done: {}: {first}", left.stage)));
    }
}
