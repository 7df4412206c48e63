//! Builds the manifest of a registry: loads each definition once, and assembles each agent in a dry
//! run with the code of a real run.

use super::bounds;
use super::model::{
    Budget, Cost, DefaultValue, Entry, MANIFEST_SCHEMA, Manifest, Part, Routing, Source,
    SourceKind, Tokenizer, ToolPolicy, Total,
};
use crate::base::hash::{Hash, Hasher};
use crate::base::parallel;
use crate::base::span::Spanned;
use crate::context::assemble::Report;
use crate::context::dry_run::{self, DryMemos};
use crate::context::fault::{Fault, FaultKind};
use crate::context::fence_marker::replace_marks;
use crate::context::options::Options;
use crate::context::request::{Files, Request};
use crate::context::role::{self, ModelRoute};
use crate::context::segments::draft_segment::WaitingFacts;
use crate::context::task_graph::{ChainLink, TaskGraph, path_in_node};
use crate::kernel::assembler::SegmentReport;
use crate::kernel::budget::{Counting, Disposition};
use crate::kernel::context::TracedText;
use crate::kernel::tokens::ByteCounter;
use crate::project::models::Prices;
use crate::project::roles::Role;
use crate::project::routing::RoutedModel;
use crate::registry::{Child, Node, Registry, RegistryParameter, Task};
use crate::settings::data::{OriginData, SettingsData};
use crate::template::keywords::Trust;
use crate::template::round_names;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

/// The options of a manifest.
#[derive(Clone, Copy, Debug)]
pub struct ManifestOptions<'a> {
    /// The format of segments, the token counter and the budget of each agent. Counting is always
    /// on.
    pub options: Options<'a>,
    /// The source of files.
    pub files: &'a (dyn Files + Sync),
}

/// Returns the manifest of every role of the project, and of every task of a registry that no role
/// plays, computed on the given number of threads; `None` for one thread per core.
///
/// # Errors
/// Every reason why an agent cannot receive its context: an unreadable file, texts that exceed the
/// budget.
pub fn project_manifest(
    registry: &Registry,
    how: &ManifestOptions<'_>,
    threads: Option<NonZeroUsize>,
) -> Result<Manifest, Vec<Fault>> {
    match partial_manifest(registry, how, threads) {
        (manifest, faults) if faults.is_empty() => Ok(manifest),
        (_, faults) => Err(faults),
    }
}

/// Like [`project_manifest`], but omits agents that cannot receive their context and returns their faults
/// beside the manifest.
pub fn partial_manifest(
    registry: &Registry,
    how: &ManifestOptions<'_>,
    threads: Option<NonZeroUsize>,
) -> (Manifest, Vec<Fault>) {
    let forest = match TaskGraph::load_all_on(registry, threads) {
        Ok(forest) => forest,
        Err(fault) => return (new_manifest(registry, Vec::new()), vec![fault]),
    };
    let wanted = entry_subjects(registry, how);
    let mut entries = Vec::new();
    let mut faults = Vec::new();
    for (found, failed) in parallel::map_items(&wanted, threads, |played| {
        agent_entries(
            &forest,
            &Request {
                files: how.files,
                ..played.request()
            },
            how,
            None,
        )
    }) {
        entries.extend(found);
        faults.extend(
            failed
                .into_iter()
                .filter(|fault| !faults.contains(fault))
                .collect::<Vec<_>>(),
        );
    }
    (new_manifest(registry, entries), faults)
}

/// Returns the roles of a project, and the tasks of its registry that no role plays.
pub(super) fn entry_subjects<'a>(
    registry: &'a Registry,
    how: &ManifestOptions<'a>,
) -> Vec<EntrySubject<'a>> {
    let roles = how
        .options
        .models
        .map(|models| models.roles.values())
        .into_iter()
        .flatten();
    let roles: Vec<EntrySubject<'_>> = roles.map(EntrySubject::Role).collect();
    let played: BTreeSet<&str> = roles.iter().map(EntrySubject::task).collect();
    let alone = registry
        .own_tasks()
        .map(Task::name)
        .filter(|name| !played.contains(name));
    roles
        .iter()
        .copied()
        .chain(alone.map(EntrySubject::Task))
        .collect()
}

