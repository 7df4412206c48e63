//! `--format json` and `--format jsonl` of `check` and `build`.

use super::list::Draft;
use super::names::DIAGNOSTICS;
use super::shape::{Field, describe, empty, list, must, number, object, one_of, only, or_null, part, pattern, text};
use super::shared::{Part, code, path, position, rule_name, span};
use super::value::Json;
use crate::base::fix::Applicability;
use crate::base::rule_meta::Severity;

pub(super) fn draft() -> Draft {
    let mut fields = head();
    fields.push(must("diagnostics", "every finding, sorted by path and place", list(part("diagnostic"))));
    let line = empty().with("anyOf", vec![part("diagnostic"), part("closing")]);
    let mut parts = of_findings();
    parts.push(("closing", describe("the last line of `--format jsonl`", object(head()))));
    parts.push(("line", describe("one line of `--format jsonl`: a finding, or the totals at the end", line)));
    let about = "Findings of `ctxc check --format json` and `ctxc build --format json`. Each line of `--format jsonl` is a \
                 `#/$defs/line`.";
    Draft { format: DIAGNOSTICS, about, root: object(fields), parts }
}

/// What every artifact with findings is made of.
pub(super) fn of_findings() -> Vec<Part> {
    vec![
        ("diagnostic", diagnostic()),
        ("label", label()),
        ("fix", fix()),
        ("edit", edit()),
        ("summary", summary()),
        span(),
        position(),
    ]
}

fn head() -> Vec<Field> {
    vec![
        must("schema", "the format", only(DIAGNOSTICS)),
        must("files", "the number of templates that were looked at", number(0)),
        must("summary", "the number of findings of each severity", part("summary")),
    ]
}

fn summary() -> Json {
    let fields = Severity::ALL.map(|severity| must(severity.as_str(), about(severity), number(0)));
    let fixable = must("fixable", "findings that come with a fix", number(0));
    describe("totals of the run", object(fields.into_iter().chain([fixable]).collect()))
}

const fn about(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "findings that fail the build",
        Severity::Warning => "findings that are probably mistakes",
        Severity::Info => "findings worth knowing",
        Severity::Hint => "small improvements",
    }
}

fn diagnostic() -> Json {
    let fields = vec![
        must("code", "the rule's number, an alias of its name", code()),
        must("name", "the rule; `ctxc explain NAME` shows its page", rule_name()),
        must("severity", "how much it weighs in this project", one_of(Severity::ALL.map(Severity::as_str))),
        must("message", "what was found, against what was expected", text().with("minLength", 1)),
        must("path", "the file, relative to the project; `-` is standard input", path()),
        must("span", "the place to look at, in bytes", part("span")),
        must("start", "where the place starts", part("position")),
        must("end", "where the place ends", part("position")),
        must(
            "labels",
            "places that explain the finding, its own first where there is something to say of it",
            list(part("label")),
        ),
        must("notes", "where values came from, and why it matters", list(text())),
        must("help", "what to do; null where the message says it", or_null(text())),
        must("task", "the task it belongs to; null outside of tasks", or_null(text())),
        must("fixes", "ways out as edits of the file, the best first", list(part("fix"))),
        must(
            "fingerprint",
            "stays the same while the line moves about; names the finding in suppressions",
            pattern("^[0-9a-f]{16}$"),
        ),
    ];
    describe("one finding of one rule", object(fields))
}

fn label() -> Json {
    let fields = vec![
        must("path", "the file", path()),
        must("span", "the place in that file, in bytes", part("span")),
        must("text", "what is to be seen there", text()),
    ];
    describe("a place that explains a finding", object(fields))
}

fn fix() -> Json {
    let fields = vec![
        must("title", "what it does", text().with("minLength", 1)),
        must(
            "applicability",
            "`safe`: keeps every resolved setting and every text as it was meant; `suggested`: a person chooses",
            one_of(Applicability::ALL.map(Applicability::as_str)),
        ),
        must("edits", "edits of the finding's file, sorted and apart from each other", list(part("edit"))),
    ];
    describe("a way out", object(fields))
}

fn edit() -> Json {
    let fields = vec![
        must("span", "the bytes that are replaced; empty for an insertion", part("span")),
        must("insert", "the new text; empty for a deletion", text()),
    ];
    describe("a replacement in a file", object(fields))
}
