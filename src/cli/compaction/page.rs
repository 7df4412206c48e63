//! The report as Markdown for a pull request, and as a page: a bar for each class of facts, and a
//! line for the tokens of each session.

use super::report::{CompactionReport, ReadSession};
use super::report_text::{headline, listed_facts, measures, place, unread_notes, verdict_line};
use crate::cli::render::markup::{code_element, escape_html as text};
use crate::schema::json::names::COMPACTION;
use crate::session::analysis::{ClassCounts, JudgedCompaction, ListedFacts, VerdictCount};
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

/// Renders the report as Markdown. Texts of the session are code, so that no name in them is
/// mentioned and no address is linked.
pub(super) fn render_markdown(report: &CompactionReport, listed: ListedFacts) -> String {
    let mut out = format!("<!-- {COMPACTION} -->\n# {}\n", verdict_line(report));
    for session in &report.sessions {
        let _ = write!(out, "\n## {}\n\n", code_element(&session.name));
        for note in unread_notes(&session.rows) {
            let _ = write!(out, "{}.\n\n", code_element(&note));
        }
        for compaction in &session.judged.compactions {
            let _ = write!(
                out,
                "### {}\n\n{}.\n\n| class | kept | loaded again | unseen | other value | recoverable | lost | needed again |\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
                code_element(&headline(compaction)),
                measures(compaction),
            );
            for row in &compaction.classes {
                let counts = FactVerdict::ALL
                    .map(|verdict| row.count(verdict).to_string())
                    .join(" | ");
                let _ = writeln!(out, "| {} | {counts} | {} |", row.class, row.needed_again);
            }
            out.push_str("\n| class | fact | place |\n|---|---|---|\n");
            for judged in listed_facts(compaction, listed) {
                let _ = writeln!(
                    out,
                    "| {} | {} | {} |",
                    judged.fact.class_name(),
                    code_element(&judged.fact.text),
                    code_element(&place(judged))
                );
            }
            out.push('\n');
        }
    }
    if let Some(line) = &report.prompt_line {
        let _ = write!(out, "For the compaction prompt:\n\n> {line}\n");
    }
    out
}

/// Renders the report as a self-contained page.
pub(super) fn render_page(report: &CompactionReport, listed: ListedFacts) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"generator\" content=\"{COMPACTION}\">\n<title>Compactions</title>\n<style>{STYLE}</style>\n<h1>{}</h1>\n",
        text(&verdict_line(report))
    );
    for session in &report.sessions {
        let _ = writeln!(out, "<h2>{}</h2>", text(&session.name));
        for note in unread_notes(&session.rows) {
            let _ = writeln!(out, "<p>{}</p>", text(&note));
        }
        write_tokens(session, &mut out);
        for compaction in &session.judged.compactions {
            write_compaction(compaction, listed, &mut out);
        }
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

/// Draws the tokens before and after each compaction as a line.
fn write_tokens(session: &ReadSession, out: &mut String) {
    let counts: Vec<u64> = session
        .judged
        .compactions
        .iter()
        .flat_map(|compaction| {
            [
                compaction.point.tokens_before,
                compaction.point.tokens_after,
            ]
        })
        .flatten()
        .collect();
    let greatest = counts.iter().copied().max().unwrap_or(0).max(1);
    let height = |count: u64| u128::from(count) * 100 / u128::from(greatest);
    let points: Vec<String> = counts
        .iter()
        .enumerate()
        .map(|(at, count)| format!("{},{}", at * 10, 100 - height(*count)))
        .collect();
    let _ = writeln!(
        out,
        "<svg viewBox=\"0 0 {} 100\" preserveAspectRatio=\"none\" role=\"img\"><title>tokens before and after each compaction, at most {greatest}</title>\
         <polyline points=\"{}\"/></svg>",
        counts.len().saturating_sub(1).max(1) * 10,
        points.join(" ")
    );
}

fn write_compaction(compaction: &JudgedCompaction, listed: ListedFacts, out: &mut String) {
    let _ = writeln!(
        out,
        "<h3>{}</h3><p>{}</p><table>",
        text(&headline(compaction)),
        text(&measures(compaction))
    );
    for class in &compaction.classes {
        write_class(class, out);
    }
    out.push_str("</table><table>");
    for judged in listed_facts(compaction, listed) {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td><code>{}</code></td><td>{}</td></tr>",
            judged.fact.class_name(),
            text(&judged.fact.text),
            text(&place(judged))
        );
    }
    out.push_str("</table>\n");
}

fn write_class(class: &ClassCounts, out: &mut String) {
    let _ = write!(
        out,
        "<tr><td>{}</td><td>{} of {}</td><td class=\"bar-cell\"><div class=\"bar\">",
        class.class,
        class.surviving(),
        class.facts
    );
    for VerdictCount { verdict, facts } in &class.verdicts {
        let name = verdict.word();
        let _ = write!(
            out,
            "<i class=\"{name}\" style=\"flex-grow:{facts}\" title=\"{name} {facts}\"></i>"
        );
    }
    let _ = writeln!(
        out,
        "</div></td><td>{} needed again</td></tr>",
        class.needed_again
    );
}
