//! The report as Markdown for a pull request, and as a page: a bar for each class of facts, and a
//! line for the tokens of each session.

use super::report::{ClassRow, CompactionReport, CompactionRow, FactRow, SessionRow, VerdictCount};
use super::report_text::{headline, measures, place, unread_notes, verdict_line};
use crate::cli::render::markup::{code_element, escape_cell, escape_html as text};
use crate::schema::json::names::COMPACTION;
use crate::session::verdict::FactVerdict;
use std::fmt::Write as _;

const STYLE: &str = "\
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}
.bar{display:flex;height:1rem;background:#8882}.bar i{display:block}
.kept{background:#2a9d6f}.reloaded{background:#4a7fc1}.recoverable{background:#e0a030}.lost,.mutated{background:#d1495b}
td{padding:.1rem .6rem .1rem 0;vertical-align:top;overflow-wrap:anywhere}td.bar-cell{min-width:16rem}
svg{width:100%;height:6rem}polyline{fill:none;stroke:#4a7fc1;stroke-width:2;vector-effect:non-scaling-stroke}code{overflow-wrap:anywhere}
";

/// Renders the report as Markdown.
pub(super) fn render_markdown(report: &CompactionReport) -> String {
    let mut out = format!(
        "<!-- {COMPACTION} -->\n# {}\n",
        escape_cell(&verdict_line(report))
    );
    for session in &report.sessions {
        let _ = write!(out, "\n## {}\n\n", escape_cell(&session.name));
        for note in unread_notes(session) {
            let _ = write!(out, "{}.\n\n", escape_cell(&note));
        }
        for compaction in &session.compactions {
            let _ = write!(
                out,
                "### {}\n\n{}.\n\n| class | kept | loaded again | unseen | other value | recoverable | lost | needed again |\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
                escape_cell(&headline(compaction)),
                escape_cell(&measures(compaction)),
            );
            for row in &compaction.classes {
                let counts = FactVerdict::ALL
                    .map(|verdict| row.count(verdict).to_string())
                    .join(" | ");
                let _ = writeln!(out, "| {} | {counts} | {} |", row.class, row.needed_again);
            }
            let facts: Vec<&FactRow> = compaction.missed_facts().collect();
            if !facts.is_empty() {
                out.push_str("\n| class | fact | place |\n|---|---|---|\n");
            }
            for fact in facts {
                let _ = writeln!(
                    out,
                    "| {} | {} | {} |",
                    fact.class,
                    code_element(&fact.text),
                    escape_cell(&place(fact))
                );
            }
            out.push('\n');
        }
    }
    if let Some(line) = &report.prompt_line {
        let _ = write!(
            out,
            "For the compaction prompt:\n\n> {}\n",
            escape_cell(line)
        );
    }
    out
}

/// Renders the report as a self-contained page.
pub(super) fn render_page(report: &CompactionReport) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta name=\"generator\" content=\"{COMPACTION}\">\n<title>Compactions</title>\n<style>{STYLE}</style>\n<h1>{}</h1>\n",
        text(&verdict_line(report))
    );
    for session in &report.sessions {
        write_session(session, &mut out);
    }
    if let Some(line) = &report.prompt_line {
        let _ = writeln!(
            out,
            "<p>For the compaction prompt:</p><blockquote>{}</blockquote>",
            text(line)
        );
    }
    out.push_str("</html>\n");
    out
}

fn write_session(session: &SessionRow, out: &mut String) {
    let _ = writeln!(out, "<h2>{}</h2>", text(&session.name));
    for note in unread_notes(session) {
        let _ = writeln!(out, "<p>{}</p>", text(&note));
    }
    write_tokens(session, out);
    for compaction in &session.compactions {
        let _ = writeln!(
            out,
            "<h3>{}</h3><p>{}</p><table>",
            text(&headline(compaction)),
            text(&measures(compaction))
        );
        for class in &compaction.classes {
            write_class(class, out);
        }
        out.push_str("</table>");
        write_facts(compaction, out);
    }
}

/// Draws the tokens before and after each compaction as a line.
fn write_tokens(session: &SessionRow, out: &mut String) {
    let counts: Vec<u64> = session
        .compactions
        .iter()
        .flat_map(|compaction| [compaction.tokens_before, compaction.tokens_after])
        .flatten()
        .collect();
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let points: Vec<String> = counts
        .iter()
        .enumerate()
        .map(|(at, count)| format!("{},{}", at * 10, 100 - count * 100 / most))
        .collect();
    let _ = writeln!(
        out,
        "<svg viewBox=\"0 0 {} 100\" preserveAspectRatio=\"none\" role=\"img\"><title>tokens before and after each compaction, at most {most}</title>\
         <polyline points=\"{}\"/></svg>",
        counts.len().saturating_sub(1).max(1) * 10,
        points.join(" ")
    );
}

fn write_class(class: &ClassRow, out: &mut String) {
    let _ = write!(
        out,
        "<tr><td>{}</td><td>{} of {}</td><td class=\"bar-cell\"><div class=\"bar\">",
        class.class,
        class.surviving(),
        class.facts
    );
    for VerdictCount {
        verdict: name,
        facts: count,
    } in &class.verdicts
    {
        let _ = write!(
            out,
            "<i class=\"{name}\" style=\"flex-grow:{count}\" title=\"{name} {count}\"></i>"
        );
    }
    let _ = writeln!(
        out,
        "</div></td><td>{} needed again</td></tr>",
        class.needed_again
    );
}

fn write_facts(compaction: &CompactionRow, out: &mut String) {
    out.push_str("<table>");
    for fact in compaction.missed_facts() {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td><code>{}</code></td><td>{}</td></tr>",
            fact.class,
            text(&fact.text),
            text(&place(fact))
        );
    }
    out.push_str("</table>\n");
}
