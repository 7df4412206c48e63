//! Quick fixes with text that the author must complete or choose: missing elements, a new file, and
//! an `allow` with a reason.

use super::features::provenance;
use super::place::{self, ElementPart};
use super::state::speculative;
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{self, Edit};
use crate::base::fs;
use crate::lsp::prelude::*;
use crate::project::index::{NameIndex, RefId};
use crate::project::linked_names::{LinkFaultKind, Links};
use crate::registry::compile::sources;
use crate::rules::names::undeclared_variable::declare_parameters;
use crate::settings::operators::Operator;
use crate::syntax::tree::{Element, XmlDocument};
use crate::syntax::write::{
    escape_attribute, insert_after, insert_child, insert_first_child, set_attribute, set_content,
};
use crate::template::elements::{Attr, ElementKind};
use crate::template::names::DefinitionKind;
use crate::template::scope::ParameterOrigin;
use crate::template::setting::SettingName;
use std::collections::BTreeSet;

/// The placeholder for text of the author.
const TODO: &str = "TODO";

/// A quick fix.
pub(super) struct QuickFix {
    pub(super) title: String,
    pub(super) edits: Vec<Edit>,
    /// A file to create: its name and content.
    pub(super) creates: Option<(String, String)>,
}

impl QuickFix {
    fn new(title: impl Into<String>, edit: Edit) -> Self {
        Self {
            title: title.into(),
            edits: vec![edit],
            creates: None,
        }
    }
}

/// Returns the quick fixes of each finding of a template.
pub(super) fn for_findings(
    project: &ProjectState,
    name: &Arc<str>,
    text: &str,
    findings: &[&Diagnostic],
) -> Vec<Vec<QuickFix>> {
    if !project.is_xml(name) {
        return Vec::new();
    }
    place::with_document(text, &project.config.limits, |document| {
        let silences: Vec<Option<Edit>> = findings
            .iter()
            .map(|finding| allow_edit(document, finding))
            .collect();
        let silent = suppression_test(
            project,
            name,
            text,
            silences.iter().flatten().cloned().collect(),
        );
        let one = |(finding, silence): (&&Diagnostic, Option<Edit>)| {
            let mut fixes: Vec<QuickFix> =
                creation_fix(project, name, finding).into_iter().collect();
            fixes.extend(free_name_fix(project, name, text, finding));
            fixes.extend(missing_parts_fix(project, document, finding));
            fixes.extend(word_fixes(project, document, finding));
            let silence = silence.filter(|_| silent(finding));
            let title = format!("silence `{}` here, with a reason", finding.rule.name);
            fixes.extend(silence.map(|edit| QuickFix::new(title, edit)));
            fixes.retain(|own| fix::keeps_comments(name, text, &own.edits));
            fixes
        };
        findings.iter().zip(silences).map(one).collect()
    })
}

