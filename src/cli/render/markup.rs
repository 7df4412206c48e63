//! Texts inside HTML and Markdown that stay texts, whatever they hold.

use super::escape::{escape, escape_lines};

/// Text in an element or attribute of HTML, on one line.
pub(crate) fn html(text: &str) -> String {
    entities(&escape(text))
}

/// Text in an element of HTML that keeps its lines: line ends and tabs stay what they are.
pub(crate) fn html_lines(text: &str) -> String {
    entities(&escape_lines(text))
}

fn entities(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

/// Text in a cell or heading of Markdown.
pub(crate) fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in escape(text).chars() {
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

/// Text as code; in HTML's words, since a code span of Markdown cannot hold every text in a table.
pub(crate) fn code(text: &str) -> String {
    format!("<code>{}</code>", cell(text))
}
