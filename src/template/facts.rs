//! Extracts the facts of a file's model for the index. Owned and small; see [`super::names`].

use super::keywords::{FileSource, Trust};
use super::model::{
    Definition, Reduce, TaskBody, TaskInputValue, TaskStep, Template, TemplateCall, TemplateFile,
};
use super::names::{
    Arg, DefinitionFacts as Fact, FileFacts, LinkedFile, LinkedFileKind, Param, ReferenceFacts,
    ReferenceKind,
};
use super::nodes::{self, TaskNode};
use super::parts::{self, Str, TextElement};
use super::texts::{self, TextRole};
use crate::base::span::Span;
use crate::syntax::tree::{Attribute, Element};
use std::collections::HashMap;

/// Collects the facts of a file. `stem` is the name of a task without a name.
pub fn collect(file: &TemplateFile<'_>, stem: &str) -> FileFacts {
    let mut facts = FileFacts::default();
    for (owner, definition) in file.definitions.iter().enumerate() {
        let owner = owner as u32;
        facts.definitions.push(definition_facts(definition, stem));
        match definition {
            Definition::Fragment(fragment) => add_text(&fragment.text, owner, "/", &mut facts),
            Definition::Task(task) => add_task(task, owner, &mut facts),
            Definition::Template(
                template @ Template {
                    task, description, ..
                },
            ) => {
                add_return_schema(template, owner, &mut facts);
                if let Some(text) = description {
                    add_text(text, owner, "/", &mut facts);
                }
                if let Some(task) = task {
                    add_task(task, owner, &mut facts);
                }
            }
        }
    }
    facts
}

fn definition_facts(definition: &Definition<'_>, stem: &str) -> Fact {
    let element = definition.element();
    let (name, span) = definition
        .name()
        .map_or((stem, element.name_span()), |name| {
            (&*name.value, name.span)
        });
    let (params, returns) = match definition {
        Definition::Template(template) => (
            template_params(template),
            template
                .returns
                .as_ref()
                .map(|text| Box::from(&*text.value)),
        ),
        Definition::Task(task) => (Box::default(), declared_answer(task).map(Box::from)),
        Definition::Fragment(_) => (Box::default(), None),
    };
    let untrusted = match definition {
        Definition::Fragment(fragment) => untrusted_span(&fragment.text),
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
        has_untrusted_result: false,
        has_tool_result: false,
        open_tool_result: None,
        context: None,
        open: None,
        bytes,
        agents: 0,
    }
}

