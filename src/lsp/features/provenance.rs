//! Describes the provenance of a setting's value for authors.

use crate::lsp::prelude::*;
use crate::project::config::Config;
use crate::rules::setting_fixes::describe_row;
use crate::settings::bodies::ResolvedBody;
use crate::settings::provenance::{SettingOrigin, ValuePlace};
use crate::settings::resolve::ResolvedSettings;
use crate::syntax::tree::{Element, XmlDocument};
use crate::template::elements::ElementKind;
use crate::template::nodes;
use crate::template::setting::{SettingName, Word};
use std::fmt::Write as _;

/// Describes a setting: “**`inherit_context`** `full` — default of type sequential”, then the
/// overridden values and the way to change it.
pub(in crate::lsp) fn describe_setting(
    config: &Config,
    body: &ResolvedBody,
    name: SettingName,
    place: impl Fn(&str, u32) -> String,
) -> String {
    let origin = |of: &SettingOrigin| describe_origin(config, of, &place);
    let setting = body.resolved.get(name);
    let mut out = format!(
        "**{}** `{}` — {}",
        name.word(),
        setting.value.as_str(),
        origin(&setting.origin)
    );
    if !setting.applies && setting.value.as_str() != "N/A" {
        out.push_str("; it has no effect here");
    }
    for overridden in body.resolved.overridden_values(&config.layers, name) {
        let _ = write!(
            out,
            "; over `{}`, {}",
            overridden.value.as_str(),
            origin(&overridden.origin)
        );
    }
    // A setting without effect should not be written.
    if setting.applies && !matches!(setting.origin.place, ValuePlace::Template(_)) {
        out.push_str("; write it in `<context_management>` to override");
    }
    out
}

/// Returns the task body whose settings an element shows: a task, a setting or
/// `<context_management>`; with the setting if it is one.
pub(in crate::lsp) fn setting_holder(
    element: Element<'_>,
) -> Option<(Element<'_>, Option<SettingName>)> {
    let setting = element_setting(element);
    let holder = match (setting, place::element_kind(element)) {
        (Some(_), _) => element.parent().and_then(Element::parent),
        (None, Some(ElementKind::ContextManagement)) => element.parent(),
        (None, Some(kind)) if kind.is_body() => Some(element),
        _ => None,
    };
    holder.map(|holder| (holder, setting))
}

/// Calls `look` with the settings of an element's task. The element is a task, a setting or
/// `<context_management>`.
pub(in crate::lsp) fn visit_settings(
    config: &Config,
    document: XmlDocument<'_>,
    element: Element<'_>,
    mut look: impl FnMut(&ResolvedBody, Option<SettingName>),
) {
    let Some((holder, setting)) = setting_holder(element) else {
        return;
    };
    place::with_resolved_document(document, config, |file, bodies| {
        nodes::visit_bodies(file, |task, _| {
            if let Some(body) = bodies
                .get(task)
                .filter(|_| task.element.id() == holder.id())
            {
                look(body, setting);
            }
        });
    });
}

/// Returns the setting that an element sets.
pub(in crate::lsp) fn element_setting(element: Element<'_>) -> Option<SettingName> {
    let kind = place::element_kind(element)?;
    SettingName::ALL
        .iter()
        .copied()
        .find(|name| name.word() == kind.tag())
}

/// Returns the effective settings that the project file sets, each with its place there.
pub(in crate::lsp) fn project_settings(
    config: &Config,
    body: &ResolvedBody,
) -> Vec<(SettingName, (Arc<str>, Span))> {
    let one = |name: &SettingName| {
        let setting = body.resolved.get(*name);
        let (path, span, _) = config.origin(&setting.origin).filter(|_| setting.applies)?;
        Some((*name, (path, span)))
    };
    SettingName::ALL.iter().filter_map(one).collect()
}

/// Describes a setting on one line for a hint: “full: default of type sequential”.
pub(in crate::lsp) fn setting_line(
    config: &Config,
    body: &ResolvedBody,
    name: SettingName,
) -> String {
    let setting = body.resolved.get(name);
    format!(
        "{} = {} ({})",
        name.word(),
        setting.value.as_str(),
        describe_origin(config, &setting.origin, &|path, line| format!(
            "{path}:{line}"
        ))
    )
}

/// Lists the settings with an effect on one line.
pub(in crate::lsp) fn settings_summary(resolved: &ResolvedSettings) -> String {
    let names = SettingName::ALL
        .iter()
        .copied()
        .filter(|name| resolved.get(*name).applies);
    let words: Vec<String> = names
        .map(|name| format!("{} `{}`", name.word(), resolved.get(name).value.as_str()))
        .collect();
    words.join(", ")
}

fn describe_origin(
    config: &Config,
    origin: &SettingOrigin,
    place: &impl Fn(&str, u32) -> String,
) -> String {
    let of = describe_row(config.layers.get(origin.row));
    match origin.place {
        ValuePlace::Language => format!("default of {of}"),
        ValuePlace::Project(..) => match config.origin(origin) {
            Some((path, _, start)) => format!("set for {of} in {}", place(&path, start.line)),
            None => format!("set for {of} in the project"),
        },
        ValuePlace::Template(_) => "written here".to_owned(),
    }
}
