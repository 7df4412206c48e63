//! The comparison of the keys of the project file that affect a verdict.

use super::state::FILE;
use crate::base::span::Spanned;
use crate::eval::gate::{Safeguard, SafeguardKind, Safeguards};
use crate::project::config::{Config, ConfigFile};
use crate::project::flat_keys::{flatten_keys, parse_text_list};
use crate::project::required_version::permits_no_more;
use crate::project::roles::{RoleTools, matches_tool};
use std::collections::{BTreeMap, BTreeSet};

/// Keys and sections of the project file that need no comparison: their effect is covered by the
/// verdicts of both sides, or no verdict depends on them. The last ones are compared below. All
/// other keys affect a verdict, including keys of later releases.
const KEYS_COVERED_BY_VERDICTS: &str = "extends dependencies package project context defaults operators owners roles tools mcp providers history record fmt \
    models.*.provider models.*.id models.*.tier models.*.capabilities models.*.context_window models.*.output_reserve \
    models.*.temperature models.*.top_p models.*.seed models.*.effort models.*.stop models.*.tool_choice models.*.max_output_tokens \
    package.name package.version package.license package.files package.exports package.recordings \
    eval.runs eval.pass eval.gate.accepters eval.stability.accepters lints eval.scenarios templates.include";
/// The section of the projects of a repository.
const WORKSPACE: &str = "workspace";
/// The key of the versions of this program that may be used.
const VERSION_KEY: &str = "required-version";
/// Keys of roles that limit the files, tools and budget of their agents.
const ROLE_LIMITS: [&str; 4] = ["protected_paths", "tools", "blocked_tools", "budget"];
/// Defaults of keys, in the form of the project file.
const DEFAULT_VALUES: &str = "
edition = \"2026\"
limits = { depth = 256, attributes = 256, namespaces = 128, file = 10485760, text = 10000000, name = 1000, nodes = 1000000, diagnostics = 10000 }
[eval]
plan_path = \"$.subtasks\"
stale_after_days = 90
stale = \"error\"
gate = { manifest_tokens = 0.1, uncovered = \"warn\", link = [] }
drift = { token_inflation = 0.3, window = 5, latency_regression = 0.5, batches = 3 }
";

/// Compares two project files key by key, without the keys that verdicts cover.
pub(super) fn compare_config(
    base: &Config,
    current: &Config,
    before: &mut Safeguards,
    after: &mut Safeguards,
) {
    let (old, new) = (effective_values(base), effective_values(current));
    let keys: BTreeSet<&Vec<String>> = old
        .keys()
        .chain(new.keys())
        .filter(|key| !is_covered(key))
        .collect();
    for key in keys {
        // A model or role that only one side has is not a change.
        let is_compared = match (key.first().map(String::as_str), key.get(1)) {
            (Some("models"), Some(name)) => {
                base.models.contains_key(name) && current.models.contains_key(name)
            }
            (Some("roles"), Some(name)) => {
                base.roles.contains_key(name) && current.roles.contains_key(name)
            }
            (top, _) => top.is_some_and(|top| top != "models"),
        };
        let Some((last, of)) = key.split_last().filter(|_| is_compared) else {
            continue;
        };
        let is_required = of == ["require"];
        let texts = |value: Option<&String>| parse_text_list(value?);
        let lists = ListValues {
            before: texts(old.get(key)),
            now: texts(new.get(key)),
        };
        let versions = |value: Option<&String>| required_versions(value?);
        let permits_no_more = || match (versions(new.get(key)), versions(old.get(key))) {
            (Some(_), None) => true,
            (Some(new), Some(old)) => permits_no_more(&new, &old),
            (None, _) => false,
        };
        if is_required && !old.contains_key(key)
            || *last == VERSION_KEY && of.is_empty() && permits_no_more()
            || lists.is_tightened(key)
            || adds_no_tool(key, base, current)
        {
            continue;
        }
        let name = if of.is_empty() {
            format!("[{last}]")
        } else {
            format!("[{}] {last}", of.join("."))
        };
        for (values, side) in [(&old, &mut *before), (&new, &mut *after)] {
            let value = values.get(key).map_or("not set", String::as_str);
            let number = value.parse::<f64>().ok();
            let limit = match (&*name, &**last) {
                ("[eval.gate] tokens" | "[eval.gate] cost_usd", _) => {
                    Some(-number.unwrap_or(f64::MAX))
                }
                ("[eval.gate] pass_rate", _) => Some(number.unwrap_or(0.0)),
                ("[eval.gate] uncovered", _) => Some(match value {
                    "\"off\"" => 0.0,
                    "\"fail\"" => 2.0,
                    _ => 1.0,
                }),
                ("[eval] stale", _) => Some(f64::from(u8::from(value != "\"warn\""))),
                ("[eval.stability] reruns", _) => number,
                _ if of.last().is_some_and(|table| table == "budget") => {
                    Some(-number.unwrap_or(f64::MAX))
                }
                _ if of.last().is_some_and(|table| table == "usd_per_million") => {
                    // Without a price, cached input costs the same as other input; without any
                    // price, the cost is unknown.
                    let input = || {
                        values
                            .get(&[of, &["input".to_owned()]].concat())?
                            .parse()
                            .ok()
                    };
                    let fallback = if last == "cached_input" {
                        input()
                    } else {
                        None
                    };
                    number
                        .or(fallback)
                        .or(base.eval.gate.cost_usd.is_none().then_some(0.0))
                }
                // Fewer compared runs or printed findings are not stricter.
                (_, "window" | "diagnostics") => None,
                _ if ["eval", "limits"]
                    .iter()
                    .any(|top| of.first().is_some_and(|own| own == top)) =>
                {
                    number.map(|most| -most)
                }
                _ => None,
            };
            let kind = if is_required {
                SafeguardKind::Lint
            } else {
                SafeguardKind::Threshold
            };
            side.add(kind, &name, "value", Safeguard::new(FILE, value, limit));
        }
    }
    let may = |config: &Config| {
        config
            .eval
            .accepters()
            .map(str::to_owned)
            .collect::<BTreeSet<_>>()
    };
    let (may, may_now) = (may(base), may(current));
    // An empty list allows everyone to accept.
    if !may.is_empty() && (may_now.is_empty() || !may_now.is_subset(&may)) {
        for (may, side) in [(may, before), (may_now, after)] {
            side.add(
                SafeguardKind::Threshold,
                "[eval.gate] accepters",
                "value",
                Safeguard::new(FILE, format!("{may:?}"), None),
            );
        }
    }
}

/// Returns the text of a value of `required-version`.
fn required_versions(value: &str) -> Option<String> {
    parse_text_list(&format!("[{value}]"))?.pop()
}

/// Returns the values of a project file, with the defaults of omitted keys.
fn effective_values(config: &Config) -> BTreeMap<Vec<String>, String> {
    // In a shared file, which has lower priority, everything except levels is in lists.
    let files = config.files.iter().rev();
    let mut values: BTreeMap<_, _> = flatten_keys(DEFAULT_VALUES)
        .into_iter()
        .chain(files.flat_map(|file| project_keys(config, file)))
        .collect();
    let key = |key: [&str; 3]| key.map(str::to_owned).to_vec();
    let counters = config.models.iter().map(|(name, model)| {
        (
            key(["models", name, "tokenizer"]),
            model.tokenizer.to_owned(),
        )
    });
    values.extend(counters);
    values
}

/// Returns the keys of a project file or of a file that it extends. Of the file of a workspace, a
/// member has only the sections that it takes over, and the root only the others: its members are
/// compared folder by folder.
fn project_keys(config: &Config, file: &ConfigFile) -> BTreeMap<Vec<String>, String> {
    let mut keys = flatten_keys(&file.text);
    let is_of_workspace = |key: &Vec<String>| key.first().is_some_and(|top| top == WORKSPACE);
    if !keys.keys().any(is_of_workspace) {
        return keys;
    }
    if config.workspace.is_some() {
        keys.retain(|key, _| !is_of_workspace(key));
        return keys;
    }
    let taken_over = |(key, value): (Vec<String>, String)| {
        let (section, _) = key.get(1..)?.split_first()?;
        let is_taken = is_of_workspace(&key) && config.inherited.contains(&&**section);
        is_taken.then(|| (key.iter().skip(1).cloned().collect(), value))
    };
    keys.into_iter().filter_map(taken_over).collect()
}

/// The two values of a key that is a list of texts; `None` if it is not set or not a list.
struct ListValues {
    before: Option<Vec<String>>,
    now: Option<Vec<String>>,
}

impl ListValues {
    /// Returns true if the current list permits no more, or omits no more, than the earlier one.
    fn is_tightened(&self, key: &[String]) -> bool {
        let (before, now) = (
            self.before.as_deref().unwrap_or_default(),
            self.now.as_deref().unwrap_or_default(),
        );
        let key: Vec<&str> = key.iter().map(String::as_str).collect();
        match key.as_slice() {
            ["policy", "commands"] => {
                let is_within = |line: &String| before.iter().any(|old| line.starts_with(old));
                self.now.is_some() && (self.before.is_none() || now.iter().all(is_within))
            }
            ["policy", "blocked"] => before
                .iter()
                .all(|part| now.iter().any(|own| part.contains(own) && !own.is_empty())),
            ["policy", "env"]
            | ["eval", "gate", "link"]
            | ["templates", "exclude"]
            | ["requests", "volatile"] => now.iter().all(|part| before.contains(part)),
            ["roles", _, "protected_paths"] => before.iter().all(|part| now.contains(part)),
            _ => false,
        }
    }
}

/// Returns true if a changed key gives a role no further tool: `tools` adds none, or
/// `blocked_tools` still contains each that `tools` covers.
fn adds_no_tool(key: &[String], base: &Config, current: &Config) -> bool {
    let [top, name, last] = key else { return false };
    let Some((old, new)) = base
        .roles
        .get(name)
        .zip(current.roles.get(name))
        .filter(|_| top == "roles")
    else {
        return false;
    };
    let nothing = RoleTools::default();
    let (old, new) = (
        old.tools.as_ref().unwrap_or(&nothing),
        new.tools.as_ref().unwrap_or(&nothing),
    );
    let has = |all: &[Spanned<String>], entry: &str| {
        all.iter().any(|one| matches_tool(&one.value, entry))
    };
    let mut open = new
        .allowed
        .iter()
        .map(|entry| &*entry.value)
        .filter(|entry| !has(&new.blocked, entry));
    match &**last {
        "tools" => open.all(|entry| has(&old.allowed, entry)),
        "blocked_tools" => {
            // If two entries overlap, one covers the other, and the overlap is the narrower one.
            let common = |entry, blocked| {
                if matches_tool(entry, blocked) {
                    Some(blocked)
                } else {
                    matches_tool(blocked, entry).then_some(entry)
                }
            };
            let is_blocked = |entry| {
                old.blocked
                    .iter()
                    .filter_map(|one| common(entry, &*one.value))
                    .all(|one| has(&new.blocked, one))
            };
            open.all(is_blocked)
        }
        _ => false,
    }
}

fn is_covered(key: &[String]) -> bool {
    if let [top, _, own, ..] = key
        && top == "roles"
        && ROLE_LIMITS.contains(&&**own)
    {
        return false;
    }
    let is_of = |known: &str| {
        known
            .split('.')
            .enumerate()
            .all(|(at, name)| key.get(at).is_some_and(|own| name == "*" || own == name))
    };
    KEYS_COVERED_BY_VERDICTS.split_ascii_whitespace().any(is_of)
}
