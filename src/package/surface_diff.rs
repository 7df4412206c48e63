//! The changes between two surfaces of a package, by what they may break for others.

use super::surface::{AgentSurface, ExportSurface, InputSurface, Surface, trust_by_name};
use crate::base::words::words;
use crate::kernel::context::Trust;
use crate::project::lints::LintLevel;
use crate::project::roles::Tier;
use crate::scenario::expect::context::trust_word;
use crate::scenario::json_schema::containment::{SchemaGap, find_gap, find_output_breaks};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

words! {
    /// The part of a surface that a change is about.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum ChangeCategory {
        /// The schema of answers, or an export that is gone.
        Output = "OUTPUT",
        /// The inputs.
        Input = "INPUT",
        /// The tools that an agent may use.
        Tools = "TOOLS",
        /// Segments that are gone, or whose trust is another.
        Segments = "SEGMENTS",
        /// The tokens of a context.
        Tokens = "TOKENS",
        /// The prefix that a provider's cache can reuse.
        Cache = "CACHE",
        /// Everything else.
        Text = "TEXT",
    }
}

/// A change of an export.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct SurfaceChange {
    /// The part that changed.
    pub category: ChangeCategory,
    /// The export: `tasks/triage`.
    pub export: String,
    /// The change in words.
    pub what: String,
    /// True if it may break a user of the export.
    pub is_breaking: bool,
}

impl SurfaceChange {
    /// The distance from the reason why a contract is broken: 0 for that very change, 1 for one of
    /// the same part, 2 for others.
    pub fn distance_from(&self, reason: &str) -> u8 {
        let mut parts = self.what.splitn(3, '`').skip(1);
        let (Some(name), Some(change)) = (parts.next(), parts.next()) else {
            return 2;
        };
        if reason.contains(&format!("$.{name}{change}")) {
            0
        } else if reason.contains(&format!("$.{name}: ")) || reason.contains(&format!("`{name}`")) {
            1
        } else {
            2
        }
    }

    /// True if the change fails no contract that held before.
    pub const fn is_harmless(&self) -> bool {
        // A new tool or segment, and a few more tokens, can be just what a contract rules out.
        !self.is_breaking
            && !matches!(
                self.category,
                ChangeCategory::Tools | ChangeCategory::Segments | ChangeCategory::Tokens
            )
    }
}

/// Growth of tokens above this share breaks.
const TOKEN_TOLERANCE: f64 = 0.1;

/// Returns the changes from one surface to another, sorted.
pub fn compare_surfaces(old: &Surface, new: &Surface) -> Vec<SurfaceChange> {
    let mut changes = Vec::new();
    for (export, then) in old {
        let mut list = ChangeList {
            export,
            changes: &mut changes,
        };
        match new.get(export) {
            Some(now) => compare_exports(then, now, &mut list),
            None => list.add_break(ChangeCategory::Output, "it is not exported any more"),
        }
    }
    for export in new.keys().filter(|export| !old.contains_key(*export)) {
        let mut list = ChangeList {
            export,
            changes: &mut changes,
        };
        list.add(ChangeCategory::Text, "it is new");
    }
    changes.sort();
    changes
}

/// The changes of one export.
struct ChangeList<'c> {
    export: &'c str,
    changes: &'c mut Vec<SurfaceChange>,
}

impl ChangeList<'_> {
    fn add(&mut self, category: ChangeCategory, what: impl Into<String>) {
        self.changes.push(SurfaceChange {
            category,
            export: self.export.to_owned(),
            what: what.into(),
            is_breaking: false,
        });
    }

    fn add_break(&mut self, category: ChangeCategory, what: impl Into<String>) {
        self.add(category, what);
        if let Some(last) = self.changes.last_mut() {
            last.is_breaking = true;
        }
    }

    /// Adds a change of what users have to observe: a break if that is more than before.
    fn add_rule(&mut self, what: String, is_more: bool) {
        if is_more {
            self.add_break(ChangeCategory::Input, what);
        } else {
            self.add(ChangeCategory::Text, what);
        }
    }

    /// Adds a text or value of another trust.
    fn add_trust(&mut self, what: &str, trust: Trust) {
        let word = trust_word(trust.is_trusted());
        self.add_break(ChangeCategory::Segments, format!("{what} is {word} now"));
    }
}

