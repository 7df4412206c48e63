//! CTX308: a file to be shown to an agent that cannot be read.

use crate::rules::prelude::*;
use crate::rules::rule::UnreadableFile;
use crate::rules::structure::structure_prelude::short_excerpt;
use crate::syntax::write::escape_text;
use crate::template::keywords::FileSource;
use crate::template::parts::Str;

/// Otherwise the task would fail at its first call.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        308,
        "unreadable-path",
        "a path of `<file_paths>` that leads to no text inside the project"
    )
    .with_fix(Fixable::Suggested),
    Check::Node(check_node),
);

fn check_node(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some(files) = cx
        .task
        .files
        .as_ref()
        .filter(|files| files.source == FileSource::Literal)
    else {
        return;
    };
    if cx.cx.unread.is_empty() {
        return;
    }
    let first = files
        .paths
        .iter()
        .filter_map(|path| Some((path, cx.cx.unread.get(&*path.value)?)));
    out.extend(first.map(|(path, unread)| report(cx, path, unread)));
}

fn report(cx: &NodeCx<'_>, path: &Str<'_>, unread: &UnreadableFile) -> Diagnostic {
    let message = format!(
        "the file `{}` cannot be shown to the agent: {}",
        short_excerpt(&path.value),
        unread.why
    );
    let finding = Diagnostic::new(&RULE.meta, cx.cx.path, path.span, message);
    let finding = if path.value.contains("{{") || path.value.contains('*') {
        finding.note("paths are taken literally: variables and `*` are not expanded")
    } else {
        finding.note("paths are relative to the folder of ctxc.toml and stay inside it")
    };
    match &unread.near {
        Some(near) => finding
            .help(format!("did you mean `{}`?", short_excerpt(near)))
            .fix(Fix::suggested(
                format!("write `{}`", short_excerpt(near)),
                vec![Edit::replace(path.span, escape_text(near).into_owned())],
            )),
        None => finding.help(
            "correct the path, restore the file, or allow the finding if the file is created later",
        ),
    }
}
