//! Shared functions of the tests of the project file: reading text, and showing the findings.

use ctxc::internals::base::diagnostic::Diagnostic;
use ctxc::internals::base::fix::Edit;
use ctxc::internals::base::fs::MemoryFs;
use ctxc::internals::base::rule_meta::RuleMeta;
use ctxc::internals::project::config::{Config, ConfigInput};
use ctxc::internals::registry::compile::{CompileBuffers, CompileOutcome, CompileReason, Compiler};
use ctxc::internals::rules::check::{self, ActiveRules};
use ctxc::internals::rules::list;
use ctxc::internals::template::scope::LinkDetail;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Reads a project file with the files beside it.
pub(crate) fn read_with(text: &str, files: &[(&str, &str)]) -> Config {
    let mut fs = MemoryFs::new();
    for (path, content) in files {
        fs.insert(Path::new("work").join(path), content.as_bytes());
    }
    let rules: Vec<&'static RuleMeta> = list::all_rules().map(|rule| &rule.meta).collect();
    Config::read(&ConfigInput {
        path: "ctxc.toml",
        text,
        root: Path::new("work"),
        files: &fs,
        rules: &rules,
    })
}

/// Reads a project file alone.
pub(crate) fn read(text: &str) -> Config {
    read_with(text, &[])
}

/// Every finding of a project file.
pub(crate) fn shown(config: &Config) -> String {
    let findings = check::config_findings(config);
    let text = |path: &str| {
        config
            .files
            .iter()
            .find(|file| &*file.path == path)
            .map_or("", |file| &file.text)
    };
    show(findings.iter(), |path| text(path))
}

/// Severity, code, place, the text of the place, message; notes, labels, help and fixes on lines of
/// their own.
fn show<'f, 't>(
    findings: impl Iterator<Item = &'f Diagnostic>,
    text: impl Fn(&str) -> &'t str,
) -> String {
    let mut out = String::new();
    for finding in findings {
        let (start, text) = (finding.start, text(&finding.path));
        let slice = finding.span.slice(text).escape_debug();
        let _ = write!(
            out,
            "{} {} {}:{}:{} ",
            finding.severity, finding.rule.code, finding.path, start.line, start.column
        );
        let _ = writeln!(out, "`{slice}`: {}", finding.message);
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
            let edit = |edit: &Edit| {
                format!(
                    "`{}` -> `{}`",
                    edit.span.slice(text).escape_debug(),
                    edit.insert.escape_debug()
                )
            };
            let edits: Vec<String> = fix.edits.iter().map(edit).collect();
            let _ = writeln!(out, "  > {} ({})", fix.title, edits.join(", "));
        }
    }
    out
}

/// The findings of a text.
pub(crate) fn found(text: &str) -> String {
    shown(&read(text))
}

/// The findings of one template under a project file, errors of the project file left out.
pub(crate) fn check_template(template: &str, config: &Config) -> Vec<Diagnostic> {
    let active = ActiveRules::new(config);
    let compiler = Compiler {
        config,
        active: &active,
        root: Path::new("work"),
        files: &MemoryFs::new(),
        purpose: LinkDetail::Findings,
        package: None,
    };
    let path: Arc<str> = "templates/triage.xml".into();
    match compiler.compile(
        &path,
        template.as_bytes(),
        CompileReason::Named,
        &mut CompileBuffers::new(),
    ) {
        CompileOutcome::Taken(taken) => taken.diagnostics,
        CompileOutcome::Skipped => panic!("a named file is taken"),
    }
}

/// The findings of one rule in a template, as [`shown`] shows them.
pub(crate) fn found_in(template: &str, project: &str, rule: &str) -> String {
    let config = read(project);
    assert_eq!(
        shown(&config),
        "",
        "the project file has findings of its own"
    );
    let findings = check_template(template, &config);
    show(
        findings.iter().filter(|finding| finding.rule.name == rule),
        |_| template,
    )
}
