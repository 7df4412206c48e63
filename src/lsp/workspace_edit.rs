//! Builds a `WorkspaceEdit`, with the version of each document where the client supports it.

use super::client::Client;
use super::diagnostics::file_uri;
use crate::lsp::prelude::*;
use gen_lsp_types::{
    CreateFile, DocumentChange, Edit, OptionalVersionedTextDocumentIdentifier, Position, Range,
    TextDocumentEdit, TextDocumentIdentifier, TextEdit, WorkspaceEdit,
};
use std::collections::BTreeMap;

/// Returns the creation of a file with its text.
pub(super) fn create_file_edit(project: &ProjectState, name: &str, text: String) -> WorkspaceEdit {
    let uri = file_uri(project, name);
    let create = DocumentChange::CreateFile(CreateFile::new(uri.clone(), None, None));
    let text_document_identifier = TextDocumentIdentifier { uri };
    let text_document = OptionalVersionedTextDocumentIdentifier {
        version: None,
        text_document_identifier,
    };
    let start = Position {
        line: 0,
        character: 0,
    };
    let edits = vec![Edit::TextEdit(TextEdit {
        range: Range { start, end: start },
        new_text: text,
    })];
    let fill = DocumentChange::TextDocumentEdit(TextDocumentEdit {
        text_document,
        edits,
    });
    WorkspaceEdit {
        document_changes: Some(vec![create, fill]),
        ..WorkspaceEdit::default()
    }
}

/// Returns the edits of files. A file that is not open has no version, since its state on disk
/// counts.
pub(super) fn file_edits(
    client: &Client,
    project: &ProjectState,
    edits: BTreeMap<Arc<str>, Vec<TextEdit>>,
) -> WorkspaceEdit {
    if !client.checks_versions {
        let changes = edits
            .into_iter()
            .map(|(name, edits)| (file_uri(project, &name), edits))
            .collect();
        return WorkspaceEdit {
            changes: Some(changes),
            ..WorkspaceEdit::default()
        };
    }
    let one = |(name, edits): (Arc<str>, Vec<TextEdit>)| {
        let version = project.open.get(&name).map(|buffer| buffer.version);
        let text_document_identifier = TextDocumentIdentifier {
            uri: file_uri(project, &name),
        };
        let text_document = OptionalVersionedTextDocumentIdentifier {
            version,
            text_document_identifier,
        };
        let edits = edits.into_iter().map(Edit::TextEdit).collect();
        DocumentChange::TextDocumentEdit(TextDocumentEdit {
            text_document,
            edits,
        })
    };
    let changes = edits.into_iter().map(one).collect();
    WorkspaceEdit {
        document_changes: Some(changes),
        ..WorkspaceEdit::default()
    }
}
