//! CTX111–CTX114, CTX116: values that are not allowed at their place.

use super::structure_prelude::{value_attribute, *};
use crate::syntax::tree::NodeKind as Node;
use crate::syntax::write::{remove_attribute, remove_element, set_attribute};
use crate::template::setting::{SettingName, Word};
use crate::template::texts::TextRole;

/// A guessed value would be a setting that the author did not make.
pub(super) static BAD_VALUE: Rule = Rule::new(
    meta!(error, 111, "bad-value", "a value that is not allowed there").with_fix(Fixable::Safe),
    Check::Template(report_bad_value),
);

fn report_bad_value(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    if let TemplateFaultKind::BadText {
        name,
        found,
        expected,
    } = &fault.kind
    {
        let message = format!(
            "`{name}` cannot be `{}`; expected {expected}",
            short_excerpt(found)
        );
        return Some(file_finding(&BAD_VALUE.meta, cx, fault.span, message));
    }
    if let TemplateFaultKind::UnreachableName { name, found } = &fault.kind {
        let message = format!(
            "`{name}` is `{}`, which no expression can read",
            short_excerpt(found)
        );
        let found =
            file_finding(&BAD_VALUE.meta, cx, fault.span, message).severity(Severity::Warning);
        return Some(
            found.help("begin with a letter or `_`, and go on with letters, digits, `_` and `-`"),
        );
    }
    let TemplateFaultKind::BadValue {
        name,
        found,
        allowed,
    } = &fault.kind
    else {
        return None;
    };
    if found.is_empty() {
        let message = format!(
            "`{name}` is empty; expected {}",
            name_choice(allowed.iter().copied())
        );
        return Some(file_finding(&BAD_VALUE.meta, cx, fault.span, message));
    }
    let message = format!(
        "`{name}` cannot be `{}`; expected {}",
        short_excerpt(found),
        name_choice(allowed.iter().copied())
    );
    let finding = file_finding(&BAD_VALUE.meta, cx, fault.span, message);
    let Some(meant) = likeliest_candidate(found, allowed.iter().copied()) else {
        return Some(finding);
    };
    let edits = vec![Edit::replace(fault.span, meant)];
    let title = format!("write `{meant}`");
    Some(if normalize_word(found) == normalize_word(meant) {
        finding.fix(Fix::safe(title, edits))
    } else {
        finding
            .help(format!("did you mean `{meant}`?"))
            .fix(Fix::suggested(title, edits))
    })
}

