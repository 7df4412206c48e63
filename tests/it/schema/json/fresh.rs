//! `schema/*.schema.json` equal the code's output, and no other file lies beside them.

use crate::support::fresh::assert_fresh;
use ctxc::internals::cli::artifacts::artifact_schemas;
use ctxc::internals::schema::json::ArtifactSchema;
use std::collections::BTreeSet;

#[test]
fn the_schemas_are_fresh() {
    for schema in artifact_schemas() {
        assert_fresh(&format!("schema/{}", schema.file_name()), &schema.to_text());
    }
    // Scenarios and project files are read, not written: their schemas have tests of their own.
    let read = [
        ctxc::internals::schema::scenario::SCENARIO_SCHEMA_FILE,
        ctxc::internals::schema::config::CONFIG_SCHEMA_FILE,
    ]
    .map(str::to_owned);
    let known: BTreeSet<String> = artifact_schemas()
        .iter()
        .map(ArtifactSchema::file_name)
        .chain(read)
        .collect();
    let kept = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/schema")).unwrap();
    let kept = kept.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let stray: Vec<String> = kept
        .filter(|name| name.contains(".schema.") && !known.contains(name))
        .collect();
    assert!(
        stray.is_empty(),
        "schema/{stray:?} belong to no artifact: remove them"
    );
}
