//! CTX204: a setting without effect.

use super::context_prelude::*;
use crate::settings::conflict::is_without_effect;
use crate::syntax::write::remove_element;
use crate::template::setting::SettingName::{self, AccumulateData, AccumulationFormat};
use crate::template::setting::Word;

/// Stays in the registry with `applies: false`, although its author believes that it has an effect.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        204,
        "setting-without-effect",
        "a written setting that has no effect on what the task receives"
    )
    .with_fix(Fixable::Suggested),
    Check::Node(check_node),
);

fn check_node(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    for name in [AccumulateData, AccumulationFormat] {
        if is_without_effect(&cx.body.resolved, name)
            && is_readable(cx, AccumulateData)
            && has_known_defaults(cx)
        {
            out.push(build_finding(cx, name));
        }
    }
}

fn build_finding(cx: &NodeCx<'_>, name: SettingName) -> Diagnostic {
    let word = name.word();
    let row = cx.cx.config.layers.get(cx.body.resolved.row);
    let has_steps = row.accumulates();
    let message = if has_steps {
        format!("`{word}` has no effect: no results of earlier steps are carried")
    } else {
        format!(
            "`{word}` has no effect: a task of type {} has no steps whose results could be carried",
            row.operator()
        )
    };
    let mut finding = Diagnostic::new(&RULE.meta, cx.cx.path, setting_span(cx, name), message);
    if has_steps {
        finding = add_provenance(cx, finding, AccumulateData);
    }
    let element = cx
        .task
        .settings
        .as_ref()
        .and_then(|settings| settings.setting_element(name));
    if let Some(element) = element {
        let title = format!("remove <{word}>: nothing changes for the agent");
        finding = finding.fix(Fix::suggested(title, vec![remove_element(element)]));
    }
    if has_steps {
        finding = finding.fix(setting_fix(
            cx.task,
            AccumulateData,
            "true",
            "carries the results of earlier steps",
        ));
    }
    finding
}
