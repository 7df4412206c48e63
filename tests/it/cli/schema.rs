//! `schema`: prints what lies in `schema/`.

use super::project::Project;
use pretty_assertions::assert_eq;

#[test]
fn it_prints_the_files_of_the_folder() {
    let file = |name: &str| {
        std::fs::read_to_string(format!("{}/schema/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    };
    for language in ["rng", "xsd"] {
        assert_eq!(
            Project::new()
                .run(&["schema", language])
                .exits_with(0)
                .stderr_is_empty()
                .stdout,
            file(&format!("ctxc.{language}"))
        );
    }
    for name in ["registry", "diagnostics", "rules"] {
        let text = Project::new()
            .run(&["schema", "json", name])
            .exits_with(0)
            .stderr_is_empty()
            .stdout;
        assert_eq!(text, file(&format!("{name}.schema.json")));
    }
}

#[test]
fn one_schema_holds_all_artifacts() {
    let bundle = Project::new().run(&["schema", "json"]).exits_with(0).json();
    let all = ctxc::internals::cli::artifacts::artifact_schemas();
    let referred: Vec<&str> = bundle["anyOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| of["$ref"].as_str().unwrap())
        .collect();
    assert_eq!(
        referred,
        all.iter()
            .map(ctxc::internals::schema::json::ArtifactSchema::file_name)
            .collect::<Vec<_>>()
    );
    for schema in all {
        assert_eq!(
            bundle["$defs"][schema.name()]["$id"],
            schema.file_name(),
            "what is referred to is inside"
        );
    }
}

#[test]
fn what_is_not_there_is_reported() {
    Project::new()
        .run(&["schema", "json", "regstry"])
        .exits_with(2)
        .stderr_contains("did you mean `registry`?")
        .stderr_contains("there are baseline, baseline-log, compaction, compaction-comparison, compaction-grades, compaction-probes, comparison, contract-acceptance, contract-matrix, coverage, ");
    Project::new()
        .run(&["schema", "rng", "registry"])
        .exits_with(2)
        .stderr_contains("only `ctxc schema json`");
    Project::new().run(&["schema", "dtd"]).exits_with(2);
}
