//! CTX102, CTX107, CTX121, CTX122, CTX126: unknown elements, attributes, types, subtypes and
//! schemas.

use super::missing::is_declared;
use super::structure_prelude::{likeliest_child, value_attribute, *};
use crate::settings::layers::RowFault;
use crate::syntax::tree::Attribute;
use crate::syntax::write::{escape_text, remove_attribute, rename_element, set_content};
use crate::template::elements::ElementContent;
use crate::template::parts::{SCHEMA_TYPES, is_schema_file};

/// An unknown element would be left out of the prompt silently.
pub(super) static UNKNOWN_ELEMENT: Rule = Rule::new(
    meta!(
        error,
        102,
        "unknown-element",
        "an element that the language does not have"
    )
    .with_fix(Fixable::Suggested),
    Check::Template(report_unknown_element),
);

fn report_unknown_element(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let TemplateFaultKind::UnknownElement {
        parent,
        known_elsewhere,
        meant: read,
    } = fault.kind
    else {
        return None;
    };
    let name = fault.element.name();
    let near = || {
        if parent == ElementKind::Cond {
            None
        } else {
            likeliest_child(parent, name)
        }
    };
    if let Some(meant) = read
        .map(ElementKind::tag)
        .or_else(near)
        .filter(|_| !known_elsewhere)
    {
        let message = format!(
            "`<{parent}>` has no element `<{}>`",
            short_excerpt(name),
            parent = parent.tag()
        );
        let found = file_finding(&UNKNOWN_ELEMENT.meta, cx, fault.span, message);
        // A child that was not read as the intended one stands beside it.
        if read.is_none()
            && parent
                .child(meant)
                .is_some_and(|child| !child.is_repeatable)
        {
            return Some(found.help(format!(
                "there is a `<{meant}>` already: put its text in there, or remove it"
            )));
        }
        if let Some(advice) = advice_on_foreign(name) {
            return Some(found.help(advice));
        }
        let fix = Fix::suggested(
            format!("write <{meant}>"),
            rename_element(fault.element, meant),
        );
        return Some(found.help(format!("did you mean `<{meant}>`?")).fix(fix));
    }
    if parent.is_text() {
        return (!is_literal_less_than(fault.element))
            .then(|| text_element_finding(cx, fault, parent));
    }
    if known_elsewhere {
        return None;
    }
    let message = format!(
        "`<{}>` has no element `<{}>`",
        parent.tag(),
        short_excerpt(name)
    );
    let found = file_finding(&UNKNOWN_ELEMENT.meta, cx, fault.span, message);
    if parent == ElementKind::Cond {
        return Some(
            found
                .help("it holds `<case>`s, each with a `test` of its own: for what is left, one with the opposite of the others"),
        );
    }
    let may: Vec<ElementKind> = suggested_children(parent).collect();
    Some(match may.len() {
        0 => found.help(format!("`<{}>` can only contain text", parent.tag())),
        1..=6 => found.help(format!("it holds {}", list_tags(may))),
        _ => {
            found.help(advice_on_foreign(name).unwrap_or(
                "remove it, or give it a namespace of its own to keep it as an extension",
            ))
        }
    })
}

/// Returns what to write in place of an element of another language.
fn advice_on_foreign(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    OF_OTHER_LANGUAGES
        .iter()
        .find(|(names, _)| names.contains(&&*name))
        .map(|(_, advice)| *advice)
}

