//! Where a setting's value comes from, in an author's words.

use crate::project::config::Config;
use crate::settings::bodies::Body;
use crate::settings::layers::Row;
use crate::settings::operators::Kind;
use crate::settings::provenance::{Origin, Place};
use crate::settings::resolve::Resolved;
use crate::template::setting::{SettingName, Word};
use std::fmt::Write as _;

/// “**`inherit_context`** `full` — default of type sequential”; what it has beaten, and how to change it.
pub(in crate::lsp) fn describe(config: &Config, body: &Body, name: SettingName) -> String {
    let setting = body.resolved.get(name);
    let mut out = format!("**{}** `{}` — {}", name.word(), setting.value.word(), origin(config, &setting.origin));
    if !setting.applies && setting.value.word() != "N/A" {
        out.push_str("; it has no effect here");
    }
    for beaten in body.resolved.beaten(&config.layers, name) {
        let _ = write!(out, "; over `{}`, {}", beaten.value.word(), origin(config, &beaten.origin));
    }
    // What has no effect is not to be written.
    if setting.applies && !matches!(setting.origin.place, Place::Template(_)) {
        out.push_str("; write it in `<context_management>` to override");
    }
    out
}

/// One line for a hint: “full: default of type sequential”.
pub(in crate::lsp) fn brief(config: &Config, body: &Body, name: SettingName) -> String {
    let setting = body.resolved.get(name);
    format!("{} = {} ({})", name.word(), setting.value.word(), origin(config, &setting.origin))
}

/// What holds, in one line: the settings that have an effect.
pub(in crate::lsp) fn summary(resolved: &Resolved) -> String {
    let names = SettingName::ALL.iter().copied().filter(|name| resolved.get(*name).applies);
    let words: Vec<String> = names.map(|name| format!("{} `{}`", name.word(), resolved.get(name).value.word())).collect();
    words.join(", ")
}

fn origin(config: &Config, origin: &Origin) -> String {
    let of = row(config.layers.get(origin.row));
    match origin.place {
        Place::Language => format!("default of {of}"),
        Place::Project(..) => match config.origin(origin) {
            Some((path, _, start)) => format!("set for {of} in {path}:{}", start.line),
            None => format!("set for {of} in the project"),
        },
        Place::Template(_) => "written here".to_owned(),
    }
}

fn row(row: &Row) -> String {
    let operator = row.operator();
    match (row.subtype(), row.kind()) {
        (Some(part), Kind::Part) => format!("{part} in type {operator}"),
        (Some(subtype), Kind::Operator | Kind::Subtype) => format!("type {operator} with subtype {subtype}"),
        (None, _) => format!("type {operator}"),
    }
}
