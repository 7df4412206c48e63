//! The manifest of requests as a page of Markdown or HTML: the last call of each agent with its
//! segments. No script, nothing loaded, every text escaped.
//!
//! Writing to a string cannot fail, so the results of `write!` are dropped.

use super::manifest::{RequestManifest, SegmentRow, heading, last_calls};
use crate::cli::render::markup::{code_element, escape_cell, escape_html as escaped};
use crate::cli::render::summary::format_thousands;
use crate::schema::json::names;
use std::fmt::Write as _;

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
        out.push_str("| segment | tokens | sections | place |\n|---|---:|---|---|\n");
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
        out.push_str("</div>\n<table><tr><th>segment</th><th class=\"n\">tokens</th><th>sections</th><th>place</th></tr>\n");
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

/// Returns the notes on a segment: its sections with their tokens, and a cache breakpoint after it.
fn notes(segment: &SegmentRow) -> String {
    let sections = segment
        .sections
        .iter()
        .map(|section| format!("{} {}", section.title, format_thousands(section.tokens)));
    let breakpoint = segment.breakpoint.then(|| "cache breakpoint".to_owned());
    sections
        .chain(breakpoint)
        .collect::<Vec<_>>()
        .join(" \u{b7} ")
}
