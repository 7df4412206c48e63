//! CTX008: bytes that are not text, or a declared encoding that is not supported.

use crate::base::source::LineIndex;
use crate::rules::prelude::*;
use crate::syntax::decode::DecodeFault;
use crate::syntax::fault::XmlFaultKind;
use std::sync::Arc;

/// A guessed encoding could give an agent characters that the author did not write.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        8,
        "undecodable",
        "a file is neither UTF-8 nor UTF-16, or declares another encoding"
    )
    .with_fix(Fixable::Safe),
    Check::Syntax(&[(XmlFaultKind::UnsupportedEncoding, report_declared_encoding)]),
);

fn report_declared_encoding(cx: &SyntaxCx<'_>) -> Diagnostic {
    cx.finding(format!(
        "the XML declaration says {}; the file was read as UTF-8",
        cx.quoted_text()
    ))
    .here("expected UTF-8")
    .note("every character of the file is valid UTF-8")
    .fix(Fix::safe(
        "declare UTF-8",
        vec![Edit::replace(cx.span, "UTF-8")],
    ))
}

/// Returns the finding for a file that could not be decoded. Without a text, the span counts bytes
/// of the file.
pub(crate) fn report(path: &Arc<str>, fault: &DecodeFault) -> Diagnostic {
    let (message, help) = match fault {
        DecodeFault::InvalidUtf8 {
            offset,
            declared: None,
        } => (
            format!("byte {offset} is not part of a UTF-8 character"),
            "save the file as UTF-8".to_owned(),
        ),
        DecodeFault::InvalidUtf8 {
            offset,
            declared: Some(name),
        } => (
            format!(
                "byte {offset} is not part of a UTF-8 character; the file says that it is {name}"
            ),
            format!("convert it, `iconv -f {name} -t UTF-8`, and declare UTF-8"),
        ),
        DecodeFault::LoneSurrogate { offset } => (
            format!("byte {offset} begins half of a UTF-16 pair"),
            "save the file as UTF-8".to_owned(),
        ),
        DecodeFault::OddLength { .. } => (
            "the file is UTF-16 and ends in the middle of a character".to_owned(),
            "restore the file and save it as UTF-8".to_owned(),
        ),
        DecodeFault::Unsupported { encoding } => (
            format!("the file looks like {encoding}, which is not read"),
            "save the file as UTF-8".to_owned(),
        ),
        DecodeFault::Contradiction { declared, found } => (
            format!("the XML declaration says {declared}; the bytes are {found}"),
            "remove `encoding=\"…\"` from the first line, or save the file as it says".to_owned(),
        ),
    };
    let offset = u32::try_from(fault.offset()).unwrap_or(u32::MAX);
    let mut diagnostic = Diagnostic::new(&RULE.meta, path, Span::empty_at(offset), message)
        .note("templates are UTF-8, or UTF-16 with a byte order mark; nothing else of this file was checked")
        .help(help);
    diagnostic.locate("", &LineIndex::new(""));
    diagnostic
}
