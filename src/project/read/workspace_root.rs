//! Finds the workspace of a member, and reads the sections that the member takes over.

use super::draft::ConfigDraft;
use super::inherit::{INHERIT_KEY, InheritedSection};
use super::sections::check_version;
use super::shared::SHARED_FILE;
use super::value::FaultSink;
use super::workspace::{SharedSections, read_shared_section, read_workspace};
use crate::base::contained_path::{describe_io_error, slash_path};
use crate::base::hash::Hash;
use crate::base::source::LineIndex;
use crate::project::config::{ConfigFile, ConfigInput, MAX_FILE_BYTES};
use crate::project::dependencies::{PackageSource, normalize_folder};
use crate::project::project_fault::ProjectFaultKind;
use std::io;
use std::path::{Path, PathBuf};
use toml::de::DeValue;

/// Maximum number of folders above a member that are searched for its workspace.
const MAX_LEVELS: usize = 32;

/// Reads the sections of a workspace that a member takes over. `None` if there is no workspace that
/// lists the member, which is reported.
pub(super) fn load_workspace(
    sink: &mut FaultSink,
    input: &ConfigInput<'_>,
    inherited: &[InheritedSection],
) -> Option<(ConfigFile, ConfigDraft)> {
    let first = inherited.first()?;
    let (path, text) = match find_workspace(input) {
        Ok(found) => found,
        Err(reason) => {
            let name = first.name;
            sink.report(first.span, ProjectFaultKind::NoWorkspace { name, reason });
            return None;
        }
    };
    let mut own = FaultSink {
        file: SHARED_FILE,
        faults: Vec::new(),
    };
    let mut found = SharedSections::default();
    let (tree, _) = toml::de::DeTable::parse_recoverable(&text);
    let tree = tree.get_ref();
    if let Some(value) = tree.get("required-version") {
        check_version(&mut own, value);
    }
    let table = tree.get(INHERIT_KEY).map(toml::Spanned::get_ref);
    for section in inherited {
        let value = match table {
            Some(DeValue::Table(table)) => table.get(section.name),
            _ => None,
        };
        if let Some(value) = value {
            read_shared_section(&mut own, section.name, value, input.rules, &mut found);
            continue;
        }
        let name = section.name;
        let reason = format!("its `[workspace]` has no `{name}`");
        sink.report(section.span, ProjectFaultKind::NoWorkspace { name, reason });
    }
    // The models and packages are those of the member from here on, and faults stand where it takes
    // them over.
    for section in inherited.iter().filter(|section| section.name == "models") {
        found.models.move_to(section.span);
    }
    let folder = slash_path(path.parent().unwrap_or(Path::new("")));
    let spans = inherited
        .iter()
        .filter(|section| section.name == "dependencies");
    let span = spans.map(|section| section.span).next().unwrap_or_default();
    for dependency in found.dependencies.values_mut() {
        dependency.name.span = span;
        dependency.source.span = span;
        if let PackageSource::Path(source) = &mut dependency.source.value {
            *source = normalize_folder(&Path::new(&folder).join(&*source));
        }
    }
    let draft = ConfigDraft {
        defaults: found.defaults,
        lints: found.lints,
        models: found.models,
        dependencies: found.dependencies,
        faults: own.faults,
        ..ConfigDraft::default()
    };
    let file = ConfigFile {
        path: slash_path(&path).into(),
        lines: LineIndex::new(&text),
        hash: Hash::digest(text.as_bytes()),
        text: text.into(),
    };
    Some((file, draft))
}

/// Returns the path, relative to the member, and the text of the nearest project file above it that
/// has `[workspace]`.
fn find_workspace(input: &ConfigInput<'_>) -> Result<(PathBuf, String), String> {
    let own = input
        .files
        .canonicalize(input.root)
        .map_err(|error| describe_io_error(&error))?;
    let name = Path::new(input.path).file_name().unwrap_or_default();
    for (level, folder) in own.ancestors().enumerate().skip(1).take(MAX_LEVELS) {
        let path = "../".repeat(level) + &name.to_string_lossy();
        let bytes = match input.files.read(&input.root.join(&path), MAX_FILE_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(format!("{path}: {}", describe_io_error(&error))),
        };
        let Ok(text) = String::from_utf8(bytes) else {
            return Err(format!("{path} is not UTF-8"));
        };
        let (tree, errors) = toml::de::DeTable::parse_recoverable(&text);
        let Some(value) = tree.get_ref().get(INHERIT_KEY) else {
            continue;
        };
        if !errors.is_empty() {
            return Err(format!("{path} is not valid TOML"));
        }
        let mut unread = FaultSink {
            file: SHARED_FILE,
            faults: Vec::new(),
        };
        let members = read_workspace(&mut unread, value, &[]).unwrap_or_default();
        let relative = own.strip_prefix(folder).unwrap_or(&own);
        if !members.matches_name(&slash_path(relative)) {
            return Err(format!("`members` of {path} does not list this folder"));
        }
        return Ok((PathBuf::from(path), text));
    }
    Err("no folder above has a project file with `[workspace]`".to_owned())
}
