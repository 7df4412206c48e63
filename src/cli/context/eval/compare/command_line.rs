//! The command line of `ctxc compare`.

use super::super::args::{AnswerSource, EvalArgs, parse_usd};
use crate::base::suggest;
use crate::cli::context::trust::TrustHashArgs;
use crate::cli::prelude::*;
use crate::eval::comparison::VariedPart;
use clap::ValueEnum;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc compare --across model small large --plan\n  ctxc compare triage-t1 --across role clerk brief_clerk\n  \
    ctxc compare --across revision main . --report html=comparison.html\n\n\
    Every scenario is run with each of the models, roles or revisions (`.` is the current files), and each is compared with the first. \
    Answers come from recordings; without one on each side, a scenario is listed as not compared. `--record` asks models for what \
    is missing, once `ctxc trust` has allowed it, and keeps the answers in compare/ beside the scenario; the scenario's own recording stays as it is. \
    Stored requests (`snapshot`) are left out, since the requests of different sides differ.\n\n\
    It informs and decides nothing: a scenario that fails does not change the exit code. \
    Exit codes: 0 every scenario was compared, 1 the templates of a revision have errors, 2 wrong usage or project file, 5 nothing selected, 7 a scenario was not compared, or none."
)]
pub(crate) struct CompareArgs {
    /// Scenario files, folders, or names of scenarios or suites, before --across [default: all of the project; across roles, those of
    /// the named roles]
    #[arg(value_name = "PATH|NAME")]
    what: Vec<String>,
    /// The part to vary, and two or more names of it; the first is the base: `model` of `[models]`, `role` of `[roles]`, `revision` of
    /// git
    #[arg(long, value_names = ["model|role|revision", "NAME"], num_args = 1.., required = true)]
    across: Vec<String>,
    /// Only scenarios with this tag (repeatable; any match)
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Source of the answers [default: the recordings, else the scenario's script]
    #[arg(long, value_name = "SOURCE")]
    answers: Option<AnswerSource>,
    /// Ask models for answers that are not recorded, and keep these; the same as `--answers replay-or-record`
    #[arg(long, conflicts_with = "answers")]
    record: bool,
    /// Show what --record, or --answers, would ask and its cost; no model is asked
    #[arg(long)]
    plan: bool,
    /// Stop asking models once the calls of all sides have cost this much, by the prices in ctxc.toml
    #[arg(long, value_name = "USD", value_parser = parse_usd)]
    budget_usd: Option<f64>,
    #[command(flatten)]
    trust: TrustHashArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs<CompareFormat>,
}

/// Formats of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// For people
    #[default]
    Text,
    /// One document; with --plan the planned calls
    Json,
    /// One self-contained page, side by side
    Html,
}

impl OutputFormat for CompareFormat {}

impl CompareArgs {
    /// Returns the varied part and the names of the sides.
    ///
    /// # Errors
    /// There is no such part, or there are no two sides.
    pub(super) fn sides(&self) -> Result<(VariedPart, &[String])> {
        let [word, names @ ..] = self.across.as_slice() else {
            return Err(CliError::usage("--across is empty"));
        };
        let refuse = |found: String| CliError::usage(format!("--across {word}: {found}"));
        let across = VariedPart::parse(word).ok_or_else(|| {
            let parts = VariedPart::WORDS;
            refuse(format!("expected {}", parts.join(", ")))
                .with_suggestion(suggest::nearest_candidate(word, parts))
        })?;
        if names.len() < 2 {
            return Err(
                refuse(format!("expected two names or more, found {}", names.len())).with_hint(
                    format!("name the base first: `ctxc compare --across {word} A B`"),
                ),
            );
        }
        let is_twice = |name: &&String| names.iter().filter(|other| other == name).count() > 1;
        match names.iter().find(is_twice) {
            Some(name) => Err(refuse(format!("`{name}` is named twice"))),
            None => Ok((across, names)),
        }
    }

    /// Returns the arguments of each side's run.
    pub(super) fn eval_args(&self, across: VariedPart, names: &[String]) -> EvalArgs {
        let records = self.record || self.plan && self.answers.is_none();
        let role = if across == VariedPart::Role && self.what.is_empty() {
            names.to_vec()
        } else {
            Vec::new()
        };
        EvalArgs {
            what: self.what.clone(),
            role,
            tag: self.tag.clone(),
            answers: self.answers,
            record: records,
            stale: records,
            plan: self.plan,
            budget_usd: self.budget_usd,
            trust: self.trust.clone(),
            ..EvalArgs::default()
        }
    }
}
