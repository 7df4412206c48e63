//! CTX030–CTX036: limits on input. Input beyond them is generated or malicious. Each has a flag to raise it.

use crate::rules::prelude::*;
use crate::syntax::fault::FaultKind;
use crate::syntax::limits::Limits;

/// A limit, and the words for what exceeds it.
#[derive(Debug)]
struct Limit {
    rule: Rule,
    /// Its value in this run.
    value: fn(&Limits) -> u64,
    /// The option that raises it, without its dashes.
    option: &'static str,
    /// What it counts.
    counts: &'static str,
    /// The finding, with `{limit}` for the value and `{name}` for what stands at its place.
    message: &'static str,
    /// What is said at its place.
    here: &'static str,
}

/// Where one of them is exceeded, reading stops, so that no input costs more than it is worth.
static LIMITS: &[&Limit] = &[
    &Limit {
        rule: Rule::new(
            meta!(promise, 30, "too-deep", "elements are nested deeper than the limit"),
            Check::Syntax(&[(FaultKind::TooDeep, word)]),
        ),
        value: |limits| limits.depth.into(),
        option: "max-depth",
        counts: "elements inside each other",
        message: "`<{name}>` would be nested more than {limit} deep",
        here: "opened here",
    },
    &Limit {
        rule: Rule::new(
            meta!(promise, 31, "too-many-attributes", "an element has more attributes than the limit"),
            Check::Syntax(&[(FaultKind::TooManyAttributes, word)]),
        ),
        value: |limits| limits.attributes.into(),
        option: "max-attributes",
        counts: "attributes",
        message: "`<{name}>` has more than {limit} attributes",
        here: "this element",
    },
    &Limit {
        rule: Rule::new(
            meta!(promise, 32, "too-many-namespaces", "more namespaces are in scope than the limit"),
            Check::Syntax(&[(FaultKind::TooManyNamespaces, word)]),
        ),
        value: |limits| limits.namespaces.into(),
        option: "max-namespaces",
        counts: "namespace declarations",
        message: "`{name}` is one namespace declaration more than {limit} in scope",
        here: "one too many",
    },
    &Limit {
        rule: Rule::new(
            meta!(promise, 33, "text-too-long", "a text or a value is longer than the limit"),
            Check::Syntax(&[(FaultKind::TextTooLong, word)]),
        ),
        value: |limits| limits.text.into(),
        option: "max-text-size",
        counts: "bytes of one text",
        message: "a text of more than {limit} bytes",
        here: "it begins here",
    },
    &Limit {
        rule: Rule::new(
            meta!(promise, 34, "name-too-long", "a name is longer than the limit"),
            Check::Syntax(&[(FaultKind::NameTooLong, word)]),
        ),
        value: |limits| limits.name.into(),
        option: "max-name",
        counts: "bytes of a name",
        message: "a name of more than {limit} bytes",
        here: "`{name}`",
    },
    &Limit {
        rule: Rule::new(
            meta!(promise, 35, "too-many-nodes", "a file has more elements and texts than the limit"),
            Check::Syntax(&[(FaultKind::TooManyNodes, word)]),
        ),
        value: |limits| limits.nodes.into(),
        option: "max-nodes",
        counts: "nodes",
        message: "the file has more than {limit} elements, texts and comments",
        here: "reading stopped here",
    },
    &TOO_MANY_FINDINGS,
];

/// The closing line of a file that gives more findings than the limit, whether the reader or the rules made them.
static TOO_MANY_FINDINGS: Limit = Limit {
    rule: Rule::new(
        meta!(promise, 36, "too-many-findings", "a file gives more findings than the limit"),
        Check::Syntax(&[(FaultKind::TooManyFaults, word)]),
    ),
    value: |limits| limits.diagnostics.into(),
    option: "max-diagnostics",
    counts: "findings",
    message: "the file has {limit} syntax errors or more",
    here: "reading stopped here",
};

/// The rules of this table, by code.
pub(in crate::rules) fn rules() -> impl Iterator<Item = &'static Rule> {
    LIMITS.iter().map(|limit| &limit.rule)
}

fn word(cx: &SyntaxCx<'_>) -> Diagnostic {
    let own = LIMITS.iter().copied().find(|limit| limit.rule.meta.code == cx.rule.code).unwrap_or(&TOO_MANY_FINDINGS);
    let Limit { option, counts, message, here, value, .. } = own;
    let limit = value(&cx.file.config.limits);
    let written = |text: &str| text.replace("{limit}", &limit.to_string()).replace("{name}", &cx.shown());
    cx.found(written(message))
        .here(written(here))
        .note(format!("the limit is {limit} {counts}; the file was read up to this place"))
        .help(format!("a template that a person writes stays far below; `--{option}` raises the limit"))
}

/// Keeps the gravest findings within the limit, the last of them one that says how many are left out.
pub(in crate::rules) fn shorten(cx: &FileCx<'_>, found: &mut Vec<Diagnostic>) {
    let most = cx.config.limits.diagnostics as usize;
    let uncounted = (cx.file.left_out + cx.scopes.left_out) as usize;
    if found.len() <= most && uncounted == 0 {
        return;
    }
    // That the reading stopped is said whatever else is left out.
    found.sort_by_key(|finding| (finding.severity, finding.rule.code != TOO_MANY_FINDINGS.rule.meta.code, finding.span));
    let left = found.split_off(most.saturating_sub(1).min(found.len()));
    let severity = left.first().map_or(Severity::Info, |finding| finding.severity);
    let end = cx.document.text.trim_end().len() as u32;
    let message = format!("{} more findings in this file", left.len() + uncounted);
    found.push(
        Diagnostic::new(&TOO_MANY_FINDINGS.rule.meta, cx.path, Span::at(end), message)
            .severity(severity)
            .note(format!("the limit is {most} findings of a file, the gravest first"))
            .help(if found.is_empty() {
                "`--max-diagnostics` raises the limit"
            } else {
                "mend those that are shown and check again; `--max-diagnostics` raises the limit"
            }),
    );
}