/// Elements of other languages, each with its equivalent in this one.
const OF_OTHER_LANGUAGES: [(&[&str], &str); 4] = [
    (
        &["reducer", "combiner", "merge"],
        "a `reduce` merges results by a `<reduction_task>` behind its `<inner_task>`: `{{accumulator}}` in it is the result so far, `{{current_result}}` the new one",
    ),
    (
        &["file", "files", "document", "documents"],
        "name files that are always shown in `<file_paths source=\"literal\"><path>…</path></file_paths>`, or take the text of one as an input: `<input name=\"…\" src=\"…\"/>` in `<inputs>`",
    ),
    (
        &["for", "foreach", "loop", "each", "repeat"],
        "repeat a part of a text by Jinja in it, `{% for x in xs %}…{% endfor %}` with `syntax=\"jinja\"`, and a task for each of several inputs by `type=\"reduce\"`",
    ),
    (
        &["if", "when", "switch", "else"],
        "choose a part of a text by Jinja in it, `{% if x %}…{% endif %}` with `syntax=\"jinja\"`, and a step by `<cond><case test=\"…\"><task>…</task></case></cond>`",
    ),
];

/// Returns true if `<` was meant as a literal sign, as in `List<String>`, and its missing end tag
/// is already reported.
fn is_literal_less_than(element: Element<'_>) -> bool {
    let before = Span::new(0, element.span().start).slice(element.document().text);
    let is_open = element.end_tag().is_none() && !element.is_empty_tag();
    is_open
        && before.ends_with(char::is_alphanumeric)
        && ElementKind::parents_of_tag(element.name()).next().is_none()
}

fn text_element_finding(
    cx: &FileCx<'_>,
    fault: &TemplateFault<'_>,
    parent: ElementKind,
) -> Diagnostic {
    let element = fault.element;
    let name = short_excerpt(element.name());
    let message = format!(
        "`<{name}>` stands in the text of `<{}>` and would not reach the agent",
        parent.tag()
    );
    let found = file_finding(&UNKNOWN_ELEMENT.meta, cx, fault.span, message);
    if element.attribute("fragment").is_some()
        && element.is_empty_tag()
        && parent.child(ElementKind::Use.tag()).is_some()
    {
        return found.help("a shared text is put in its place by `<use fragment=\"…\"/>`");
    }
    if ElementKind::parents_of_tag(element.name()).next().is_none() {
        let mut edits = Vec::new();
        escape_tags(element, &mut edits);
        return found
            .help("to have the agent read the tag itself, write `&lt;`, or put the text into `<![CDATA[ … ]]>`")
            .fix(Fix::suggested(format!("write &lt;{name}> as text"), edits));
    }
    // An element of the language is not text that an agent should read as tags.
    found.help(format!("move it out of `<{}>`", parent.tag()))
}

/// Escapes the `<` of an element's tags and of all nested tags. The depth limit of documents bounds
/// the recursion.
fn escape_tags(element: Element<'_>, edits: &mut Vec<Edit>) {
    let text = element.document().text;
    let tags = [Some(element.start_tag()), element.end_tag()]
        .into_iter()
        .flatten();
    for tag in tags.filter(|tag| text.as_bytes().get(tag.start as usize) == Some(&b'<')) {
        edits.push(Edit::replace(Span::new(tag.start, tag.start + 1), "&lt;"));
    }
    for inside in element.elements() {
        escape_tags(inside, edits);
    }
}

/// An unknown attribute has no effect.
pub(super) static UNKNOWN_ATTRIBUTE: Rule = Rule::new(
    meta!(
        error,
        107,
        "unknown-attribute",
        "an attribute that its element does not have"
    )
    .with_fix(Fixable::Suggested),
    Check::Template(report_unknown_attribute),
);

/// Returns the attributes that an element of a kind can have.
pub(super) fn known_attributes(kind: ElementKind) -> impl Iterator<Item = &'static str> {
    kind.attributes().map(|attribute| attribute.name)
}

