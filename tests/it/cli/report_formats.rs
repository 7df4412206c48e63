//! The formats of services: SARIF, annotations, code quality, `JUnit`, Checkstyle, reviewdog. One
//! nasty project through all of them; each must contain the same findings as `--json`, in its own
//! units.

use super::check::{CLEAN, CONFLICT, WARNING};
use super::project::Project;
use pretty_assertions::assert_eq;
use serde_json::Value;

/// A file whose name and text contain everything that breaks formats: `%`, `:`, `,`, blanks,
/// characters of two UTF-16 units.
pub(crate) const NASTY: &str = "agents/templates/100% ä, b:c 😀.xml";

/// A repository with the project in a folder of its own.
pub(crate) fn nasty() -> Project {
    let text = "<task type=\"atomic\" name=\"n\">\r\n  <description>😀ä & {{x}}</description>\r\n</task>\r\n";
    let project = Project::new()
        .with_file(".git/HEAD", "ref: refs/heads/main\n")
        .with_file("agents/ctxc.toml", "");
    let project = project
        .with_file("agents/templates/conflict.xml", CONFLICT)
        .with_file("agents/templates/bare.xml", WARNING);
    project
        .with_file(NASTY, text)
        .with_file("agents/templates/clean.xml", CLEAN)
}

pub(crate) fn checked(project: &Project, format: &str) -> String {
    project
        .run(&["check", "--project", "agents", "--format", format])
        .exits_with(1)
        .stderr_is_empty()
        .stdout
}

fn findings(project: &Project) -> Vec<Value> {
    let json: Value = serde_json::from_str(&checked(project, "json")).unwrap();
    let findings = json["diagnostics"].as_array().unwrap().clone();
    assert!(
        findings.len() > 3 && findings.iter().any(|finding| finding["code"] == "CTX006"),
        "{findings:?}"
    );
    findings
}

/// A range of lines and columns, and its replacement.
type Change = ((u64, u64), (u64, u64), String);

/// Applies the edits of a fix to a text; they are given as lines and columns of a unit.
fn mended(text: &str, edits: &[Change], width: fn(char) -> usize) -> String {
    let offset = |(line, column): (u64, u64)| {
        let start: usize = text
            .split_inclusive('\n')
            .take(line as usize - 1)
            .map(str::len)
            .sum();
        let mut left = column as usize - 1;
        let inside = text[start..].chars().take_while(|c| {
            let fits = left > 0;
            left = left.saturating_sub(width(*c));
            fits
        });
        start + inside.map(char::len_utf8).sum::<usize>()
    };
    let mut out = text.to_owned();
    for (start, end, insert) in edits.iter().rev() {
        out.replace_range(offset(*start)..offset(*end), insert);
    }
    out
}

/// The fixes of `--json` applied by their bytes.
fn mended_by_bytes(text: &str, fix: &Value) -> String {
    let mut out = text.to_owned();
    for edit in fix["edits"].as_array().unwrap().iter().rev() {
        let at = |end: &str| edit["span"][end].as_u64().unwrap() as usize;
        out.replace_range(at("start")..at("end"), edit["insert"].as_str().unwrap());
    }
    out
}

#[test]
fn sarif_has_the_same_findings_with_their_fixes() {
    let project = nasty();
    let findings = findings(&project);
    let log: Value = serde_json::from_str(&checked(&project, "sarif")).unwrap();
    let run = &log["runs"][0];
    assert_eq!(
        (&log["version"], &run["columnKind"]),
        (&"2.1.0".into(), &"utf16CodeUnits".into())
    );
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), findings.len());
    let mut fixes = 0;
    for (result, finding) in results.iter().zip(&findings) {
        let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(
            (&result["ruleId"], &rule["id"], &rule["name"]),
            (&finding["code"], &finding["code"], &finding["name"])
        );
        assert!(
            rule["help"]["markdown"]
                .as_str()
                .unwrap()
                .contains("## Wrong"),
            "{rule}"
        );
        let physical = &result["locations"][0]["physicalLocation"];
        let region = &physical["region"];
        assert_eq!(
            (&region["startLine"], &region["startColumn"]),
            (&finding["start"]["line"], &finding["start"]["utf16"])
        );
        assert_eq!(
            (&region["endLine"], &region["endColumn"]),
            (&finding["end"]["line"], &finding["end"]["utf16"])
        );
        assert!(
            result["partialFingerprints"]["ctxc/v1"]
                .as_str()
                .unwrap()
                .starts_with(finding["fingerprint"].as_str().unwrap())
        );
        let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
        assert!(
            uri.starts_with("agents/templates/") && uri.bytes().all(|byte| byte.is_ascii_graphic()),
            "{uri}"
        );
        let text = project.read_file(&format!("agents/{}", finding["path"].as_str().unwrap()));
        for (theirs, ours) in result["fixes"]
            .as_array()
            .into_iter()
            .flatten()
            .zip(finding["fixes"].as_array().unwrap())
        {
            let edits = theirs["artifactChanges"][0]["replacements"]
                .as_array()
                .unwrap()
                .iter()
                .map(|edit| {
                    let at = |key: &str| edit["deletedRegion"][key].as_u64().unwrap();
                    let insert = edit["insertedContent"]["text"].as_str().unwrap().to_owned();
                    (
                        (at("startLine"), at("startColumn")),
                        (at("endLine"), at("endColumn")),
                        insert,
                    )
                });
            assert_eq!(
                mended(&text, &edits.collect::<Vec<_>>(), char::len_utf16),
                mended_by_bytes(&text, ours)
            );
            fixes += 1;
        }
    }
    assert!(fixes > 3, "{fixes} fixes");
    let uris: Vec<&str> = results
        .iter()
        .filter(|result| result["ruleId"] == "CTX006")
        .map(|result| {
            result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
                .as_str()
                .unwrap()
        })
        .collect();
    assert_eq!(
        uris,
        ["agents/templates/100%25%20%C3%A4%2C%20b%3Ac%20%F0%9F%98%80.xml"]
    );
}