fn compare_exports(then: &ExportSurface, now: &ExportSurface, list: &mut ChangeList<'_>) {
    if then.text != now.text {
        list.add(ChangeCategory::Text, "its text is another");
    }
    if then.trust != now.trust {
        list.add_trust("its text", now.trust);
    }
    for name in now.variables.difference(&then.variables) {
        let what = format!("its variable `{name}` is new");
        list.add_break(ChangeCategory::Input, what);
    }
    compare_rules(then, now, list);
    compare_requests(then, now, list);
    if let (Some(then), Some(now)) = (&then.arguments, &now.arguments) {
        compare_arguments(then, now, list);
    }
    for (name, input) in &then.inputs {
        match now.inputs.get(name) {
            Some(new) => compare_inputs(name, [input, new], list),
            None => list.add_break(ChangeCategory::Input, format!("`{name}` is gone")),
        }
    }
    let inputs = now.inputs.iter();
    for (name, input) in inputs.filter(|(name, _)| !then.inputs.contains_key(*name)) {
        if input.required {
            let what = format!("`{name}` is new and required");
            list.add_break(ChangeCategory::Input, what);
        } else {
            list.add(ChangeCategory::Input, format!("`{name}` is new"));
        }
    }
    for agent in &then.agents {
        match now.agents.iter().find(|new| new.node == agent.node) {
            Some(new) => compare_agents(agent, new, list),
            None => list.add_break(
                ChangeCategory::Output,
                format!("its agent {} is gone", agent.node),
            ),
        }
    }
    let has = |node: &str| then.agents.iter().any(|agent| agent.node == node);
    for agent in now.agents.iter().filter(|agent| !has(&agent.node)) {
        // A contract without `node` is about the only agent.
        list.add_break(
            ChangeCategory::Output,
            format!("its agent {} is new", agent.node),
        );
    }
}

/// Compares the rules that users extend: what was fine for a stricter level may be none any more.
fn compare_rules(then: &ExportSurface, now: &ExportSurface, list: &mut ChangeList<'_>) {
    let names: BTreeSet<&String> = then.lints.keys().chain(now.lints.keys()).collect();
    for name in names {
        let [old, new] = [then, now].map(|rules| rules.lints.get(name));
        if old == new {
            continue;
        }
        let level = |level: Option<&String>| level.and_then(|word| LintLevel::parse(word));
        // Users may set a lint lower only where the rules set none.
        let is_stricter = match (level(old), level(new)) {
            (Some(old), Some(new)) => new.strictness() > old.strictness(),
            (None, Some(new)) => new != LintLevel::Off,
            (Some(old), None) => old == LintLevel::Off,
            (None, None) => false,
        };
        let [old, new] = [old, new].map(|level| level.map_or("unset", String::as_str));
        list.add_rule(
            format!("the lint `{name}` is {new}, was {old}"),
            is_stricter,
        );
    }
    for (condition, level) in &now.requirements {
        let strictness = |word| LintLevel::parse(word).map_or(0, LintLevel::strictness);
        match then.requirements.get(condition) {
            Some(old) if old == level => {}
            Some(old) => {
                let what = format!("the requirement `{condition}` is {level}, was {old}");
                list.add_rule(what, strictness(level) > strictness(old));
            }
            None => list.add_rule(format!("the requirement `{condition}` is new"), true),
        }
    }
    for condition in then.requirements.keys() {
        if !now.requirements.contains_key(condition) {
            list.add_rule(format!("the requirement `{condition}` is gone"), false);
        }
    }
}

/// Compares the requests of a role to the project that uses it.
fn compare_requests(then: &ExportSurface, now: &ExportSurface, list: &mut ChangeList<'_>) {
    let keys: BTreeSet<&String> = then.requests.keys().chain(now.requests.keys()).collect();
    for key in keys {
        let [old, new] = [then, now].map(|role| role.requests.get(key));
        if old == new {
            continue;
        }
        let entries = |value: Option<&Value>| -> Vec<Value> {
            let all = value.and_then(Value::as_array);
            all.cloned().unwrap_or_default()
        };
        let known = entries(old);
        let asks_more = match key.as_str() {
            "order" => false,
            "tier" => {
                let tier = |value: Option<&Value>| value?.as_str().and_then(Tier::parse);
                tier(new) > tier(old)
            }
            "usd" => {
                let usd =
                    |value: Option<&Value>| value.and_then(Value::as_f64).unwrap_or(f64::INFINITY);
                usd(new) < usd(old)
            }
            _ => entries(new).iter().any(|entry| !known.contains(entry)),
        };
        let [old, new] = [old, new].map(|value| value.map_or("unset".to_owned(), Value::to_string));
        list.add_rule(format!("its `{key}` is {new}, was {old}"), asks_more);
    }
}

