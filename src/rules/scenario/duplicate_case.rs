//! CTX618: two cases that share a name.

use super::cx::ScenarioFile;
use super::scenario_prelude::*;
use crate::base::diagnostic::Label;
use crate::base::source::LineIndex;
use crate::scenario::paths::snapshot_path;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The history keeps only one of two cases with the same name.
pub(crate) static RULE: Rule = Rule::new(
    meta!(error, 618, "duplicate-case", "two cases share a name"),
    Check::Suites(check_suites),
);

fn check_suites(cx: &SuitesCx<'_>, out: &mut Vec<Diagnostic>) {
    for_each_duplicate(cx, &mut |_, _, finding| out.push(finding));
    let mut stored: BTreeMap<String, String> = BTreeMap::new();
    for (file, case) in cx.cases() {
        let path = if case.uses_snapshot() {
            snapshot_path(file.path, &case.name.value)
        } else {
            continue;
        };
        let Some(other) = stored
            .insert(path.to_lowercase(), path.clone())
            .filter(|other| *other != path)
        else {
            continue;
        };
        let message = format!(
            "the stored requests `{path}` and `{other}` are the same file where case is ignored"
        );
        let finding = Diagnostic::new(&RULE.meta, file.path, case.name.span, message)
            .severity(Severity::Warning);
        out.push(
            finding
                .note("as on Windows and macOS")
                .help("give one of the two cases another name"),
        );
    }
}

/// Calls `take` for every case whose name is taken, with its finding.
pub(super) fn for_each_duplicate(
    cx: &SuitesCx<'_>,
    take: &mut dyn FnMut(&ScenarioFile<'_>, &ScenarioCase, Diagnostic),
) {
    let mut seen: BTreeMap<&str, (&ScenarioFile<'_>, Span)> = BTreeMap::new();
    for (file, case) in cx.cases() {
        let name = case.name.value.as_str();
        let Some((first, place)) = seen.get(name) else {
            seen.insert(name, (file, case.name.span));
            continue;
        };
        let mut finding = Diagnostic::new(
            &RULE.meta,
            file.path,
            case.name.span,
            format!("another case is called `{name}`"),
        );
        // All rows of a table have the span of the table's name.
        if *place != case.name.span || first.path != file.path {
            let start = LineIndex::new(first.text).position(first.text, place.start);
            let path = (first.path != file.path).then(|| Arc::clone(first.path));
            finding.labels.push(Label {
                path,
                span: *place,
                start,
                text: "the other one".into(),
            });
        }
        take(file, case, finding.help("give one of the two another name"));
    }
}
