//! The formats on reports made by hand. Their output for real findings is tested in `tests/it/cli`.

use super::plain_finding::RepositoryBase;
use super::report::{CheckReport, ShownFindings};
use super::screen::Screen;
use super::sources::SourceTexts;
use super::{concise, full, github, json, jsonl, sarif, summary};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::Severity;
use crate::base::source::{LineIndex, Position};
use crate::base::span::Span;
use pretty_assertions::assert_eq;
use std::path::PathBuf;
use std::sync::Arc;

fn finding(path: &str, severity: Severity) -> Diagnostic {
    let rule = &crate::rules::list::find_rule("unreadable-file")
        .expect("a rule")
        .meta;
    let text = "<a>ä😀</a>\n";
    let mut finding = Diagnostic::new(rule, &Arc::from(path), Span::new(5, 9), "is wrong")
        .severity(severity)
        .here("here");
    finding = finding.fix(Fix::safe("remove it", vec![Edit::delete(Span::new(5, 9))]));
    finding.task = Some(Arc::from("t"));
    finding.locate(text, &LineIndex::new(text));
    finding
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("text")
}

fn report(diagnostics: Vec<Diagnostic>) -> CheckReport {
    CheckReport {
        diagnostics,
        files: 1_214,
        skipped: 2,
        suppressed: 3,
        ..CheckReport::default()
    }
}