/// Compares two versions of an input.
fn compare_inputs(name: &str, [then, now]: [&InputSurface; 2], list: &mut ChangeList<'_>) {
    if then.trust != now.trust {
        list.add_trust(&format!("`{name}`"), now.trust);
    }
    if then.kind != now.kind {
        let [then, now] = [then, now].map(|input| input.kind.as_deref().unwrap_or("any"));
        let what = format!("`{name}` is of type {now}, was {then}");
        list.add_break(ChangeCategory::Input, what);
    } else if now.required && !then.required {
        list.add_break(ChangeCategory::Input, format!("`{name}` is required now"));
    } else if then.required != now.required {
        let what = format!("`{name}` is not required any more");
        list.add(ChangeCategory::Input, what);
    }
}

/// Compares the schemas of the arguments of a tool.
fn compare_arguments(then: &Value, now: &Value, list: &mut ChangeList<'_>) {
    let before = list.changes.len();
    let required = |schema: &Value| -> BTreeSet<String> {
        let names = schema.get("required").and_then(Value::as_array);
        let names = names.into_iter().flatten().filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    };
    let empty = Map::new();
    let properties = |schema| Value::get(schema, "properties").and_then(Value::as_object);
    let [old, new] = [then, now].map(|schema| properties(schema).unwrap_or(&empty));
    for (name, schema) in old {
        match new.get(name) {
            None => list.add_break(ChangeCategory::Tools, format!("`{name}` is gone")),
            Some(new) => compare_argument(name, [schema, new], list),
        }
    }
    for name in new.keys().filter(|name| !old.contains_key(*name)) {
        list.add(ChangeCategory::Tools, format!("`{name}` is new"));
    }
    for name in required(now).difference(&required(then)) {
        list.add_break(ChangeCategory::Tools, format!("`{name}` is required now"));
    }
    for name in required(then).difference(&required(now)) {
        list.add(
            ChangeCategory::Tools,
            format!("`{name}` is not required any more"),
        );
    }
    if list.changes.len() == before {
        compare_argument("arguments", [then, now], list);
    }
}

/// Compares the old and the new schema of one argument.
fn compare_argument(name: &str, [then, now]: [&Value; 2], list: &mut ChangeList<'_>) {
    if let Some(gap) = find_gap(then, now) {
        let place = gap.path.replacen('$', name, 1);
        list.add_break(
            ChangeCategory::Tools,
            format!("`{place}` takes less: {}", gap.reason),
        );
    } else if find_gap(now, then).is_some() {
        list.add(ChangeCategory::Tools, format!("`{name}` takes more"));
    }
}

