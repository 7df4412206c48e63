//! Descriptions of definitions, types and subtypes in Markdown, for completion and hover.
//!
//! The descriptions of a file's definitions are made on demand and cached until the file is
//! compiled again.

use super::provenance;
use crate::lsp::prelude::*;
use crate::lsp::state::open_documents::DocumentBuffer;
use crate::project::index::{DefId, NameIndex};
use crate::registry::compile::CompiledFile;
use crate::settings::bodies::ResolvedBodies;
use crate::settings::layers::Layers;
use crate::settings::operators::{Operator, TYPE_ALIASES};
use crate::template::elements::{Attr, AttrValues};
use crate::template::keywords::Trust;
use crate::template::model::{self, Definition, Fragment, TaskBody};
use crate::template::names::DefinitionKind;
use crate::template::parts::{Str, TaskParameter, TextElement};
use crate::template::setting::{SettingName, Word};
use crate::template::text;
use std::fmt::Write as _;
use std::rc::Rc;

/// The maximum length of an excerpt in characters.
const MAX_EXCERPT_CHARS: usize = 240;

/// Returns the description of a definition and the path of its file.
pub(in crate::lsp) fn definition_doc<'p>(
    project: &'p ProjectState,
    index: &NameIndex<'p>,
    id: DefId,
) -> Option<(&'p Arc<str>, String)> {
    let path = index.file(id.file)?.path;
    let template = project.template(path)?;
    let known = project.docs.borrow().get(path).map(Rc::clone);
    let all = known.unwrap_or_else(|| {
        let descriptions = Rc::new(definition_docs(project, path, template));
        project
            .docs
            .borrow_mut()
            .insert(Arc::clone(path), Rc::clone(&descriptions));
        descriptions
    });
    Some((
        path,
        all.get(id.definition as usize).cloned().unwrap_or_default(),
    ))
}

/// Returns the description of a definition after its kind, name and file.
pub(in crate::lsp) fn full_definition_doc(
    project: &ProjectState,
    kind: DefinitionKind,
    name: &str,
) -> Option<String> {
    let index = project.index();
    let (path, about) = definition_doc(project, &index, index.find_definition(kind, name)?)?;
    Some(with_paragraph(
        format!("{} `{name}` in `{path}`", kind.word()),
        &about,
    ))
}

/// Appends a second paragraph, if it is not empty.
fn with_paragraph(mut first: String, more: &str) -> String {
    if !more.is_empty() {
        let _ = write!(first, "\n\n{more}");
    }
    first
}

/// Describes each definition of a file, in order.
fn definition_docs(project: &ProjectState, path: &str, template: &CompiledFile) -> Vec<String> {
    let Some((text, _)) = project.indexed_text(path).filter(|(text, _)| {
        !DocumentBuffer::is_large_text(text) && !template.facts.definitions.is_empty()
    }) else {
        return Vec::new();
    };
    place::with_resolved(&text, &project.config, |file, bodies| {
        file.definitions
            .iter()
            .map(|definition| describe_definition(definition, bodies))
            .collect()
    })
}

fn describe_definition(definition: &Definition<'_>, bodies: &ResolvedBodies) -> String {
    let mut lines = Vec::new();
    match definition {
        Definition::Task(task) => {
            lines.extend(task.description.as_ref().map(first_words));
            lines.extend(describe_parameters(
                task.parameters.iter().map(describe_parameter),
            ));
            lines.extend(describe_type(task, bodies));
        }
        Definition::Template(template) => describe_template(template, bodies, &mut lines),
        Definition::Fragment(Fragment { text, .. }) => lines.push(first_words(text)),
    }
    lines.retain(|line| !line.is_empty());
    lines.join("\n\n")
}

fn describe_template(
    template: &model::Template<'_>,
    bodies: &ResolvedBodies,
    lines: &mut Vec<String>,
) {
    let task = template.task.as_deref();
    let description = template
        .description
        .as_ref()
        .or_else(|| task.and_then(|task| task.description.as_ref()));
    lines.extend(description.map(first_words));
    let declared = task.map_or(&[][..], |task| &task.parameters);
    let one = |param: &Str<'_>| {
        let own = declared.iter().find(|own| {
            own.name
                .as_ref()
                .is_some_and(|name| name.value == param.value)
        });
        own.map_or_else(|| format!("`{}` required", param.value), describe_parameter)
    };
    lines.extend(describe_parameters(template.params.iter().map(one)));
    lines.extend(
        template
            .returns
            .as_ref()
            .map(|returns| format!("returns: `{}`", returns.value)),
    );
    lines.extend(task.and_then(|task| describe_type(task, bodies)));
}

