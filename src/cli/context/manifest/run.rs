//! Makes the manifest, and prints, writes or checks it.

use super::args::{Format, ManifestArgs, ManifestVerb};
use super::counting::{CountingArgs, counted};
use super::side::{self, HERE, Side};
use super::{change_text, diff, html, markdown, require, text};
use crate::cli::args::Report;
use crate::cli::context::project::Compiled;
use crate::cli::context::render_errors::refused;
use crate::cli::context::subject;
use crate::cli::prelude::*;
use crate::cli::request;
use crate::context::manifest::{self, Manifest, ManifestOptions, of_task};
use crate::context::request::{Asked, Request};
use std::num::NonZeroUsize;

/// The default file of a project's manifest.
const FILE: &str = "context-manifest.json";

/// Runs the verb.
pub(crate) fn run(args: &ManifestArgs, cx: &mut Cx) -> Result<Exit> {
    if let Some(ManifestVerb::Diff(args)) = &args.verb {
        return diff::run(args, cx);
    }
    let format = format(args);
    if let Some(subject) = args
        .subject
        .as_deref()
        .filter(|subject| request::is_request(Path::new(subject)))
    {
        return of_requests(subject, format, args, cx);
    }
    let project = Compiled::load(cx)?;
    let (manifest, missing) = made(args, &project, cx)?;
    let is_for_screens = !args.check && args.output.is_none() && args.report.is_empty();
    let missing = match missing {
        Some(error) if !is_for_screens => {
            return Err(
                error.hint("a manifest can only be written or checked if it has all agents")
            );
        }
        Some(error) if manifest.entries.is_empty() => return Err(error),
        missing => missing,
    };
    // Failed conditions and missing agents are reported last.
    let met = match (require::met(&project, &manifest, cx), missing) {
        (met, None) => met,
        (Ok(()), Some(missing)) => Err(missing),
        (Err(unmet), Some(missing)) => Err(unmet.also(missing)),
    };
    if args.check {
        let path = args.output.as_deref().unwrap_or(Path::new(FILE));
        let verdict = check(
            path,
            &Side::of_project(HERE.to_owned(), manifest, project),
            args,
            cx,
        )?;
        return met.map(|()| verdict);
    }
    let output = args.output.as_deref();
    cx.write(output, format.sign(), |cx| print(&manifest, format, cx))?;
    if let Some(path) = output {
        cx.note(&format!(
            "wrote {} ({})",
            path.display(),
            plural(manifest.entries.len(), "agent")
        ));
    }
    for Report { format, path } in &args.report {
        cx.write(Some(path), format.sign(), |cx| {
            print(&manifest, *format, cx)
        })?;
    }
    met.map(|()| Exit::Success)
}

/// Writes the manifest of requests that were sent.
fn of_requests(subject: &str, format: Format, args: &ManifestArgs, cx: &mut Cx) -> Result<Exit> {
    if args.check {
        return Err(CliError::usage(
            "`--check` compares the manifest of a project, and this is one of recorded requests",
        )
        .hint("`ctxc diff OLD NEW` compares two recordings"));
    }
    let Project { root, config, .. } = Project::load(&cx.options)?;
    let document = request::manifest::document(subject, &root, &config, cx)?;
    let print = |format: Format, cx: &mut Cx| match format {
        Format::Text => request::manifest::text(&document, cx),
        Format::Json => cx.json(&document),
        Format::Markdown => {
            cx.print(|out| out.write_all(request::manifest_pages::markdown(&document).as_bytes()))
        }
        Format::Html => {
            cx.print(|out| out.write_all(request::manifest_pages::html(&document).as_bytes()))
        }
    };
    cx.write(args.output.as_deref(), format.sign(), |cx| {
        print(format, cx)
    })?;
    for Report { format, path } in &args.report {
        cx.write(Some(path), format.sign(), |cx| print(*format, cx))?;
    }
    Ok(Exit::Success)
}

