//! `ctxc render TASK --as TARGET`: the request body of a provider, without any call.

use crate::cli::cx::Cx;
use crate::cli::error::{CliError, Kind, Result};
use crate::context::assemble::Assembly;
use crate::context::render::target::{self, Call, MODEL, Target};
use clap::ValueEnum;

/// Whose request body is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Body {
    /// Chat completions of OpenAI, and of the many that speak like it
    OpenaiChat,
    /// Responses of OpenAI
    OpenaiResponses,
    /// Messages of Anthropic, with cache breakpoints
    Anthropic,
    /// generateContent of Gemini
    Gemini,
    /// Chat of Ollama
    Ollama,
}

impl Body {
    const fn target(self) -> Target {
        match self {
            Self::OpenaiChat => Target::OpenaiChat,
            Self::OpenaiResponses => Target::OpenaiResponses,
            Self::Anthropic => Target::Anthropic,
            Self::Gemini => Target::Gemini,
            Self::Ollama => Target::Ollama,
        }
    }
}

/// Prints the body and nothing else.
pub(super) fn print(body: Body, assembly: &Assembly, call: &Call, cx: &mut Cx) -> Result<()> {
    let target = body.target();
    let text = target::body(target, &assembly.messages, call).map_err(|silent| {
        CliError::new(Kind::Findings, silent.to_string()).hint("a value may be empty: look at the text without --as")
    })?;
    if call.model.is_none() && target.names_model() {
        cx.note(&format!("`{MODEL}` stands for the model: neither the task nor --model names one"));
    }
    cx.print(|out| writeln!(out, "{text}"))
}
