//! Prompty, `.prompty`: front matter, and messages after lines such as `system:`, in Jinja or
//! Mustache.

use super::declared::{self, Declared};
use super::dotprompt::{setting, text};
use super::front_matter::{self, Front};
use super::handlebars::Dialect;
use super::jinja;
use super::model::{Body, Format, Imported, Parameter, Prompt, Role, Syntax, Turn};
use super::note::NoteKind;
use super::picoschema::kind;
use super::settings::Model;
use crate::base::lines::ended;
use crate::syntax::yaml::{Node, Value};
use std::collections::BTreeSet;

pub(super) static FORMAT: Format = Format {
    help: "`.prompty` files of Prompty",
    files: "`.prompty`.",
    ..Format::new(("prompty", "Prompty"), &["prompty"], |prompt, _, _| {
        read(prompt)
    })
};

fn read(prompt: &Prompt<'_>) -> Imported {
    let mut imported = Imported::default();
    let front = front_matter::split(prompt.path, prompt.text, &mut imported);
    let mut declared = head(&front, prompt.path, &mut imported);
    declared.extend(samples(&front.root, &declared));
    let lists: BTreeSet<String> = declared
        .iter()
        .filter(|(one, _)| one.kind == Some("array"))
        .map(|(one, _)| one.name.clone())
        .collect();
    let why = "its front matter is in the same file".to_owned();
    imported.note(prompt.path, 0, NoteKind::Inlined { why });
    let mut used = Vec::new();
    let is_mustache = engine(&front.root).is_some_and(|word| word == "mustache");
    let threads = threads(&front.root);
    declared.retain(|(one, _)| !threads.contains(&one.name.as_str()));
    for (role, words, line) in messages(front.body, front.body_line, &threads) {
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
            let kind = NoteKind::Unsupported {
                what: format!("the image in `{}`", written.trim()),
                why,
            };
            imported.note(prompt.path, line + at as u32, kind);
        }
        let turn = if is_mustache {
            text(
                prompt.path,
                &words,
                line,
                role,
                (Dialect::Mustache, &lists),
                &mut used,
                &mut imported,
            )
        } else {
            let (text, inputs) = jinja::text(prompt.path, &words, line, &mut imported);
            declared::merge(&mut used, inputs);
            Turn {
                role,
                body: Body::Inline(text),
                syntax: Syntax::Jinja,
            }
        };
        imported.turns.push(stripped(turn));
    }
    let line = front
        .root
        .get("inputs")
        .or_else(|| front.root.get("sample"))
        .map_or(0, |node| front.line_of(node));
    declared::settle(declared, &used, prompt.path, line, &mut imported);
    imported
}

/// Reproduces that Prompty removes line breaks at both ends of a rendered message, including those
/// that a block leaves.
fn stripped(mut turn: Turn) -> Turn {
    if let Body::Inline(text) = &mut turn.body
        && turn.syntax == Syntax::Jinja
        && (text.starts_with("{%") || text.ends_with("%}"))
    {
        *text = format!("{{% filter trim(\"\\n\") -%}}\n{text}\n{{%- endfilter %}}");
    }
    turn
}

/// `template: mustache`, `template: {type: mustache}`, `template: {format: mustache}` or `{format:
/// {kind: mustache}}`.
fn engine(root: &Node<'_>) -> Option<String> {
    let node = root.get("template")?;
    let inner = node
        .get("type")
        .or_else(|| node.get("format"))
        .unwrap_or(node);
    inner.get("kind").unwrap_or(inner).text().map(str::to_owned)
}

/// The role in a line that begins a message.
fn role(line: &str) -> Option<Role> {
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
        "system" | "developer" => Some(Role::System),
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        _ => None,
    }
}

