//! `ctxc show TASK`: the resolved tree of a task: each setting with its value, its origin and the
//! values that it overrides.
//!
//! Also works for a project with errors, when it is needed most.

use crate::base::{fs, suggest};
use crate::cli::origin;
use crate::cli::prelude::*;
use crate::cli::render::sources::SourceTexts;
use crate::cli::selection::no_such_path;
use crate::registry::inspect::{self, DefinitionPlace, ResolvedNode};
use crate::registry::workspace::request::{NoSuchPath, name_in};
use crate::rules::input::read_fault::describe_io_error;
use crate::schema::json::names;
use crate::settings::data::SettingsData;
use crate::template::setting::{SettingName, Word};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc show triage\n  ctxc show triage --json\n  ctxc show templates/triage.xml"
)]
pub(crate) struct ShowArgs {
    /// A task's name, the file that contains it, or an agent role
    #[arg(value_name = "TASK|ROLE")]
    task: String,
    #[command(flatten)]
    output: OutputArgs<DataFormat>,
    #[command(flatten)]
    limits: LimitArgs,
}

/// The column of a value's origin.
const ORIGIN_COLUMN: usize = 36;

/// A task as it resolves: `ctxc show TASK --json`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct ShowDocument<'r> {
    /// The version of the format.
    schema: &'static str,
    /// The name of the task.
    task: &'r str,
    /// The file that defines it, relative to the project.
    path: &'r str,
    /// The task and everything inside it, in document order.
    nodes: &'r [ResolvedNode],
}

/// Prints the tree.
pub(crate) fn run_show(args: &ShowArgs, cx: &mut Cx) -> Result<Exit> {
    let project = Project::load(&cx.options)?
        .require_no_errors()?
        .with_limits(&args.limits);
    let places = definition_places(&project, cx)?;
    let place = find_definition(&project, &places, &args.task)?;
    let nodes = resolved_nodes(&project, place)?;
    cx.emit_result(&args.output, |format, cx| match format {
        DataFormat::Json => cx.print_json(&ShowDocument {
            schema: names::SHOW,
            task: &place.name,
            path: &place.path,
            nodes: &nodes,
        }),
        DataFormat::Text => print_tree(&project, place, &nodes, cx),
    })?;
    Ok(Exit::Success)
}

fn print_tree(
    project: &Project,
    place: &DefinitionPlace,
    nodes: &[ResolvedNode],
    cx: &mut Cx,
) -> Result<()> {
    let mut sources = project.sources();
    let at = origin::format_place(&mut sources, &place.path, place.span);
    let screen = cx.options.screen;
    cx.print_line(&format!(
        "{}  {}",
        screen.paint(Paint::Strong, &escape_line(&place.name)),
        screen.paint(Paint::Dim, &escape_line(&at))
    ))?;
    nodes
        .iter()
        .try_for_each(|node| print_node(node, &mut sources, cx))
}

/// Returns every task and template of the project.
pub(in crate::cli) fn definition_places(
    project: &Project,
    cx: &Cx,
) -> Result<Vec<DefinitionPlace>> {
    project.require_project()?;
    inspect::find_definitions(&project.root, &project.config, cx.options.threads)
        .map_err(|NoSuchPath(path)| no_such_path(&path))
}

/// Returns the nodes of a definition.
pub(super) fn resolved_nodes(
    project: &Project,
    place: &DefinitionPlace,
) -> Result<Vec<ResolvedNode>> {
    inspect::resolve_nodes(&project.root, &project.config, place).map_err(|err| {
        CliError::new(
            CliErrorKind::Infrastructure,
            format!("{} cannot be read: {}", place.path, describe_io_error(&err)),
        )
    })
}

