//! Signature help: the parameters of the template that the call at a place references.

use crate::lsp::prelude::*;
use crate::syntax::tree::Element;
use crate::template::names::DefinitionKind;
use gen_lsp_types::TextDocumentPositionParams;

/// Answers `textDocument/signatureHelp`.
pub(super) fn answer(server: &LspServer<'_>, params: &TextDocumentPositionParams) -> RequestResult {
    let (project, name, buffer, offset) = server.document_position(params)?;
    if !project.is_xml(&name) {
        return Ok(Value::Null);
    }
    let index = project.index();
    let found = place::with_document(&buffer.text, &project.config.limits, |document| {
        let mut around = place::ancestors(document.element_at(offset));
        let call = around.find(|element| element.name() == "call")?;
        let id = index.find_definition(
            DefinitionKind::Template,
            call.attribute("template")?.value().trim(),
        )?;
        let template = index.definition(id)?;
        let label = |name: &str, required: bool| {
            if required {
                name.to_owned()
            } else {
                format!("{name}?")
            }
        };
        let labels: Vec<String> = template
            .params
            .iter()
            .map(|param| label(&param.name, param.required))
            .collect();
        let own = call.elements().position(|arg| arg.span().touches(offset));
        let named = |arg: Element<'_>| {
            let name = arg.attribute("name")?.value().trim().to_owned();
            template
                .params
                .iter()
                .position(|param| *param.name == *name)
        };
        let active = own
            .and_then(|at| call.elements().nth(at).and_then(named).or(Some(at)))
            .filter(|at| *at < labels.len());
        let parameters: Vec<Value> = labels.iter().map(|label| json!({"label": label})).collect();
        let signature = json!({"label": format!("{}({})", template.name, labels.join(", ")), "parameters": parameters});
        Some(json!({"signatures": [signature], "activeSignature": 0, "activeParameter": active}))
    });
    Ok(found.unwrap_or(Value::Null))
}
