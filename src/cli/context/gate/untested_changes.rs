//! Texts that a change affects without a test: the tasks, documents and system texts that it
//! affects; agents of the base that no passing scenario tests; and trusted text that it removes
//! without failing any scenario of the base.

use super::compared::{BaseProject, GateComparison};
use super::renames::all_cases;
use crate::cli::context::eval::load::Scenarios;
use crate::cli::context::eval::{RunSubject, with_cases};
use crate::cli::context::models::ProjectCounters;
use crate::cli::context::project::CompiledProject;
use crate::cli::error::Result;
use crate::context::TaskGraph;
use crate::context::assemble::preview_loaded;
use crate::context::options::Options;
use crate::context::request::{Files, Request};
use crate::eval::compile_masks;
use crate::eval::context::own_text::{LostPassage, find_losses};
use crate::eval::gate::UncoveredText;
use crate::eval::mutate::{ByAgent, OwnContext, SelectedCases, noticed_losses, own_contexts};
use crate::kernel::agent_node::AgentNode;
use crate::kernel::context::Segment;
use crate::project::eval::UncoveredPolicy;
use crate::project::roles::Role;
use crate::record::redact::Redactor;
use crate::registry::Task;
use crate::scenario::expect::answer::one_line_excerpt;
use crate::scenario::load::LoadedScenario;
use crate::scenario::model::{CaseSubject, ScenarioCase};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The text changes of a change.
pub(super) struct TextChange<'c> {
    pub(super) base: &'c CompiledProject,
    pub(super) current: &'c CompiledProject,
    /// Current names of renamed tasks and roles, by their names in the base.
    pub(super) renamed: [&'c BTreeMap<String, String>; 2],
    /// The tasks of the base whose text, included documents or name changed.
    pub(super) tasks: BTreeSet<&'c str>,
    /// True if project files differ, or system texts of roles or tools that they name.
    pub(super) is_configured: bool,
}

impl<'c> TextChange<'c> {
    pub(super) fn new(
        then: &'c CompiledProject,
        now: &'c CompiledProject,
        renamed: [&'c BTreeMap<String, String>; 2],
    ) -> Self {
        let configured = |project: &CompiledProject| {
            let files = project
                .config
                .files
                .iter()
                .map(|file| file.text.replace("\r\n", "\n"))
                .collect::<Vec<_>>();
            let roles = project.config.roles.values();
            let systems: Vec<_> = roles
                .clone()
                .map(|role| role.system.as_ref().map(|system| system.text.clone()))
                .collect();
            // All roles share the defined tools.
            let tools = roles
                .clone()
                .find_map(|role| role.tools.as_ref())
                .map(|tools| Arc::clone(&tools.defined));
            (files, systems, tools)
        };
        let is_configured = configured(then) != configured(now);
        let mut change = Self {
            base: then,
            current: now,
            renamed,
            tasks: BTreeSet::new(),
            is_configured,
        };
        let documents = change.changed_documents();
        let hash =
            |project: &CompiledProject, name: &str| project.registry.find(name).map(Task::hash);
        let reads = |name: &str| {
            let graph = TaskGraph::load(&then.registry, name).ok().flatten();
            !documents.is_empty()
                && graph.is_some_and(|graph| !graph.files().is_disjoint(&documents))
        };
        let is_other = |name: &str| {
            let own = hash(now, change.current_task(name));
            own.is_some() && (own != hash(then, name) || reads(name))
        };
        change.tasks = then
            .registry
            .tasks()
            .map(Task::name)
            .filter(|name| is_other(name))
            .collect();
        change
    }

    /// Returns the documents of the base's tasks whose text changed.
    fn changed_documents(&self) -> BTreeSet<String> {
        let (before, after) = (self.base.files(), self.current.files());
        let mut files = TaskGraph::load_all(&self.base.registry)
            .map_or_else(|_| BTreeSet::new(), |graph| graph.files());
        files.retain(|path| before.text(path) != after.text(path));
        files
    }

    /// Returns the current name of a task.
    pub(super) fn current_task<'n>(&'n self, name: &'n str) -> &'n str {
        self.renamed[0].get(name).map_or(name, String::as_str)
    }

    /// Returns the current name of a role.
    pub(super) fn current_role<'n>(&'n self, name: &'n str) -> &'n str {
        self.renamed[1].get(name).map_or(name, String::as_str)
    }

    /// Returns the tasks of the base that no longer exist under any name.
    pub(super) fn removed_tasks(&self) -> impl Iterator<Item = &'c str> {
        let then = self.base.registry.tasks().map(Task::name);
        then.filter(|name| {
            self.current
                .registry
                .find(self.current_task(name))
                .is_none()
        })
    }

