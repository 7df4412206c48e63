//! What the tests of the project file share: reading text, and showing what was found.

use ctxc::base::fs::MemoryFs;
use ctxc::base::rule_meta::RuleMeta;
use ctxc::project::config::{Config, Input};
use ctxc::rules::{check, list};
use std::fmt::Write as _;
use std::path::Path;

/// Reads a project file with the files beside it.
pub(super) fn read_with(text: &str, files: &[(&str, &str)]) -> Config {
    let mut fs = MemoryFs::new();
    for (path, content) in files {
        fs.insert(Path::new("work").join(path), content.as_bytes());
    }
    let rules: Vec<&'static RuleMeta> = list::all().map(|rule| &rule.meta).collect();
    Config::read(&Input { path: "ctxc.toml", text, root: Path::new("work"), files: &fs, rules: &rules })
}

/// Reads a project file alone.
pub(super) fn read(text: &str) -> Config {
    read_with(text, &[])
}

/// Every finding: code, place, the text of the place, message; notes, labels, help and fixes on lines of their own.
pub(super) fn shown(config: &Config) -> String {
    let mut out = String::new();
    for finding in check::config(config) {
        let file = config.files.iter().find(|file| file.path == finding.path).unwrap();
        let _ = writeln!(
            out,
            "{} {}:{}:{} `{}`: {}",
            finding.rule.code,
            finding.path,
            finding.start.line,
            finding.start.column,
            finding.span.slice(&file.text).escape_debug(),
            finding.message
        );
        for label in &finding.labels {
            let path = label.path.as_deref().unwrap_or(&finding.path);
            let _ = writeln!(out, "  at {path}:{}: {}", label.start.line, label.text);
        }
        for note in &finding.notes {
            let _ = writeln!(out, "  = {note}");
        }
        if let Some(help) = &finding.help {
            let _ = writeln!(out, "  ? {help}");
        }
        for fix in &finding.fixes {
            let edits: Vec<String> = fix
                .edits
                .iter()
                .map(|edit| format!("`{}` -> `{}`", edit.span.slice(&file.text).escape_debug(), edit.insert.escape_debug()))
                .collect();
            let _ = writeln!(out, "  > {} ({})", fix.title, edits.join(", "));
        }
    }
    out
}

/// What is found in a text.
pub(super) fn found(text: &str) -> String {
    shown(&read(text))
}