fn report_unknown_attribute(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    if let TemplateFaultKind::AttributeWithoutEffect { attribute, why } = fault.kind {
        let name = attribute.name();
        let found = file_finding(
            &UNKNOWN_ATTRIBUTE.meta,
            cx,
            fault.span,
            format!("`{name}` has no effect here: {why}"),
        );
        return Some(found.help(format!("remove `{name}`")));
    }
    let TemplateFaultKind::UnknownAttribute {
        kind,
        attribute,
        meant,
    } = fault.kind
    else {
        return None;
    };
    let tag = kind.tag();
    let name = attribute.name();
    // The attributes of an element of another language go with it.
    if meant.is_none() && advice_on_foreign(fault.element.name()).is_some() {
        return None;
    }
    let found = file_finding(
        &UNKNOWN_ATTRIBUTE.meta,
        cx,
        fault.span,
        format!("`<{tag}>` has no attribute `{}`", short_excerpt(name)),
    );
    if let Some(meant) = meant {
        let fix = Fix::suggested(
            format!("write `{meant}`"),
            vec![Edit::replace(attribute.name_span(), meant)],
        );
        return Some(found.help(format!("did you mean `{meant}`?")).fix(fix));
    }
    let has: Vec<&str> = known_attributes(kind).collect();
    if let Some(fix) = move_to_content(kind, fault.element, attribute) {
        return Some(
            found
                .help(format!("the content of `<{tag}>` goes between its tags"))
                .fix(fix),
        );
    }
    let is_of_context = ElementKind::ContextManagement
        .tag()
        .starts_with(&*name.to_lowercase())
        && kind.child(ElementKind::ContextManagement.tag()).is_some();
    let is_condition = kind == ElementKind::Task
        && matches!(
            &*name.to_lowercase(),
            "if" | "when" | "unless" | "condition" | "test"
        );
    let found = if is_condition {
        found.help("let a step run on a condition by `<cond><case test=\"…\"><task>…</task></case></cond>` in its place")
    } else if is_of_context {
        found.help("what a task sees is set by `<inherit_context>` and the other settings in `<context_management>`")
    } else if kind.child(name).is_some() {
        found.help(format!("`{name}` is an element in `<{tag}>`"))
    } else if has.is_empty() {
        found.help(format!("`<{tag}>` has no attributes"))
    } else {
        found.help(format!("it can have {}", name_choice(has)))
    };
    // A value is content of the author's: only the author can decide its place.
    let is_blank = attribute.value().trim().is_empty();
    Some(
        match remove_attribute(fault.element, name).filter(|_| is_blank) {
            Some(edit) => found.fix(Fix::suggested(
                format!("remove `{}`", short_excerpt(name)),
                vec![edit],
            )),
            None => found,
        },
    )
}

/// Turns `<arg value="a"/>` into `<arg>a</arg>`. The name of a parameter becomes the source of the
/// value.
fn move_to_content(
    kind: ElementKind,
    element: Element<'_>,
    attribute: Attribute<'_>,
) -> Option<Fix> {
    let holds_words = matches!(
        kind.spec().content,
        ElementContent::Text | ElementContent::TextOrElements | ElementContent::Word
    );
    let is_content =
        value_attribute(element).is_some_and(|content| content.name() == attribute.name());
    if !holds_words || !is_content || element.is_damaged() {
        return None;
    }
    let value = attribute.value();
    if kind.attribute("from").is_some()
        && is_declared(element, value.trim(), &["parameters", "inputs"])
    {
        let title = format!("take it from `{}`", short_excerpt(value.trim()));
        return Some(Fix::suggested(
            title,
            vec![Edit::replace(attribute.name_span(), "from")],
        ));
    }
    let tag = kind.tag();
    let edits = vec![
        remove_attribute(element, attribute.name())?,
        set_content(element, &escape_text(&value)),
    ];
    Some(Fix::suggested(
        format!("write it between the tags of <{tag}>"),
        edits,
    ))
}

/// Without a type, a task has no defaults, and its context is unknown.
pub(super) static UNKNOWN_TYPE: Rule = Rule::new(
    meta!(
        locked_error,
        121,
        "unknown-type",
        "a type that neither the language nor the project knows"
    )
    .with_fix(Fixable::Suggested),
    Check::Node(check_type),
);

