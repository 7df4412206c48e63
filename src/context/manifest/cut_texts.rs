//! Texts that a budget cuts in every call: known before any run.
//!
//! Counts nothing if the bytes of an agent fit into its budget.

use super::build::{ManifestOptions, entry_subjects};
use crate::base::parallel;
use crate::context::dry_run::{self, DryMemos};
use crate::context::options::Options;
use crate::context::request::Request;
use crate::context::role;
use crate::context::task_graph::TaskGraph;
use crate::kernel::agent_node::AgentNode;
use crate::kernel::budget::Disposition;
use crate::kernel::context::FIRST_EXPENDABLE;
use crate::kernel::tokens::ByteCounter;
use crate::registry::Registry;
use std::num::NonZeroUsize;

/// The texts of an agent that its budget cuts or drops in every call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutTexts {
    /// The role that plays the task.
    pub role: Option<String>,
    /// The task.
    pub task: String,
    /// The agent's node.
    pub node: String,
    /// The model of the agent, by its name in the project.
    pub model: Option<String>,
    /// The budget in tokens.
    pub budget: usize,
    /// Tokens of it that are reserved for untrusted text, at most.
    pub untrusted_reserve: usize,
    /// Each text by the id of its segment, with its tokens and those that stay.
    pub texts: Vec<(String, usize, usize)>,
}

/// Returns the texts that budgets of roles and models cut in every call, agent by agent. Agents
/// that cannot receive a context are skipped.
pub fn cut_texts(
    registry: &Registry,
    how: &ManifestOptions<'_>,
    threads: Option<NonZeroUsize>,
) -> Vec<CutTexts> {
    let Ok(forest) = TaskGraph::load_all_on(registry, threads) else {
        return Vec::new();
    };
    let agents = |request: &Request<'_>| -> Vec<CutTexts> {
        let agents = forest.agents(request.task).unwrap_or_default();
        let mut memos = DryMemos::default();
        let cut = |agent: &AgentNode| {
            agent_cut_texts(
                &forest,
                &Request {
                    node: &agent.node,
                    ..*request
                },
                how,
                &mut memos,
            )
        };
        agents.iter().filter_map(cut).collect()
    };
    let wanted = entry_subjects(registry, how);
    let found = parallel::map_items(&wanted, threads, |subject| {
        agents(&Request {
            files: how.files,
            ..subject.request()
        })
    });
    found.into_iter().flatten().collect()
}

fn agent_cut_texts(
    forest: &TaskGraph<'_>,
    request: &Request<'_>,
    how: &ManifestOptions<'_>,
    memos: &mut DryMemos,
) -> Option<CutTexts> {
    let role::ModelRoute {
        options, choice, ..
    } = role::route_model(forest, request, &how.options).ok()?;
    let budget = options.budget?;
    // A text never has more tokens than bytes.
    let by_bytes = dry_run::compute_dry_run(
        forest,
        request,
        &Options {
            counter: &ByteCounter,
            ..options
        },
        memos,
    )
    .ok()?
    .report;
    if by_bytes
        .segments
        .iter()
        .all(|account| account.disposition == Disposition::Kept)
    {
        return None;
    }
    let dry_run::DryRun {
        report,
        waiting,
        whole,
        untrusted_reserve,
    } = dry_run::compute_dry_run(forest, request, &options, memos).ok()?;
    let mut texts = Vec::new();
    for ((account, waiting), whole) in report.segments.iter().zip(&waiting).zip(&whole) {
        let segment = &account.segment;
        let (Some(full), Some(kept)) = (account.full_tokens, account.kept_tokens) else {
            continue;
        };
        let is_expendable =
            segment.priority() >= FIRST_EXPENDABLE && account.disposition != Disposition::Kept;
        let is_certain = waiting.condition.is_none() && !waiting.is_doubtful;
        // A limit that the author set for this text is intended.
        let is_limited = segment.max_tokens.is_some_and(|most| full > most);
        if is_expendable && is_certain && !is_limited && !whole.is_untrusted {
            texts.push((segment.id.clone(), full, kept));
        }
    }
    let role = request.role.map(|role| role.name.value.clone());
    let model = choice.map(|choice| choice.model.name.value.clone());
    let (task, node) = (request.task.to_owned(), request.node.to_owned());
    (!texts.is_empty()).then_some(CutTexts {
        role,
        task,
        node,
        model,
        budget,
        untrusted_reserve,
        texts,
    })
}