/// Returns a fix that adds the missing parts, with placeholders for the author's text.
fn missing_parts_fix(
    project: &ProjectState,
    document: XmlDocument<'_>,
    finding: &Diagnostic,
) -> Option<QuickFix> {
    let element = document.element_at(finding.span.start)?;
    let task = |indent: &str| {
        format!(
            "<task type=\"atomic\">\n{indent}  <description>{TODO}</description>\n{indent}</task>"
        )
    };
    let input = format!("<input name=\"{TODO}\">{TODO}</input>");
    let description = format!("{TODO}: say what this is for");
    let kind = place::element_kind(element)?;
    let (parts, edit) = match (finding.rule.name, kind) {
        ("missing-description", ElementKind::Description) if element.attribute("src").is_none() => {
            (
                vec!["<description>".to_owned()],
                set_content(element, &description),
            )
        }
        ("missing-description", _) => insert_parts(
            element,
            kind,
            &[(
                ElementKind::Description,
                format!("<description>{description}</description>"),
            )],
        ),
        ("missing-element", ElementKind::Steps | ElementKind::Case | ElementKind::Template) => {
            insert_parts(element, kind, &[(ElementKind::Task, task(""))])
        }
        ("missing-element", ElementKind::Inputs) => {
            insert_parts(element, kind, &[(ElementKind::Input, input)])
        }
        ("missing-element", _) => {
            let needs = place::task_operator(element)
                .and_then(|operator| Operator::parse(&operator))
                .map_or(&[][..], Operator::required_children);
            let is_there =
                |kind: &&ElementKind| element.elements().any(|child| child.name() == kind.tag());
            let part = |kind: &ElementKind| {
                let tag = kind.tag();
                let inside = if *kind == ElementKind::Steps {
                    format!("\n  {}\n", task("  "))
                } else if *kind == ElementKind::Inputs {
                    format!("\n  {input}\n")
                } else if *kind == ElementKind::Command {
                    TODO.to_owned()
                } else {
                    format!("\n  <description>{TODO}</description>\n")
                };
                (*kind, format!("<{tag}>{inside}</{tag}>"))
            };
            insert_parts(
                element,
                kind,
                &needs
                    .iter()
                    .filter(|kind| !is_there(kind))
                    .map(part)
                    .collect::<Vec<_>>(),
            )
        }
        ("missing-attribute", _) => {
            let mut missing = kind
                .attributes()
                .filter(|own| own.required && element.attribute(own.name).is_none());
            let name = missing.next().filter(|own| own.name == "name")?.name;
            return Some(QuickFix::new(
                format!("add `{name}`"),
                set_attribute(element, name, TODO),
            ));
        }
        ("call-arguments", ElementKind::Call) => {
            let absent = missing_arguments(&project.index(), element);
            let args: Vec<String> = absent
                .iter()
                .map(|name| format!("<arg name=\"{name}\">{TODO}</arg>"))
                .collect();
            (
                absent
                    .iter()
                    .map(|name| format!("<arg name=\"{name}\">"))
                    .collect(),
                insert_child(element, &args.join("\n")),
            )
        }
        ("undeclared-variable" | "implicit-parameter", _) if finding.fixes.is_empty() => {
            return declaration_fix(project, element, finding);
        }
        _ => return None,
    };
    let tags: Vec<String> = parts.iter().map(|tag| format!("`{tag}`")).collect();
    (!tags.is_empty()).then(|| QuickFix::new(format!("add {}", tags.join(" and ")), edit))
}

/// Inserts children at their place in the order of the element table; returns their tags and the
/// edit.
fn insert_parts(
    element: Element<'_>,
    kind: ElementKind,
    parts: &[(ElementKind, String)],
) -> (Vec<String>, Edit) {
    let rank = |tag: &str| {
        kind.spec()
            .children
            .iter()
            .position(|child| child.kind.tag() == tag)
    };
    let first = parts.first().and_then(|(kind, _)| rank(kind.tag()));
    let before = element
        .elements()
        .filter(|child| rank(child.name()) < first)
        .last();
    let xml: Vec<&str> = parts.iter().map(|(_, xml)| xml.as_str()).collect();
    let xml = xml.join("\n");
    let edit = before.map_or_else(
        || insert_first_child(element, &xml),
        |before| insert_after(before, &xml),
    );
    (
        parts
            .iter()
            .map(|(kind, _)| format!("<{}>", kind.tag()))
            .collect(),
        edit,
    )
}

