//! The exports of a package, as others see them: the surface that contracts are held to and that a
//! comparison of two versions goes by.

use crate::base::hash::{Hash, Hasher};
use crate::base::span::Spanned;
use crate::context::TaskGraph;
use crate::context::answer_format::AnswerForm;
use crate::context::fault::{Fault, FaultKind};
use crate::context::manifest::{
    Entry, ManifestOptions, Part, SourceKind, ToolPolicy, task_manifest,
};
use crate::context::render::call::answer_form;
use crate::context::request::Request;
use crate::jinja::parse::analyze;
use crate::kernel::context::Trust;
use crate::project::roles::{ModelChoice, Role};
use crate::registry::body::TextPart;
use crate::registry::{Fragment, Registry, RegistryParameter};
use crate::template::expression::{Expression, ScanItem, scan_plain};
use crate::template::keywords::{self, TextSyntax};
use crate::template::trust::spread_marks;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The exports of a package by kind and name: `tasks/triage`, `roles/planner`.
pub type Surface = BTreeMap<String, ExportSurface>;

/// One export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportSurface {
    /// The inputs of a task, or of the task of a role.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, InputSurface>,
    /// The agents that it calls, in the order of its nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentSurface>,
    /// The hash of its text, if it is no task or role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The variables of a fragment, which its users have to give.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub variables: BTreeSet<String>,
    /// The levels of the lints that the rules set, by the names of the lints.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lints: BTreeMap<String, String>,
    /// The conditions of the rules on tasks, each with its level.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub requirements: BTreeMap<String, String>,
    /// The requests of a role to the project that uses it: models, tier, capabilities, the maximum of
    /// US$ and the order of segments.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub requests: BTreeMap<String, Value>,
    /// The JSON Schema of the arguments of a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// `untrusted` for a fragment that is fenced in every text; absent for all others.
    #[serde(default, skip_serializing_if = "Trust::is_trusted")]
    pub trust: Trust,
}

/// An input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InputSurface {
    /// The type of its value; null if none is declared.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// True if a run without a value fails.
    pub required: bool,
    /// `untrusted` for a value from outside; absent for a trusted one.
    #[serde(default, skip_serializing_if = "Trust::is_trusted")]
    pub trust: Trust,
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentSurface {
    /// Its path in the task.
    pub node: String,
    /// The name of its result, if it has one.
    pub name: Option<String>,
    /// The JSON Schema of its answer, without constraints if any JSON will do; null for a text.
    pub output: Option<Value>,
    /// Its segments by their ids.
    pub segments: BTreeMap<String, SegmentSurface>,
    /// The tools that it may use; null if no role declares them.
    pub tools: Option<ToolPolicy>,
    /// Patterns of paths that its tools may not touch.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub protected_paths: BTreeSet<String>,
    /// Its model, by the package's own name; null if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The sampling parameters of the model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sampling: BTreeMap<String, Value>,
    /// The fewest tokens of its context in any run.
    pub least_tokens: usize,
    /// The most tokens of its context in any run; null if there is no upper bound.
    pub most_tokens: Option<usize>,
    /// The hash of the prefix that a provider's cache can reuse from call to call.
    pub prefix: String,
}

/// A segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SegmentSurface {
    /// `untrusted` for text that is fenced and gives no orders.
    pub trust: Trust,
    /// The hash of its known text.
    pub hash: String,
    /// The fragments in it that are untrusted.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub untrusted: BTreeSet<String>,
}

impl ExportSurface {
    /// The surface of an export that is only a text or a definition.
    pub fn from_text(text: &str) -> Self {
        Self {
            text: Some(Hash::digest(text.as_bytes()).to_string()),
            ..Self::default()
        }
    }
}

