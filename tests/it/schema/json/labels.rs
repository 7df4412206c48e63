//! Labels, scores of the judge, and reports on their agreement.

use super::artifacts::{Artifacts, put};
use crate::cli::label::{add_stable_verdicts, answered, labels};
use ctxc::internals::schema::json::names;

pub(super) fn label_files(out: &mut Artifacts) {
    let project = answered(100);
    let report = |out: &mut Artifacts, from: &str| {
        let report = project.run(&["label", "report", "--json"]).exits_with(0);
        put(out, names::LABEL_REPORT, from, report.json());
    };
    report(out, "without labels");
    project.write_file("labels/ann.jsonl", labels(10, |number| number == 1));
    let other = labels(10, |_| false).replace("ann@example.org", "bob@example.org");
    project.write_file("labels/bob.jsonl", other);
    report(out, "few labels");
    project.write_file("labels/ann.jsonl", labels(100, |number| number % 9 == 1));
    report(out, "many labels");
    add_stable_verdicts(&project);
    report(out, "stable");
    let lines = [
        ("labels/ann.jsonl", names::LABEL),
        ("labels/judge.jsonl", names::JUDGE_SCORE),
    ];
    for (path, schema) in lines {
        for line in project.read_file(path).lines().take(5) {
            put(out, schema, "a line", serde_json::from_str(line).unwrap());
        }
    }
}