/// Returns a fix that declares the variables of a referenced definition as parameters.
fn declaration_fix(
    project: &ProjectState,
    element: Element<'_>,
    finding: &Diagnostic,
) -> Option<QuickFix> {
    let index = project.index();
    let links = Links::new(&index);
    let is_here = |at: &RefId| {
        index
            .file(at.file)
            .is_some_and(|file| *file.path == finding.path)
            && index
                .reference(*at)
                .is_some_and(|reference| reference.span == finding.span)
    };
    let undeclared = links
        .names
        .faults
        .iter()
        .filter(|fault| is_here(&fault.at))
        .filter_map(|fault| match &fault.kind {
            LinkFaultKind::Undeclared(names) => Some(names.iter().map(|name| &**name)),
            LinkFaultKind::WrongType { .. } => None,
        });
    let implicit = links
        .names
        .implicit
        .values()
        .flatten()
        .filter(|(_, at)| is_here(at))
        .map(|(param, _)| &*param.name);
    let names: BTreeSet<&str> = undeclared.flatten().chain(implicit).collect();
    let holder = place::ancestors(element)
        .find(|own| own.parent().is_none_or(|around| around.name() == "library"))?;
    let origin = if holder.name() == "template" {
        ParameterOrigin::Function(holder)
    } else {
        ParameterOrigin::Task(holder)
    };
    let names: Vec<&str> = names.into_iter().collect();
    let edit = declare_parameters(origin, &names).filter(|_| !names.is_empty())?;
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    Some(QuickFix::new(
        format!("declare {} here", names.join(" and ")),
        edit,
    ))
}

/// Returns a fix that gives one of two equally named definitions a free name.
fn free_name_fix(
    project: &ProjectState,
    name: &str,
    text: &str,
    finding: &Diagnostic,
) -> Option<QuickFix> {
    let definitions = project
        .template(name)
        .map_or(&[][..], |template| &template.facts.definitions);
    let taken = definitions
        .iter()
        .find(|own| own.span == finding.span && finding.rule.name == "duplicate-name")?;
    let index = project.index();
    let free = (2..1_000)
        .map(|number| format!("{}-{number}", taken.name))
        .find(|free| index.find_definition(taken.kind, free).is_none())?;
    let written = escape_attribute(&free);
    let is_written = Span::slice(taken.span, text) == &*taken.name;
    let name = format!(" name=\"{written}\"");
    let edit = if is_written {
        Edit::replace(taken.span, written)
    } else {
        Edit::insert(taken.span.end, name)
    };
    Some(QuickFix::new(format!("name this one `{free}`"), edit))
}

/// Returns a fix for each valid word in place of an invalid one, if the rule suggests none.
fn word_fixes(
    project: &ProjectState,
    document: XmlDocument<'_>,
    finding: &Diagnostic,
) -> Vec<QuickFix> {
    let is_asked = matches!(
        finding.rule.name,
        "bad-value" | "unknown-type" | "unknown-subtype"
    ) && finding.fixes.is_empty();
    let Some((element, spot)) =
        place::element_part(document, finding.span.start).filter(|_| is_asked)
    else {
        return Vec::new();
    };
    let operator = place::task_operator(element).unwrap_or_default();
    let words: Vec<&str> = match spot {
        _ if finding.rule.name == "unknown-type" => {
            project.config.layers.operator_names().collect()
        }
        _ if finding.rule.name == "unknown-subtype" => {
            project.config.layers.subtype_names(&operator).collect()
        }
        ElementPart::Value(own) => place::element_kind(element)
            .and_then(|kind| kind.attribute(own.name()))
            .map_or(&[][..], Attr::allowed_words)
            .to_vec(),
        ElementPart::Name
        | ElementPart::AttributeName(_)
        | ElementPart::Tag
        | ElementPart::Inside => provenance::element_setting(element)
            .map_or(&[][..], SettingName::allowed_words)
            .to_vec(),
    };
    let one =
        |word: &str| QuickFix::new(format!("write `{word}`"), Edit::replace(finding.span, word));
    words.into_iter().map(one).collect()
}

