//! The providers of a configuration: the first with a known model becomes that of the prompts; the
//! others are reported.

use super::source::ConfigSource;
use crate::import::front_matter::{self, FrontMatter};
use crate::import::note::ImportNoteKind;
use crate::import::prompt_model::{ImportedPrompt, RequestedModel};
use crate::syntax::yaml::YamlNode;

/// The sampling settings that are read; keys and addresses are ignored.
const SAMPLING_KEYS: [&str; 8] = [
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "maxOutputTokens",
    "seed",
    "stop",
    "reasoning_effort",
];

pub(super) fn read_providers(
    source: &ConfigSource<'_>,
    front: &FrontMatter<'_>,
    shared: &mut ImportedPrompt,
) {
    let Some(node) = front
        .root
        .get("providers")
        .or_else(|| front.root.get("targets"))
    else {
        return;
    };
    let all: Vec<&YamlNode<'_>> = node
        .items()
        .map_or_else(|| vec![node], |items| items.iter().collect());
    for one in all {
        let line = front.line_of(one);
        // `openai:gpt-5-mini: {config: …}` has the id as its key.
        let keyed = one
            .entries()
            .filter(|_| one.get("id").is_none())
            .and_then(<[_]>::first);
        let id = one
            .text()
            .or_else(|| one.get("id")?.text())
            .or_else(|| keyed.map(|entry| &*entry.key.value))
            .unwrap_or("");
        let body = keyed.map_or(one, |entry| &entry.value);
        let left_out = |why: &str| ImportNoteKind::LeftOut {
            what: format!("the provider `{id}`"),
            why: why.to_owned(),
        };
        let Some((vendor, name)) = parse_model_id(id) else {
            let why = "it names no model of a vendor that ctxc asks: `[providers]` and `[models]` of ctxc.toml can";
            shared.add_note(source.path, line, left_out(why));
            continue;
        };
        if shared.model.is_some() {
            let why = "a task is asked of one model; name another in the role, and record with `ctxc eval --record`";
            shared.add_note(source.path, line, left_out(why));
            continue;
        }
        let mut settings = Vec::new();
        let mut others = Vec::new();
        for entry in body
            .get("config")
            .and_then(YamlNode::entries)
            .unwrap_or_default()
        {
            if SAMPLING_KEYS.contains(&&*entry.key.value) {
                settings.push((
                    entry.key.value.to_string(),
                    front_matter::one_line(&entry.value),
                ));
            } else {
                others.push(format!("`{}`", entry.key.value));
            }
        }
        shared.set_model(
            source.path,
            RequestedModel {
                name: Some(name.to_owned()),
                provider: Some(vendor.to_owned()),
                settings,
            },
        );
        if !others.is_empty() {
            let what = format!("{} of the provider `{id}`", others.join(", "));
            let why = "settings of a model belong in `[models]` and `[providers]` of ctxc.toml"
                .to_owned();
            shared.add_note(source.path, line, ImportNoteKind::LeftOut { what, why });
        }
    }
}

/// The vendor and the model in `openai:chat:gpt-5-mini`.
fn parse_model_id(id: &str) -> Option<(&str, &str)> {
    let (vendor, rest) = id.split_once(':')?;
    let kinds: &[&str] = match vendor {
        "openai" => &["chat", "responses"],
        "anthropic" => &["messages"],
        "google" | "vertex" => &["gemini"],
        "ollama" => &["chat"],
        _ => return None,
    };
    let name = match rest.split_once(':') {
        Some((kind, name)) if kinds.contains(&kind) => name,
        // A kind that is not known here, such as `openai:embedding:…`. Tags of Ollama contain a
        // colon too.
        Some(_) if vendor != "ollama" => return None,
        _ => rest,
    };
    let is_kind = kinds.contains(&name) || name.is_empty();
    (!is_kind).then_some((vendor, name))
}
