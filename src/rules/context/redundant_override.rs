//! CTX205: a setting that repeats the default.

use super::context_prelude::*;
use crate::rules::setting_fixes::describe_row;
use crate::settings::conflict::is_redundant;
use crate::settings::provenance::ValuePlace;
use crate::syntax::write::remove_element;
use crate::template::setting::{SettingName, Word};

/// Off by default: some teams write every setting on purpose.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        hint,
        205,
        "redundant-override",
        "a written setting that is the default"
    )
    .off_by_default()
    .with_fix(Fixable::Safe),
    Check::Node(check_node),
);

fn check_node(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    // The other rules of this family are nearly always on, this one nearly never, so it returns
    // early.
    let Some(settings) = cx
        .task
        .settings
        .as_ref()
        .filter(|_| cx.cx.config.lints.is_on(&RULE.meta))
    else {
        return;
    };
    let layers = &cx.cx.config.layers;
    for name in SettingName::ALL.iter().copied() {
        if !is_redundant(&cx.body.resolved, layers, name)
            || !is_readable(cx, name)
            || !has_known_defaults(cx)
        {
            continue;
        }
        let word = name.word();
        let value = cx.body.resolved.get(name).value.as_str();
        let origin = layers.defaults(cx.body.resolved.row).get(name).origin;
        let of = describe_row(layers.get(origin.row));
        let source = match origin.place {
            ValuePlace::Project(..) => "the project's default",
            ValuePlace::Language | ValuePlace::Template(_) => "the default",
        };
        let message = format!("`{word}` is `{value}` anyway: that is {source} of {of}");
        let mut finding = Diagnostic::new(&RULE.meta, cx.cx.path, setting_span(cx, name), message);
        if let Some((path, span, start)) = cx.cx.config.origin(&origin) {
            finding = finding.label_in(path, span, start, "the default comes from here");
        }
        if let Some(element) = settings.setting_element(name) {
            finding = finding.fix(Fix::safe(
                format!("remove <{word}>"),
                vec![remove_element(element)],
            ));
        }
        out.push(finding);
    }
}