impl AgentSurface {
    /// The surface of an agent, without the name of its result.
    fn new(entry: Entry, answer: AnswerForm, registry: &Registry) -> Self {
        let mut prefix = Hasher::new();
        let parts = entry.segments_in_order();
        for part in parts.into_iter().take(entry.prefix_segments) {
            prefix.add_field(&part.hash);
        }
        let output = match answer {
            AnswerForm::Free => None,
            AnswerForm::Json => Some(json!({})),
            AnswerForm::Schema(schema) => Some(schema),
        };
        let segment = |part: Part| {
            let sources = part.source.into_iter();
            let fragments = sources.filter(|own| own.kind == SourceKind::Fragment);
            let found = SegmentSurface {
                trust: part.trust,
                hash: part.hash,
                untrusted: fragments
                    .map(|own| own.name)
                    .filter(|name| !fragment_trust(registry, name).is_trusted())
                    .collect(),
            };
            (part.id, found)
        };
        Self {
            node: entry.node,
            name: None,
            output,
            tools: entry.tool_policy,
            protected_paths: entry.protected_paths.into_iter().collect(),
            model: entry.model,
            sampling: (entry.sampling.into_iter())
                .map(|one| (one.name.word().to_owned(), one.value))
                .collect(),
            least_tokens: entry.total.least,
            most_tokens: entry.total.bound,
            prefix: prefix.finish().to_string(),
            segments: entry.segments.into_iter().map(segment).collect(),
        }
    }
}

/// Returns the surface of exported tasks, roles and fragments. Other exports are left to the caller.
///
/// # Errors
/// An export does not exist, or one of its agents cannot receive its context.
pub fn read_surface(
    registry: &Registry,
    roles: &BTreeMap<String, Role>,
    exports: &[String],
    how: &ManifestOptions<'_>,
) -> Result<Surface, Vec<Fault>> {
    let mut surface = Surface::new();
    for export in exports {
        let missing = || {
            let name = export.clone();
            vec![Fault::from(FaultKind::Dangling { name })]
        };
        let found = match export.split_once('/') {
            Some(("tasks", name)) => read_export(registry, &Request::new(name), how)?,
            Some(("roles", name)) => {
                let role = roles.get(name).ok_or_else(missing)?;
                ExportSurface {
                    requests: role_requests(role),
                    ..read_export(registry, &Request::of_role(role), how)?
                }
            }
            Some(("fragments", name)) => {
                let fragment = registry.fragment(name).ok_or_else(missing)?;
                fragment_surface(registry, fragment)
            }
            _ => continue,
        };
        surface.insert(export.clone(), found);
    }
    Ok(surface)
}

/// The trust of a fragment's own text.
fn fragment_trust(registry: &Registry, name: &str) -> Trust {
    let found = registry.fragment(name);
    match found.and_then(|found| registry.fragment_text(found).ok()) {
        Some(text) if text.trust == keywords::Trust::Untrusted => Trust::Untrusted,
        _ => Trust::Trusted,
    }
}

/// The surface of a fragment with those that it uses.
fn fragment_surface(registry: &Registry, fragment: &Fragment) -> ExportSurface {
    let mut found = ExportSurface {
        text: Some(fragment.hash().to_string()),
        ..ExportSurface::default()
    };
    let mut open = vec![fragment.name().to_owned()];
    let mut read = BTreeSet::new();
    while let Some(name) = open.pop() {
        let fragment = registry.fragment(&name);
        let text = fragment.and_then(|own| registry.fragment_text(own).ok());
        let Some(text) = text.filter(|_| read.insert(name)) else {
            continue;
        };
        if text.trust == keywords::Trust::Untrusted {
            found.trust = Trust::Untrusted;
        }
        open.extend(text.used_fragments().map(str::to_owned));
        let parts = text.parts().iter().map(|part| match part {
            TextPart::Text { text } => &**text,
            TextPart::Use { .. } => "",
        });
        // A block of Jinja may begin in one part and end in another.
        let whole: String = text.text.as_deref().into_iter().chain(parts).collect();
        match text.syntax {
            _ if text.verbatim => {}
            TextSyntax::Jinja => found.variables.extend(analyze(&whole).variables),
            TextSyntax::Plain => {
                let names = scan_plain(&whole, 0).filter_map(root_name);
                found.variables.extend(names);
            }
        }
    }
    found
}

