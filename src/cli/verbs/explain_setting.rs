//! `ctxc explain TASK[/NODE].SETTING`: one setting of one node, with every layer that sets it.

use super::show;
use crate::base::suggest;
use crate::cli::origin;
use crate::cli::prelude::*;
use crate::schema::json::names;
use crate::settings::data::{OriginData, OverriddenData, SettingData};
use crate::settings::provenance::Value;
use crate::template::setting::{SettingName, Word};

/// The setting to explain: `triage/steps/1.fresh_context`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question<'q> {
    /// The name of a task, and the node in it.
    place: &'q str,
    setting: SettingName,
}

/// Parses the argument; `None` if it has no dot before a setting.
pub(super) fn question(what: &str) -> Option<Result<Question<'_>>> {
    let (place, setting) = what.rsplit_once('.')?;
    if let Some(setting) = SettingName::parse(setting) {
        return Some(Ok(Question { place, setting }));
    }
    let words = || SettingName::ALL.iter().map(|name| name.word());
    let error = CliError::usage(format!("`{setting}` is no setting"));
    let near = suggest::nearest(setting, words()).map(|near| format!("{place}.{near}"));
    let all = || {
        format!(
            "the settings are {}",
            words().collect::<Vec<_>>().join(", ")
        )
    };
    Some(Err(error.did_you_mean_or(near.as_deref(), all)))
}

/// How one setting came about: `ctxc explain TASK[/NODE].SETTING --json`.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Document<'d> {
    /// The format.
    schema: &'static str,
    /// The name of the task.
    task: &'d str,
    /// The node inside it; `/` is the task itself.
    node: &'d str,
    /// The name of the setting.
    setting: SettingName,
    /// The value that holds; null where the setting does not apply to the type.
    value: Value,
    /// Whether the value has any effect.
    applies: bool,
    /// Who set the value that holds.
    origin: &'d OriginData,
    /// The values that it has beaten, the nearest layer first.
    beaten: &'d [OverriddenData],
}

/// Prints the setting as JSON.
pub(super) fn json(question: Question<'_>, project: &Project, cx: &mut Cx) -> Result<()> {
    let found = look(question, project, cx)?;
    let SettingData {
        value,
        applies,
        origin,
        beaten,
    } = found.setting;
    cx.json(&Document {
        schema: names::EXPLAIN,
        task: &found.task,
        node: &found.node,
        setting: question.setting,
        value,
        applies,
        origin: &origin,
        beaten: &beaten,
    })
}

/// Prints the setting for people.
pub(super) fn text(question: Question<'_>, project: &Project, cx: &mut Cx) -> Result<()> {
    let Found {
        task,
        node,
        setting,
    } = look(question, project, cx)?;
    let mut sources = project.sources();
    let screen = cx.options.screen;
    let at = if node == "/" { "" } else { &node };
    let head = format!(
        "{task}{at}.{} is {}",
        question.setting.word(),
        setting.value.word()
    );
    cx.line(&format!(
        "{}: {}",
        screen.paint(Paint::Strong, &escape(&head)),
        meaning(question.setting, setting.value)
    ))?;
    let why = origin::words(&setting.origin, &mut sources);
    cx.hanging(
        &format!(
            "  {:<11} {}{}",
            setting.value.word(),
            escape(&why),
            origin::effect(&setting)
        ),
        14,
    )?;
    for OverriddenData {
        value,
        origin: lost,
    } in &setting.beaten
    {
        let why = origin::words(lost, &mut sources);
        let line = format!("  {:<11} {} (beaten)", value.word(), escape(&why));
        cx.hanging(&screen.paint(Paint::Dim, &line), 14)?;
    }
    Ok(())
}

struct Found {
    task: String,
    node: String,
    setting: SettingData,
}

/// Finds the setting. The name of a task may contain a slash, so the longest matching name is used.
fn look(question: Question<'_>, project: &Project, cx: &Cx) -> Result<Found> {
    let places = show::places(project, cx)?;
    let cuts = std::iter::once(question.place.len())
        .chain(question.place.rmatch_indices('/').map(|(at, _)| at));
    let mut split = cuts.map(|cut| question.place.split_at(cut));
    let known = split.find(|(name, _)| places.iter().any(|place| &*place.name == *name));
    let (name, id) = known.unwrap_or((question.place, ""));
    let place = show::find(project, &places, name)?;
    let nodes = show::nodes(project, place)?;
    let id = if id.is_empty() { "/" } else { id };
    let list = format!("`ctxc show {}` lists its nodes", place.name);
    let Some(node) = nodes.iter().find(|node| node.id == id) else {
        return Err(
            CliError::usage(format!("`{}` has no node `{id}`", place.name))
                .did_you_mean(suggest::nearest(
                    id,
                    nodes.iter().map(|node| node.id.as_str()),
                ))
                .hint(list),
        );
    };
    let Some(settings) = &node.settings else {
        let error = CliError::usage(format!(
            "node `{id}` of `{}` is a <{}> without context of its own",
            place.name, node.element
        ));
        let other = node.reference.as_ref().map(|name| {
            format!(
                "it stands for `{name}`: ask for {name}.{}",
                question.setting.word()
            )
        });
        return Err(other.into_iter().fold(error, CliError::hint).hint(list));
    };
    Ok(Found {
        task: place.name.to_string(),
        node: id.to_owned(),
        setting: settings.get(question.setting).clone(),
    })
}

/// Returns the meaning of a value for the agent.
fn meaning(name: SettingName, value: Value) -> &'static str {
    use crate::template::setting::{Format, Fresh, Inherit};
    match value {
        Value::Inherit(Inherit::Full) => "sees all of its parent's context",
        Value::Inherit(Inherit::None) => "sees nothing of its parent's context",
        Value::Inherit(Inherit::Subset) => {
            "sees the part of its parent's context that its files and inputs select"
        }
        Value::Accumulate(true) => "carries earlier step results along",
        Value::Accumulate(false) => "carries no earlier step results",
        Value::Format(Format::NotesOnly) => "earlier step results are carried as notes",
        Value::Format(Format::FullOutput) => "earlier step results are carried whole",
        Value::Fresh(Fresh::Enabled) => "context is looked up for it",
        Value::Fresh(Fresh::Disabled) => "no context is looked up for it",
        Value::NotApplicable if name == SettingName::AccumulationFormat => {
            "there are no step results to carry in any form"
        }
        Value::NotApplicable => "there are no earlier steps whose results could be carried",
    }
}
