//! Merges the project's own file with the shared file that it extends into one [`Config`].

use super::check;
use super::draft::{Draft, Owner, draft};
use super::layers::DefaultLine;
use super::models::{self, MODEL, PROVIDER};
use super::policy_check;
use super::roles::ROLE;
use super::routes;
use super::shared::load;
use super::tool_definitions;
use super::value::Sink;
use crate::base::hash::Hash;
use crate::base::source::LineIndex;
use crate::project::config::{Config, ConfigFile, Input};
use crate::project::fault::{Fault, FaultKind};
use crate::project::table::Table;
use crate::settings::layers::{Declarations, Layers};
use std::collections::BTreeMap;

impl Config {
    /// Reads a project file, and the shared file that it extends. Never fails: faults are in
    /// [`Config::faults`], and everything else is valid.
    pub fn read(input: &Input<'_>) -> Self {
        let own_file = ConfigFile {
            path: input.path.into(),
            text: input.text.into(),
            lines: LineIndex::new(input.text),
            hash: Hash::of(input.text.as_bytes()),
        };
        let mut own = draft(input.text, 0, Owner::Project, input.rules);
        let mut sink = Sink {
            file: 0,
            faults: std::mem::take(&mut own.faults),
        };
        let loaded = own
            .extends
            .take()
            .and_then(|extends| load(&mut sink, input, &extends));
        let (shared_file, mut shared) = loaded.map_or_else(
            || (None, Draft::default()),
            |(file, draft)| (Some(file), draft),
        );
        sink.faults.append(&mut shared.faults);
        let files: Vec<ConfigFile> = std::iter::once(own_file).chain(shared_file).collect();
        merge(sink, files, own, shared, input)
    }
}

fn merge(
    mut sink: Sink,
    files: Vec<ConfigFile>,
    mut own: Draft,
    mut shared: Draft,
    input: &Input<'_>,
) -> Config {
    let is_syntax = |fault: &Fault| matches!(fault.kind, FaultKind::Syntax { .. });
    // A section missing from a file with invalid TOML causes no further faults.
    let broken = sink
        .faults
        .iter()
        .find(|fault| is_syntax(fault))
        .map(|fault| fault.file);
    let written = sink.faults.len();
    let allowed = policy_check::allowed(&mut sink, &shared.allow, 1, input.rules);
    check::rows(&mut sink, &mut own.rows);
    let mut declared = Declarations {
        files: files.iter().map(|file| file.path.clone()).collect(),
        rows: own.rows.iter().map(|(_, row)| row.clone()).collect(),
        defaults: Vec::new(),
    };
    let bare = Layers::new(&declared);
    check::subtypes(&mut sink, &bare, &own.rows);
    check::defaults(&mut sink, &bare, &mut shared.defaults, 1);
    check::defaults(&mut sink, &bare, &mut own.defaults, 0);

    declared.defaults = shared.defaults.iter().map(declaration).collect();
    let shared_layers = Layers::new(&declared);
    declared
        .defaults
        .extend(own.defaults.iter().map(declaration));
    let mut layers = Layers::new(&declared);
    if policy_check::defaults(&mut sink, &allowed, &shared_layers, &layers, &mut declared) {
        layers = Layers::new(&declared);
    }
    check::conflicts(&mut sink, &layers);

    let lints = policy_check::lints(&mut sink, &allowed, &shared.lints, &own.lints, input.rules);
    let mut requirements = shared.requirements;
    requirements.append(&mut own.requirements);
    check::selectors(&mut sink, &layers, &own.roles, &requirements);
    models::protocols(&mut own.models, &own.providers);
    routes::routes(&mut sink, &own.roles, &own.models, &own.providers);
    routes::system_prompts(&mut sink, input, &mut own.roles);
    tool_definitions::define(&mut sink, input, own.tools, &mut own.roles);

    let mut faults = sink.faults;
    if let Some(file) = broken {
        faults.truncate(written);
        faults.retain(|fault| file > 0 || is_syntax(fault));
    }
    lost_headers(&mut faults);
    Config {
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
        roles: own.roles,
        models: own.models.sound,
        providers: own.providers.sound,
        eval: own.eval,
        history: own.history,
        record: own.record,
        policy: own.policy,
        mcp: own.mcp,
        requests: own.requests,
        reserved: own.reserved,
        faults,
        ..Config::default()
    }
}

fn declaration(line: &DefaultLine) -> crate::settings::layers::DeclaredDefault {
    line.declared.clone()
}

/// Merges several unknown keys that some other section has into one fault: the section's header is
/// missing above them.
fn lost_headers(faults: &mut Vec<Fault>) {
    let mut unknown: BTreeMap<(u16, String), Vec<String>> = BTreeMap::new();
    for fault in &*faults {
        if let FaultKind::UnknownKey { table, key, .. } = &fault.kind {
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
        let has_all = |own: &Table| keys.iter().all(|key| own.names().contains(&key.as_str()));
        let Some((section, _)) = sections.into_iter().find(|(_, own)| has_all(own)) else {
            continue;
        };
        let is_own = |fault: &Fault| {
            fault.file == file
                && matches!(&fault.kind, FaultKind::UnknownKey { table: own, .. } if *own == table)
        };
        let Some(at) = faults
            .iter()
            .find(|fault| is_own(fault))
            .map(|fault| fault.span)
        else {
            continue;
        };
        // Faults that follow from the missing header are removed.
        let of_model = |kind: &FaultKind| {
            matches!(
                kind,
                FaultKind::UnknownModel { .. } | FaultKind::TwoModels { .. }
            )
        };
        let of_provider = |kind: &FaultKind| matches!(kind, FaultKind::UnknownProvider { .. });
        faults.retain(|fault| match section {
            "models" if of_model(&fault.kind) => false,
            "providers" if of_provider(&fault.kind) => false,
            _ => !is_own(fault),
        });
        faults.push(Fault {
            file,
            span: at,
            kind: FaultKind::LostHeader {
                table,
                keys,
                section,
            },
        });
    }
    faults.sort_by_key(|fault| (fault.file, fault.span));
}
