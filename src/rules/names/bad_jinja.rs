//! CTX313: a Jinja text that cannot be rendered.

use super::names_prelude::{fault_finding, *};
use crate::jinja::environment::JinjaNameKind;
use crate::jinja::jinja_fault::{JinjaFaultKind, describe_argument_fault};
use crate::jinja::static_limits::{
    MAX_BLOCK_DEPTH, MAX_COLUMNS, MAX_REPEATED_BYTES, MAX_TEXT_BYTES,
};
use crate::jinja::unsupported::find_unsupported;

/// A template that cannot be rendered would fail in production.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        313,
        "bad-jinja",
        "a Jinja text that cannot be parsed, or uses an unknown filter, test or function"
    )
    .with_fix(Fixable::Suggested),
    Check::File(check_file),
);

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    for fault in &cx.scopes.faults {
        let ScopeFaultKind::Jinja(why) = &fault.kind else {
            continue;
        };
        let message = match why {
            JinjaFaultKind::TooLarge => format!("a Jinja text has at most {MAX_TEXT_BYTES} bytes"),
            JinjaFaultKind::LineTooLong => {
                format!("a tag reaches at most {MAX_COLUMNS} characters into its line")
            }
            JinjaFaultKind::TooDeep => {
                format!("nests too deep: at most {MAX_BLOCK_DEPTH} blocks in one another")
            }
            JinjaFaultKind::TooMuchRepeated => {
                format!("repeats texts to more than {MAX_REPEATED_BYTES} bytes")
            }
            JinjaFaultKind::Fails(words) => {
                format!("this fails in every run: {}", short_excerpt(words))
            }
            JinjaFaultKind::FailsByDefault(words) => {
                format!("this fails with the default: {}", short_excerpt(words))
            }
            JinjaFaultKind::BareTuple => {
                "a tuple without parentheses, which Jinja2 can read, is not read here".to_owned()
            }
            JinjaFaultKind::ByZero => "nothing can be divided by zero".to_owned(),
            JinjaFaultKind::Arguments {
                filter,
                given,
                min,
                max,
            } => describe_argument_fault(filter, *given, *min, *max),
            JinjaFaultKind::OtherTemplate(word) => {
                format!("`{word}` would take text from another template")
            }
            JinjaFaultKind::Syntax(words) => match words.strip_prefix("unknown statement end") {
                Some(block) => format!(
                    "`end{0}` ends a `{0}`, but the open block is another one",
                    short_excerpt(block)
                ),
                None => format!("Jinja cannot read this: {}", short_excerpt(words)),
            },
            JinjaFaultKind::TooEarly { argument, name } => {
                format!("the default of `{argument}` names `{name}`, which has no value yet")
            }
            JinjaFaultKind::Unknown { what, name, .. } => match find_unsupported(*what, name) {
                Some(absent) => format!(
                    "Jinja's {} `{name}` is not supported: {}",
                    describe_kind(*what),
                    absent.why
                ),
                None => format!(
                    "Jinja has no {} `{}`",
                    describe_kind(*what),
                    short_excerpt(name)
                ),
            },
        };
        let found = fault_finding(&RULE.meta, cx, fault, message);
        out.push(match why {
            JinjaFaultKind::OtherTemplate(_) => found.help("put shared text into a <fragment>, and use it in a text of its own"),
            JinjaFaultKind::Unknown { what, name, near } => match find_unsupported(*what, name) {
                Some(absent) => found.help(absent.instead),
                None => suggest_names(found, *what, near.as_deref(), fault.span.slice(cx.document.text) == name),
            },
            JinjaFaultKind::TooEarly { argument, name } => found.help(early_use_help(argument, name)),
            JinjaFaultKind::FailsByDefault(_) => {
                found.help("give another default, ask whether the value is there, or require a value: remove the default")
            }
            JinjaFaultKind::BareTuple => {
                found.help("write it in parentheses, `(a, b)`, or as a list, `[a, b]`")
            }
            JinjaFaultKind::LineTooLong => found.help("break the line; a `-` in a tag removes the line end again"),
            JinjaFaultKind::TooLarge
            | JinjaFaultKind::TooDeep
            | JinjaFaultKind::TooMuchRepeated
            | JinjaFaultKind::Fails(_)
            | JinjaFaultKind::ByZero
            | JinjaFaultKind::Arguments { .. }
            | JinjaFaultKind::Syntax(_) => found,
        });
    }
}

/// The help for a default that names a value not yet set.
fn early_use_help(argument: &str, name: &str) -> String {
    if argument == name {
        format!("give the argument another name than the value around the macro: `{argument}_=…`")
    } else {
        format!("set `{argument}` inside of the macro, where `{name}` has its value")
    }
}

const fn describe_kind(what: JinjaNameKind) -> &'static str {
    match what {
        JinjaNameKind::Filter => "filter",
        JinjaNameKind::Test => "test",
        JinjaNameKind::Function => "function",
        JinjaNameKind::Method => "method",
        JinjaNameKind::Variable => "name",
    }
}

/// Adds the nearest name to a finding, or all names. `exact`: the finding's span is exactly the
/// name.
fn suggest_names(
    found: Diagnostic,
    what: JinjaNameKind,
    near: Option<&str>,
    exact: bool,
) -> Diagnostic {
    let kind = describe_kind(what);
    let Some(near) = near else {
        let all = what
            .known_names()
            .iter()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ");
        let found = found.help(format!("available {kind}s: {all}"));
        return match what {
            JinjaNameKind::Function => found.note(
                "only functions and macros of this text can be called, and a parameter is neither",
            ),
            JinjaNameKind::Filter
            | JinjaNameKind::Test
            | JinjaNameKind::Method
            | JinjaNameKind::Variable => found,
        };
    };
    let span = found.span;
    let found = found.help(format!("did you mean `{near}`?"));
    if exact {
        found.fix(Fix::suggested(
            format!("write `{near}`"),
            vec![Edit::replace(span, near)],
        ))
    } else {
        found
    }
}