/// The names of inputs that contain conversations.
fn threads<'n>(root: &'n Node<'_>) -> Vec<&'n str> {
    let node = root.get("inputs").or_else(|| root.get("inputSchema"));
    let Some(node) = node.map(|node| node.get("properties").unwrap_or(node)) else {
        return Vec::new();
    };
    let is_thread = |node: &Node<'_>| {
        node.get("kind")
            .or_else(|| node.get("type"))
            .and_then(Node::text)
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
fn messages(body: &str, line: u32, threads: &[&str]) -> Vec<(Option<Role>, String, u32)> {
    let mut all: Vec<(Option<Role>, Vec<&str>, u32)> = vec![(Some(Role::System), Vec::new(), line)];
    let mut speaker = Role::System;
    for (at, written) in body.lines().enumerate() {
        let below = line + at as u32 + 1;
        let thread = written
            .trim()
            .strip_prefix("{{")
            .and_then(|rest| rest.strip_suffix("}}"))
            .map(str::trim);
        match (role(written), all.last_mut()) {
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
    let message = |(role, words, line): (Option<Role>, Vec<&str>, u32)| {
        let words = words.join("\n");
        let bare = words.trim_matches('\n');
        let head = words.len() - words.trim_start_matches('\n').len();
        (!bare.trim().is_empty()).then(|| {
            (
                role,
                bare.to_owned(),
                line + ended(words.get(..head).unwrap_or("")),
            )
        })
    };
    all.into_iter().filter_map(message).collect()
}

fn head(front: &Front<'_>, path: &str, imported: &mut Imported) -> Vec<Declared> {
    let mut declared = Vec::new();
    for entry in front.root.entries().unwrap_or_default() {
        let key = entry.key.value.as_ref();
        let value = &entry.value;
        let line = front.line_of(value);
        match key {
            "name" => imported.name = value.text().map(super::names::kebab),
            "description" => imported.description = value.text().map(str::to_owned),
            "inputs" | "inputSchema" => declared = inputs(value, front, path, imported),
            "model" => imported.model(path, model(value)),
            "outputs" | "outputSchema" => imported.answers_json = true,
            "authors" | "tags" | "version" | "sample" | "template" | "metadata" | "kind"
            | "displayName" => {}
            "tools" => {
                let why =
                    "name the tools in the role that uses the task: `tools` of `[roles.NAME]`"
                        .to_owned();
                imported.note(
                    path,
                    line,
                    NoteKind::Ignored {
                        key: key.to_owned(),
                        why,
                    },
                );
            }
            _ => imported.note(
                path,
                line,
                NoteKind::Ignored {
                    key: key.to_owned(),
                    why: String::new(),
                },
            ),
        }
    }
    declared
}

fn model(node: &Node<'_>) -> Model {
    let of = |node: Option<&Node<'_>>, keys: &[&str]| {
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
        .and_then(Node::entries)
        .unwrap_or_default()
        .iter()
        .map(setting)
        .collect();
    Model::new(full.as_deref(), settings)
}

/// The declared inputs: a mapping of names, a list of properties, or a schema.
fn inputs(
    node: &Node<'_>,
    front: &Front<'_>,
    path: &str,
    imported: &mut Imported,
) -> Vec<Declared> {
    let node = node.get("properties").unwrap_or(node);
    let mut declared = Vec::new();
    let mut add = |name: String, node: &Node<'_>| {
        let word = node
            .get("kind")
            .or_else(|| node.get("type"))
            .and_then(Node::text)
            .unwrap_or("");
        if matches!(word, "image" | "audio" | "file") {
            let what = format!("input `{name}` of kind {word}");
            let why = "an input here is a text or data".to_owned();
            imported.note(
                path,
                front.line_of(node),
                NoteKind::Unsupported { what, why },
            );
        }
        let default = node.get("default").map(front_matter::shown);
        let is_optional = node
            .get("required")
            .is_some_and(|required| required.value == Value::Bool(false));
        declared.push((
            Parameter {
                name,
                kind: kind(word),
                default,
            },
            is_optional,
        ));
    };
    for entry in node.entries().unwrap_or_default() {
        add(entry.key.value.to_string(), &entry.value);
    }
    for item in node.items().unwrap_or_default() {
        if let Some(name) = item.get("name").and_then(Node::text) {
            add(name.to_owned(), item);
        }
    }
    declared
}

/// The inputs named only in a sample: their values are samples, not defaults.
fn samples(root: &Node<'_>, declared: &[Declared]) -> Vec<Declared> {
    let entries = root
        .get("sample")
        .and_then(Node::entries)
        .unwrap_or_default();
    let new = entries
        .iter()
        .filter(|entry| !declared.iter().any(|(one, _)| one.name == entry.key.value));
    new.map(|entry| {
        let kind = match entry.value.value {
            Value::Text(_) => Some("string"),
            Value::Bool(_) => Some("boolean"),
            Value::Number(_) => Some("number"),
            Value::List(_) => Some("array"),
            Value::Map(_) => Some("object"),
            Value::Null => None,
        };
        (
            Parameter {
                name: entry.key.value.to_string(),
                kind,
                default: None,
            },
            false,
        )
    })
    .collect()
}
