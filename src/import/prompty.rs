//! Prompty, `.prompty`: front matter, and messages after lines such as `system:`, in Jinja or
//! Mustache.

use super::declared::{self, DeclaredInput};
use super::dotprompt::{SourceMessage, convert_message, model_setting};
use super::front_matter::{self, FrontMatter};
use super::handlebars::TagDialect;
use super::jinja;
use super::note::ImportNoteKind;
use super::picoschema::known_type;
use super::prompt_model::{
    ImportedParameter, ImportedPrompt, ImportedTurn, PlaceholderSyntax, PromptFile, PromptFormat,
    PromptText, RequestedModel, TurnRole,
};
use crate::base::lines::count_line_ends;
use crate::syntax::yaml::{YamlNode, YamlValue};
use std::collections::BTreeSet;

pub(super) static FORMAT: PromptFormat = PromptFormat {
    help: "`.prompty` files of Prompty",
    files: "`.prompty`.",
    ..PromptFormat::new("prompty", "Prompty", &["prompty"], |prompt, _, _| {
        read_prompty(prompt)
    })
};

fn read_prompty(prompt: &PromptFile<'_>) -> ImportedPrompt {
    let mut imported = ImportedPrompt::default();
    let front = front_matter::split_prompt(prompt.path, prompt.text, &mut imported);
    let mut declared = read_head(&front, prompt.path, &mut imported);
    declared.extend(sample_inputs(&front.root, &declared));
    let lists: BTreeSet<String> = declared
        .iter()
        .filter(|(one, _)| one.kind == Some("array"))
        .map(|(one, _)| one.name.clone())
        .collect();
    let why = "its front matter is in the same file".to_owned();
    imported.add_note(prompt.path, 0, ImportNoteKind::Inlined { why });
    let mut used = Vec::new();
    let is_mustache = template_engine(&front.root).is_some_and(|word| word == "mustache");
    let threads = thread_names(&front.root);
    declared.retain(|(one, _)| !threads.contains(&one.name.as_str()));
    for (role, words, line) in split_messages(front.body, front.body_line, &threads) {
        let Some(role) = role else {
            imported.history.push(imported.turns.len());
            continue;
        };
        for (at, written) in words
            .lines()
            .enumerate()
            .filter(|(_, line)| line.contains("![") && line.contains("]("))
        {
            let why = "a text here holds words alone: hand the image in beside it, in the host"
                .to_owned();
            let kind = ImportNoteKind::Unsupported {
                what: format!("the image in `{}`", written.trim()),
                why,
            };
            imported.add_note(prompt.path, line + at as u32, kind);
        }
        let turn = if is_mustache {
            let message = SourceMessage {
                path: prompt.path,
                line,
                role,
                text: &words,
                dialect: TagDialect::Mustache,
                lists: &lists,
            };
            convert_message(&message, &mut used, &mut imported)
        } else {
            let (text, inputs) = jinja::adapt_text(prompt.path, &words, line, &mut imported);
            declared::add_inputs(&mut used, inputs);
            ImportedTurn {
                role,
                body: PromptText::Inline(text),
                syntax: PlaceholderSyntax::Jinja,
            }
        };
        imported.turns.push(strip_line_breaks(turn));
    }
    let line = front
        .root
        .get("inputs")
        .or_else(|| front.root.get("sample"))
        .map_or(0, |node| front.line_of(node));
    declared::merge_inputs(declared, &used, prompt.path, line, &mut imported);
    imported
}

/// Reproduces that Prompty removes line breaks at both ends of a rendered message, including those
/// that a block leaves.
fn strip_line_breaks(mut turn: ImportedTurn) -> ImportedTurn {
    if let PromptText::Inline(text) = &mut turn.body
        && turn.syntax == PlaceholderSyntax::Jinja
        && (text.starts_with("{%") || text.ends_with("%}"))
    {
        *text = format!("{{% filter trim(\"\\n\") -%}}\n{text}\n{{%- endfilter %}}");
    }
    turn
}

