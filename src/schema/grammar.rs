//! Builds a grammar from the element table: one definition for each element. Those of tasks come
//! from [`super::body`].

use super::body;
use super::pattern::{
    Define, Grammar, Pattern, attributes, choice, element, kind, name_of, optional,
};
use crate::template::element_specs::all;
use crate::template::elements::{Child, Content, Kind, Spec};

const DOC: &str = "\
Task templates of ctxc, edition 2026. Generated from the tables of the compiler.

The settings are stated as they are resolved: each task is matched by its type and subtype to the settings that agree with the defaults \
of that row, so that a validator refuses what the compiler refuses. What no schema can know is left to the compiler: names, references, \
variables, and the defaults, types and subtypes that a project declares in ctxc.toml.";

/// Returns the complete grammar.
pub(super) fn grammar() -> Grammar {
    let mut defines = body::defines();
    for spec in all()
        .iter()
        .filter(|spec| !spec.kind.is_body() && !is_setting(spec.kind))
    {
        defines.push(Define {
            name: name_of(spec.kind),
            doc: spec.doc.to_owned(),
            pattern: of(spec),
        });
    }
    Grammar {
        doc: DOC.to_owned(),
        start: choice(vec![
            kind(Kind::Task),
            kind(Kind::Template),
            kind(Kind::Library),
        ]),
        defines,
    }
}

/// True for settings and their block, which depend on the containing task.
fn is_setting(kind: Kind) -> bool {
    kind == Kind::ContextManagement
        || Kind::ContextManagement
            .spec()
            .children
            .iter()
            .any(|child| child.kind == kind)
}

fn of(spec: &Spec) -> Pattern {
    if spec.content == Content::Opaque {
        return element(spec.tag, vec![Pattern::Anything]);
    }
    let mut content = attributes(spec.kind);
    match spec.content {
        Content::Empty => content.push(Pattern::ForeignElements),
        Content::Word if is_number(spec.kind) => content.push(Pattern::Number),
        Content::Word => content.push(Pattern::Name),
        Content::Elements => content.push(Pattern::Interleave(children(spec))),
        Content::Text | Content::TextOrElements | Content::Opaque => {
            let mut inside = children(spec);
            inside.push(Pattern::Text);
            content.push(Pattern::Interleave(inside));
        }
    }
    element(spec.tag, content)
}

/// True if the word of an element is a number; a test checks this against the compiler.
pub(super) const fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Timeout | Kind::MaxIterations)
}

/// True if an element requires the child, and nothing else can replace it.
pub(super) const fn needed(parent: Kind, child: Kind) -> bool {
    matches!(
        (parent, child),
        (Kind::Template, Kind::Task)
            | (Kind::TerminationCondition, Kind::Condition)
            | (Kind::Example, Kind::ExampleInput | Kind::ExampleOutput)
    )
}

/// True for elements that require at least one child of any kind.
pub(super) const fn needs_any(parent: Kind) -> bool {
    matches!(
        parent,
        Kind::Steps | Kind::Cond | Kind::Case | Kind::FilePaths | Kind::Inputs
    )
}

/// The parts of an interleave: single children, repeatable children, foreign elements.
fn children(spec: &Spec) -> Vec<Pattern> {
    let (many, once): (Vec<&Child>, Vec<&Child>) =
        spec.children.iter().partition(|child| child.many);
    if needs_any(spec.kind) {
        let any = spec.children.iter().map(|child| kind(child.kind)).collect();
        return vec![
            Pattern::OneOrMore(Box::new(choice(any))),
            Pattern::ForeignElements,
        ];
    }
    let mut out: Vec<Pattern> = once
        .iter()
        .map(|child| {
            if needed(spec.kind, child.kind) {
                kind(child.kind)
            } else {
                optional(kind(child.kind))
            }
        })
        .collect();
    if !many.is_empty() {
        out.push(Pattern::ZeroOrMore(Box::new(choice(
            many.iter().map(|child| kind(child.kind)).collect(),
        ))));
    }
    out.push(Pattern::ForeignElements);
    out
}
