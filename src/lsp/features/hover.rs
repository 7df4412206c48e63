//! Hover: the meaning of elements, attributes and settings, the origin of resolved values, and the
//! token counts of tasks and segments once they are known.

use super::mentions::{self, MentionTarget};
use super::{docs, provenance, variable_definition, variables};
use crate::lsp::data;
use crate::lsp::diagnostics::{file_uri, remarks};
use crate::lsp::place::{self, ElementPart, task_operator};
use crate::lsp::prelude::*;
use crate::lsp::state::project::PROJECT_FILE;
use crate::lsp::state::read_cache::{self, BodyTable};
use crate::lsp::state::span_index::SpanIndex;
use crate::lsp::tokens::docs as token_docs;
use crate::project::config::Config;
use crate::syntax::tree::{Attribute, Element};
use crate::template;
use crate::template::elements::ElementKind;
use crate::template::names::DefinitionKind;
use crate::template::setting::{SettingName, Word};
use gen_lsp_types::{Contents, Hover, HoverParams, MarkupContent, MarkupKind};
use std::fmt::Write as _;
use std::rc::Rc;

/// Answers `textDocument/hover`.
pub(in crate::lsp) fn answer(server: &LspServer<'_>, params: HoverParams) -> RequestResult {
    let at = params.text_document_position_params;
    let (project, name, buffer, offset) = server.document_position(&at)?;
    let config = &project.config;
    // The description of a name comes before that of the place.
    let named = if buffer.is_large() {
        None
    } else {
        describe_name(project, &name, offset)
    };
    let known = server
        .token_counts
        .counts_of(&(project.root.clone(), Arc::clone(&name)));
    let (placed, figures) = if project.is_xml(&name) {
        project
            .read
            .with_tree(&name, &buffer.text, &config.limits, |document| {
                let bodies = || {
                    project.read.bodies(&name, || {
                        let file = template::lower_document(document);
                        read_cache::index_bodies(&file, &config.layers)
                    })
                };
                let figures = known.and_then(|known| {
                    let definitions = &project.template(&name)?.facts.definitions;
                    let element = document.element_at(offset)?;
                    token_docs::describe_element(element, definitions, &bodies(), &known)
                });
                let placed = place::element_part(document, offset).and_then(|(element, part)| {
                    let bodies = &bodies;
                    let place = HoveredPart {
                        element,
                        part,
                        bodies,
                    };
                    describe_place(server, project, &place)
                });
                (placed, figures)
            })
    } else {
        (None, None)
    };
    let shown = match (named, placed) {
        (Some((name, span)), Some((place, _))) => Some((format!("{name}\n\n{place}"), span)),
        (named, placed) => named.or(placed),
    };
    let mut lines: Vec<String> = shown.iter().map(|(text, _)| text.clone()).collect();
    // The notes and help of findings at this place.
    let known = project.read.findings(&name, || project.findings(&name));
    let touching = known.spans.touching(offset).into_iter();
    for finding in touching.filter_map(|number| known.findings.get(number)) {
        let more: Vec<String> = remarks(finding).collect();
        let more = if more.is_empty() {
            finding.rule.summary.to_owned()
        } else {
            more.join("; ")
        };
        lines.push(format!(
            "`{}` ({}): {more}",
            finding.rule.name, finding.rule.code
        ));
    }
    lines.extend(figures);
    if lines.is_empty() {
        return Ok(Value::Null);
    }
    let text = lines.join("\n\n");
    let (kind, text) = if server.client.markdown {
        (MarkupKind::Markdown, text)
    } else {
        (MarkupKind::PlainText, docs::strip_markdown(&text))
    };
    let range = shown.map(|(_, span)| {
        server
            .client
            .encoding
            .range(&buffer.text, &buffer.index, span)
    });
    to_answer(Hover {
        contents: Contents::MarkupContent(MarkupContent { kind, value: text }),
        range,
    })
}

/// Describes the definition or variable whose name is at an offset.
fn describe_name(project: &ProjectState, file: &Arc<str>, offset: u32) -> Option<(String, Span)> {
    let Some(template) = project.template(file) else {
        let is_ours = **file == *PROJECT_FILE || project.is_scenario(file);
        let about_key = || data::completion::key_hover(file, project.open.get(file)?, offset);
        let pointed = || variables::variable_at(project, file, offset);
        let about_text = || {
            pointed().and_then(|pointed| {
                Some((
                    variable_definition::describe_variable(project, &pointed)?,
                    pointed.span,
                ))
            })
        };
        return describe_mention(project, file, offset)
            .or_else(about_text)
            .or_else(|| if is_ours { about_key() } else { None });
    };
    let facts = &template.facts;
    let known = variables::known_facts(project, file)?;
    let first = |spans: &SpanIndex| spans.touching(offset).first().copied();
    if let Some(found) = first(&known.references).and_then(|at| facts.references.get(at)) {
        return Some((
            docs::full_definition_doc(project, found.kind.definition_kind(), &found.name)?,
            found.span,
        ));
    }
    if let Some(found) = first(&known.definitions).and_then(|at| facts.definitions.get(at)) {
        // A definition named by its file has its tag as span, which is described as an element.
        let is_written = found.span.len() as usize >= found.name.len()
            && project
                .open
                .get(&**file)?
                .text
                .get(..found.span.start as usize)?
                .ends_with(['"', '\'']);
        return if is_written {
            Some((
                docs::full_definition_doc(project, found.kind, &found.name)?,
                found.span,
            ))
        } else {
            None
        };
    }
    let pointed = variables::variable_at(project, file, offset)?;
    Some((
        variable_definition::describe_variable(project, &pointed)?,
        pointed.span,
    ))
}

