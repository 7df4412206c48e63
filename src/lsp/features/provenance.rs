//! Describes the provenance of a setting's value for authors.

use crate::lsp::prelude::*;
use crate::project::config::Config;
use crate::rules::setting_fixes::type_of;
use crate::settings::bodies::Body;
use crate::settings::provenance::{Origin, Place};
use crate::settings::resolve::Resolved;
use crate::syntax::tree::{Document, Element};
use crate::template::elements::Kind as ElementKind;
use crate::template::model::Task;
use crate::template::nodes;
use crate::template::setting::{SettingName, Word};
use std::fmt::Write as _;

/// Describes a setting: “**`inherit_context`** `full` — default of type sequential”, then the
/// overridden values and the way to change it.
pub(in crate::lsp) fn describe(
    config: &Config,
    body: &Body,
    name: SettingName,
    place: impl Fn(&str, u32) -> String,
) -> String {
    let origin = |of: &Origin| origin(config, of, &place);
    let setting = body.resolved.get(name);
    let mut out = format!(
        "**{}** `{}` — {}",
        name.word(),
        setting.value.word(),
        origin(&setting.origin)
    );
    if !setting.applies && setting.value.word() != "N/A" {
        out.push_str("; it has no effect here");
    }
    for beaten in body.resolved.beaten(&config.layers, name) {
        let _ = write!(
            out,
            "; over `{}`, {}",
            beaten.value.word(),
            origin(&beaten.origin)
        );
    }
    // A setting without effect should not be written.
    if setting.applies && !matches!(setting.origin.place, Place::Template(_)) {
        out.push_str("; write it in `<context_management>` to override");
    }
    out
}

/// Calls `look` with the settings of an element's task. The element is a task, a setting or
/// `<context_management>`.
pub(in crate::lsp) fn settings(
    config: &Config,
    document: Document<'_>,
    element: Element<'_>,
    mut look: impl FnMut(&Task<'_>, &Body, Option<SettingName>),
) {
    let setting = setting(element);
    let holder = match (setting, place::kind(element)) {
        (Some(_), _) => element.parent().and_then(Element::parent),
        (None, Some(ElementKind::ContextManagement)) => element.parent(),
        (None, Some(kind)) if kind.is_body() => Some(element),
        _ => None,
    };
    let Some(holder) = holder else { return };
    place::look_resolved(document, config, |file, bodies| {
        nodes::bodies(file, |task, _| {
            if let Some(body) = bodies
                .get(task)
                .filter(|_| task.element.id() == holder.id())
            {
                look(task, body, setting);
            }
        });
    });
}

/// Returns the setting that an element sets.
pub(in crate::lsp) fn setting(element: Element<'_>) -> Option<SettingName> {
    let kind = place::kind(element)?;
    SettingName::ALL
        .iter()
        .copied()
        .find(|name| name.word() == kind.tag())
}

/// Returns the effective settings that the project file sets, each with its place there.
pub(in crate::lsp) fn of_project(
    config: &Config,
    body: &Body,
) -> Vec<(SettingName, (Arc<str>, Span))> {
    let one = |name: &SettingName| {
        let setting = body.resolved.get(*name);
        let (path, span, _) = config.origin(&setting.origin).filter(|_| setting.applies)?;
        Some((*name, (path, span)))
    };
    SettingName::ALL.iter().filter_map(one).collect()
}

/// Describes a setting on one line for a hint: “full: default of type sequential”.
pub(in crate::lsp) fn brief(config: &Config, body: &Body, name: SettingName) -> String {
    let setting = body.resolved.get(name);
    format!(
        "{} = {} ({})",
        name.word(),
        setting.value.word(),
        origin(config, &setting.origin, &|path, line| format!(
            "{path}:{line}"
        ))
    )
}

/// Lists the settings with an effect on one line.
pub(in crate::lsp) fn summary(resolved: &Resolved) -> String {
    let names = SettingName::ALL
        .iter()
        .copied()
        .filter(|name| resolved.get(*name).applies);
    let words: Vec<String> = names
        .map(|name| format!("{} `{}`", name.word(), resolved.get(name).value.word()))
        .collect();
    words.join(", ")
}

fn origin(config: &Config, origin: &Origin, place: &impl Fn(&str, u32) -> String) -> String {
    let of = type_of(config.layers.get(origin.row));
    match origin.place {
        Place::Language => format!("default of {of}"),
        Place::Project(..) => match config.origin(origin) {
            Some((path, _, start)) => format!("set for {of} in {}", place(&path, start.line)),
            None => format!("set for {of} in the project"),
        },
        Place::Template(_) => "written here".to_owned(),
    }
}
