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

use super::workspace_reach::WorkspaceReach;
use crate::cli::prelude::*;
use clap::builder::Resettable;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};
use std::ops::Deref;

/// Arguments that are built once their verb is called: to build those of every verb takes longer
/// than to check a file. A verb with subcommands is built at once, because completion scripts list
/// them.
#[derive(Debug)]
pub(super) struct DeferredArgs<T>(T);

impl<T> Deref for DeferredArgs<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: FromArgMatches> FromArgMatches for DeferredArgs<T> {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for DeferredArgs<T> {
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

/// The verbs, in the order in which a user meets them.
#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Start a project: a project file for existing templates, or a first template if there are none
    Init(DeferredArgs<super::init::InitArgs>),
    /// Convert existing prompts to templates: Jinja, dotprompt, Prompty, `LangChain`, promptfoo, Markdown
    Import(DeferredArgs<super::import::ImportArgs>),
    /// Check templates and the project file, or requests and sessions, and explain how to resolve each
    /// finding
    Check(DeferredArgs<check::CheckArgs>),
    /// Format templates: one element per line, settings in a fixed order, long tags wrapped
    Fmt(DeferredArgs<fmt::FmtArgs>),
    /// Check again whenever a template, a text it uses, or the project file changes
    Watch(DeferredArgs<super::watch::WatchArgs>),
    /// Build the registry: every task with its settings resolved, so that nothing is resolved at run time
    Build(DeferredArgs<build::BuildArgs>),
    /// Compare two registries, recordings or sessions: what changed, and why
    Diff(DeferredArgs<diff::DiffArgs>),
    /// List what the project defines: tasks, roles, scenarios, and the agents inside tasks
    List(DeferredArgs<super::context::list::ListArgs>),
    /// Show a task as resolved: every setting, the layer that set it, and the values it overrode
    Show(DeferredArgs<show::ShowArgs>),
    /// Show the exact text an agent of a task would get, and the origin of each line
    Render(DeferredArgs<super::context::render::RenderArgs>),
    /// Draw the flow of a task: its order, its choices and its loops
    Graph(DeferredArgs<super::context::graph::GraphArgs>),
    /// Show the context of every agent: segments with token counts, varying parts, parts that a
    /// cache can reuse
    Manifest(super::context::manifest::ManifestArgs),
    /// Show the part of each call that a provider's prompt cache can reuse, and the first bytes
    /// that break its prefix
    PromptCache(DeferredArgs<super::request::prompt_cache::PromptCacheArgs>),
    /// Show what the compactions of a coding agent's session dropped, and which of it was needed
    /// again
    Compaction(super::compaction::CompactionArgs),
    /// Show the passages that a lookup of fresh context would find, how well each matches, and by
    /// which words
    Search(DeferredArgs<super::context::search::SearchArgs>),
    /// Write a scenario from what an agent receives today
    New(super::context::new::NewArgs),
    /// Run a task with all its agents and print the result of the last one; every call is recorded
    Run(DeferredArgs<super::context::run::RunArgs>),
    /// Run scenarios: check the contexts and answers of agents; failures show the expected and the
    /// actual value, and its place
    Eval(DeferredArgs<super::context::eval::EvalArgs>),
    /// Collect verdicts of people on answers, and show how far the judge agrees with them
    Label(super::context::label::LabelArgs),
    /// Decide whether this change may be merged: list the accepted results it breaks and the checks
    /// it loosens
    Gate(DeferredArgs<super::context::gate::GateArgs>),
    /// Accept the results of scenarios and everything that a change loosens; show accepted results
    Baseline(super::context::gate::BaselineArgs),
    /// Merge the scorecards of shards
    Scorecard(super::context::eval::ScorecardArgs),
    /// Run the same scenarios with two models, roles or revisions, and show the differences: verdicts,
    /// tokens, US$, time
    Compare(DeferredArgs<super::context::eval::compare::CompareArgs>),
    /// Show, prune, export or import the stored results of earlier runs of `ctxc eval`
    History(super::history::HistoryArgs),
    /// Show which scenarios got worse over the last runs: more tokens, more time, other plans, more failures
    Drift(DeferredArgs<super::history::DriftArgs>),
    /// Show the findings of ctxc for an existing agent: a bundled one with two mistakes, without a
    /// key or a network
    Demo(DeferredArgs<super::request::demo::DemoArgs>),
    /// Run a program and record every call that it makes to a model
    Record(DeferredArgs<super::record::RecordArgs>),
    /// Run a program and answer its calls from an earlier recording: no network, no key
    Replay(DeferredArgs<super::record::ReplayArgs>),
    /// Record, or answer from a recording or a script, until Ctrl-C: for programs started elsewhere
    Proxy(DeferredArgs<super::record::ProxyArgs>),
    /// Remove old recordings, and workspaces of crashed programs
    Gc(DeferredArgs<super::record::GcArgs>),
    /// Share tasks, roles and rules between projects: packages that prove themselves where they are
    /// installed
    Package(super::package::PackageArgs),
    /// Show the commands, keys and addresses that this project's files name, and allow ctxc to use them
    Trust(DeferredArgs<super::context::trust::TrustArgs>),
    /// Explain a rule by its name or code, or one setting of a task
    Explain(DeferredArgs<explain::ExplainArgs>),
    /// Show the default settings of every type, including this project's changes
    Defaults(DeferredArgs<defaults::DefaultsArgs>),
    /// List every rule: its name, code, severity and fix
    Rules(DeferredArgs<rules::RulesArgs>),
    /// Print a schema for templates, scenarios, ctxc.toml or the JSON that ctxc writes, for editors and other validators
    Schema(DeferredArgs<schema::SchemaArgs>),
    /// Print a completion script for a shell
    Completions(DeferredArgs<completions::CompletionsArgs>),
    /// Print the manual page of ctxc or of one of its commands
    Man(DeferredArgs<man::ManArgs>),
    /// Serve an editor over standard input and output, using the Language Server Protocol
    #[cfg(feature = "lsp")]
    Lsp(DeferredArgs<lsp::LspArgs>),
    #[cfg(debug_assertions)]
    #[command(hide = true)]
    DebugPanic,
}

impl Verb {
    /// Returns the part of a workspace that the command line is about.
    pub(super) fn workspace_reach(&self) -> WorkspaceReach {
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "no other verb is for whole projects"
        )]
        match self {
            Self::Check(args) => args.workspace_reach(),
            Self::Build(args) => args.workspace_reach(),
            Self::Eval(args) => args.workspace_reach(),
            Self::Gate(args) => args.workspace_reach(),
            Self::Manifest(args) => args.workspace_reach(),
            Self::Package(args) => args.workspace_reach(),
            _ => WorkspaceReach::Folder,
        }
    }

    /// Runs the verb. `command` builds the whole command line, for the verbs that describe it.
    pub(super) fn run(&self, command: impl FnOnce() -> Command, cx: &mut Cx) -> Result<Exit> {
        if !matches!(self, Self::Package(_)) {
            super::package::require_locked(cx)?;
        }
        match self {
            Self::Init(args) => super::init::run_init(args, cx),
            Self::Import(args) => super::import::run_import(args, cx),
            Self::Check(args) => check::run_check(args, cx),
            Self::Fmt(args) => fmt::run_fmt(args, cx),
            Self::Watch(args) => super::watch::run_watch(args, cx),
            Self::Build(args) => build::run_build(args, cx),
            Self::Diff(args) => diff::run_diff(args, cx),
            Self::List(args) => super::context::list::run_list(args, cx),
            Self::Show(args) => show::run_show(args, cx),
            Self::Render(args) => super::context::render::run_render(args, cx),
            Self::Graph(args) => super::context::graph::run_graph(args, cx),
            Self::Manifest(args) => super::context::manifest::run_manifest(args, cx),
            Self::PromptCache(args) => super::request::prompt_cache::run_prompt_cache(args, cx),
            Self::Compaction(args) => super::compaction::run_compaction(args, cx),
            Self::Search(args) => super::context::search::run_search(args, cx),
            Self::New(args) => super::context::new::run_new(args, cx),
            Self::Run(args) => super::context::run::run_tasks(args, cx),
            Self::Eval(args) => super::context::eval::run_eval(args, cx),
            Self::Label(args) => super::context::label::run_label(args, cx),
            Self::Gate(args) => super::context::gate::run_gate(args, cx),
            Self::Baseline(args) => super::context::gate::run_baseline(args, cx),
            Self::Scorecard(args) => super::context::eval::scorecard(args, cx),
            Self::Compare(args) => super::context::eval::compare::run_compare(args, cx),
            Self::History(args) => super::history::run_history(args, cx),
            Self::Drift(args) => super::history::drift(args, cx),
            Self::Demo(DeferredArgs(super::request::demo::DemoArgs {})) => {
                super::request::demo::run_demo(cx)
            }
            Self::Record(args) => super::record::run_record(args, cx),
            Self::Replay(args) => super::record::run_replay(args, cx),
            Self::Proxy(args) => super::record::run_proxy(args, cx),
            Self::Gc(args) => super::record::run_gc(args, cx),
            Self::Package(args) => super::package::run_package(args, cx),
            Self::Trust(args) => super::context::trust::run_trust(args, cx),
            Self::Explain(args) => explain::run_explain(args, cx),
            Self::Defaults(args) => defaults::run_defaults(args, cx),
            Self::Rules(args) => rules::run_rules(args, cx),
            Self::Schema(args) => schema::print_schema(args, cx),
            Self::Completions(args) => completions::print_completions(args, &command(), cx),
            Self::Man(args) => man::print_manual(args, command(), cx),
            #[cfg(feature = "lsp")]
            Self::Lsp(args) => lsp::run_server(args),
            #[cfg(debug_assertions)]
            #[allow(
                clippy::panic,
                reason = "shows what a bug looks like, in debug builds alone"
            )]
            Self::DebugPanic => panic!("asked for"),
        }
    }
}
