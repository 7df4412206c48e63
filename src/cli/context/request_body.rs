//! `ctxc render TASK --as TARGET`: the request body for a vendor, without a call.

use crate::cli::prelude::*;
use crate::context::assemble::Assembly;
use crate::context::render::call::{Call, MODEL};
use crate::context::render::target::{NoBody, Target};
use crate::context::render::targets::TARGETS;
use crate::eval::request::facts::least_tokens;
use crate::project::config::Config;
use crate::rules::request::check::refusal_of_body;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Returns a parser of target names.
pub(super) fn parser() -> impl TypedValueParser<Value = &'static Target> {
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
pub(super) fn print(
    target: &Target,
    assembly: &Assembly,
    call: &Call,
    config: &Config,
    cx: &mut Cx,
) -> Result<()> {
    let text = target.body(&assembly.messages, call).map_err(|none| {
        let error = CliError::new(Kind::Findings, none.to_string());
        if none == NoBody::Empty {
            error.hint("a value may be empty: look at the text without --as")
        } else {
            error
        }
    })?;
    let unthought = target.unthought(&assembly.messages);
    if unthought > 0 {
        cx.note(&format!(
            "the agent's thinking is left out of {}: {} has no field for it",
            plural(unthought, "message"),
            target.name
        ));
    }
    for (parameter, why) in target.left_out(call) {
        cx.note(&format!("`{}` is left out: {why}", parameter.word()));
    }
    if call.model.is_none() && target.names_model {
        cx.note(&format!(
            "`{MODEL}` stands for the model: neither the task nor --model names one"
        ));
    }
    if let Some(refusal) = refusal_of_body(&text, None, least_tokens, config) {
        cx.note(&refusal.words());
    }
    cx.print(|out| writeln!(out, "{text}"))
}
