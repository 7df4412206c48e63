//! The command line of `ctxc import`.

use super::find::{IncludableFiles, PromptSearch};
use super::make::{ConvertedPrompt, ImportBatch, OutputFolders, convert_prompts};
use super::report::{ImportDisposition, ImportReport};
use super::verify::{SampleEnvironment, SampleVerdict, verify_samples};
use super::{json, samples, show};
use crate::base::fs::{self, ReadFs, RealFs};
use crate::cli::context::project::{CompiledProject, ProjectFiles};
use crate::cli::overwrite::reject_links;
use crate::cli::prelude::*;
use crate::cli::rewrite;
use crate::cli::secret_check::{NewFile, SecretCheck, SecretsChecked};
use crate::cli::shared_args::FormatArgs;
use crate::context::TaskGraph;
use crate::context::request::Files;
use crate::import::{EngineOptions, FORMATS, PromptFormat, SUITE_ORIGIN, template_origin};
use crate::registry::compile::sources::FileAccess;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc import legacy\n  ctxc import legacy/reply.j2 --dry-run\n  \
    ctxc import legacy --force --trim-blocks --lstrip-blocks\n  ctxc import --verify samples.jsonl\n\n\
    Your prompts are read and never changed. A text stays in its file (`src`) if possible; if it must be rewritten, it is copied \
    into the template, and the reason is reported. Anything that cannot be converted is reported with its file and line, \
    and gives no template. Existing files are only overwritten with --force.\n\n\
    A sample line: {\"template\": \"reply\", \"inputs\": {…}, \"expected\": \"the text\"}; `expected` may be a list of \
    {\"role\", \"content\"}, or the body of a whole request. docs/IMPORT.md has the rest.\n\n\
    Exit codes: 0 all converted and equal, 1 a prompt was not converted or a sample differs, 2 wrong usage or project \
    file, 3 a file cannot be written, 5 no prompt found."
)]
pub(crate) struct ImportArgs {
    /// Files and folders with prompts; with --verify and no path: the templates of the project as they are
    #[arg(value_name = "PATH", required_unless_present = "verify")]
    pub(super) paths: Vec<PathBuf>,
    /// Folder for the templates [default: the project's first folder of templates, else templates/]
    #[arg(short, long, value_name = "DIR")]
    pub(super) output: Option<PathBuf>,
    /// Format of the named files, with any extension
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    pub(super) from: Option<&'static PromptFormat>,
    /// Overwrite existing templates
    #[arg(long)]
    pub(super) force: bool,
    /// Report the files that would be written, and write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Render samples and compare them byte for byte with the expected text; one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(super) verify: Option<PathBuf>,
    #[command(flatten)]
    pub(super) format: FormatArgs<DataFormat>,
    #[command(flatten)]
    pub(super) engine: EngineArgs,
}

/// The options of the engine that rendered the prompts so far.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "How your Jinja environment is set up")]
pub(super) struct EngineArgs {
    /// Remove the line break after a statement
    #[arg(long)]
    trim_blocks: bool,
    /// Remove blanks before a statement at the start of a line
    #[arg(long)]
    lstrip_blocks: bool,
    /// Keep the last line break of a file
    #[arg(long)]
    keep_trailing_newline: bool,
}

impl EngineArgs {
    /// Returns the options of the template engine.
    pub(super) const fn engine_options(self) -> EngineOptions {
        let Self {
            trim_blocks,
            lstrip_blocks,
            keep_trailing_newline,
        } = self;
        EngineOptions {
            trim_blocks,
            lstrip_blocks,
            keep_trailing_newline,
        }
    }
}

/// Parses the name of a format.
fn format_parser() -> impl TypedValueParser<Value = &'static PromptFormat> {
    let words = FORMATS
        .iter()
        .map(|format| PossibleValue::new(format.name).help(format.help));
    PossibleValuesParser::new(words).try_map(|word| {
        FORMATS
            .iter()
            .copied()
            .find(|format| format.name == word)
            .ok_or("no format")
    })
}

/// The maximum number of unknown inputs that are listed.
const MAX_LISTED_INPUTS: usize = 5;

