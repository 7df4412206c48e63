//! Extracts the facts of a file's model for the index. Owned and small; see [`super::names`].

use super::keywords::{FileSource, Trust};
use super::model::{Call, Value};
use super::model::{Definition, File, Reduce, Step, Task, Template};
use super::names::{
    Arg, Definition as Fact, FileFacts, Param, Reference, ReferenceKind, Source, SourceKind,
};
use super::nodes::{self, Node};
use super::parts::Str;
use super::parts::{self, Text};
use super::texts::{self, Role};
use crate::base::span::Span;
use crate::syntax::tree::{Attribute, Element};
use std::collections::HashMap;

/// Collects the facts of a file. `stem` is the name of a task without a name.
pub fn collect(file: &File<'_>, stem: &str) -> FileFacts {
    let mut facts = FileFacts::default();
    for (owner, definition) in file.definitions.iter().enumerate() {
        let owner = owner as u32;
        facts.definitions.push(fact(definition, stem));
        match definition {
            Definition::Fragment(fragment) => of_text(&fragment.text, (owner, "/"), &mut facts),
            Definition::Task(task) => of_task(task, owner, &mut facts),
            Definition::Template(
                template @ Template {
                    task, description, ..
                },
            ) => {
                of_returns(template, owner, &mut facts);
                if let Some(text) = description {
                    of_text(text, (owner, "/"), &mut facts);
                }
                if let Some(task) = task {
                    of_task(task, owner, &mut facts);
                }
            }
        }
    }
    facts
}

fn fact(definition: &Definition<'_>, stem: &str) -> Fact {
    let element = definition.element();
    let (name, span) = definition
        .name()
        .map_or((stem, element.name_span()), |name| {
            (&*name.value, name.span)
        });
    let (params, returns) = match definition {
        Definition::Template(template) => (
            params(template),
            template
                .returns
                .as_ref()
                .map(|text| Box::from(&*text.value)),
        ),
        Definition::Task(task) => (Box::default(), answer(task).map(Box::from)),
        Definition::Fragment(_) => (Box::default(), None),
    };
    let untrusted = match definition {
        Definition::Fragment(fragment) => untrusted(&fragment.text),
        Definition::Task(_) | Definition::Template(_) => None,
    };
    let bytes = element.span().len().into();
    Fact {
        kind: definition.kind(),
        name: name.into(),
        span,
        params,
        returns,
        untrusted,
        inherits: false,
        is_foreign: false,
        has_tool_result: false,
        open_tool_result: None,
        context: None,
        open: None,
        bytes,
        agents: 0,
    }
}

/// The declared form of a task's answer: a type or the path of a schema.
pub(super) fn answer<'m>(task: &'m Task<'_>) -> Option<&'m str> {
    let Some(output) = &task.output else {
        // The answer of the last agent is the answer of the whole task.
        return match (task.steps.last(), task.reduce.as_deref()) {
            (Some(Step::Task(last)), None) if last.reference.is_none() => answer(last),
            (
                None,
                Some(Reduce {
                    initial: None,
                    reduction: Some(last),
                    ..
                }),
            ) => answer(last),
            _ => None,
        };
    };
    let is_text = || {
        output
            .kind
            .as_ref()
            .is_some_and(|kind| kind.value == "text")
    };
    output
        .schema
        .as_ref()
        .map(|schema| &*schema.value)
        .or_else(|| is_text().then_some("string"))
}

fn untrusted(text: &Text<'_>) -> Option<Span> {
    let at = || {
        text.element
            .attribute("trust")
            .map_or(text.element.name_span(), Attribute::span)
    };
    (text.trust == Trust::Untrusted).then(at)
}

/// The parameters of a template; each is required unless the template's task declares a default for
/// it.
fn params(template: &Template<'_>) -> Box<[Param]> {
    let known = required(template);
    let required = |name: &str| known.get(name).copied().unwrap_or(true);
    let one = |param: &Str<'_>| Param {
        name: Box::from(&*param.value),
        required: required(&param.value),
        ..Param::default()
    };
    template.params.iter().map(one).collect()
}

/// The parameters that the template's task declares; true if a call must pass an argument.
pub(super) fn required<'m>(template: &'m Template<'_>) -> HashMap<&'m str, bool> {
    let declared = template
        .task
        .as_deref()
        .map_or(&[][..], |task| &task.parameters);
    declared
        .iter()
        .filter_map(|own| Some((&*own.name.as_ref()?.value, own.is_required())))
        .collect()
}

