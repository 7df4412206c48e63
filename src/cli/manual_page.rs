//! The page of a rule, for the terminal and for `docs/rules/`. Both come from the rule itself.

use super::render::escape::wrap_line;
use super::render::screen::{Paint, Screen};
use super::render::summary;
use crate::base::rule_meta::{Fixable, RuleMeta};
use crate::rules::list::FAMILIES;
use std::fmt::Write as _;

/// Columns of a page if the output has no width of its own.
const DEFAULT_WIDTH: usize = 96;

/// Returns the default severity, such as `error` or `off by default, warning once turned on`.
pub fn severity_text(rule: &RuleMeta) -> String {
    rule.severity.map_or_else(
        || format!("off by default, {} once turned on", rule.when_enabled),
        |severity| severity.to_string(),
    )
}

/// Returns the name of a rule's family.
pub(super) fn family_name(rule: &RuleMeta) -> &'static str {
    FAMILIES
        .iter()
        .find(|family| family.number == rule.code.family())
        .map_or("", |family| family.name)
}

/// Returns ` · safe fix`, ` · suggested fix` or nothing.
fn fix_suffix(rule: &RuleMeta) -> &'static str {
    match rule.fix {
        Fixable::Safe => " · safe fix",
        Fixable::Suggested => " · suggested fix",
        Fixable::None => "",
    }
}

/// Returns the page for the terminal.
pub(super) fn terminal_page(rule: &RuleMeta, screen: Screen) -> String {
    let mut out = String::new();
    let paint = summary::severity_paint(rule.severity.unwrap_or(rule.when_enabled));
    let locked = if rule.locked {
        " · cannot be turned off"
    } else {
        ""
    };
    // Writing to a string cannot fail, here and below.
    let name = screen.paint(paint, rule.name);
    let severity = severity_text(rule);
    let fixes = fix_suffix(rule);
    let _ = writeln!(
        out,
        "{name} {} · {severity} · {}{fixes}{locked}",
        rule.code,
        family_name(rule)
    );
    let _ = writeln!(out, "{}\n", rule.summary);
    let width = screen.width.unwrap_or(DEFAULT_WIDTH).min(DEFAULT_WIDTH);
    // Even parts are prose, odd parts are code.
    for (at, part) in rule.case.split("```").enumerate() {
        if at % 2 == 0 {
            write_prose(&mut out, part, screen, width);
        } else {
            write_code(&mut out, part);
        }
    }
    if !rule.locked {
        let level = if rule.severity.is_none() {
            "warning"
        } else {
            "off"
        };
        let _ = writeln!(out, "in ctxc.toml: [lints] {} = \"{level}\"", rule.name);
    }
    out
}

/// Writes paragraphs, list items and headings: the part of Markdown that the pages use.
fn write_prose(out: &mut String, text: &str, screen: Screen, width: usize) {
    for paragraph in text
        .split("\n\n")
        .map(str::trim)
        .filter(|paragraph| !paragraph.is_empty())
    {
        match paragraph {
            "## Wrong" => out.extend([&*screen.paint(Paint::Error, "wrong"), "\n"]),
            "## Right" => out.extend([&*screen.paint(Paint::Good, "right"), "\n"]),
            _ => {
                for (at, item) in paragraph.split("\n- ").enumerate() {
                    let bullet = if at > 0 { "- " } else { "" };
                    let indent = if item.starts_with("- ") {
                        2
                    } else {
                        bullet.len()
                    };
                    let words: Vec<&str> = item.split_whitespace().collect();
                    let _ = writeln!(
                        out,
                        "{}\n",
                        wrap_line(&format!("{bullet}{}", words.join(" ")), Some(width), indent)
                    );
                }
            }
        }
    }
}

/// Writes the code between two fences. A title line comes from the info string of the first fence:
/// the text after its first word, or `ctxc.toml` for `toml`.
fn write_code(out: &mut String, fenced: &str) {
    let (opening, lines) = fenced.split_once('\n').unwrap_or_default();
    match opening.split_once(' ') {
        Some((_, words)) => out.extend(["  # ", words, "\n"]),
        None if opening == "toml" => out.push_str("  # ctxc.toml\n"),
        None => {}
    }
    for line in lines.lines() {
        let _ = writeln!(out, "{}", format!("  {line}").trim_end());
    }
    out.push('\n');
}

/// Returns the page for `docs/rules/`.
pub fn markdown_page(rule: &RuleMeta) -> String {
    let mut out = format!(
        "# {}\n\n**{}** · {} · {}{}",
        rule.name,
        rule.code,
        severity_text(rule),
        family_name(rule),
        fix_suffix(rule)
    );
    out.push_str(if rule.locked {
        " · cannot be turned off\n\n"
    } else {
        "\n\n"
    });
    if !rule.renamed_from.is_empty() {
        let _ = writeln!(out, "Formerly `{}`.\n", rule.renamed_from.join("`, `"));
    }
    let mut summary = rule.summary.chars();
    let first = summary.next().map(char::to_uppercase).into_iter().flatten();
    let _ = write!(
        out,
        "{}{}.\n\n{}",
        first.collect::<String>(),
        summary.as_str(),
        rule.case
    );
    if !rule.locked {
        let _ = writeln!(
            out,
            "\n## Severity\n\nIn `ctxc.toml`: `[lints]` with `{} = \"error\"`, `\"warning\"`, `\"info\"`, `\"hint\"` or `\"off\"`.",
            rule.name
        );
    }
    out
}