/// Imports prompts, or verifies earlier imports.
pub(crate) fn run_import(args: &ImportArgs, cx: &mut Cx) -> Result<Exit> {
    Cx::check_output_paths(&args.format, None)?;
    let samples = args
        .verify
        .as_deref()
        .map(|path| samples::read_samples(path).map(|samples| (path, samples)))
        .transpose()?;
    if args.paths.is_empty()
        && let Some((path, samples)) = &samples
    {
        return verify_project(path, samples, args, cx);
    }
    let project = Project::load(&cx.options)?.require_no_errors()?;
    let folder = template_folder(args.output.as_deref(), &project)?;
    let door = FileAccess {
        root: &project.root,
        files: &RealFs,
        limit: project.config.limits.file,
    };
    let mut found = PromptSearch::search(&args.paths, args.from, door)?;
    if found.files.is_empty() && found.unreadable.is_empty() {
        let error = CliError::new(
            CliErrorKind::NothingSelected,
            "no prompt was found under these paths",
        );
        return Err(match found.plain.first() {
            None if !found.others.is_empty() => {
                error.with_hint(show::describe_skipped(&found.others))
            }
            Some(page) => error.with_hint(format!(
                "{page} has no placeholders: name the file itself to import it"
            )),
            None => error.with_hint(format!(
                "prompts are recognised by extension: {}; name a file with --from FORMAT",
                prompt_extensions()
            )),
        });
    }
    let library = IncludableFiles {
        door,
        roots: &found.roots,
        texts: RefCell::default(),
    };
    let scenarios = scenario_folder(&project);
    let folders = OutputFolders {
        templates: &folder,
        scenarios: &scenarios,
    };
    let batch = convert_prompts(&found, &library, args.engine.engine_options(), folders);
    // Files that a configuration includes are imported with it.
    let taken: BTreeSet<String> = library.texts.into_inner().into_keys().collect();
    found.others.retain(|path| !taken.contains(path));
    let verdict = samples.as_ref().map(|(path, samples)| {
        let files = ProjectFiles {
            root: &project.root,
            files: &RealFs,
        };
        let registry = batch.registry.as_ref();
        let names = sample_names(&batch.converted);
        (
            *path,
            verify_samples(
                samples,
                SampleEnvironment {
                    registry,
                    names: &names,
                    roles: &project.config.roles,
                    files: &files,
                    lacking: &|_| None,
                },
            ),
        )
    });
    if let Some((path, verdict)) = &verdict {
        note_unknown_inputs(path, verdict, cx);
    }
    let texts = batch
        .converted
        .iter()
        .filter(|converted| !converted.has_no_template() && !args.dry_run)
        .flat_map(ConvertedPrompt::files);
    let texts = texts.map(|(name, text)| NewFile { name, text });
    let checked = SecretCheck::new(&cx.options, &project.root).check_files(texts)?;
    let dispositions = batch
        .converted
        .iter()
        .map(|converted| write_template(converted, args, &project.root, checked))
        .collect::<Result<Vec<_>>>()?;
    let probe = if folder.is_empty() {
        "x.xml".to_owned()
    } else {
        format!("{folder}/x.xml")
    };
    let is_left_out = project
        .config
        .templates
        .include
        .as_ref()
        .is_some_and(|globs| !globs.matches(&probe));
    let report = ImportReport {
        found: &found,
        batch: &batch,
        dispositions: &dispositions,
        verdict: verdict.as_ref().map(|(path, verdict)| (*path, verdict)),
        left_out: is_left_out.then_some(folder.as_str()),
    };
    cx.emit_formats(&args.format, |format, cx| match format {
        DataFormat::Text => show::print_report(&report, cx),
        DataFormat::Json => cx.print_json(&json::build_document(&report)),
    })?;
    let is_whole =
        found.unreadable.is_empty() && !dispositions.contains(&ImportDisposition::Refused);
    let is_equal = verdict.is_none_or(|(_, verdict)| verdict.differences.is_empty());
    Ok(if is_whole && is_equal {
        Exit::Success
    } else {
        Exit::Findings
    })
}

/// Prints notes on inputs that no template accepts: a misspelt name, or a value that a program
/// passes to all of its prompts.
fn note_unknown_inputs(path: &Path, verdict: &SampleVerdict, cx: &mut Cx) {
    for (line, what) in verdict.unknown_inputs.iter().take(MAX_LISTED_INPUTS) {
        cx.print_note(&format!("{}:{line}: {what}", path.display()));
    }
    if let Some(more) = verdict
        .unknown_inputs
        .len()
        .checked_sub(MAX_LISTED_INPUTS)
        .filter(|more| *more > 0)
    {
        cx.print_note(&format!("samples have {more} more such inputs"));
    }
}

