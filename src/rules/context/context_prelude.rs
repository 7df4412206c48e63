//! Shared helpers of this family: the provenance of a value in the author's terms, and the effects
//! of fixes.

use crate::rules::setting_fixes::describe_row;
use crate::settings::conflict::TaskContentFacts;
use crate::settings::provenance::{SettingOrigin, ValuePlace};
use crate::syntax::tree::Element;
use crate::template::setting::{Inherit, SettingName, Word};

pub(super) use crate::rules::prelude::*;
pub(super) use crate::rules::setting_fixes::setting_fix;
pub(super) use crate::settings::conflict::check_exclusivity;

/// The effect of each fix on the agent.
pub(super) const ONLY_LOOKED_UP: &str = "receives only looked-up context";
pub(super) const ONLY_PARENT: &str = "receives only its parent's context";

/// Returns the facts of a task that findings about settings need.
pub(super) fn task_facts(cx: &NodeCx<'_>) -> TaskContentFacts {
    let task = cx.task;
    let has_files_or_inputs = task.files.is_some() || !task.inputs.is_empty();
    TaskContentFacts {
        has_content: has_files_or_inputs || !task.parameters.is_empty() || task.history.is_some(),
        selects: has_files_or_inputs || !task.relevance.is_empty(),
    }
}

/// True if the task's defaults are known: its type and subtype are known, and the project file is
/// valid TOML. Otherwise that fault is reported, and nothing that follows from defaults.
pub(super) fn has_known_defaults(cx: &NodeCx<'_>) -> bool {
    cx.body.fault.is_none() && !cx.cx.config.is_broken()
}

/// True if a setting's value is reliable: not written at all, or written and understood. A value
/// that cannot be read is reported at its place, and nothing that would follow from its default.
pub(super) fn is_readable(cx: &NodeCx<'_>, name: SettingName) -> bool {
    let Some(settings) = &cx.task.settings else {
        return true;
    };
    settings.setting_element(name).is_none() || settings.written.span(name).is_some()
}

/// True if the task is undamaged, so that an absent element really is absent.
pub(super) fn is_undamaged(cx: &NodeCx<'_>) -> bool {
    !cx.task.element.is_damaged()
}

/// The span of a setting's element; the head of the task if the setting is not written.
pub(super) fn setting_span(cx: &NodeCx<'_>, name: SettingName) -> Span {
    let element = cx
        .task
        .settings
        .as_ref()
        .and_then(|settings| settings.setting_element(name));
    element.map_or_else(|| cx.task.head_span(), Element::span)
}

/// `all` or `part`, as messages use it.
pub(super) const fn inherited_share(inherit: Inherit) -> &'static str {
    match inherit {
        Inherit::Subset => "part",
        Inherit::Full | Inherit::None => "all",
    }
}

/// Adds the provenance of a setting: the note “`inherit_context` is `full`: the default of type
/// atomic; neither triage.xml nor ctxc.toml sets it”, or a label at the place that sets it.
pub(super) fn add_provenance(
    cx: &NodeCx<'_>,
    finding: Diagnostic,
    name: SettingName,
) -> Diagnostic {
    let setting = cx.body.resolved.get(name);
    let word = name.word();
    let value = setting.value.as_str();
    match setting.origin.place {
        ValuePlace::Language => {
            let file = cx.cx.path.rsplit('/').next().unwrap_or("");
            let file = if file == "-" { "the template" } else { file };
            let of = describe_origin_row(cx, &setting.origin);
            finding.note(format!(
                "{word} is `{value}`: the default of {of}; neither {file} nor ctxc.toml sets it"
            ))
        }
        ValuePlace::Project(..) => {
            let Some((path, span, start)) = cx.cx.config.origin(&setting.origin) else {
                return finding;
            };
            let of = describe_origin_row(cx, &setting.origin);
            finding
                .note(format!(
                    "{word} is `{value}`: set for {of} in {path}:{}",
                    start.line
                ))
                .label_in(path, span, start, format!("{word} comes from here"))
        }
        ValuePlace::Template(_) => finding.label(setting_span(cx, name), "written here"),
    }
}

fn describe_origin_row(cx: &NodeCx<'_>, origin: &SettingOrigin) -> String {
    describe_row(cx.cx.config.layers.get(origin.row))
}
