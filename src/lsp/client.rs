//! The capabilities of a client. Read from the raw message, so that one invalid value does not
//! invalidate the others.

use super::encoding::PositionEncoding;
use crate::base::fs;
use gen_lsp_types::Uri;
use serde_json::Value;
use std::path::PathBuf;

/// A client and its capabilities.
#[derive(Clone, Debug, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a capability of its own, as the protocol has it"
)]
pub(super) struct Client {
    pub(super) encoding: PositionEncoding,
    /// Requests diagnostics itself, so that none are pushed.
    pub(super) pulls_diagnostics: bool,
    /// The results that the server can ask this client to request again.
    pub(super) refreshes: RefreshSupport,
    /// Can watch files for the server.
    pub(super) watches_files: bool,
    /// Can also watch files outside the open folders.
    pub(super) watches_elsewhere: bool,
    /// The base address of the rules' pages.
    pub(super) pages: RulePages,
    /// Understands placeholders in completions.
    pub(super) supports_snippets: bool,
    /// Offers a choice whether a completion replaces the text behind the cursor.
    pub(super) supports_insert_replace: bool,
    /// Requests the edits of an action only when it is chosen.
    pub(super) resolves_edits: bool,
    /// Compares edits with the document version for which they were made.
    pub(super) checks_versions: bool,
    /// Creates files for the server.
    pub(super) creates_files: bool,
    /// Shows Markdown on hover.
    pub(super) markdown: bool,
    /// Shows Markdown beside completions.
    pub(super) markdown_items: bool,
    /// Registers its own command names, so that none are announced.
    pub(super) registers_commands: bool,
    /// The process that started the server.
    pub(super) process: Option<u64>,
    /// The open folders.
    pub(super) folders: Vec<PathBuf>,
}

impl Client {
    /// Reads the parameters of `initialize`.
    pub(super) fn new(params: &Value) -> Self {
        let yes = |pointer: &str| {
            params
                .pointer(pointer)
                .and_then(Value::as_bool)
                .unwrap_or(false)
        };
        let holds = |pointer: &str, word: &str| {
            let list = params.pointer(pointer).and_then(Value::as_array);
            list.is_some_and(|list| list.iter().any(|item| item.as_str() == Some(word)))
        };
        let uri = |pointer: &str| {
            params
                .pointer(pointer)
                .and_then(Value::as_str)
                .map(|uri| gen_lsp_types::Uri(uri.to_owned()))
        };
        let root = || uri("/rootUri").and_then(|uri| super::uri::to_path(&uri));
        let plain = || {
            params
                .pointer("/rootPath")
                .and_then(Value::as_str)
                .map(PathBuf::from)
        };
        let mut folders = params
            .get("workspaceFolders")
            .map(self::parse_folders)
            .unwrap_or_default();
        if folders.is_empty() {
            folders.extend(root().or_else(plain));
        }
        let encodings = params
            .pointer("/capabilities/general/positionEncodings")
            .and_then(Value::as_array);
        let mut encodings = encodings.into_iter().flatten().filter_map(Value::as_str);
        // The client lists its preferred encoding first.
        let utf8 = encodings.find(|name| matches!(*name, "utf-8" | "utf-16")) == Some("utf-8");
        Self {
            encoding: if utf8 {
                PositionEncoding::Utf8
            } else {
                PositionEncoding::Utf16
            },
            pulls_diagnostics: params
                .pointer("/capabilities/textDocument/diagnostic")
                .is_some_and(Value::is_object),
            refreshes: RefreshSupport::new(params),
            watches_files: yes("/capabilities/workspace/didChangeWatchedFiles/dynamicRegistration"),
            watches_elsewhere: yes(
                "/capabilities/workspace/didChangeWatchedFiles/relativePatternSupport",
            ),
            pages: RulePages::new(params),
            supports_snippets: yes(
                "/capabilities/textDocument/completion/completionItem/snippetSupport",
            ),
            supports_insert_replace: yes(
                "/capabilities/textDocument/completion/completionItem/insertReplaceSupport",
            ),
            resolves_edits: holds(
                "/capabilities/textDocument/codeAction/resolveSupport/properties",
                "edit",
            ) && yes("/capabilities/textDocument/codeAction/dataSupport"),
            checks_versions: yes("/capabilities/workspace/workspaceEdit/documentChanges"),
            creates_files: yes("/capabilities/workspace/workspaceEdit/documentChanges")
                && holds(
                    "/capabilities/workspace/workspaceEdit/resourceOperations",
                    "create",
                ),
            markdown: holds("/capabilities/textDocument/hover/contentFormat", "markdown"),
            markdown_items: holds(
                "/capabilities/textDocument/completion/completionItem/documentationFormat",
                "markdown",
            ),
            registers_commands: params
                .pointer("/initializationOptions/commands")
                .and_then(Value::as_str)
                == Some("client"),
            process: params.get("processId").and_then(Value::as_u64),
            folders,
        }
    }
}

/// The results that a client can be asked to request again.
#[derive(Clone, Copy, Debug, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a capability of its own, as the protocol has it"
)]
pub(super) struct RefreshSupport {
    pub(super) diagnostics: bool,
    pub(super) hints: bool,
    pub(super) lenses: bool,
    pub(super) tokens: bool,
}

impl RefreshSupport {
    /// Reads the parameters of `initialize`.
    pub(super) fn new(params: &Value) -> Self {
        let yes = |name: &str| {
            let pointer = format!("/capabilities/workspace/{name}/refreshSupport");
            params
                .pointer(&pointer)
                .and_then(Value::as_bool)
                .unwrap_or(false)
        };
        Self {
            diagnostics: yes("diagnostics"),
            hints: yes("inlayHint"),
            lenses: yes("codeLens"),
            tokens: yes("semanticTokens"),
        }
    }
}

/// Reads a list of workspace folders. A folder that is not on this machine is skipped.
pub(super) fn parse_folders(list: &Value) -> Vec<PathBuf> {
    let uris = list
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|folder| folder.get("uri").and_then(Value::as_str));
    uris.filter_map(|uri| super::uri::to_path(&gen_lsp_types::Uri(uri.to_owned())))
        .collect()
}

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
        let configured = params
            .pointer("/initializationOptions/rulePages")
            .and_then(Value::as_str);
        let configured = configured.map(|base| format!("{}/", base.trim_end_matches('/')));
        Self(
            configured
                .or_else(local_pages)
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
#[path = "../../tests/unit/lsp/client.rs"]
mod tests;
