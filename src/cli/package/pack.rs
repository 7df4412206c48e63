//! `ctxc package pack`: writes the package of a project to an archive, if its own files alone prove
//! that it works.

use super::pack_checks::{check_hidden_text, check_masks, describe_recordings};
use super::project_files::{read_files, require_package};
use super::proof::{PackageProof, ProofCounts, require_no_errors, require_passes};
use crate::base::contained_path::{normalize_path, slash_path};
use crate::base::fs;
use crate::base::hash::Hash;
use crate::cli::context::eval::judge_project;
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::cli::project::PROJECT_FILE;
use crate::cli::secret_check::{NewFile, SecretCheck};
use crate::package::release::file_digests;
use crate::package::{
    PACKAGE_FILE, PackageDocument, PackedFile, is_recording, read_package, write_archive,
};
use crate::project::config::{Config, ConfigFile, VERSION};
use crate::project::package_section::without_private_settings;
use crate::schema::json::names;
use crate::template::text::normalize_line_ends;
use std::io;

#[derive(Debug, Args)]
pub(super) struct PackArgs {
    /// The archive [default: ORGANISATION-NAME-VERSION.tar.zst in this folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Pack recorded answers without asking
    #[arg(long)]
    yes: bool,
    /// Pack texts with characters that no editor displays; the reason is stored in the package. Texts that `check` reads
    /// also need `hidden-text = "off"` in `[lints]`
    #[arg(long, value_name = "REASON")]
    allow_hidden: Option<String>,
}

/// Writes the archive.
pub(super) fn run_pack(args: &PackArgs, cx: &mut Cx) -> Result<Exit> {
    let project = Project::load(&cx.options)?.require_no_errors()?;
    let package = require_package(&project.config)?;
    let mut files = read_files(&project)?;
    strip_settings(&project.config, &mut files);
    check_hidden_text(&files, args.allow_hidden.as_deref())?;
    require_no_errors(&project.root, cx)?;
    let own = CompiledProject::load_or_empty(cx)?;
    check_masks(&files, &own)?;
    require_passes(judge_project(&own, cx)?.as_ref())?;
    let proof = PackageProof::from_files(&files, cx)?;
    require_passes(proof.scorecard.as_ref())?;
    let counts = ProofCounts::new(proof.scorecard.as_ref());
    let unwritten = |why: serde_json::Error| {
        CliError::new(
            CliErrorKind::Infrastructure,
            format!("{PACKAGE_FILE} cannot be written: {why}"),
        )
    };
    let registry = &proof.compiled.project.registry;
    let document = PackageDocument {
        schema: names::PACKAGE.to_owned(),
        name: package.name.value.clone(),
        version: package.version.value.to_string(),
        license: package.license.clone(),
        tool: VERSION.to_owned(),
        hidden_text: args.allow_hidden.clone(),
        files: file_digests(&files),
        exports: proof.exports,
        manifest: proof.manifest,
        scorecard: proof.scorecard,
        registry: serde_json::from_slice(registry.as_bytes()).map_err(unwritten)?,
    };
    let mut bytes = serde_json::to_vec_pretty(&document).map_err(unwritten)?;
    bytes.push(b'\n');
    files.push(PackedFile {
        path: PACKAGE_FILE.to_owned(),
        bytes,
    });
    let texts = files.iter().filter_map(|file| {
        let text = std::str::from_utf8(&file.bytes).ok()?;
        Some(NewFile {
            name: &file.path,
            text,
        })
    });
    SecretCheck::new(&cx.options, &project.root).check_files(texts)?;
    if files.iter().any(|file| is_recording(&file.path)) {
        let listing = describe_recordings(&files)?;
        if args.yes {
            cx.print_note(&listing);
        } else if !cx.confirm(&format!("{listing}\npack these answers?"))? {
            return Err(CliError::usage("the recorded answers were not permitted, so nothing was packed")
                .with_hint("`--yes` permits them; without `recordings = true` in `[package]` they stay out of it"));
        }
    }
    let place = args.output.clone().unwrap_or_else(|| {
        let name = document.name.replace('/', "-");
        PathBuf::from(format!("{name}-{}.tar.zst", document.version))
    });
    let unwritten = |why: io::Error| CliError::write_failed(&place, &why);
    let archive = write_archive(&files).map_err(unwritten)?;
    read_package(&archive).map_err(|why| {
        let message = format!("the archive would be refused where it is used: {why}");
        CliError::new(CliErrorKind::Findings, escape_line(&message))
            .with_hint("rename or leave out the file with `[package] files`")
    })?;
    fs::write_atomic(&place, &archive).map_err(unwritten)?;
    cx.print_line(&format!(
        "{}: {} {}, {}, {counts}",
        place.display(),
        document.name,
        document.version,
        pluralize(files.len(), "file"),
    ))?;
    Ok(Exit::Success)
}

/// Removes the private settings from the project file and the file that it extends, whose hash in
/// the project file follows.
fn strip_settings(config: &Config, files: &mut [PackedFile]) {
    let mut hashes = Vec::new();
    for file in files.iter_mut() {
        let is_own = |own: &&ConfigFile| {
            let path = normalize_path(Path::new(&*own.path));
            path.is_some_and(|path| slash_path(&path) == file.path)
        };
        let Some(own) = config.files.iter().find(is_own) else {
            continue;
        };
        let stripped = without_private_settings(&String::from_utf8_lossy(&file.bytes));
        let hash = Hash::digest(normalize_line_ends(&stripped).as_bytes());
        hashes.push((own.hash.to_string(), hash.to_string()));
        file.bytes = stripped.into_bytes();
    }
    for file in files.iter_mut().filter(|file| file.path == PROJECT_FILE) {
        let text = String::from_utf8_lossy(&file.bytes).into_owned();
        let text = hashes
            .iter()
            .fold(text, |text, (old, new)| text.replace(old, new));
        file.bytes = text.into_bytes();
    }
}
