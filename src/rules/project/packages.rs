//! CTX518: a package that the project uses, or something of it, is not available.

use super::project_prelude::*;
#[cfg(feature = "fs")]
use crate::project::config::InstalledPackage;
#[cfg(feature = "fs")]
use crate::project::package_fault::PackageFault;

/// Nothing is fetched by a check, and a package with errors has no complete registry.
pub(super) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        518,
        "package-not-available",
        "a package that the project uses, or something of it, is not available"
    ),
    Check::Config(report),
);

/// Returns true if a finding is about a package that cannot be used.
#[cfg(feature = "cli")]
pub(crate) fn is_package_fault(finding: &Diagnostic) -> bool {
    finding.rule.name == RULE.meta.name
}

fn report(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::Package { name, why } = &fault.kind else {
        return None;
    };
    let finding = cx.finding(&RULE, fault, format!("cannot use package `{name}`: {why}"));
    Some(finding.help(why.help()))
}

/// The one finding about all errors of a package, at its dependency.
#[cfg(feature = "fs")]
pub(crate) fn report_errors(
    cx: &ConfigCx<'_>,
    package: &InstalledPackage,
    errors: &[Diagnostic],
) -> Option<Diagnostic> {
    let first = errors.first()?;
    let count = match errors.len() {
        1 => "an error".to_owned(),
        more => format!("{more} errors"),
    };
    let first = format!("{}:{}: {}", first.path, first.start.line, first.message);
    let fault = ProjectFault {
        file: 0,
        span: package.span,
        kind: ProjectFaultKind::Package {
            name: package.names.package.clone(),
            why: PackageFault::Errors { count, first },
        },
    };
    let mut finding = report(cx, &fault)?;
    if let Some(file) = cx.config.files.first() {
        finding.locate(&file.text, &file.lines);
    }
    Some(finding)
}
