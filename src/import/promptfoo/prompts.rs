//! The prompts of a configuration: texts, chats in JSON, and files of both.

use super::source::{PROGRAMS, Source, ending};
use crate::import::front_matter::Front;
use crate::import::model::{Body, Imported, Options, Prompt, Role, Syntax, Turn};
use crate::import::names::{kebab, task_name};
use crate::import::note::NoteKind;
use crate::import::{declared, jinja};
use crate::syntax::yaml::{self, Node};

/// Extensions of files that are prompts even without `file://`.
const TEXTS: [&str; 9] = [
    "txt", "md", "j2", "json", "jsonl", "yaml", "yml", "csv", "xml",
];

/// Reads all prompts; returns at least one, with notes on faults.
pub(super) fn read(source: &Source<'_>, front: &Front<'_>, options: Options) -> Vec<Imported> {
    let Some(node) = front.root.get("prompts") else {
        let mut none = Imported::default();
        let why = "there is no text to carry over".to_owned();
        none.note(
            source.path,
            0,
            NoteKind::Unsupported {
                what: "a configuration without `prompts`".to_owned(),
                why,
            },
        );
        return vec![none];
    };
    let written: Vec<(u32, Option<&str>, Option<&str>)> = match (node.items(), node.entries()) {
        (Some(items), _) => items
            .iter()
            .map(|item| {
                let text = item
                    .text()
                    .or_else(|| item.get("raw").or_else(|| item.get("id"))?.text());
                (
                    front.line_of(item),
                    text,
                    item.get("label").and_then(Node::text),
                )
            })
            .collect(),
        (None, Some(entries)) => {
            let one = |entry: &'_ yaml::Entry<'_>| front.line_of(&entry.value);
            entries
                .iter()
                .map(|entry| (one(entry), Some(&*entry.key.value), entry.value.text()))
                .collect()
        }
        (None, None) => vec![(front.line_of(node), node.text(), None)],
    };
    let is_one = written.len() == 1;
    let mut all = Vec::new();
    for (number, (line, text, label)) in written.into_iter().enumerate() {
        let text = text.unwrap_or("");
        let mut found = one(source, text, line, options);
        let file = file(text).map(task_name);
        let own = label
            .map(|label| kebab(label).chars().take(40).collect::<String>())
            .or(file);
        let name = own.unwrap_or_else(|| {
            if is_one {
                "prompt".to_owned()
            } else {
                format!("prompt-{}", number + 1)
            }
        });
        for one in &mut found {
            one.name = Some(name.trim_end_matches('-').to_owned());
            finish(source, line, one);
        }
        all.append(&mut found);
    }
    all
}

/// The file that a prompt refers to.
fn file(text: &str) -> Option<&str> {
    let is_word = !text.contains(['\n', ' ', '{']);
    let is_named = TEXTS.contains(&ending(text)) || PROGRAMS.contains(&ending(text));
    text.strip_prefix("file://")
        .or_else(|| (is_word && is_named && !text.contains("://")).then_some(text))
}

fn one(source: &Source<'_>, text: &str, line: u32, options: Options) -> Vec<Imported> {
    let refused = |what: &str, why: &str| {
        let mut one = Imported::default();
        one.note(
            source.path,
            line,
            NoteKind::Unsupported {
                what: what.to_owned(),
                why: why.to_owned(),
            },
        );
        vec![one]
    };
    let Some(name) = file(text) else {
        let scheme = text
            .split_once("://")
            .map(|(scheme, _)| scheme)
            .or_else(|| text.split_once(':').map(|(head, _)| head));
        return match scheme {
            _ if text.trim().is_empty() => {
                refused("a prompt without a text", "expected a text or a file")
            }
            Some(scheme @ ("exec" | "python" | "langfuse" | "portkey" | "helicone"))
                if !text.contains('\n') =>
            {
                refused(
                    &format!("a prompt from `{scheme}`"),
                    "its text lies elsewhere: write it into a file",
                )
            }
            _ => vec![inline(
                source.path,
                text,
                line,
                "it is written inside the configuration",
            )],
        };
    };
    let kind = ending(name);
    if PROGRAMS.contains(&kind) {
        return refused(
            &format!("the prompt `{name}`"),
            "a program writes it: write its text into a file",
        );
    }
    if name.contains(['*', '?']) || matches!(kind, "csv" | "jsonl") {
        return refused(
            &format!("the prompt `{name}`"),
            "name each prompt of it by a file of its own",
        );
    }
    let place = source.place(name);
    let text = match source.library.text(&place) {
        Ok(Some(text)) => text.replace("\r\n", "\n"),
        Ok(None) => {
            let mut one = Imported::default();
            one.note(
                source.path,
                line,
                NoteKind::MissingPart {
                    name: name.to_owned(),
                },
            );
            return vec![one];
        }
        Err(reason) => {
            let mut one = Imported::default();
            one.note(
                source.path,
                line,
                NoteKind::UnreadablePart {
                    name: name.to_owned(),
                    reason,
                },
            );
            return vec![one];
        }
    };
    let pages: Vec<&str> = text
        .split("\n---\n")
        .map(str::trim)
        .filter(|page| !page.is_empty())
        .collect();
    let mut all = match kind {
        "json" | "yaml" | "yml" => vec![chat(&place, &text, 1).unwrap_or_else(|| {
            let mut none = Imported::default();
            none.note(&place, 1, no_chat());
            none
        })],
        _ if pages.len() > 1 => pages
            .iter()
            .map(|page| inline(&place, page, 0, "its file holds several prompts"))
            .collect(),
        _ => {
            let format = &jinja::FORMAT;
            vec![jinja::read(
                &Prompt {
                    path: &place,
                    text: &text,
                    format,
                },
                source.library,
                options,
            )]
        }
    };
    for one in all.iter_mut().filter(|one| {
        !matches!(
            one.turns.first(),
            Some(Turn {
                body: Body::InPlace { .. },
                ..
            })
        )
    }) {
        one.parts.insert(place.clone());
    }
    all
}

