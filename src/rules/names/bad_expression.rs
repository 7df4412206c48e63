//! CTX311: an invalid `{{…}}`.

use super::names_prelude::{fault_finding, *};
use crate::rules::names::unrendered_jinja;
use crate::rules::structure::missing::declared_names;
use crate::template::expression::{ExpressionFault, ExpressionFaultKind, MAX_ARGUMENTS, MAX_DEPTH};

/// An agent would read half an expression as ordinary text.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        311,
        "bad-expression",
        "an invalid `{{…}}` expression"
    )
    .with_fix(Fixable::Suggested),
    Check::File(check_file),
);

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    // One text may have many faults; it is parsed only once.
    let mut last = None;
    let mut reported = None;
    for fault in &cx.scopes.faults {
        let ScopeFaultKind::Expression {
            fault: why,
            element,
        } = &fault.kind
        else {
            continue;
        };
        if unrendered_jinja::is_jinja_expression(cx, fault, why, *element) {
            // The missing `syntax` is reported once per text.
            if reported.replace(element.id()) != Some(element.id()) {
                out.push(report_jinja(cx, fault, why, *element));
            }
            continue;
        }
        let mut found = fault_finding(&RULE.meta, cx, fault, describe_fault(why.kind));
        if why.kind == ExpressionFaultKind::MisplacedCall {
            out.push(found.help("write the call as an input of the task, `<input name=\"…\"><call template=\"…\">…</call></input>`, and name that input here"));
            continue;
        }
        // The text of a separate file is not available here.
        let written = if fault.inside.is_none() {
            why.expression.slice(cx.document.text)
        } else {
            ""
        };
        if fault.inside.is_none() && why.expression != why.span {
            found = found.label(why.expression, "in this expression");
        }
        found = found.help("an expression is a name, a.b[0], or fn(arg, key=value); for literal braces write `\\{{`");
        // A text meant as Jinja has a fix of its own; escaping its braces would break it.
        let is_meant = match last {
            Some((id, known)) if id == element.id() => known,
            _ => unrendered_jinja::is_meant_as_jinja(*element),
        };
        last = Some((element.id(), is_meant));
        if is_meant {
            out.push(found);
            continue;
        }
        if let Some((name, edits)) =
            closing_edits(cx, why, *element).filter(|_| fault.inside.is_none())
        {
            found = found.fix(Fix::suggested(
                format!("write `{{{{{}}}}}`: close it", short_excerpt(&name)),
                edits,
            ));
        }
        if written.starts_with("{{") {
            let edits = vec![Edit::insert(why.expression.start, "\\")];
            found = found.fix(Fix::suggested("write `\\{{`: the braces are text", edits));
        }
        let is_text = element.parent().is_some()
            && ElementKind::parents_of_tag(element.name()).next().is_some()
            && element.name() != "file_paths";
        if is_text && element.attribute("verbatim").is_none() {
            let edits = vec![set_attribute(*element, "verbatim", "true")];
            found = found.fix(Fix::suggested(
                "write verbatim=\"true\": nothing in this text is substituted",
                edits,
            ));
        }
        out.push(found);
    }
}

fn report_jinja(
    cx: &FileCx<'_>,
    fault: &ScopeFault<'_>,
    why: &ExpressionFault,
    element: Element<'_>,
) -> Diagnostic {
    let written = why.expression.slice(cx.document.text);
    let message = format!(
        "`{}` is an expression of Jinja, in a text without `syntax=\"jinja\"`",
        short_excerpt(written)
    );
    let literal = vec![Edit::insert(why.expression.start, "\\")];
    fault_finding(&RULE.meta, cx, fault, message)
        .help("filters, conditions and operators need syntax=\"jinja\" on the element; for literal braces write `\\{{`")
        .fix(unrendered_jinja::render_fix(element))
        .fix(Fix::suggested("write `\\{{`: the braces are text", literal))
}

/// Returns the name and closing edits of an unclosed expression that begins with a declared name.
fn closing_edits(
    cx: &FileCx<'_>,
    why: &ExpressionFault,
    element: Element<'_>,
) -> Option<(String, Vec<Edit>)> {
    let is_unclosed =
        why.kind == ExpressionFaultKind::Unclosed && why.expression.slice(cx.document.text) == "{{";
    let written = cx
        .document
        .text
        .get(why.expression.end as usize..)
        .filter(|_| is_unclosed)?;
    let path = written
        .trim_start()
        .split(|c: char| !c.is_alphanumeric() && !"_.[]".contains(c))
        .next()?
        .trim_end_matches(['.', '[']);
    let end = why.expression.end + (written.len() - written.trim_start().len() + path.len()) as u32;
    let after = cx.document.text.get(end as usize..)?;
    let brace = after.trim_start_matches(' ');
    let missing = if brace.starts_with('}') {
        Edit::insert(end + (after.len() - brace.len()) as u32, "}")
    } else {
        Edit::insert(end, "}}")
    };
    let root = path
        .split(['.', '['])
        .next()
        .filter(|root| !root.is_empty())?;
    let names: Vec<String> = declared_names(element, &["parameters", "inputs"]).collect();
    let name = nearest_candidate(root, names.iter().map(String::as_str))?;
    let start = end - path.len() as u32;
    let corrected =
        (name != root).then(|| Edit::replace(Span::new(start, start + root.len() as u32), name));
    Some((
        path.replacen(root, name, 1),
        corrected.into_iter().chain([missing]).collect(),
    ))
}

fn describe_fault(kind: ExpressionFaultKind) -> String {
    match kind {
        ExpressionFaultKind::Unclosed => "`{{` is never closed".to_owned(),
        ExpressionFaultKind::Empty => "`{{}}` names no variable".to_owned(),
        ExpressionFaultKind::BadCharacter(c) => {
            format!(
                "`{}` is not allowed at this place of an expression",
                short_excerpt(&c.escape_debug().to_string())
            )
        }
        ExpressionFaultKind::TrailingText => "the expression ends before this".to_owned(),
        ExpressionFaultKind::UnclosedString => "this quote is never closed".to_owned(),
        ExpressionFaultKind::UnclosedCall => "expected `,` or `)` here".to_owned(),
        ExpressionFaultKind::BadIndex => "expected a whole number and `]`".to_owned(),
        ExpressionFaultKind::PositionalAfterNamed => {
            "an argument by position after one by name".to_owned()
        }
        ExpressionFaultKind::DuplicateArgument => "the same argument twice".to_owned(),
        ExpressionFaultKind::TooManyArguments => {
            format!("a call has at most {MAX_ARGUMENTS} arguments")
        }
        ExpressionFaultKind::MisplacedCall => {
            "a call is not allowed here: only texts directly in a task can have one".to_owned()
        }
        ExpressionFaultKind::TooDeep => format!("calls nest at most {MAX_DEPTH} deep"),
    }
}