#[test]
fn rdjson_counts_bytes_and_suggests_what_the_fixes_do() {
    let project = nasty();
    let findings = findings(&project);
    let json: Value = serde_json::from_str(&checked(&project, "rdjson")).unwrap();
    let theirs = json["diagnostics"].as_array().unwrap();
    assert_eq!(theirs.len(), findings.len());
    for (theirs, ours) in theirs.iter().zip(&findings) {
        let path = ours["path"].as_str().unwrap();
        assert_eq!(theirs["location"]["path"], format!("agents/{path}"));
        assert_eq!(theirs["code"]["value"], ours["code"]);
        let text = project.read_file(&format!("agents/{path}"));
        let start = ours["span"]["start"].as_u64().unwrap() as usize;
        let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
        assert_eq!(
            theirs["location"]["range"]["start"]["column"],
            start - line + 1
        );
        let suggestions = theirs["suggestions"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        assert_eq!(suggestions.len(), ours["fixes"].as_array().unwrap().len());
        for (theirs, ours) in suggestions.iter().zip(ours["fixes"].as_array().unwrap()) {
            let at = |end: &str, key: &str| theirs["range"][end][key].as_u64().unwrap();
            let (start, end) = (
                (at("start", "line"), at("start", "column")),
                (at("end", "line"), at("end", "column")),
            );
            let edit = [(start, end, theirs["text"].as_str().unwrap().to_owned())];
            assert_eq!(
                mended(&text, &edit, char::len_utf8),
                mended_by_bytes(&text, ours)
            );
        }
    }
}

#[test]
fn annotations_are_one_line_each_whatever_files_say() {
    let project = nasty();
    let text = checked(&project, "github");
    assert_eq!(text.lines().count(), findings(&project).len());
    let line = text.lines().find(|line| line.contains("CTX006")).unwrap();
    insta::assert_snapshot!(line, @"::error file=agents/templates/100%25 ä%2C b%3Ac 😀.xml,line=2,col=19,endColumn=20,title=bare-ampersand (CTX006)::`&` on its own%0Afix: write `&amp;`");
    assert!(text.lines().all(|line| line.starts_with("::error ")
        || line.starts_with("::warning ")
        || line.starts_with("::notice ")));
}

#[test]
fn the_text_of_a_template_cannot_give_commands() {
    let text = "<task type=\"atomic\" name=\"a&#10;::stop-commands::x\"><description>d</description></task>";
    let project = Project::new()
        .with_file("a.xml", text)
        .with_file("b.xml", text)
        .with_file("c\n::error::x.xml", CONFLICT);
    let text = project
        .run(&["check", "--format", "github"])
        .exits_with(1)
        .stdout;
    let is_command = |line: &str| {
        ["::error file=", "::warning file=", "::notice file="]
            .iter()
            .any(|head| line.starts_with(head))
    };
    assert!(
        text.lines().count() == 3 && text.lines().all(is_command),
        "{text}"
    );
}

#[test]
fn gitlab_gets_every_finding_under_its_own_fingerprint() {
    let twice = CLEAN.replace("Answer", "&\n&");
    let project = Project::new()
        .with_file("a.xml", &twice)
        .with_file("b.xml", CONFLICT);
    let json: Value = serde_json::from_str(
        &project
            .run(&["check", "--format", "gitlab"])
            .exits_with(1)
            .stdout,
    )
    .unwrap();
    let issues = json.as_array().unwrap();
    let mut fingerprints: Vec<&str> = issues
        .iter()
        .map(|issue| issue["fingerprint"].as_str().unwrap())
        .collect();
    fingerprints.sort_unstable();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), issues.len());
    let conflict = issues
        .iter()
        .find(|issue| issue["location"]["path"] == "b.xml")
        .unwrap();
    assert_eq!(
        (
            &conflict["severity"],
            &conflict["location"]["lines"]["begin"]
        ),
        (&"critical".into(), &5.into())
    );
    // The line moves, the fingerprint stays.
    project.write_file("b.xml", format!("\n\n{CONFLICT}"));
    let json: Value = serde_json::from_str(
        &project
            .run(&["check", "--format", "gitlab"])
            .exits_with(1)
            .stdout,
    )
    .unwrap();
    let moved = json
        .as_array()
        .unwrap()
        .iter()
        .find(|issue| issue["location"]["path"] == "b.xml")
        .unwrap();
    assert_eq!(
        (&moved["fingerprint"], &moved["location"]["lines"]["begin"]),
        (&conflict["fingerprint"], &7.into())
    );
}

