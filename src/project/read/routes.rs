//! Checks that require all roles, models and providers: existence of names, qualified models,
//! budgets, and readable prompt files.

use super::models::{Models, Providers};
use super::sections::near;
use super::value::Sink;
use crate::base::contained_path;
use crate::base::lines::ended;
use crate::base::span::{Span, Spanned};
use crate::kernel::sampling::Parameter;
use crate::project::config::{FILE_LIMIT, Input};
use crate::project::disqualified::Unfit;
use crate::project::fault::FaultKind;
use crate::project::models::{Model, ProviderKind};
use crate::project::roles::{ModelChoice, Role, SystemPrompt};
use crate::project::routing::candidates;
use crate::template::expression::{ExpressionFaultKind, Piece, may_hold, scan_plain};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The maximum number of models that are listed if none qualifies.
const FEW: usize = 3;

/// Checks roles against models, and models against providers.
pub(super) fn routes(
    sink: &mut Sink,
    roles: &BTreeMap<String, Role>,
    models: &Models,
    providers: &Providers,
) {
    for found in &models.providers {
        provider(sink, found, providers);
    }
    let mut used = BTreeSet::new();
    for role in roles.values() {
        let found = candidates(&models.sound, &role.model, &[]);
        match &role.model {
            ModelChoice::Named(names) => unknown(sink, names, models),
            ModelChoice::Least { .. } if found.is_empty() => no_model(sink, role, models),
            ModelChoice::Least { .. } | ModelChoice::Open => {}
        }
        if let Some(model) = found.first() {
            budget(sink, role, model);
        }
        used.extend(found.iter().map(|model| model.name.value.as_str()));
    }
    // A role that leaves the model to its task may use any model; without roles, only tasks name
    // models. If the requirement of a role is faulty, which has been reported, its model is
    // unknown.
    let is_open = |role: &Role| match &role.model {
        ModelChoice::Named(names) => names.iter().any(|name| !models.names.contains(&name.value)),
        ModelChoice::Least { .. } => candidates(&models.sound, &role.model, &[]).is_empty(),
        ModelChoice::Open => true,
    };
    if roles.is_empty() || roles.values().any(is_open) {
        return;
    }
    for model in models
        .sound
        .values()
        .filter(|model| !used.contains(model.name.value.as_str()))
    {
        sink.report(
            model.name.span,
            FaultKind::UnusedModel {
                model: model.name.value.clone(),
            },
        );
    }
}

fn provider(sink: &mut Sink, found: &Spanned<String>, providers: &Providers) {
    if providers.names.contains(&found.value) || ProviderKind::parse(&found.value).is_some() {
        return;
    }
    let valid: Vec<String> = providers
        .names
        .iter()
        .map(String::as_str)
        .chain(ProviderKind::WORDS)
        .map(str::to_owned)
        .collect();
    let near = near(&found.value, valid.iter().map(String::as_str));
    sink.report(
        found.span,
        FaultKind::UnknownProvider {
            found: found.value.clone(),
            near,
            valid,
        },
    );
}

fn unknown(sink: &mut Sink, names: &[Spanned<String>], models: &Models) {
    for name in names
        .iter()
        .filter(|name| !models.names.contains(&name.value))
    {
        let near = near(&name.value, models.names.iter().map(String::as_str));
        let valid = models.names.iter().cloned().collect();
        sink.report(
            name.span,
            FaultKind::UnknownModel {
                found: name.value.clone(),
                near,
                valid,
            },
        );
    }
}

fn no_model(sink: &mut Sink, role: &Role, models: &Models) {
    // An unreadable model may qualify.
    if models.names.len() > models.sound.len() {
        return;
    }
    let ModelChoice::Least { tier, capabilities } = &role.model else {
        return;
    };
    let mut refused: Vec<(&Model, Unfit)> = models
        .sound
        .values()
        .filter_map(|model| Some((model, Unfit::of(model, &role.model)?)))
        .collect();
    refused.sort_by_key(|(model, unfit)| {
        (
            unfit.lacks.len(),
            unfit.tier.is_some(),
            std::cmp::Reverse(model.tier),
        )
    });
    refused.truncate(FEW);
    let known: BTreeSet<&str> = models
        .sound
        .values()
        .flat_map(|model| &model.capabilities)
        .map(String::as_str)
        .collect();
    let near = capabilities.iter().find_map(|wanted| {
        let meant = Some(&wanted.value).filter(|word| !known.contains(word.as_str()));
        meant
            .and_then(|word| near(word, known.iter().copied()))
            .map(|near| (wanted.clone(), near))
    });
    let at = tier
        .map(|tier| tier.span)
        .or_else(|| capabilities.first().map(|wanted| wanted.span));
    let kind = FaultKind::NoModel {
        role: role.name.value.clone(),
        tier: tier.map(|tier| tier.value),
        capabilities: capabilities
            .iter()
            .map(|wanted| wanted.value.clone())
            .collect(),
        refused: refused
            .into_iter()
            .map(|(model, unfit)| (model.name.value.clone(), unfit))
            .collect(),
        near,
    };
    sink.report(at.unwrap_or(role.name.span), kind);
}

