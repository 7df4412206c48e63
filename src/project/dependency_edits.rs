//! Changes `[dependencies]` in the text of a project file; every other byte stays as its author
//! wrote it.

use super::dependencies::PackageSource;
use crate::base::span::Span;
use toml::de::{DeTable, DeValue};

/// The section.
const SECTION: &str = "dependencies";

/// Returns the text with a package at this source: a new line, or a new source in its line. `None`
/// if the section is written in a form that has no place for it.
pub fn set_dependency(text: &str, name: &str, source: &PackageSource) -> Option<String> {
    let line = format!("\"{name}\" = \"{source}\"");
    let (tree, _) = DeTable::parse_recoverable(text);
    let tree = tree.get_ref();
    let edited = match tree.get(SECTION).map(toml::Spanned::get_ref) {
        Some(DeValue::Table(table)) => match table.get(name) {
            Some(value) => {
                let source_value = if let DeValue::Table(own) = value.get_ref() {
                    own.get("source")?
                } else {
                    value
                };
                let span = to_span(&source_value.span());
                replace(text, span, &format!("\"{source}\""))?
            }
            None => insert_line(text, table, &line)?,
        },
        Some(_) => return None,
        None => append_section(text, &line),
    };
    has_only_change(text, &edited, name, Some(source)).then_some(edited)
}

/// Returns the text without a package; `None` if it is written in a form that has no line of its own.
pub fn remove_dependency(text: &str, name: &str) -> Option<String> {
    let (tree, _) = DeTable::parse_recoverable(text);
    let DeValue::Table(table) = tree.get_ref().get(SECTION)?.get_ref() else {
        return None;
    };
    let (key, value) = table.get_key_value(name)?;
    // A table of its own, `[dependencies."acme/rules"]`, ends before the next header.
    let is_inline = !matches!(value.get_ref(), DeValue::Table(own)
        if own.values().any(|inner| inner.span().start >= value.span().end));
    let end = if is_inline {
        line_end(text, value.span().end)
    } else {
        let rest = text.get(value.span().end..)?;
        let next = rest.find("\n[").map_or(rest.len(), |at| at + 1);
        value.span().end + next
    };
    let start = text
        .get(..key.span().start)?
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let edited = replace(text, Span::from_offsets(start, end), "")?;
    has_only_change(text, &edited, name, None).then_some(edited)
}

/// Adds a line behind the last entry of a section with a header, or directly below the header.
fn insert_line(text: &str, table: &DeTable<'_>, line: &str) -> Option<String> {
    let last = table.iter().map(|(_, value)| value.span().end).max();
    let header = text
        .lines()
        .find(|line| line.trim_start().starts_with("[dependencies]"))?;
    let header_end = header.as_ptr() as usize - text.as_ptr() as usize + header.len();
    let at = line_end(text, last.unwrap_or(header_end).max(header_end));
    let before = if text.get(..at)?.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    replace(
        text,
        Span::from_offsets(at, at),
        &format!("{before}{line}\n"),
    )
}

fn append_section(text: &str, line: &str) -> String {
    let gap = match text {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    format!("{text}{gap}[{SECTION}]\n{line}\n")
}

/// The offset behind the end of the line.
fn line_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.find('\n').map_or(text.len(), |end| at + end + 1)
}

fn replace(text: &str, span: Span, new: &str) -> Option<String> {
    let (start, end) = (span.start as usize, span.end as usize);
    Some([text.get(..start)?, new, text.get(end..)?].concat())
}

fn to_span(range: &std::ops::Range<usize>) -> Span {
    Span::from_offsets(range.start, range.end)
}

/// True if two texts differ in the source of one package and in nothing else.
fn has_only_change(before: &str, after: &str, name: &str, source: Option<&PackageSource>) -> bool {
    let (Ok(mut before), Ok(mut after)) = (before.parse::<toml::Table>(), after.parse()) else {
        return false;
    };
    let found = take_source(&mut after, name);
    take_source(&mut before, name);
    let wanted = source.map(|source| toml::Value::from(source.to_string()));
    before == after && found == wanted
}

/// Takes a package out of a project file, and returns its source.
fn take_source(project: &mut toml::Table, name: &str) -> Option<toml::Value> {
    let section = project.get_mut(SECTION)?.as_table_mut()?;
    let own = section.remove(name);
    if section.is_empty() {
        project.remove(SECTION);
    }
    let mut own = own?;
    match own.as_table_mut() {
        Some(table) => table.remove("source"),
        None => Some(own),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/project/dependency_edits.rs"]
mod tests;
