//! Ways out of findings that end in a person's words: what is required and missing, a file to create, and an `allow` with a reason.

use super::features::provenance;
use super::place::{self, Spot};
use super::state::project::ProjectState;
use super::state::speculative;
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{self, Edit};
use crate::base::fs;
use crate::base::span::Span;
use crate::project::index::Index;
use crate::registry::compile::sources;
use crate::settings::operators::Operator;
use crate::syntax::tree::{Document, Element};
use crate::syntax::write::escape_attribute;
use crate::template::elements::{Attr, Kind};
use crate::template::names::DefinitionKind;
use crate::template::setting::SettingName;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a person is to write.
const TODO: &str = "TODO";

/// A way out.
pub(super) struct QuickFix {
    pub(super) title: String,
    pub(super) edits: Vec<Edit>,
    /// A file to create, by its name, and what is in it.
    pub(super) creates: Option<(String, String)>,
}

/// The ways out of findings of a template, by finding.
pub(super) fn of(project: &ProjectState, name: &Arc<str>, text: &str, findings: &[&Diagnostic]) -> Vec<Vec<QuickFix>> {
    if !project.is_xml(name) {
        return Vec::new();
    }
    place::with(text, &project.config.limits, |document| {
        let silences: Vec<Option<Edit>> = findings.iter().map(|finding| silence(document, finding)).collect();
        let silent = silent(project, name, text, silences.iter().flatten().cloned().collect());
        let one = |(finding, silence): (&&Diagnostic, Option<Edit>)| {
            let mut fixes: Vec<QuickFix> = creation(project, name, finding).into_iter().collect();
            fixes.extend(free_name(project, name, text, finding));
            fixes.extend(missing(project, document, finding));
            fixes.extend(words(project, document, finding));
            let silence = silence.filter(|_| silent(finding));
            let title = format!("silence `{}` here, with a reason", finding.rule.name);
            fixes.extend(silence.map(|edit| QuickFix { title, edits: vec![edit], creates: None }));
            fixes
        };
        findings.iter().zip(silences).map(one).collect()
    })
}

/// What is required and not there, with a word in the places that a person is to fill.
fn missing(project: &ProjectState, document: Document<'_>, finding: &Diagnostic) -> Option<QuickFix> {
    let element = document.element_at(finding.span.start)?;
    // What is added, as its start tag, and as a whole.
    let one = |tag: &str, inside: &str| (format!("<{tag}>"), format!("<{tag}>{inside}</{tag}>"));
    let parts = match finding.rule.name {
        "missing-description" => vec![one("description", &format!("{TODO}: say what this is for"))],
        "missing-element" => {
            let needs = place::operator(element).and_then(|operator| Operator::parse(&operator)).map_or(&[][..], Operator::needs);
            let is_there = |kind: &&Kind| element.elements().any(|child| child.name() == kind.tag());
            let part = |kind: &Kind| {
                let inside = if *kind == Kind::Steps {
                    "\n  <task type=\"atomic\">\n    <description>TODO</description>\n  </task>\n"
                } else if *kind == Kind::Command {
                    TODO
                } else {
                    "\n  <description>TODO</description>\n"
                };
                one(kind.tag(), inside)
            };
            needs.iter().filter(|kind| !is_there(kind)).map(part).collect()
        }
        "call-arguments" if element.name() == "call" => arguments(&project.index(), element),
        _ => return None,
    };
    let tags: Vec<String> = parts.iter().map(|(tag, _)| format!("`{tag}`")).collect();
    let lines: Vec<&str> = parts.iter().flat_map(|(_, xml)| xml.lines()).collect();
    let title = format!("add {}", tags.join(" and "));
    (!lines.is_empty()).then(|| QuickFix { title, edits: vec![insert(document, element, &lines)], creates: None })
}

/// A free name for one of two definitions that have the same.
fn free_name(project: &ProjectState, name: &str, text: &str, finding: &Diagnostic) -> Option<QuickFix> {
    let definitions = project.template(name).map_or(&[][..], |template| &template.facts.definitions);
    let taken = definitions.iter().find(|own| own.span == finding.span && finding.rule.name == "duplicate-name")?;
    let index = project.index();
    let free = (2..1_000).map(|number| format!("{}-{number}", taken.name)).find(|free| index.find(taken.kind, free).is_none())?;
    let written = escape_attribute(&free);
    let is_written = Span::slice(taken.span, text) == &*taken.name;
    let name = format!(" name=\"{written}\"");
    let edit = if is_written { Edit::replace(taken.span, written) } else { Edit::insert(taken.span.end, name) };
    Some(QuickFix { title: format!("name this one `{free}`"), edits: vec![edit], creates: None })
}

