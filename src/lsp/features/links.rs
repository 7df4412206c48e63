//! Links to the files that a template includes.

use crate::lsp::prelude::*;
use crate::lsp::uri;
use crate::template::names::SourceKind;
use gen_lsp_types::DocumentLinkParams;

/// Answers `textDocument/documentLink`.
pub(in crate::lsp) fn answer(server: &Server<'_>, params: &DocumentLinkParams) -> Answer {
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
        let folder = if source.kind == SourceKind::File {
            &project.root
        } else {
            &folder
        };
        json!({"range": range, "target": uri::of(&folder.join(&*source.path))})
    });
    value(links.collect::<Vec<_>>())
}
