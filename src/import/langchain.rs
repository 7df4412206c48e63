//! Prompts of `LangChain` in YAML or JSON: `prompt` and `chat`, in f-strings, Jinja or Mustache.

use super::braces::{ImportedPiece, write_pieces};
use super::dotprompt::{SourceMessage, convert_message};
use super::front_matter::{self, FrontMatter};
use super::fstring::{self, BraceStyle};
use super::handlebars::TagDialect;
use super::markdown::{Placeholders, detect_placeholders, mixed_note};
use super::note::ImportNoteKind;
use super::prompt_model::{
    ImportedParameter, ImportedPrompt, ImportedTurn, PlaceholderSyntax, PromptFile, PromptFormat,
    PromptText, TurnRole,
};
use super::{declared, jinja};
use crate::syntax::yaml::{YamlNode, YamlValue};
use std::collections::BTreeSet;

pub(super) static FORMAT: PromptFormat = PromptFormat {
    help: "YAML or JSON of `LangChain`",
    files: "`.yaml`, `.json` with a prompt of `LangChain` in it.",
    is_prompt: Some(is_prompt),
    ..PromptFormat::new(
        "langchain",
        "LangChain",
        &["yaml", "yml", "json"],
        |prompt, _, _| read_langchain(prompt),
    )
};

/// Returns true if a text is a prompt of `LangChain`, and not other data.
fn is_prompt(text: &str) -> bool {
    let head = text.get(..text.floor_char_boundary(1 << 20)).unwrap_or("");
    let kinds = ["prompt", "few_shot", "chat"];
    let value = |rest: &str| {
        kinds.iter().any(|kind| {
            rest.trim_start_matches(['"', '\'', ' ', ':'])
                .starts_with(kind)
        })
    };
    let is_plain = head.split("_type").skip(1).any(value);
    // The loader treats data without a type as a prompt.
    let in_json = |key: &str| {
        head.split(&format!("\"{key}\""))
            .skip(1)
            .any(|rest| rest.trim_start().starts_with(':'))
    };
    let in_yaml = |key: &str| {
        head.lines()
            .any(|line| line.trim_start_matches(['\'', ' ']).starts_with(key))
    };
    let has = |key: &str| in_json(key) || in_yaml(key);
    is_plain
        || has("input_variables") && has("template")
        || head.contains("ChatPromptTemplate")
        || head.contains("\"PromptTemplate\"")
}

struct LangChainReader<'a> {
    path: &'a str,
    front: &'a FrontMatter<'a>,
    imported: ImportedPrompt,
    used: Vec<ImportedParameter>,
    /// The variables that contain messages.
    placeholders: BTreeSet<String>,
}

fn read_langchain(prompt: &PromptFile<'_>) -> ImportedPrompt {
    let mut imported = ImportedPrompt::default();
    let text = front_matter::indent_quotes(prompt.text);
    let front = front_matter::read_whole(prompt.path, &text, &mut imported);
    let why = "it is written in YAML or JSON, inside other data".to_owned();
    imported.add_note(prompt.path, 0, ImportNoteKind::Inlined { why });
    let mut reader = LangChainReader {
        path: prompt.path,
        front: &front,
        imported,
        used: Vec::new(),
        placeholders: BTreeSet::new(),
    };
    let node = front.root.get("kwargs").unwrap_or(&front.root);
    match front.root.get("_type").and_then(YamlNode::text) {
        Some("few_shot") => {
            let why = "write the examples into the text of a `_type: prompt`, or as `<examples>` into a template";
            reader.note_unsupported(node, "`_type: few_shot`", why);
        }
        _ if node.get("messages").is_some() => reader.read_chat(node),
        _ => reader.read_template(node, TurnRole::User),
    }
    let LangChainReader {
        mut imported,
        used,
        placeholders,
        ..
    } = reader;
    let partial = node
        .get("partial_variables")
        .and_then(YamlNode::entries)
        .unwrap_or_default();
    let declared: Vec<declared::DeclaredInput> = node
        .get("input_variables")
        .and_then(YamlNode::items)
        .unwrap_or_default()
        .iter()
        .filter_map(YamlNode::text)
        .map(|name| {
            (
                ImportedParameter {
                    name: name.to_owned(),
                    kind: None,
                    default: None,
                },
                false,
            )
        })
        .chain(partial.iter().map(|entry| {
            let default = Some(front_matter::one_line(&entry.value));
            (
                ImportedParameter {
                    name: entry.key.value.to_string(),
                    kind: None,
                    default,
                },
                true,
            )
        }))
        .filter(|(one, _)| !placeholders.contains(&one.name))
        .collect();
    let line = node
        .get("input_variables")
        .map_or(0, |node| front.line_of(node));
    // The inputs of a prompt without a text are unknown.
    if !imported.turns.is_empty() {
        declared::merge_inputs(declared, &used, prompt.path, line, &mut imported);
    }
    imported
}

