//! The list of verbs. Each has a file here, or a folder beside this file, with its arguments and
//! `run`. Only `main.rs` imports the list.

pub(super) mod build;
pub(super) mod check;
pub(super) mod completions;
pub(super) mod defaults;
pub(super) mod diff;
pub(super) mod explain;
pub(super) mod explain_setting;
pub(super) mod fmt;
#[cfg(feature = "lsp")]
pub(super) mod lsp;
pub(super) mod man;
pub(super) mod rules;
pub(super) mod schema;
pub(super) mod show;

use crate::cli::prelude::*;
use clap::builder::Resettable;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};
use std::ops::Deref;

/// Arguments that are built once their verb is called: to build those of every verb takes longer
/// than to check a file. A verb with subcommands is built at once, because completion scripts list
/// them.
#[derive(Debug)]
pub(super) struct Deferred<T>(T);

impl<T> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for Deferred<T> {
    fn augment_args(verb: Command) -> Command {
        // Arguments shared with other verbs would overwrite the description.
        verb.defer(|verb| {
            let about = Resettable::from(verb.get_about().cloned());
            let long_about = Resettable::from(verb.get_long_about().cloned());
            T::augment_args(verb).about(about).long_about(long_about)
        })
    }

    fn augment_args_for_update(verb: Command) -> Command {
        T::augment_args_for_update(verb)
    }
}

/// The verbs, in the order in which one meets them.
#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Start a project: a project file for existing templates, or a first template if there are none
    Init(Deferred<super::init::InitArgs>),
    /// Convert existing prompts to templates: Jinja, dotprompt, Prompty, `LangChain`, promptfoo, Markdown
    Import(Deferred<super::import::ImportArgs>),
    /// Check templates and the project file, or recorded requests, and say what to do about each finding
    Check(Deferred<check::CheckArgs>),
    /// Format templates: one element per line, settings in a fixed order, long tags wrapped
    Fmt(Deferred<fmt::FmtArgs>),
    /// Check again whenever a template, a text it uses, or the project file changes
    Watch(Deferred<super::watch::WatchArgs>),
    /// Build the registry: every task with its settings resolved, so that nothing is resolved at run time
    Build(Deferred<build::BuildArgs>),
    /// Compare two registries, or two recordings: what changed, and why
    Diff(Deferred<diff::DiffArgs>),
    /// List what the project defines: tasks, roles, scenarios, and the agents inside tasks
    List(Deferred<super::context::list::ListArgs>),
    /// Show a task as resolved: every setting, what set it, and what that overrode
    Show(Deferred<show::ShowArgs>),
    /// Show the exact text an agent of a task would get, and where each line comes from
    Render(Deferred<super::context::render::RenderArgs>),
    /// Draw the flow of a task: its order, its choices and its loops
    Graph(Deferred<super::context::graph::GraphArgs>),
    /// Show what every agent would receive: segments with token counts, what varies, what a cache can reuse
    Manifest(super::context::manifest::ManifestArgs),
    /// Show what a provider's prompt cache can reuse of each call, and the first bytes that break its prefix
    PromptCache(Deferred<super::request::prompt_cache::PromptCacheArgs>),
    /// Show what a lookup of fresh context would find, how well each passage matches, and by which words
    Search(Deferred<super::context::search::SearchArgs>),
    /// Write a scenario from what an agent receives today
    New(super::context::new::NewArgs),
    /// Run a task with all its agents and print the result of the last one; every call is recorded
    Run(Deferred<super::context::run::RunArgs>),
    /// Run scenarios: check what agents receive and answer; failures show what was expected, found, and where
    Eval(Deferred<super::context::eval::EvalArgs>),
    /// Decide whether this change may be merged: which accepted results it breaks, and what it loosens
    Gate(Deferred<super::context::gate::GateArgs>),
    /// Accept the results of scenarios and whatever a change loosens; show what was accepted
    Baseline(super::context::gate::BaselineArgs),
    /// Merge the scorecards of shards
    Scorecard(super::context::eval::ScorecardArgs),
    /// Show, prune, export or import the stored results of earlier runs of `ctxc eval`
    History(super::history::HistoryArgs),
    /// Show which scenarios got worse over the last runs: more tokens, more time, other plans, more failures
    Drift(Deferred<super::history::DriftArgs>),
    /// Show what ctxc reports for an existing agent: a bundled one with two mistakes, without a key or a network
    Demo(Deferred<super::request::demo::DemoArgs>),
    /// Run a program and record every call that it makes to a model
    Record(Deferred<super::record::RecordArgs>),
    /// Run a program and answer its calls from an earlier recording: no network, no key
    Replay(Deferred<super::record::ReplayArgs>),
    /// Record, or answer from a recording or a script, until Ctrl-C: for programs started elsewhere
    Proxy(Deferred<super::record::ProxyArgs>),
    /// Remove old recordings, and workspaces of crashed programs
    Gc(Deferred<super::record::GcArgs>),
    /// Show the commands, keys and addresses that this project's files name, and allow ctxc to use them
    Trust(Deferred<super::context::trust::TrustArgs>),
    /// Explain a rule by its name or code, or one setting of a task
    Explain(Deferred<explain::ExplainArgs>),
    /// Show the default settings of every type, including this project's changes
    Defaults(Deferred<defaults::DefaultsArgs>),
    /// List every rule: its name, code, severity and fix
    Rules(Deferred<rules::RulesArgs>),
    /// Print a schema for templates, scenarios, ctxc.toml or the JSON that ctxc writes, for editors and other validators
    Schema(Deferred<schema::SchemaArgs>),
    /// Print a completion script for a shell
    Completions(Deferred<completions::CompletionsArgs>),
    /// Print the manual page of ctxc or of one of its commands
    Man(Deferred<man::ManArgs>),
    /// Serve an editor over standard input and output, using the Language Server Protocol
    #[cfg(feature = "lsp")]
    Lsp(Deferred<lsp::LspArgs>),
    #[cfg(debug_assertions)]
    #[command(hide = true)]
    DebugPanic,
}

