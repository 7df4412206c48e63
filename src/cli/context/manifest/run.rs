//! Makes the manifest, and prints, writes or checks it.

use super::args::{ManifestArgs, ManifestFormat, ManifestVerb, output_format};
use super::counting::{CountingArgs, with_counters};
use super::side::{ManifestSide, WORK_TREE};
use super::{diff, html, markdown, require, side, text};
use crate::cli::context::project::CompiledProject;
use crate::cli::context::subject;
use crate::cli::context::values::ObjectiveReceiver;
use crate::cli::prelude::*;
use crate::cli::request;
use crate::cli::shared_args::ReportFile;
use crate::context::manifest::{self, Manifest, ManifestOptions, task_manifest};
use crate::context::request::{CallerGoals, Request};
use std::num::NonZeroUsize;

/// The default file of a project's manifest.
const DEFAULT_FILE: &str = "context-manifest.json";

/// Runs the verb.
pub(crate) fn run_manifest(args: &ManifestArgs, cx: &mut Cx) -> Result<Exit> {
    if let Some(ManifestVerb::Diff(args)) = &args.verb {
        return diff::run_diff(args, cx);
    }
    let format = output_format(args);
    if let Some(subject) = args
        .subject
        .as_deref()
        .filter(|subject| request::is_request(Path::new(subject)))
    {
        return write_request_manifest(subject, format, args, cx);
    }
    let project = CompiledProject::load(cx)?;
    let (manifest, missing) = build_manifest(args, &project, cx)?;
    let is_for_screens = !args.check && args.output.is_none() && args.report.is_empty();
    let missing = match missing {
        Some(error) if !is_for_screens => {
            return Err(
                error.with_hint("a manifest can only be written or checked if it has all agents")
            );
        }
        Some(error) if manifest.entries.is_empty() => return Err(error),
        missing => missing,
    };
    // Failed conditions and missing agents are reported last.
    let met = match (require::check_conditions(&project, &manifest, cx), missing) {
        (met, None) => met,
        (Ok(()), Some(missing)) => Err(missing),
        (Err(unmet), Some(missing)) => Err(unmet.with_error(missing)),
    };
    if args.check {
        let path = args.output.as_deref().unwrap_or(Path::new(DEFAULT_FILE));
        let verdict = check_file(
            path,
            &ManifestSide::from_project(WORK_TREE.to_owned(), manifest, project),
            args,
            cx,
        )?;
        return met.map(|()| verdict);
    }
    let output = args.output.as_deref();
    cx.write_to(output, format.file_mark(), |cx| {
        print_manifest(&manifest, format, cx)
    })?;
    if let Some(path) = output {
        cx.print_note(&format!(
            "wrote {} ({})",
            path.display(),
            pluralize(manifest.entries.len(), "agent")
        ));
    }
    for ReportFile { format, path } in &args.report {
        cx.write_to(Some(path), format.file_mark(), |cx| {
            print_manifest(&manifest, *format, cx)
        })?;
    }
    met.map(|()| Exit::Success)
}

/// Writes the manifest of requests that were sent.
fn write_request_manifest(
    subject: &str,
    format: ManifestFormat,
    args: &ManifestArgs,
    cx: &mut Cx,
) -> Result<Exit> {
    if args.check {
        return Err(CliError::usage(
            "`--check` compares the manifest of a project, and this is one of recorded requests",
        )
        .with_hint("`ctxc diff OLD NEW` compares two recordings"));
    }
    let project = Project::load(&cx.options)?;
    let document = request::manifest::subject_manifest(subject, &project, cx)?;
    let print = |format: ManifestFormat, cx: &mut Cx| match format {
        ManifestFormat::Text => request::manifest::print_manifest(&document, cx),
        ManifestFormat::Json => cx.print_json(&document),
        ManifestFormat::Markdown => {
            cx.print(|out| out.write_all(request::manifest::markdown(&document).as_bytes()))
        }
        ManifestFormat::Html => {
            cx.print(|out| out.write_all(request::manifest::html(&document).as_bytes()))
        }
    };
    cx.write_to(args.output.as_deref(), format.file_mark(), |cx| {
        print(format, cx)
    })?;
    for ReportFile { format, path } in &args.report {
        cx.write_to(Some(path), format.file_mark(), |cx| print(*format, cx))?;
    }
    Ok(Exit::Success)
}

