//! Answer schemas: `check` rejects a schema that a run could not validate an answer with, and both
//! follow the draft that the schema names.

use super::generator::DrawnProject;
use super::probe::{ProjectVerdict, probe_project};
use crate::project::reading::found;

const TASK: &str = r#"<task name="t"><description>d</description><output_format type="json" schema="s.json"/></task>"#;

fn probe_schema(schema: &str) -> ProjectVerdict {
    let files = [("s.json".to_owned(), schema.to_owned())].into();
    probe_project(&DrawnProject {
        templates: TASK.to_owned(),
        files,
        ..DrawnProject::default()
    })
}

#[test]
fn check_refuses_a_schema_that_a_run_cannot_compile() {
    for schema in [
        r##"{"properties": {"v": {"$ref": "#/nowhere"}}}"##,
        r#"{"type": "objekt"}"#,
        r#"{"properties": {"v": {"type": "string", "pattern": "("}}}"#,
        r#"{"properties": {"v": {"type": "string", "pattern": "(?=a)b"}}}"#,
        r#"{"properties": {"v": {"type": "string", "pattern": "(a{1000}){1000}"}}}"#,
        r#"{"properties": {"v": {"minLength": "a"}}}"#,
        r#"{"properties": {"v": {"items": [{}]}}}"#,
        r#"{"required": "v"}"#,
        r#"{"$schema": "http://example.com/x", "type": "object"}"#,
        r#"{"properties": {"v": {"$ref": "other.json"}}}"#,
        r#"{"properties": {"v": {"$ref": "http://example.com/x.json"}}}"#,
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "$id": "not a uri %%"}"#,
        r##"{"$ref": "#"}"##,
        r##"{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}"##,
        r#"{"properties": {"v": {"multipleOf": 0}}}"#,
        r#"{"properties": {"v": {"enum": "a"}}}"#,
        r#"{"patternProperties": {"(": {}}}"#,
        r##"{"properties": {"v": {"$dynamicRef": "#none"}}}"##,
        r#"{"dependencies": {"a": 3}}"#,
        r#"{"title": []}"#,
        r#"{"properties": {"v": {"minimum": 1, "exclusiveMinimum": true}}}"#,
        r#"{"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"v": {"required": true}}}"#,
    ] {
        let verdict = probe_schema(schema);
        assert!(
            matches!(&verdict, ProjectVerdict::Refused(errors) if errors.len() == 1 && errors[0].starts_with("bad-schema: ")),
            "{schema}: {verdict:?}"
        );
    }
}

#[test]
fn a_run_holds_an_answer_against_a_schema_by_the_draft_that_it_names() {
    for schema in [
        r#"{"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "properties": {"v": {"minimum": 1, "exclusiveMinimum": true}}}"#,
        r##"{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"n": {"type": "string"}}, "type": "object", "properties": {"v": {"$ref": "#/definitions/n"}}}"##,
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"v": {"items": [{}]}}}"#,
        r#"{"type": "object", "x-own": 1, "properties": {"v": {"type": "string", "pattern": "\\p{Greek}?"}}}"#,
        "true",
    ] {
        let verdict = probe_schema(schema);
        assert!(
            matches!(verdict, ProjectVerdict::Sound(1)),
            "{schema}: {verdict:?}"
        );
    }
}

#[test]
fn a_pattern_that_looks_around_is_a_warning_in_a_tool() {
    let tool = |pattern: &str| {
        found(&format!(
            "edition = \"2026\"\n[tools.look]\ndescription = \"Looks.\"\nparameters = {{type = \"object\", properties = {{at = {{type = \"string\", pattern = '{pattern}'}}}}}}\n"
        ))
    };
    for pattern in ["(?=a)b", "(?!a)b", "(?<=a)b", r"(a)\1"] {
        assert!(
            tool(pattern).starts_with("warning CTX535 "),
            "{}",
            tool(pattern)
        );
    }
    assert!(tool("(").starts_with("error CTX535 "), "{}", tool("("));
    assert_eq!(tool("a+"), "");
}
