//! Descriptions of definitions, types and subtypes in Markdown, for completion and hover.
//!
//! The descriptions of a file's definitions are made on demand and cached until the file is
//! compiled again.

use super::provenance;
use crate::lsp::prelude::*;
use crate::lsp::state::buffer::Buffer;
use crate::project::index::{DefId, Index};
use crate::registry::compile::Compiled;
use crate::settings::bodies::Bodies;
use crate::settings::layers::Layers;
use crate::settings::operators::{ALIASES, Operator};
use crate::template::elements::{Attr, Values};
use crate::template::keywords::Trust;
use crate::template::model::{self, Definition, Fragment, Task};
use crate::template::names::DefinitionKind;
use crate::template::parts::Str;
use crate::template::parts::{Parameter, Text};
use crate::template::setting::{SettingName, Word};
use crate::template::text;
use std::fmt::Write as _;
use std::rc::Rc;

/// The maximum length of an excerpt in characters.
const SHOWN: usize = 240;

/// Returns the description of a definition and the path of its file.
pub(in crate::lsp) fn of<'p>(
    project: &'p ProjectState,
    index: &Index<'p>,
    id: DefId,
) -> Option<(&'p Arc<str>, String)> {
    let path = index.file(id.file)?.path;
    let template = project.template(path)?;
    let known = project.docs.borrow().get(path).map(Rc::clone);
    let all = known.unwrap_or_else(|| {
        let made = Rc::new(all(project, path, template));
        project
            .docs
            .borrow_mut()
            .insert(Arc::clone(path), Rc::clone(&made));
        made
    });
    Some((
        path,
        all.get(id.definition as usize).cloned().unwrap_or_default(),
    ))
}

/// Returns the description of a definition after its kind, name and file.
pub(in crate::lsp) fn in_full(
    project: &ProjectState,
    kind: DefinitionKind,
    name: &str,
) -> Option<String> {
    let index = project.index();
    let (path, about) = of(project, &index, index.find(kind, name)?)?;
    Some(with_more(
        format!("{} `{name}` in `{path}`", kind.word()),
        &about,
    ))
}

/// Appends a second paragraph, if it is not empty.
fn with_more(mut first: String, more: &str) -> String {
    if !more.is_empty() {
        let _ = write!(first, "\n\n{more}");
    }
    first
}

/// Describes each definition of a file, in order.
fn all(project: &ProjectState, path: &str, template: &Compiled) -> Vec<String> {
    let Some((text, _)) = project
        .text(path)
        .filter(|(text, _)| !Buffer::is_large_text(text) && !template.facts.definitions.is_empty())
    else {
        return Vec::new();
    };
    place::resolved(&text, &project.config, |file, bodies| {
        file.definitions
            .iter()
            .map(|definition| about(definition, bodies))
            .collect()
    })
}

fn about(definition: &Definition<'_>, bodies: &Bodies) -> String {
    let mut lines = Vec::new();
    match definition {
        Definition::Task(task) => {
            lines.extend(task.description.as_ref().map(first_words));
            lines.extend(parameters(task.parameters.iter().map(parameter)));
            lines.extend(kind(task, bodies));
        }
        Definition::Template(template) => of_template(template, bodies, &mut lines),
        Definition::Fragment(Fragment { text, .. }) => lines.push(first_words(text)),
    }
    lines.retain(|line| !line.is_empty());
    lines.join("\n\n")
}

fn of_template(template: &model::Template<'_>, bodies: &Bodies, lines: &mut Vec<String>) {
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
        own.map_or_else(|| format!("`{}` required", param.value), parameter)
    };
    lines.extend(parameters(template.params.iter().map(one)));
    lines.extend(
        template
            .returns
            .as_ref()
            .map(|returns| format!("returns: `{}`", returns.value)),
    );
    lines.extend(task.and_then(|task| kind(task, bodies)));
}

/// Describes the type of a task and its resolved settings.
fn kind(task: &Task<'_>, bodies: &Bodies) -> Option<String> {
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
        provenance::summary(&body.resolved)
    ))
}

fn parameters(all: impl Iterator<Item = String>) -> Option<String> {
    let all: Vec<String> = all.collect();
    (!all.is_empty()).then(|| format!("parameters: {}", all.join("; ")))
}

/// Describes a parameter: “`subject` string, required”.
fn parameter(parameter: &Parameter<'_>) -> String {
    let name = parameter.name.as_ref().map_or("", |name| &*name.value);
    format!("`{name}` {}", traits(parameter))
}

/// Describes a parameter without its name: “string, required”.
fn traits(parameter: &Parameter<'_>) -> String {
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
            .map(|default| format!("default `{}`", shortened(&default.value))),
    );
    parts.extend((parameter.trust == Trust::Untrusted).then(|| "untrusted".to_owned()));
    parts.join(", ")
}

/// Returns the first words of a text on one line, or the path of its file.
fn first_words(text: &Text<'_>) -> String {
    match &text.src {
        Some(src) => format!("a text in `{}`", src.value),
        None => shortened(&text.element.text()),
    }
}

/// Returns the first words of a text on one line.
pub(in crate::lsp) fn shortened(raw: &str) -> String {
    let words = text::dedent_element(raw);
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or("").trim_end()),
        None => line,
    }
}

/// Describes a type and its default settings.
pub(in crate::lsp) fn of_type(layers: &Layers, word: &str) -> Option<String> {
    let row = layers.get(layers.row(word, None).ok()?);
    let base = row.base();
    let is = match ALIASES
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
        provenance::summary(row.defaults())
    ))
}

/// Lists the settings that a subtype changes.
pub(in crate::lsp) fn of_subtype(layers: &Layers, operator: &str, subtype: &str) -> Option<String> {
    let own = layers
        .get(layers.row(operator, Some(subtype)).ok()?)
        .defaults();
    let of_type = layers.defaults(layers.row(operator, None).ok()?);
    let changed = SettingName::ALL
        .iter()
        .copied()
        .filter(|name| own.get(*name).value != of_type.get(*name).value);
    let changed: Vec<String> = changed
        .map(|name| format!("{} to `{}`", name.word(), own.get(name).value.word()))
        .collect();
    Some(match changed.as_slice() {
        [] => format!(
            "keeps the settings of `{operator}`: {}",
            provenance::summary(own)
        ),
        _ => format!(
            "sets {} (`{operator}` itself: {})",
            changed.join(", "),
            provenance::summary(of_type)
        ),
    })
}

pub(in crate::lsp) fn of_attribute(attribute: &Attr) -> String {
    let mut text = format!("`{}` — {}", attribute.name, attribute.doc);
    match attribute.values {
        Values::OneOf(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            let _ = write!(text, "\n\none of {}", words.join(", "));
        }
        Values::Bool => text.push_str("\n\n`true` or `false`"),
        Values::Count => text.push_str("\n\na whole number from 1"),
        Values::Sampling(parameter) => {
            let _ = write!(text, "\n\n{}", parameter.expected());
        }
        Values::Any | Values::Name => {}
    }
    if attribute.required {
        text.push_str("\n\nrequired");
    }
    text
}

/// Removes the marks of Markdown.
pub(in crate::lsp) fn plain(text: &str) -> String {
    text.replace("**", "").replace('`', "")
}
