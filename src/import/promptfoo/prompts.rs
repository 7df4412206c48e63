//! The prompts of a configuration: texts, chats in JSON, and files of both.

use super::source::{ConfigSource, PROGRAM_EXTENSIONS, file_extension};
use crate::import::declared::empty_value;
use crate::import::front_matter::FrontMatter;
use crate::import::note::ImportNoteKind;
use crate::import::prompt_model::{
    EngineOptions, ImportedPrompt, ImportedTurn, PlaceholderSyntax, PromptFile, PromptText,
    TurnRole,
};
use crate::import::prompt_names::{kebab_case, task_name};
use crate::import::{declared, jinja};
use crate::syntax::yaml::{self, YamlNode};

/// Extensions of files that are prompts even without `file://`.
const PROMPT_EXTENSIONS: [&str; 9] = [
    "txt", "md", "j2", "json", "jsonl", "yaml", "yml", "csv", "xml",
];

/// Reads all prompts; returns at least one, with notes on faults.
pub(super) fn read_prompts(
    source: &ConfigSource<'_>,
    front: &FrontMatter<'_>,
    options: EngineOptions,
) -> Vec<ImportedPrompt> {
    let Some(node) = front.root.get("prompts") else {
        let mut none = ImportedPrompt::default();
        let why = "there is no text to carry over".to_owned();
        none.add_note(
            source.path,
            0,
            ImportNoteKind::Unsupported {
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
                    item.get("label").and_then(YamlNode::text),
                )
            })
            .collect(),
        (None, Some(entries)) => {
            let one = |entry: &'_ yaml::YamlEntry<'_>| front.line_of(&entry.value);
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
        let mut found = read_prompt(source, text, line, options);
        let file = referenced_file(text).map(task_name);
        let own = label
            .map(|label| kebab_case(label).chars().take(40).collect::<String>())
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
            finish_prompt(source, line, one);
        }
        all.append(&mut found);
    }
    all
}

/// The file that a prompt refers to.
fn referenced_file(text: &str) -> Option<&str> {
    let is_word = !text.contains(['\n', ' ', '{']);
    let is_named = PROMPT_EXTENSIONS.contains(&file_extension(text))
        || PROGRAM_EXTENSIONS.contains(&file_extension(text));
    text.strip_prefix("file://")
        .or_else(|| (is_word && is_named && !text.contains("://")).then_some(text))
}