/// Describes a name in a scenario or in the project file.
fn describe_mention(project: &ProjectState, file: &str, offset: u32) -> Option<(String, Span)> {
    let found = mentions::mention_at(project, file, offset)?;
    let about = if let Some(kind) = found.definition_kind(project) {
        docs::full_definition_doc(project, kind, &found.name)?
    } else if found.target == MentionTarget::Model {
        let model = project.config.models.get(&found.name)?;
        let (provider, tier, window, reserve) = (
            &model.provider.value,
            model.tier.word(),
            model.window,
            model.reserve,
        );
        format!(
            "model `{}` — `{}` of provider `{provider}`, tier {tier}: a context window of {window} tokens, {reserve} of them for the answer",
            found.name, model.id
        )
    } else if found.target == MentionTarget::Role {
        let role = project.config.roles.get(&found.name)?;
        let task = docs::full_definition_doc(project, DefinitionKind::Task, &role.task.value)?;
        let about = role
            .description
            .as_ref()
            .map_or_else(String::new, |about| format!(" — {about}"));
        format!("role `{}`{about}\n\n{task}", found.name)
    } else {
        variable_definition::describe_variable(
            project,
            &mentions::mentioned_variable(project, &found)?,
        )?
    };
    Some((about, found.span))
}

/// Describes the value of an attribute by the language or the project file.
fn describe_value(
    config: &Config,
    element: Element<'_>,
    kind: ElementKind,
    attribute: Attribute<'_>,
) -> Option<String> {
    let word = attribute.value();
    let word = word.trim();
    let meaning = match (kind, attribute.name()) {
        (ElementKind::Task, "type") => docs::type_doc(&config.layers, word),
        (ElementKind::Task, "subtype") => {
            let operator = task_operator(element).unwrap_or_else(|| "atomic".to_owned());
            docs::subtype_doc(&config.layers, &operator, word)
        }
        (_, name) => kind.attribute(name)?.word_meaning(word).map(str::to_owned),
    };
    Some(format!("`{word}` — {}", meaning?))
}

/// The part of an element at the cursor.
struct HoveredPart<'p, 'a> {
    element: Element<'a>,
    part: ElementPart<'a>,
    /// Returns the task bodies of its file.
    bodies: &'p dyn Fn() -> Rc<BodyTable>,
}

fn describe_place(
    server: &LspServer<'_>,
    project: &ProjectState,
    place: &HoveredPart<'_, '_>,
) -> Option<(String, Span)> {
    let config = &project.config;
    let (element, spot) = (place.element, place.part);
    let kind = place::element_kind(element)?;
    match spot {
        ElementPart::AttributeName(attribute) => Some((
            docs::attribute_doc(kind.attribute(attribute.name())?),
            attribute.span(),
        )),
        ElementPart::Value(attribute) => {
            let own = docs::attribute_doc(kind.attribute(attribute.name())?);
            Some(match describe_value(config, element, kind, attribute) {
                Some(value) => (format!("{value}\n\n{own}"), attribute.value_span()),
                None => (own, attribute.span()),
            })
        }
        ElementPart::Name | ElementPart::Tag | ElementPart::Inside => {
            let setting = provenance::element_setting(element);
            let mut text = match spot {
                ElementPart::Name | ElementPart::Tag => describe_element(kind),
                // The text inside an element has no description of its own.
                ElementPart::AttributeName(_) | ElementPart::Value(_) | ElementPart::Inside
                    if setting.is_none() =>
                {
                    return None;
                }
                ElementPart::AttributeName(_) | ElementPart::Value(_) | ElementPart::Inside => {
                    let word = element.text();
                    let meaning = setting.and_then(|setting| setting.word_meaning(word.trim()));
                    meaning.map_or_else(String::new, |meaning| {
                        format!("`{}` — {meaning}", word.trim())
                    })
                }
            };
            let resolved = describe_settings(server, project, place);
            if !resolved.is_empty() && !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&resolved);
            (!text.is_empty()).then(|| (text, element.name_span()))
        }
    }
}

fn describe_element(kind: ElementKind) -> String {
    let spec = kind.spec();
    let mut text = format!("`<{}>` — {}", spec.tag, spec.doc);
    if let Some(instead) = spec.deprecated {
        let _ = write!(text, "\n\nof an older dialect: {instead}");
    }
    text
}

/// Describes the resolved settings around an element and their origins.
fn describe_settings(
    server: &LspServer<'_>,
    project: &ProjectState,
    hovered: &HoveredPart<'_, '_>,
) -> String {
    let config = &project.config;
    let place = |path: &str, line: u32| {
        let uri = file_uri(project, path).0;
        if server.client.markdown {
            format!("[{path}:{line}]({uri}#L{line})")
        } else {
            format!("{path}:{line}")
        }
    };
    let Some((holder, setting)) = provenance::setting_holder(hovered.element) else {
        return String::new();
    };
    let bodies = (hovered.bodies)();
    let Some(known) = bodies.get(&holder.id()) else {
        return String::new();
    };
    let Some(body) = &known.resolved else {
        return String::new();
    };
    // For a whole task, a setting without effect is described only if it is written.
    let is_described =
        |name: SettingName| body.resolved.get(name).applies || known.written.span(name).is_some();
    let names = SettingName::ALL
        .iter()
        .filter(|name| setting.map_or(is_described(**name), |one| one == **name));
    let all: Vec<String> = names
        .map(|name| provenance::describe_setting(config, body, *name, place))
        .collect();
    all.join("\n\n")
}
