//! The schema of SARIF as the oracle of `--format sarif`.

use crate::cli::report_formats::{checked, nasty};
use std::path::Path;
use std::process::Command;

fn is_valid(log: &Path) -> bool {
    let schema = std::env::var("CTXC_SARIF_SCHEMA").expect(".ci/peers sets CTXC_SARIF_SCHEMA");
    Command::new("jsonschema")
        .arg("-i")
        .arg(log)
        .arg(schema)
        .status()
        .unwrap()
        .success()
}

#[test]
#[ignore = "needs sarif: the official schema"]
fn sarif_logs_are_valid() {
    let project = nasty();
    let text = checked(&project, "sarif");
    project.write_file("log.sarif", &text);
    assert!(is_valid(&project.path("log.sarif")));
    project.write_file("bad.sarif", text.replace("\"ruleId\"", "\"rule_id\""));
    assert!(
        !is_valid(&project.path("bad.sarif")),
        "the schema refuses what is not in it"
    );
}

#[test]
#[ignore = "needs sarif: the official schema"]
fn sarif_logs_of_many_findings_stay_within_what_code_scanning_takes() {
    let project = nasty();
    for file in 0..700 {
        let undeclared: Vec<String> = (0..10)
            .map(|at| format!("& {{{{v{file}x{at}}}}}"))
            .collect();
        let undeclared = undeclared.join(" ");
        let text = format!(
            "<task type=\"atomic\" name=\"t{file}\"><description>{undeclared}</description></task>"
        );
        project.write_file(&format!("agents/templates/{file}.xml"), text);
    }
    let run = project
        .run(&["check", "--project", "agents", "--format", "sarif"])
        .exits_with(1)
        .stderr_contains("left out of the SARIF file");
    project.write_file("log.sarif", &run.stdout);
    assert!(is_valid(&project.path("log.sarif")));
    let log: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 5_000);
    let gzip = Command::new("gzip")
        .arg("-9k")
        .arg(project.path("log.sarif"))
        .status()
        .unwrap();
    assert!(gzip.success());
    assert!(
        std::fs::metadata(project.path("log.sarif.gz"))
            .unwrap()
            .len()
            < 10_000_000
    );
}
