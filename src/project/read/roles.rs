//! Reads `[roles.NAME]`. References of a role (its model, its prompt's file) are checked after
//! everything is read.

use super::models::{PRICE_SHAPE, TIER_SHAPE, TOKEN_BOUNDS, read_tier};
use super::row::{
    KeyReader, KeyValue, joined_row_keys, optional_row, read_rows_or_else, required_row, row_keys,
    with_names,
};
use super::sampling;
use super::value::{FaultSink, TomlValue, check_name, read_table, to_span};
use crate::base::quoted::name_choice;
use crate::base::span::{Span, Spanned};
use crate::base::suggest::nearest_candidate;
use crate::kernel::profile::Profile;
use crate::kernel::sampling::Sampling;
use crate::project::glob::Globs;
use crate::project::project_fault::ProjectFaultKind;
use crate::project::roles::{
    ModelChoice, ORDERABLE_KINDS, Role, RoleBudget, RoleTools, SystemPrompt, Tier, matches_tool,
};
use crate::project::table::{ConfigShape, ConfigTable, key_table as of};
use crate::scenario::table::{KeyGroup, NamedThingKind};
use std::collections::BTreeMap;
use toml::de::DeValue;

/// `[roles.NAME]`.
pub(super) static ROLE: ConfigTable = ConfigTable {
    groups: &[KeyGroup::Exclusive("model", &["tier", "capabilities"])],
    ..of(
        "an agent role",
        &joined_row_keys::<_, _, { ROWS.len() + sampling::ROWS.len() }>(ROWS, sampling::ROWS),
    )
};

const ROWS: &[KeyReader<WrittenRole>] = &[
    with_names(
        NamedThingKind::Task,
        &optional_row(
            "template",
            ConfigShape::Text,
            "the task that it plays; default: the one with its own name",
            |at, out| {
                out.role.task = at.read_string().unwrap_or_else(|| out.role.name.clone());
            },
        ),
    ),
    optional_row(
        "extends",
        ConfigShape::Text,
        "the role of a package whose keys it takes over, such as `acme/rules/planner`",
        |at, out| out.role.extends = at.read_string(),
    ),
    optional_row(
        "description",
        ConfigShape::Text,
        "its purpose, for people",
        |at, out| out.role.description = at.read_plain_string(),
    ),
    optional_row(
        "system",
        ConfigShape::NameOr(&SYSTEM),
        "the identity of the agent; takes no values",
        |at, out| out.role.system = read_system_prompt(at),
    ),
    optional_row(
        "tools",
        ConfigShape::Set,
        "tools that it may use; `git_*` for all that begin so",
        |at, out| {
            let tools = out.role.tools.get_or_insert_default();
            tools.allowed = at.read_unique_texts();
            tools.is_explicit = true;
        },
    ),
    optional_row(
        "blocked_tools",
        ConfigShape::Set,
        "tools that are refused even where they are allowed",
        |at, out| {
            out.role.tools.get_or_insert_default().blocked = at.read_unique_texts();
        },
    ),
    with_names(
        NamedThingKind::Path,
        &optional_row(
            "protected_paths",
            ConfigShape::Globs,
            "paths that its tools may not touch",
            |at, out| {
                out.role.protected_paths = at.read_unique_texts();
                out.role.protected = parse_patterns(at.sink, &mut out.role.protected_paths);
            },
        ),
    ),
    optional_row(
        "budget",
        ConfigShape::Table(&BUDGET),
        "the limits of one call",
        |at, out| {
            at.read_table(BUDGET_ROWS, &mut out.role.budget);
        },
    ),
    optional_row(
        "model",
        ConfigShape::Set,
        "its models, the first that answers",
        |at, out| out.models = Some(at.read_unique_texts()),
    ),
    optional_row(
        "tier",
        TIER_SHAPE,
        "the lowest sufficient tier: its cheapest model is used",
        |at, out| {
            out.tier = read_tier(at);
            out.least.push(("tier", at.key));
        },
    ),
    optional_row(
        "capabilities",
        ConfigShape::Set,
        "capabilities that its model must have",
        |at, out| {
            out.capabilities = at.read_unique_texts();
            out.least.push(("capabilities", at.key));
        },
    ),
    optional_row(
        "profile",
        ConfigShape::Word(&Profile::WORDS),
        "the format of its segments, unless its task sets one",
        |at, out| {
            out.role.profile = read_profile(at);
        },
    ),
    optional_row(
        "order",
        ConfigShape::Words(ORDERABLE_KINDS),
        "kinds of segments that stand first, in this order",
        |at, out| out.role.order = read_order(at),
    ),
];

/// A role's budget.
static BUDGET: ConfigTable = of(
    "the limits of one call of a role",
    &row_keys::<_, { BUDGET_ROWS.len() }>(BUDGET_ROWS),
);

const BUDGET_ROWS: &[KeyReader<RoleBudget>] = &[
    optional_row(
        "tokens",
        ConfigShape::Whole(TOKEN_BOUNDS),
        "tokens of its context",
        |at, budget| budget.tokens = at.read_whole(),
    ),
    optional_row("usd", PRICE_SHAPE, "US$", |at, budget| {
        budget.usd = at.read_number();
    }),
];

/// A role's system prompt in a file.
static SYSTEM: ConfigTable = of(
    "a text in a file",
    &row_keys::<_, { SYSTEM_ROWS.len() }>(SYSTEM_ROWS),
);

