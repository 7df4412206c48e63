//! Mutation testing of scenarios: finds the changes that no scenario notices. One change is made at
//! a time (a segment dropped or halved, a setting, tool or path changed), and every passing
//! scenario is judged again.

use super::answer::TrialAnswer;
use super::case::RunAgentContext;
use super::case_result::CaseVerdict;
use super::change::Mutation;
use super::context::own_text::{self, LostPassage};
use super::context::stored_request;
use super::prepared_case::{CaseInput, PreparedCase, RunContext, SeenContext};
use super::receiver::Receiver;
use super::run::{self, ResolvedCase};
use super::scripted::{AgentNames, AnswerScript, request_text};
use super::verdict::ExpectationVerdict;
use super::{answer, case, compaction, context, request};
use crate::base::span::Spanned;
use crate::context::TaskGraph;
use crate::context::assemble::Assembly;
use crate::context::fault::Fault;
use crate::context::fence_marker::without_fences;
use crate::context::role::ModelRoute;
use crate::kernel::context::{Origin, Segment, TracedText, Trust};
use crate::project::models::ModelConfig;
use crate::project::roles::Role;
use crate::project::routing::RoutedModel;
use crate::scenario::model::CaseSubject;
use crate::schema::json::names::MUTATIONS;
use crate::settings::data::SettingsData;
use crate::settings::provenance::SettingValue;
use crate::template::setting::{Format, Fresh, Inherit, SettingName, Word};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

/// The kinds of changes, as serialised.
pub const CHANGE_KINDS: [&str; 12] = [
    "segment_dropped",
    "segment_halved",
    "segment_moved",
    "segment_reworded",
    "segment_unfenced",
    "setting",
    "tool",
    "tool_added",
    "protected_path",
    "model",
    "model_id",
    "fact_dropped",
];
/// The expectations that notice them.
pub const NOTICED_BY: [&str; 8] = [
    "segments",
    "snapshot",
    "trust",
    "setting",
    "tools",
    "protected_paths",
    "model",
    "survives",
];

/// The changes that the scenarios of one agent notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentScore {
    /// The role, or else the task.
    pub subject: String,
    /// The agent inside the task.
    pub node: String,
    /// The number of scenarios that pass and were therefore run.
    pub asked: usize,
    /// The number of changes tried.
    pub tried: usize,
    /// The changes that no scenario noticed.
    pub unnoticed: Vec<Mutation>,
}

/// The changes that all scenarios notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutationScores {
    /// By subject and agent.
    pub scores: Vec<AgentScore>,
    /// The scenarios that were left out, since they do not pass without a change.
    pub failing: Vec<String>,
}

/// The changes that no scenario would notice: `ctxc eval --mutate --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Document"))]
pub(crate) struct MutationReport<'s> {
    /// The version of the format.
    schema: &'static str,
    /// The totals of all agents.
    totals: MutationTotals,
    /// The agents that scenarios test, by subject and node.
    agents: Vec<AgentRow<'s>>,
    /// The agents that no scenario tests: TASK or ROLE, or with the node behind it. Empty if only
    /// some of the scenarios were selected.
    untested: &'s [String],
    /// The scenarios that do not pass without a change, and the files whose scenarios are not run.
    not_asked: &'s [String],
}

/// The numbers of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Totals"))]
pub struct MutationTotals {
    /// The number of changes that were tried.
    pub tried: usize,
    /// The number of these that some scenario notices.
    pub noticed: usize,
}

/// The changes that the scenarios of one agent notice.
#[derive(Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Agent"))]
pub(crate) struct AgentRow<'s> {
    /// The agent role, else the task.
    subject: &'s str,
    /// The agent inside the task.
    node: &'s str,
    /// The number of passing scenarios, which were run with each change.
    scenarios: usize,
    /// The number of changes that were tried.
    tried: usize,
    /// The number of these that some scenario notices.
    noticed: usize,
    /// The changes that no scenario notices.
    unnoticed: Vec<MutationRow<'s>>,
}

/// A change that could happen by mistake.
#[derive(Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Part"))]
pub(crate) struct MutationRow<'s> {
    /// The kind of the change.
    #[cfg_attr(feature = "cli", schemars(extend("enum" = CHANGE_KINDS)))]
    change: &'static str,
    /// The segment by its id, the setting, the tool that is taken away (with `!` one that is blocked), the path, or the fact with its class.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'s str>,
    /// The value that the setting resolves to instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'static str>,
    /// The enclosing node that the setting belongs to; absent for the agent's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'s str>,
    /// The expectation that would notice it.
    #[cfg_attr(feature = "cli", schemars(extend("enum" = NOTICED_BY)))]
    noticed_by: &'static str,
}

