//! Escapes any text for HTML and Markdown.

use super::escape::{escape_line, escape_lines};

/// Escapes a text for an element or attribute of HTML, on one line.
pub(crate) fn escape_html(text: &str) -> String {
    replace_entities(&escape_line(text))
}

/// Escapes a text for an element of HTML, with its line breaks and tabs.
pub(crate) fn escape_html_lines(text: &str) -> String {
    replace_entities(&escape_lines(text))
}

fn replace_entities(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// Escapes a text for a table cell or heading of Markdown.
pub(crate) fn escape_cell(text: &str) -> String {
    let mut out = String::new();
    for c in escape_line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// Returns a text as code, in HTML, because a code span of Markdown cannot contain every text in a
/// table.
pub(crate) fn code_element(text: &str) -> String {
    format!("<code>{}</code>", escape_cell(text))
}
