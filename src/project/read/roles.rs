//! `[roles.NAME]`. What a role names elsewhere (its model, its prompt's file) is looked at once everything is read.

use super::value::{Key, Sink, Value, either, needs, rows, set, span, table, text, word};
use crate::base::span::{Span, Spanned};
use crate::base::suggest::nearest;
use crate::project::fault::FaultKind;
use crate::project::glob::Globs;
use crate::project::keys;
use crate::project::roles::{Budget, KINDS, ModelChoice, PROFILES, Role, SystemPrompt, Tier, Tools, covers};
use std::collections::BTreeMap;
use toml::de::DeValue;

pub(super) fn roles(sink: &mut Sink, value: &Value<'_>) -> BTreeMap<String, Role> {
    let mut out = BTreeMap::new();
    for (key, value) in table(sink, "roles", value).into_iter().flatten() {
        if let Some(name) = named(sink, "roles", key)
            && let Some(role) = role(sink, name, value)
        {
            out.insert(role.name.value.clone(), role);
        }
    }
    out
}

/// The name of a role, model or provider: any that can be written on one line.
pub(super) fn named(sink: &mut Sink, section: &str, key: &Key<'_>) -> Option<Spanned<String>> {
    let (name, at) = (key.get_ref().as_ref(), span(&key.span()));
    if !name.trim().is_empty() && !name.chars().any(char::is_control) {
        return Some(Spanned::new(name.to_owned(), at));
    }
    let expected = "a name of at least one character, on one line".to_owned();
    sink.report(
        at,
        FaultKind::BadValue { key: section.to_owned(), found: name.escape_debug().to_string(), expected, near: None },
    );
    None
}

fn role(sink: &mut Sink, name: Spanned<String>, value: &Value<'_>) -> Option<Role> {
    let path = format!("roles.{}", name.value);
    let own = table(sink, &path, value)?;
    let mut role = silent(name);
    let (mut models, mut least) = (None, Least::default());
    for (key, value) in own {
        let inner = key.get_ref().as_ref();
        let full = format!("{path}.{inner}");
        match inner {
            "template" => {
                if let Some(task) = text(sink, &full, value) {
                    role.task = task.map(str::to_owned);
                }
            }
            "description" => role.description = text(sink, &full, value).map(|text| text.value.to_owned()),
            "system" => role.system = system(sink, &full, value),
            "tools" => role.tools.get_or_insert_default().allowed = set(sink, &full, value),
            "blocked_tools" => role.tools.get_or_insert_default().blocked = set(sink, &full, value),
            "protected_paths" => {
                role.protected_paths = set(sink, &full, value);
                role.protected = patterns(sink, &mut role.protected_paths);
            }
            "budget" => rows(sink, &full, value, &keys::BUDGET_ROWS, &mut role.budget),
            "model" => models = Some(set(sink, &full, value)),
            "tier" => {
                least.tier = tier(sink, &full, value);
                least.keys.push(("tier", span(&key.span())));
            }
            "capabilities" => {
                least.capabilities = set(sink, &full, value);
                least.keys.push(("capabilities", span(&key.span())));
            }
            "profile" => role.profile = profile(sink, &full, value),
            "order" => role.order = order(sink, &full, value),
            // The word of the language for what a role plays, which this table calls by its file's.
            "task" => {
                let (table, near) = (path.clone(), Some("template".to_owned()));
                let kind = FaultKind::UnknownKey { table, key: "task".to_owned(), near, valid: keys::ROLE.names() };
                sink.report(span(&key.span()), kind);
            }
            _ => sink.unknown_key(&path, key, &keys::ROLE.names()),
        }
    }
    role.model = least.choice(sink, &role.name.value, models);
    if let Some(tools) = &role.tools {
        blocked(sink, &role.name.value, tools);
    }
    Some(role)
}

/// A role that says nothing: it plays the task of its name.
fn silent(name: Spanned<String>) -> Role {
    Role {
        task: name.clone(),
        name,
        description: None,
        system: None,
        tools: None,
        protected_paths: Vec::new(),
        protected: Globs::default(),
        budget: Budget::default(),
        model: ModelChoice::Open,
        profile: None,
        order: Vec::new(),
    }
}

