//! The building blocks of a run, for organisations of any kind: the stage graph of a pipeline and
//! the state machine that follows it, agents, tools behind a gate, tasks, budgets, and repeated
//! failures.
//!
//! Nothing here depends on templates, a vendor, threads or an async runtime. Only task sources and
//! workspaces touch files. A host supplies its stages and agents and drives a [`Pipeline`] with its
//! own way of waiting for answers. `docs/KERNEL.md` shows a complete organisation.

pub use crate::kernel::assembler::{ContextAssembler, Speaker};
pub use crate::kernel::context::{CustomKind, Kind, Segment, Stability, Trust};
pub use crate::kernel::conversation::{Part, ToolCall, ToolResult, Turn};
pub use crate::kernel::pipeline::agent::{Agent, AgentContext, ContextStrategy, Router};
pub use crate::kernel::pipeline::machine::{Effect, Event, Pipeline};
pub use crate::kernel::pipeline::outcome::{
    Amounts, Attempt, HistoryBackend, Obstacle, ObstacleKind, OutcomeContext, Visit,
};
pub use crate::kernel::pipeline::output::{AgentOutput, Status, SubtaskRequest};
pub use crate::kernel::pipeline::stage_graph::{
    Next, PipelineState, PipelineStatus, StageGraph, Step,
};
pub use crate::kernel::provider::{
    Answer, Provider, ProviderError, Response, Stop, Usage, WireRequest,
};
pub use crate::kernel::tokens::TokenCounter;
pub use crate::kernel::tools::tool_policy::{Action, ApprovedAction, ToolPolicy};
pub use crate::kernel::tools::tool_registry::{
    ToolDefinition, ToolRegistry, ToolRunner, tool_loop,
};
pub use crate::kernel::work::batch::{Batch, BatchReport, Play, RestartIntensity};
pub use crate::kernel::work::budget_policy::{BudgetAccount, BudgetPolicy};
pub use crate::kernel::work::failure::{
    FailurePattern, Finding, PatternLimit, PatternScope, QualityAnalyzer,
};
pub use crate::kernel::work::task::{Task, TaskQueue, TaskSource};
pub use crate::kernel::work::workspace::{Workspace, WorkspaceProvider};
#[cfg(feature = "serve")]
pub use crate::work::webhook::{Webhook, WebhookOptions};
#[cfg(feature = "fs")]
pub use crate::work::{
    beads::read_beads, git_worktrees::GitWorktrees, sweep, task_file::read_task_file,
    task_journal::TaskJournal, temporary_folders::TemporaryFolders,
};