fn check_type(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some(written) = &cx.task.operator else {
        return;
    };
    let layers = &cx.cx.config.layers;
    // A part always has a row, regardless of the type written on the enclosing task.
    let unknown = cx.body.fault == Some(RowFault::UnknownOperator)
        || cx.task.slot.part_name().is_some()
            && layers.resolve_row(&written.value, None) == Err(RowFault::UnknownOperator);
    if !unknown {
        return;
    }
    let message = format!(
        "there is no type `{}`; expected {}",
        short_excerpt(&written.value),
        name_choice(layers.operator_names())
    );
    let found = file_finding(&UNKNOWN_TYPE.meta, cx.cx, written.span, message);
    let operators: Vec<&str> = layers.operator_names().collect();
    let near = likeliest_candidate(&written.value, operators.into_iter());
    // The type may be declared in a project file that is not valid TOML.
    if near.is_none() && cx.cx.config.is_broken() {
        return;
    }
    out.push(match near {
        Some(meant) => {
            let fix = Fix::suggested(
                format!("write `{meant}`"),
                vec![Edit::replace(written.span, meant)],
            );
            found.help(format!("did you mean `{meant}`?")).fix(fix)
        }
        None => {
            found.help("if it is a type of your own, declare it in ctxc.toml under `[operators]`")
        }
    });
}

/// A subtype brings defaults; an unknown one brings none.
pub(super) static UNKNOWN_SUBTYPE: Rule = Rule::new(
    meta!(
        locked_error,
        122,
        "unknown-subtype",
        "a subtype that the type of the task does not have"
    )
    .with_fix(Fixable::Suggested),
    Check::Node(check_subtype),
);

fn check_subtype(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let (Some(RowFault::UnknownSubtype(row)), Some(written)) = (cx.body.fault, &cx.task.subtype)
    else {
        return;
    };
    let layers = &cx.cx.config.layers;
    let operator = layers.get(row).operator();
    let known: Vec<&str> = layers.subtype_names(operator).collect();
    let message = format!(
        "type {operator} has no subtype `{}`",
        short_excerpt(&written.value)
    );
    let found = file_finding(&UNKNOWN_SUBTYPE.meta, cx.cx, written.span, message);
    if let Some(meant) = nearest_candidate(&written.value, known.iter().copied()) {
        let fix = Fix::suggested(
            format!("write `{meant}`"),
            vec![Edit::replace(written.span, meant)],
        );
        out.push(found.help(format!("did you mean `{meant}`?")).fix(fix));
        return;
    }
    if !cx.cx.config.is_broken() {
        out.push(found.help(format!(
            "known are {}; declare others in ctxc.toml",
            name_choice(known)
        )));
    }
}

/// An answer without a valid schema always passes.
pub(super) static UNKNOWN_SCHEMA: Rule = Rule::new(
    meta!(
        error,
        126,
        "unknown-schema",
        "an output schema that is neither a type nor a file"
    )
    .with_fix(Fixable::Suggested),
    Check::Node(check_schema),
);

fn check_schema(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some(schema) = cx
        .task
        .output
        .as_ref()
        .and_then(|output| output.schema.as_ref())
    else {
        return;
    };
    let written = &*schema.value;
    if SCHEMA_TYPES.contains(&written) || is_schema_file(written) {
        return;
    }
    let message = format!(
        "`{}` is neither a type nor a JSON Schema file",
        short_excerpt(written)
    );
    let found = file_finding(&UNKNOWN_SCHEMA.meta, cx.cx, schema.span, message)
        .help("it can be `object`, `array`, `string[]`, `number`, `boolean`, or the path of a JSON Schema file");
    out.push(
        match likeliest_candidate(written, SCHEMA_TYPES.into_iter()) {
            Some(meant) => found.fix(Fix::suggested(
                format!("write `{meant}`"),
                vec![Edit::replace(schema.span, meant)],
            )),
            None => found,
        },
    );
}
