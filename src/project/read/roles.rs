//! Reads `[roles.NAME]`. References of a role (its model, its prompt's file) are checked after
//! everything is read.

use super::models::{PRICE, TIER, TOKENS, tier};
use super::row::{At, Row, both, keys, naming, needed, row, rows_or};
use super::sampling;
use super::value::{Sink, Value, named, span, table};
use crate::base::quoted::either;
use crate::base::span::{Span, Spanned};
use crate::base::suggest::nearest;
use crate::kernel::profile::Profile;
use crate::kernel::sampling::Sampling;
use crate::project::fault::FaultKind;
use crate::project::glob::Globs;
use crate::project::roles::{Budget, KINDS, ModelChoice, Role, SystemPrompt, Tier, Tools, covers};
use crate::project::table::{Shape, Table, table as of};
use crate::scenario::table::{Group, Thing};
use std::collections::BTreeMap;
use toml::de::DeValue;

/// `[roles.NAME]`.
pub(super) static ROLE: Table = Table {
    groups: &[Group::Apart("model", &["tier", "capabilities"])],
    ..of(
        "an agent role",
        &both::<_, _, { ROWS.len() + sampling::ROWS.len() }>(ROWS, sampling::ROWS),
    )
};

const ROWS: &[Row<WrittenRole>] = &[
    naming(
        Thing::Task,
        &row(
            "template",
            Shape::Text,
            "the task that it plays; the one of its own name where the key is left out",
            |at, out| {
                out.role.task = at.spanned().unwrap_or_else(|| out.role.name.clone());
            },
        ),
    ),
    row(
        "description",
        Shape::Text,
        "what it is for, for people",
        |at, out| out.role.description = at.string(),
    ),
    row(
        "system",
        Shape::NameOr(&SYSTEM),
        "who the agent is; takes no values",
        |at, out| out.role.system = system(at),
    ),
    row(
        "tools",
        Shape::Set,
        "tools that it may use; `git_*` for all that begin so",
        |at, out| {
            out.role.tools.get_or_insert_default().allowed = at.set();
        },
    ),
    row(
        "blocked_tools",
        Shape::Set,
        "tools that are refused even where they are allowed",
        |at, out| {
            out.role.tools.get_or_insert_default().blocked = at.set();
        },
    ),
    naming(
        Thing::Path,
        &row(
            "protected_paths",
            Shape::Globs,
            "paths that its tools may not touch",
            |at, out| {
                out.role.protected_paths = at.set();
                out.role.protected = patterns(at.sink, &mut out.role.protected_paths);
            },
        ),
    ),
    row(
        "budget",
        Shape::Table(&BUDGET),
        "what it may use up in a call",
        |at, out| {
            at.rows(BUDGET_ROWS, &mut out.role.budget);
        },
    ),
    row(
        "model",
        Shape::Set,
        "its models, the first that answers",
        |at, out| out.models = Some(at.set()),
    ),
    row(
        "tier",
        TIER,
        "the lowest tier that will do: the cheapest model of it is taken",
        |at, out| {
            out.tier = tier(at);
            out.least.push(("tier", at.key));
        },
    ),
    row(
        "capabilities",
        Shape::Set,
        "what its model has to be able to do",
        |at, out| {
            out.capabilities = at.set();
            out.least.push(("capabilities", at.key));
        },
    ),
    row(
        "profile",
        Shape::Word(&Profile::WORDS),
        "how its segments look, where its task does not say",
        |at, out| {
            out.role.profile = profile(at);
        },
    ),
    row(
        "order",
        Shape::Words(KINDS),
        "kinds of segments that stand first, in this order",
        |at, out| out.role.order = order(at),
    ),
];

/// A role's budget.
static BUDGET: Table = of(
    "what a role may use up in a call",
    &keys::<_, { BUDGET_ROWS.len() }>(BUDGET_ROWS),
);

const BUDGET_ROWS: &[Row<Budget>] = &[
    row(
        "tokens",
        Shape::Whole(TOKENS),
        "tokens of its context",
        |at, budget| budget.tokens = at.whole(),
    ),
    row("usd", PRICE, "US$", |at, budget| budget.usd = at.number()),
];

/// A role's system prompt in a file.
static SYSTEM: Table = of(
    "a text in a file",
    &keys::<_, { SYSTEM_ROWS.len() }>(SYSTEM_ROWS),
);

const SYSTEM_ROWS: &[Row<Option<Spanned<String>>>] = &[naming(
    Thing::Path,
    &needed(
        "file",
        Shape::Text,
        "its path, relative to the project",
        |at, file| *file = at.spanned(),
    ),
)];

