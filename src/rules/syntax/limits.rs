//! CTX030–CTX036: limits on input. Larger input is generated or malicious. Each limit can be raised
//! by an option.

use crate::rules::prelude::*;
use crate::syntax::fault::XmlFaultKind;
use crate::syntax::limits::XmlLimits;

/// A limit, and the message for input that exceeds it.
#[derive(Debug)]
struct InputLimit {
    rule: Rule,
    /// Its value in this run.
    value: fn(&XmlLimits) -> u64,
    /// The option that raises it, without its dashes.
    option: &'static str,
    /// The counted things.
    counts: &'static str,
    /// The message, with `{limit}` for the value and `{name}` for the source text of the fault.
    message: &'static str,
    /// The label of the fault's span.
    here: &'static str,
}

/// All limits. Reading stops where one is exceeded, so that the cost of any input is bounded.
static INPUT_LIMITS: &[&InputLimit] = &[
    &InputLimit {
        rule: Rule::new(
            meta!(
                locked_error,
                30,
                "too-deep",
                "elements are nested deeper than the limit"
            ),
            Check::Syntax(&[(XmlFaultKind::TooDeep, report)]),
        ),
        value: |limits| limits.depth.into(),
        option: "max-depth",
        counts: "elements inside each other",
        message: "`<{name}>` would be nested more than {limit} deep",
        here: "opened here",
    },
    &InputLimit {
        rule: Rule::new(
            meta!(
                locked_error,
                31,
                "too-many-attributes",
                "an element has more attributes than the limit"
            ),
            Check::Syntax(&[(XmlFaultKind::TooManyAttributes, report)]),
        ),
        value: |limits| limits.attributes.into(),
        option: "max-attributes",
        counts: "attributes",
        message: "`<{name}>` has more than {limit} attributes",
        here: "this element",
    },
    &InputLimit {
        rule: Rule::new(
            meta!(
                locked_error,
                32,
                "too-many-namespaces",
                "more namespaces are in scope than the limit"
            ),
            Check::Syntax(&[(XmlFaultKind::TooManyNamespaces, report)]),
        ),
        value: |limits| limits.namespaces.into(),
        option: "max-namespaces",
        counts: "namespace declarations",
        message: "`{name}` is one namespace declaration more than {limit} in scope",
        here: "one too many",
    },
    &InputLimit {
        rule: Rule::new(
            meta!(
                locked_error,
                33,
                "text-too-long",
                "a text or a value is longer than the limit"
            ),
            Check::Syntax(&[(XmlFaultKind::TextTooLong, report)]),
        ),
        value: |limits| limits.text.into(),
        option: "max-text-size",
        counts: "bytes of one text",
        message: "a text of more than {limit} bytes",
        here: "it begins here",
    },
    &InputLimit {
        rule: Rule::new(
            meta!(
                locked_error,
                34,
                "name-too-long",
                "a name is longer than the limit"
            ),
            Check::Syntax(&[(XmlFaultKind::NameTooLong, report)]),
        ),
        value: |limits| limits.name.into(),
        option: "max-name",
        counts: "bytes of a name",
        message: "a name of more than {limit} bytes",
        here: "`{name}`",
    },
    &InputLimit {
        rule: Rule::new(
            meta!(
                locked_error,
                35,
                "too-many-nodes",
                "a file has more elements and texts than the limit"
            ),
            Check::Syntax(&[(XmlFaultKind::TooManyNodes, report)]),
        ),
        value: |limits| limits.nodes.into(),
        option: "max-nodes",
        counts: "nodes",
        message: "the file has more than {limit} elements, texts and comments",
        here: "reading stopped here",
    },
    &TOO_MANY_FINDINGS,
];

/// The final finding of a file with more findings than the limit, from the reader or from rules.
static TOO_MANY_FINDINGS: InputLimit = InputLimit {
    rule: Rule::new(
        meta!(
            locked_error,
            36,
            "too-many-findings",
            "a file gives more findings than the limit"
        ),
        Check::Syntax(&[(XmlFaultKind::TooManyFaults, report)]),
    ),
    value: |limits| limits.diagnostics.into(),
    option: "max-diagnostics",
    counts: "findings",
    message: "the file has {limit} syntax errors or more",
    here: "reading stopped here",
};

/// The rules of this table, by code.
pub(in crate::rules) fn limit_rules() -> impl Iterator<Item = &'static Rule> {
    INPUT_LIMITS.iter().map(|limit| &limit.rule)
}

fn report(cx: &SyntaxCx<'_>) -> Diagnostic {
    let own = INPUT_LIMITS
        .iter()
        .copied()
        .find(|limit| limit.rule.meta.code == cx.rule.code)
        .unwrap_or(&TOO_MANY_FINDINGS);
    let InputLimit {
        option,
        counts,
        message,
        here,
        value,
        ..
    } = own;
    let limit = value(&cx.file.config.limits);
    let written = |text: &str| {
        text.replace("{limit}", &limit.to_string())
            .replace("{name}", &cx.quoted_text())
    };
    cx.finding(written(message))
        .here(written(here))
        .note(format!(
            "the limit is {limit} {counts}; the file was read up to this place"
        ))
        .help(format!(
            "a template that a person writes stays far below; `--{option}` raises the limit"
        ))
}

/// Keeps the gravest findings up to the limit. The last one states the number of omitted findings.
pub(in crate::rules) fn truncate_findings(cx: &FileCx<'_>, found: &mut Vec<Diagnostic>) {
    let max = cx.config.limits.diagnostics as usize;
    let uncounted = (cx.file.left_out + cx.scopes.left_out) as usize;
    if found.len() <= max && uncounted == 0 {
        return;
    }
    // The finding that reading stopped is always kept.
    found.sort_by_key(|finding| {
        (
            finding.severity,
            finding.rule.code != TOO_MANY_FINDINGS.rule.meta.code,
            finding.span,
        )
    });
    let left = found.split_off(max.saturating_sub(1).min(found.len()));
    let severity = left
        .first()
        .map_or(Severity::Info, |finding| finding.severity);
    let end = cx.document.text.trim_end().len() as u32;
    let message = format!("{} more findings in this file", left.len() + uncounted);
    found.push(
        Diagnostic::new(
            &TOO_MANY_FINDINGS.rule.meta,
            cx.path,
            Span::empty_at(end),
            message,
        )
        .severity(severity)
        .note(format!(
            "the limit is {max} findings of a file, the gravest first"
        ))
        .help(if found.is_empty() {
            "`--max-diagnostics` raises the limit"
        } else {
            "mend those that are shown and check again; `--max-diagnostics` raises the limit"
        }),
    );
}
