//! `ctxc render TASK --as TARGET`: the request body for a vendor, without a call.

use crate::cli::prelude::*;
use crate::context::assemble::Assembly;
use crate::context::render::call::{CallParams, MODEL_PLACEHOLDER};
use crate::context::render::target::{NoBody, RenderTarget};
use crate::context::render::targets::TARGETS;
use crate::eval::request::facts::min_tokens;
use crate::project::config::Config;
use crate::rules::request::check::find_body_rejection;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Returns a parser of target names.
pub(super) fn target_parser() -> impl TypedValueParser<Value = &'static RenderTarget> {
    let names = TARGETS
        .iter()
        .map(|target| PossibleValue::new(target.name).help(target.about));
    PossibleValuesParser::new(names).try_map(|name| {
        TARGETS
            .iter()
            .find(|target| target.name == name)
            .copied()
            .ok_or("no target has this name")
    })
}

/// Prints the body and nothing else; a note gives the reason if the vendor would refuse it.
pub(super) fn print_body(
    target: &RenderTarget,
    assembly: &Assembly,
    call: &CallParams,
    config: &Config,
    cx: &mut Cx,
) -> Result<()> {
    let text = target
        .render_body(&assembly.messages, call)
        .map_err(|none| {
            let error = CliError::new(CliErrorKind::Findings, none.to_string());
            if none == NoBody::Empty {
                error.with_hint("a value may be empty: look at the text without --as")
            } else {
                error
            }
        })?;
    let unthought = target.dropped_reasoning(&assembly.messages);
    if unthought > 0 {
        cx.print_note(&format!(
            "the agent's thinking is left out of {}: {} has no field for it",
            pluralize(unthought, "message"),
            target.name
        ));
    }
    for (parameter, why) in target.omitted_parameters(call) {
        cx.print_note(&format!("`{}` is left out: {why}", parameter.word()));
    }
    if call.model.is_none() && target.names_model {
        cx.print_note(&format!(
            "`{MODEL_PLACEHOLDER}` stands for the model: neither the task nor --model names one"
        ));
    }
    if let Some(refusal) = find_body_rejection(&text, None, min_tokens, config) {
        cx.print_note(&refusal.describe());
    }
    cx.print(|out| writeln!(out, "{text}"))
}
