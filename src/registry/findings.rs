//! Findings as bytes of the cache, so that the warnings of a file that was not read again are still reported.

use super::codec::{Decoder, Encoder};
use crate::base::diagnostic::{Diagnostic, Label};
use crate::base::fix::{Applicability, Edit, Fix};
use crate::base::rule_meta::{RuleMeta, Severity};
use crate::base::source::Position;
use crate::rules::list;
use std::collections::BTreeMap;
use std::sync::Arc;

const SEVERITIES: [Severity; 4] = [Severity::Error, Severity::Warning, Severity::Info, Severity::Hint];

/// Appends a finding.
pub(super) fn encode(finding: &Diagnostic, out: &mut Encoder) {
    out.u32(u32::from(finding.rule.code.0));
    out.u8(finding.severity as u8);
    out.str(&finding.message);
    out.str(&finding.path);
    out.span(finding.span);
    position(finding.start, out);
    position(finding.end, out);
    out.str(&finding.here);
    out.list(&finding.labels, |out, label| {
        out.optional(label.path.as_deref());
        out.span(label.span);
        position(label.start, out);
        out.str(&label.text);
    });
    out.list(&finding.notes, |out, note| out.str(note));
    out.optional(finding.help.as_deref());
    out.optional(finding.task.as_deref());
    out.list(&finding.fixes, |out, fix| {
        out.str(&fix.title);
        out.u8(u8::from(fix.applicability == Applicability::Suggested));
        out.list(&fix.edits, |out, edit| {
            out.span(edit.span);
            out.str(&edit.insert);
        });
    });
    out.str(&finding.fingerprint);
}

fn position(position: Position, out: &mut Encoder) {
    out.u32(position.line);
    out.u32(position.column);
    out.u32(position.utf16);
}

/// Reads findings one after the other.
#[derive(Debug)]
pub(super) struct Reader {
    rules: BTreeMap<u32, &'static RuleMeta>,
    /// The path of the last finding: those of one file stand together.
    path: Arc<str>,
}

impl Reader {
    pub(super) fn new() -> Self {
        let rules = list::all().map(|rule| (u32::from(rule.meta.code.0), &rule.meta)).collect();
        Self { rules, path: Arc::from("") }
    }

    /// All findings in some bytes; `None` when they are damaged.
    pub(super) fn read(&mut self, bytes: &[u8], found: &mut Vec<Diagnostic>) -> Option<()> {
        let mut input = Decoder::new(bytes);
        while !input.is_done() {
            found.push(self.next(&mut input)?);
        }
        Some(())
    }

    fn next(&mut self, input: &mut Decoder<'_>) -> Option<Diagnostic> {
        let rule = *self.rules.get(&input.u32()?)?;
        let severity = *SEVERITIES.get(input.u8()? as usize)?;
        let message = input.str()?.to_owned();
        let path = input.str()?;
        if *self.path != *path {
            self.path = Arc::from(path);
        }
        Some(Diagnostic {
            rule,
            severity,
            message,
            path: Arc::clone(&self.path),
            span: input.span()?,
            start: read_position(input)?,
            end: read_position(input)?,
            here: input.str()?.to_owned(),
            labels: input.list(|input| {
                Some(Label {
                    path: input.optional()?.map(Arc::from),
                    span: input.span()?,
                    start: read_position(input)?,
                    text: input.str()?.to_owned(),
                })
            })?,
            notes: input.list(|input| input.str().map(str::to_owned))?,
            help: input.optional()?.map(str::to_owned),
            task: input.optional()?.map(Arc::from),
            fixes: input.list(read_fix)?,
            fingerprint: input.str()?.to_owned(),
        })
    }
}

fn read_position(input: &mut Decoder<'_>) -> Option<Position> {
    Some(Position { line: input.u32()?, column: input.u32()?, utf16: input.u32()? })
}

fn read_fix(input: &mut Decoder<'_>) -> Option<Fix> {
    let title = input.str()?.to_owned();
    let applicability = if input.u8()? == 1 { Applicability::Suggested } else { Applicability::Safe };
    let edits = input.list(|input| Some(Edit { span: input.span()?, insert: input.str()?.to_owned() }))?;
    Some(Fix { title, applicability, edits })
}

#[cfg(test)]
mod tests {
    use super::{Reader, encode};
    use crate::base::diagnostic::Diagnostic;
    use crate::base::fix::{Edit, Fix};
    use crate::base::source::Position;
    use crate::base::span::Span;
    use crate::registry::codec::Encoder;
    use crate::rules::list;
    use std::sync::Arc;

    #[test]
    fn a_finding_survives_the_cache() {
        let rule = &list::all().last().unwrap().meta;
        let path: Arc<str> = Arc::from("templates/ü.xml");
        let mut finding = Diagnostic::new(rule, &path, Span::new(4, 9), "looks up “fresh” context")
            .here("here")
            .label(Span::at(1), "first")
            .label_in(Arc::from("ctxc.toml"), Span::at(2), Position { line: 1, column: 2, utf16: 3 }, "there")
            .note("a")
            .help("do it")
            .fix(Fix::safe("safe", vec![Edit::insert(3, "x")]))
            .fix(Fix::suggested("other", vec![Edit::delete(Span::new(1, 2))]));
        finding.task = Some(Arc::from("t"));
        finding.locate("<task/>\n", &crate::base::source::LineIndex::new("<task/>\n"));
        let mut out = Encoder::default();
        encode(&finding, &mut out);
        encode(&Diagnostic::new(rule, &path, Span::at(0), "bare"), &mut out);
        let mut found = Vec::new();
        Reader::new().read(&out.bytes, &mut found).unwrap();
        assert_eq!(format!("{:?}", found.first().unwrap()), format!("{finding:?}"));
        assert_eq!(found.get(1).unwrap().message, "bare");
        for end in 1..out.bytes.len() {
            let mut some = Vec::new();
            let read = Reader::new().read(&out.bytes[..end], &mut some);
            assert!(read.is_none() || some.len() == 1, "cut at {end}");
        }
    }
}
