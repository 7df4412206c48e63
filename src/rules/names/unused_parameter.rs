//! CTX316: a declared parameter that nothing reads.

use super::names_prelude::*;
use crate::rules::names::unrendered_jinja;
use crate::syntax::write::remove_element;
use crate::template;
use crate::template::scope::ParameterOrigin;
use std::collections::{BTreeMap, BTreeSet};

/// Its callers must give a value that has no effect.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        316,
        "unused-parameter",
        "a parameter that nothing reads"
    )
    .with_fix(Fixable::Suggested),
    Check::File(check_file),
);

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    let mut meant = None;
    let mut damaged = None;
    let mut elsewhere = None;
    let mut misplaced = None;
    for fault in &cx.scopes.faults {
        let ScopeFaultKind::Unused { name, origin } = &fault.kind else {
            continue;
        };
        if meant
            .get_or_insert_with(|| self::suggested_names(cx))
            .contains(name.as_str())
            || has_repeated_name(cx, name)
        {
            continue;
        }
        let (ParameterOrigin::Function(element) | ParameterOrigin::Task(element)) = *origin;
        let damaged = damaged.get_or_insert_with(|| self::damaged_starts(cx));
        let after = damaged.partition_point(|start| *start < element.span().start);
        let is_damaged = damaged
            .get(after)
            .is_some_and(|start| *start < element.span().end);
        // Unread parts of the element may use any parameter.
        if is_damaged || !cx.file.unread_elements_in(element).is_empty() {
            continue;
        }
        // So may text between elements, which has been reported.
        if misplaced
            .get_or_insert_with(|| self::misplaced_names(cx))
            .contains(&**name)
        {
            continue;
        }
        let what = match origin {
            ParameterOrigin::Function(_) => "this function",
            ParameterOrigin::Task(_) => "this task",
        };
        let mut found = file_finding(
            &RULE.meta,
            cx,
            fault.span,
            format!(
                "nothing in {what} reads the parameter `{}`",
                short_excerpt(name)
            ),
        );
        let places = placeholders_in_texts(
            cx,
            element,
            elsewhere.get_or_insert_with(|| find_placeholders(cx.document.text)),
            name,
        );
        if let Some(first) = places.first() {
            let edits = places
                .iter()
                .map(|at| Edit::replace(*at, format!("{{{{{name}}}}}")))
                .collect();
            found = found
                .label(*first, "the agent reads this literally")
                .help(format!("did you mean `{{{{{}}}}}`?", short_excerpt(name)))
                .fix(Fix::suggested(
                    format!("write `{{{{{}}}}}`", short_excerpt(name)),
                    edits,
                ));
        }
        out.push(match removal_edit(cx, *origin, fault.span.start, name) {
            Some(edit) => found.fix(Fix::suggested(
                format!("remove `{}`", short_excerpt(name)),
                vec![edit],
            )),
            None => found,
        });
    }
}

/// Finds names written as placeholders of other languages, in order: `{name}`, `${name}`,
/// `%(name)s`.
pub(super) fn find_placeholders(text: &str) -> BTreeMap<&str, Vec<Span>> {
    let mut found: BTreeMap<&str, Vec<Span>> = BTreeMap::new();
    for (open, close) in [("{", "}"), ("%(", ")s")] {
        for (at, _) in text.match_indices(open) {
            let rest = text.get(at + open.len()..).unwrap_or("");
            let end = rest
                .find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-'))
                .unwrap_or(rest.len());
            let (name, behind) = rest.split_at(end);
            let before = text.get(..at).unwrap_or("");
            if name.is_empty() || !behind.starts_with(close) || before.ends_with(['{', '\\']) {
                continue;
            }
            let start = if open == "{" && before.ends_with('$') {
                at - 1
            } else {
                at
            };
            // `{name}}` lacks one brace.
            let half = usize::from(behind.starts_with("}}"));
            found.entry(name).or_default().push(Span::from_offsets(
                start,
                at + open.len() + end + close.len() + half,
            ));
        }
    }
    for places in found.values_mut() {
        places.sort_unstable();
    }
    found
}

