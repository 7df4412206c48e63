//! Changes `[dependencies]` in the text of a project file; every other byte stays as its author
//! wrote it.

use super::dependencies::PackageSource;
use toml_edit::{Decor, DocumentMut, Item, RawString, Value};

/// The section.
const SECTION: &str = "dependencies";

/// Returns the text with a package at this source: a new line, or a new source in its line. `None`
/// if the section is written in a form that has no place for it.
pub fn set_dependency(text: &str, name: &str, source: &PackageSource) -> Option<String> {
    let mut project: DocumentMut = text.parse().ok()?;
    if project.get(SECTION).is_none() && !text.is_empty() && !text.ends_with('\n') {
        project = format!("{text}\n").parse().ok()?;
    }
    let section = project.entry(SECTION).or_insert_with(toml_edit::table);
    let new = Value::from(source.to_string());
    let known = section.as_table_like_mut()?.get_mut(name);
    if let Some(own) = known {
        set_source(own, new)?;
    } else {
        section.as_table_mut()?.insert(name, Item::Value(new));
    }
    Some(project.to_string())
}

/// Returns the text of a workspace's project file with another source in the line of a package.
pub fn set_shared_dependency(text: &str, name: &str, source: &PackageSource) -> Option<String> {
    let mut project: DocumentMut = text.parse().ok()?;
    let workspace = project.get_mut("workspace")?.as_table_like_mut()?;
    let section = workspace.get_mut(SECTION)?.as_table_like_mut()?;
    set_source(section.get_mut(name)?, Value::from(source.to_string()))?;
    Some(project.to_string())
}

/// Returns true if the text has a line of its own for a package.
pub fn has_dependency(text: &str, name: &str) -> bool {
    let project: Option<DocumentMut> = text.parse().ok();
    let section = project.as_ref().and_then(|project| project.get(SECTION));
    section.is_some_and(|section| section.get(name).is_some())
}

fn set_source(dependency: &mut Item, new: Value) -> Option<()> {
    let value = match dependency.as_table_like_mut() {
        Some(own) => own.get_mut("source")?,
        None => dependency,
    };
    let old = value.as_value_mut()?;
    let decor = old.decor().clone();
    *old = new;
    *old.decor_mut() = decor;
    Some(())
}

/// Returns the text without a package; `None` if it is written in a form that has no line of its own.
pub fn remove_dependency(text: &str, name: &str) -> Option<String> {
    let mut project: DocumentMut = text.parse().ok()?;
    let section = project.get_mut(SECTION)?.as_table_mut()?;
    let next = section.iter().skip_while(|(key, _)| *key != name).nth(1);
    let next = next.map(|(key, _)| key.to_owned());
    let (removed, _) = section.remove_entry(name)?;
    // A comment above the line may be about those below it, too.
    if let Some(mut next) = next.and_then(|key| section.key_mut(&key)) {
        let comment = prefix(removed.leaf_decor()) + &prefix(next.leaf_decor());
        next.leaf_decor_mut().set_prefix(comment);
    }
    Some(project.to_string())
}

/// Returns the comments above an entry.
fn prefix(decor: &Decor) -> String {
    let prefix = decor.prefix().and_then(RawString::as_str);
    prefix.unwrap_or_default().to_owned()
}

#[cfg(test)]
#[path = "../../tests/unit/project/dependency_edits.rs"]
mod tests;