/// Prints the manifest in a format.
fn print_manifest(manifest: &Manifest, format: ManifestFormat, cx: &mut Cx) -> Result<()> {
    match format {
        ManifestFormat::Text => text::print_agents(manifest, cx),
        ManifestFormat::Json => cx.print_json(manifest),
        ManifestFormat::Markdown => {
            cx.print(|out| out.write_all(markdown::render_page(manifest).as_bytes()))
        }
        ManifestFormat::Html => {
            cx.print(|out| out.write_all(html::render_page(manifest).as_bytes()))
        }
    }
}

/// Makes the requested manifest, and returns it with the reason for missing agents.
fn build_manifest(
    args: &ManifestArgs,
    project: &CompiledProject,
    cx: &mut Cx,
) -> Result<(Manifest, Option<CliError>)> {
    if args.subject.is_none() && args.role.is_none() {
        if args.objective.is_given() {
            return Err(CliError::usage("--objective needs one agent role or task")
                .with_hint("name a TASK, or say --role NAME"));
        }
        return partial_manifest(project, &args.counting, cx.options.threads);
    }
    let (role, name) = subject::resolve(
        args.subject.as_deref().unwrap_or_default(),
        args.role.as_deref(),
        project,
    )?;
    let parameters = project.task_parameters(&name)?;
    let (inputs, results) = args
        .given
        .read_values(&project.registry, &name, &parameters)?;
    let source = args.lookup.for_project(project);
    let history = args.history.read_turns()?;
    let request = Request {
        inputs: &inputs,
        results: &results,
        source: &source,
        history: &history,
        ..Request::new(&name)
    };
    let objective = args.objective.read_objective(
        ObjectiveReceiver {
            task: &name,
            parameters: &parameters,
            role,
        },
        &inputs,
    )?;
    let goals = CallerGoals {
        objective: objective.as_deref(),
        ..CallerGoals::default()
    };
    let request = Request {
        goals,
        role,
        ..request
    };
    let node = args
        .given
        .node
        .as_deref()
        .map(|node| project.find_node(&name, node))
        .transpose()?;
    let make = |how: &ManifestOptions<'_>| {
        task_manifest(&project.registry, &request, node.as_deref(), how)
    };
    let counted = with_counters(&project.config, &project.files(), &args.counting, make)?;
    source.note_index(cx);
    Ok((
        counted.map_err(|faults| project.context_error(&faults))?,
        None,
    ))
}

/// Returns the manifest of those agents of a project that have a context, and the reason why the
/// others have none.
fn partial_manifest(
    project: &CompiledProject,
    counting: &CountingArgs,
    threads: Option<NonZeroUsize>,
) -> Result<(Manifest, Option<CliError>)> {
    let is_there = |task: &str| project.broken.is_empty() || project.registry.find(task).is_some();
    let mut config = project.config.clone();
    config.roles.retain(|_, role| is_there(&role.task.value));
    let lost = project
        .config
        .roles
        .keys()
        .filter(|name| !config.roles.contains_key(*name))
        .map(String::as_str);
    let broken = project.broken.incomplete_error(&lost.collect::<Vec<_>>());
    let make =
        |how: &ManifestOptions<'_>| manifest::partial_manifest(&project.registry, how, threads);
    let (manifest, faults) = with_counters(&config, &project.files(), counting, make)?;
    let refused = (!faults.is_empty()).then(|| project.context_error(&faults));
    let missing = match (broken, refused) {
        (Some(broken), Some(refused)) => Some(refused.with_error(broken)),
        (broken, refused) => broken.or(refused),
    };
    Ok((manifest, missing))
}

/// Checks that a stored manifest is equal to the current one.
fn check_file(path: &Path, now: &ManifestSide, args: &ManifestArgs, cx: &mut Cx) -> Result<Exit> {
    let known = ManifestSide::manifest_only(path.display().to_string(), side::read_manifest(path)?);
    let path = path.display();
    if known.manifest == now.manifest {
        if cx.options.prints_notes() {
            cx.print_line(&format!("{path} is up to date"))?;
        }
        return Ok(Exit::Success);
    }
    let task = match (&args.subject, &args.role) {
        (Some(task), _) => format!(" {task}"),
        (None, Some(role)) => format!(" --role {role}"),
        (None, None) => String::new(),
    };
    cx.print_line(&format!(
        "{path} is out of date; `ctxc manifest --output {path}{task}` writes it"
    ))?;
    text::print_difference(&diff::compare_sides(&known, now), cx)?;
    Ok(Exit::Findings)
}
