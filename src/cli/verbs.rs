//! The list of verbs: each has a file here, or a folder beside this one, with its arguments and `run`. `main.rs` alone imports the list.

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

use super::cx::Cx;
use super::error::Result;
use super::exit::Exit;
use clap::{Command, Subcommand};

/// The verbs, in the order in which one meets them.
#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    Init(super::init::InitArgs),
    Import(super::import::ImportArgs),
    Check(check::CheckArgs),
    Fmt(fmt::FmtArgs),
    Watch(super::watch::WatchArgs),
    Build(build::BuildArgs),
    Diff(diff::DiffArgs),
    List(super::context::list::ListArgs),
    Show(show::ShowArgs),
    Render(super::context::render::RenderArgs),
    Graph(super::context::graph::GraphArgs),
    Manifest(super::context::manifest::ManifestArgs),
    PromptCache(super::request::prompt_cache::PromptCacheArgs),
    Search(super::context::search::SearchArgs),
    New(super::context::new::NewArgs),
    Run(super::context::run::RunArgs),
    Eval(super::context::eval::EvalArgs),
    Gate(super::context::gate::GateArgs),
    Baseline(super::context::gate::BaselineArgs),
    Scorecard(super::context::eval::ScorecardArgs),
    History(super::history::HistoryArgs),
    Drift(super::history::DriftArgs),
    Demo(super::request::demo::DemoArgs),
    Record(super::record::RecordArgs),
    Replay(super::record::ReplayArgs),
    Proxy(super::record::ProxyArgs),
    Gc(super::record::GcArgs),
    Trust(super::context::trust::TrustArgs),
    Explain(explain::ExplainArgs),
    Defaults(defaults::DefaultsArgs),
    Rules(rules::RulesArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    #[cfg(feature = "lsp")]
    Lsp(lsp::LspArgs),
    #[cfg(debug_assertions)]
    #[command(hide = true)]
    DebugPanic,
}

impl Verb {
    /// Runs it. `command` makes the whole command line, for those verbs that describe it.
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
            Self::Demo(super::request::demo::DemoArgs {}) => super::request::demo::run(cx),
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
            Self::Lsp(args) => Ok(lsp::run(&args)),
            #[cfg(debug_assertions)]
            #[allow(clippy::panic, reason = "shows what a bug looks like, in debug builds alone")]
            Self::DebugPanic => panic!("asked for"),
        }
    }
}