impl MutationScores {
    /// The serialised form. `untested` lists the agents that no scenario tests.
    pub fn report<'s>(&'s self, untested: &'s [String]) -> impl Serialize + 's {
        let agents = self.scores.iter().map(AgentScore::agent_row).collect();
        MutationReport {
            schema: MUTATIONS,
            totals: self.totals(),
            agents,
            untested,
            not_asked: &self.failing,
        }
    }

    /// The totals of all agents.
    pub fn totals(&self) -> MutationTotals {
        let missed: usize = self.scores.iter().map(|score| score.unnoticed.len()).sum();
        let tried = self.scores.iter().map(|score| score.tried).sum();
        MutationTotals {
            tried,
            noticed: tried - missed,
        }
    }
}

impl AgentScore {
    fn agent_row(&self) -> AgentRow<'_> {
        let Self {
            subject,
            node,
            asked,
            tried,
            unnoticed,
        } = self;
        AgentRow {
            subject,
            node,
            scenarios: *asked,
            tried: *tried,
            noticed: tried - unnoticed.len(),
            unnoticed: unnoticed.iter().map(mutation_row).collect(),
        }
    }
}

/// The serialised form of a change.
fn mutation_row(change: &Mutation) -> MutationRow<'_> {
    let (word, name) = match change {
        Mutation::Drop(id) => ("segment_dropped", Some(id.as_str())),
        Mutation::Halve(id) => ("segment_halved", Some(id.as_str())),
        Mutation::Move(id) => ("segment_moved", Some(id.as_str())),
        Mutation::Reword(id) => ("segment_reworded", Some(id.as_str())),
        Mutation::Unfence(id) => ("segment_unfenced", Some(id.as_str())),
        Mutation::Set(name, ..) => ("setting", Some(name.word())),
        Mutation::Tool(name) => ("tool", Some(name.as_str())),
        Mutation::AddTool => ("tool_added", None),
        Mutation::Path(pattern) => ("protected_path", Some(pattern.as_str())),
        Mutation::Model => ("model", None),
        Mutation::ModelId => ("model_id", None),
        Mutation::Fact(fact) => ("fact_dropped", Some(fact.as_str())),
    };
    let (value, node) = if let Mutation::Set(_, value, node) = change {
        (Some(*value), node.as_deref())
    } else {
        (None, None)
    };
    MutationRow {
        change: word,
        name,
        value,
        node,
        noticed_by: change.noticed_by(),
    }
}

/// The changes that were tried, and those that a scenario noticed.
#[derive(Default)]
struct MutationSum {
    asked: usize,
    all: BTreeSet<Mutation>,
    seen: BTreeSet<Mutation>,
}

/// The changes of one agent, by its subject and node.
type AgentSum = ((String, String), MutationSum);