/// `template: mustache`, `template: {type: mustache}`, `template: {format: mustache}` or `{format:
/// {kind: mustache}}`.
fn template_engine(root: &YamlNode<'_>) -> Option<String> {
    let node = root.get("template")?;
    let inner = node
        .get("type")
        .or_else(|| node.get("format"))
        .unwrap_or(node);
    inner.get("kind").unwrap_or(inner).text().map(str::to_owned)
}

/// The role in a line that begins a message.
fn parse_role(line: &str) -> Option<TurnRole> {
    let word = line
        .trim()
        .trim_start_matches('#')
        .trim_start()
        .strip_suffix(':')?
        .trim_end();
    let word = word
        .split_once('[')
        .filter(|(_, rest)| rest.ends_with(']'))
        .map_or(word, |(word, _)| word);
    match word.to_ascii_lowercase().as_str() {
        "system" | "developer" => Some(TurnRole::System),
        "user" => Some(TurnRole::User),
        "assistant" => Some(TurnRole::Assistant),
        _ => None,
    }
}

/// The names of inputs that contain conversations.
fn thread_names<'n>(root: &'n YamlNode<'_>) -> Vec<&'n str> {
    let node = root.get("inputs").or_else(|| root.get("inputSchema"));
    let Some(node) = node.map(|node| node.get("properties").unwrap_or(node)) else {
        return Vec::new();
    };
    let is_thread = |node: &YamlNode<'_>| {
        node.get("kind")
            .or_else(|| node.get("type"))
            .and_then(YamlNode::text)
            == Some("thread")
    };
    let keyed = node
        .entries()
        .unwrap_or_default()
        .iter()
        .filter(|entry| is_thread(&entry.value));
    let listed = node
        .items()
        .unwrap_or_default()
        .iter()
        .filter(|item| is_thread(item));
    keyed
        .map(|entry| entry.key.value.as_ref())
        .chain(listed.filter_map(|item| item.get("name")?.text()))
        .collect()
}

/// The messages: role, text, and first line; the role is `None` for a conversation. Surrounding
/// blank lines are removed.
fn split_messages(body: &str, line: u32, threads: &[&str]) -> Vec<(Option<TurnRole>, String, u32)> {
    let mut all: Vec<(Option<TurnRole>, Vec<&str>, u32)> =
        vec![(Some(TurnRole::System), Vec::new(), line)];
    let mut speaker = TurnRole::System;
    for (at, written) in body.lines().enumerate() {
        let below = line + at as u32 + 1;
        let thread = written
            .trim()
            .strip_prefix("{{")
            .and_then(|rest| rest.strip_suffix("}}"))
            .map(str::trim);
        match (parse_role(written), all.last_mut()) {
            (Some(role), _) => {
                speaker = role;
                all.push((Some(role), Vec::new(), below));
            }
            (None, _) if thread.is_some_and(|name| threads.contains(&name)) => {
                all.extend([
                    (None, vec![written], below - 1),
                    (Some(speaker), Vec::new(), below),
                ]);
            }
            (None, Some((_, words, _))) => words.push(written),
            (None, None) => {}
        }
    }
    let message = |(role, words, line): (Option<TurnRole>, Vec<&str>, u32)| {
        let words = words.join("\n");
        let bare = words.trim_matches('\n');
        let head = words.len() - words.trim_start_matches('\n').len();
        (!bare.trim().is_empty()).then(|| {
            (
                role,
                bare.to_owned(),
                line + count_line_ends(words.get(..head).unwrap_or("")),
            )
        })
    };
    all.into_iter().filter_map(message).collect()
}

fn read_head(
    front: &FrontMatter<'_>,
    path: &str,
    imported: &mut ImportedPrompt,
) -> Vec<DeclaredInput> {
    let mut declared = Vec::new();
    for entry in front.root.entries().unwrap_or_default() {
        let key = entry.key.value.as_ref();
        let value = &entry.value;
        let line = front.line_of(value);
        match key {
            "name" => imported.name = value.text().map(super::prompt_names::kebab_case),
            "description" => imported.description = value.text().map(str::to_owned),
            "inputs" | "inputSchema" => declared = read_inputs(value, front, path, imported),
            "model" => imported.set_model(path, read_model(value)),
            "outputs" | "outputSchema" => imported.answers_json = true,
            "authors" | "tags" | "version" | "sample" | "template" | "metadata" | "kind"
            | "displayName" => {}
            "tools" => {
                let why =
                    "name the tools in the role that uses the task: `tools` of `[roles.NAME]`"
                        .to_owned();
                imported.add_note(
                    path,
                    line,
                    ImportNoteKind::Ignored {
                        key: key.to_owned(),
                        why,
                    },
                );
            }
            _ => imported.add_note(
                path,
                line,
                ImportNoteKind::Ignored {
                    key: key.to_owned(),
                    why: String::new(),
                },
            ),
        }
    }
    declared
}

