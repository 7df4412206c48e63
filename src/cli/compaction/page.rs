//! The report as Markdown for a pull request, and as a page: one sequence of blocks, two writers. A
//! page also has a bar for each class of facts, and a line for the tokens of each session.

use super::prompt_line::parts;
use super::report::{CompactionReport, ReadSession};
use super::report_text::{
    LEGEND, examples_line, headline, listed_facts, measures, place, price, prompt_title,
    refetch_place, unread_notes, verdict_lines,
};
use crate::base::number::format_thousands;
use crate::cli::render::markup::{code_element, escape_html};
use crate::schema::json::names::COMPACTION;
use crate::session::analysis::{ClassCounts, JudgedCompaction, ListedFacts, VerdictCount};
use crate::session::verdict::FactVerdict;
use std::fmt::Write as _;

const STYLE: &str = "\
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}
h1{font-size:1.4rem;line-height:1.3}h2{font-size:1.15rem;margin-top:2rem}h3{font-size:1rem}h1,h2,h3,p,blockquote,code{overflow-wrap:anywhere}.wide{overflow-x:auto}
blockquote{margin:.5rem 0;padding:.6rem 1rem;background:#8882;border-left:4px solid #4a7fc1}
.bar{display:flex;height:1rem;min-width:5rem;background:#8882}.bar i{display:block}
.kept{background:#2a9d6f}.reloaded{background:#4a7fc1}.unseen{background:#888}.recoverable{background:#e0a030}.lost,.mutated{background:#d1495b}
table{border-collapse:collapse;width:100%;min-width:40rem;margin:.5rem 0 1rem}
th,td{padding:.2rem .6rem .2rem 0;vertical-align:top;text-align:left}th{font-weight:600;border-bottom:1px solid #8886}
td.number,th.number{text-align:right;white-space:nowrap}td.bar-cell{width:40%}
svg{width:100%;height:5rem;background:#8881}polyline{fill:none;stroke:#4a7fc1;stroke-width:2;vector-effect:non-scaling-stroke}
";

/// A part of the report.
enum Block<'r> {
    /// The name of a session.
    Session(&'r str),
    /// The headline of a compaction.
    Compaction(String),
    Paragraph(String),
    /// A text of which parts may come from the session.
    Note(String),
    /// The line for a compaction prompt.
    Quote(&'r str),
    /// The tokens before and after each compaction.
    Tokens(Vec<u64>),
    Table(Table<'r>),
}

struct Table<'r> {
    /// The titles, and those of numbers.
    columns: Vec<Column>,
    rows: Vec<Vec<Cell<'r>>>,
}

#[derive(Clone, Copy)]
enum Column {
    Text(&'static str),
    Number(&'static str),
    /// A picture, which Markdown leaves out.
    Bar,
}

enum Cell<'r> {
    Text(String),
    /// A text of the session.
    Code(String),
    Bar(&'r ClassCounts),
}

/// Returns the parts of the report behind its verdict.
fn blocks(report: &CompactionReport, listed: ListedFacts) -> Vec<Block<'_>> {
    let lines = verdict_lines(report).into_iter().skip(1);
    let mut out: Vec<Block<'_>> = lines.map(Block::Paragraph).collect();
    out.extend(prompt_title(report).map(Block::Paragraph));
    if let Some(line) = &report.prompt_line {
        out.push(Block::Quote(line));
        out.push(Block::Note(examples_line(report)));
    }
    for session in &report.sessions {
        out.push(Block::Session(&session.name));
        out.extend(unread_notes(&session.rows).into_iter().map(Block::Note));
        out.push(Block::Tokens(token_counts(session)));
        for compaction in &session.judged.compactions {
            out.push(Block::Compaction(headline(compaction)));
            out.push(Block::Paragraph(measures(compaction)));
            let tables = [
                refetch_table(compaction),
                fact_table(compaction, listed),
                class_table(compaction),
            ];
            let tables = tables.into_iter().filter(|table| !table.rows.is_empty());
            out.extend(tables.map(Block::Table));
        }
    }
    out.push(Block::Paragraph(LEGEND.to_owned()));
    out
}

fn refetch_table(compaction: &JudgedCompaction) -> Table<'_> {
    let rows = compaction.later.refetches.iter().map(|refetch| {
        vec![
            Cell::Text(price(refetch)),
            Cell::Code(refetch.name.clone()),
            Cell::Code(parts(refetch)),
            Cell::Text(refetch_place(refetch)),
        ]
    });
    Table {
        columns: vec![
            Column::Number("size"),
            Column::Text("fetched again"),
            Column::Text("parts used"),
            Column::Text("place"),
        ],
        rows: rows.collect(),
    }
}

fn fact_table(compaction: &JudgedCompaction, listed: ListedFacts) -> Table<'_> {
    Table {
        columns: ["class", "fact", "place"].map(Column::Text).to_vec(),
        rows: listed_facts(compaction, listed)
            .into_iter()
            .map(|judged| {
                vec![
                    Cell::Text(judged.fact.class_name()),
                    Cell::Code(judged.fact.text.clone()),
                    Cell::Code(place(judged)),
                ]
            })
            .collect(),
    }
}

/// Returns the counts of each class, with a column for each verdict that occurs.
fn class_table(compaction: &JudgedCompaction) -> Table<'_> {
    let classes = &compaction.classes;
    let is_there = |verdict: &FactVerdict| classes.iter().any(|own| own.count(*verdict) > 0);
    let verdicts: Vec<FactVerdict> = FactVerdict::ALL.into_iter().filter(is_there).collect();
    let mut columns = vec![Column::Text("class"), Column::Bar];
    columns.extend(
        verdicts
            .iter()
            .map(|verdict| Column::Number(verdict.word())),
    );
    columns.push(Column::Number("needed again"));
    let rows = classes.iter().map(|own| {
        let mut row = vec![Cell::Text(own.class.clone()), Cell::Bar(own)];
        let counts = verdicts
            .iter()
            .map(|verdict| own.count(*verdict).to_string());
        row.extend(counts.map(Cell::Text));
        row.push(Cell::Text(own.needed_again.to_string()));
        row
    });
    Table {
        columns,
        rows: rows.collect(),
    }
}

/// Returns the tokens before and after each compaction, as far as they are known.
fn token_counts(session: &ReadSession) -> Vec<u64> {
    let points = session.judged.compactions.iter().map(|own| &own.point);
    points
        .flat_map(|point| [point.tokens_before, point.tokens_after])
        .flatten()
        .collect()
}

/// Renders the report as Markdown. Texts of the session are code, so that no name in them is
/// mentioned and no address is linked.
pub(super) fn render_markdown(report: &CompactionReport, listed: ListedFacts) -> String {
    let title = verdict_lines(report).swap_remove(0);
    let mut out = format!("<!-- {COMPACTION} -->\n# {title}\n");
    for block in blocks(report, listed) {
        let _ = match block {
            Block::Session(name) => writeln!(out, "\n## {}", code_element(name)),
            Block::Compaction(line) => writeln!(out, "\n### {}", code_element(&line)),
            Block::Paragraph(text) => writeln!(out, "\n{text}"),
            Block::Note(text) => writeln!(out, "\n{}", code_element(&text)),
            Block::Quote(line) => writeln!(out, "\n> {}", code_element(line)),
            Block::Tokens(_) => Ok(()),
            Block::Table(table) => {
                write_markdown_table(&table, &mut out);
                Ok(())
            }
        };
    }
    out
}

fn write_markdown_table(table: &Table<'_>, out: &mut String) {
    let columns = table.columns.iter();
    let (titles, marks): (Vec<&str>, Vec<&str>) = columns
        .filter_map(|column| match column {
            Column::Text(title) => Some((*title, "---")),
            Column::Number(title) => Some((*title, "--:")),
            Column::Bar => None,
        })
        .unzip();
    let _ = writeln!(out, "\n| {} |\n|{}|", titles.join(" | "), marks.join("|"));
    for row in &table.rows {
        let cells: Vec<String> = row
            .iter()
            .filter_map(|cell| match cell {
                Cell::Text(text) => Some(text.clone()),
                Cell::Code(text) if text.is_empty() => Some(String::new()),
                Cell::Code(text) => Some(code_element(text)),
                Cell::Bar(_) => None,
            })
            .collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
}

/// Renders the report as a self-contained page.
pub(super) fn render_page(report: &CompactionReport, listed: ListedFacts) -> String {
    let title = verdict_lines(report).swap_remove(0);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"generator\" content=\"{COMPACTION}\">\n<title>Compactions</title>\n<style>{STYLE}</style>\n<h1>{}</h1>\n",
        escape_html(&title)
    );
    for block in blocks(report, listed) {
        let (tag, text) = match &block {
            Block::Session(name) => ("h2", *name),
            Block::Compaction(line) => ("h3", line.as_str()),
            Block::Paragraph(text) | Block::Note(text) => ("p", text.as_str()),
            Block::Quote(line) => ("blockquote", *line),
            Block::Tokens(counts) => {
                write_tokens(counts, &mut out);
                continue;
            }
            Block::Table(table) => {
                write_page_table(table, &mut out);
                continue;
            }
        };
        let _ = writeln!(out, "<{tag}>{}</{tag}>", escape_html(text));
    }
    out.push_str("</html>\n");
    out
}

/// Draws the tokens before and after each compaction as a line; a single count is no line.
fn write_tokens(counts: &[u64], out: &mut String) {
    let greatest = counts.iter().copied().max().unwrap_or(0).max(1);
    if counts.len() < 2 {
        return;
    }
    let height = |count: u64| 100 - u128::from(count) * 100 / u128::from(greatest);
    let points = counts.iter().enumerate();
    let points: Vec<String> = points
        .map(|(at, count)| format!("{},{}", at * 10, height(*count)))
        .collect();
    let words: Vec<String> = counts
        .iter()
        .map(|count| format_thousands(usize::try_from(*count).unwrap_or(usize::MAX)))
        .collect();
    let _ = writeln!(
        out,
        "<p>tokens before and after each compaction: {}</p>\n\
         <svg viewBox=\"0 0 {} 100\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><polyline points=\"{}\"/></svg>",
        words.join(" → "),
        (counts.len() - 1) * 10,
        points.join(" ")
    );
}

fn write_page_table(table: &Table<'_>, out: &mut String) {
    out.push_str("<div class=\"wide\"><table><tr>");
    for column in &table.columns {
        let _ = match column {
            Column::Text(title) => write!(out, "<th>{title}</th>"),
            Column::Number(title) => write!(out, "<th class=\"number\">{title}</th>"),
            Column::Bar => write!(out, "<th></th>"),
        };
    }
    out.push_str("</tr>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (cell, column) in row.iter().zip(&table.columns) {
            let _ = match (cell, column) {
                (Cell::Text(text), Column::Number(_)) => {
                    write!(out, "<td class=\"number\">{}</td>", escape_html(text))
                }
                (Cell::Text(text), _) => write!(out, "<td>{}</td>", escape_html(text)),
                (Cell::Code(text), _) => {
                    write!(out, "<td><code>{}</code></td>", escape_html(text))
                }
                (Cell::Bar(class), _) => {
                    write!(out, "<td class=\"bar-cell\">{}</td>", class_bar(class))
                }
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
}

/// Returns the verdicts on a class as a bar.
fn class_bar(class: &ClassCounts) -> String {
    let mut out = "<div class=\"bar\">".to_owned();
    for VerdictCount { verdict, facts } in &class.verdicts {
        let name = verdict.word();
        let _ = write!(
            out,
            "<i class=\"{name}\" style=\"flex-grow:{facts}\" title=\"{name} {facts}\"></i>"
        );
    }
    out + "</div>"
}
