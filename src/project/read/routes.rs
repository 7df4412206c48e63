//! Checks that require all roles, models and providers: existence of names, qualified models,
//! budgets, and readable prompt files.

use super::models::{ReadModels, ReadProviders};
use super::sections::nearest_name;
use super::value::FaultSink;
use crate::base::contained_path;
use crate::base::lines::count_line_ends;
use crate::base::span::{Span, Spanned};
use crate::kernel::sampling::Parameter;
use crate::project::config::{ConfigInput, MAX_FILE_BYTES};
use crate::project::models::{ModelConfig, ProviderKind};
use crate::project::project_fault::ProjectFaultKind;
use crate::project::roles::{ModelChoice, Role, SystemPrompt};
use crate::project::routing::{Disqualification, candidate_models};
use crate::template::expression::{ExpressionFaultKind, ScanItem, has_open_braces, scan_plain};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The maximum number of models that are listed if none qualifies.
const MAX_REFUSED_MODELS: usize = 3;

/// Checks roles against models, and models against providers.
pub(super) fn check_routes(
    sink: &mut FaultSink,
    roles: &BTreeMap<String, Role>,
    models: &ReadModels,
    providers: &ReadProviders,
) {
    for found in &models.providers {
        check_provider(sink, found, providers);
    }
    let mut used = BTreeSet::new();
    for role in roles.values() {
        let found = candidate_models(&models.sound, &role.model, &[]);
        match &role.model {
            ModelChoice::Named(names) => report_unknown_models(sink, names, models),
            ModelChoice::Cheapest { .. } if found.is_empty() => report_no_model(sink, role, models),
            ModelChoice::Cheapest { .. } | ModelChoice::Open => {}
        }
        if let Some(model) = found.first() {
            check_budget(sink, role, model);
        }
        used.extend(found.iter().map(|model| model.name.value.as_str()));
    }
    // A role that leaves the model to its task may use any model; without roles, only tasks name
    // models. If the requirement of a role is faulty, which has been reported, its model is
    // unknown.
    let is_open = |role: &Role| match &role.model {
        ModelChoice::Named(names) => names.iter().any(|name| !models.names.contains(&name.value)),
        ModelChoice::Cheapest { .. } => {
            candidate_models(&models.sound, &role.model, &[]).is_empty()
        }
        ModelChoice::Open => true,
    };
    if roles.is_empty() || roles.values().any(is_open) {
        return;
    }
    for model in models.sound.values().filter(|model| {
        let name = &model.name.value;
        !used.contains(name.as_str()) && !models.inherited.contains(name)
    }) {
        sink.report(
            model.name.span,
            ProjectFaultKind::UnusedModel {
                model: model.name.value.clone(),
            },
        );
    }
}

fn check_provider(sink: &mut FaultSink, found: &Spanned<String>, providers: &ReadProviders) {
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
    let near = nearest_name(&found.value, valid.iter().map(String::as_str));
    sink.report(
        found.span,
        ProjectFaultKind::UnknownProvider {
            found: found.value.clone(),
            near,
            valid,
        },
    );
}

fn report_unknown_models(sink: &mut FaultSink, names: &[Spanned<String>], models: &ReadModels) {
    for name in names
        .iter()
        .filter(|name| !models.names.contains(&name.value))
    {
        let near = nearest_name(&name.value, models.names.iter().map(String::as_str));
        let valid = models.names.iter().cloned().collect();
        sink.report(
            name.span,
            ProjectFaultKind::UnknownModel {
                found: name.value.clone(),
                near,
                valid,
            },
        );
    }
}