/// The requests of a role to the project that uses it.
fn role_requests(role: &Role) -> BTreeMap<String, Value> {
    let texts =
        |all: &[Spanned<String>]| -> Value { all.iter().map(|one| one.value.clone()).collect() };
    let mut found = BTreeMap::new();
    match &role.model {
        ModelChoice::Named(names) => drop(found.insert("model", texts(names))),
        ModelChoice::Cheapest { tier, capabilities } => {
            let tier = tier.as_ref().map(|tier| tier.value.word());
            found.extend(tier.map(|tier| ("tier", Value::from(tier))));
            found.insert("capabilities", texts(capabilities));
        }
        ModelChoice::Open => {}
    }
    let usd = role.budget.usd.as_ref().map(|usd| Value::from(usd.value));
    found.extend(usd.map(|usd| ("usd", usd)));
    let order: Vec<&str> = role.order.iter().map(|kind| kind.value).collect();
    found.insert("order", order.into());
    let is_set = |value: &Value| value.as_array().is_none_or(|all| !all.is_empty());
    let found = found.into_iter().filter(|(_, value)| is_set(value));
    found.map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The variable that an expression reads.
fn root_name(piece: ScanItem<'_>) -> Option<String> {
    match piece {
        ScanItem::Expression(Spanned {
            value: Expression::Path(path),
            ..
        }) => Some(path.root.value.into_owned()),
        ScanItem::Expression(_) | ScanItem::Text(_) | ScanItem::Escaped(_) | ScanItem::Fault(_) => {
            None
        }
    }
}

/// The trust of a value or text, by the names of those that are untrusted.
pub(super) fn trust_by_name(untrusted: &BTreeSet<String>, name: &str) -> Trust {
    if untrusted.contains(name) {
        Trust::Untrusted
    } else {
        Trust::Trusted
    }
}

fn read_export(
    registry: &Registry,
    request: &Request<'_>,
    how: &ManifestOptions<'_>,
) -> Result<ExportSurface, Vec<Fault>> {
    let missing = || {
        let name = request.task.to_owned();
        vec![Fault::from(FaultKind::Dangling { name })]
    };
    let one = |fault| vec![fault];
    let task = registry.find(request.task).ok_or_else(missing)?;
    let parameters = task.parameters().map_err(|_| missing())?;
    let graph = TaskGraph::load(registry, request.task).map_err(one)?;
    let graph = graph.ok_or_else(missing)?;
    let names = graph.agents(request.task).map_err(one)?;
    let mut agents = Vec::new();
    for entry in task_manifest(registry, request, None, how)?.entries {
        let node = entry.node.clone();
        let name = names.iter().find(|agent| agent.node == node);
        let request = Request {
            node: &node,
            files: how.files,
            ..*request
        };
        let answer = answer_form(&graph, &request).map_err(one)?;
        let name = name.and_then(|agent| agent.name.clone());
        agents.push(AgentSurface {
            name,
            ..AgentSurface::new(entry, answer, registry)
        });
    }
    let values = task.trust().map_err(|_| missing())?;
    let marks = spread_marks(&values, |_| false);
    let marked = values.iter().zip(marks).filter(|(_, mark)| mark.is_some());
    let untrusted: BTreeSet<String> = marked
        .filter_map(|(value, _)| Some(value.at.strip_prefix("/parameters/")?.to_owned()))
        .collect();
    let input = |found: RegistryParameter| {
        let input = InputSurface {
            required: found.required && found.default.is_none(),
            kind: found.kind,
            trust: trust_by_name(&untrusted, &found.name),
        };
        (found.name, input)
    };
    Ok(ExportSurface {
        inputs: parameters.into_iter().map(input).collect(),
        agents,
        ..ExportSurface::default()
    })
}