#[test]
fn json_has_exactly_the_keys_that_are_guaranteed() {
    let mut finding = finding("a.xml", Severity::Error)
        .note("because")
        .help("do it");
    finding = finding.label_in(
        Arc::from("b.xml"),
        Span::new(1, 2),
        Position::default(),
        "there",
    );
    let text = written(|out| json::write_json(out, &report(vec![finding])));
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let fingerprint = json["diagnostics"][0]["fingerprint"].clone();
    assert_eq!(fingerprint.as_str().map(str::len), Some(16));
    let expected = serde_json::json!({
        "schema": "ctxc/diagnostics/1", "files": 1214,
        "summary": {"error": 1, "warning": 0, "info": 0, "hint": 0, "fixable": 1},
        "diagnostics": [{
            "code": "CTX901", "name": "unreadable-file", "severity": "error", "message": "is wrong", "path": "a.xml",
            "span": {"start": 5, "end": 9}, "start": {"line": 1, "column": 5, "utf16": 5}, "end": {"line": 1, "column": 6, "utf16": 7},
            "labels": [
                {"path": "a.xml", "span": {"start": 5, "end": 9}, "text": "here"},
                {"path": "b.xml", "span": {"start": 1, "end": 2}, "text": "there"},
            ],
            "notes": ["because"], "help": "do it", "task": "t",
            "fixes": [{"title": "remove it", "applicability": "safe", "edits": [{"span": {"start": 5, "end": 9}, "insert": ""}]}],
            "fingerprint": fingerprint,
        }],
    });
    assert_eq!(json, expected);
    assert!(
        text.starts_with(r#"{"schema":"ctxc/diagnostics/1","files":1214,"summary":{"error":1"#),
        "{text}"
    );
}

#[test]
fn jsonl_gives_one_finding_a_line_and_the_totals_last() {
    let findings = vec![
        finding("a.xml", Severity::Error),
        finding("b.xml", Severity::Hint),
    ];
    let text = written(|out| jsonl::write_jsonl(out, &report(findings)));
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(
        (&lines[0]["path"], &lines[1]["severity"]),
        (&"a.xml".into(), &"hint".into())
    );
    assert_eq!(
        (&lines[2]["schema"], &lines[2]["summary"]["hint"]),
        (&"ctxc/diagnostics/1".into(), &1.into())
    );
}

#[test]
fn concise_is_one_clickable_line_each() {
    let report = report(vec![
        finding("a.xml", Severity::Error),
        finding("a.xml", Severity::Hint),
    ]);
    let text =
        written(|out| concise::write_concise(out, &report, ShownFindings::USUAL, Screen::PLAIN));
    assert_eq!(text, "a.xml:1:5: error[unreadable-file]: is wrong\n");
    let text =
        written(|out| concise::write_concise(out, &report, ShownFindings::VERBOSE, Screen::PLAIN));
    assert_eq!(text.lines().count(), 2);
}

#[test]
fn a_file_with_too_many_findings_shows_the_first_hundred_and_counts_the_rest() {
    let mut findings: Vec<Diagnostic> = (0..250)
        .map(|_| finding("a.xml", Severity::Warning))
        .collect();
    findings.push(finding("b.xml", Severity::Error));
    let report = report(findings);
    let text =
        written(|out| concise::write_concise(out, &report, ShownFindings::USUAL, Screen::PLAIN));
    assert_eq!(text.matches("a.xml:").count(), 100);
    assert!(
        text.contains("b.xml:1:5: error"),
        "other files are not hidden behind it"
    );
    assert!(
        text.ends_with("… 150 more findings in a.xml; `--format json` has them all\n"),
        "{text}"
    );
    let json = written(|out| json::write_json(out, &report));
    assert_eq!(json.matches("\"code\":").count(), 251);
}

#[test]
fn closing_lines_count_everything_and_name_what_is_hidden() {
    let findings = vec![
        finding("a.xml", Severity::Error),
        finding("a.xml", Severity::Hint),
        finding("a.xml", Severity::Info),
    ];
    let text = written(|out| {
        summary::write_summary(out, &report(findings), ShownFindings::USUAL, Screen::PLAIN)
    });
    assert_eq!(
        text,
        "checked 1,214 files: 1 error, 1 info, 1 hint; 3 fixable with `check --fix`; 3 suppressed; 2 other files skipped (no template)\n\
         by rule: unreadable-file 3\n\
         2 findings of info and hint severity not shown; `--verbose` shows them\n"
    );
    let clean = CheckReport {
        files: 1,
        ..CheckReport::default()
    };
    let text =
        written(|out| summary::write_summary(out, &clean, ShownFindings::USUAL, Screen::PLAIN));
    assert_eq!(text, "checked 1 file: nothing found\n");
}

#[test]
fn a_finding_of_a_removed_file_is_printed_without_its_text() {
    let mut sources = SourceTexts::new(PathBuf::from("/nowhere"), 1 << 20);
    let text = written(|out| {
        full::write_full(
            out,
            &report(vec![finding("a.xml", Severity::Error)]),
            ShownFindings::USUAL,
            Screen::PLAIN,
            &mut sources,
        )
    });
    assert_eq!(
        text,
        "error[unreadable-file] a.xml:1:5: is wrong (CTX901)\n  safe fix: remove it\n\n"
    );
}

#[test]
fn sarif_keeps_the_gravest_findings_and_reports_how_many_it_left_out() {
    let severity = |at: usize| {
        if at >= 4_999 {
            Severity::Error
        } else {
            Severity::Hint
        }
    };
    let findings = (0..6_000).map(|at| finding(&format!("{at}.xml"), severity(at)));
    let report = report(findings.collect());
    let mut sources = SourceTexts::new(PathBuf::from("/nowhere"), 1 << 20);
    let mut left_out = 0;
    let text = written(|out| {
        sarif::write_sarif(out, &report, &RepositoryBase::default(), &mut sources)
            .map(|count| left_out = count)
    });
    assert_eq!(left_out, 1_000);
    let log: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let run = &log["runs"][0];
    let levels: Vec<&str> = run["results"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["level"].as_str())
        .collect();
    assert_eq!(
        (
            levels.len(),
            levels.iter().filter(|level| **level == "error").count()
        ),
        (5_000, 1_001)
    );
    let notice = &run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
    assert!(
        notice
            .as_str()
            .is_some_and(|notice| notice.starts_with("1000 of 6000 findings are left out")),
        "{notice}"
    );
    assert_eq!(
        run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
        "0.xml"
    );

    // Few results, but longer than the service takes.
    let lengthy =
        (0..20).map(|at| finding(&format!("{at}.xml"), Severity::Error).note("x".repeat(1 << 20)));
    let report = self::report(lengthy.collect());
    let text = written(|out| {
        sarif::write_sarif(out, &report, &RepositoryBase::default(), &mut sources)
            .map(|count| left_out = count)
    });
    assert!(
        text.len() < 10_000_000 && left_out == 12,
        "{} bytes, {left_out} left out",
        text.len()
    );
}

#[test]
fn an_annotation_over_several_lines_has_no_columns() {
    let mut finding = finding("a.xml", Severity::Hint);
    finding.end.line = 3;
    let text = written(|out| {
        github::write_github(out, &report(vec![finding]), &RepositoryBase::from("x/"))
    });
    let head = "::notice file=x/a.xml,line=1,endLine=3,title=unreadable-file (CTX901)::is wrong%0Afix: remove it\n";
    assert_eq!(text, head);
}