/// A role as written; the choice of its model is made after all keys are read.
struct WrittenRole {
    role: Role,
    /// `model`.
    models: Option<Vec<Spanned<String>>>,
    tier: Option<Spanned<Tier>>,
    capabilities: Vec<Spanned<String>>,
    /// The keys with requirements for a model, with their spans.
    least: Vec<(&'static str, Span)>,
}

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

fn role(sink: &mut Sink, name: Spanned<String>, value: &Value<'_>) -> Option<Role> {
    let path = format!("roles.{}", name.value);
    let own = table(sink, &path, value)?;
    let models = None;
    let tier = None;
    let capabilities = Vec::new();
    let least = Vec::new();
    let mut out = WrittenRole {
        role: silent(name),
        models,
        tier,
        capabilities,
        least,
    };
    let mut sampling = Sampling::new();
    rows_or(sink, &path, own, ROWS, &mut out, &mut |sink, key, value| {
        if sampling::take(sink, &path, key, value, &mut sampling) {
            return;
        }
        if key.get_ref() != "task" {
            return sink.unknown_key(&path, key, &ROLE.names());
        }
        // `task` is the language's word for the task of a role; this table calls it `template`.
        let table = path.clone();
        let near = Some("template".to_owned());
        let kind = FaultKind::UnknownKey {
            table,
            key: "task".to_owned(),
            near,
            valid: ROLE.names(),
        };
        sink.report(span(&key.span()), kind);
    });
    out.role.sampling = sampling;
    out.role.model = out.choice(sink);
    if let Some(tools) = &out.role.tools {
        blocked(sink, &out.role.name.value, tools);
    }
    Some(out.role)
}

/// A role without any keys: its task is the one of its own name.
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
        sampling: Sampling::new(),
    }
}

impl WrittenRole {
    /// The choice of its model.
    fn choice(&mut self, sink: &mut Sink) -> ModelChoice {
        if let Some(models) = self.models.take() {
            for (key, at) in &self.least {
                sink.report(
                    *at,
                    FaultKind::TwoModels {
                        role: self.role.name.value.clone(),
                        key,
                    },
                );
            }
            return if models.is_empty() {
                ModelChoice::Open
            } else {
                ModelChoice::Named(models)
            };
        }
        if self.tier.is_none() && self.capabilities.is_empty() {
            return ModelChoice::Open;
        }
        ModelChoice::Least {
            tier: self.tier,
            capabilities: std::mem::take(&mut self.capabilities),
        }
    }
}

/// Reads `"You are …"`, or `{ file = "prompts/planner.md" }`, whose file is read later.
fn system(at: &mut At<'_, '_>) -> Option<SystemPrompt> {
    let prompt = |span, file, text| SystemPrompt {
        span,
        file,
        path: String::new(),
        line: 0,
        text,
    };
    if let DeValue::String(text) = at.value.get_ref() {
        if text.trim().is_empty() {
            at.bad(
                &Spanned::new(text, at.span()),
                "a text, or `{ file = \"…\" }`",
            );
            return None;
        }
        return Some(prompt(at.span(), None, text.as_ref().to_owned()));
    }
    let DeValue::Table(own) = at.value.get_ref() else {
        at.sink.wrong_type(
            &at.path,
            at.value,
            "a text in quotes, or `{ file = \"…\" }`",
        );
        return None;
    };
    let mut file = None;
    at.rows(SYSTEM_ROWS, &mut file);
    at.needs(at.span(), own, &SYSTEM);
    file.map(|file: Spanned<String>| prompt(file.span, Some(file.value), String::new()))
}

fn profile(at: &mut At<'_, '_>) -> Option<Spanned<Profile>> {
    let found = at.text()?;
    let known = Profile::parse(found.value);
    if known.is_none() {
        at.sink.bad_word(&at.path, found, &Profile::WORDS);
    }
    known.map(|profile| Spanned::new(profile, found.span))
}

fn order(at: &mut At<'_, '_>) -> Vec<Spanned<&'static str>> {
    let mut out = Vec::new();
    // `set` reports duplicates; only the remaining entries are checked.
    for entry in at.set() {
        if let Some(kind) = KINDS.iter().copied().find(|kind| *kind == entry.value) {
            out.push(Spanned::new(kind, entry.span));
        } else if matches!(&*entry.value, "tools" | "system") {
            at.bad(
                &entry,
                "another kind: tools and what the system says always stand first",
            );
        } else {
            let near = nearest(&entry.value, KINDS.iter().copied()).map(str::to_owned);
            at.sink.bad_value(&at.path, &entry, either(KINDS), near);
        }
    }
    out
}

/// Parses the patterns; reports and removes invalid ones.
fn patterns(sink: &mut Sink, written: &mut Vec<Spanned<String>>) -> Globs {
    let mut globs = Globs::default();
    written.retain(|pattern| match globs.add(&pattern.value) {
        Ok(()) => true,
        Err(error) => {
            sink.report(
                pattern.span,
                FaultKind::BadGlob {
                    pattern: pattern.value.clone(),
                    error,
                },
            );
            false
        }
    });
    globs
}

/// Reports tools that are both allowed and blocked as a whole. Blocking a part of an allowed prefix
/// is the purpose of `blocked_tools`.
fn blocked(sink: &mut Sink, role: &str, tools: &Tools) {
    for tool in &tools.allowed {
        let prefix = tool.value.strip_suffix('*').unwrap_or(&tool.value);
        let whole = |entry: &&Spanned<String>| {
            entry.value == tool.value
                || (entry.value.ends_with('*') && covers(&entry.value, prefix))
        };
        if let Some(entry) = tools.blocked.iter().find(whole) {
            let role = role.to_owned();
            let blocked = entry.clone();
            sink.report(
                tool.span,
                FaultKind::ToolBlocked {
                    role,
                    tool: tool.value.clone(),
                    blocked,
                },
            );
        }
    }
}