    /// Returns true if the change may affect the text of an agent.
    pub(super) fn affects(&self, subject: &CaseSubject) -> bool {
        match subject {
            CaseSubject::Task(task) => self.tasks.contains(task.as_str()),
            CaseSubject::Request(_) => false,
            CaseSubject::Role(_) | CaseSubject::Compaction(_) => {
                subject.role().is_some_and(|role| {
                    self.is_configured
                        || self
                            .base
                            .config
                            .roles
                            .get(role)
                            .is_some_and(|role| self.tasks.contains(role.task.value.as_str()))
                })
            }
        }
    }
}

/// A role of the base, or a task without a role.
#[derive(Clone, Copy)]
struct AgentSubject<'t> {
    name: &'t str,
    task: &'t str,
    role: Option<&'t Role>,
}

/// Returns the agents whose text changed, each with a description.
pub(super) fn find_untested(
    change: &TextChange<'_>,
    tested: &ByAgent<OwnContext>,
    redactor: &Redactor,
) -> Result<Vec<UncoveredText>> {
    let then = change.base;
    let roles = then.config.roles.values();
    let played: BTreeSet<&str> = roles.clone().map(|role| role.task.value.as_str()).collect();
    let roles = roles.map(|role| AgentSubject {
        name: &role.name.value,
        task: &role.task.value,
        role: Some(role),
    });
    let tasks = then
        .registry
        .own_tasks()
        .map(Task::name)
        .filter(|task| !played.contains(task));
    let players = roles.chain(tasks.map(|task| AgentSubject {
        name: task,
        task,
        role: None,
    }));
    let counters = [
        ProjectCounters::new(&then.config, None)?,
        ProjectCounters::new(&change.current.config, None)?,
    ];
    let mut definitions = BTreeSet::new();
    for ((_, node), own) in tested {
        let agents = then.task_agents(&own.task)?;
        definitions.extend(
            agents
                .into_iter()
                .filter(|agent| agent.node == *node)
                .map(|agent| agent.definition),
        );
    }
    let mut found = Vec::new();
    for player in players.filter(|player| player.is_touched(change)) {
        let agents = then.task_agents(player.task)?;
        let is_own = |agent: &&AgentNode| {
            agent.is_tested_with(player.task, |name| then.registry.find(name).is_some())
        };
        let is_tested = |agent: &AgentNode, subject: &str| {
            tested
                .iter()
                .any(|((_, node), own)| own.subject == subject && *node == agent.node)
        };
        let is_changed = |agent: &AgentNode| {
            let of_task = || {
                tested
                    .iter()
                    .any(|((_, node), own)| own.task == player.task && *node == agent.node)
            };
            if is_tested(agent, player.name)
                || player.role.is_none()
                    && (of_task() || agent.node == "/" && definitions.contains(&agent.definition))
            {
                return false;
            }
            if player.role.is_some() && of_task() {
                // The text of its task is covered by the scenarios of the task.
                return player.system_text()
                    != player.current(change).and_then(AgentSubject::system_text);
            }
            let Some(now) = player.current(change) else {
                return false;
            };
            let sides = [
                (then, player, &counters[0]),
                (change.current, now, &counters[1]),
            ];
            match sides.map(|(project, player, counters)| {
                player.preview_segments(project, &agent.node, counters)
            }) {
                [Some(old), Some(new)] => {
                    !find_losses(&old, &new, redactor).is_empty()
                        || !find_losses(&new, &old, redactor).is_empty()
                }
                _ => true,
            }
        };
        let changed = agents.iter().filter(is_own).find(|agent| is_changed(agent));
        if let Some(agent) = changed {
            let name = if agents.len() == 1 {
                player.name.to_owned()
            } else {
                format!("{}{}", player.name, agent.node)
            };
            found.push(UncoveredText {
                agent: name,
                text: "its text, which changed: no scenario that passes tests it".to_owned(),
            });
        } else if player.current(change).is_none()
            && let Some(new) = player.possible_successor(change)
            && !agents.iter().any(|agent| is_tested(agent, player.name))
        {
            let text = format!(
                "its text, which is gone: no scenario that passes tests it, and the change brings `{new}`"
            );
            found.push(UncoveredText {
                agent: player.name.to_owned(),
                text,
            });
        }
    }
    Ok(found)
}

