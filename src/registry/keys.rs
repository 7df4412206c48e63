//! What a build depends on beside its files, hashed in two parts: the rows, each by itself, and all the rest.
//!
//! A default that moves touches the tasks of its rows alone; any other change of a project file touches every file.

use super::cache::Keys;
use crate::base::hash::{Hash, Hasher};
use crate::project::config::Config;
use crate::settings::layers::Row;
use crate::settings::provenance::Place;
use crate::template::setting::SettingName;

/// The keys of a project.
pub(super) fn of(config: &Config) -> Keys {
    let mut rest = Hasher::new();
    for file in &config.files {
        rest.field(&*file.path).field(without_rows(&file.text));
    }
    // Places of requirements are shown in findings, and defaults above them may have moved them.
    rest.field(format!("{:?}", config.requirements)).field(format!("{:?}", config.limits));
    // Whether a task is tested is found in its file.
    rest.field(format!("{:?}", config.tested));
    let mut rows = Vec::new();
    for (_, row) in config.layers.rows() {
        // A row that comes or goes changes what a type means.
        rest.field(&**row.name()).field(row.base().word()).number(row.kind() as u64);
        rows.push((Box::from(&**row.name()), key(config, row)));
    }
    Keys { rest: Some(rest.finish()), rows }
}

/// Everything that tasks and findings take from a row: values, layers, places and the lines they are on.
fn key(config: &Config, row: &Row) -> Hash {
    let mut hasher = Hasher::new();
    hasher.field(config.layers.hash(row).0);
    let Some(id) = config.layers.find(row.operator(), row.subtype().map(|subtype| &**subtype)) else { return hasher.finish() };
    for name in
        [SettingName::InheritContext, SettingName::AccumulateData, SettingName::AccumulationFormat, SettingName::FreshContext]
    {
        for link in config.layers.chain(id, name) {
            if let Place::Project(file, span) = link.origin.place
                && let Some((_, position)) = config.position(file, span.start)
            {
                hasher.number(u64::from(position.line)).number(u64::from(position.column));
            }
        }
    }
    hasher.finish()
}

/// A project file without its tables of rows and defaults, which have keys of their own.
fn without_rows(text: &str) -> String {
    // What looks like a table's head may stand in such a string: then everything counts.
    if text.contains("\"\"\"") || text.contains("'''") {
        return text.to_owned();
    }
    let mut kept = String::with_capacity(text.len());
    let mut is_row = false;
    for line in text.lines() {
        if let Some(head) = line.trim_start().strip_prefix('[') {
            let name = head.trim_start_matches('[').trim_start();
            is_row = ["defaults", "operators"].iter().any(|table| {
                let rest = name.strip_prefix(table).map(str::trim_start);
                rest.is_some_and(|rest| rest.starts_with(['.', ']']))
            });
        }
        if !is_row {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{of, without_rows};
    use crate::base::fs::MemoryFs;
    use crate::project::config::{Config, Input};
    use crate::registry::cache::Keys;
    use std::path::Path;

    fn keys(text: &str) -> Keys {
        let files = MemoryFs::new();
        let config = Config::read(&Input { path: "ctxc.toml", text, root: Path::new(""), files: &files, rules: &[] });
        assert!(config.faults.is_empty(), "{:?}", config.faults);
        of(&config)
    }

    fn moved(before: &str, after: &str) -> Vec<String> {
        let (before, after) = (keys(before), keys(after));
        if before.rest != after.rest {
            return vec!["everything".to_owned()];
        }
        let rows = before.rows.iter().zip(&after.rows).filter(|(old, new)| old != new);
        rows.map(|(row, _)| row.0.to_string()).collect()
    }

    const BASE: &str = "[templates]\nexclude = [\"drafts/**\"]\n\n[defaults.atomic.subtask]\nfresh_context = \"enabled\"\n";

    #[test]
    fn a_default_moves_its_rows_alone() {
        assert_eq!(moved(BASE, BASE), [""; 0]);
        assert_eq!(moved(BASE, &BASE.replace("\"enabled\"", "\"disabled\"")), ["atomic.subtask"]);
        let another = format!("{BASE}\n[defaults.reduce.inner_task]\ninherit_context = \"none\"\n");
        assert_eq!(moved(BASE, &another), ["reduce.inner_task"]);
        assert!(moved(BASE, &format!("{BASE}\n[defaults.atomic]\ninherit_context = \"none\"\n")).contains(&"atomic".to_owned()));
        // The values are the same, their place is not.
        assert_eq!(moved(BASE, &BASE.replace("\nfresh", "\n\nfresh")), ["atomic.subtask"]);
    }

    #[test]
    fn anything_else_moves_everything() {
        assert_eq!(moved(BASE, &BASE.replace("drafts", "old")), ["everything"]);
        assert_eq!(moved(BASE, &format!("{BASE}\n[limits]\ndepth = 10\n")), ["everything"]);
        assert_eq!(moved(BASE, &format!("{BASE}\n[operators.research]\nbase = \"atomic\"\n")), ["everything"]);
    }

    #[test]
    fn strings_over_several_lines_are_left_alone() {
        let odd = "a = \"\"\"\n[defaults.x]\n\"\"\"\n";
        assert_eq!(without_rows(odd), odd);
        assert_eq!(without_rows("[defaults]\na = 1\n[[require]]\nb = 2\n [ operators . x ]\nc\n"), "[[require]]\nb = 2\n");
        assert_eq!(without_rows("[defaultsx]\na = 1\n"), "[defaultsx]\na = 1\n");
    }
}
