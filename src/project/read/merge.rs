//! Merges the project's own file with the shared file that it extends into one [`Config`].

use super::draft::{ConfigDraft, FileOwner, read_draft};
use super::extends::Extends;
use super::layers::DefaultLine;
use super::lints::{LintLine, LintReach};
use super::models::{MODEL, PROVIDER};
use super::package_parts::{extend_roles, find_rules};
#[cfg(feature = "fs")]
use super::packages::load_packages;
use super::roles::ROLE;
use super::shared::load_shared;
use super::value::FaultSink;
use super::workspace_root::load_workspace;
use super::{models, policy_check, routes, row_conflicts, tool_definitions};
use crate::base::hash::Hash;
use crate::base::rule_meta::{Code, RuleMeta};
use crate::base::source::LineIndex;
use crate::base::span::Span;
use crate::project::config::{Config, ConfigFile, ConfigInput, InstalledPackage, Packages};
use crate::project::glob::Globs;
use crate::project::package_fault::PackageFault;
use crate::project::packages::may_hold_contracts;
use crate::project::project_fault::{ProjectFault, ProjectFaultKind};
use crate::project::require::Requirement;
use crate::project::table::ConfigTable;
use crate::settings::layers::{Declarations, Layers};
use std::collections::BTreeMap;

impl Config {
    /// Reads a project file, the shared file that it extends, and the packages that it requires.
    /// Never fails: faults are in [`Config::faults`], and everything else is valid.
    pub fn read(input: &ConfigInput<'_>) -> Self {
        Self::read_using(input, None)
    }

    /// Reads the project file of a package; `packages` are those that it requires.
    #[cfg(feature = "fs")]
    pub(super) fn read_package(input: &ConfigInput<'_>, packages: &Packages) -> Self {
        Self::read_using(input, Some(packages))
    }

    fn read_using(input: &ConfigInput<'_>, packages: Option<&Packages>) -> Self {
        let own_file = ConfigFile {
            path: input.path.into(),
            text: input.text.into(),
            lines: LineIndex::new(input.text),
            hash: Hash::digest(input.text.as_bytes()),
        };
        let mut own = read_draft(input.text, 0, FileOwner::Project, input.rules);
        let mut sink = FaultSink {
            file: 0,
            faults: std::mem::take(&mut own.faults),
        };
        let extends = own.extends.take();
        if let (Some(Extends::File(extends)), Some(section)) = (&extends, own.inherited.first()) {
            let kind = ProjectFaultKind::NoWorkspace {
                name: section.name,
                reason: format!("the project extends {}", extends.path.value),
            };
            sink.report(section.span, kind);
            own.inherited.clear();
        }
        let loaded = match &extends {
            Some(Extends::File(extends)) => load_shared(&mut sink, input, extends),
            Some(Extends::Packages(_)) | None => load_workspace(&mut sink, input, &own.inherited),
        };
        let (shared_file, mut shared) = loaded.map_or_else(
            || (None, ConfigDraft::default()),
            |(file, draft)| (Some(file), draft),
        );
        sink.faults.append(&mut shared.faults);
        let package = own.package.as_ref().map(|package| &package.name.value);
        for (name, dependency) in std::mem::take(&mut shared.dependencies) {
            // A member takes over all packages of its workspace but itself.
            if package != Some(&name) {
                own.dependencies.entry(name).or_insert(dependency);
            }
        }
        let packages = match packages {
            Some(packages) => packages.clone(),
            #[cfg(feature = "fs")]
            None => {
                let package = package.map(String::as_str);
                load_packages(&mut sink, input, &own.dependencies, package)
            }
            #[cfg(not(feature = "fs"))]
            None => Packages::default(),
        };
        let direct = packages.retain_named(|name| own.dependencies.contains_key(name));
        let mut files: Vec<ConfigFile> = std::iter::once(own_file).chain(shared_file).collect();
        if let Some(Extends::Packages(names)) = &extends {
            let packages = find_rules(&mut sink, &direct, names);
            shared.take_rules(&packages, &mut files, input.rules);
        }
        let drafts = MergedDrafts {
            files,
            own,
            shared,
            packages,
            direct,
        };
        merge_files(sink, drafts, input)
    }
}

