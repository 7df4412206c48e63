//! Links to the files that a template includes.

use crate::lsp::prelude::*;
use crate::lsp::uri;
use crate::template::names::LinkedFileKind;
use gen_lsp_types::DocumentLinkParams;

/// Answers `textDocument/documentLink`.
pub(in crate::lsp) fn answer(server: &LspServer<'_>, params: &DocumentLinkParams) -> RequestResult {
    let (project, name, buffer) = server.document(&params.text_document.uri)?;
    let folder = project
        .path(&name)
        .parent()
        .map(std::path::Path::to_path_buf)
        .unwrap_or_default();
    let sources = project
        .template(&name)
        .map_or(&[][..], |template| &template.facts.sources);
    let links = sources.iter().map(|source| {
        let range = server
            .client
            .encoding
            .range(&buffer.text, &buffer.index, source.span);
        let folder = if source.kind == LinkedFileKind::File {
            &project.root
        } else {
            &folder
        };
        json!({"range": range, "target": uri::from_path(&folder.join(&*source.path))})
    });
    to_answer(links.collect::<Vec<_>>())
}