impl<'t> AgentSubject<'t> {
    fn is_touched(self, change: &TextChange<'_>) -> bool {
        change.tasks.contains(self.task)
            || self.role.is_some() && change.is_configured
            || self.current(change).is_none()
    }

    /// Returns the same agent in the current project; `None` if it no longer exists.
    fn current<'n>(self, change: &'n TextChange<'n>) -> Option<AgentSubject<'n>> {
        let now = change.current;
        let Some(role) = self.role else {
            let task = now.registry.find(change.current_task(self.task))?.name();
            return Some(AgentSubject {
                name: task,
                task,
                role: None,
            });
        };
        let role = now
            .config
            .roles
            .get(change.current_role(&role.name.value))?;
        Some(AgentSubject {
            name: &role.name.value,
            task: &role.task.value,
            role: Some(role),
        })
    }

    fn system_text(self) -> Option<&'t str> {
        Some(self.role?.system.as_ref()?.text.as_str())
    }

    /// Returns its context before a run; `None` if it has none.
    fn preview_segments(
        self,
        project: &CompiledProject,
        node: &str,
        counters: &ProjectCounters,
    ) -> Option<Vec<Segment>> {
        let graph = TaskGraph::load(&project.registry, self.task).ok()??;
        let models = Some(counters.model_settings(&project.config));
        let options = Options {
            counter: counters.default_counter(),
            models,
            ..Options::default()
        };
        let files = project.files();
        let request = Request {
            role: self.role,
            node,
            files: &files,
            ..Request::new(self.task)
        };
        let assembly = preview_loaded(&graph, &request, &options).ok()?;
        Some(
            assembly
                .report
                .segments
                .into_iter()
                .map(|account| account.segment)
                .collect(),
        )
    }

    /// Returns a task or role of the change that the base does not have: it may be this one under
    /// another name.
    fn possible_successor(self, change: &TextChange<'_>) -> Option<String> {
        let (then, now) = (change.base, change.current);
        let [tasks, roles] = change
            .renamed
            .map(|names| names.values().map(String::as_str).collect::<BTreeSet<_>>());
        let is_new = |name: &&str| then.registry.find(name).is_none() && !tasks.contains(name);
        let of_tasks = now.registry.tasks().map(Task::name).find(is_new);
        let is_new = |name: &&String| {
            !then.config.roles.contains_key(*name) && !roles.contains(name.as_str())
        };
        let of_roles = now
            .config
            .roles
            .keys()
            .find(is_new)
            .filter(|_| self.role.is_some());
        of_tasks
            .or_else(|| of_roles.map(String::as_str))
            .map(str::to_owned)
    }
}

/// The maximum number of lines of an agent that are listed.
const MAX_LINES: usize = 5;
/// The maximum number of further agents that are listed beside a line.
const MAX_FURTHER_AGENTS: usize = 3;