fn read_prompt(
    source: &ConfigSource<'_>,
    text: &str,
    line: u32,
    options: EngineOptions,
) -> Vec<ImportedPrompt> {
    let refused = |what: &str, why: &str| {
        let mut one = ImportedPrompt::default();
        one.add_note(
            source.path,
            line,
            ImportNoteKind::Unsupported {
                what: what.to_owned(),
                why: why.to_owned(),
            },
        );
        vec![one]
    };
    let Some(name) = referenced_file(text) else {
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
            _ => vec![inline_prompt(
                source.path,
                text,
                line,
                "it is written inside the configuration",
            )],
        };
    };
    let kind = file_extension(name);
    if PROGRAM_EXTENSIONS.contains(&kind) {
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
    let place = source.file_path(name);
    let text = match source.library.text(&place) {
        Ok(Some(text)) => text.replace("\r\n", "\n"),
        Ok(None) => {
            let mut one = ImportedPrompt::default();
            one.add_note(
                source.path,
                line,
                ImportNoteKind::MissingPart {
                    name: name.to_owned(),
                },
            );
            return vec![one];
        }
        Err(reason) => {
            let mut one = ImportedPrompt::default();
            one.add_note(
                source.path,
                line,
                ImportNoteKind::UnreadablePart {
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
        "json" | "yaml" | "yml" => vec![parse_chat(&place, &text, 1).unwrap_or_else(|| {
            let mut none = ImportedPrompt::default();
            none.add_note(&place, 1, invalid_chat_note());
            none
        })],
        _ if pages.len() > 1 => pages
            .iter()
            .map(|page| inline_prompt(&place, page, 0, "its file holds several prompts"))
            .collect(),
        _ => {
            let format = &jinja::FORMAT;
            vec![jinja::read_jinja(
                &PromptFile {
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
            Some(ImportedTurn {
                body: PromptText::InPlace { .. },
                ..
            })
        )
    }) {
        one.parts.insert(place.clone());
    }
    all
}

/// A text, or a chat in JSON.
fn inline_prompt(path: &str, text: &str, line: u32, why: &str) -> ImportedPrompt {
    if text.trim_start().starts_with('[')
        && let Some(chat) = parse_chat(path, text, line)
    {
        return chat;
    }
    let mut one = ImportedPrompt::default();
    one.add_note(
        path,
        line,
        ImportNoteKind::Inlined {
            why: why.to_owned(),
        },
    );
    if text.trim_start().starts_with('[') && text.contains("\"role\"") {
        one.add_note(path, line, invalid_chat_note());
    }
    add_turn(path, line, TurnRole::User, text, &mut one);
    one
}

/// The note on a text that should be a chat and is not.
fn invalid_chat_note() -> ImportNoteKind {
    let what = "a chat that is not a list of messages before its values are filled in".to_owned();
    ImportNoteKind::Unsupported {
        what,
        why: "write statements only in the texts of its messages".to_owned(),
    }
}

/// A chat in JSON or YAML; `None` if the text is not one.
fn parse_chat(path: &str, text: &str, line: u32) -> Option<ImportedPrompt> {
    let (root, faults) = yaml::parse_tree(text);
    let is_message = |item: &YamlNode<'_>| item.get("role").is_some();
    let messages = root
        .items()
        .filter(|items| faults.is_empty() && !items.is_empty() && items.iter().all(is_message))?;
    let mut one = ImportedPrompt::default();
    one.add_note(
        path,
        line,
        ImportNoteKind::Inlined {
            why: "it is a chat, inside other data".to_owned(),
        },
    );
    for message in messages {
        add_message(path, line, message, &mut one);
    }
    Some(one)
}

fn add_message(path: &str, line: u32, message: &YamlNode<'_>, one: &mut ImportedPrompt) {
    let role = match message.get("role").and_then(YamlNode::text).unwrap_or("") {
        "system" | "developer" => TurnRole::System,
        "user" => TurnRole::User,
        "assistant" => TurnRole::Assistant,
        other => {
            let what = format!("a message of `{other}`");
            return one.add_note(
                path,
                line,
                ImportNoteKind::Unsupported {
                    what,
                    why: "expected system, user or assistant".to_owned(),
                },
            );
        }
    };
    let content = message.get("content");
    let part = |node: &YamlNode<'_>| match node.items() {
        Some([only]) => only.get("text")?.text().map(str::to_owned),
        _ => None,
    };
    let Some(text) = content.and_then(|node| node.text().map(str::to_owned).or_else(|| part(node)))
    else {
        let what = "a message whose `content` is no text".to_owned();
        return one.add_note(
            path,
            line,
            ImportNoteKind::Unsupported {
                what,
                why: "write what it says as one text".to_owned(),
            },
        );
    };
    add_turn(path, line, role, &text, one);
}

fn add_turn(path: &str, line: u32, role: TurnRole, text: &str, one: &mut ImportedPrompt) {
    let (text, inputs) = jinja::adapt_text(path, text, line.max(1), one);
    declared::add_inputs(&mut one.parameters, inputs);
    one.turns.push(ImportedTurn {
        role,
        body: PromptText::Inline(text),
        syntax: PlaceholderSyntax::Jinja,
    });
}

/// Removes the types of its inputs, which are unknown, and notes names that are not inputs.
fn finish_prompt(source: &ConfigSource<'_>, line: u32, one: &mut ImportedPrompt) {
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
            one.add_note(
                source.path,
                line,
                ImportNoteKind::Unsupported {
                    what,
                    why: why.to_owned(),
                },
            );
        }
    }
    // Values of tests are texts, unless the fields of one are read. The text of an empty number or
    // list is not an empty text.
    for parameter in &mut one.parameters {
        let kind = parameter.kind;
        parameter.kind = kind.filter(|kind| *kind == "object");
        parameter.default = parameter.default.take().map(|default| {
            if parameter.kind.is_none() && default == empty_value(kind) {
                String::new()
            } else {
                default
            }
        });
    }
}