/// Each word that can stand in place of one that cannot, where none of them is near.
fn words(project: &ProjectState, document: Document<'_>, finding: &Diagnostic) -> Vec<QuickFix> {
    let is_asked = matches!(finding.rule.name, "bad-value" | "unknown-type") && finding.fixes.is_empty();
    let Some((element, spot)) = place::spot(document, finding.span.start).filter(|_| is_asked) else { return Vec::new() };
    let words: Vec<&str> = match spot {
        _ if finding.rule.name == "unknown-type" => project.config.layers.operators().collect(),
        Spot::Value(own) => {
            place::kind(element).and_then(|kind| kind.attribute(own.name())).map_or(&[][..], Attr::words).to_vec()
        }
        Spot::Name | Spot::AttributeName(_) | Spot::Tag | Spot::Inside => {
            provenance::setting(element).map_or(&[][..], SettingName::words).to_vec()
        }
    };
    let one =
        |word: &str| QuickFix { title: format!("write `{word}`"), edits: vec![Edit::replace(finding.span, word)], creates: None };
    words.into_iter().map(one).collect()
}

/// The arguments that a call has to give and does not.
fn arguments(index: &Index<'_>, call: Element<'_>) -> Vec<(String, String)> {
    let template = call.attribute("template").and_then(|name| index.find(DefinitionKind::Template, name.value().trim()));
    let params = template.and_then(|id| index.definition(id)).map_or(&[][..], |definition| &definition.params);
    let named: Vec<String> = call.elements().filter_map(|arg| Some(arg.attribute("name")?.value().trim().to_owned())).collect();
    let by_position = call.elements().filter(|arg| arg.attribute("name").is_none()).count();
    let absent =
        params.iter().skip(by_position).filter(|param| param.required && !named.iter().any(|name| **name == *param.name));
    let tag = |name: &str| format!("<arg name=\"{name}\">");
    absent.map(|param| (tag(&param.name), format!("{}{TODO}</arg>", tag(&param.name)))).collect()
}

/// Writes lines at the beginning of an element.
fn insert(document: Document<'_>, element: Element<'_>, lines: &[&str]) -> Edit {
    let tag = element.start_tag();
    let head = document.text.get(..tag.start as usize).unwrap_or("");
    let line = head.rsplit('\n').next().unwrap_or("");
    let indent: String = line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
    let lines: Vec<String> = lines.iter().map(|line| format!("\n{indent}  {line}")).collect();
    let inner = lines.concat();
    if element.is_empty_tag() {
        let span = Span::new(tag.end.saturating_sub(2), tag.end);
        return Edit::replace(span, format!(">{inner}\n{indent}</{}>", element.name()));
    }
    Edit::insert(tag.end, inner)
}

/// The file that a template names and that is not there.
fn creation(project: &ProjectState, name: &Arc<str>, finding: &Diagnostic) -> Option<QuickFix> {
    let facts = &project.template(name)?.facts;
    let (file, content) = match finding.rule.name {
        "missing-source" | "unreadable-path" => {
            let source = facts.sources.iter().find(|source| source.span.touches(finding.span.start))?;
            let file = sources::name_of_source(name, source)?;
            let is_json = file.rsplit('.').next().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
            (file, if is_json { "{\n  \"type\": \"object\"\n}\n".to_owned() } else { format!("{TODO}\n") })
        }
        "unresolved-reference" => {
            let reference = facts.references.iter().find(|own| own.span.touches(finding.span.start))?;
            if reference.kind.target() != DefinitionKind::Task || reference.name.contains(['<', '&', '"', '/', '\\']) {
                return None;
            }
            let folder = name.rsplit_once('/').map_or_else(String::new, |(folder, _)| format!("{folder}/"));
            let task = &reference.name;
            let content = format!("<task type=\"atomic\" name=\"{task}\">\n  <description>{TODO}</description>\n</task>\n");
            (format!("{folder}{task}.xml"), content)
        }
        _ => return None,
    };
    let is_free = !fs::exists(&project.path(&file)) && !project.open.contains_key(file.as_str());
    is_free.then(|| QuickFix { title: format!("create `{file}`"), edits: Vec::new(), creates: Some((file, content)) })
}

/// An `allow` in the task around a finding.
fn silence(document: Document<'_>, finding: &Diagnostic) -> Option<Edit> {
    let mut around = place::around(document.element_at(finding.span.start));
    let body = around.find(|element| {
        let is_body = place::kind(*element).is_some_and(Kind::is_body);
        is_body || matches!(element.name(), "template" | "fragment" | "call")
    })?;
    if finding.rule.locked || finding.locked || body.is_empty_tag() {
        return None;
    }
    let rule = finding.rule.name;
    Some(insert(document, body, &[&format!("<?ctxc allow {rule} reason=\"{TODO}\"?>")]))
}

/// Which findings are silenced by one of these: all of them are made at once, and checked once.
fn silent(project: &ProjectState, name: &Arc<str>, text: &str, edits: BTreeSet<Edit>) -> impl Fn(&Diagnostic) -> bool {
    let edits: Vec<Edit> = edits.into_iter().collect();
    let after = fix::apply(text, &edits).filter(|_| !edits.is_empty());
    let left = after.map(|after| speculative::found(project, name, &after));
    move |finding| {
        let added = edits.iter().filter(|edit| edit.span.start <= finding.span.start).map(|edit| edit.insert.len());
        let start = finding.span.start as usize + added.sum::<usize>();
        let is_same =
            |own: &Diagnostic| own.rule.code == finding.rule.code && own.span.start as usize == start && own.path == finding.path;
        left.as_ref().is_some_and(|left| !left.iter().any(is_same))
    }
}
