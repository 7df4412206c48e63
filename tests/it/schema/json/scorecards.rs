//! Scorecards of every way in which a scenario can end.

use super::artifacts::{Artifacts, put};
use ctxc::schema::json::names;
use serde_json::Value;

pub(super) fn scorecards(out: &mut Artifacts) {
    let project = crate::cli::eval::every_ending();
    let card = project.run(&["eval", "--json"]).code(3).json();
    for case in card["cases"].as_array().unwrap() {
        let mut part = card.clone();
        part["cases"] = Value::Array(vec![case.clone()]);
        put(out, names::SCORECARD, case["id"].as_str().unwrap(), part);
    }
    put(out, names::SCORECARD, "carried", project.run(&["eval", "--json", "--affected"]).code(3).json());
    let project = crate::cli::eval::every_ending();
    crate::cli::eval::commit(&project);
    put(out, names::SCORECARD, "a revision", project.run(&["eval", "holds", "--json", "--since", "main"]).code(0).json());
}