/// A text, or a chat in JSON.
fn inline(path: &str, text: &str, line: u32, why: &str) -> Imported {
    if text.trim_start().starts_with('[')
        && let Some(chat) = chat(path, text, line)
    {
        return chat;
    }
    let mut one = Imported::default();
    one.note(
        path,
        line,
        NoteKind::Inlined {
            why: why.to_owned(),
        },
    );
    if text.trim_start().starts_with('[') && text.contains("\"role\"") {
        one.note(path, line, no_chat());
    }
    push(path, line, Role::User, text, &mut one);
    one
}

/// The note on a text that should be a chat and is not.
fn no_chat() -> NoteKind {
    let what = "a chat that is not a list of messages before its values are filled in".to_owned();
    NoteKind::Unsupported {
        what,
        why: "write statements only in the texts of its messages".to_owned(),
    }
}

/// A chat in JSON or YAML; `None` if the text is not one.
fn chat(path: &str, text: &str, line: u32) -> Option<Imported> {
    let (root, faults) = yaml::read(text);
    let is_message = |item: &Node<'_>| item.get("role").is_some();
    let messages = root
        .items()
        .filter(|items| faults.is_empty() && !items.is_empty() && items.iter().all(is_message))?;
    let mut one = Imported::default();
    one.note(
        path,
        line,
        NoteKind::Inlined {
            why: "it is a chat, inside other data".to_owned(),
        },
    );
    for message in messages {
        turn(path, line, message, &mut one);
    }
    Some(one)
}

fn turn(path: &str, line: u32, message: &Node<'_>, one: &mut Imported) {
    let role = match message.get("role").and_then(Node::text).unwrap_or("") {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        other => {
            let what = format!("a message of `{other}`");
            return one.note(
                path,
                line,
                NoteKind::Unsupported {
                    what,
                    why: "expected system, user or assistant".to_owned(),
                },
            );
        }
    };
    let content = message.get("content");
    let part = |node: &Node<'_>| match node.items() {
        Some([only]) => only.get("text")?.text().map(str::to_owned),
        _ => None,
    };
    let Some(text) = content.and_then(|node| node.text().map(str::to_owned).or_else(|| part(node)))
    else {
        let what = "a message whose `content` is no text".to_owned();
        return one.note(
            path,
            line,
            NoteKind::Unsupported {
                what,
                why: "write what it says as one text".to_owned(),
            },
        );
    };
    push(path, line, role, &text, one);
}

fn push(path: &str, line: u32, role: Role, text: &str, one: &mut Imported) {
    let (text, inputs) = jinja::text(path, text, line.max(1), one);
    declared::merge(&mut one.parameters, inputs);
    one.turns.push(Turn {
        role,
        body: Body::Inline(text),
        syntax: Syntax::Jinja,
    });
}

/// Removes the types of its inputs, which are unknown, and notes names that are not inputs.
fn finish(source: &Source<'_>, line: u32, one: &mut Imported) {
    let own = [
        (
            "_conversation",
            "hand the conversation in: `<history/>` of a template, `history` of a scenario",
        ),
        (
            "env",
            "a template reads no variable of the environment: make it an input",
        ),
    ];
    for (name, why) in own {
        if one
            .parameters
            .iter()
            .any(|parameter| parameter.name == name)
        {
            let what = format!("`{name}`");
            one.note(
                source.path,
                line,
                NoteKind::Unsupported {
                    what,
                    why: why.to_owned(),
                },
            );
        }
    }
    for parameter in &mut one.parameters {
        parameter.kind = None;
    }
}