/// What a model has to be, with the places of the keys that say so.
#[derive(Default)]
struct Least {
    tier: Option<Spanned<Tier>>,
    capabilities: Vec<Spanned<String>>,
    keys: Vec<(&'static str, Span)>,
}

impl Least {
    fn choice(self, sink: &mut Sink, role: &str, models: Option<Vec<Spanned<String>>>) -> ModelChoice {
        let Self { tier, capabilities, keys } = self;
        if let Some(models) = models {
            for (key, at) in keys {
                sink.report(at, FaultKind::TwoModels { role: role.to_owned(), key });
            }
            return if models.is_empty() { ModelChoice::Open } else { ModelChoice::Named(models) };
        }
        if tier.is_none() && capabilities.is_empty() {
            return ModelChoice::Open;
        }
        ModelChoice::Least { tier, capabilities }
    }
}

/// `"You are …"`, or `{ file = "prompts/planner.md" }`, which is read later.
fn system(sink: &mut Sink, path: &str, value: &Value<'_>) -> Option<SystemPrompt> {
    let at = span(&value.span());
    if let DeValue::String(text) = value.get_ref() {
        if text.trim().is_empty() {
            let expected = "a text, or `{ file = \"…\" }`".to_owned();
            let kind = FaultKind::BadValue { key: path.to_owned(), found: text.as_ref().to_owned(), expected, near: None };
            sink.report(at, kind);
            return None;
        }
        return Some(SystemPrompt { span: at, file: None, path: String::new(), line: 0, text: text.as_ref().to_owned() });
    }
    let DeValue::Table(own) = value.get_ref() else {
        sink.wrong_type(path, value, "a text in quotes, or `{ file = \"…\" }`");
        return None;
    };
    let mut file = None;
    for (key, value) in own {
        if key.get_ref().as_ref() == "file" {
            file = text(sink, &format!("{path}.file"), value);
        } else {
            sink.unknown_key(path, key, &keys::SYSTEM.names());
        }
    }
    needs(sink, (path, at), own, &keys::SYSTEM);
    let prompt = |file: Spanned<&str>| (file.span, Some(file.value.to_owned()));
    let (span, file) = file.map(prompt)?;
    Some(SystemPrompt { span, file, path: String::new(), line: 0, text: String::new() })
}

pub(super) fn tier(sink: &mut Sink, path: &str, value: &Value<'_>) -> Option<Spanned<Tier>> {
    let found = word(sink, path, value, &Tier::WORDS, ["standard", "economy"])?;
    Tier::parse(found.value).map(|tier| Spanned::new(tier, found.span))
}

fn profile(sink: &mut Sink, path: &str, value: &Value<'_>) -> Option<Spanned<&'static str>> {
    let found = text(sink, path, value)?;
    let known = PROFILES.into_iter().find(|profile| *profile == found.value);
    if known.is_none() {
        sink.bad_word(path, found, &PROFILES);
    }
    known.map(|profile| Spanned::new(profile, found.span))
}

fn order(sink: &mut Sink, path: &str, value: &Value<'_>) -> Vec<Spanned<&'static str>> {
    let mut out = Vec::new();
    // `set` reports what stands there twice; the words are looked at on what is left.
    for entry in set(sink, path, value) {
        if let Some(kind) = KINDS.iter().copied().find(|kind| *kind == entry.value) {
            out.push(Spanned::new(kind, entry.span));
            continue;
        }
        let expected = if entry.value == "system" {
            "another kind: what the system says always stands first".to_owned()
        } else {
            either(KINDS)
        };
        let near = nearest(&entry.value, KINDS.iter().copied()).filter(|_| entry.value != "system").map(str::to_owned);
        sink.report(entry.span, FaultKind::BadValue { key: path.to_owned(), found: entry.value, expected, near });
    }
    out
}

/// The patterns that can be read; the others are reported and left out.
fn patterns(sink: &mut Sink, written: &mut Vec<Spanned<String>>) -> Globs {
    let mut globs = Globs::default();
    written.retain(|pattern| match globs.add(&pattern.value) {
        Ok(()) => true,
        Err(error) => {
            sink.report(pattern.span, FaultKind::BadGlob { pattern: pattern.value.clone(), error });
            false
        }
    });
    globs
}

/// Tools that are given and refused as a whole. To block a part of what a prefix allows is what `blocked_tools` is for.
fn blocked(sink: &mut Sink, role: &str, tools: &Tools) {
    for tool in &tools.allowed {
        let prefix = tool.value.strip_suffix('*').unwrap_or(&tool.value);
        let whole =
            |entry: &&Spanned<String>| entry.value == tool.value || (entry.value.ends_with('*') && covers(&entry.value, prefix));
        if let Some(entry) = tools.blocked.iter().find(whole) {
            let (role, blocked) = (role.to_owned(), entry.clone());
            sink.report(tool.span, FaultKind::ToolBlocked { role, tool: tool.value.clone(), blocked });
        }
    }
}