impl ConfigDraft {
    /// Adds the rules of packages as they are in force there. Of several levels of a lint, the
    /// strictest counts.
    fn take_rules(
        &mut self,
        packages: &[&InstalledPackage],
        files: &mut Vec<ConfigFile>,
        rules: &[&'static RuleMeta],
    ) {
        let mut strictest: BTreeMap<Code, LintLine> = BTreeMap::new();
        for package in packages {
            let config = &package.config;
            let first = files.len() as u16;
            let written = config.files.iter().zip(first..);
            let written: Vec<LintLine> = written
                // Its own faults are those of the package.
                .flat_map(|(file, number)| {
                    read_draft(&file.text, number, FileOwner::Project, rules).lints
                })
                .collect();
            let written = policy_check::lines_by_code(&written);
            for (code, level) in &config.lints.levels {
                let place = written.get(code).filter(|line| line.level == *level);
                let (file, span) =
                    place.map_or((first, Span::default()), |line| (line.file, line.span));
                let line = LintLine {
                    file,
                    span,
                    reach: LintReach::Rule,
                    codes: vec![*code],
                    level: *level,
                };
                let known = strictest.get(code);
                if known.is_none_or(|known| policy_check::is_looser(known.level, *level)) {
                    strictest.insert(*code, line);
                }
            }
            let requirements = config.requirements.iter().cloned();
            self.requirements
                .extend(requirements.map(|own| Requirement {
                    file: first + own.file,
                    ..own
                }));
            files.extend(config.files.iter().cloned());
        }
        self.lints.extend(strictest.into_values());
    }
}

/// Everything that one project file brings.
struct MergedDrafts {
    files: Vec<ConfigFile>,
    own: ConfigDraft,
    shared: ConfigDraft,
    packages: Packages,
    /// Those that the project requires itself.
    direct: Packages,
}

fn merge_files(mut sink: FaultSink, drafts: MergedDrafts, input: &ConfigInput<'_>) -> Config {
    let MergedDrafts {
        files,
        mut own,
        mut shared,
        packages,
        direct,
    } = drafts;
    // Files of a package inside the project are not the project's own.
    for package in packages.iter() {
        if let Some(folder) = package.folder.folder_in_project() {
            for globs in [&mut own.templates.exclude, &mut own.context.exclude] {
                // A name that is no pattern only leaves the files in the search.
                let _ = globs.add_pattern(&folder);
            }
        }
    }
    let is_syntax = |fault: &ProjectFault| matches!(fault.kind, ProjectFaultKind::Syntax { .. });
    // A section missing from a file with invalid TOML causes no further faults.
    let broken = sink
        .faults
        .iter()
        .find(|fault| is_syntax(fault))
        .map(|fault| fault.file);
    let written = sink.faults.len();
    let allowed = policy_check::read_allowed(&mut sink, &shared.allow, 1, input.rules);
    row_conflicts::limit_rows(&mut sink, &mut own.rows);
    let mut declared = Declarations {
        files: files.iter().map(|file| file.path.clone()).collect(),
        rows: own.rows.iter().map(|(_, row)| row.clone()).collect(),
        defaults: Vec::new(),
    };
    let bare = Layers::new(&declared);
    row_conflicts::report_bad_subtypes(&mut sink, &bare, &own.rows);
    row_conflicts::report_bad_defaults(&mut sink, &bare, &mut shared.defaults, 1);
    row_conflicts::report_bad_defaults(&mut sink, &bare, &mut own.defaults, 0);

    declared.defaults = shared.defaults.iter().map(declared_default).collect();
    let shared_layers = Layers::new(&declared);
    declared
        .defaults
        .extend(own.defaults.iter().map(declared_default));
    let mut layers = Layers::new(&declared);
    if policy_check::remove_relaxed_defaults(
        &mut sink,
        &allowed,
        &shared_layers,
        &layers,
        &mut declared,
    ) {
        layers = Layers::new(&declared);
    }
    row_conflicts::report_conflicts(&mut sink, &layers);

    let lints =
        policy_check::merge_lints(&mut sink, &allowed, &shared.lints, &own.lints, input.rules);
    let mut requirements = shared.requirements;
    requirements.append(&mut own.requirements);
    row_conflicts::report_bad_selectors(&mut sink, &layers, &own.roles, &requirements);
    if own.workspace.is_some() {
        // Its members have the templates and scenarios.
        own.templates.include = Some(Globs::default());
        own.eval.scenarios.clear();
    }
    own.models.inherit(shared.models);
    models::set_protocols(&mut own.models, &own.providers);
    routes::load_system_prompts(&mut sink, input, &mut own.roles);
    extend_roles(&mut sink, &direct, &mut own.roles);
    routes::check_routes(&mut sink, &own.roles, &own.models, &own.providers);
    own.tools.take_exports(&mut sink, &direct);
    // That a required package is not available was reported at its line.
    sink.faults.retain(|fault| {
        let ProjectFaultKind::Package { name, why } = &fault.kind else {
            return true;
        };
        *why != PackageFault::Unknown || !own.dependencies.contains_key(name)
    });
    let tools = tool_definitions::define_tools(&mut sink, input, own.tools, &mut own.roles);

    let mut faults = sink.faults;
    if let Some(file) = broken {
        faults.truncate(written);
        faults.retain(|fault| file > 0 || is_syntax(fault));
    }
    merge_lost_headers(&mut faults);
    let mut places = own.eval.scenarios.iter();
    let has_contracts = places.any(|place| may_hold_contracts(&place.value));
    let mut config = Config {
        files,
        name: own.name,
        templates: own.templates,
        context: own.context,
        layers,
        lints,
        requirements,
        limits: own.limits,
        format: own.format,
        owners: own.owners,
        workspace: own.workspace,
        inherited: own.inherited.iter().map(|section| section.name).collect(),
        roles: own.roles,
        models: own.models.sound,
        providers: own.providers.sound,
        eval: own.eval,
        history: own.history,
        record: own.record,
        policy: own.policy,
        mcp: own.mcp,
        requests: own.requests,
        packages,
        tools,
        package: own.package,
        dependencies: own.dependencies,
        faults,
        ..Config::default()
    };
    if has_contracts {
        config.add_exported_roles();
    }
    config
}

fn declared_default(line: &DefaultLine) -> crate::settings::layers::DeclaredDefault {
    line.declared.clone()
}

/// Merges several unknown keys that some other section has into one fault: the section's header is
/// missing above them.
fn merge_lost_headers(faults: &mut Vec<ProjectFault>) {
    let mut unknown: BTreeMap<(u16, String), Vec<String>> = BTreeMap::new();
    for fault in &*faults {
        if let ProjectFaultKind::UnknownKey { table, key, .. } = &fault.kind {
            unknown
                .entry((fault.file, table.clone()))
                .or_default()
                .push(key.clone());
        }
    }
    let sections = [
        ("models", &MODEL),
        ("providers", &PROVIDER),
        ("roles", &ROLE),
    ];
    // A file with more of them was probably not meant as a project file.
    for ((file, table), keys) in unknown
        .into_iter()
        .filter(|(_, keys)| keys.len() > 1)
        .take(32)
    {
        let has_all = |own: &ConfigTable| {
            keys.iter()
                .all(|key| own.key_names().contains(&key.as_str()))
        };
        let Some((section, _)) = sections.into_iter().find(|(_, own)| has_all(own)) else {
            continue;
        };
        let is_own = |fault: &ProjectFault| {
            fault.file == file
                && matches!(&fault.kind, ProjectFaultKind::UnknownKey { table: own, .. } if *own == table)
        };
        let Some(at) = faults
            .iter()
            .find(|fault| is_own(fault))
            .map(|fault| fault.span)
        else {
            continue;
        };
        // Faults that follow from the missing header are removed.
        let of_model = |kind: &ProjectFaultKind| {
            matches!(
                kind,
                ProjectFaultKind::UnknownModel { .. } | ProjectFaultKind::TwoModels { .. }
            )
        };
        let of_provider =
            |kind: &ProjectFaultKind| matches!(kind, ProjectFaultKind::UnknownProvider { .. });
        faults.retain(|fault| match section {
            "models" if of_model(&fault.kind) => false,
            "providers" if of_provider(&fault.kind) => false,
            _ => !is_own(fault),
        });
        faults.push(ProjectFault {
            file,
            span: at,
            kind: ProjectFaultKind::LostHeader {
                table,
                keys,
                section,
            },
        });
    }
    faults.sort_by_key(|fault| (fault.file, fault.span));
}
