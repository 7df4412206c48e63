//! CTX540: exports that no other project could use.

use super::project_prelude::*;
use crate::project::package_section::{ExportKind, PackageExport};
use crate::rules::rule::CheckScope;
use crate::template::names::DefinitionKind;

/// A project that uses the package would miss it.
pub(super) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        540,
        "unknown-export",
        "a package exports something that it does not define, or leaves out its file"
    )
    .with_fix(Fixable::Suggested),
    Check::Link(check_exports),
);

fn check_exports(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    let (Some(package), Some(file)) = (&cx.config.package, cx.config.files.first()) else {
        return;
    };
    if cx.scope == CheckScope::NamedFiles || cx.index.files().is_empty() {
        return;
    }
    let mut budget = ComparisonBudget::default();
    for export in &package.exports {
        let found = |message: String| Diagnostic::new(&RULE.meta, &file.path, export.span, message);
        let PackageExport { kind, name } = &export.value;
        if !is_defined(cx, &export.value) {
            let near = budget.nearest_candidate(name, names_of_kind(cx, *kind));
            let near = near.map(|near| format!("{}/{near}", kind.word()));
            let message = format!(
                "the package exports `{}`, and does not define it",
                export.value
            );
            let finding = match near {
                None => found(message).help("`ctxc list` shows what it defines"),
                Some(near) => suggest_name(
                    found(message),
                    export.span,
                    Some(&near),
                    NameForm::QuotedText,
                ),
            };
            out.push(finding);
        } else if let Some(path) = defining_file(cx, &export.value)
            && let Some(files) = &package.files
            && !files.matches(path)
        {
            let message = format!(
                "the package exports `{}`, and its `files` leave out {path}",
                export.value
            );
            out.push(found(message).help("add the file to `files` of `[package]`"));
        }
    }
}

fn is_defined(cx: &LinkCx<'_>, export: &PackageExport) -> bool {
    export.kind == ExportKind::Rules || names_of_kind(cx, export.kind).any(|own| own == export.name)
}

/// Returns the names of a kind that a package can export.
fn names_of_kind<'c>(cx: &LinkCx<'c>, kind: ExportKind) -> Box<dyn Iterator<Item = &'c str> + 'c> {
    match kind {
        ExportKind::Fragment => Box::new(cx.index.names_of_kind(DefinitionKind::Fragment)),
        ExportKind::Task => Box::new(cx.index.names_of_kind(DefinitionKind::Task)),
        ExportKind::Role => Box::new(cx.config.roles.keys().map(String::as_str)),
        ExportKind::Tool => Box::new(cx.config.tools.keys().map(String::as_str)),
        ExportKind::Rules => Box::new(std::iter::empty()),
    }
}

/// Returns the template that an export needs: its own, or that of a role's task.
fn defining_file<'c>(cx: &LinkCx<'c>, export: &PackageExport) -> Option<&'c str> {
    let (kind, name) = match export.kind {
        ExportKind::Fragment => (DefinitionKind::Fragment, &export.name),
        ExportKind::Task => (DefinitionKind::Task, &export.name),
        ExportKind::Role => {
            let role = cx.config.roles.get(&export.name)?;
            (DefinitionKind::Task, &role.task.value)
        }
        ExportKind::Rules | ExportKind::Tool => return None,
    };
    let id = cx.index.find_definition(kind, name)?;
    let file = cx.index.file(id.file)?;
    // A task of another package comes with that package.
    (cx.config.packages.of_file(file.path).is_none()).then_some(&**file.path)
}
