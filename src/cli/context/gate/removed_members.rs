//! The members of a workspace that a change removes: their scenarios count as deleted.

use super::check_files::FileNames;
use super::renames::Renames;
use super::state::{FILE, SideReading, collect_safeguards};
use crate::base::fs;
use crate::cli::context::eval::load::Scenarios;
use crate::cli::context::project::CompiledProject;
use crate::cli::error::Result;
use crate::cli::member_folders::list_members;
use crate::eval::gate::{Safeguard, SafeguardKind, Safeguards};
use std::collections::BTreeSet;

/// A member of the base's workspace that is none any more.
#[derive(Debug)]
pub(super) struct RemovedMember {
    /// Its folder, from the root of the workspace.
    folder: String,
    /// The project in the base.
    pub(super) project: CompiledProject,
    scenarios: Scenarios,
}

/// Returns the members of a workspace of the base that the change removes, and adds notes on the
/// others. A member that moved is compared in its new folder.
pub(super) fn find_removed_members(
    base: &CompiledProject,
    now: &CompiledProject,
    notes: &mut Vec<String>,
) -> Result<Vec<RemovedMember>> {
    let (Some(patterns), Some(past)) = (&base.config.workspace, base.past()) else {
        return Ok(Vec::new());
    };
    let current = list_members(&now.root, now.config.workspace.as_ref())?;
    let folders: BTreeSet<&str> = past
        .file_names()
        .filter_map(|name| name.strip_suffix(FILE)?.strip_suffix('/'))
        .filter(|folder| patterns.matches_name(folder))
        .collect();
    let mut removed: Vec<&str> = folders.iter().copied().collect();
    removed.retain(|folder| !current.contains_key(*folder));
    let is_new = |folder: &str| {
        let below = format!("{folder}/");
        !past.file_names().any(|name| name.starts_with(&below))
    };
    if let [moved] = *removed
        && !fs::exists(&now.root.join(moved).join(FILE))
        && let Some(folder) = current.keys().find(|folder| is_new(folder))
    {
        notes.push(format!(
            "the member {moved} is gone: {folder} is compared with it"
        ));
        return Ok(Vec::new());
    }
    let load = |folder: &str| {
        let (project, faults) = CompiledProject::load_readable(
            past.commit_files(),
            past.name(),
            past.place_of(folder),
        )?;
        notes.extend(faults);
        Ok(RemovedMember {
            folder: folder.to_owned(),
            scenarios: Scenarios::from_revision(&project, None),
            project,
        })
    };
    removed.into_iter().map(load).collect()
}

/// Adds the removed members and their scenarios to the safeguards of the base.
pub(super) fn add_removed_members(members: &[RemovedMember], before: &mut Safeguards) {
    let (names, files, none) = (Renames::default(), FileNames::default(), BTreeSet::new());
    for RemovedMember {
        folder,
        project,
        scenarios,
    } in members
    {
        before.add(
            SafeguardKind::Threshold,
            "[workspace] members",
            folder,
            Safeguard::new(FILE, "a member", None),
        );
        let reading = SideReading {
            names: &names,
            files: &files,
            shown: &none,
        };
        let own = collect_safeguards(
            project,
            &[scenarios, &Scenarios::contracts_of(project)],
            reading,
        );
        before.add_scenarios_of(folder, own);
    }
}
