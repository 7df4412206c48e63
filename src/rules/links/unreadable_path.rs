//! CTX308: a file that an agent is to be shown, and that cannot be had.

use crate::rules::prelude::*;
use crate::rules::rule::Unread;
use crate::rules::structure::family::shown;
use crate::syntax::write::escape_text;
use crate::template::keywords::FileSource;
use crate::template::parts::Str;

/// The task would be refused at its first call.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(308, "unreadable-path", "a path of `<file_paths>` that leads to no text inside the project", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Node(check),
};

const PAGE: &str = "\
A path of `<file_paths>` is relative to the folder of `ctxc.toml` and stands for itself: no `{{…}}` and no `*` is filled in. The file must be UTF-8 (or UTF-16 with
a mark) and lie inside the project, links followed: a template from elsewhere could otherwise put any file of the machine into a prompt. It is read when a
context is put together, and no context without it is handed out.

Correct the path, or restore the file. Where it is there only later, because an earlier step writes it, an application hands it in or every scenario freezes its own, say so:
`<?ctxc allow unreadable-path reason=\"the step before writes it\"?>` inside `<file_paths>`, or `unreadable-path = \"warning\"` under `[lints]`.

Templates that a program hands over in memory are not told of files that are missing: it may hand those over later.";

const BAD: &[Example] = &[Example {
    template: "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <file_paths>\n    <path>/docs/teams.md</path>\n  </file_paths>\n</task>\n",
    project: "# file: docs/teams.md\naccess: logins\n",
}];

const GOOD: &[Example] = &[Example {
    template: "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <file_paths>\n    <path>docs/teams.md</path>\n  </file_paths>\n</task>\n",
    project: "# file: docs/teams.md\naccess: logins\n",
}];

fn check(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some(files) = cx.task.files.as_ref().filter(|files| files.source == FileSource::Literal) else { return };
    if cx.cx.unread.is_empty() {
        return;
    }
    let told = files.paths.iter().filter_map(|path| Some((path, cx.cx.unread.get(&*path.value)?)));
    out.extend(told.map(|(path, unread)| word(cx, path, unread)));
}

fn word(cx: &NodeCx<'_>, path: &Str<'_>, unread: &Unread) -> Diagnostic {
    let message = format!("the file `{}` cannot be shown to the agent: {}", shown(&path.value), unread.why);
    let finding = Diagnostic::new(&RULE.meta, cx.cx.path, path.span, message);
    let finding = if path.value.contains("{{") || path.value.contains('*') {
        finding.note("a path is a name: no variable and no `*` in it is filled in")
    } else {
        finding.note("paths are relative to the folder of ctxc.toml and stay inside it")
    };
    match &unread.near {
        Some(near) => finding.help(format!("did you mean `{}`?", shown(near))).fix(Fix::suggested(
            format!("write `{}`", shown(near)),
            vec![Edit::replace(path.span, escape_text(near).into_owned())],
        )),
        None => finding.help("correct the path, restore the file, or allow the finding where the file comes later"),
    }
}