/// The declared form of a task's answer: a type or the path of a schema.
pub(super) fn declared_answer<'m>(task: &'m TaskBody<'_>) -> Option<&'m str> {
    let Some(output) = &task.output else {
        // The answer of the last agent is the answer of the whole task.
        return match (task.steps.last(), task.reduce.as_deref()) {
            (Some(TaskStep::Task(last)), None) if last.reference.is_none() => declared_answer(last),
            (
                None,
                Some(Reduce {
                    initial: None,
                    reduction: Some(last),
                    ..
                }),
            ) => declared_answer(last),
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

fn untrusted_span(text: &TextElement<'_>) -> Option<Span> {
    let at = || {
        text.element
            .attribute("trust")
            .map_or(text.element.name_span(), Attribute::span)
    };
    (text.trust == Trust::Untrusted).then(at)
}

/// The parameters of a template; each is required unless the template's task declares a default for
/// it.
fn template_params(template: &Template<'_>) -> Box<[Param]> {
    let known = required_params(template);
    let required = |name: &str| known.get(name).copied().unwrap_or(true);
    let one = |param: &Str<'_>| Param {
        name: Box::from(&*param.value),
        required: required(&param.value),
        ..Param::default()
    };
    template.params.iter().map(one).collect()
}

/// The parameters that the template's task declares; true if a call must pass an argument.
pub(super) fn required_params<'m>(template: &'m Template<'_>) -> HashMap<&'m str, bool> {
    let declared = template
        .task
        .as_deref()
        .map_or(&[][..], |task| &task.parameters);
    declared
        .iter()
        .filter_map(|own| Some((&*own.name.as_ref()?.value, own.is_required())))
        .collect()
}

fn add_task(task: &TaskBody<'_>, owner: u32, facts: &mut FileFacts) {
    let mut agents = 0;
    nodes::visit_nodes(task, &mut |node, path| match node {
        TaskNode::Task(task) => {
            agents += u32::from(task.reference.is_none());
            if let Some(name) = &task.reference {
                let reference = ReferenceFacts {
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
            texts::visit_task_texts(task, &mut |_, text| add_text(text, owner, path, facts));
            // A repeated call is not a node of its own.
            for call in task.calls.iter().filter(|call| call.result.is_none()) {
                nodes::visit_subtree(
                    TaskNode::Call(call),
                    &mut path.trim_end_matches('/').to_owned(),
                    &mut |node, path| {
                        if let TaskNode::Call(call) = node {
                            add_call(call, owner, path, facts);
                        }
                    },
                );
            }
            if let Some(file) = task
                .output
                .as_ref()
                .and_then(parts::TaskOutputFormat::schema_file)
            {
                facts.sources.push(schema_reference(file, owner));
            }
            for path in task
                .files
                .iter()
                .filter(|files| files.source == FileSource::Literal)
                .flat_map(|files| &files.paths)
            {
                facts.sources.push(LinkedFile {
                    kind: LinkedFileKind::File,
                    path: Box::from(&*path.value),
                    span: path.span,
                    owner,
                });
            }
        }
        TaskNode::Call(call) => add_call(call, owner, path, facts),
        TaskNode::Cond(_) => {}
    });
    if let Some(fact) = facts.definitions.last_mut() {
        fact.agents = agents;
    }
    set_expected_types(task, owner, facts);
}

/// Records the schema that a function returns, unless its task declares the same one.
fn add_return_schema(template: &Template<'_>, owner: u32, facts: &mut FileFacts) {
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
        facts.sources.push(schema_reference(returns, owner));
    }
}

fn schema_reference(file: &Str<'_>, owner: u32) -> LinkedFile {
    LinkedFile {
        kind: LinkedFileKind::Schema,
        path: Box::from(&*file.value),
        span: file.span,
        owner,
    }
}

fn add_call(call: &TemplateCall<'_>, owner: u32, path: &str, facts: &mut FileFacts) {
    for arg in &call.args {
        texts::visit_input_text(TextRole::Arg, arg, &mut |_, text| {
            add_text(text, owner, path, facts);
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
    facts.references.push(ReferenceFacts {
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
fn add_text(text: &TextElement<'_>, owner: u32, path: &str, facts: &mut FileFacts) {
    if let Some(src) = &text.src {
        facts.sources.push(LinkedFile {
            kind: LinkedFileKind::Text,
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
        let Some((name, span)) = fragment_name(used) else {
            continue;
        };
        facts.references.push(ReferenceFacts {
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
pub(super) fn fragment_name(used: Element<'_>) -> Option<(String, Span)> {
    let fragment = used.attribute("fragment")?;
    let value = fragment.value();
    let name = value.trim();
    (!name.is_empty()).then(|| (name.to_owned(), trim_span(fragment.value_span(), &value)))
}

fn trim_span(span: Span, value: &str) -> Span {
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
fn set_expected_types(task: &TaskBody<'_>, owner: u32, facts: &mut FileFacts) {
    let mut expected: HashMap<u32, &str> = HashMap::new();
    nodes::visit_nodes(task, &mut |node, _| {
        let TaskNode::Task(task) = node else { return };
        let calls = || {
            task.inputs
                .iter()
                .filter(|input| matches!(input.value, TaskInputValue::Call(_)))
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
            let (TaskInputValue::Call(call), Some(name)) = (&input.value, &input.name) else {
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
