//! `rules` and `explain`.

use super::project::Project;

#[test]
fn every_rule_is_listed_with_its_family() {
    let text = Project::new()
        .run(&["rules"])
        .exits_with(0)
        .stderr_is_empty()
        .stdout_contains("input (CTX9xx): files that cannot be read");
    let json = Project::new()
        .run(&["rules", "--format", "json"])
        .exits_with(0)
        .json();
    assert_eq!(json["schema"], "ctxc/rules/1");
    let rules = json["rules"].as_array().unwrap();
    for rule in rules {
        let name = rule["name"].as_str().unwrap();
        assert!(text.stdout.contains(name), "{name}");
        assert_ne!(rule["family"], "", "{name} belongs to no family");
    }
    let fix = |name: &str| &rules.iter().find(|rule| rule["name"] == name).unwrap()["fix"];
    let fixes = ["bare-ampersand", "context-conflict", "missing-description"].map(fix);
    assert_eq!(
        fixes,
        [
            &"safe".into(),
            &"suggested".into(),
            &serde_json::Value::from("none")
        ]
    );
    text.stdout_contains("CTX006 error   locked safe      bare-ampersand");
    let locked = rules
        .iter()
        .find(|rule| rule["name"] == "unreadable-file")
        .unwrap();
    assert_eq!(
        (&locked["locked"], &locked["severity"], &locked["code"]),
        (&true.into(), &"error".into(), &"CTX901".into())
    );
}

#[test]
fn a_rule_is_explained_by_name_and_by_code() {
    let by_name = Project::new()
        .run(&["explain", "file-too-large"])
        .exits_with(0)
        .stderr_is_empty();
    let by_code = Project::new().run(&["explain", "ctx902"]).exits_with(0);
    assert_eq!(by_name.stdout, by_code.stdout);
    by_name
        .stdout_contains("file-too-large CTX902 · error · input · cannot be turned off")
        .stdout_contains("--max-file-size");
}

#[test]
fn an_unknown_name_gets_the_nearest_one() {
    Project::new()
        .run(&["explain", "file-to-large"])
        .exits_with(2)
        .stderr_contains("did you mean `file-too-large`?")
        .stderr_contains("ctxc rules");
    for code in ["CTX9999", "ctx20"] {
        Project::new()
            .run(&["explain", code])
            .exits_with(2)
            .stdout_is_empty()
            .stderr_contains(&format!("there is no rule `{code}`"))
            .stderr_contains("`ctxc rules`");
    }
}
