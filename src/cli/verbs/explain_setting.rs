//! `ctxc explain TASK[/NODE].SETTING`: one setting of one node, with every layer that sets it.

use super::show;
use crate::base::suggest;
use crate::cli::origin;
use crate::cli::prelude::*;
use crate::schema::json::names;
use crate::settings::data::{OriginData, OverriddenData, SettingData};
use crate::settings::provenance::SettingValue;
use crate::template::setting::{SettingName, Word};

/// The setting to explain: `triage/steps/1.fresh_context`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SettingQuery<'q> {
    /// The name of a task, and the node in it.
    place: &'q str,
    setting: SettingName,
}

/// Parses the argument; `None` if it has no dot before a setting.
pub(super) fn parse_query(what: &str) -> Option<Result<SettingQuery<'_>>> {
    let (place, setting) = what.rsplit_once('.')?;
    if let Some(setting) = SettingName::parse(setting) {
        return Some(Ok(SettingQuery { place, setting }));
    }
    let words = || SettingName::ALL.iter().map(|name| name.word());
    let error = CliError::usage(format!("`{setting}` is no setting"));
    let near = suggest::nearest_candidate(setting, words()).map(|near| format!("{place}.{near}"));
    let all = || {
        format!(
            "the settings are {}",
            words().collect::<Vec<_>>().join(", ")
        )
    };
    Some(Err(error.with_suggestion_or(near.as_deref(), all)))
}

/// The provenance of one setting: `ctxc explain TASK[/NODE].SETTING --json`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct SettingDocument<'d> {
    /// The version of the format.
    schema: &'static str,
    /// The name of the task.
    task: &'d str,
    /// The node inside it; `/` is the task itself.
    node: &'d str,
    /// The name of the setting.
    setting: SettingName,
    /// The value that holds; null if the setting does not apply to the type.
    value: SettingValue,
    /// True if the value has any effect.
    applies: bool,
    /// The provenance of the value that holds.
    origin: &'d OriginData,
    /// The overridden values, the nearest layer first.
    #[serde(rename = "beaten")]
    overridden: &'d [OverriddenData],
}

/// Prints the setting as JSON.
pub(super) fn print_json(question: SettingQuery<'_>, project: &Project, cx: &mut Cx) -> Result<()> {
    let found = find_setting(question, project, cx)?;
    let SettingData {
        value,
        applies,
        origin,
        overridden,
    } = found.setting;
    cx.print_json(&SettingDocument {
        schema: names::EXPLAIN,
        task: &found.task,
        node: &found.node,
        setting: question.setting,
        value,
        applies,
        origin: &origin,
        overridden: &overridden,
    })
}

/// Prints the setting for people.
pub(super) fn print_text(question: SettingQuery<'_>, project: &Project, cx: &mut Cx) -> Result<()> {
    let FoundSetting {
        task,
        node,
        setting,
    } = find_setting(question, project, cx)?;
    let mut sources = project.sources();
    let screen = cx.options.screen;
    let at = if node == "/" { "" } else { &node };
    let head = format!(
        "{task}{at}.{} is {}",
        question.setting.word(),
        setting.value.as_str()
    );
    cx.print_line(&format!(
        "{}: {}",
        screen.paint(Paint::Strong, &escape_line(&head)),
        value_meaning(question.setting, setting.value)
    ))?;
    let why = origin::describe_origin(&setting.origin, &mut sources);
    cx.print_hanging(
        &format!(
            "  {:<11} {}{}",
            setting.value.as_str(),
            escape_line(&why),
            origin::effect_note(&setting)
        ),
        14,
    )?;
    for OverriddenData {
        value,
        origin: lost,
    } in &setting.overridden
    {
        let why = origin::describe_origin(lost, &mut sources);
        let line = format!("  {:<11} {} (beaten)", value.as_str(), escape_line(&why));
        cx.print_hanging(&screen.paint(Paint::Dim, &line), 14)?;
    }
    Ok(())
}

struct FoundSetting {
    task: String,
    node: String,
    setting: SettingData,
}

/// Finds the setting. The name of a task may contain a slash, so the longest matching name is used.
fn find_setting(question: SettingQuery<'_>, project: &Project, cx: &Cx) -> Result<FoundSetting> {
    let places = show::definition_places(project, cx)?;
    let cuts = std::iter::once(question.place.len())
        .chain(question.place.rmatch_indices('/').map(|(at, _)| at));
    let mut split = cuts.map(|cut| question.place.split_at(cut));
    let known = split.find(|(name, _)| places.iter().any(|place| &*place.name == *name));
    let (name, id) = known.unwrap_or((question.place, ""));
    let place = show::find_definition(project, &places, name)?;
    let nodes = show::resolved_nodes(project, place)?;
    let id = if id.is_empty() { "/" } else { id };
    let list = format!("`ctxc show {}` lists its nodes", place.name);
    let Some(node) = nodes.iter().find(|node| node.id == id) else {
        return Err(
            CliError::usage(format!("`{}` has no node `{id}`", place.name))
                .with_suggestion(suggest::nearest_candidate(
                    id,
                    nodes.iter().map(|node| node.id.as_str()),
                ))
                .with_hint(list),
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
        return Err(other
            .into_iter()
            .fold(error, CliError::with_hint)
            .with_hint(list));
    };
    Ok(FoundSetting {
        task: place.name.to_string(),
        node: id.to_owned(),
        setting: settings.get(question.setting).clone(),
    })
}

/// Returns the meaning of a value for the agent.
fn value_meaning(name: SettingName, value: SettingValue) -> &'static str {
    use crate::template::setting::{Format, Fresh, Inherit};
    match value {
        SettingValue::Inherit(Inherit::Full) => "sees all of its parent's context",
        SettingValue::Inherit(Inherit::None) => "sees nothing of its parent's context",
        SettingValue::Inherit(Inherit::Subset) => {
            "sees the part of its parent's context that its files and inputs select"
        }
        SettingValue::Accumulate(true) => "carries earlier step results along",
        SettingValue::Accumulate(false) => "carries no earlier step results",
        SettingValue::Format(Format::NotesOnly) => "earlier step results are carried as notes",
        SettingValue::Format(Format::FullOutput) => "earlier step results are carried whole",
        SettingValue::Fresh(Fresh::Enabled) => "context is looked up for it",
        SettingValue::Fresh(Fresh::Disabled) => "no context is looked up for it",
        SettingValue::NotApplicable if name == SettingName::AccumulationFormat => {
            "there are no step results to carry in any form"
        }
        SettingValue::NotApplicable => "there are no earlier steps whose results could be carried",
    }
}