/// The subject of entries of a manifest.
#[derive(Clone, Copy, Debug)]
pub(super) enum EntrySubject<'a> {
    /// A role, with its task.
    Role(&'a Role),
    /// A task that no role plays.
    Task(&'a str),
}

impl<'a> EntrySubject<'a> {
    fn task(&self) -> &'a str {
        match self {
            Self::Role(role) => &role.task.value,
            Self::Task(task) => task,
        }
    }

    pub(super) fn request(&self) -> Request<'a> {
        match self {
            Self::Role(role) => Request::of_role(role),
            Self::Task(task) => Request::new(task),
        }
    }
}

/// Returns the manifest of one task, or of one of its agents, with the values of the request.
///
/// # Errors
/// The task or node does not exist, or an agent cannot receive its context.
pub fn task_manifest(
    registry: &Registry,
    request: &Request<'_>,
    node: Option<&str>,
    how: &ManifestOptions<'_>,
) -> Result<Manifest, Vec<Fault>> {
    let missing = || {
        Fault::from(FaultKind::Dangling {
            name: request.task.to_owned(),
        })
    };
    let forest =
        TaskGraph::load(registry, request.task).and_then(|forest| forest.ok_or_else(missing));
    let forest = forest.map_err(|fault| vec![fault])?;
    let request = Request {
        files: how.files,
        ..*request
    };
    match agent_entries(&forest, &request, how, node) {
        (entries, faults) if faults.is_empty() => Ok(new_manifest(registry, entries)),
        (_, faults) => Err(faults),
    }
}

fn new_manifest(registry: &Registry, entries: Vec<Entry>) -> Manifest {
    Manifest {
        schema: MANIFEST_SCHEMA.to_owned(),
        registry_hash: registry.hash().to_string(),
        entries,
    }
}

/// Returns the entries of a task's agents, or of the one at a node, and the faults of those that
/// cannot receive their context.
fn agent_entries(
    forest: &TaskGraph<'_>,
    request: &Request<'_>,
    how: &ManifestOptions<'_>,
    node: Option<&str>,
) -> (Vec<Entry>, Vec<Fault>) {
    let nodes = match node {
        Some(node) => vec![node.to_owned()],
        None => match forest.agents(request.task) {
            Ok(found) => found.into_iter().map(|agent| agent.node).collect(),
            Err(fault) => return (Vec::new(), vec![fault]),
        },
    };
    let mut entries = Vec::new();
    let mut faults = Vec::new();
    let mut memos = DryMemos::default();
    for node in nodes {
        match build_entry(
            forest,
            &Request {
                node: &node,
                ..*request
            },
            how,
            &mut memos,
        ) {
            Ok(entry) => entries.push(entry),
            Err(found) => faults.extend(
                found
                    .into_iter()
                    .filter(|fault| !faults.contains(fault))
                    .collect::<Vec<_>>(),
            ),
        }
    }
    (entries, faults)
}

