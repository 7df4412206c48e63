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
                .code(0)
                .silent()
                .stdout,
            file(&format!("ctxc.{language}"))
        );
    }
    for name in ["registry", "diagnostics", "rules"] {
        let text = Project::new()
            .run(&["schema", "json", name])
            .code(0)
            .silent()
            .stdout;
        assert_eq!(text, file(&format!("{name}.schema.json")));
    }
}

#[test]
fn one_schema_holds_all_artifacts() {
    let bundle = Project::new().run(&["schema", "json"]).code(0).json();
    let all = ctxc::internals::cli::artifacts::all();
    let referred: Vec<&str> = bundle["anyOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| of["$ref"].as_str().unwrap())
        .collect();
    assert_eq!(
        referred,
        all.iter()
            .map(ctxc::internals::schema::json::Schema::file)
            .collect::<Vec<_>>()
    );
    for schema in all {
        assert_eq!(
            bundle["$defs"][schema.name()]["$id"],
            schema.file(),
            "what is referred to is inside"
        );
    }
}

#[test]
fn what_is_not_there_is_said() {
    Project::new()
        .run(&["schema", "json", "regstry"])
        .code(2)
        .warns("did you mean `registry`?")
        .warns("there are baseline, baseline-log, coverage, ");
    Project::new()
        .run(&["schema", "rng", "registry"])
        .code(2)
        .warns("only `ctxc schema json`");
    Project::new().run(&["schema", "dtd"]).code(2);
}