/// Returns the definition with a name, or the only one of a file.
pub(super) fn find_definition<'p>(
    project: &Project,
    places: &'p [DefinitionPlace],
    name: &str,
) -> Result<&'p DefinitionPlace> {
    let named = |name: &str| places.iter().find(|place| &*place.name == name);
    let played = || named(&project.config.roles.get(name)?.task.value);
    if let Some(place) = named(name).or_else(played) {
        return Ok(place);
    }
    // A file may be named as in findings, or relative to the current folder.
    let path = name.trim_start_matches("./");
    let typed = name_in(&project.root, Path::new(name));
    let inside: Vec<&DefinitionPlace> = places
        .iter()
        .filter(|place| *place.path == *path || *place.path == typed)
        .collect();
    match inside[..] {
        [place] => Ok(place),
        [] => Err(unknown_task(places, name)),
        _ => {
            let all: Vec<&str> = inside.iter().map(|place| &*place.name).collect();
            Err(CliError::usage(format!("{path} holds {} tasks", all.len()))
                .with_hint(format!("name one of them: {}", all.join(", "))))
        }
    }
}

/// Creates the error for an unknown name, with similar names.
fn unknown_task(places: &[DefinitionPlace], name: &str) -> CliError {
    if places.is_empty() {
        return CliError::usage(format!(
            "there is no task `{name}`: this project holds none yet"
        ))
        .with_hint(
            "`ctxc init` starts a project, `ctxc check` says where templates are looked for",
        );
    }
    let path = Path::new(name);
    if fs::is_file(path) || fs::is_dir(path) {
        return CliError::usage(format!("{name} holds no task of this project that could be shown")).with_hint(existing_tasks(places)).with_hint(
            "`ctxc check` with that path says what is wrong there; `[templates]` in ctxc.toml says what belongs to the project",
        );
    }
    let error = CliError::usage(format!("there is no task `{name}` in this project"));
    let near = suggest::nearest_candidate(name, places.iter().map(|place| &*place.name));
    error
        .with_suggestion_or(near, || existing_tasks(places))
        .with_hint("name a task, or the file that holds it")
}

fn existing_tasks(places: &[DefinitionPlace]) -> String {
    format!(
        "tasks here: {}",
        list_first(places.iter().map(|place| &*place.name))
    )
}

fn print_node(node: &ResolvedNode, sources: &mut SourceTexts, cx: &mut Cx) -> Result<()> {
    let kind = match (&node.operator, &node.subtype) {
        (Some(operator), Some(subtype)) => format!("{operator}.{subtype}"),
        (Some(operator), None) => operator.clone(),
        (None, _) if node.element == "task" => "ref".to_owned(),
        (None, _) => node.element.clone(),
    };
    let reference = node
        .reference
        .as_ref()
        .map_or_else(String::new, |name| format!(" {name}"));
    let result = node
        .result
        .as_ref()
        .map_or_else(String::new, |name| format!(" as {name}"));
    let id = cx
        .options
        .screen
        .paint(Paint::Strong, &escape_line(&node.id));
    cx.print_line(&format!(
        "{id} {}",
        escape_line(&format!("{kind}{reference}{result}"))
    ))?;
    for (name, value) in &node.sampling {
        let value = cx.options.screen.paint(
            Paint::Good,
            &escape_line(&format!("{:<11}", value.to_string())),
        );
        cx.print_line(&format!(
            "  {:<19}  {value}  written in the template",
            name.word()
        ))?;
    }
    node.settings
        .as_ref()
        .map_or(Ok(()), |settings| print_settings(settings, sources, cx))
}

fn print_settings(settings: &SettingsData, sources: &mut SourceTexts, cx: &mut Cx) -> Result<()> {
    let screen = cx.options.screen;
    for &name in SettingName::ALL {
        let setting = settings.get(name);
        let paint = if setting.origin.layer.is_written() {
            Paint::Good
        } else {
            Paint::Dim
        };
        let value = screen.paint(paint, &format!("{:<11}", setting.value.as_str()));
        let why = origin::describe_origin(&setting.origin, sources);
        let lost = origin::describe_overridden(setting, sources);
        let effect = origin::effect_note(setting);
        let line = format!(
            "  {:<19}  {value}  {}",
            name.word(),
            escape_line(&format!("{why}{lost}{effect}"))
        );
        cx.print_hanging(&line, ORIGIN_COLUMN)?;
    }
    Ok(())
}