/// Returns the entry of one agent.
fn build_entry(
    forest: &TaskGraph<'_>,
    request: &Request<'_>,
    how: &ManifestOptions<'_>,
    memos: &mut DryMemos,
) -> Result<Entry, Vec<Fault>> {
    let ModelRoute {
        options,
        choice,
        sampling,
        ..
    } = role::route_model(forest, request, &how.options).map_err(|fault| vec![fault])?;
    let options = Options {
        counting: Counting::Always,
        ..options
    };
    let dry_run::DryRun {
        report,
        waiting,
        whole,
        untrusted_reserve,
    } = dry_run::compute_dry_run(forest, request, &options, memos)?;
    let chain = forest
        .find_chain(request.task, request.node)
        .map_err(|fault| vec![fault])?;
    let Report {
        segments,
        late,
        budget,
        tokenizer,
        is_exact,
        tokens: _,
        reused,
        prefix_tokens,
        nonce: _,
    } = report;
    let parts = segments
        .iter()
        .zip(waiting)
        .zip(whole)
        .map(|((account, waiting), whole)| {
            let may_lack = waiting.is_doubtful || waiting.condition.is_some();
            (build_part(forest, account, waiting), whole, may_lack)
        });
    let mut parts: Vec<_> = parts.collect();
    let mut total = bounds::bound_segments(&mut parts, budget, untrusted_reserve);
    let mut segments: Vec<Part> = parts.into_iter().map(|(part, ..)| part).collect();
    let open = open_defaults(&chain, request).map_err(|fault| vec![fault])?;
    let defaults = apply_defaults(&open, &mut segments);
    if !defaults.is_empty() || is_in_round(&chain) {
        let fixed = total.fixed;
        total.estimate = dry_run::expected_tokens(forest, request, &options, memos)
            .filter(|tokens| *tokens != fixed);
    }
    let role = request.role;
    let prefix_tokens = prefix_tokens.unwrap_or(0);
    let prices = choice.as_ref().and_then(|choice| choice.model.prices);
    let listed =
        |entries: &[Spanned<String>]| entries.iter().map(|entry| entry.value.clone()).collect();
    let tools = role.and_then(|role| role.tools.as_ref());
    Ok(Entry {
        role: role.map(|role| role.name.value.clone()),
        task: request.task.to_owned(),
        node: request.node.to_owned(),
        condition: call_condition(&chain),
        model: choice
            .as_ref()
            .map(|choice| choice.model.name.value.clone()),
        routing: choice.map(routing_of),
        sampling,
        profile: Cow::Borrowed(options.profile.word()),
        tokenizer: Tokenizer {
            name: tokenizer,
            exact: is_exact,
        },
        segments,
        late,
        defaults,
        checked: checked_names(&chain),
        settings: chain
            .last()
            .and_then(|link| link.node.settings.as_ref())
            .map(without_places),
        tool_policy: tools.map(|tools| ToolPolicy {
            allowed: listed(&tools.allowed),
            blocked: listed(&tools.blocked),
        }),
        protected_paths: role.map_or_else(Vec::new, |role| listed(&role.protected_paths)),
        budget: Budget {
            tokens: budget,
            usd: role.and_then(|role| role.budget.usd).map(|usd| usd.value),
        },
        cost: prices.map(|prices| call_cost(prices, &total, prefix_tokens)),
        prefix_segments: reused,
        prefix_tokens,
        total,
    })
}

