//! `ctxc list`: the tasks, roles, scenarios and agents of a project, each with the place of its
//! definition.
//!
//! Works on a project with errors too: a template that cannot be read adds no names, and a task
//! that depends on one has no agents.

use super::eval::load;
use super::project::Compiled;
use crate::cli::prelude::*;
use crate::cli::project::FILE;
use crate::cli::verbs::show::places;
use crate::context::TaskGraph;
use crate::registry::inspect::Place;
use crate::schema::json::names;
use crate::template::names::DefinitionKind;
use clap::ValueEnum;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctxc list\n  ctxc list agents\n  ctxc list tasks --json")]
pub(crate) struct ListArgs {
    /// What to list [default: everything]
    #[arg(value_name = "KIND")]
    kind: Option<Listed>,
    #[command(flatten)]
    output: OutputArgs<DataFormat>,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Listed {
    /// Tasks, by name
    Tasks,
    /// Agent roles of ctxc.toml
    Roles,
    /// Scenarios, by file
    Scenarios,
    /// Each agent that a task calls: TASK, or TASK/NODE
    Agents,
}

/// What a project defines: `ctxc list --json`.
#[derive(Default, JsonSchema, Serialize)]
pub(crate) struct Document {
    /// The format.
    schema: &'static str,
    /// The tasks, by name; absent where something else was asked for, as are the other lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<Vec<Named>>,
    /// The agent roles, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    roles: Option<Vec<Named>>,
    /// The scenarios, by file.
    #[serde(skip_serializing_if = "Option::is_none")]
    scenarios: Option<Vec<Named>>,
    /// The agents that tasks call, by task and in the order of its nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    agents: Option<Vec<Named>>,
}

/// Something with a name.
#[derive(Clone, JsonSchema, Serialize)]
struct Named {
    /// Its name; of an agent that of its task, with its node where that is not the task itself.
    name: String,
    /// The file that defines it, relative to the project; of an agent the file of the task that it stands in.
    path: String,
    /// The line, from 1.
    line: u32,
}

/// Prints the lists.
pub(crate) fn run(args: &ListArgs, cx: &mut Cx) -> Result<Exit> {
    let project = Project::load(&cx.options)?.without_errors()?;
    let is_asked = |kind| args.kind.is_none_or(|asked| asked == kind);
    let tasks = tasks(&project, cx)?;
    let agents = if is_asked(Listed::Agents) {
        Some(agents(&tasks, cx)?)
    } else {
        None
    };
    let document = Document {
        schema: names::LIST,
        roles: is_asked(Listed::Roles).then(|| roles(&project)),
        scenarios: is_asked(Listed::Scenarios).then(|| scenarios(&project, cx)),
        agents,
        tasks: is_asked(Listed::Tasks).then_some(tasks),
    };
    cx.emit(&args.output, |format, cx| match format {
        DataFormat::Json => cx.json(&document),
        DataFormat::Text => text(&document, cx),
    })?;
    Ok(Exit::Success)
}

fn tasks(project: &Project, cx: &Cx) -> Result<Vec<Named>> {
    let mut sources = project.sources();
    let mut named = |place: Place| {
        let line = sources
            .main(&place.path)
            .map_or(1, |source| source.index.line(place.span.start));
        Named {
            name: place.name.into(),
            path: place.path.to_string(),
            line,
        }
    };
    let tasks = places(project, cx)?
        .into_iter()
        .filter(|place| place.kind == DefinitionKind::Task);
    let mut tasks: Vec<Named> = tasks.map(&mut named).collect();
    tasks.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
    Ok(tasks)
}

fn roles(project: &Project) -> Vec<Named> {
    let mut sources = project.sources();
    let mut line = |start| {
        sources
            .main(FILE)
            .map_or(1, |source| source.index.line(start))
    };
    let roles = project.config.roles.values();
    roles
        .map(|role| Named {
            name: role.name.value.clone(),
            path: FILE.to_owned(),
            line: line(role.name.span.start),
        })
        .collect()
}

fn scenarios(project: &Project, cx: &mut Cx) -> Vec<Named> {
    let mut sources = project.sources();
    let mut found = Vec::new();
    for file in load::all(&project.root, &project.config) {
        let is_sound = file.is_sound();
        let cases = file.suite.map(|suite| suite.cases).unwrap_or_default();
        if cases.is_empty() && !is_sound {
            cx.note(&format!(
                "{} has errors and is not listed; `ctxc check` shows them",
                escape(&file.path)
            ));
        }
        for case in cases {
            let line = sources
                .main(&file.path)
                .map_or(1, |source| source.index.line(case.name.span.start));
            found.push(Named {
                name: case.name.value,
                path: file.path.to_string(),
                line,
            });
        }
    }
    found
}

fn agents(tasks: &[Named], cx: &mut Cx) -> Result<Vec<Named>> {
    let project = match Compiled::load(cx) {
        Err(error) if error.kind == Kind::Nothing => return Ok(Vec::new()),
        loaded => loaded?,
    };
    let graph = TaskGraph::whole(&project.registry)?;
    let mut found = Vec::new();
    let (sound, broken): (Vec<&Named>, Vec<&Named>) = tasks
        .iter()
        .partition(|task| project.registry.find(&task.name).is_some());
    if !broken.is_empty() {
        let names = broken
            .iter()
            .map(|task| format!("`{}`", escape(&task.name)))
            .collect::<Vec<_>>()
            .join(", ");
        cx.note(&format!(
            "agents of tasks with errors are not listed: {names}; `ctxc check` shows the errors"
        ));
    }
    for task in sound {
        for agent in graph.agents(&task.name)? {
            let node = agent.node.trim_end_matches('/');
            let Named { path, line, .. } = tasks
                .iter()
                .find(|known| known.name == agent.definition)
                .unwrap_or(task)
                .clone();
            found.push(Named {
                name: format!("{}{node}", task.name),
                path,
                line,
            });
        }
    }
    Ok(found)
}

fn text(document: &Document, cx: &mut Cx) -> Result<()> {
    let lists = [
        ("tasks", &document.tasks),
        ("roles", &document.roles),
        ("scenarios", &document.scenarios),
        ("agents", &document.agents),
    ];
    let screen = cx.options.screen;
    for (title, list) in lists {
        let Some(list) = list else { continue };
        cx.line(&screen.paint(Paint::Strong, &format!("{title} ({})", list.len())))?;
        let widest = list
            .iter()
            .map(|named| named.name.chars().count())
            .max()
            .unwrap_or(0);
        for Named { name, path, line } in list {
            let place = screen.paint(Paint::Dim, &format!("{}:{line}", escape(path)));
            cx.hanging(&format!("  {:<widest$}  {place}", escape(name)), 4)?;
        }
    }
    Ok(())
}
