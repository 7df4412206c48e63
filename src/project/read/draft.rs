//! Reads one project file, before it is merged with the file that it extends.

use super::eval::eval;
use super::extends::{Extends, extends};
use super::keys::{SHARED, TOP};
use super::layers::{DefaultLine, defaults, operators};
use super::lints::{LintLine, lints};
use super::models::{Models, Providers, models, providers};
use super::policy::{POLICY_ROWS, servers};
use super::requests;
use super::require::requirements;
use super::roles::roles;
use super::row::rows;
use super::sections::{
    ALLOW_ROWS, CONTEXT_ROWS, FORMAT_ROWS, HISTORY_ROWS, LIMIT_ROWS, RECORD_ROWS, TEMPLATES_ROWS,
    edition, owners, project, reserved,
};
use super::tools::{Tools, tools};
use super::value::{Sink, Table, span};
use crate::base::rule_meta::RuleMeta;
use crate::base::span::{Span, Spanned};
use crate::project::config::{
    Format, Lookup, Policy, Record, Requests, Reserved, Server, Templates,
};
use crate::project::eval::Eval;
use crate::project::fault::{Fault, FaultKind};
use crate::project::glob::Globs;
use crate::project::require::Requirement;
use crate::project::roles::Role;
use crate::settings::layers::DeclaredRow;
use crate::syntax::limits::Limits;
use std::collections::BTreeMap;

/// The owner of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The project's own.
    Project,
    /// A file that the project extends.
    Shared,
}

/// The whole content of one file.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) name: Option<Spanned<String>>,
    pub(super) extends: Option<Extends>,
    pub(super) templates: Templates,
    pub(super) context: Lookup,
    pub(super) rows: Vec<(Span, DeclaredRow)>,
    pub(super) defaults: Vec<DefaultLine>,
    pub(super) lints: Vec<LintLine>,
    pub(super) requirements: Vec<Requirement>,
    pub(super) owners: Vec<(Globs, String)>,
    pub(super) limits: Limits,
    pub(super) format: Format,
    pub(super) roles: BTreeMap<String, Role>,
    pub(super) tools: Tools,
    pub(super) models: Models,
    pub(super) providers: Providers,
    pub(super) eval: Eval,
    pub(super) history: Option<Spanned<String>>,
    pub(super) record: Record,
    pub(super) policy: Policy,
    pub(super) mcp: BTreeMap<String, Server>,
    pub(super) requests: Requests,
    pub(super) reserved: BTreeMap<String, Reserved>,
    pub(super) allow: Vec<Spanned<String>>,
    pub(super) faults: Vec<Fault>,
}

/// Reads one file. If it is not valid TOML, the valid lines are read, and only the first error is
/// reported.
pub(super) fn draft(text: &str, file: u16, owner: Owner, rules: &[&'static RuleMeta]) -> Draft {
    let mut sink = Sink {
        file,
        faults: Vec::new(),
    };
    let (tree, errors) = toml::de::DeTable::parse_recoverable(text);
    let mut out = Draft::default();
    top(&mut sink, &mut out, tree.get_ref(), owner, rules);
    if let Some(error) = errors.first() {
        // Further faults repeat it, or concern lines that were misread after it.
        sink.faults.clear();
        let at = error
            .span()
            .map_or(Span::at(0), |range| span(&range).visible(text));
        sink.report(
            at,
            FaultKind::Syntax {
                message: error.message().to_owned(),
            },
        );
    }
    out.faults = sink.faults;
    out
}

fn top(
    sink: &mut Sink,
    out: &mut Draft,
    tree: &Table<'_>,
    owner: Owner,
    rules: &[&'static RuleMeta],
) {
    for (key, value) in tree {
        let name = key.get_ref().as_ref();
        if owner == Owner::Shared
            && TOP.keys.iter().any(|key| key.name == name)
            && !SHARED.contains(&name)
        {
            sink.report(
                span(&key.span()),
                FaultKind::NotShared {
                    key: name.to_owned(),
                },
            );
            continue;
        }
        match name {
            "edition" => edition(sink, value),
            "extends" => out.extends = extends(sink, value),
            "project" => out.name = project(sink, value),
            "templates" => rows(sink, name, value, TEMPLATES_ROWS, &mut out.templates),
            "context" => rows(sink, name, value, CONTEXT_ROWS, &mut out.context),
            "defaults" => defaults(sink, value, &mut out.defaults),
            "operators" => operators(sink, value, &mut out.rows),
            "lints" => lints(sink, value, rules, &mut out.lints),
            "require" => requirements(sink, value, &mut out.requirements),
            "owners" => owners(sink, value, &mut out.owners),
            "limits" => rows(sink, name, value, LIMIT_ROWS, &mut out.limits),
            "fmt" => rows(sink, name, value, FORMAT_ROWS, &mut out.format),
            "allow" => rows(sink, name, value, ALLOW_ROWS, &mut out.allow),
            "roles" => out.roles = roles(sink, value),
            "tools" => out.tools = tools(sink, value),
            "models" => out.models = models(sink, value),
            "providers" => out.providers = providers(sink, value),
            "eval" => out.eval = eval(sink, key, value),
            "history" => rows(sink, name, value, HISTORY_ROWS, &mut out.history),
            "record" => rows(sink, name, value, RECORD_ROWS, &mut out.record),
            "policy" => rows(sink, name, value, POLICY_ROWS, &mut out.policy),
            "mcp" => out.mcp = servers(sink, value),
            "requests" => rows(sink, name, value, requests::ROWS, &mut out.requests),
            "package" => {
                if let Some(section) = reserved(sink, key, value) {
                    out.reserved.insert(name.to_owned(), section);
                }
            }
            _ if owner == Owner::Shared => sink.unknown_key("", key, &SHARED),
            _ => sink.unknown_key("", key, &TOP.names()),
        }
    }
}
