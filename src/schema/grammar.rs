//! Builds a grammar from the element table: one definition for each element. Those of tasks come
//! from [`super::body`].

use super::body;
use super::pattern::{
    Define, Grammar, RngPattern, attribute_patterns, choice, definition_name, element,
    kind_reference, optional,
};
use crate::template::element_specs::table_rows;
use crate::template::elements::{ChildSpec, ElementContent, ElementKind, ElementSpec};

const DOC: &str = "\
Task templates of ctxc, edition 2026. Generated from the tables of the compiler.

The settings are stated as they are resolved: each task is matched by its type and subtype to the settings that agree with the defaults \
of that row, so that a validator rejects the same combinations as the compiler. Everything that no schema can express is left to the compiler: names, references, \
variables, and the defaults, types and subtypes that a project declares in ctxc.toml.";

/// Returns the complete grammar.
pub(super) fn build_grammar() -> Grammar {
    let mut defines = body::task_definitions();
    for spec in table_rows()
        .iter()
        .filter(|spec| !spec.kind.is_body() && !is_setting(spec.kind))
    {
        defines.push(Define {
            name: definition_name(spec.kind),
            doc: spec.doc.to_owned(),
            pattern: element_pattern(spec),
        });
    }
    Grammar {
        doc: DOC.to_owned(),
        start: choice(vec![
            kind_reference(ElementKind::Task),
            kind_reference(ElementKind::Template),
            kind_reference(ElementKind::Library),
        ]),
        defines,
    }
}

/// True for settings and their block, which depend on the containing task.
fn is_setting(kind: ElementKind) -> bool {
    kind == ElementKind::ContextManagement
        || ElementKind::ContextManagement
            .spec()
            .children
            .iter()
            .any(|child| child.kind == kind)
}

fn element_pattern(spec: &ElementSpec) -> RngPattern {
    if spec.content == ElementContent::Opaque {
        return element(spec.tag, vec![RngPattern::Anything]);
    }
    let mut content = attribute_patterns(spec.kind);
    match spec.content {
        ElementContent::Empty => content.push(RngPattern::ForeignElements),
        ElementContent::Word if is_number(spec.kind) => content.push(RngPattern::Number),
        ElementContent::Word => content.push(RngPattern::Name),
        ElementContent::Elements => content.push(RngPattern::Interleave(child_patterns(spec))),
        ElementContent::Text | ElementContent::TextOrElements | ElementContent::Opaque => {
            let mut inside = child_patterns(spec);
            inside.push(RngPattern::Text);
            content.push(RngPattern::Interleave(inside));
        }
    }
    element(spec.tag, content)
}

/// True if the word of an element is a number; a test checks this against the compiler.
pub(super) const fn is_number(kind: ElementKind) -> bool {
    matches!(kind, ElementKind::Timeout | ElementKind::MaxIterations)
}

/// True if an element requires the child, and nothing else can replace it.
pub(super) const fn is_required_child(parent: ElementKind, child: ElementKind) -> bool {
    matches!(
        (parent, child),
        (ElementKind::Template, ElementKind::Task)
            | (ElementKind::TerminationCondition, ElementKind::Condition)
            | (
                ElementKind::Example,
                ElementKind::ExampleInput | ElementKind::ExampleOutput
            )
    )
}

/// True for elements that require at least one child of any kind.
pub(super) const fn requires_any_child(parent: ElementKind) -> bool {
    matches!(
        parent,
        ElementKind::Steps
            | ElementKind::Cond
            | ElementKind::Case
            | ElementKind::FilePaths
            | ElementKind::Inputs
    )
}

/// The parts of an interleave: single children, repeatable children, foreign elements.
fn child_patterns(spec: &ElementSpec) -> Vec<RngPattern> {
    let (many, once): (Vec<&ChildSpec>, Vec<&ChildSpec>) =
        spec.children.iter().partition(|child| child.is_repeatable);
    if requires_any_child(spec.kind) {
        let any = spec
            .children
            .iter()
            .map(|child| kind_reference(child.kind))
            .collect();
        return vec![
            RngPattern::OneOrMore(Box::new(choice(any))),
            RngPattern::ForeignElements,
        ];
    }
    let mut out: Vec<RngPattern> = once
        .iter()
        .map(|child| {
            if is_required_child(spec.kind, child.kind) {
                kind_reference(child.kind)
            } else {
                optional(kind_reference(child.kind))
            }
        })
        .collect();
    if !many.is_empty() {
        out.push(RngPattern::ZeroOrMore(Box::new(choice(
            many.iter()
                .map(|child| kind_reference(child.kind))
                .collect(),
        ))));
    }
    out.push(RngPattern::ForeignElements);
    out
}
