//! The capabilities of the server.

use super::client::Client;
use super::encoding::PositionEncoding;
use super::features::commands::RENDER_COMMAND;
use super::features::semantic_tokens::TOKEN_TYPES;
use serde_json::{Value, json};

/// Returns the server's capabilities for a client: the answer to `initialize`.
pub(super) fn server_capabilities(client: &Client) -> Value {
    let encoding = match client.encoding {
        PositionEncoding::Utf8 => "utf-8",
        PositionEncoding::Utf16 => "utf-16",
    };
    let mut can = json!({
        "positionEncoding": encoding,
        "textDocumentSync": {"openClose": true, "change": 2, "save": {"includeText": false}},
        "hoverProvider": true,
        "completionProvider": {"triggerCharacters": ["<", "/", " ", "\"", "'", "{", "."]},
        "signatureHelpProvider": {"triggerCharacters": ["<", "\"", ">"]},
        "codeActionProvider": {"codeActionKinds": ["quickfix", "source.fixAll.ctxc"], "resolveProvider": true},
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "foldingRangeProvider": true,
        "documentFormattingProvider": true,
        "inlayHintProvider": true,
        "codeLensProvider": {"resolveProvider": false},
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "renameProvider": {"prepareProvider": true},
        "linkedEditingRangeProvider": true,
        "selectionRangeProvider": true,
        "documentLinkProvider": {"resolveProvider": false},
        "workspace": {
            "workspaceFolders": {"supported": true, "changeNotifications": true},
            "fileOperations": {"willRename": {"filters": [{"scheme": "file", "pattern": {"glob": "**/*"}}]}},
        },
        "semanticTokensProvider": {"legend": {"tokenTypes": TOKEN_TYPES, "tokenModifiers": []}, "full": true, "range": true},
    });
    if !client.registers_commands
        && let Some(can) = can.as_object_mut()
    {
        can.insert(
            "executeCommandProvider".to_owned(),
            json!({"commands": [RENDER_COMMAND]}),
        );
    }
    if client.pulls_diagnostics
        && let Some(can) = can.as_object_mut()
    {
        let pull = json!({"identifier": "ctxc", "interFileDependencies": true, "workspaceDiagnostics": true});
        can.insert("diagnosticProvider".to_owned(), pull);
    }
    json!({"capabilities": can, "serverInfo": {"name": "ctxc", "version": env!("CARGO_PKG_VERSION")}})
}