fn read_model(node: &YamlNode<'_>) -> RequestedModel {
    let of = |node: Option<&YamlNode<'_>>, keys: &[&str]| {
        keys.iter()
            .find_map(|key| node?.get(key)?.text().map(str::to_owned))
    };
    let connection = node.get("configuration").or_else(|| node.get("connection"));
    let name = node.text().map(str::to_owned);
    let name = name
        .or_else(|| of(Some(node), &["id"]))
        .or_else(|| of(connection, &["azure_deployment", "model", "name"]));
    let provider = of(connection, &["type"]).or_else(|| of(Some(node), &["provider"]));
    let full = match (provider, name) {
        (Some(provider), Some(name)) => Some(format!("{provider}/{name}")),
        (None, name) => name,
        (Some(_), None) => None,
    };
    let options = node.get("parameters").or_else(|| node.get("options"));
    let settings = options
        .and_then(YamlNode::entries)
        .unwrap_or_default()
        .iter()
        .map(model_setting)
        .collect();
    RequestedModel::new(full.as_deref(), settings)
}

/// The declared inputs: a mapping of names, a list of properties, or a schema.
fn read_inputs(
    node: &YamlNode<'_>,
    front: &FrontMatter<'_>,
    path: &str,
    imported: &mut ImportedPrompt,
) -> Vec<DeclaredInput> {
    let node = node.get("properties").unwrap_or(node);
    let mut declared = Vec::new();
    let mut add = |name: String, node: &YamlNode<'_>| {
        let word = node
            .get("kind")
            .or_else(|| node.get("type"))
            .and_then(YamlNode::text)
            .unwrap_or("");
        if matches!(word, "image" | "audio" | "file") {
            let what = format!("input `{name}` of kind {word}");
            let why = "an input here is a text or data".to_owned();
            imported.add_note(
                path,
                front.line_of(node),
                ImportNoteKind::Unsupported { what, why },
            );
        }
        let default = node.get("default").map(front_matter::one_line);
        let is_optional = node
            .get("required")
            .is_some_and(|required| required.value == YamlValue::Bool(false));
        declared.push((
            ImportedParameter {
                name,
                kind: known_type(word),
                default,
            },
            is_optional,
        ));
    };
    for entry in node.entries().unwrap_or_default() {
        add(entry.key.value.to_string(), &entry.value);
    }
    for item in node.items().unwrap_or_default() {
        if let Some(name) = item.get("name").and_then(YamlNode::text) {
            add(name.to_owned(), item);
        }
    }
    declared
}

/// The inputs named only in a sample: their values are samples, not defaults.
fn sample_inputs(root: &YamlNode<'_>, declared: &[DeclaredInput]) -> Vec<DeclaredInput> {
    let entries = root
        .get("sample")
        .and_then(YamlNode::entries)
        .unwrap_or_default();
    let new = entries
        .iter()
        .filter(|entry| !declared.iter().any(|(one, _)| one.name == entry.key.value));
    new.map(|entry| {
        let kind = match entry.value.value {
            YamlValue::Text(_) => Some("string"),
            YamlValue::Bool(_) => Some("boolean"),
            YamlValue::Number(_) => Some("number"),
            YamlValue::List(_) => Some("array"),
            YamlValue::Map(_) => Some("object"),
            YamlValue::Null => None,
        };
        (
            ImportedParameter {
                name: entry.key.value.to_string(),
                kind,
                default: None,
            },
            false,
        )
    })
    .collect()
}