/// Tries every change on every case.
pub fn score_mutations(
    context: &RunContext<'_>,
    inputs: &[CaseInput<'_>],
    threads: Option<NonZeroUsize>,
) -> MutationScores {
    let found = run::map_cases(context, inputs, threads, |_, input, found| {
        if matches!(input.case.subject.value, CaseSubject::Request(_)) {
            let tried = request::mutate_request(context, input)?;
            return Some(vec![sum_changes(&input.case.name.value, tried)]);
        }
        if let Some(compaction) = input.case.subject.value.compaction() {
            let done = match found {
                Ok(case) => case.run(),
                Err(_) => compaction::run_compaction_case(context, input),
            };
            let tried = compaction::mutate_summary(context, input, &done)?;
            let subject = compaction.role().unwrap_or(&input.case.name.value);
            return Some(vec![sum_changes(subject, tried)]);
        }
        let (_, mut all) = try_case(found.ok()?, SelectedCases::Passing, &mutate_agent)?;
        // A whole run counts as one scenario of an agent, however often it calls that agent.
        let mut asked = BTreeSet::new();
        for (agent, sum) in &mut all {
            sum.asked = usize::from(asked.insert(agent.clone()));
        }
        Some(all)
    });
    let silent = inputs.iter().zip(&found).filter(|(_, sum)| sum.is_none());
    let failing = silent
        .map(|(input, _)| input.case.name.value.clone())
        .collect();
    let mut scores: BTreeMap<(String, String), MutationSum> = BTreeMap::new();
    for (agent, sum) in found.into_iter().flatten().flatten() {
        let MutationSum { asked, all, seen } = scores.entry(agent).or_default();
        *asked += sum.asked;
        all.extend(sum.all);
        seen.extend(sum.seen);
    }
    let score =
        |((subject, node), MutationSum { asked, all, seen }): ((String, String), MutationSum)| {
            AgentScore {
                subject,
                node,
                asked,
                tried: all.len(),
                unnoticed: all.difference(&seen).cloned().collect(),
            }
        };
    MutationScores {
        scores: scores.into_iter().map(score).collect(),
        failing,
    }
}

/// The author's own text that an agent received in a case.
#[derive(Clone, Debug)]
pub struct OwnContext {
    /// The role, or else the task.
    pub subject: String,
    /// The task.
    pub task: String,
    /// Its segments.
    pub segments: Vec<Segment>,
    /// True if the case notices a fault in it.
    pub is_noticed: bool,
}

/// A value for each agent of each case, by the names of the case and of the agent's node.
pub type ByAgent<T> = BTreeMap<(String, String), T>;

/// The author's own text that agents receive in the selected cases.
pub fn own_contexts(
    context: &RunContext<'_>,
    inputs: &[CaseInput<'_>],
    selection: SelectedCases,
) -> ByAgent<OwnContext> {
    let found = run::map_cases(context, inputs, None, |_, _, found| {
        let (verdict, mut agents) =
            try_case(found.ok()?, selection, &|prepared, assembly, notices| {
                let is_noticed = notices(prepared, Ok(assembly.clone()));
                let segments = assembly
                    .report
                    .segments
                    .into_iter()
                    .map(|account| account.segment)
                    .collect();
                let (subject, task) = (
                    prepared.receiver.name().to_owned(),
                    prepared.receiver.task.to_owned(),
                );
                (
                    agent_key(prepared),
                    OwnContext {
                        subject,
                        task,
                        segments,
                        is_noticed,
                    },
                )
            })?;
        // Its scripted answers may no longer fit.
        for (_, own) in &mut agents {
            own.is_noticed |= verdict == CaseVerdict::Fail;
        }
        Some(agents)
    });
    let mut all: ByAgent<OwnContext> = BTreeMap::new();
    for (place, mut own) in found.into_iter().flatten().flatten() {
        // A whole run can call one agent several times.
        match all.get_mut(&place) {
            Some(known) => {
                known.segments.append(&mut own.segments);
                known.is_noticed |= own.is_noticed;
            }
            None => _ = all.insert(place, own),
        }
    }
    all
}

/// The losses that their own case notices, by their index in each list.
pub fn noticed_losses(
    context: &RunContext<'_>,
    inputs: &[CaseInput<'_>],
    losses: &ByAgent<Vec<LostPassage>>,
) -> BTreeSet<((String, String), usize)> {
    let found = run::map_cases(context, inputs, None, |_, _, found| {
        try_case(
            found.ok()?,
            SelectedCases::Passing,
            &|prepared, _, notices| {
                let place = agent_key(prepared);
                let is_noticed = |loss: &LostPassage| {
                    let found = prepared.assemble(&|segments| {
                        for segment in segments {
                            own_text::apply_loss(loss, segment);
                        }
                    });
                    notices(prepared, found)
                };
                let numbered = losses.get(&place).into_iter().flatten().enumerate();
                let noticed = numbered
                    .filter(|(_, loss)| is_noticed(loss))
                    .map(|(number, _)| (place.clone(), number));
                noticed.collect::<Vec<_>>()
            },
        )
        .map(|(_, noticed)| noticed)
    });
    found.into_iter().flatten().flatten().flatten().collect()
}

fn agent_key(prepared: &PreparedCase<'_>) -> (String, String) {
    (
        prepared.input.case.name.value.clone(),
        prepared.node.clone(),
    )
}

/// The selection of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectedCases {
    /// Passing cases.
    Passing,
    /// All cases with a context.
    All,
}

/// The verdict on a case and the results of `trying` for its agents; `None` for a case that is not
/// selected or has no context.
fn try_case<T>(
    case: ResolvedCase<'_>,
    selection: SelectedCases,
    trying: AgentWork<'_, T>,
) -> Option<(CaseVerdict, Vec<T>)> {
    let done = case.run();
    if done.verdict != CaseVerdict::Pass && selection == SelectedCases::Passing {
        return None;
    }
    let prepared = case.prepare().ok()?;
    let found = if case.input.case.is_run {
        try_run(&prepared, &done.trials.first()?.answer, trying)?
    } else {
        vec![try_agent(&prepared, trying)?]
    };
    Some((done.verdict, found))
}

/// Sums up the changes of a case that has no agent with a context to change.
fn sum_changes(subject: &str, tried: Vec<(Mutation, bool)>) -> AgentSum {
    let noticed = tried.iter().filter(|(_, is_noticed)| *is_noticed);
    let sum = MutationSum {
        asked: 1,
        seen: noticed.map(|(change, _)| change.clone()).collect(),
        all: tried.into_iter().map(|(change, _)| change).collect(),
    };
    ((subject.to_owned(), "/".to_owned()), sum)
}

/// Returns true if a case notices a change: the context cannot be assembled, an expectation fails,
/// or another scripted answer applies.
type NoticesChange<'n> = &'n dyn Fn(&PreparedCase<'_>, Result<Assembly, Vec<Fault>>) -> bool;

/// The work on one agent, such as the changes to try on it.
type AgentWork<'t, T> = &'t (dyn Fn(&PreparedCase<'_>, Assembly, NoticesChange<'_>) -> T + Sync);

/// The result for the agent of a case.
fn try_agent<T>(prepared: &PreparedCase<'_>, trying: AgentWork<'_, T>) -> Option<T> {
    let assembly = prepared.assemble(&|_| {}).ok()?;
    let script = answer::find_script(prepared, &assembly.messages)
        .ok()
        .map(Option::<&_>::cloned);
    let notices = |changed: &PreparedCase<'_>, found: Result<Assembly, Vec<Fault>>| {
        let Ok(assembly) = found else { return true };
        case::judge_context(changed, &assembly)
            .iter()
            .any(ExpectationVerdict::is_failure)
            || answer::find_script(changed, &assembly.messages)
                .ok()
                .map(Option::<&_>::cloned)
                != script
    };
    Some(trying(prepared, assembly, &notices))
}

/// The results for the agents of a whole run, one for each call.
fn try_run<T>(
    prepared: &PreparedCase<'_>,
    answer: &TrialAnswer,
    trying: AgentWork<'_, T>,
) -> Option<Vec<T>> {
    let case = prepared.input.case;
    let script = AnswerScript::new(case.answers.iter().map(|one| one.value.clone())).ok()?;
    let agent = |seen: RunAgentContext<'_, '_>| {
        let RunAgentContext {
            stage,
            case: of,
            assembly,
        } = seen;
        let asking = AgentNames {
            names: [Some(&stage.stage), Some(&stage.node), stage.name.as_deref()],
        };
        let answers =
            |assembly: &Assembly| script.fitting_answers(asking, &request_text(&assembly.messages));
        let assembly = assembly.ok()?;
        let before = answers(&assembly);
        let notices = |changed: &PreparedCase<'_>, found: Result<Assembly, Vec<Fault>>| {
            let Ok(found) = found else { return true };
            let seen = SeenContext {
                case: changed,
                assembly: &found,
            };
            let tests = case
                .expect_context
                .iter()
                .filter_map(|one| case::applicable_test(one, stage, answer));
            answers(&found) != before
                || tests
                    .into_iter()
                    .any(|test| context::judge_expectation(&seen, test).is_failure())
        };
        Some(trying(&of, assembly.clone(), &notices))
    };
    case::agent_contexts(prepared, answer)
        .ok()?
        .into_iter()
        .map(agent)
        .collect()
}

/// The changes of one agent, with its subject and node.
fn mutate_agent(
    prepared: &PreparedCase<'_>,
    assembly: Assembly,
    notices: NoticesChange<'_>,
) -> AgentSum {
    let PreparedCase {
        forest,
        receiver,
        node,
        ..
    } = prepared;
    let request = stored_request(&SeenContext {
        case: prepared,
        assembly: &assembly,
    });
    let mut sum = MutationSum {
        asked: 1,
        ..MutationSum::default()
    };
    let mut record = |change: Mutation, is_noticed: bool| {
        if is_noticed {
            sum.seen.insert(change.clone());
        }
        sum.all.insert(change);
    };
    for account in &assembly.report.segments {
        let id = &account.segment.id;
        let found = prepared.assemble(&|segments| segments.retain(|segment| segment.id != *id));
        record(Mutation::Drop(id.clone()), notices(prepared, found));
        for (change, edit) in segment_edits(id) {
            let found = prepared.assemble(&|segments| edit(id, segments));
            // Some edits leave the request unchanged.
            if found.as_ref().map_or(true, |found| {
                stored_request(&SeenContext {
                    case: prepared,
                    assembly: found,
                }) != request
            }) {
                record(change, notices(prepared, found));
            }
        }
    }
    for place in forest.enclosing_nodes(receiver.task, node) {
        for (name, value, word) in other_settings(forest, *receiver, &place) {
            let Ok(Some(mut other)) = TaskGraph::load(forest.registry, receiver.task) else {
                continue;
            };
            if other
                .change_settings(receiver.task, &place, |settings| {
                    set_setting(settings, name, value);
                })
                .is_ok()
            {
                let changed = PreparedCase {
                    forest: &other,
                    ..prepared.clone()
                };
                let of = Some(place.clone()).filter(|place| place != node);
                record(
                    Mutation::Set(name, word, of),
                    notices(&changed, changed.assemble(&|_| {})),
                );
            }
        }
    }
    for (change, other) in receiver.role.map_or_else(Vec::new, other_roles) {
        let changed = PreparedCase {
            receiver: Receiver {
                role: Some(&other),
                ..*receiver
            },
            ..prepared.clone()
        };
        record(change, notices(&changed, changed.assemble(&|_| {})));
    }
    if let Some(model) = prepared.model() {
        let changed = PreparedCase {
            other_model: Some(format!("{model} (another)")),
            ..prepared.clone()
        };
        record(Mutation::Model, notices(&changed, Ok(assembly.clone())));
    }
    if let Some(choice) = &prepared.routed.choice {
        let other = ModelConfig {
            id: format!("{} (another)", choice.model.id),
            ..choice.model.clone()
        };
        let routed = ModelRoute {
            choice: Some(RoutedModel {
                model: &other,
                ..choice.clone()
            }),
            ..prepared.routed.clone()
        };
        let changed = PreparedCase {
            routed,
            ..prepared.clone()
        };
        record(Mutation::ModelId, notices(&changed, Ok(assembly)));
    }
    ((receiver.name().to_owned(), node.clone()), sum)
}

/// An edit of the segment with an id.
type SegmentEdit = fn(&str, &mut Vec<Segment>);

/// Edits of a segment that can change the request.
fn segment_edits(id: &str) -> [(Mutation, SegmentEdit); 4] {
    [
        (Mutation::Halve(id.to_owned()), |id, segments| {
            segments
                .iter_mut()
                .filter(|segment| segment.id == id)
                .for_each(drop_second_half);
        }),
        (Mutation::Move(id.to_owned()), move_to_front),
        (Mutation::Reword(id.to_owned()), |id, segments| {
            drop_first_word(id, segments);
        }),
        (Mutation::Unfence(id.to_owned()), |id, segments| {
            remove_fence(id, segments);
        }),
    ]
}

fn move_to_front(id: &str, segments: &mut Vec<Segment>) {
    if let Some(at) = segments.iter().position(|segment| segment.id == id) {
        let segment = segments.remove(at);
        segments.insert(0, segment);
    }
}

fn drop_first_word(id: &str, segments: &mut [Segment]) {
    for segment in segments.iter_mut().filter(|segment| segment.id == id) {
        let text = segment.text.text();
        let word = text
            .trim_start()
            .find(char::is_whitespace)
            .map_or(0, |end| text.len() - text.trim_start().len() + end);
        segment.text = segment.text.slice(word..text.len());
    }
}

fn remove_fence(id: &str, segments: &mut [Segment]) {
    for segment in segments
        .iter_mut()
        .filter(|segment| segment.id == id && segment.trust == Trust::Untrusted)
    {
        let origin = segment
            .text
            .stretches()
            .first()
            .map_or(Origin::Generated, |stretch| stretch.origin.clone());
        segment.text = TracedText::new(without_fences(&segment.text), origin);
        segment.trust = Trust::Trusted;
    }
}

fn drop_second_half(segment: &mut Segment) {
    let text = segment.text.text();
    let half = text.floor_char_boundary(text.len() / 2);
    segment.text = segment.text.slice(0..half);
    segment.cut = crate::kernel::context::CutPolicy::Tail;
}

/// Every other value of every applicable setting, except combinations that the compiler rejects.
fn other_settings(
    forest: &TaskGraph<'_>,
    receiver: Receiver<'_>,
    node: &str,
) -> Vec<(SettingName, SettingValue, &'static str)> {
    let Ok(Some(settings)) = forest.settings(receiver.task, node) else {
        return Vec::new();
    };
    let inherit = Inherit::ALL
        .iter()
        .map(|value| (SettingName::InheritContext, SettingValue::Inherit(*value)));
    let fresh = Fresh::ALL
        .iter()
        .map(|value| (SettingName::FreshContext, SettingValue::Fresh(*value)));
    let format = Format::ALL.iter().map(|value| {
        (
            SettingName::AccumulationFormat,
            SettingValue::Format(*value),
        )
    });
    let accumulate =
        [true, false].map(|value| (SettingName::AccumulateData, SettingValue::Accumulate(value)));
    let all = inherit.chain(accumulate).chain(format).chain(fresh);
    let is_other = |(name, value): &(SettingName, SettingValue)| {
        let setting = settings.get(*name);
        setting.applies && setting.value != *value
    };
    let is_sound = |(_, value): &(SettingName, SettingValue)| match value {
        SettingValue::Inherit(inherit) => {
            *inherit == Inherit::None
                || settings.fresh_context.value != SettingValue::Fresh(Fresh::Enabled)
        }
        SettingValue::Fresh(fresh) => {
            *fresh == Fresh::Disabled
                || settings.inherit_context.value == SettingValue::Inherit(Inherit::None)
        }
        SettingValue::Accumulate(_) | SettingValue::Format(_) | SettingValue::NotApplicable => true,
    };
    all.filter(|one| is_other(one) && is_sound(one))
        .map(|(name, value)| (name, value, value.as_str()))
        .collect()
}

fn set_setting(settings: &mut SettingsData, name: SettingName, value: SettingValue) {
    let setting = match name {
        SettingName::InheritContext => &mut settings.inherit_context,
        SettingName::AccumulateData => &mut settings.accumulate_data,
        SettingName::AccumulationFormat => &mut settings.accumulation_format,
        SettingName::FreshContext => &mut settings.fresh_context,
    };
    setting.value = value;
}

/// The variants of a role with one tool or path removed, or one tool added.
fn other_roles(role: &Role) -> Vec<(Mutation, Role)> {
    let mut others = Vec::new();
    let tools = role.tools.clone().unwrap_or_default();
    for (at, tool) in tools.allowed.iter().enumerate() {
        let mut fewer = tools.clone();
        fewer.allowed.remove(at);
        others.push((
            Mutation::Tool(tool.value.clone()),
            Role {
                tools: Some(fewer),
                ..role.clone()
            },
        ));
    }
    for (at, tool) in tools.blocked.iter().enumerate() {
        let mut fewer = tools.clone();
        fewer.blocked.remove(at);
        others.push((
            Mutation::Tool(format!("!{}", tool.value)),
            Role {
                tools: Some(fewer),
                ..role.clone()
            },
        ));
    }
    let mut more = tools.clone();
    // If the project defines its tools, an added tool must be one of them.
    let is_new = |name: &&String| {
        tools
            .agent_definitions()
            .iter()
            .all(|given| given.name != **name)
    };
    let other = if tools.defined.is_empty() {
        Some("another_tool")
    } else {
        tools.defined.keys().find(is_new).map(String::as_str)
    };
    if let Some((tool, other)) = more.allowed.first().cloned().zip(other) {
        more.allowed.push(Spanned {
            value: other.to_owned(),
            ..tool
        });
        others.push((
            Mutation::AddTool,
            Role {
                tools: Some(more),
                ..role.clone()
            },
        ));
    }
    for (at, path) in role.protected_paths.iter().enumerate() {
        let mut other = role.clone();
        other.protected_paths.remove(at);
        others.push((Mutation::Path(path.value.clone()), other));
    }
    others
}
