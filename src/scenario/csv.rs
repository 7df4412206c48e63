//! Reads CSV as RFC 4180 defines it. Written here because it is sixty lines, and because each
//! record needs the number of the line that it starts on.

use crate::base::span::Span;

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvRecord {
    /// The number of the line that the record starts on, from 1.
    pub line: u32,
    /// The fields in order.
    pub fields: Vec<String>,
    /// The place of each field, with its quotes.
    pub spans: Vec<Span>,
}

/// Reads a table. Empty lines give no record.
///
/// # Errors
/// The line of the mistake, and its description.
pub fn parse_records(text: &str) -> Result<Vec<CsvRecord>, (u32, &'static str)> {
    read_by(text, ',')
}

/// The delimiter of a table by its first line: a comma; where it has none, a semicolon or a tab.
pub fn delimiter(text: &str) -> char {
    let head = text.lines().next().unwrap_or_default();
    [',', ';', '\t']
        .into_iter()
        .find(|delimiter| head.contains(*delimiter))
        .unwrap_or(',')
}

/// The same as [`parse_records`], with this sign between fields.
///
/// # Errors
/// The line of the first violation of the format, and the reason.
pub fn read_by(text: &str, delimiter: char) -> Result<Vec<CsvRecord>, (u32, &'static str)> {
    let mut records = Vec::new();
    let mut record = CsvRecord {
        line: 1,
        fields: Vec::new(),
        spans: Vec::new(),
    };
    let mut field = String::new();
    let mut line = 1;
    let mut rest = text;
    loop {
        let start = text.len() - rest.len();
        if let Some(quoted) = rest.strip_prefix('"') {
            let (value, after) = take_quoted(quoted).ok_or((line, "a quote is never closed"))?;
            line += value.matches('\n').count() as u32;
            field.push_str(&value);
            rest = after;
            if !rest.is_empty() && !rest.starts_with([delimiter, '\n', '\r']) {
                return Err((line, "text follows a closing quote"));
            }
        } else {
            let end = rest.find([delimiter, '\n', '\r']).unwrap_or(rest.len());
            let (value, after) = rest.split_at(end);
            if value.contains('"') {
                return Err((
                    line,
                    "a quote stands inside a field that does not start with one",
                ));
            }
            field.push_str(value);
            rest = after;
        }
        record.fields.push(std::mem::take(&mut field));
        record
            .spans
            .push(Span::from_offsets(start, text.len() - rest.len()));
        if let Some(after) = rest.strip_prefix(delimiter) {
            rest = after;
            continue;
        }
        let is_blank = record.fields.len() == 1 && record.fields.iter().all(String::is_empty);
        if !is_blank {
            records.push(record);
        }
        if rest.is_empty() {
            return Ok(records);
        }
        rest = rest
            .strip_prefix("\r\n")
            .or_else(|| rest.strip_prefix(['\n', '\r']))
            .unwrap_or(rest);
        line += 1;
        record = CsvRecord {
            line,
            fields: Vec::new(),
            spans: Vec::new(),
        };
        if rest.is_empty() {
            return Ok(records);
        }
    }
}

/// Splits a text after an opening quote into the unescaped value and the text after the closing
/// quote.
fn take_quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut rest = text;
    loop {
        let (before, after) = rest.split_once('"')?;
        value.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                value.push('"');
                rest = more;
            }
            None => return Some((value, after)),
        }
    }
}