fn report_no_model(sink: &mut FaultSink, role: &Role, models: &ReadModels) {
    // An unreadable model may qualify.
    if models.names.len() > models.sound.len() {
        return;
    }
    let ModelChoice::Cheapest { tier, capabilities } = &role.model else {
        return;
    };
    let mut refused: Vec<(&ModelConfig, Disqualification)> = models
        .sound
        .values()
        .filter_map(|model| Some((model, Disqualification::for_choice(model, &role.model)?)))
        .collect();
    refused.sort_by_key(|(model, unfit)| {
        (
            unfit.lacks.len(),
            unfit.tier.is_some(),
            std::cmp::Reverse(model.tier),
        )
    });
    refused.truncate(MAX_REFUSED_MODELS);
    let known: BTreeSet<&str> = models
        .sound
        .values()
        .flat_map(|model| &model.capabilities)
        .map(String::as_str)
        .collect();
    let near = capabilities.iter().find_map(|wanted| {
        let unknown_word = Some(&wanted.value).filter(|word| !known.contains(word.as_str()));
        unknown_word
            .and_then(|word| nearest_name(word, known.iter().copied()))
            .map(|near| (wanted.clone(), near))
    });
    let at = tier
        .map(|tier| tier.span)
        .or_else(|| capabilities.first().map(|wanted| wanted.span));
    let kind = ProjectFaultKind::NoModel {
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

fn check_budget(sink: &mut FaultSink, role: &Role, model: &ModelConfig) {
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
        .filter(|tokens| tokens.value > model.context_room())
    else {
        return;
    };
    let kind = ProjectFaultKind::BudgetOverWindow {
        role: role.name.value.clone(),
        tokens: tokens.value,
        model: model.name.value.clone(),
        room: model.context_room(),
    };
    sink.report(tokens.span, kind);
}

/// Loads the texts of system prompts and sets their positions. An unreadable one is removed and
/// reported.
pub(super) fn load_system_prompts(
    sink: &mut FaultSink,
    input: &ConfigInput<'_>,
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
            system.line = count_line_ends(before)
                + u32::from(is_below)
                + count_line_ends(leading_space(&system.text));
            system.text = system.text.trim().to_owned();
            input.path.clone_into(&mut system.path);
            report_prompt_values(sink, &role.name.value, system, Some(written));
            continue;
        };
        match read_text_file(input, file) {
            Ok(text) => {
                system.line = count_line_ends(leading_space(&text));
                text.trim().clone_into(&mut system.text);
                system.path = file.trim_start_matches("./").to_owned();
                report_prompt_values(sink, &role.name.value, system, None);
            }
            Err(why) => {
                let role_name = role.name.value.clone();
                let path = file.clone();
                sink.report(
                    system.span,
                    ProjectFaultKind::SystemPrompt {
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
fn report_prompt_values(
    sink: &mut FaultSink,
    role: &str,
    system: &SystemPrompt,
    written: Option<&str>,
) {
    if !has_open_braces(&system.text) {
        return;
    }
    let mut seen = BTreeSet::new();
    for piece in scan_plain(&system.text, 0) {
        let at = match piece {
            ScanItem::Expression(found) => found.span,
            // A filter, which plain texts do not support either.
            ScanItem::Fault(fault) if fault.kind == ExpressionFaultKind::TrailingText => {
                fault.expression
            }
            ScanItem::Fault(_) | ScanItem::Text(_) | ScanItem::Escaped(_) => continue,
        };
        let found = at.slice(&system.text);
        if !seen.insert(found) {
            continue;
        }
        let before = system.text.get(..at.start as usize).unwrap_or("");
        let line = written.is_none().then(|| {
            (
                system.path.clone(),
                system.line + count_line_ends(before) + 1,
            )
        });
        let inside = written
            .and_then(|written| written.find(found))
            .map(|at| system.span.start as usize + at);
        let span = inside.map_or(system.span, |start| {
            Span::from_offsets(start, start + found.len())
        });
        sink.report(
            span,
            ProjectFaultKind::PromptValue {
                role: role.to_owned(),
                written: found.to_owned(),
                line,
            },
        );
    }
}

/// The white space at the start of a text.
fn leading_space(text: &str) -> &str {
    text.get(..text.len() - text.trim_start().len())
        .unwrap_or("")
}

/// Reads a text file of the project, which must not be blank.
pub(super) fn read_text_file(input: &ConfigInput<'_>, path: &str) -> Result<String, String> {
    let read = contained_path::read_file(input.files, input.root, Path::new(path), MAX_FILE_BYTES);
    let bytes = read.map_err(|refused| refused.to_string())?;
    let text =
        crate::syntax::decode::decode(&bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    if text.trim().is_empty() {
        Err("it is empty".to_owned())
    } else {
        Ok(text.into_owned())
    }
}