/// Removes separators and converts to lower case.
fn normalize_word(word: &str) -> String {
    word.chars()
        .filter(|c| !matches!(c, '-' | '_' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// The meaning is obvious, but every reader accepts other words.
pub(super) static BAD_BOOLEAN: Rule = Rule::new(
    meta!(
        error,
        112,
        "bad-boolean",
        "`yes`, `no`, `1` or `0` instead of `true` or `false`"
    )
    .with_fix(Fixable::Safe),
    Check::Template(report_bad_boolean),
);

fn report_bad_boolean(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let TemplateFaultKind::BadBoolean { name, found, meant } = &fault.kind else {
        return None;
    };
    let message = format!(
        "`{name}` is `{}`; expected `true` or `false`",
        short_excerpt(found)
    );
    let fix = Fix::safe(
        format!("write `{meant}`"),
        vec![Edit::replace(fault.span, meant.to_string())],
    );
    Some(file_finding(&BAD_BOOLEAN.meta, cx, fault.span, message).fix(fix))
}

/// An unreadable limit would not limit anything.
pub(super) static BAD_NUMBER: Rule = Rule::new(
    meta!(
        error,
        113,
        "bad-number",
        "a number that cannot be read, or is out of range"
    )
    .with_fix(Fixable::Safe),
    Check::Template(report_bad_number),
);

fn report_bad_number(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let TemplateFaultKind::BadNumber {
        name,
        found,
        expected,
    } = &fault.kind
    else {
        return None;
    };
    let message = format!(
        "`{name}` is `{}`; expected {expected}",
        short_excerpt(found)
    );
    let finding = file_finding(&BAD_NUMBER.meta, cx, fault.span, message);
    let with_unit = ["ms", "s"]
        .into_iter()
        .find_map(|unit| Some((found.strip_suffix(unit)?.trim_end(), unit)));
    let Some((number, unit)) =
        with_unit.filter(|(number, _)| *name == "timeout" && is_count(number))
    else {
        return Some(finding);
    };
    let edits = vec![
        set_attribute(fault.element, "unit", unit),
        Edit::replace(fault.span, number),
    ];
    Some(finding.fix(Fix::safe(
        format!("write {number} with unit=\"{unit}\""),
        edits,
    )))
}

fn is_count(digits: &str) -> bool {
    digits.parse::<std::num::NonZeroU32>().is_ok()
}

/// An empty name refers to nothing.
pub(super) static EMPTY_VALUE: Rule = Rule::new(
    meta!(
        error,
        114,
        "empty-value",
        "an empty element or attribute that needs a value"
    )
    .with_fix(Fixable::Suggested),
    Check::TemplateAndFile(report_empty_value, check_empty_files),
);

/// Reports texts whose file is empty.
fn check_empty_files(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    for (role, src) in &cx.scopes.blank {
        // An empty description is reported as missing; the others may be empty.
        if matches!(
            role,
            TextRole::Description | TextRole::Env | TextRole::Command
        ) {
            continue;
        }
        let severity = if *role == TextRole::Fragment {
            Severity::Error
        } else {
            Severity::Warning
        };
        let message = format!(
            "`{}` holds no words",
            short_excerpt(src.slice(cx.document.text))
        );
        out.push(
            file_finding(&EMPTY_VALUE.meta, cx, *src, message)
                .severity(severity)
                .help("write the text, or remove the element"),
        );
    }
}

fn report_empty_value(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let (name, is_silent) = if let TemplateFaultKind::ElementWithoutEffect { kind } = fault.kind {
        (kind.tag(), true)
    } else if let TemplateFaultKind::Empty { name } = fault.kind {
        (name, false)
    } else {
        return None;
    };
    let attribute = fault
        .element
        .attributes()
        .find(|attribute| attribute.name() == name && attribute.span().encloses(fault.span));
    if attribute.is_none() && value_attribute(fault.element).is_some() {
        return None;
    }
    let message = if attribute.is_some() {
        format!("`{name}` is empty")
    } else {
        format!("`<{name}>` is empty")
    };
    let mut found = file_finding(&EMPTY_VALUE.meta, cx, fault.span, message);
    if is_silent {
        found = found
            .severity(Severity::Warning)
            .help("it has no effect: write what is meant, or remove it");
        // An example needs both of its texts.
        if fault
            .element
            .parent()
            .is_some_and(|parent| parent.name() == ElementKind::Example.tag())
        {
            return Some(found.help("write the text, or remove the example"));
        }
    }
    if let Some(setting) = SettingName::parse(name) {
        found = found.help(format!(
            "it can be {}",
            name_choice(setting.allowed_words().iter().copied())
        ));
    }
    let edit = match attribute {
        Some(_) => remove_attribute(fault.element, name),
        // Attributes and comments are content of the author's, so the element stays.
        None => Some(fault.element)
            .filter(|element| element.attributes().next().is_none())
            .filter(|element| element.children().all(|node| node.kind() == Node::Text))
            .map(remove_element),
    };
    Some(match edit {
        Some(edit) => found.fix(Fix::suggested("remove it", vec![edit])),
        None => found,
    })
}

/// The agent would receive one of the two values, and the choice would be arbitrary.
pub(super) static TWO_VALUES: Rule = Rule::new(
    meta!(
        error,
        116,
        "two-values",
        "two values where only one is allowed"
    ),
    Check::Template(report_two_values),
);

fn report_two_values(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let TemplateFaultKind::TwoContents { kind } = fault.kind else {
        return None;
    };
    let element = fault.element;
    if kind == ElementKind::OutputFormat {
        let found = file_finding(
            &TWO_VALUES.meta,
            cx,
            element.name_span(),
            "`type` asks for text, but a `schema` describes JSON",
        );
        return Some(found.help("write type=\"json\", or remove `schema`"));
    }
    let attributes: Vec<&str> = ["from", "src"]
        .into_iter()
        .filter(|name| element.attribute(name).is_some())
        .collect();
    let mut contents: Vec<String> = attributes.iter().map(|name| format!("`{name}`")).collect();
    let inside: Vec<_> = element
        .elements()
        .filter(|child| {
            child.namespace().is_none() && !child.name().contains(':') && child.name() != "use"
        })
        .collect();
    let has_words = text_spans(element).next().is_some();
    if has_words {
        contents.push("a text".to_owned());
    }
    let mut tags: Vec<&str> = inside.iter().map(|child| child.name()).collect();
    tags.dedup();
    contents.extend(tags.iter().map(|tag| format!("`<{tag}>`")));
    let message = format!(
        "`<{}>` has {}, and can have one of them",
        kind.tag(),
        contents.join(" and ")
    );
    Some(
        file_finding(&TWO_VALUES.meta, cx, element.name_span(), message)
            .help("keep the one that is meant"),
    )
}
