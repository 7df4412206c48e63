//! CTX521: a requirement that applies to no task.

use crate::project::config::Config;
use crate::project::index::NameIndex;
use crate::project::require::Selector;
use crate::rules::prelude::*;
use crate::rules::rule::CheckScope;
use crate::template::names::DefinitionKind;

/// Such a requirement seems to hold, but checks nothing.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        521,
        "requirement-matches-nothing",
        "a `[[require]]` that selects no task of the project"
    ),
    Check::Link(check_links),
);

fn check_links(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    let LinkCx {
        index,
        config,
        scope,
        ..
    } = *cx;
    if scope == CheckScope::NamedFiles || index.files().is_empty() {
        return;
    }
    // Requirements of a shared file need not apply in every project.
    for requirement in config
        .requirements
        .iter()
        .filter(|requirement| requirement.file == 0)
    {
        let selector = &requirement.selector;
        let is_selective =
            selector.path.is_some() || selector.name.is_some() || !selector.role.is_empty();
        // An undefined role is reported separately.
        let known = selector
            .role
            .iter()
            .all(|role| config.roles.contains_key(&role.value));
        if !is_selective || !known || selects_any_definition(config, selector, index) {
            continue;
        }
        let Some((path, _)) = config.position(requirement.file, requirement.span.start) else {
            continue;
        };
        let words = [
            ("path", selector.path.is_some()),
            ("name", selector.name.is_some()),
            ("role", !selector.role.is_empty()),
        ];
        let words: Vec<String> = words
            .iter()
            .filter(|(_, is_used)| *is_used)
            .map(|(word, _)| format!("`{word}`"))
            .collect();
        let fit = if words.len() == 1 {
            "fits"
        } else {
            "together fit"
        };
        let message = format!(
            "this requirement applies to no task: its {} {fit} none of the project",
            words.join(" and ")
        );
        let finding = Diagnostic::new(&RULE.meta, &path, requirement.span, message);
        out.push(finding.help("correct the pattern, or remove the requirement"));
    }
}

/// True if a definition of the project has the path, the name and the role of a selector. Types are
/// ignored.
fn selects_any_definition(config: &Config, selector: &Selector, index: &NameIndex<'_>) -> bool {
    let plays = |name: &str| {
        selector.role.is_empty()
            || selector
                .role
                .iter()
                .any(|role| config.plays(&role.value, name))
    };
    index
        .files()
        .iter()
        .filter(|file| {
            selector
                .path
                .as_ref()
                .is_none_or(|globs| globs.matches(file.path))
        })
        .any(|file| {
            let tasks = file
                .facts
                .definitions
                .iter()
                .filter(|definition| definition.kind != DefinitionKind::Fragment);
            // A file too broken to define anything still matches the path.
            let any = selector.name.is_none() && selector.role.is_empty();
            let fits = |name: &str| {
                selector
                    .name
                    .as_ref()
                    .is_none_or(|globs| globs.matches_name(name))
                    && plays(name)
            };
            any || tasks.map(|definition| &*definition.name).any(fits)
        })
}