/// Returns the defaults of parameters that a caller of an agent may override, by name.
fn open_defaults(
    chain: &[ChainLink<'_>],
    request: &Request<'_>,
) -> Result<BTreeMap<String, RegistryParameter>, Fault> {
    let mut found = BTreeMap::new();
    let mut declared: BTreeSet<String> = request.inputs.keys().cloned().collect();
    for (number, link) in chain
        .iter()
        .enumerate()
        .filter(|(_, link)| link.node.id == "/")
    {
        let before = number.checked_sub(1).and_then(|before| chain.get(before));
        let is_called = before.is_some_and(|before| before.node.element == "call");
        // A name bound around a reference takes precedence over one behind it.
        for parameter in link
            .tree
            .task
            .parameters()?
            .into_iter()
            .filter(|_| !is_called)
        {
            let is_open = declared.insert(parameter.name.clone()) && parameter.default.is_some();
            found.extend(is_open.then(|| (parameter.name.clone(), parameter)));
        }
    }
    Ok(found)
}

/// Returns the defaults that an agent's segments depend on because a caller may override them, and
/// adds them to the segments' hashes.
fn apply_defaults(
    open: &BTreeMap<String, RegistryParameter>,
    segments: &mut [Part],
) -> Vec<DefaultValue> {
    let waits: BTreeSet<String> = segments
        .iter()
        .flat_map(|part| part.variable.clone())
        .collect();
    if waits.is_empty() {
        return Vec::new();
    }
    let found = default_values(open);
    for part in segments.iter_mut().filter(|part| part.is_variable()) {
        for DefaultValue { name, value } in found
            .iter()
            .filter(|own| part.variable.contains(&own.name) || !waits.contains(&own.name))
        {
            let fields = [part.hash.as_bytes(), name.as_bytes(), value.as_bytes()];
            part.hash = fields
                .into_iter()
                .fold(&mut Hasher::new(), |hasher, field| hasher.add_field(field))
                .finish()
                .to_string();
        }
    }
    found
}

/// True if an agent is called once in each round, with values of which a manifest contains only
/// those of the first round.
fn is_in_round(chain: &[ChainLink<'_>]) -> bool {
    let mut slots = chain
        .iter()
        .filter_map(|link| Some(link.child?.slot.as_str()));
    slots.any(|slot| round_names::names_seen_by(slot).next().is_some())
}

/// Returns the defaults in the context of one agent that a caller may override, as its manifest
/// lists them; empty if it has no manifest.
pub fn defaults_of(
    registry: &Registry,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Vec<DefaultValue> {
    let found = || -> Option<Vec<DefaultValue>> {
        let forest = TaskGraph::load(registry, request.task).ok()??;
        let open = open_defaults(
            &forest.find_chain(request.task, request.node).ok()?,
            request,
        )
        .ok()?;
        if open.is_empty() {
            return None;
        }
        // Nothing is counted or cut.
        let options = Options {
            budget: None,
            counter: &ByteCounter,
            ..role::route_model(&forest, request, options).ok()?.options
        };
        let dry_run::DryRun { waiting, .. } =
            dry_run::compute_dry_run(&forest, request, &options, &mut DryMemos::default()).ok()?;
        waiting
            .iter()
            .any(|waiting| !waiting.unknown.is_empty())
            .then(|| default_values(&open))
    };
    found().unwrap_or_default()
}

/// Returns parameters as names with their defaults.
fn default_values(open: &BTreeMap<String, RegistryParameter>) -> Vec<DefaultValue> {
    let value = |(name, parameter): (&String, &RegistryParameter)| {
        parameter.default.clone().map(|value| DefaultValue {
            name: name.clone(),
            value,
        })
    };
    open.iter().filter_map(value).collect()
}

fn routing_of(choice: RoutedModel<'_>) -> Routing {
    let RoutedModel {
        model,
        reason,
        fallback,
    } = choice;
    Routing {
        reason,
        id: model.id.clone(),
        provider: model.provider.value.clone(),
        tier: model.tier.word().to_owned(),
        fallback: fallback
            .into_iter()
            .map(|model| model.name.value.clone())
            .collect(),
    }
}

fn call_cost(prices: Prices, total: &Total, prefix: usize) -> Cost {
    let of = |tokens: usize, cached: usize| prices.input_cost(tokens as u64, cached as u64);
    let expected = total.expected_tokens();
    Cost {
        first: of(expected, 0),
        again: of(expected, prefix),
        most: total.bound.map(|tokens| of(tokens, 0)),
    }
}

fn build_part(forest: &TaskGraph<'_>, account: &SegmentReport, waiting: WaitingFacts) -> Part {
    let (
        segment,
        WaitingFacts {
            unknown,
            condition,
            latent,
            is_doubtful: _,
        },
    ) = (&account.segment, waiting);
    // The marks of fences are excluded from the hash.
    let hash = |text: &TracedText| Hash::digest(replace_marks(text, "").as_bytes());
    let hash = if latent.is_empty() {
        hash(&segment.text)
    } else {
        Hasher::new()
            .add_field(hash(&segment.text).0)
            .add_field(hash(&latent).0)
            .finish()
    };
    // The heading of a segment that may be absent does not count as known.
    let tokens = if condition.is_some() {
        0
    } else {
        account.kept_tokens.unwrap_or(0)
    };
    Part {
        id: segment.id.clone(),
        kind: segment.kind,
        priority: segment.priority(),
        trust: segment.trust,
        position: account.position,
        stability: segment.stability,
        source: segment_sources(forest, [&segment.text, &latent]),
        condition: condition.map(str::to_owned),
        variable: unknown.into_iter().collect(),
        tokens,
        uncut: account
            .full_tokens
            .filter(|_| account.disposition != Disposition::Kept && condition.is_none()),
        least: 0,
        bound: None,
        hash: hash.to_string(),
    }
}

/// Returns the sources of a segment's text, each once, with the hash of its part of the text.
fn segment_sources(forest: &TaskGraph<'_>, texts: [&TracedText; 2]) -> Vec<Source> {
    let mut found: Vec<(Source, Hasher)> = Vec::new();
    for (text, stretch) in texts
        .into_iter()
        .flat_map(|text| text.stretches().iter().map(move |stretch| (text, stretch)))
    {
        let Some((kind, name)) = SourceKind::from_origin(&stretch.origin) else {
            continue;
        };
        let bytes = text
            .text()
            .as_bytes()
            .get(stretch.range.clone())
            .unwrap_or_default();
        if let Some((_, hasher)) = found
            .iter_mut()
            .find(|(source, _)| source.kind == kind && source.name == name)
        {
            hasher.add_field(bytes);
            continue;
        }
        let path = match kind {
            SourceKind::Template => forest.definition_path(name).map(str::to_owned),
            SourceKind::Fragment => forest
                .registry
                .fragment(name)
                .map(|fragment| fragment.source().path.clone()),
            SourceKind::File | SourceKind::Schema => Some(name.to_owned()),
            SourceKind::Input
            | SourceKind::Result
            | SourceKind::Parent
            | SourceKind::Match
            | SourceKind::History => None,
        };
        let mut hasher = Hasher::new();
        hasher.add_field(bytes);
        found.push((
            Source {
                kind,
                name: name.to_owned(),
                path,
                hash: String::new(),
            },
            hasher,
        ));
    }
    found
        .into_iter()
        .map(|(source, hasher)| Source {
            hash: hasher.finish().to_string(),
            ..source
        })
        .collect()
}

/// Returns the condition under which the agent at the end of a chain is called: the tests of the
/// choices on the way.
fn call_condition(chain: &[ChainLink<'_>]) -> Option<String> {
    let mut tests = Vec::new();
    for pair in chain.windows(2) {
        let [parent, link] = pair else { continue };
        let Some(child) = link.child.filter(|child| child.slot == "cases") else {
            continue;
        };
        let written = parent.node.body.tests.as_deref().unwrap_or_default();
        tests.extend(
            child
                .slot_number()
                .and_then(|number| written.get(number)?.as_deref())
                .map(str::to_owned),
        );
    }
    (!tests.is_empty()).then(|| tests.join(", and "))
}

/// Returns the settings without the positions of their origins, which change with every edit above
/// them.
fn without_places(settings: &SettingsData) -> SettingsData {
    let mut settings = settings.clone();
    let bare = |origin: &mut OriginData| origin.span = None;
    let SettingsData {
        inherit_context,
        accumulate_data,
        accumulation_format,
        fresh_context,
    } = &mut settings;
    for setting in [
        inherit_context,
        accumulate_data,
        accumulation_format,
        fresh_context,
    ] {
        bare(&mut setting.origin);
        setting
            .overridden
            .iter_mut()
            .for_each(|overridden| bare(&mut overridden.origin));
    }
    settings
}

/// Returns the inputs and arguments that the author marked as checked, of nodes on the way to an
/// agent, of calls that produce inputs there and of earlier steps, and the results of such steps.
pub(super) fn checked_names(chain: &[ChainLink<'_>]) -> Vec<String> {
    let mut found = checked_inputs(chain.iter().map(|link| link.node).collect());
    for (parent, link) in chain.iter().zip(chain.iter().skip(1)) {
        let Some(upto) = link
            .child
            .filter(|child| child.slot == "steps")
            .and_then(Child::slot_number)
        else {
            continue;
        };
        let before = parent
            .tree
            .checked_steps(parent.node, checked_step)
            .iter()
            .take_while(|(number, _)| *number < upto);
        found.extend(before.flat_map(|(_, names)| names.iter().cloned()));
    }
    found.into_iter().collect()
}

fn is_checked(trust: Option<Trust>) -> bool {
    trust == Some(Trust::Trusted)
}

/// Returns the checked names of a step that has run: the arguments of its call, and its result.
fn checked_step(step: &Child) -> BTreeSet<String> {
    let is_call = step.node.element == "call";
    let mut found = checked_inputs(is_call.then_some(&step.node).into_iter().collect());
    found.extend(
        is_checked(step.node.body.trust)
            .then(|| step.name.clone().unwrap_or_else(|| step.node.id.clone())),
    );
    found
}

/// Returns the checked inputs and arguments of nodes, and of the calls that produce them.
fn checked_inputs(mut open: Vec<&Node>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    while let Some(node) = open.pop() {
        for (number, input) in node
            .body
            .named_inputs(&node.element)
            .iter()
            .enumerate()
            .filter(|(_, input)| is_checked(input.trust))
        {
            found.insert(input.name.as_ref().map_or_else(
                || path_in_node(node, &format!("args/{number}")),
                ToString::to_string,
            ));
        }
        // Inputs and arguments come before all other children.
        let calls = node
            .children
            .iter()
            .take_while(|child| matches!(child.slot.as_str(), "inputs" | "args"));
        open.extend(
            calls
                .map(|child| &child.node)
                .filter(|node| node.element == "call"),
        );
    }
    found
}