fn compare_agents(then: &AgentSurface, now: &AgentSurface, list: &mut ChangeList<'_>) {
    let before = list.changes.len();
    let node = if then.node == "/" {
        String::new()
    } else {
        format!(" of {}", then.node)
    };
    if then.name != now.name {
        list.add_break(
            ChangeCategory::Output,
            format!("the result{node} has another name"),
        );
    }
    match (&then.output, &now.output) {
        (Some(old), Some(new)) => {
            let breaks = find_output_breaks(old, new);
            for SchemaGap { path, reason } in &breaks {
                let place = path.trim_start_matches("$.");
                list.add_break(ChangeCategory::Output, format!("`{place}`{node}: {reason}"));
            }
            if breaks.is_empty() && old != new {
                list.add(
                    ChangeCategory::Output,
                    format!("the schema{node} says more"),
                );
            }
        }
        (Some(_), None) => {
            list.add_break(
                ChangeCategory::Output,
                format!("the answer{node} has no schema any more"),
            );
        }
        (None, Some(_)) => {
            list.add_break(
                ChangeCategory::Output,
                format!("the answer{node} is JSON now"),
            );
        }
        (None, None) => {}
    }
    let tools = |agent: &AgentSurface| -> BTreeSet<String> {
        let tools = agent.tools.iter();
        let entries = tools.flat_map(|tools| {
            let blocked = tools.blocked.iter().map(|tool| format!("!{tool}"));
            tools.allowed.iter().cloned().chain(blocked)
        });
        entries.collect()
    };
    let (old, new) = (tools(then), tools(now));
    for tool in old.difference(&new) {
        let what = format!("`{tool}`{node} is gone");
        match tool.strip_prefix('!') {
            Some(_) => list.add(ChangeCategory::Tools, what),
            None => list.add_break(ChangeCategory::Tools, what),
        }
    }
    for tool in new.difference(&old) {
        let what = format!("`{tool}`{node} is new");
        match tool.strip_prefix('!') {
            Some(_) => list.add_break(ChangeCategory::Tools, what),
            None => list.add(ChangeCategory::Tools, what),
        }
    }
    for path in now.protected_paths.difference(&then.protected_paths) {
        let what = format!("the path `{path}`{node} is protected now");
        list.add_break(ChangeCategory::Tools, what);
    }
    for path in then.protected_paths.difference(&now.protected_paths) {
        let what = format!("the path `{path}`{node} is not protected any more");
        list.add(ChangeCategory::Tools, what);
    }
    if then.model != now.model {
        let [old, new] = [then, now].map(|agent| agent.model.as_deref().unwrap_or("open"));
        let what = format!("the model{node} is {new}, was {old}");
        // Its users need a model that a task names among their own; a role has its requests.
        let is_named = list.export.starts_with("tasks/") && now.model.is_some();
        list.add_rule(what, is_named);
    }
    let names: BTreeSet<&String> = then.sampling.keys().chain(now.sampling.keys()).collect();
    for name in names {
        let [old, new] = [then, now].map(|agent| agent.sampling.get(name));
        if old != new {
            let [old, new] =
                [old, new].map(|value| value.map_or("unset".to_owned(), Value::to_string));
            list.add(
                ChangeCategory::Text,
                format!("`{name}`{node} is {new}, was {old}"),
            );
        }
    }
    for (id, segment) in &then.segments {
        match now.segments.get(id) {
            None => list.add_break(ChangeCategory::Segments, format!("`{id}`{node} is gone")),
            Some(new) if new.trust != segment.trust => {
                list.add_trust(&format!("`{id}`{node}"), new.trust);
            }
            Some(new) => {
                if new.hash != segment.hash {
                    let what = format!("`{id}`{node} has another text");
                    list.add(ChangeCategory::Text, what);
                }
                for name in segment.untrusted.symmetric_difference(&new.untrusted) {
                    let trust = trust_by_name(&new.untrusted, name);
                    list.add_trust(&format!("the fragment `{name}` in `{id}`{node}"), trust);
                }
            }
        }
    }
    for id in now
        .segments
        .keys()
        .filter(|id| !then.segments.contains_key(*id))
    {
        list.add(ChangeCategory::Segments, format!("`{id}`{node} is new"));
    }
    compare_tokens(then, now, list);
    if then.prefix != now.prefix {
        list.add(
            ChangeCategory::Cache,
            format!("the reusable prefix{node} is another"),
        );
    }
    if list.changes.len() == before && then != now {
        list.add(ChangeCategory::Text, format!("the text{node} is another"));
    }
}

fn compare_tokens(then: &AgentSurface, now: &AgentSurface, list: &mut ChangeList<'_>) {
    let limits = [
        ("fewest", Some(then.least_tokens), Some(now.least_tokens)),
        ("most", then.most_tokens, now.most_tokens),
    ];
    for (word, then, now) in limits {
        match (then, now) {
            (Some(then), Some(now)) if now > then => {
                let what = format!("the {word} tokens are {now}, were {then}");
                #[allow(clippy::cast_precision_loss, reason = "counts of tokens are small")]
                let is_much = now as f64 > then as f64 * (1.0 + TOKEN_TOLERANCE);
                if is_much {
                    list.add_break(ChangeCategory::Tokens, what);
                } else {
                    list.add(ChangeCategory::Tokens, what);
                }
            }
            (Some(then), None) => {
                list.add_break(
                    ChangeCategory::Tokens,
                    format!("the tokens have no upper bound, were at most {then}"),
                );
            }
            _ => {}
        }
    }
}
