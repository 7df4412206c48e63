//! CTX312: a condition that cannot be read.

use super::names_prelude::*;
use crate::rules::syntax::and_edit;
use crate::syntax::write::escape_text;
use crate::template::condition::{ConditionFault, Expected, MAX_DEPTH, ValueDemand};

/// A branch with an invalid condition would never be taken.
pub(crate) static RULE: Rule = Rule::new(
    meta!(error, 312, "bad-condition", "an invalid condition").with_fix(Fixable::Suggested),
    Check::File(check_file),
);

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    for fault in &cx.scopes.faults {
        if let ScopeFaultKind::ConditionType {
            name,
            found,
            wanted,
        } = &fault.kind
        {
            let (message, help) = describe_wrong_type(name, found, *wanted);
            out.push(file_finding(&RULE.meta, cx, fault.span, message).help(help));
        }
        let ScopeFaultKind::Condition(why) = &fault.kind else {
            continue;
        };
        if why.found == "&&" && fault.span.slice(cx.document.text) == "&&" {
            // Reported as a bare `&`, with `and` as its replacement.
            continue;
        }
        if let Some(found) = report_triple_sign(cx, fault.span, why) {
            out.push(found);
            continue;
        }
        let message = match (why.expected, why.found.as_str()) {
            (Expected::LessNesting, _) => format!("conditions nest at most {MAX_DEPTH} deep"),
            (expected, "") => format!(
                "the condition ends where {} was expected",
                describe_expected(expected)
            ),
            (expected, found) => format!(
                "`{}` stands where {} was expected",
                short_excerpt(found),
                describe_expected(expected)
            ),
        };
        let found = file_finding(&RULE.meta, cx, fault.span, message);
        if let Some(edits) = unbraced_name_edits(cx.document.text, fault.span) {
            let fix = Fix::suggested("take the braces off", edits);
            out.push(found.help("a condition has names without braces").fix(fix));
            continue;
        }
        out.push(
            match replacement_sign(why).zip(sign_span(cx, fault.span, &why.found)) {
                Some(("and", at)) => found.fix(Fix::suggested(
                    "write `and`",
                    vec![and_edit(cx.document.text, at)],
                )),
                Some((word, at)) => found.fix(Fix::suggested(
                    format!("write `{word}`"),
                    vec![Edit::replace(at, word)],
                )),
                None => found,
            },
        );
    }
}

/// Describes a value whose type the condition cannot use in any run, and the remedy.
fn describe_wrong_type(name: &str, found: &str, wanted: ValueDemand) -> (String, &'static str) {
    let named = short_excerpt(name);
    let (what, help) = match wanted {
        ValueDemand::Truth => (
            "is taken for true or false",
            "compare it with a value: `==`, `!=`",
        ),
        ValueDemand::Number => (
            "is compared with a number by its size",
            "declare it as `number`, or compare it by `==` or `!=`",
        ),
        ValueDemand::Text => (
            "is compared with a text by its order",
            "declare it as `string`, or compare it by `==` or `!=`",
        ),
        ValueDemand::Ordered => (
            "is compared by its size",
            "declare it as `number` or `string`, or compare it by `==` or `!=`",
        ),
    };
    let message = format!("`{named}` {what}, but its type is `{found}`: no run could go on");
    (message, help)
}

/// Returns the edits that remove the braces of `{{name}}`.
fn unbraced_name_edits(text: &str, span: Span) -> Option<Vec<Edit>> {
    let inside = text.get(span.start as usize..)?.strip_prefix("{{")?;
    let name = inside.get(..inside.find("}}")?)?;
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | ']' | ' ');
    let end = span.start + 4 + name.len() as u32;
    name.chars()
        .all(is_path)
        .then(|| vec![Edit::replace(Span::new(span.start, end), name.trim())])
}

/// Returns the span of a sign. In a condition that was decoded from references, only if the sign
/// occurs once.
fn sign_span(cx: &FileCx<'_>, span: Span, found: &str) -> Option<Span> {
    let written = span.slice(cx.document.text);
    if written == found {
        return Some(span);
    }
    let escaped = escape_text(found);
    let mut places = written
        .match_indices(&*escaped)
        .map(|(at, sign)| (span.start + at as u32, sign.len() as u32));
    let (start, len) = places.next().filter(|_| places.next().is_none())?;
    Some(Span::new(start, start + len))
}

/// Reports `===` and `!==` of other languages: the third sign stands in place of a value.
fn report_triple_sign(cx: &FileCx<'_>, span: Span, why: &ConditionFault) -> Option<Diagnostic> {
    let text = cx.document.text;
    if why.expected != Expected::Value || span.slice(text) != "=" {
        return None;
    }
    let start = span.start.checked_sub(2)?;
    let sign = match Span::new(start, span.start).slice(text) {
        "==" => "==",
        "!=" => "!=",
        _ => return None,
    };
    let whole = Span::new(start, span.end);
    let found = file_finding(
        &RULE.meta,
        cx,
        whole,
        format!("`{}` is written `{sign}` here", whole.slice(text)),
    );
    Some(found.fix(Fix::suggested(
        format!("write `{sign}`"),
        vec![Edit::replace(whole, sign)],
    )))
}

/// Returns the sign that replaces a sign of another language.
fn replacement_sign(why: &ConditionFault) -> Option<&'static str> {
    match why.expected {
        Expected::DoubleEquals => Some(match &*why.found {
            "=<" => "&lt;=",
            "=>" => ">=",
            _ => "==",
        }),
        Expected::And => Some("and"),
        Expected::Or => Some("or"),
        Expected::Not => Some("not "),
        Expected::Value
        | Expected::Operator
        | Expected::Connective
        | Expected::ClosingParenthesis
        | Expected::ClosingQuote
        | Expected::Field
        | Expected::Index
        | Expected::LessNesting => None,
    }
}

const fn describe_expected(expected: Expected) -> &'static str {
    match expected {
        Expected::Value => "a name, a number, a string, `not` or `(`",
        Expected::Operator => "a comparison, `and`, `or` or the end",
        Expected::Connective => "`and`, `or` or the end",
        Expected::ClosingParenthesis => "`)`",
        Expected::ClosingQuote => "the closing quote",
        Expected::Field => "the name of a field",
        Expected::Index => "a whole number and `]`",
        Expected::DoubleEquals => "`==`",
        Expected::And => "`and`",
        Expected::Or => "`or`",
        Expected::Not => "`not`",
        Expected::LessNesting => "less nesting",
    }
}
