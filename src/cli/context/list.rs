//! `ctxc list`: the tasks, roles, scenarios and agents of a project, each with the place of its
//! definition.
//!
//! Works on a project with errors too: a template that cannot be read adds no names, and a task
//! that depends on one has no agents.

use super::eval::load;
use super::project::CompiledProject;
use crate::cli::prelude::*;
use crate::cli::project::PROJECT_FILE;
use crate::cli::verbs::show::definition_places;
use crate::context::TaskGraph;
use crate::registry::inspect::DefinitionPlace;
use crate::schema::json::names;
use crate::template::names::DefinitionKind;
use clap::ValueEnum;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctxc list\n  ctxc list agents\n  ctxc list tasks --json")]
pub(crate) struct ListArgs {
    /// Kind of entry to list [default: everything]
    #[arg(value_name = "KIND")]
    kind: Option<ListKind>,
    #[command(flatten)]
    output: OutputArgs<DataFormat>,
}

/// Kinds of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ListKind {
    /// Tasks, by name
    Tasks,
    /// Agent roles of ctxc.toml
    Roles,
    /// Scenarios, by file
    Scenarios,
    /// Each agent that a task calls: TASK, or TASK/NODE
    Agents,
}

/// The definitions of a project: `ctxc list --json`.
#[derive(Default, JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct ListReport {
    /// The version of the format.
    schema: &'static str,
    /// The tasks, by name; absent if another kind was requested, as are the other lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<Vec<ListRow>>,
    /// The agent roles, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    roles: Option<Vec<ListRow>>,
    /// The scenarios, by file.
    #[serde(skip_serializing_if = "Option::is_none")]
    scenarios: Option<Vec<ListRow>>,
    /// The agents that tasks call, by task and in the order of its nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    agents: Option<Vec<ListRow>>,
}

/// A named definition.
#[derive(Clone, JsonSchema, Serialize)]
#[schemars(rename = "Named")]
struct ListRow {
    /// The name; for an agent, that of its task, with its node if that is not the task itself.
    name: String,
    /// The file that defines it, relative to the project; for an agent, the file of the task that
    /// calls it.
    path: String,
    /// The line, from 1.
    line: u32,
}

/// Prints the lists.
pub(crate) fn run_list(args: &ListArgs, cx: &mut Cx) -> Result<Exit> {
    let project = Project::load(&cx.options)?.require_no_errors()?;
    let is_asked = |kind| args.kind.is_none_or(|asked| asked == kind);
    let tasks = list_tasks(&project, cx)?;
    let agents = if is_asked(ListKind::Agents) {
        Some(list_agents(&tasks, cx)?)
    } else {
        None
    };
    let document = ListReport {
        schema: names::LIST,
        roles: is_asked(ListKind::Roles).then(|| list_roles(&project)),
        scenarios: is_asked(ListKind::Scenarios).then(|| list_scenarios(&project, cx)),
        agents,
        tasks: is_asked(ListKind::Tasks).then_some(tasks),
    };
    cx.emit_result(&args.output, |format, cx| match format {
        DataFormat::Json => cx.print_json(&document),
        DataFormat::Text => print_lists(&document, cx),
    })?;
    Ok(Exit::Success)
}

fn list_tasks(project: &Project, cx: &Cx) -> Result<Vec<ListRow>> {
    let mut sources = project.sources();
    let mut named = |place: DefinitionPlace| {
        let line = sources
            .finding_source(&place.path)
            .map_or(1, |source| source.index.line_number(place.span.start));
        ListRow {
            name: place.name.into(),
            path: place.path.to_string(),
            line,
        }
    };
    let tasks = definition_places(project, cx)?
        .into_iter()
        .filter(|place| place.kind == DefinitionKind::Task);
    let mut tasks: Vec<ListRow> = tasks.map(&mut named).collect();
    tasks.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
    Ok(tasks)
}

fn list_roles(project: &Project) -> Vec<ListRow> {
    let mut sources = project.sources();
    let mut line = |start| {
        sources
            .finding_source(PROJECT_FILE)
            .map_or(1, |source| source.index.line_number(start))
    };
    let roles = project.config.roles.values();
    roles
        .map(|role| ListRow {
            name: role.name.value.clone(),
            path: PROJECT_FILE.to_owned(),
            line: line(role.name.span.start),
        })
        .collect()
}

fn list_scenarios(project: &Project, cx: &mut Cx) -> Vec<ListRow> {
    let mut sources = project.sources();
    let mut found = Vec::new();
    for file in load::load_scenarios(&project.root, &project.config) {
        let is_sound = file.is_sound();
        let cases = file.suite.map(|suite| suite.cases).unwrap_or_default();
        if cases.is_empty() && !is_sound {
            cx.print_note(&format!(
                "{} has errors and is not listed; `ctxc check` shows them",
                escape_line(&file.path)
            ));
        }
        for case in cases {
            let line = sources
                .finding_source(&file.path)
                .map_or(1, |source| source.index.line_number(case.name.span.start));
            found.push(ListRow {
                name: case.name.value,
                path: file.path.to_string(),
                line,
            });
        }
    }
    found
}

fn list_agents(tasks: &[ListRow], cx: &mut Cx) -> Result<Vec<ListRow>> {
    let project = match CompiledProject::load(cx) {
        Err(error) if error.kind == CliErrorKind::NothingSelected => return Ok(Vec::new()),
        loaded => loaded?,
    };
    let graph = TaskGraph::load_all(&project.registry)?;
    let mut found = Vec::new();
    let (sound, broken): (Vec<&ListRow>, Vec<&ListRow>) = tasks
        .iter()
        .partition(|task| project.registry.find(&task.name).is_some());
    if !broken.is_empty() {
        let names = broken
            .iter()
            .map(|task| format!("`{}`", escape_line(&task.name)))
            .collect::<Vec<_>>()
            .join(", ");
        cx.print_note(&format!(
            "agents of tasks with errors are not listed: {names}; `ctxc check` shows the errors"
        ));
    }
    for task in sound {
        for agent in graph.agents(&task.name)? {
            let node = agent.node.trim_end_matches('/');
            let ListRow { path, line, .. } = tasks
                .iter()
                .find(|known| known.name == agent.definition)
                .unwrap_or(task)
                .clone();
            found.push(ListRow {
                name: format!("{}{node}", task.name),
                path,
                line,
            });
        }
    }
    Ok(found)
}

fn print_lists(document: &ListReport, cx: &mut Cx) -> Result<()> {
    let lists = [
        ("tasks", &document.tasks),
        ("roles", &document.roles),
        ("scenarios", &document.scenarios),
        ("agents", &document.agents),
    ];
    let screen = cx.options.screen;
    for (title, list) in lists {
        let Some(list) = list else { continue };
        cx.print_line(&screen.paint(Paint::Strong, &format!("{title} ({})", list.len())))?;
        let widest = list
            .iter()
            .map(|named| named.name.chars().count())
            .max()
            .unwrap_or(0);
        for ListRow { name, path, line } in list {
            let place = screen.paint(Paint::Dim, &format!("{}:{line}", escape_line(path)));
            cx.print_hanging(&format!("  {:<widest$}  {place}", escape_line(name)), 4)?;
        }
    }
    Ok(())
}