impl Verb {
    /// Runs the verb. `command` builds the whole command line, for the verbs that describe it.
    pub(super) fn run(self, command: impl FnOnce() -> Command, cx: &mut Cx) -> Result<Exit> {
        match self {
            Self::Init(args) => super::init::run(&args, cx),
            Self::Import(args) => super::import::run(&args, cx),
            Self::Check(args) => check::run(&args, cx),
            Self::Fmt(args) => fmt::run(&args, cx),
            Self::Watch(args) => super::watch::run(&args, cx),
            Self::Build(args) => build::run(&args, cx),
            Self::Diff(args) => diff::run(&args, cx),
            Self::List(args) => super::context::list::run(&args, cx),
            Self::Show(args) => show::run(&args, cx),
            Self::Render(args) => super::context::render::run(&args, cx),
            Self::Graph(args) => super::context::graph::run(&args, cx),
            Self::Manifest(args) => super::context::manifest::run(&args, cx),
            Self::PromptCache(args) => super::request::prompt_cache::run(&args, cx),
            Self::Search(args) => super::context::search::run(&args, cx),
            Self::New(args) => super::context::new::run(&args, cx),
            Self::Run(args) => super::context::run::run(&args, cx),
            Self::Eval(args) => super::context::eval::run(&args, cx),
            Self::Gate(args) => super::context::gate::run(&args, cx),
            Self::Baseline(args) => super::context::gate::baseline(&args, cx),
            Self::Scorecard(args) => super::context::eval::scorecard(&args, cx),
            Self::History(args) => super::history::run(&args, cx),
            Self::Drift(args) => super::history::drift(&args, cx),
            Self::Demo(Deferred(super::request::demo::DemoArgs {})) => {
                super::request::demo::run(cx)
            }
            Self::Record(args) => super::record::record(&args, cx),
            Self::Replay(args) => super::record::replay(&args, cx),
            Self::Proxy(args) => super::record::proxy(&args, cx),
            Self::Gc(args) => super::record::gc(&args, cx),
            Self::Trust(args) => super::context::trust::run(&args, cx),
            Self::Explain(args) => explain::run(&args, cx),
            Self::Defaults(args) => defaults::run(&args, cx),
            Self::Rules(args) => rules::run(&args, cx),
            Self::Schema(args) => schema::run(&args, cx),
            Self::Completions(args) => completions::run(&args, &command(), cx),
            Self::Man(args) => man::run(&args, command(), cx),
            #[cfg(feature = "lsp")]
            Self::Lsp(args) => lsp::run(&args),
            #[cfg(debug_assertions)]
            #[allow(
                clippy::panic,
                reason = "shows what a bug looks like, in debug builds alone"
            )]
            Self::DebugPanic => panic!("asked for"),
        }
    }
}