/// Prints the manifest in a format.
fn print(manifest: &Manifest, format: Format, cx: &mut Cx) -> Result<()> {
    match format {
        Format::Text => text::print(manifest, cx),
        Format::Json => cx.json(manifest),
        Format::Markdown => cx.print(|out| out.write_all(markdown::page(manifest).as_bytes())),
        Format::Html => cx.print(|out| out.write_all(html::page(manifest).as_bytes())),
    }
}

/// Returns the requested format, or the one for the extension of the output file.
fn format(args: &ManifestArgs) -> Format {
    let asked = if args.json {
        Some(Format::Json)
    } else {
        args.format
    };
    asked
        .or_else(|| Format::of_path(args.output.as_ref()?))
        .unwrap_or_default()
}

/// Makes the requested manifest, and returns it with the reason for missing agents.
fn made(
    args: &ManifestArgs,
    project: &Compiled,
    cx: &mut Cx,
) -> Result<(Manifest, Option<CliError>)> {
    if args.subject.is_none() && args.role.is_none() {
        if args.objective.is_there() {
            return Err(CliError::usage("--objective needs one agent role or task")
                .hint("name a TASK, or say --role NAME"));
        }
        return of_rest(project, &args.counting, cx.options.threads);
    }
    let (role, name) = subject::read(
        args.subject.as_deref().unwrap_or_default(),
        args.role.as_deref(),
        project,
    )?;
    let parameters = project.parameters(&name)?;
    let (inputs, results) = args.given.read((&project.registry, &name), &parameters)?;
    let source = args.lookup.of(project);
    let history = args.history.read()?;
    let request = Request {
        inputs: &inputs,
        results: &results,
        source: &source,
        history: &history,
        ..Request::new(&name)
    };
    let objective = args.objective.read(&name, (&parameters, role), &inputs)?;
    let asked = Asked {
        objective: objective.as_deref(),
        ..Asked::default()
    };
    let request = Request {
        asked,
        role,
        ..request
    };
    let node = args
        .given
        .node
        .as_deref()
        .map(|node| project.node(&name, node))
        .transpose()?;
    let make =
        |how: &ManifestOptions<'_>| of_task(&project.registry, &request, node.as_deref(), how);
    let counted = counted(&project.config, &project.files(), &args.counting, make)?;
    source.note(cx);
    Ok((
        counted.map_err(|faults| refused(&faults, &project.lines(&project.paths())))?,
        None,
    ))
}

/// Returns the manifest of those agents of a project that have a context, and the reason why the
/// others have none.
fn of_rest(
    project: &Compiled,
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
    let broken = project.broken.all(&lost.collect::<Vec<_>>());
    let make = |how: &ManifestOptions<'_>| manifest::of_rest(&project.registry, how, threads);
    let (manifest, faults) = counted(&config, &project.files(), counting, make)?;
    let refused = (!faults.is_empty()).then(|| refused(&faults, &project.lines(&project.paths())));
    let missing = match (broken, refused) {
        (Some(broken), Some(refused)) => Some(refused.also(broken)),
        (broken, refused) => broken.or(refused),
    };
    Ok((manifest, missing))
}

/// Checks that a stored manifest is equal to the current one.
fn check(path: &Path, now: &Side, args: &ManifestArgs, cx: &mut Cx) -> Result<Exit> {
    let shown = path.display();
    let known = Side::bare(shown.to_string(), side::manifest(path)?);
    if known.manifest == now.manifest {
        if cx.options.is_chatty() {
            cx.line(&format!("{shown} is up to date"))?;
        }
        return Ok(Exit::Success);
    }
    let task = match (&args.subject, &args.role) {
        (Some(task), _) => format!(" {task}"),
        (None, Some(role)) => format!(" --role {role}"),
        (None, None) => String::new(),
    };
    cx.line(&format!(
        "{shown} is out of date; `ctxc manifest --output {shown}{task}` writes it"
    ))?;
    change_text::print(&diff::between(&known, now), cx)?;
    Ok(Exit::Findings)
}
