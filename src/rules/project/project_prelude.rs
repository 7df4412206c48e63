//! Shared imports and helpers of this family's messages.

pub(super) use crate::base::quoted::name_list;
pub(super) use crate::project::project_fault::{ProjectFault, ProjectFaultKind};
pub(super) use crate::rules::prelude::*;

/// The notation of a name at its place.
#[derive(Clone, Copy, Debug)]
pub(super) enum NameForm<'a> {
    /// A bare key.
    Key,
    /// A quoted text.
    QuotedText,
    /// With or without quotes, like the text it replaces.
    LikeReplaced(&'a str),
}

/// Adds “did you mean” and a fix that writes the name.
pub(super) fn suggest_name(
    finding: Diagnostic,
    span: Span,
    near: Option<&str>,
    form: NameForm<'_>,
) -> Diagnostic {
    let Some(near) = near else { return finding };
    let is_quoted = match form {
        NameForm::Key => false,
        NameForm::QuotedText => true,
        NameForm::LikeReplaced(text) => text.starts_with(['"', '\'']),
    };
    let insert = if is_quoted {
        format!("\"{near}\"")
    } else {
        near.to_owned()
    };
    finding
        .help(format!("did you mean `{near}`?"))
        .fix(Fix::suggested(
            format!("write `{near}`"),
            vec![Edit::replace(span, insert)],
        ))
}

/// Returns the source text of a fault.
pub(super) fn fault_text<'a>(cx: &ConfigCx<'a>, fault: &ProjectFault) -> &'a str {
    cx.config
        .files
        .get(fault.file as usize)
        .map_or("", |file| fault.span.slice(&file.text))
}

/// Returns the whole line of a fault, including its line break.
pub(super) fn fault_line(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Span {
    let Some(file) = cx.config.files.get(fault.file as usize) else {
        return fault.span;
    };
    let position = file.lines.position(&file.text, fault.span.start);
    file.lines
        .line_span(&file.text, position.line)
        .unwrap_or(fault.span)
}

/// Converts a message of the TOML parser to a lower-case fragment.
pub(super) fn as_fragment(message: &str) -> String {
    let mut chars = message.trim_end_matches('.').chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(chars).collect()
    })
}
