//! A manifest as one HTML page: a bar for each agent, with segments as wide as their tokens but
//! never too narrow to be seen. No scripts, no external resources, every name escaped.
//!
//! A write to a string cannot fail, so the results of `write!` are ignored.

use super::agent_facts;
use super::text::{bounds_note, exactness_note, short_name};
use crate::cli::render::markup::escape_html as text;
use crate::cli::render::summary::{format_thousands, pluralize};
use crate::context::manifest::{Entry, MANIFEST_SCHEMA, Manifest, Part};
use std::fmt::Write as _;

const STYLE: &str = "\
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:76rem;padding:0 1rem}
h2{font-size:1.1rem;margin:2rem 0 .3rem}
.bar{display:flex;min-width:6rem;height:1.6rem;border-radius:4px;overflow:hidden;background:#8883}
.bar span{flex:0 1 0;min-width:5px;border-right:1px solid Canvas}
.fixed{background:#2f6fb3}.project{background:#3a8f6b}.session{background:#b98a2e}.call{background:#b3552f}
.variable{background-image:repeating-linear-gradient(45deg,#fff5 0 4px,#fff0 4px 8px)}
table{border-collapse:collapse;table-layout:fixed;width:100%;margin:.6rem 0}
th,td{text-align:left;padding:.15rem .6rem .15rem 0;border-bottom:1px solid #8883;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;padding-right:1rem}
th:nth-child(1){width:1.6rem}th:nth-child(2){width:26%}th:nth-child(3),th:nth-child(4){width:5rem}th:nth-child(5){width:15%}
td:nth-child(1){padding-right:.6rem}td:nth-child(2),td:nth-child(5){overflow-wrap:anywhere}
i{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.4em}
p{margin:.3rem 0}.dim{opacity:.7}code{font-size:.9em;overflow-wrap:anywhere}
@media(max-width:50rem){table{table-layout:auto}th:nth-child(n){width:auto}td:nth-child(n),td code{overflow-wrap:normal}body{overflow-x:auto}}
";

/// Returns the page.
pub(super) fn render_page(manifest: &Manifest) -> String {
    let widest = manifest
        .entries
        .iter()
        .map(|entry| entry.total.fixed)
        .max()
        .unwrap_or(0)
        .max(1);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"generator\" content=\"{MANIFEST_SCHEMA}\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>What each agent receives</title>\n<style>\n{STYLE}</style>\n\
         <h1>What each agent receives</h1>\n<p class=\"dim\">registry <code>{}</code></p>\n\
         <p><i class=\"fixed\"></i>as long as the template \u{a0} <i class=\"project\"></i>as long as the project's files \u{a0} \
         <i class=\"session\"></i>for one run \u{a0} <i class=\"call\"></i>for one call</p>\n",
        text(&manifest.registry_hash)
    );
    for entry in &manifest.entries {
        write_agent(entry, widest, &mut out);
    }
    out.push_str("</html>\n");
    out
}

fn write_agent(entry: &Entry, widest: usize, out: &mut String) {
    let _ = writeln!(out, "<h2>{}</h2>", text(&entry.title()));
    if let Some(test) = &entry.condition {
        let _ = writeln!(out, "<p>called when <code>{}</code></p>", text(test));
    }
    let bound = bounds_note(entry);
    let exact = exactness_note(entry);
    let _ = writeln!(
        out,
        "<p>{}{bound} <span class=\"dim\">({}{exact})</span>; reusable prefix {}</p>",
        pluralize(entry.total.fixed, "token"),
        text(&entry.tokenizer.name),
        format_thousands(entry.prefix_tokens)
    );
    if let Some((name, why)) = agent_facts::describe_model(entry) {
        let _ = writeln!(
            out,
            "<p>model <code>{}</code> {}</p>",
            text(name),
            text(&why)
        );
    }
    if let Some(cost) = agent_facts::describe_cost(entry) {
        let _ = writeln!(out, "<p>{}</p>", text(&cost));
    }
    if let Some(defaults) = agent_facts::describe_defaults(&entry.defaults, entry.total.estimate) {
        let _ = writeln!(out, "<p>{}</p>", text(&defaults));
    }
    for (word, entries) in agent_facts::policy_lists(entry) {
        let entries: Vec<String> = entries
            .iter()
            .map(|entry| format!("<code>{}</code>", text(entry)))
            .collect();
        let _ = writeln!(out, "<p class=\"dim\">{word} {}</p>", entries.join(", "));
    }
    let _ = write!(
        out,
        "<div class=\"bar\" style=\"width:{}\">",
        format_share(entry.total.fixed, widest)
    );
    let positioned = entry.segments_in_order();
    for part in &positioned {
        let class = part_class(part);
        let title = text(&format!("{} {}", part.id, format_thousands(part.tokens)));
        let _ = write!(
            out,
            "<span class=\"{class}\" style=\"flex-grow:{}\" title=\"{title}\"></span>",
            part.tokens
        );
    }
    out.push_str(
        "</div>\n<table><tr><th class=\"n\"></th><th>segment</th><th class=\"n\">tokens</th><th class=\"n\">at most</th>\
         <th>waits for</th><th>source</th></tr>\n",
    );
    let dropped = entry.segments.iter().filter(|part| part.position.is_none());
    for part in positioned.into_iter().chain(dropped) {
        write_row(part, out);
    }
    out.push_str("</table>\n");
    for late in &entry.late {
        let _ = writeln!(
            out,
            "<p class=\"dim\"><code>{}</code> is left out: {}</p>",
            text(&late.id),
            text(&late.reason())
        );
    }
}

fn part_class(part: &Part) -> String {
    let variable = if part.is_variable() { " variable" } else { "" };
    format!("{}{variable}", part.stability.word())
}

fn write_row(part: &Part, out: &mut String) {
    let place = part
        .position
        .map_or_else(|| "dropped".to_owned(), |at| (at + 1).to_string());
    let bound = part
        .bound
        .map_or_else(|| "no bound".to_owned(), format_thousands);
    let sources: Vec<&str> = part
        .source
        .iter()
        .map(|source| source.path.as_deref().unwrap_or(&source.name))
        .collect();
    // Most segments are named like their kind.
    let kind = if short_name(part) == part.kind.as_str() {
        String::new()
    } else {
        format!(" <span class=\"dim\">{}</span>", part.kind.as_str())
    };
    let _ = writeln!(
        out,
        "<tr><td class=\"n\">{place}</td><td><i class=\"{}\"></i>{}{kind}</td><td class=\"n\">{}</td>\
         <td class=\"n\">{bound}</td><td>{}</td><td><code>{}</code></td></tr>",
        part_class(part),
        text(short_name(part)),
        agent_facts::known_tokens(part),
        text(&part.variable.join(", ")),
        text(&sources.join(", "))
    );
}

/// Returns a part of a whole in percent, to a tenth, without floating point.
fn format_share(part: usize, whole: usize) -> String {
    let tenths = part.saturating_mul(1000) / whole;
    format!("{}.{}%", tenths / 10, tenths % 10)
}