/// Lists the extensions that mark a file in a folder as a prompt. Extensions shared with other
/// texts, such as `.txt`, are left out.
fn prompt_extensions() -> String {
    let by_ending = FORMATS.iter().filter(|format| format.stem.is_none());
    let endings = |format: &PromptFormat| {
        format
            .endings
            .iter()
            .filter(|ending| !format.named_endings.contains(ending))
    };
    let all = by_ending.flat_map(|format| endings(format));
    all.map(|ending| format!(".{ending}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns the names by which samples may refer to the templates of this run.
fn sample_names(converted: &[ConvertedPrompt]) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for one in converted.iter().filter(|one| !one.has_no_template()) {
        for name in [Some(&one.output), Some(&one.path), one.system.as_ref()]
            .into_iter()
            .flatten()
        {
            names.insert(name.clone(), one.name.clone());
        }
    }
    names
}

/// Compares the existing templates of the project.
fn verify_project(
    path: &Path,
    samples: &[samples::ImportSample],
    args: &ImportArgs,
    cx: &mut Cx,
) -> Result<Exit> {
    let project = CompiledProject::load(cx)?;
    let of_file =
        |task: crate::registry::Task<'_>| Some((task.source().ok()?.path, task.name().to_owned()));
    let (mut names, shared) = prompts_by_task(&project);
    names.extend(project.registry.tasks().filter_map(of_file));
    // Errors of a template are reported only if a sample uses it.
    names.extend(
        project
            .broken
            .left_out_tasks()
            .map(|task| (task.path.clone(), task.name.clone())),
    );
    let several = |name: &str| {
        let tasks = shared
            .get(name.trim_start_matches("./"))?
            .iter()
            .map(|task| format!("`{task}`"))
            .collect::<Vec<_>>();
        Some(format!(
            "several templates are made of `{name}`: name one of {}",
            tasks.join(", ")
        ))
    };
    let lacking = |name: &str| {
        let broken = project
            .broken
            .task_error(name)
            .or_else(|| project.broken.file_error(name));
        broken.map(|error| error.message).or_else(|| several(name))
    };
    let registry = Some(&project.registry);
    let files = project.files();
    let verdict = verify_samples(
        samples,
        SampleEnvironment {
            registry,
            names: &names,
            roles: &project.config.roles,
            files: &files,
            lacking: &lacking,
        },
    );
    note_unknown_inputs(path, &verdict, cx);
    let found = PromptSearch::default();
    let batch = ImportBatch::default();
    let report = ImportReport {
        found: &found,
        batch: &batch,
        dispositions: &[],
        verdict: Some((path, &verdict)),
        left_out: None,
    };
    cx.emit_formats(&args.format, |format, cx| match format {
        DataFormat::Text => show::print_verdict(&report, cx),
        DataFormat::Json => cx.print_json(&json::build_document(&report)),
    })?;
    Ok(if verdict.differences.is_empty() {
        Exit::Success
    } else {
        Exit::Findings
    })
}

/// Returns the prompts from which the project's templates were converted, each with its task: files
/// that templates use in place, and files that templates name as their origin. Prompts of several
/// tasks are returned separately.
fn prompts_by_task(
    project: &CompiledProject,
) -> (BTreeMap<String, String>, BTreeMap<String, BTreeSet<String>>) {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut put =
        |prompt: String, task: &str| found.entry(prompt).or_default().insert(task.to_owned());
    if let Ok(forest) = TaskGraph::load_all(&project.registry) {
        for (task, sources) in forest
            .source_files()
            .filter(|(task, _)| project.registry.find(task).is_some())
        {
            for source in sources {
                put(source, task);
            }
        }
    }
    let sound = project
        .registry
        .tasks()
        .filter_map(|task| Some((task.source().ok()?.path, task.name())));
    let broken = project
        .broken
        .left_out_tasks()
        .map(|task| (task.path.clone(), task.name.as_str()));
    for (path, task) in sound.chain(broken) {
        if let Some(prompt) = project
            .files()
            .text(&path)
            .ok()
            .as_deref()
            .and_then(template_origin)
        {
            put(prompt, task);
        }
    }
    for task in project.broken.left_out_tasks() {
        for text in &task.texts {
            put(text.clone(), &task.name);
        }
    }
    let (shared, own): (BTreeMap<_, _>, BTreeMap<_, _>) =
        found.into_iter().partition(|(_, tasks)| tasks.len() > 1);
    (
        own.into_iter()
            .filter_map(|(prompt, tasks)| Some((prompt, tasks.into_iter().next()?)))
            .collect(),
        shared,
    )
}

/// Returns the folder for scenarios: the first one that the project names.
fn scenario_folder(project: &Project) -> String {
    let is_folder = |place: &&str| {
        !place.contains(['*', '?', '[', '{', '!']) && Path::new(place).extension().is_none()
    };
    let places = project
        .config
        .eval
        .scenarios
        .iter()
        .map(|place| place.value.trim_matches('/'));
    places
        .filter(|place| !place.is_empty())
        .find(is_folder)
        .unwrap_or("scenarios")
        .to_owned()
}

/// Returns the folder for templates, relative to the project's folder.
fn template_folder(named: Option<&Path>, project: &Project) -> Result<String> {
    let Some(named) = named else {
        let globs = project.config.templates.include.as_ref();
        let usual = globs.is_none_or(|globs| globs.matches("templates/x.xml"));
        let is_folder = |pattern: &&String| {
            !pattern.contains(['*', '?', '[', '{', '!'])
                && Path::new(pattern)
                    .extension()
                    .is_none_or(|ending| ending != "xml")
        };
        let first = globs
            .and_then(|globs| globs.patterns().iter().find(is_folder))
            .map(|folder| folder.trim_matches('/').to_owned());
        return Ok(if usual {
            "templates".to_owned()
        } else {
            first.unwrap_or_else(|| "templates".to_owned())
        });
    };
    let outside = || {
        CliError::usage(format!(
            "--output {}: the folder lies outside the project's",
            named.display()
        ))
        .with_hint("a template takes its texts from its own project")
    };
    let here = fs::current_dir().unwrap_or_default();
    // A folder that does not exist yet has no canonical path, but one of its ancestors has.
    let mut missing: Vec<PathBuf> = Vec::new();
    let mut at = here.join(named);
    while !fs::exists(&at) {
        let (Some(name), Some(above)) = (
            at.file_name().map(PathBuf::from),
            at.parent().map(Path::to_path_buf),
        ) else {
            return Err(outside());
        };
        missing.push(name);
        at = above;
    }
    let (Ok(real), Ok(root)) = (RealFs.canonicalize(&at), RealFs.canonicalize(&project.root))
    else {
        return Err(outside());
    };
    let inside = real.strip_prefix(&root).map_err(|_| outside())?;
    let all = inside
        .iter()
        .chain(missing.iter().rev().map(|part| part.as_os_str()));
    let parts: Vec<String> = all
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    Ok(parts.join("/"))
}

/// Writes one template with its files, unless different files exist.
fn write_template(
    converted: &ConvertedPrompt,
    args: &ImportArgs,
    root: &Path,
    checked: SecretsChecked,
) -> Result<ImportDisposition> {
    if converted.has_no_template() {
        return Ok(ImportDisposition::Refused);
    }
    let files: Vec<(&str, &str)> = converted.files().collect();
    let existing: Vec<Option<bool>> = files
        .iter()
        .map(|(path, text)| has_same_text(&root.join(path), text))
        .collect();
    if existing.iter().all(|same| *same == Some(true)) {
        return Ok(ImportDisposition::Same);
    }
    // Scenarios that were not imported are never overwritten.
    let is_own = |(path, _): &(String, String)| {
        let head = fs::read_head(&root.join(path), SUITE_ORIGIN.len() as u64)
            .ok()
            .flatten();
        head.is_some_and(|head| head != SUITE_ORIGIN.as_bytes())
    };
    if existing.contains(&Some(false))
        && (!args.force || converted.suite.as_ref().is_some_and(is_own))
    {
        return Ok(ImportDisposition::There);
    }
    for (name, _) in &files {
        reject_links(root, name)?;
    }
    if args.dry_run {
        return Ok(ImportDisposition::Dry);
    }
    for (name, text) in files {
        rewrite::create_file(&root.join(name), text, checked)?;
    }
    Ok(ImportDisposition::Written)
}

/// Returns true if the file has this text, false if it has another; `None` if it does not exist.
fn has_same_text(path: &Path, text: &str) -> Option<bool> {
    if !fs::exists(path) && !fs::is_link(path) {
        return None;
    }
    let mut existing = Vec::new();
    Some(
        fs::read_regular(path, text.len() as u64 + 1, &mut existing).is_ok()
            && existing == text.as_bytes(),
    )
}