fn of_task(task: &Task<'_>, owner: u32, facts: &mut FileFacts) {
    let mut agents = 0;
    nodes::paths(task, &mut |node, path| match node {
        Node::Task(task) => {
            agents += u32::from(task.reference.is_none());
            if let Some(name) = &task.reference {
                let reference = Reference {
                    kind: ReferenceKind::Ref,
                    name: Box::from(&*name.value),
                    span: name.span,
                    owner,
                    node: path.into(),
                    args: Box::default(),
                    expects: None,
                };
                facts.references.push(reference);
            }
            texts::of_task(task, &mut |_, text| of_text(text, (owner, path), facts));
            // A repeated call is not a node of its own.
            for call in task.calls.iter().filter(|call| call.result.is_none()) {
                nodes::descend(
                    Node::Call(call),
                    &mut path.trim_end_matches('/').to_owned(),
                    &mut |node, path| {
                        if let Node::Call(call) = node {
                            of_call(call, owner, path, facts);
                        }
                    },
                );
            }
            if let Some(file) = task
                .output
                .as_ref()
                .and_then(parts::OutputFormat::schema_file)
            {
                facts.sources.push(schema(file, owner));
            }
            for path in task
                .files
                .iter()
                .filter(|files| files.source == FileSource::Literal)
                .flat_map(|files| &files.paths)
            {
                facts.sources.push(Source {
                    kind: SourceKind::File,
                    path: Box::from(&*path.value),
                    span: path.span,
                    owner,
                });
            }
        }
        Node::Call(call) => of_call(call, owner, path, facts),
        Node::Cond(_) => {}
    });
    if let Some(fact) = facts.definitions.last_mut() {
        fact.agents = agents;
    }
    settle(task, owner, facts);
}

/// Records the schema that a function returns, unless its task declares the same one.
fn of_returns(template: &Template<'_>, owner: u32, facts: &mut FileFacts) {
    let Some(returns) = template
        .returns
        .as_ref()
        .filter(|returns| parts::is_schema_file(&returns.value))
    else {
        return;
    };
    let answer = template
        .task
        .as_deref()
        .and_then(|task| task.output.as_ref()?.schema_file());
    if answer.is_none_or(|answer| answer.value != returns.value) {
        facts.sources.push(schema(returns, owner));
    }
}

fn schema(file: &Str<'_>, owner: u32) -> Source {
    Source {
        kind: SourceKind::Schema,
        path: Box::from(&*file.value),
        span: file.span,
        owner,
    }
}

fn of_call(call: &Call<'_>, owner: u32, path: &str, facts: &mut FileFacts) {
    for arg in &call.args {
        texts::of_input(Role::Arg, arg, &mut |_, text| {
            of_text(text, (owner, path), facts);
        });
    }
    let Some(name) = &call.template else { return };
    let args = call.args.iter().map(|arg| {
        let own = if call.is_in_text() {
            name.span
        } else {
            arg.text.element.name_span()
        };
        let span = arg.name.as_ref().map_or(own, |name| name.span);
        Arg {
            name: arg.name.as_ref().map(|name| Box::from(&*name.value)),
            span,
        }
    });
    facts.references.push(Reference {
        kind: ReferenceKind::Call,
        name: Box::from(&*name.value),
        span: name.span,
        owner,
        node: path.into(),
        args: args.collect(),
        expects: None,
    });
}

/// Records the `use` elements and the `src` of one text.
fn of_text(text: &Text<'_>, (owner, path): (u32, &str), facts: &mut FileFacts) {
    if let Some(src) = &text.src {
        facts.sources.push(Source {
            kind: SourceKind::Text,
            path: Box::from(&*src.value),
            span: src.span,
            owner,
        });
    }
    for used in text
        .element
        .elements()
        .filter(|child| child.namespace().is_none() && child.name() == "use")
    {
        let Some((name, span)) = fragment(used) else {
            continue;
        };
        facts.references.push(Reference {
            kind: ReferenceKind::Use,
            name: name.into(),
            span,
            owner,
            node: path.into(),
            args: Box::default(),
            expects: None,
        });
    }
}

/// The name and span of the fragment that a `use` refers to; `None` if the name is missing or
/// empty.
pub(super) fn fragment(used: Element<'_>) -> Option<(String, Span)> {
    let fragment = used.attribute("fragment")?;
    let value = fragment.value();
    let name = value.trim();
    (!name.is_empty()).then(|| (name.to_owned(), trimmed(fragment.value_span(), &value)))
}

fn trimmed(span: Span, value: &str) -> Span {
    if span.len() as usize != value.len() {
        return span;
    }
    let before = (value.len() - value.trim_start().len()) as u32;
    Span::new(
        span.start + before,
        span.start + before + value.trim().len() as u32,
    )
}

/// Records the expected type of each call that is the input of a declared, typed parameter.
fn settle(task: &Task<'_>, owner: u32, facts: &mut FileFacts) {
    let mut expected: HashMap<u32, &str> = HashMap::new();
    nodes::paths(task, &mut |node, _| {
        let Node::Task(task) = node else { return };
        let calls = || {
            task.inputs
                .iter()
                .filter(|input| matches!(input.value, Value::Call(_)))
        };
        if task.parameters.is_empty() || calls().next().is_none() {
            return;
        }
        let typed = task
            .parameters
            .iter()
            .filter_map(|own| Some((&*own.name.as_ref()?.value, &*own.kind.as_ref()?.value)));
        let kinds: HashMap<&str, &str> = typed.collect();
        for input in calls() {
            let (Value::Call(call), Some(name)) = (&input.value, &input.name) else {
                continue;
            };
            let (Some(of), Some(kind)) = (&call.template, kinds.get(&*name.value)) else {
                continue;
            };
            expected.insert(of.span.start, kind);
        }
    });
    if expected.is_empty() {
        return;
    }
    for reference in facts
        .references
        .iter_mut()
        .filter(|own| own.owner == owner && own.kind == ReferenceKind::Call)
    {
        if let Some(kind) = expected.get(&reference.span.start) {
            reference.expects = Some(Box::from(*kind));
        }
    }
}