/// Returns the required arguments that a call lacks.
fn missing_arguments(index: &NameIndex<'_>, call: Element<'_>) -> Vec<String> {
    let template = call
        .attribute("template")
        .and_then(|name| index.find_definition(DefinitionKind::Template, name.value().trim()));
    let params = template
        .and_then(|id| index.definition(id))
        .map_or(&[][..], |definition| &definition.params);
    let named: Vec<String> = call
        .elements()
        .filter_map(|arg| Some(arg.attribute("name")?.value().trim().to_owned()))
        .collect();
    let by_position = call
        .elements()
        .filter(|arg| arg.attribute("name").is_none())
        .count();
    let absent = params
        .iter()
        .skip(by_position)
        .filter(|own| own.required && !named.iter().any(|name| **name == *own.name));
    absent.map(|param| param.name.to_string()).collect()
}

/// Returns a fix that creates the missing file of a path or reference.
fn creation_fix(project: &ProjectState, name: &Arc<str>, finding: &Diagnostic) -> Option<QuickFix> {
    let facts = &project.template(name)?.facts;
    let (file, content) = match finding.rule.name {
        "missing-source" | "unreadable-path" => {
            let source = facts
                .sources
                .iter()
                .find(|source| source.span.touches(finding.span.start))?;
            let file = sources::source_name(name, source)?;
            let is_json = file
                .rsplit('.')
                .next()
                .is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
            (
                file,
                if is_json {
                    "{\n  \"type\": \"object\"\n}\n".to_owned()
                } else {
                    format!("{TODO}\n")
                },
            )
        }
        "unresolved-reference" => {
            let reference = facts
                .references
                .iter()
                .find(|own| own.span.touches(finding.span.start))?;
            if reference.kind.definition_kind() != DefinitionKind::Task
                || reference.name.contains(['<', '&', '"', '/', '\\'])
            {
                return None;
            }
            let folder = name
                .rsplit_once('/')
                .map_or_else(String::new, |(folder, _)| format!("{folder}/"));
            let task = &reference.name;
            let content = format!(
                "<task type=\"atomic\" name=\"{task}\">\n  <description>{TODO}</description>\n</task>\n"
            );
            (format!("{folder}{task}.xml"), content)
        }
        _ => return None,
    };
    let is_free = !fs::exists(&project.path(&file)) && !project.open.contains_key(file.as_str());
    is_free.then(|| QuickFix {
        title: format!("create `{file}`"),
        edits: Vec::new(),
        creates: Some((file, content)),
    })
}

/// Returns an edit that adds an `allow` to the definition or call around a finding.
fn allow_edit(document: XmlDocument<'_>, finding: &Diagnostic) -> Option<Edit> {
    let mut around = place::ancestors(document.element_at(finding.span.start));
    let body = around.find(|element| {
        let is_body = place::element_kind(*element).is_some_and(ElementKind::is_body);
        is_body || matches!(element.name(), "template" | "fragment" | "call")
    })?;
    if finding.rule.locked || finding.locked || body.is_empty_tag() {
        return None;
    }
    let rule = finding.rule.name;
    Some(insert_first_child(
        body,
        &format!("<?ctxc allow {rule} reason=\"{TODO}\"?>"),
    ))
}

/// Returns a test for findings that one of these edits suppresses. All edits are applied together
/// and checked once.
fn suppression_test(
    project: &ProjectState,
    name: &Arc<str>,
    text: &str,
    edits: BTreeSet<Edit>,
) -> impl Fn(&Diagnostic) -> bool {
    let edits: Vec<Edit> = edits.into_iter().collect();
    let after = fix::apply_edits(text, &edits).filter(|_| !edits.is_empty());
    let left = after.map(|after| speculative::findings_with_text(project, name, &after));
    move |finding| {
        let added = edits
            .iter()
            .filter(|edit| edit.span.start <= finding.span.start)
            .map(|edit| edit.insert.len());
        let start = finding.span.start as usize + added.sum::<usize>();
        let is_same = |own: &Diagnostic| {
            own.rule.code == finding.rule.code
                && own.span.start as usize == start
                && own.path == finding.path
        };
        left.as_ref().is_some_and(|left| !left.iter().any(is_same))
    }
}
