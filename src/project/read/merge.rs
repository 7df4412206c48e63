//! The project's own file over the shared file that it extends: one [`Config`].

use super::check;
use super::draft::{Draft, Owner, draft};
use super::layers::DefaultLine;
use super::models;
use super::policy_check;
use super::routes;
use super::shared::load;
use super::tool_definitions;
use super::value::Sink;
use crate::base::hash::Hash;
use crate::base::source::LineIndex;
use crate::project::config::{Config, ConfigFile, Input};
use crate::settings::layers::{Declarations, Layers};

impl Config {
    /// Reads a project file, and the shared file that it extends. Never fails: what is wrong is in [`Config::faults`], and the
    /// rest holds.
    pub fn read(input: &Input<'_>) -> Self {
        let own_file = ConfigFile {
            path: input.path.into(),
            text: input.text.into(),
            lines: LineIndex::new(input.text),
            hash: Hash::of(input.text.as_bytes()),
        };
        let mut own = draft(input.text, 0, Owner::Project, input.rules);
        let mut sink = Sink { file: 0, faults: std::mem::take(&mut own.faults) };
        let loaded = own.extends.take().and_then(|extends| load(&mut sink, input, &extends));
        let (shared_file, mut shared) = loaded.map_or_else(|| (None, Draft::default()), |(file, draft)| (Some(file), draft));
        sink.faults.append(&mut shared.faults);
        let files: Vec<ConfigFile> = std::iter::once(own_file).chain(shared_file).collect();
        merge(sink, files, own, shared, input)
    }
}

fn merge(mut sink: Sink, files: Vec<ConfigFile>, mut own: Draft, mut shared: Draft, input: &Input<'_>) -> Config {
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
    declared.defaults.extend(own.defaults.iter().map(declaration));
    let mut layers = Layers::new(&declared);
    if policy_check::defaults(&mut sink, &allowed, &shared_layers, &layers, &mut declared.defaults) {
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
    faults.sort_by_key(|fault| (fault.file, fault.span));
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
