//! One line of `ctxc watch`.

use super::diagnostics::of_findings;
use super::list::Draft;
use super::names::WATCH;
use super::shape::{describe, list, must, number, object, only, or_null, part, text, word};
use super::shared::path;

pub(super) fn draft() -> Draft {
    let moved = vec![
        must("from", "where it started before", part("position")),
        must("finding", "the finding as it is now", part("diagnostic")),
    ];
    let trouble = vec![must("message", "what is wrong", word()), must("hints", "what to do", list(text()))];
    let fields = vec![
        must("schema", "the format", only(WATCH)),
        must(
            "changed",
            "templates, texts that they pull in and project files whose bytes changed since the line before, or that came or \
             went; none in the first line",
            list(path()),
        ),
        must("files", "the number of templates that were looked at", number(0)),
        must("summary", "the number of findings of each severity, all that there are now", part("summary")),
        must("new", "findings that were not there; in the first line, all", list(part("diagnostic"))),
        must(
            "moved",
            "findings that lie somewhere else or say something else than before; file, rule and fingerprint are the same",
            list(part("moved")),
        ),
        must("gone", "findings that are no longer there, as they were", list(part("diagnostic"))),
        must(
            "trouble",
            "why nothing could be checked: a project file that is unreadable, a path that is gone. What the lines before said \
             stands until a line without trouble. null: everything was checked",
            or_null(part("trouble")),
        ),
    ];
    let mut parts = of_findings();
    parts.push(("moved", describe("a finding that moved", object(moved))));
    parts.push(("trouble", describe("why nothing could be checked", object(trouble))));
    let about = "One line of `ctxc watch`, where it does not write to a terminal: a check that differs from the one before. Whoever \
                 takes `gone` away, puts `moved` in the place of what was and adds `new` has what `ctxc check` finds.";
    Draft { format: WATCH, about, root: object(fields), parts }
}
