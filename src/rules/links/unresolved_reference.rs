//! CTX300: a `ref`, `call` or `use` of a name that no file defines.

use crate::base::package_name::split_reference;
use crate::base::quoted::name_list;
use crate::project::config::InstalledPackage;
use crate::project::package_section::{ExportKind, is_package_name};
use crate::rules::prelude::*;
use crate::template::names::{DefinitionKind, ReferenceFacts, ReferenceKind};
use std::path::Path;
use std::sync::Arc;

/// Names are not looked up at run time, so a missing definition stays missing.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        300,
        "unresolved-reference",
        "a reference to a task, template or fragment that does not exist"
    )
    .with_fix(Fixable::Suggested),
    Check::Link(check_links),
);

fn check_links(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    let mut budget = ComparisonBudget::default();
    for (_, entry, reference) in cx.index.references() {
        let found = cx.index.resolve_reference(reference);
        let of_package = find_package(cx, entry.path, reference);
        let kind = reference.kind.definition_kind();
        if let ReferencedPackage::Installed(package) = of_package {
            if found.is_none() || !package.exports_definition(kind, &reference.name) {
                out.push(report_private(entry.path, reference, package));
            }
            continue;
        }
        if let ReferencedPackage::NotRequired(package) = of_package {
            let name = &package.names.package;
            let message = format!(
                "`{}` is of the package {name}, which is not among the [dependencies]",
                reference.name
            );
            let finding = Diagnostic::new(&RULE.meta, entry.path, reference.span, message);
            out.push(finding.help("require the package itself: `ctxc package add SOURCE`"));
            continue;
        }
        // That the package is not available was reported.
        if found.is_some() || cx.config.lacks_package_of(&reference.name) {
            continue;
        }
        let verb = match reference.kind {
            ReferenceKind::Ref => "refers to",
            ReferenceKind::Call => "calls",
            ReferenceKind::Use => "uses",
        };
        let message = format!(
            "{verb} the {} `{}`, which no file defines",
            reference.kind.definition_kind().word(),
            reference.name
        );
        out.push(add_advice(
            cx,
            Diagnostic::new(&RULE.meta, entry.path, reference.span, message),
            reference,
            &mut budget,
        ));
    }
}

/// The package that a reference names.
#[derive(Clone, Copy)]
enum ReferencedPackage<'a> {
    /// None, or the one that contains the reference.
    Own,
    /// One that only other packages require.
    NotRequired(&'a InstalledPackage),
    /// Another one.
    Installed(&'a InstalledPackage),
}

fn find_package<'a>(
    cx: &LinkCx<'a>,
    path: &str,
    reference: &ReferenceFacts,
) -> ReferencedPackage<'a> {
    let config = cx.config;
    let Some((name, _)) = split_reference(&reference.name) else {
        return ReferencedPackage::Own;
    };
    match config.packages.get(name) {
        Some(package) if package.folder.path_inside(Path::new(path)).is_none() => {
            let is_own = config.packages.of_file(path).is_none();
            if is_own && !config.dependencies.contains_key(name) {
                return ReferencedPackage::NotRequired(package);
            }
            ReferencedPackage::Installed(package)
        }
        Some(_) | None => ReferencedPackage::Own,
    }
}

/// The finding of a name that another package does not export.
fn report_private(
    path: &Arc<str>,
    reference: &ReferenceFacts,
    package: &InstalledPackage,
) -> Diagnostic {
    let kind = reference.kind.definition_kind();
    let is_exported = package.exports_definition(kind, &reference.name);
    let message = format!(
        "`{}` is not among the {} of {} {}",
        reference.name,
        if is_exported { "templates" } else { "exports" },
        package.names.package,
        package.version
    );
    let help = match ExportKind::of_definition(kind) {
        Some(kind) => {
            let names = package.export_names(kind);
            let names: Vec<String> = names.map(|name| package.names.own_name(name)).collect();
            if names.is_empty() {
                format!("it exports no {}", kind.word())
            } else {
                format!("it exports {}", name_list(&names))
            }
        }
        None => "a package exports tasks and fragments; its templates are private".to_owned(),
    };
    Diagnostic::new(&RULE.meta, path, reference.span, message).help(help)
}

fn add_advice(
    cx: &LinkCx<'_>,
    finding: Diagnostic,
    reference: &ReferenceFacts,
    budget: &mut ComparisonBudget,
) -> Diagnostic {
    let kind = reference.kind.definition_kind();
    let kinds = [
        DefinitionKind::Task,
        DefinitionKind::Template,
        DefinitionKind::Fragment,
    ];
    if let Some(other) = kinds
        .into_iter()
        .find(|other| *other != kind && cx.index.find_definition(*other, &reference.name).is_some())
    {
        return finding
            .note(format!(
                "there is a {} of that name, but this place takes a {}",
                other.word(),
                kind.word()
            ))
            .help(match other {
                DefinitionKind::Task => "a task is used by <task ref=\"…\"/>",
                DefinitionKind::Template => "a template is called by <call template=\"…\"/>",
                DefinitionKind::Fragment => {
                    "a fragment is used by <use fragment=\"…\"/> inside a text"
                }
            });
    }
    let packages = cx.config.packages.iter().map(|package| &package.names);
    let mut full_names = packages
        .filter(|names| cx.config.dependencies.contains_key(&names.package))
        .map(|names| names.own_name(&reference.name));
    let exported = full_names.find(|name| {
        let package = cx.config.packages.of_reference(name);
        package.is_some_and(|(package, _)| package.exports_definition(kind, name))
    });
    let near = || budget.nearest_candidate(&reference.name, cx.index.names_of_kind(kind));
    match exported.as_deref().or_else(near) {
        Some(meant) => finding
            .help(format!("did you mean `{meant}`?"))
            .fix(Fix::suggested(
                format!("write `{meant}`"),
                vec![Edit::replace(reference.span, meant)],
            )),
        None if split_reference(&reference.name).is_some_and(|(name, _)| is_package_name(name)) => {
            finding.help("`ctxc package add SOURCE` adds the package that exports it")
        }
        None => finding.help(format!(
            "define the {}, or add the file that does to `[templates] include`",
            kind.word()
        )),
    }
}
