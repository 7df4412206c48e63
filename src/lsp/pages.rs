//! The addresses of the rules' pages, for clients that link a finding to its page.
//!
//! The base address is `initializationOptions.rulePages` if the client sets it, then a folder
//! beside the program, then the repository of the package. Without these, findings have no link;
//! `ctxc explain` prints the same text.

use crate::base::fs;
use gen_lsp_types::Uri;
use serde_json::Value;

/// The repository of the package.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
/// The folders of pages relative to a program: in a clone and in an installed system.
const PAGE_FOLDERS: [&str; 2] = ["docs/rules", "share/doc/ctxc/rules"];

/// The common prefix of all page addresses.
#[derive(Clone, Debug, Default)]
pub(super) struct RulePages(Option<String>);

impl RulePages {
    /// Reads the parameters of `initialize`.
    pub(super) fn new(params: &Value) -> Self {
        let told = params
            .pointer("/initializationOptions/rulePages")
            .and_then(Value::as_str);
        let told = told.map(|told| format!("{}/", told.trim_end_matches('/')));
        Self(
            told.or_else(local_pages)
                .or_else(|| repository_pages(REPOSITORY)),
        )
    }

    /// Returns the page of a rule.
    pub(super) fn page_uri(&self, rule: &str) -> Option<Uri> {
        self.0.as_ref().map(|base| Uri(format!("{base}{rule}.md")))
    }
}

fn local_pages() -> Option<String> {
    let program = fs::current_exe().ok()?;
    let mut folders = program
        .ancestors()
        .skip(1)
        .take(4)
        .flat_map(|folder| PAGE_FOLDERS.map(|beside| folder.join(beside)));
    // The documentation of another program has no such page.
    let found =
        folders.find(|folder| fs::exists(&folder.join("context-conflict-with-default.md")))?;
    Some(format!("{}/", super::uri::from_path(&found).0))
}

fn repository_pages(repository: &str) -> Option<String> {
    let repository = repository.trim_end_matches('/');
    (!repository.is_empty()).then(|| {
        format!(
            "{repository}/blob/v{}/docs/rules/",
            env!("CARGO_PKG_VERSION")
        )
    })
}

#[cfg(test)]
#[path = "../../tests/unit/lsp/pages.rs"]
mod tests;