const SYSTEM_ROWS: &[KeyReader<Option<Spanned<String>>>] = &[with_names(
    NamedThingKind::Path,
    &required_row(
        "file",
        ConfigShape::Text,
        "its path, relative to the project",
        |at, file| *file = at.read_string(),
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

pub(super) fn read_roles(sink: &mut FaultSink, value: &TomlValue<'_>) -> BTreeMap<String, Role> {
    let mut out = BTreeMap::new();
    for (key, value) in read_table(sink, "roles", value).into_iter().flatten() {
        if let Some(name) = check_name(sink, "roles", key)
            && let Some(role) = read_role(sink, name, value)
        {
            out.insert(role.name.value.clone(), role);
        }
    }
    out
}

fn read_role(sink: &mut FaultSink, name: Spanned<String>, value: &TomlValue<'_>) -> Option<Role> {
    let path = format!("roles.{}", name.value);
    let own = read_table(sink, &path, value)?;
    let models = None;
    let tier = None;
    let capabilities = Vec::new();
    let least = Vec::new();
    let mut out = WrittenRole {
        role: default_role(name),
        models,
        tier,
        capabilities,
        least,
    };
    let mut sampling = Sampling::new();
    read_rows_or_else(sink, &path, own, ROWS, &mut out, &mut |sink, key, value| {
        if sampling::read_parameter(sink, &path, key, value, &mut sampling) {
            return;
        }
        if key.get_ref() != "task" {
            return sink.unknown_key(&path, key, &ROLE.key_names());
        }
        // `task` is the language's word for the task of a role; this table calls it `template`.
        let table = path.clone();
        let near = Some("template".to_owned());
        let kind = ProjectFaultKind::UnknownKey {
            table,
            key: "task".to_owned(),
            near,
            valid: ROLE.key_names(),
        };
        sink.report(to_span(&key.span()), kind);
    });
    out.role.sampling = sampling;
    out.role.model = out.model_choice(sink);
    if let Some(tools) = &out.role.tools {
        report_blocked_tools(sink, &out.role.name.value, tools);
    }
    Some(out.role)
}

/// A role without any keys, for the task of the same name.
fn default_role(name: Spanned<String>) -> Role {
    Role {
        task: name.clone(),
        name,
        extends: None,
        description: None,
        system: None,
        tools: None,
        protected_paths: Vec::new(),
        protected: Globs::default(),
        budget: RoleBudget::default(),
        model: ModelChoice::Open,
        profile: None,
        order: Vec::new(),
        sampling: Sampling::new(),
    }
}

impl WrittenRole {
    /// The choice of its model.
    fn model_choice(&mut self, sink: &mut FaultSink) -> ModelChoice {
        if let Some(models) = self.models.take() {
            for (key, at) in &self.least {
                sink.report(
                    *at,
                    ProjectFaultKind::TwoModels {
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
        ModelChoice::Cheapest {
            tier: self.tier,
            capabilities: std::mem::take(&mut self.capabilities),
        }
    }
}

/// Reads `"You are …"`, or `{ file = "prompts/planner.md" }`, whose file is read later.
fn read_system_prompt(at: &mut KeyValue<'_, '_>) -> Option<SystemPrompt> {
    let prompt = |span, file, text| SystemPrompt {
        span,
        file,
        path: String::new(),
        line: 0,
        text,
    };
    if let DeValue::String(text) = at.value.get_ref() {
        if text.trim().is_empty() {
            at.report_bad_value(
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
    at.read_table(SYSTEM_ROWS, &mut file);
    at.report_missing_keys(at.span(), own, &SYSTEM);
    file.map(|file: Spanned<String>| prompt(file.span, Some(file.value), String::new()))
}

fn read_profile(at: &mut KeyValue<'_, '_>) -> Option<Spanned<Profile>> {
    let found = at.read_text()?;
    let known = Profile::parse(found.value);
    if known.is_none() {
        at.sink.bad_word(&at.path, found, &Profile::WORDS);
    }
    known.map(|profile| Spanned::new(profile, found.span))
}

fn read_order(at: &mut KeyValue<'_, '_>) -> Vec<Spanned<&'static str>> {
    let mut out = Vec::new();
    // `set` reports duplicates; only the remaining entries are checked.
    for entry in at.read_unique_texts() {
        if let Some(kind) = ORDERABLE_KINDS
            .iter()
            .copied()
            .find(|kind| *kind == entry.value)
        {
            out.push(Spanned::new(kind, entry.span));
        } else if matches!(&*entry.value, "tools" | "system") {
            at.report_bad_value(
                &entry,
                "another kind: tools and the system text always come first",
            );
        } else {
            let near =
                nearest_candidate(&entry.value, ORDERABLE_KINDS.iter().copied()).map(str::to_owned);
            at.sink
                .bad_value(&at.path, &entry, name_choice(ORDERABLE_KINDS), near);
        }
    }
    out
}

/// Parses the patterns; reports and removes invalid ones.
fn parse_patterns(sink: &mut FaultSink, written: &mut Vec<Spanned<String>>) -> Globs {
    let mut globs = Globs::default();
    written.retain(|pattern| match globs.add_pattern(&pattern.value) {
        Ok(()) => true,
        Err(error) => {
            sink.report(
                pattern.span,
                ProjectFaultKind::BadGlob {
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
fn report_blocked_tools(sink: &mut FaultSink, role: &str, tools: &RoleTools) {
    for tool in &tools.allowed {
        let prefix = tool.value.strip_suffix('*').unwrap_or(&tool.value);
        let whole = |entry: &&Spanned<String>| {
            entry.value == tool.value
                || (entry.value.ends_with('*') && matches_tool(&entry.value, prefix))
        };
        if let Some(entry) = tools.blocked.iter().find(whole) {
            let role = role.to_owned();
            let blocked = entry.clone();
            sink.report(
                tool.span,
                ProjectFaultKind::ToolBlocked {
                    role,
                    tool: tool.value.clone(),
                    blocked,
                },
            );
        }
    }
}
