//! A rule's page, for the terminal and for `docs/rules/`. Both are made from the rule itself.

use super::render::screen::{Paint, Screen};
use super::render::summary;
use super::render::wrap::wrap;
use crate::base::rule_meta::{Example, Fixable, RequestExample, RuleMeta};
use crate::rules::list::FAMILIES;
use std::fmt::Write as _;

/// Columns of a page where the output has no width of its own.
const WIDTH: usize = 96;

/// `error`, or `off by default (warning once turned on)`.
pub fn severity(rule: &RuleMeta) -> String {
    rule.severity.map_or_else(|| format!("off by default, {} once turned on", rule.when_enabled), |severity| severity.to_string())
}

/// The name of a rule's family.
pub(super) fn family(rule: &RuleMeta) -> &'static str {
    FAMILIES.iter().find(|family| family.number == rule.code.family()).map_or("", |family| family.name)
}

/// ` · safe fix`, or nothing.
fn fixes(rule: &RuleMeta) -> &'static str {
    match rule.fix {
        Fixable::Safe => " · safe fix",
        Fixable::Suggested => " · suggested fix",
        Fixable::None => "",
    }
}

/// The page on a terminal.
pub(super) fn terminal(rule: &RuleMeta, screen: Screen) -> String {
    let mut out = String::new();
    let paint = summary::paint(rule.severity.unwrap_or(rule.when_enabled));
    let locked = if rule.locked { " · cannot be turned off" } else { "" };
    // Writing to a string cannot fail, here and below.
    let name = screen.paint(paint, rule.name);
    let severity = severity(rule);
    let fixes = fixes(rule);
    let _ = writeln!(out, "{name} {} · {severity} · {}{fixes}{locked}", rule.code, family(rule));
    let _ = writeln!(out, "{}\n", rule.summary);
    let width = screen.width.unwrap_or(WIDTH).min(WIDTH);
    for block in blocks(rule.page()) {
        match block {
            Block::Text(text) => paragraph(&mut out, &text, "", width),
            Block::Item(text) => paragraph(&mut out, &text, "- ", width),
            Block::Code(lines) => code(&mut out, &lines),
        }
    }
    let (wrong, right) = (screen.paint(Paint::Error, "wrong"), screen.paint(Paint::Good, "right"));
    examples(&mut out, &wrong, &rule.bad());
    requests(&mut out, &wrong, &rule.requests("Wrong"));
    examples(&mut out, &right, &rule.good());
    requests(&mut out, &right, &rule.requests("Right"));
    if !rule.locked {
        let level = if rule.severity.is_none() { "warning" } else { "off" };
        let _ = writeln!(out, "in ctxc.toml: [lints] {} = \"{level}\"", rule.name);
    }
    out
}

fn examples(out: &mut String, title: &str, examples: &[Example]) {
    for example in examples {
        let _ = writeln!(out, "{title}");
        if !example.project.is_empty() {
            let _ = writeln!(out, "  # ctxc.toml");
            code(out, example.project);
        }
        code(out, example.template);
    }
}

fn requests(out: &mut String, title: &str, requests: &[RequestExample]) {
    for request in requests {
        let _ = writeln!(out, "{}", format!("{title} {}", request.words).trim_end());
        code(out, request.body);
    }
}

fn code(out: &mut String, text: &str) {
    for line in text.lines() {
        let _ = writeln!(out, "{}", format!("  {line}").trim_end());
    }
    out.push('\n');
}

fn paragraph(out: &mut String, text: &str, bullet: &str, width: usize) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = format!("{bullet}{}", words.join(" "));
    let _ = writeln!(out, "{}\n", wrap(&line, Some(width), bullet.len()));
}

/// The parts of a page: as much of Markdown as the pages use.
enum Block {
    Text(String),
    Item(String),
    Code(String),
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut fenced: Option<String> = None;
    let mut fresh = true;
    for line in page.lines() {
        if line.starts_with("```") {
            match fenced.take() {
                Some(code) => blocks.push(Block::Code(code)),
                None => fenced = Some(String::new()),
            }
            fresh = true;
            continue;
        }
        if let Some(code) = &mut fenced {
            code.push_str(line);
            code.push('\n');
            continue;
        }
        let item = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
        match (item, blocks.last_mut()) {
            _ if line.trim().is_empty() => fresh = true,
            (Some(item), _) => {
                blocks.push(Block::Item(item.to_string()));
                fresh = false;
            }
            (None, Some(Block::Text(text) | Block::Item(text))) if !fresh => {
                text.push(' ');
                text.push_str(line);
            }
            (None, _) => {
                blocks.push(Block::Text(line.to_string()));
                fresh = false;
            }
        }
    }
    blocks.extend(fenced.map(Block::Code));
    blocks
}

/// The page in `docs/rules/`.
pub fn markdown(rule: &RuleMeta) -> String {
    let mut out = format!("# {}\n\n**{}** · {} · {}{}", rule.name, rule.code, severity(rule), family(rule), fixes(rule));
    out.push_str(if rule.locked { " · cannot be turned off\n\n" } else { "\n\n" });
    if !rule.renamed_from.is_empty() {
        let _ = writeln!(out, "Formerly `{}`.\n", rule.renamed_from.join("`, `"));
    }
    let mut summary = rule.summary.chars();
    let first = summary.next().map(char::to_uppercase).into_iter().flatten();
    let _ = write!(out, "{}{}.\n\n{}", first.collect::<String>(), summary.as_str(), rule.case);
    if !rule.locked {
        let _ = writeln!(
            out,
            "\n## Severity\n\nIn `ctxc.toml`: `[lints]` with `{} = \"error\"`, `\"warning\"`, `\"info\"`, `\"hint\"` or `\"off\"`.",
            rule.name
        );
    }
    out
}
