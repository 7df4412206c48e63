//! The project with another text in place of one of its files: what would be found, and what fixing makes of it. The same
//! engine as that of `check --fix`. Changes nothing.

use super::files::Overlay;
use super::scenarios;
use super::world::{LARGE, PROJECT, World, read};
use crate::base::diagnostic::Diagnostic;
use crate::project::index::{Entry, Index};
use crate::registry::compile::{Chosen, Compiler, Outcome, Scratch};
use crate::registry::link;
use crate::rules::apply::{self, Which};
use crate::rules::check;
use crate::rules::rule::Scope;
use crate::template::names::FileFacts;
use std::sync::Arc;

/// The text of a file with every safe fix, those included that only show once others are made; `None` when there are none. No
/// fix brings an error into any file.
pub(super) fn mended(world: &World, name: &Arc<str>, text: &str) -> Option<String> {
    if !is_fixable(world, name) {
        return None;
    }
    let own = |finding: &Diagnostic| finding.path == *name;
    let mut scratch = Scratch::new();
    let mut check = |text: &str| found(world, name, text, &mut scratch);
    let fixed = apply::fix(text, Which::Safe, &world.config.limits, &own, &mut check);
    (fixed.fixed > 0).then_some(fixed.text)
}

/// Whether any finding of a file has a safe fix.
pub(super) fn is_fixable(world: &World, name: &str) -> bool {
    world.found(name).iter().any(|finding| apply::eligible(finding, Which::Safe).is_some())
}

/// Everything that would be found in the file, and about names in all files, if this were its text.
fn found(world: &World, name: &Arc<str>, text: &str, scratch: &mut Scratch) -> Vec<Diagnostic> {
    if **name == *PROJECT {
        return check::config(&world.project_of(text));
    }
    if scenarios::is_scenario(world, name) {
        return scenarios::of_text(world, name, text);
    }
    let files = Overlay { root: &world.root, open: &world.open };
    let active = if text.len() > LARGE { &world.structure } else { &world.active };
    let compiler = Compiler { config: &world.config, active, root: &world.root, files: &files, entries: None };
    let Outcome::Taken(made) = compiler.compile_text(name, text, Chosen::Found, scratch) else { return Vec::new() };
    let mut found = made.diagnostics;
    let texts = |other: &str| {
        if *other == **name { Some(text.to_owned()) } else { read(&world.root, &world.open, world.config.limits.file, other) }
    };
    let facts = &made.facts;
    if world.templates.get(name).is_some_and(|template| template.member) {
        let all = world.templates.iter().filter(|(_, template)| template.member);
        let all = all.map(|(path, template)| Entry { path, facts: if path == name { facts } else { &template.facts } });
        found.extend(link::link(&world.config, &Index::new(all), world.scope(), texts));
    } else {
        found.extend(outside(world, name, facts, texts));
    }
    found
}

/// What is found about the names of a file that is not of the project: it may use the project's names, and gives it none.
pub(super) fn outside(
    world: &World,
    name: &Arc<str>,
    facts: &FileFacts,
    text: impl Fn(&str) -> Option<String>,
) -> Vec<Diagnostic> {
    let members = world.templates.iter().filter(|(other, template)| template.member && *other != name);
    let mut all: Vec<Entry<'_>> = members.map(|(path, template)| Entry { path, facts: &template.facts }).collect();
    let at = all.partition_point(|entry| entry.path < name);
    all.insert(at, Entry { path: name, facts });
    let found = link::link(&world.config, &Index::new(all), Scope::Part, text);
    found.into_iter().filter(|finding| finding.path == *name).collect()
}
