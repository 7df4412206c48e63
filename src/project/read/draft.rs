//! Reads one project file, before it is merged with the file that it extends.

use super::dependencies::read_dependencies;
use super::eval::read_eval;
use super::extends::{Extends, read_extends};
use super::inherit::InheritedSection;
use super::keys::{SHARED_KEYS, TOP_TABLE};
use super::layers::{DefaultLine, read_defaults, read_operators};
use super::lints::{LintLine, read_lints};
use super::models::{ReadModels, ReadProviders, read_models, read_providers};
use super::package::read_package;
use super::policy::{POLICY_ROWS, read_servers};
use super::requests;
use super::require::read_requirements;
use super::roles::read_roles;
use super::row::read_rows;
use super::sections::{
    ALLOW_ROWS, CONTEXT_ROWS, FORMAT_ROWS, HISTORY_ROWS, LIMIT_ROWS, RECORD_ROWS, TEMPLATES_ROWS,
    check_edition, check_version, read_owners, read_project,
};
use super::tool_definitions::{WrittenTools, read_tools};
use super::value::{FaultSink, TomlTable, to_span};
use super::workspace::{read_workspace, report_root_sections};
use crate::base::rule_meta::RuleMeta;
use crate::base::span::{Span, Spanned};
use crate::project::config::{
    Format, LookupSettings, McpServerConfig, Policy, RecordSettings, RequestSettings, Templates,
};
use crate::project::dependencies::Dependency;
use crate::project::eval::Eval;
use crate::project::glob::Globs;
use crate::project::package_section::PackageSection;
use crate::project::project_fault::{ProjectFault, ProjectFaultKind};
use crate::project::require::Requirement;
use crate::project::roles::Role;
use crate::settings::layers::DeclaredRow;
use crate::syntax::limits::XmlLimits;
use std::collections::BTreeMap;

/// The owner of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileOwner {
    /// The project's own.
    Project,
    /// A file that the project extends.
    Shared,
}

/// The whole content of one file.
#[derive(Debug, Default)]
pub(super) struct ConfigDraft {
    pub(super) name: Option<Spanned<String>>,
    pub(super) extends: Option<Extends>,
    pub(super) templates: Templates,
    pub(super) context: LookupSettings,
    pub(super) rows: Vec<(Span, DeclaredRow)>,
    pub(super) defaults: Vec<DefaultLine>,
    pub(super) lints: Vec<LintLine>,
    pub(super) requirements: Vec<Requirement>,
    pub(super) owners: Vec<(Globs, String)>,
    pub(super) limits: XmlLimits,
    pub(super) format: Format,
    pub(super) roles: BTreeMap<String, Role>,
    pub(super) tools: WrittenTools,
    pub(super) models: ReadModels,
    pub(super) providers: ReadProviders,
    pub(super) eval: Eval,
    pub(super) history: Option<Spanned<String>>,
    pub(super) record: RecordSettings,
    pub(super) policy: Policy,
    pub(super) mcp: BTreeMap<String, McpServerConfig>,
    pub(super) requests: RequestSettings,
    pub(super) package: Option<PackageSection>,
    pub(super) dependencies: BTreeMap<String, Dependency>,
    pub(super) allow: Vec<Spanned<String>>,
    pub(super) workspace: Option<Globs>,
    pub(super) inherited: Vec<InheritedSection>,
    pub(super) faults: Vec<ProjectFault>,
}

/// Reads one file. If it is not valid TOML, the valid lines are read, and only the first error is
/// reported; if it is for another version of the program, only that.
pub(super) fn read_draft(
    text: &str,
    file: u16,
    owner: FileOwner,
    rules: &[&'static RuleMeta],
) -> ConfigDraft {
    let mut sink = FaultSink {
        file,
        faults: Vec::new(),
    };
    let (tree, errors) = toml::de::DeTable::parse_recoverable(text);
    let mut out = ConfigDraft::default();
    read_sections(&mut sink, &mut out, tree.get_ref(), owner, rules);
    let is_of_version =
        |fault: &ProjectFault| matches!(fault.kind, ProjectFaultKind::WrongVersion { .. });
    if sink.faults.iter().any(is_of_version) {
        // Another version can give every other line another meaning.
        sink.faults.retain(is_of_version);
    } else if let Some(error) = errors.first() {
        // Further faults repeat it, or concern lines that were misread after it.
        sink.faults.clear();
        let at = error
            .span()
            .map_or(Span::empty_at(0), |range| to_span(&range).visible(text));
        sink.report(
            at,
            ProjectFaultKind::Syntax {
                message: error.message().to_owned(),
            },
        );
    }
    out.faults = sink.faults;
    out
}

fn read_sections(
    sink: &mut FaultSink,
    out: &mut ConfigDraft,
    tree: &TomlTable<'_>,
    owner: FileOwner,
    rules: &[&'static RuleMeta],
) {
    for (key, value) in tree {
        let name = key.get_ref().as_ref();
        if owner == FileOwner::Shared
            && TOP_TABLE.keys.iter().any(|key| key.name == name)
            && !SHARED_KEYS.contains(&name)
        {
            sink.report(
                to_span(&key.span()),
                ProjectFaultKind::NotShared {
                    key: name.to_owned(),
                },
            );
            continue;
        }
        match name {
            "edition" => check_edition(sink, value),
            "required-version" => check_version(sink, value),
            "extends" => out.extends = read_extends(sink, value),
            "project" => out.name = read_project(sink, value),
            "templates" => read_rows(sink, name, value, TEMPLATES_ROWS, &mut out.templates),
            "context" => read_rows(sink, name, value, CONTEXT_ROWS, &mut out.context),
            "defaults" => read_defaults(sink, value, &mut out.defaults, &mut out.inherited),
            "operators" => read_operators(sink, value, &mut out.rows),
            "lints" => {
                read_lints(sink, value, rules, &mut out.lints, &mut out.inherited);
            }
            "require" => read_requirements(sink, value, &mut out.requirements),
            "owners" => read_owners(sink, value, &mut out.owners),
            "limits" => read_rows(sink, name, value, LIMIT_ROWS, &mut out.limits),
            "fmt" => read_rows(sink, name, value, FORMAT_ROWS, &mut out.format),
            "allow" => read_rows(sink, name, value, ALLOW_ROWS, &mut out.allow),
            "roles" => out.roles = read_roles(sink, value),
            "tools" => out.tools = read_tools(sink, value),
            "models" => out.models = read_models(sink, value, &mut out.inherited),
            "providers" => out.providers = read_providers(sink, value),
            "eval" => out.eval = read_eval(sink, key, value),
            "history" => read_rows(sink, name, value, HISTORY_ROWS, &mut out.history),
            "record" => read_rows(sink, name, value, RECORD_ROWS, &mut out.record),
            "policy" => read_rows(sink, name, value, POLICY_ROWS, &mut out.policy),
            "mcp" => out.mcp = read_servers(sink, value),
            "requests" => read_rows(sink, name, value, requests::ROWS, &mut out.requests),
            "dependencies" => {
                out.dependencies = read_dependencies(sink, value, &mut out.inherited);
            }
            "workspace" => {
                out.workspace = read_workspace(sink, value, rules);
                report_root_sections(sink, tree.iter().map(|(key, _)| key));
            }
            "package" => out.package = read_package(sink, key, value),
            _ if owner == FileOwner::Shared => sink.unknown_key("", key, &SHARED_KEYS),
            _ => sink.unknown_key("", key, &TOP_TABLE.key_names()),
        }
    }
}