/// A removed passage.
#[derive(Default)]
struct RemovedPassage {
    /// The passage as it is quoted.
    masked: String,
    /// The agents that received it.
    subjects: BTreeSet<String>,
    /// True if it is replaced by another value that masks hide.
    is_value: bool,
    /// True if a case of it only compares a stored request, which was changed with the text.
    is_hidden: bool,
    /// True if a scenario of the base fails without it.
    is_noticed: bool,
}

/// Describes removed or changed text, with the agents that received it. Text of an agent without a
/// scenario is listed once.
pub(super) fn find_uncovered(compared: &GateComparison) -> Result<Vec<UncoveredText>> {
    let Some(BaseProject {
        project: then,
        scenarios: theirs,
    }) = &compared.base.loaded
    else {
        return Ok(Vec::new());
    };
    let (now, names) = (&compared.project, &compared.base.names);
    let change = TextChange::new(then, now, [&names.tasks, &names.roles]);
    let is_off = compared.gate_limits().uncovered == UncoveredPolicy::Off;
    if is_off
        || change.tasks.is_empty()
            && !change.is_configured
            && change.removed_tasks().next().is_none()
    {
        return Ok(Vec::new());
    }
    // By the names of tasks and roles in the base.
    let renamed = (!names.tasks.is_empty() || !names.roles.is_empty()).then(|| {
        let mut own = Scenarios::from_revision(then, None);
        own.files.retain(LoadedScenario::is_sound);
        own
    });
    let own = renamed.as_ref().unwrap_or(theirs);
    let known: BTreeSet<&str> = all_cases(theirs)
        .map(|(.., case)| case.name.value.as_str())
        .collect();
    let is_affected = |case: &ScenarioCase| {
        known.contains(case.name.value.as_str()) && change.affects(&case.subject.value)
    };
    let runnable = all_cases(own)
        .map(|(.., case)| case)
        .filter(|case| is_affected(case));
    let runnable: BTreeSet<String> = runnable.map(|case| case.name.value.clone()).collect();
    let base_cases = RunSubject::of_project(then, own);
    let before = with_cases(base_cases, &runnable, |run, inputs| {
        own_contexts(run, inputs, SelectedCases::Passing)
    })?;
    let current_cases = RunSubject {
        project: now,
        scenarios: theirs,
        whose: then,
    };
    let after = with_cases(current_cases, &runnable, |run, inputs| {
        own_contexts(run, inputs, SelectedCases::All)
    })?;
    let redactor = Redactor::new([0; 32], now.known_secrets());
    let patterns = [then, now]
        .map(|project| compile_masks(&project.config.record.mask))
        .concat();
    let redactor = redactor.with_patterns(patterns);
    let both = before
        .iter()
        .filter_map(|(agent, old)| Some((agent, old, after.get(agent)?)));
    let lost: ByAgent<Vec<LostPassage>> = both
        .map(|(agent, old, new)| {
            (
                agent.clone(),
                find_losses(&old.segments, &new.segments, &redactor),
            )
        })
        .filter(|(_, lost)| !lost.is_empty())
        .collect();
    let noticed = with_cases(base_cases, &runnable, |run, inputs| {
        noticed_losses(run, inputs, &lost)
    })?;
    let stored: BTreeSet<String> = all_cases(own)
        .filter(|(.., case)| case.uses_snapshot() && !case.is_run)
        .map(|(.., case)| case.name.value.clone())
        .collect();
    let texts = TrustedTexts {
        before,
        after,
        lost,
        noticed,
        stored,
    };
    let mut found = uncovered_passages(&texts);
    found.extend(find_untested(&change, &texts.before, &redactor)?);
    Ok(found)
}

/// The trusted text of a base and of its change, by agent and case.
struct TrustedTexts {
    before: ByAgent<OwnContext>,
    after: ByAgent<OwnContext>,
    /// The passages that the change removes.
    lost: ByAgent<Vec<LostPassage>>,
    /// The removed passages, by agent and index, without which a scenario of the base fails.
    noticed: BTreeSet<((String, String), usize)>,
    /// The scenarios that only compare a stored request, which the change may replace.
    stored: BTreeSet<String>,
}