fn budget(sink: &mut Sink, role: &Role, model: &Model) {
    let key = Parameter::MaxOutputTokens;
    let answer = role.sampling.get(&key).and_then(serde_json::Value::as_u64);
    if let Some(tokens) = answer.filter(|tokens| *tokens >= model.window) {
        let expected = format!(
            "less than the `context_window` of its model `{}`, {}",
            model.name.value, model.window
        );
        let found = Spanned::new(tokens.to_string(), role.name.span);
        return sink.bad_value(
            &format!("roles.{}.{}", role.name.value, key.word()),
            &found,
            expected,
            None,
        );
    }
    let Some(tokens) = role
        .budget
        .tokens
        .filter(|tokens| tokens.value > model.room())
    else {
        return;
    };
    let kind = FaultKind::BudgetOverWindow {
        role: role.name.value.clone(),
        tokens: tokens.value,
        model: model.name.value.clone(),
        room: model.room(),
    };
    sink.report(tokens.span, kind);
}

/// Loads the texts of system prompts and sets their positions. An unreadable one is removed and
/// reported.
pub(super) fn system_prompts(
    sink: &mut Sink,
    input: &Input<'_>,
    roles: &mut BTreeMap<String, Role>,
) {
    for role in roles.values_mut() {
        let Some(system) = &mut role.system else {
            continue;
        };
        let Some(file) = &system.file else {
            let before = input.text.get(..system.span.start as usize).unwrap_or("");
            // After triple quotes, a line break directly behind them is not part of the text.
            let written = system.span.slice(input.text);
            let opens = ["\"\"\"", "'''"]
                .iter()
                .find_map(|quotes| written.strip_prefix(quotes));
            let is_below = opens.is_some_and(|rest| rest.starts_with(['\n', '\r']));
            system.line = ended(before) + u32::from(is_below) + ended(blank(&system.text));
            system.text = system.text.trim().to_owned();
            input.path.clone_into(&mut system.path);
            values(sink, &role.name.value, system, Some(written));
            continue;
        };
        match text_of(input, file) {
            Ok(text) => {
                system.line = ended(blank(&text));
                text.trim().clone_into(&mut system.text);
                system.path = file.trim_start_matches("./").to_owned();
                values(sink, &role.name.value, system, None);
            }
            Err(why) => {
                let role_name = role.name.value.clone();
                let path = file.clone();
                sink.report(
                    system.span,
                    FaultKind::SystemPrompt {
                        role: role_name,
                        path,
                        why,
                    },
                );
                role.system = None;
            }
        }
    }
}

/// Reports expressions, which would be sent unchanged, without duplicates. Their spans are in the
/// project file if the text is. `written` is the value as in the project file.
fn values(sink: &mut Sink, role: &str, system: &SystemPrompt, written: Option<&str>) {
    if !may_hold(&system.text) {
        return;
    }
    let mut seen = BTreeSet::new();
    for piece in scan_plain(&system.text, 0) {
        let at = match piece {
            Piece::Expression(found) => found.span,
            // A filter, which plain texts do not support either.
            Piece::Fault(fault) if fault.kind == ExpressionFaultKind::TrailingText => {
                fault.expression
            }
            Piece::Fault(_) | Piece::Text(_) | Piece::Escaped(_) => continue,
        };
        let found = at.slice(&system.text);
        if !seen.insert(found) {
            continue;
        }
        let before = system.text.get(..at.start as usize).unwrap_or("");
        let line = written
            .is_none()
            .then(|| (system.path.clone(), system.line + ended(before) + 1));
        let inside = written
            .and_then(|written| written.find(found))
            .map(|at| system.span.start as usize + at);
        let span = inside.map_or(system.span, |start| Span::of(start, start + found.len()));
        sink.report(
            span,
            FaultKind::PromptValue {
                role: role.to_owned(),
                written: found.to_owned(),
                line,
            },
        );
    }
}

/// The white space at the start of a text.
fn blank(text: &str) -> &str {
    text.get(..text.len() - text.trim_start().len())
        .unwrap_or("")
}

/// Reads a text file of the project, which must not be blank.
pub(super) fn text_of(input: &Input<'_>, path: &str) -> Result<String, String> {
    let read = contained_path::read(input.files, input.root, Path::new(path), FILE_LIMIT);
    let bytes = read.map_err(|refused| refused.to_string())?;
    let text =
        crate::syntax::decode::decode(&bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    if text.trim().is_empty() {
        Err("it is empty".to_owned())
    } else {
        Ok(text.into_owned())
    }
}