impl LangChainReader<'_> {
    fn note_unsupported(&mut self, node: &YamlNode<'_>, what: &str, why: &str) {
        let kind = ImportNoteKind::Unsupported {
            what: what.to_owned(),
            why: why.to_owned(),
        };
        let line = self.front.line_of(node);
        self.imported.add_note(self.path, line, kind);
    }

    /// Reads a node of `_type: prompt`.
    fn read_template(&mut self, node: &YamlNode<'_>, role: TurnRole) {
        let Some(template) = node.get("template").and_then(YamlNode::text) else {
            let why = "a text in a file of its own, such as `template_path` names, is not read: write it into `template`";
            return self.note_unsupported(node, "a prompt without `template`", why);
        };
        let format = node
            .get("template_format")
            .and_then(YamlNode::text)
            .unwrap_or("f-string")
            .to_owned();
        let line = node
            .get("template")
            .map_or(1, |node| self.front.line_of(node));
        self.add_turn(role, template, &format, line, node);
    }

    fn add_turn(
        &mut self,
        role: TurnRole,
        template: &str,
        format: &str,
        line: u32,
        node: &YamlNode<'_>,
    ) {
        match format {
            "f-string" => {
                let pieces = self.parse_pieces(template, line);
                self.add_pieces(role, &pieces);
            }
            "jinja2" => {
                let (text, inputs) =
                    jinja::adapt_text(self.path, template, line, &mut self.imported);
                declared::add_inputs(&mut self.used, inputs);
                self.imported.turns.push(ImportedTurn {
                    role,
                    body: PromptText::Inline(text),
                    syntax: PlaceholderSyntax::Jinja,
                });
            }
            "mustache" => {
                let message = SourceMessage {
                    path: self.path,
                    line,
                    role,
                    text: template,
                    dialect: TagDialect::Mustache,
                    lists: &BTreeSet::new(),
                };
                let turn = convert_message(&message, &mut self.used, &mut self.imported);
                self.imported.turns.push(turn);
            }
            other => self.note_unsupported(
                node,
                &format!("`template_format: {other}`"),
                "expected f-string, jinja2 or mustache",
            ),
        }
    }

    fn parse_pieces(&mut self, template: &str, line: u32) -> Vec<ImportedPiece> {
        let read = fstring::parse_text(template, BraceStyle::Escaped);
        for (_, kind) in read.faults {
            self.imported.add_note(self.path, line, kind);
        }
        read.pieces
    }

    fn add_pieces(&mut self, role: TurnRole, pieces: &[ImportedPiece]) {
        let any = |name: String| ImportedParameter {
            name,
            kind: None,
            default: None,
        };
        declared::add_inputs(
            &mut self.used,
            fstring::piece_names(pieces).into_iter().map(any).collect(),
        );
        let (text, syntax) = write_pieces(pieces);
        self.imported.turns.push(ImportedTurn {
            role,
            body: PromptText::Inline(text),
            syntax,
        });
    }

    /// Adds a message that is not a template: all characters are literal.
    fn add_literal(&mut self, role: TurnRole, inner: &YamlNode<'_>, message: &YamlNode<'_>) {
        let calls = [
            inner.get("tool_calls"),
            inner
                .get("additional_kwargs")
                .and_then(|more| more.get("tool_calls")),
        ];
        if calls
            .into_iter()
            .flatten()
            .any(|calls| calls.items().is_some_and(|calls| !calls.is_empty()))
        {
            return self.note_unsupported(
                message,
                "a message that calls tools",
                "hand it in as a conversation: `ctxc render --history`",
            );
        }
        match inner.get("content").and_then(YamlNode::text) {
            Some(content) => self.add_pieces(role, &[ImportedPiece::Words(content.to_owned())]),
            None => self.note_unsupported(
                message,
                "a message whose `content` is no text",
                "write what it says as one text",
            ),
        }
    }

    /// Reads a list of messages, in any of their notations.
    fn read_chat(&mut self, node: &YamlNode<'_>) {
        let messages = node
            .get("messages")
            .and_then(YamlNode::items)
            .unwrap_or_default();
        // Otherwise it is a list of messages in the form that every provider accepts.
        let is_of_langchain = ["_type", "lc", "kwargs", "input_variables"]
            .iter()
            .any(|key| self.front.root.get(key).is_some());
        for message in messages {
            let inner = message.get("kwargs").unwrap_or(message);
            let pair = message
                .items()
                .and_then(|items| Some((items.first()?.text()?, items.get(1)?.text()?)));
            let class = message
                .get("id")
                .and_then(YamlNode::items)
                .and_then(|id| id.last()?.text())
                .unwrap_or("");
            let named = inner
                .get("role")
                .or_else(|| inner.get("type"))
                .or_else(|| message.get("_type"))
                .and_then(YamlNode::text);
            let word = pair
                .map(|(role, _)| role)
                .or(named)
                .unwrap_or(class)
                .to_ascii_lowercase();
            let role = match () {
                () if word.contains("placeholder") => {
                    let name = pair.map(|(_, name)| name.trim_matches(['{', '}', ' ']));
                    self.placeholders.extend(
                        name.or_else(|| inner.get("variable_name")?.text())
                            .map(str::to_owned),
                    );
                    if inner
                        .get("n_messages")
                        .is_some_and(|most| most.value != YamlValue::Null)
                    {
                        let why = "leave it out, and write how much is kept into the template: `<history turns=\"…\"/>`";
                        self.note_unsupported(message, "`n_messages` of a placeholder", why);
                    }
                    self.imported.history.push(self.imported.turns.len());
                    continue;
                }
                () if word.starts_with("system") => TurnRole::System,
                () if word.starts_with("human") || word.starts_with("user") => TurnRole::User,
                () if word.starts_with("ai") || word.starts_with("assistant") => {
                    TurnRole::Assistant
                }
                () => {
                    self.note_unsupported(
                        message,
                        "a message without a role",
                        "expected system, human or ai",
                    );
                    continue;
                }
            };
            let line = self.front.line_of(message);
            // Only prompt templates are filled in; a message is sent verbatim.
            if class.ends_with("Message") || class.ends_with("MessageChunk") {
                self.add_literal(role, inner, message);
                continue;
            }
            let content = pair
                .map(|(_, text)| text)
                .or_else(|| inner.get("content").and_then(YamlNode::text));
            let written = node.get("template_format").and_then(YamlNode::text);
            let guessed = content
                .filter(|_| written.is_none() && !is_of_langchain)
                .map(detect_placeholders);
            if guessed.is_some()
                && let Some(kind) = content.and_then(mixed_note)
            {
                self.imported.add_note(self.path, line, kind);
                continue;
            }
            let is_jinja = matches!(guessed, Some(Placeholders::Jinja | Placeholders::Double));
            let format = written
                .unwrap_or(if is_jinja { "jinja2" } else { "f-string" })
                .to_owned();
            match (content, inner.get("prompt")) {
                (Some(content), _) => self.add_turn(role, content, &format, line, message),
                (None, Some(prompt)) => {
                    self.read_template(prompt.get("kwargs").unwrap_or(prompt), role);
                }
                (None, None) => self.read_template(inner, role),
            }
        }
    }
}