/// Returns the placeholders of a name that are inside the texts of an element.
pub(super) fn placeholders_in_texts(
    cx: &FileCx<'_>,
    parent: Element<'_>,
    all: &BTreeMap<&str, Vec<Span>>,
    name: &str,
) -> Vec<Span> {
    let all = all.get(name).map_or(&[][..], |places| places);
    let first = all.partition_point(|at| at.start < parent.span().start);
    let inside = all
        .iter()
        .skip(first)
        .take_while(|at| at.start < parent.span().end);
    inside
        .copied()
        .filter(|at| is_in_text(cx, parent, *at))
        .collect()
}

/// True if a span is inside a text in which placeholders are filled in.
fn is_in_text(cx: &FileCx<'_>, around: Element<'_>, at: Span) -> bool {
    let text = cx
        .document
        .element_at(at.start)
        .filter(|text| around.span().encloses(at) && text.inner().encloses(at));
    text.is_some_and(|text| {
        unrendered_jinja::is_text_element(text) && text.attribute("verbatim").is_none()
    })
}

/// Returns the names in placeholders of text between elements.
fn misplaced_names<'c>(cx: &'c FileCx<'_>) -> BTreeSet<&'c str> {
    let is_text = |kind: &template::fault::TemplateFaultKind<'_>| {
        matches!(
            kind,
            template::fault::TemplateFaultKind::MisplacedText { .. }
        )
    };
    let faults = cx.file.faults.iter().filter(|fault| is_text(&fault.kind));
    let texts = faults.flat_map(|fault| fault.span.slice(cx.document.text).split("{{").skip(1));
    texts
        .map(|text| {
            text.trim_start()
                .split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-'))
                .next()
                .unwrap_or("")
        })
        .collect()
}

/// Returns the sorted starts of damaged elements, which are already reported. Any of them may use
/// any parameter.
fn damaged_starts(cx: &FileCx<'_>) -> Vec<u32> {
    cx.document
        .elements()
        .filter(|element| element.is_damaged())
        .map(|element| element.span().start)
        .collect()
}

/// Returns the names that undeclared variables probably meant. The misspelling is the one finding
/// then.
fn suggested_names<'c>(cx: &'c FileCx<'_>) -> BTreeSet<&'c str> {
    let nears = cx.scopes.faults.iter().filter_map(|fault| {
        let ScopeFaultKind::Undeclared { near, .. } = &fault.kind else {
            return None;
        };
        near.as_deref()
    });
    nears.collect()
}

/// True if a second parameter has the name, which is reported. That one is read.
fn has_repeated_name(cx: &FileCx<'_>, name: &str) -> bool {
    cx.file
        .faults
        .iter()
        .any(|fault| matches!(&fault.kind, template::fault::TemplateFaultKind::RepeatedName { name: own, .. } if own == name))
}

/// Maximum size in bytes of a parameter list that a fix rewrites.
const MAX_PARAMS_BYTES: usize = 1_000;

fn removal_edit(cx: &FileCx<'_>, origin: ParameterOrigin<'_>, at: u32, name: &str) -> Option<Edit> {
    match origin {
        ParameterOrigin::Task(_) => {
            let parameter = cx
                .document
                .element_at(at)
                .filter(|element| element.name() == "parameter")?;
            // Other attributes are content of the author's.
            let is_bare = parameter
                .attributes()
                .all(|own| matches!(own.name(), "name" | "type" | "required"));
            (is_bare && parameter.children().next().is_none()).then(|| remove_element(parameter))
        }
        ParameterOrigin::Function(template) => {
            let params = template.attribute("params")?.value().into_owned();
            if params.len() > MAX_PARAMS_BYTES {
                return None;
            }
            let separator = if params.contains(',') { ", " } else { " " };
            let names = params
                .split(|c: char| c == ',' || c.is_ascii_whitespace())
                .filter(|word| !word.is_empty() && *word != name);
            Some(set_attribute(
                template,
                "params",
                &names.collect::<Vec<_>>().join(separator),
            ))
        }
    }
}