/// Returns the passages that no scenario covers, each with the agents that lost it.
fn uncovered_passages(texts: &TrustedTexts) -> Vec<UncoveredText> {
    let mut removed: BTreeMap<(&str, &str), BTreeMap<&str, RemovedPassage>> = BTreeMap::new();
    // Two rounds: whether a stored request of any case hides a passage is known only after the
    // first. Such a passage counts as noticed only by cases that fail with the change itself.
    for is_first_round in [true, false] {
        for (agent, losses) in &texts.lost {
            let (Some(old), Some(new)) = (texts.before.get(agent), texts.after.get(agent)) else {
                continue;
            };
            let is_hidden = texts.stored.contains(&agent.0) && !new.is_noticed;
            for (number, loss) in losses.iter().enumerate() {
                let of_task = removed.entry((&old.task, &agent.1)).or_default();
                let passage = of_task.entry(&loss.text).or_default();
                if is_first_round {
                    passage.masked.clone_from(&loss.masked);
                    passage.subjects.insert(old.subject.clone());
                    passage.is_hidden |= is_hidden;
                    passage.is_value |= loss.instead.is_some();
                } else if !is_hidden && (!passage.is_hidden || new.is_noticed) {
                    // The case must also fail with the change itself: an expected pattern that the
                    // removal alone would break may match the new text.
                    passage.is_noticed |=
                        new.is_noticed && texts.noticed.contains(&(agent.clone(), number));
                }
            }
        }
    }
    let mut lines: Vec<(Vec<String>, &RemovedPassage)> = Vec::new();
    let mut line_of_text: BTreeMap<&str, usize> = BTreeMap::new();
    for ((task, node), passages) in &removed {
        for (text, passage) in passages.iter().filter(|(_, passage)| !passage.is_noticed) {
            let subject = passage
                .subjects
                .first()
                .filter(|_| passage.subjects.len() == 1)
                .map_or(*task, String::as_str);
            let agent = if *node == "/" {
                subject.to_owned()
            } else {
                format!("{subject}{node}")
            };
            let line = *line_of_text.entry(text).or_insert_with(|| {
                lines.push((Vec::new(), passage));
                lines.len() - 1
            });
            if let Some((agents, _)) = lines.get_mut(line) {
                agents.push(agent);
            }
        }
    }
    describe_passages(lines)
}

/// Describes the first lines of each agent; a line that several agents lost is listed once.
fn describe_passages(lines: Vec<(Vec<String>, &RemovedPassage)>) -> Vec<UncoveredText> {
    let mut found = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (agents, passage) in lines {
        let Some((agent, others)) = agents.split_first() else {
            continue;
        };
        let count = counts.entry(agent.clone()).or_default();
        *count += 1;
        if *count > MAX_LINES {
            continue;
        }
        let mut further: Vec<String> = others
            .iter()
            .take(MAX_FURTHER_AGENTS)
            .map(|other| format!("`{other}`"))
            .collect();
        further.extend(
            others
                .len()
                .checked_sub(MAX_FURTHER_AGENTS)
                .filter(|more| *more > 0)
                .map(|more| format!("{more} more agents")),
        );
        let further = if further.is_empty() {
            String::new()
        } else {
            format!(", also of {}", further.join(", "))
        };
        let quoted = one_line_excerpt(&passage.masked);
        let text = if passage.is_value {
            format!("the masked value in “{quoted}”, which was changed{further}")
        } else {
            format!("“{quoted}”, which is gone or was changed{further}")
        };
        found.push(UncoveredText {
            agent: agent.clone(),
            text,
        });
    }
    let unlisted = counts.into_iter().filter(|(_, count)| *count > MAX_LINES);
    found.extend(unlisted.map(|(agent, count)| UncoveredText {
        agent,
        text: format!(
            "{} more lines, which are gone or were changed",
            count - MAX_LINES
        ),
    }));
    found
}
