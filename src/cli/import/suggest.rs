//! A suggestion for `ctxc.toml` from the models and settings of prompts. It is only printed, never
//! written to a file.

use super::make::ConvertedPrompt;
use crate::base::number::format_thousands;
use crate::import::{OUTPUT_LIMIT_KEYS, RequestedModel, STOP_KEYS};
use crate::request::public_models::find_model;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Returns the suggestion for some prompts; `None` if none of them names a model or a setting. The
/// results of `write!` are ignored, because writing to a string cannot fail.
pub(super) fn suggest_config(converted: &[ConvertedPrompt]) -> Option<String> {
    let says_more =
        |model: &RequestedModel| model.name.is_some() || model.other_settings().next().is_some();
    let with: Vec<&ConvertedPrompt> = converted
        .iter()
        .filter(|one| !one.has_no_template() && one.imported.model.as_ref().is_some_and(says_more))
        .collect();
    let mut roles = String::new();
    let mut models = BTreeMap::new();
    for one in &with {
        let Some(model) = &one.imported.model else {
            continue;
        };
        let _ = writeln!(roles, "[roles.{}]", toml_key(&one.name));
        if let Some(name) = &model.name {
            let _ = writeln!(roles, "model = {}", quote_toml(name));
            let max = model
                .settings
                .iter()
                .find(|(name, _)| OUTPUT_LIMIT_KEYS.contains(&name.as_str()))
                .map(|(_, value)| value.clone());
            models.entry(name.clone()).or_insert((model.vendor(), max));
        }
        for (name, value) in model.other_settings() {
            let stops = STOP_KEYS
                .contains(&name.as_str())
                .then(|| serde_json::from_str::<Vec<String>>(value).ok())
                .flatten();
            let _ = match stops {
                Some(stops) => writeln!(roles, "stop = {}", json!(stops)),
                None => writeln!(
                    roles,
                    "# {name} = {}: whoever calls the model sets it",
                    value.replace('\n', " ")
                ),
            };
        }
        roles.push('\n');
    }
    for (name, (vendor, max)) in models {
        let _ = writeln!(roles, "[models.{}]", toml_key(&name));
        match vendor {
            Some(vendor) => {
                let _ = writeln!(roles, "provider = \"{vendor}\"");
            }
            None => {
                roles.push_str("provider = \"openai\"  # who answers for it: one of [providers]\n");
            }
        }
        roles.push_str("tier = \"standard\"  # how able it is, as you see it\n");
        let _ = match find_model(&name).and_then(|public| usize::try_from(public.window).ok()) {
            Some(window) => writeln!(
                roles,
                "context_window = {}",
                format_thousands(window).replace(',', "_")
            ),
            None => writeln!(roles, "context_window = 128_000  # its window: look it up"),
        };
        if let Some(max) = max.filter(|max| max.parse::<u64>().is_ok()) {
            let _ = writeln!(roles, "output_reserve = {max}");
        }
        roles.push('\n');
    }
    (!with.is_empty()).then(|| roles.trim_end().to_owned())
}

/// Returns a TOML key, bare if possible.
fn toml_key(name: &str) -> String {
    let is_bare = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if is_bare {
        name.to_owned()
    } else {
        quote_toml(name)
    }
}

fn quote_toml(text: &str) -> String {
    let safe: String = text.chars().filter(|c| !c.is_control()).collect();
    format!("\"{}\"", safe.replace('\\', "\\\\").replace('"', "\\\""))
}
