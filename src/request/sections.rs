//! Sections of a text: the text below a heading, in an XML element, or in a named fence.

use std::ops::Range;

/// A named part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its heading, the name of its element, or the name behind its fence.
    pub title: String,
    /// Its bytes, from its first line to the next section of its kind.
    pub range: Range<usize>,
}

/// The end of a section.
enum SectionEnd {
    /// A heading of this level or above.
    Heading(usize),
    /// The end of its element.
    Element(String),
}

/// Returns the sections of a text, in the order of their beginnings. Headings are those of Markdown
/// (`## Runbook`), elements stand alone on their lines (`<rules>` … `</rules>`), and fences have a
/// name behind their signs.
pub fn find_sections(text: &str) -> Vec<Section> {
    let mut found: Vec<Section> = Vec::new();
    let mut open: Vec<(usize, SectionEnd)> = Vec::new();
    // The sign of the open fence, and its section if it has a name.
    let mut fence: Option<(String, Option<usize>)> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let bare = line.trim();
        let sign: String = bare
            .chars()
            .take_while(|c| *c == '`' || *c == '~')
            .collect();
        if let Some((opened, section)) = &fence {
            if sign.len() >= opened.len()
                && sign.starts_with(opened.as_str())
                && bare.len() == sign.len()
            {
                if let Some(section) = section.and_then(|at| found.get_mut(at)) {
                    section.range.end = end;
                }
                fence = None;
            }
        } else if sign.len() >= 3 {
            let name = bare.get(sign.len()..).unwrap_or("").trim();
            let is_file = name.contains(['.', '/']);
            let section = is_file.then(|| {
                found.push(Section {
                    title: name.to_owned(),
                    range: start..text.len(),
                });
                found.len() - 1
            });
            fence = Some((sign, section));
        } else if let Some((level, title)) = parse_heading(bare) {
            close_sections(
                &mut open,
                &mut found,
                start,
                |end| matches!(end, SectionEnd::Heading(own) if *own >= level),
            );
            open.push((found.len(), SectionEnd::Heading(level)));
            found.push(Section {
                title,
                range: start..text.len(),
            });
        } else if let Some(name) = bare
            .strip_prefix("</")
            .and_then(|rest| rest.strip_suffix('>'))
        {
            if open
                .iter()
                .any(|(_, own)| matches!(own, SectionEnd::Element(own) if own == name))
            {
                // Sections inside the element end with it.
                while let Some((at, own)) = open.pop() {
                    let is_element = matches!(&own, SectionEnd::Element(own) if own == name);
                    if let Some(section) = found.get_mut(at) {
                        section.range.end = if is_element { end } else { start };
                    }
                    if is_element {
                        break;
                    }
                }
            }
        } else if let Some(name) = parse_element(bare) {
            open.push((found.len(), SectionEnd::Element(name.clone())));
            found.push(Section {
                title: name,
                range: start..text.len(),
            });
        }
        start = end;
    }
    found
}

/// Closes the innermost sections as long as `ends` accepts them.
fn close_sections(
    open: &mut Vec<(usize, SectionEnd)>,
    found: &mut [Section],
    at: usize,
    ends: impl Fn(&SectionEnd) -> bool,
) {
    while open.last().is_some_and(|(_, end)| ends(end)) {
        if let Some(section) = open.pop().and_then(|(number, _)| found.get_mut(number)) {
            section.range.end = at;
        }
    }
}

fn parse_heading(line: &str) -> Option<(usize, String)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line
        .get(level..)?
        .strip_prefix(' ')?
        .trim()
        .trim_end_matches('#')
        .trim_end();
    ((1..=6).contains(&level) && !title.is_empty()).then(|| (level, title.to_owned()))
}

fn parse_element(line: &str) -> Option<String> {
    let inner = line.strip_prefix('<')?.strip_suffix('>')?;
    let name = inner.split(' ').next().unwrap_or(inner);
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':' | '.'));
    (is_name && !inner.ends_with('/') && !inner.contains('<')).then(|| name.to_owned())
}