/// Describes the type of a task and its resolved settings.
fn describe_type(task: &TaskBody<'_>, bodies: &ResolvedBodies) -> Option<String> {
    let body = bodies.get(task)?;
    let word = task
        .operator
        .as_ref()
        .map_or("atomic", |operator| &*operator.value);
    let subtype = task
        .subtype
        .as_ref()
        .map(|subtype| format!(" `{}`", subtype.value))
        .unwrap_or_default();
    Some(format!(
        "type `{word}`{subtype}: {}",
        provenance::settings_summary(&body.resolved)
    ))
}

fn describe_parameters(all: impl Iterator<Item = String>) -> Option<String> {
    let all: Vec<String> = all.collect();
    (!all.is_empty()).then(|| format!("parameters: {}", all.join("; ")))
}

/// Describes a parameter: “`subject` string, required”.
fn describe_parameter(parameter: &TaskParameter<'_>) -> String {
    let name = parameter.name.as_ref().map_or("", |name| &*name.value);
    format!("`{name}` {}", parameter_traits(parameter))
}

/// Describes a parameter without its name: “string, required”.
fn parameter_traits(parameter: &TaskParameter<'_>) -> String {
    let mut parts: Vec<String> = parameter
        .kind
        .iter()
        .map(|kind| kind.value.to_string())
        .collect();
    parts.push(if parameter.is_required() {
        "required".to_owned()
    } else {
        "optional".to_owned()
    });
    parts.extend(
        parameter
            .default
            .as_ref()
            .map(|default| format!("default `{}`", shorten(&default.value))),
    );
    parts.extend((parameter.trust == Trust::Untrusted).then(|| "untrusted".to_owned()));
    parts.join(", ")
}

/// Returns the first words of a text on one line, or the path of its file.
fn first_words(text: &TextElement<'_>) -> String {
    match &text.src {
        Some(src) => format!("a text in `{}`", src.value),
        None => shorten(&text.element.text()),
    }
}

/// Returns the first words of a text on one line.
pub(in crate::lsp) fn shorten(raw: &str) -> String {
    let words = text::dedent_element(raw);
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_EXCERPT_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or("").trim_end()),
        None => line,
    }
}

/// Describes a type and its default settings.
pub(in crate::lsp) fn type_doc(layers: &Layers, word: &str) -> Option<String> {
    let row = layers.get(layers.resolve_row(word, None).ok()?);
    let base = row.base();
    let is = match TYPE_ALIASES
        .iter()
        .find(|(old, ..)| *old == word && &**row.operator() != word)
    {
        Some((_, modern, None)) => {
            format!("an older word for `{}`: {}", modern.word(), modern.doc())
        }
        Some((_, modern, Some(subtype))) => format!(
            "an older word for `{}` with subtype `{subtype}`",
            modern.word()
        ),
        None if Operator::parse(word).is_some() => base.doc().to_owned(),
        None => format!(
            "a type of this project, built on `{}`: {}",
            base.word(),
            base.doc()
        ),
    };
    Some(format!(
        "{is}\n\nby default: {}",
        provenance::settings_summary(row.defaults())
    ))
}

/// Lists the settings that a subtype changes.
pub(in crate::lsp) fn subtype_doc(
    layers: &Layers,
    operator: &str,
    subtype: &str,
) -> Option<String> {
    let own = layers
        .get(layers.resolve_row(operator, Some(subtype)).ok()?)
        .defaults();
    let of_type = layers.defaults(layers.resolve_row(operator, None).ok()?);
    let changed = SettingName::ALL
        .iter()
        .copied()
        .filter(|name| own.get(*name).value != of_type.get(*name).value);
    let changed: Vec<String> = changed
        .map(|name| format!("{} to `{}`", name.word(), own.get(name).value.as_str()))
        .collect();
    Some(match changed.as_slice() {
        [] => format!(
            "keeps the settings of `{operator}`: {}",
            provenance::settings_summary(own)
        ),
        _ => format!(
            "sets {} (`{operator}` itself: {})",
            changed.join(", "),
            provenance::settings_summary(of_type)
        ),
    })
}

pub(in crate::lsp) fn attribute_doc(attribute: &Attr) -> String {
    let mut text = format!("`{}` — {}", attribute.name, attribute.doc);
    match attribute.values {
        AttrValues::OneOf(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            let _ = write!(text, "\n\none of {}", words.join(", "));
        }
        AttrValues::Bool => text.push_str("\n\n`true` or `false`"),
        AttrValues::Count => text.push_str("\n\na whole number from 1"),
        AttrValues::Sampling(parameter) => {
            let _ = write!(text, "\n\n{}", parameter.expected_value());
        }
        AttrValues::Any | AttrValues::Name => {}
    }
    if attribute.required {
        text.push_str("\n\nrequired");
    }
    text
}

/// Removes the marks of Markdown.
pub(in crate::lsp) fn strip_markdown(text: &str) -> String {
    text.replace("**", "").replace('`', "")
}