#[test]
fn junit_has_a_case_a_file_and_only_errors_fail() {
    let project = nasty().with_file("agents/templates/ctrl.xml", CLEAN.replace("one", "\u{1}"));
    let text = checked(&project, "junit");
    let document = roxmltree::Document::parse(&text).unwrap();
    let cases: Vec<_> = document
        .descendants()
        .filter(|node| node.has_tag_name("testcase"))
        .collect();
    let outcomes: Vec<(&str, &str)> = cases
        .iter()
        .map(|case| {
            (
                case.attribute("name").unwrap(),
                case.first_element_child()
                    .map_or("", |inside| inside.tag_name().name()),
            )
        })
        .collect();
    let expected = [
        (NASTY, "failure"),
        ("agents/templates/bare.xml", "system-out"),
        ("agents/templates/clean.xml", "failure"),
        ("agents/templates/conflict.xml", "failure"),
        ("agents/templates/ctrl.xml", "failure"),
    ];
    assert_eq!(outcomes, expected);
    let suite = document
        .descendants()
        .find(|node| node.has_tag_name("testsuite"))
        .unwrap();
    assert_eq!(
        (suite.attribute("tests"), suite.attribute("failures")),
        (Some("5"), Some("4"))
    );
}

#[test]
fn a_build_lists_its_files() {
    let project = Project::new()
        .with_file("a.xml", CLEAN)
        .with_file("b.xml", CLEAN.replace("clean", "other"));
    project.run(&["build"]).exits_with(0);
    let text = project
        .run(&["build", "--format", "junit"])
        .exits_with(0)
        .stdout;
    let document = roxmltree::Document::parse(&text).unwrap();
    let names: Vec<_> = document
        .descendants()
        .filter_map(|node| node.attribute("name"))
        .collect();
    assert_eq!(names, ["ctxc", "ctxc", "a.xml", "b.xml"]);
}

#[test]
fn checkstyle_lists_findings_by_file() {
    let project = nasty();
    let text = checked(&project, "checkstyle");
    let document = roxmltree::Document::parse(&text).unwrap();
    let count = document
        .descendants()
        .filter(|node| node.has_tag_name("error"))
        .count();
    assert_eq!(count, findings(&project).len());
    let bare = document
        .descendants()
        .find(|node| node.attribute("source") == Some("ctxc.CTX006.bare-ampersand"))
        .unwrap();
    assert_eq!(
        (
            bare.attribute("line"),
            bare.attribute("column"),
            bare.attribute("severity")
        ),
        (Some("2"), Some("19"), Some("error"))
    );
    assert_eq!(
        bare.parent_element().unwrap().attribute("name"),
        Some(NASTY)
    );
    assert_eq!(
        bare.attribute("message"),
        Some("`&` on its own\nfix: write `&amp;`")
    );
}

/// A report that is printed into a log contains no line of foreign text: one that begins with `::`
/// is a command there.
#[test]
#[cfg(unix)]
fn junit_keeps_what_is_quoted_on_one_line() {
    let project = Project::new().with_file("templates/e\n::error file=x::pwned\n.xml", CONFLICT);
    let case = "name: c\ntask: t\ncontext: {objective: go}\nexpect_context:\n  - contains: [\"zz\\n::error::pwned\"]\n";
    let project = project
        .with_file("templates/t.xml", CLEAN.replace("clean", "t"))
        .with_file("scenarios/c.yaml", case);
    let check = project
        .run(&["check", "--format", "junit"])
        .exits_with(1)
        .stdout;
    std::fs::remove_file(project.path("templates/e\n::error file=x::pwned\n.xml")).unwrap();
    project.run(&["eval", "--junit", "eval.xml"]).exits_with(1);
    for text in [check, project.read_file("eval.xml")] {
        assert!(
            text.contains("pwned") && !text.lines().any(|line| line.trim_start().starts_with("::")),
            "{text}"
        );
    }
}
