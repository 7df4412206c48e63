//! `[workspace]`: the projects of one repository, and the settings that they share.

use super::dependencies::read_dependencies;
use super::inherit::INHERIT_KEY;
use super::keys::WORKSPACE;
use super::layers::{DefaultLine, read_defaults};
use super::lints::{LintLine, read_lints};
use super::models::{ReadModels, read_models};
use super::value::{FaultSink, TomlKey, TomlValue, add_glob, read_table, read_texts, to_span};
use crate::base::rule_meta::RuleMeta;
use crate::project::dependencies::Dependency;
use crate::project::glob::{self, Globs};
use crate::project::project_fault::ProjectFaultKind;
use std::collections::BTreeMap;

/// The sections of a workspace that its members can take over.
#[derive(Debug, Default)]
pub(super) struct SharedSections {
    pub(super) defaults: Vec<DefaultLine>,
    pub(super) lints: Vec<LintLine>,
    pub(super) models: ReadModels,
    pub(super) dependencies: BTreeMap<String, Dependency>,
}

/// The keys that may stand beside `[workspace]`.
const ROOT_KEYS: [&str; 3] = ["edition", "required-version", "workspace"];

/// Reads `[workspace]` in the file of its root. Returns the patterns of its members.
pub(super) fn read_workspace(
    sink: &mut FaultSink,
    value: &TomlValue<'_>,
    rules: &[&'static RuleMeta],
) -> Option<Globs> {
    let mut members = None;
    let mut shared = SharedSections::default();
    for (key, value) in read_table(sink, "workspace", value)? {
        match key.get_ref().as_ref() {
            "members" => members = Some(read_members(sink, value)),
            name if !read_shared_section(sink, name, value, rules, &mut shared) => {
                sink.unknown_key("workspace", key, &WORKSPACE.key_names());
            }
            _ => {}
        }
    }
    if members.is_none() {
        let kind = ProjectFaultKind::WrongType {
            key: "workspace".to_owned(),
            expected: "a table with `members`",
            found: "a table without `members`",
        };
        sink.report(to_span(&value.span()), kind);
    }
    members
}

/// Reads the patterns of members, each of which names folders level by level.
fn read_members(sink: &mut FaultSink, value: &TomlValue<'_>) -> Globs {
    let mut members = Globs::default();
    let key = "workspace.members";
    for pattern in read_texts(sink, key, value) {
        if glob::is_level_by_level(pattern.value) {
            add_glob(sink, &mut members, &pattern);
        } else {
            let expected = "folders level by level, with `*` for those of one level: `teams/*`";
            sink.bad_value(key, &pattern, expected, None);
        }
    }
    members
}

/// Reports the sections that cannot stand beside `[workspace]`.
pub(super) fn report_root_sections<'t>(
    sink: &mut FaultSink,
    keys: impl Iterator<Item = &'t TomlKey<'t>>,
) {
    for key in keys {
        let name = key.get_ref().as_ref();
        if !ROOT_KEYS.contains(&name) {
            let kind = ProjectFaultKind::NotOfWorkspace {
                key: name.to_owned(),
            };
            sink.report(to_span(&key.span()), kind);
        }
    }
}

/// Reads a section that members can take over. Returns false for any other key.
pub(super) fn read_shared_section(
    sink: &mut FaultSink,
    name: &str,
    value: &TomlValue<'_>,
    rules: &[&'static RuleMeta],
    out: &mut SharedSections,
) -> bool {
    // A root takes over nothing, so `workspace = true` is reported.
    let mut inherited = Vec::new();
    match name {
        "defaults" => read_defaults(sink, value, &mut out.defaults, &mut inherited),
        "lints" => read_lints(sink, value, rules, &mut out.lints, &mut inherited),
        "models" => out.models = read_models(sink, value, &mut inherited),
        "dependencies" => {
            out.dependencies = read_dependencies(sink, value, &mut inherited);
        }
        _ => return false,
    }
    for section in inherited {
        let kind = ProjectFaultKind::NotOfWorkspace {
            key: format!("{name}.{INHERIT_KEY}"),
        };
        sink.report(section.span, kind);
    }
    true
}
