//! dotprompt, `.prompt`: front matter with schemas in picoschema, and Handlebars with `{{role
//! "system"}}` between messages.

use super::braces::plain_names;
use super::declared::{self, DeclaredInput};
use super::front_matter::{self, FrontMatter};
use super::handlebars::{self, TagDialect};
use super::mustache::{TagMark, split_tags};
use super::note::ImportNoteKind;
use super::prompt_model::{
    ImportedParameter, ImportedPrompt, ImportedTurn, PlaceholderSyntax, PromptFile, PromptFormat,
    PromptLibrary, PromptText, RequestedModel, TurnRole,
};
use super::prompt_names::folder;
use super::{jinja, picoschema};
use crate::base::lines::count_line_ends;
use crate::jinja::builtins::has_statement;
use crate::syntax::yaml::YamlNode;
use std::collections::BTreeSet;

pub(super) static FORMAT: PromptFormat = PromptFormat {
    help: "`.prompt` files of dotprompt",
    files: "`.prompt`.",
    part: Some("_"),
    parts: |text| {
        if is_jinja(text) {
            (jinja::FORMAT.parts)(text)
        } else {
            Vec::new()
        }
    },
    ..PromptFormat::new(
        "dotprompt",
        "dotprompt",
        &["prompt"],
        |prompt, library, options| {
            if is_jinja(prompt.text) {
                jinja::read_jinja(prompt, library, options)
            } else {
                read_dotprompt(prompt, library)
            }
        },
    )
};

/// Returns true if a file is Jinja: other tools use the extension `.prompt` too, without front
/// matter.
fn is_jinja(text: &str) -> bool {
    !text.trim_start().starts_with("---") && has_statement(text)
}

/// Reads a file.
fn read_dotprompt(prompt: &PromptFile<'_>, library: &dyn PromptLibrary) -> ImportedPrompt {
    let mut imported = ImportedPrompt::default();
    let front = front_matter::split_prompt(prompt.path, prompt.text, &mut imported);
    let declared = read_head(&front, prompt.path, &mut imported);
    let lists: BTreeSet<String> = declared
        .iter()
        .filter(|(one, _)| one.kind == Some("array"))
        .map(|(one, _)| one.name.clone())
        .collect();
    let front_matter = if front.text.is_empty() {
        ""
    } else {
        "its front matter is in the same file, and "
    };
    let why = format!("{front_matter}its Handlebars is written in another way here");
    imported.add_note(prompt.path, 0, ImportNoteKind::Inlined { why });
    if has_statement(front.body) {
        let difference =
            "they stay plain text, as in Handlebars: with `--from jinja` they are statements"
                .to_owned();
        imported.add_note(
            prompt.path,
            0,
            ImportNoteKind::Differs {
                what: "`{% … %}`".to_owned(),
                difference,
            },
        );
    }
    let mut used = Vec::new();
    let whole = with_partials(front.body.trim(), folder(prompt.path), library, PARTIALS);
    let body = whole.as_str();
    let line = front.body_line + leading_lines(front.body);
    for (role, words, offset) in split_messages(body, prompt.path, line, &mut imported) {
        let Some(role) = role else {
            imported.history.push(imported.turns.len());
            continue;
        };
        let line = line + count_line_ends(body.get(..offset).unwrap_or(""));
        let message = SourceMessage {
            path: prompt.path,
            line,
            role,
            text: words,
            dialect: TagDialect::Handlebars,
            lists: &lists,
        };
        let turn = convert_message(&message, &mut used, &mut imported);
        imported.turns.push(turn);
    }
    let line = front
        .root
        .get("input")
        .map_or(0, |node| front.line_of(node));
    declared::merge_inputs(declared, &used, prompt.path, line, &mut imported);
    imported
}

/// The maximum nesting of partials.
const PARTIALS: usize = 8;

/// Returns a text with each `{{> name}}` replaced by the text of `_name.prompt` in the same folder.
/// A partial that does not exist, has arguments, or includes itself is left as written; the
/// conversion later rejects it by name.
fn with_partials(text: &str, folder: &str, library: &dyn PromptLibrary, depth: usize) -> String {
    let mut out = String::new();
    let mut at = 0;
    for tag in split_tags(text)
        .into_iter()
        .filter(|tag| tag.mark == TagMark::Partial && depth > 0)
    {
        let name = tag.text(text);
        let path = if folder.is_empty() {
            format!("_{name}.prompt")
        } else {
            format!("{folder}/_{name}.prompt")
        };
        let end = text
            .get(tag.inner.end..)
            .and_then(|rest| rest.find("}}"))
            .map_or(text.len(), |end| tag.inner.end + end + 2);
        let Ok(Some(part)) = library.text(&path) else {
            continue;
        };
        let mut unread = ImportedPrompt::default();
        let part = with_partials(
            front_matter::split_prompt(&path, &part, &mut unread)
                .body
                .trim(),
            folder,
            library,
            depth - 1,
        );
        out.extend([text.get(at..tag.start).unwrap_or_default(), &part]);
        at = end;
    }
    out + text.get(at..).unwrap_or_default()
}

/// The number of lines that trimming removes at the beginning of a text.
pub(super) fn leading_lines(text: &str) -> u32 {
    count_line_ends(
        text.get(..text.len() - text.trim_start().len())
            .unwrap_or(""),
    )
}

/// A message of a prompt, as written.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourceMessage<'a> {
    /// Its file, and the line of its first character.
    pub(super) path: &'a str,
    pub(super) line: u32,
    pub(super) role: TurnRole,
    pub(super) text: &'a str,
    pub(super) dialect: TagDialect,
    /// The inputs that are lists.
    pub(super) lists: &'a BTreeSet<String>,
}

/// Converts one message, and adds its inputs to `used`.
pub(super) fn convert_message(
    message: &SourceMessage<'_>,
    used: &mut Vec<ImportedParameter>,
    imported: &mut ImportedPrompt,
) -> ImportedTurn {
    let SourceMessage {
        path,
        line,
        role,
        text,
        dialect,
        lists,
    } = *message;
    let written = handlebars::convert_text(text, dialect, lists);
    for (at, kind) in written.notes {
        imported.add_note(
            path,
            line + count_line_ends(text.get(..at).unwrap_or("")),
            kind,
        );
    }
    let any = |name: String| ImportedParameter {
        name,
        kind: None,
        default: None,
    };
    let names = match written.syntax {
        PlaceholderSyntax::Jinja if imported.has_errors() => Vec::new(),
        PlaceholderSyntax::Jinja => jinja::find_inputs(path, &written.text, &mut imported.notes),
        PlaceholderSyntax::Plain | PlaceholderSyntax::Verbatim => {
            plain_names(&written.text).into_iter().map(any).collect()
        }
    };
    declared::add_inputs(used, names);
    ImportedTurn {
        role,
        body: PromptText::Inline(written.text),
        syntax: written.syntax,
    }
}

/// The messages of a template: role, text, and offset in the body; the role is `None` for the
/// conversation. Roles and conversations inside blocks stay in place, and are noted.
fn split_messages<'t>(
    body: &'t str,
    path: &str,
    line: u32,
    imported: &mut ImportedPrompt,
) -> Vec<(Option<TurnRole>, &'t str, usize)> {
    let mut all = Vec::new();
    let mut role = TurnRole::User;
    let mut start = 0;
    let mut depth = 0_usize;
    for tag in split_tags(body) {
        match tag.mark {
            TagMark::Open | TagMark::Inverted => depth += 1,
            TagMark::Close => depth = depth.saturating_sub(1),
            TagMark::Words
            | TagMark::Value
            | TagMark::Raw
            | TagMark::Else
            | TagMark::Comment
            | TagMark::Partial => {}
        }
        let word = tag.text(body);
        let end = || {
            body.get(tag.inner.end..)
                .and_then(|rest| rest.find("}}"))
                .map_or(body.len(), |at| tag.inner.end + at + 2)
        };
        if word == "history" && tag.mark == TagMark::Value && depth == 0 {
            // The text after it belongs to the model, unless another role begins.
            all.extend([(Some(role), start..tag.start), (None, tag.start..end())]);
            (role, start) = (TurnRole::Assistant, end());
            continue;
        }
        let Some(named) = word
            .strip_prefix("role")
            .map(str::trim)
            .filter(|_| tag.mark == TagMark::Value && depth == 0)
        else {
            continue;
        };
        let next = match named.trim_matches(['"', '\'']) {
            "system" => TurnRole::System,
            "user" => TurnRole::User,
            "model" | "assistant" => TurnRole::Assistant,
            _ => {
                let what = format!("`{{{{{word}}}}}`");
                let why = "expected system, user or model".to_owned();
                imported.add_note(
                    path,
                    line + count_line_ends(body.get(..tag.start).unwrap_or("")),
                    ImportNoteKind::Unsupported { what, why },
                );
                continue;
            }
        };
        all.push((Some(role), start..tag.start));
        (role, start) = (next, end());
    }
    all.push((Some(role), start..body.len()));
    let text = |(role, range): (Option<TurnRole>, std::ops::Range<usize>)| {
        Some((role, body.get(range.clone())?, range.start))
    };
    all.into_iter()
        .filter_map(text)
        .filter(|(_, text, _)| !text.trim().is_empty())
        .collect()
}

/// Reads the front matter.
pub(super) fn read_head(
    front: &FrontMatter<'_>,
    path: &str,
    imported: &mut ImportedPrompt,
) -> Vec<DeclaredInput> {
    let mut declared = Vec::new();
    let mut model = None;
    let mut settings = Vec::new();
    for entry in front.root.entries().unwrap_or_default() {
        let key = entry.key.value.as_ref();
        let value = &entry.value;
        let line = front.line_of(value);
        match key {
            "name" => imported.name = value.text().map(super::prompt_names::kebab_case),
            "description" => imported.description = value.text().map(str::to_owned),
            "model" => model = value.text().map(str::to_owned),
            "config" => settings.extend(
                value
                    .entries()
                    .unwrap_or_default()
                    .iter()
                    .map(model_setting),
            ),
            "input" => declared = read_inputs(value),
            "output" => read_output(value, path, line, imported),
            "variant" | "version" | "metadata" => {}
            "tools" | "toolDefs" => {
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
    if model.is_some() || !settings.is_empty() {
        imported.set_model(path, RequestedModel::new(model.as_deref(), settings));
    }
    declared
}

pub(super) fn model_setting(entry: &crate::syntax::yaml::YamlEntry<'_>) -> (String, String) {
    (
        entry.key.value.to_string(),
        front_matter::one_line(&entry.value),
    )
}

fn read_inputs(node: &YamlNode<'_>) -> Vec<DeclaredInput> {
    let mut declared = node
        .get("schema")
        .map(picoschema::declared_inputs)
        .unwrap_or_default();
    for entry in node
        .get("default")
        .and_then(YamlNode::entries)
        .unwrap_or_default()
    {
        let default = Some(front_matter::one_line(&entry.value));
        match declared
            .iter_mut()
            .find(|(one, _)| one.name == entry.key.value)
        {
            Some((one, _)) => one.default = default,
            None => declared.push((
                ImportedParameter {
                    name: entry.key.value.to_string(),
                    kind: None,
                    default,
                },
                true,
            )),
        }
    }
    declared
}

fn read_output(node: &YamlNode<'_>, path: &str, line: u32, imported: &mut ImportedPrompt) {
    let schema = node.get("schema");
    let is_json = node.get("format").and_then(YamlNode::text) == Some("json") || schema.is_some();
    if !is_json {
        return;
    }
    imported.answers_json = true;
    match schema.map(picoschema::to_json_schema) {
        None => {}
        Some(Some(schema)) => imported.schema = Some(schema),
        Some(None) => {
            let why = "its schema cannot be read".to_owned();
            imported.add_note(
                path,
                line,
                ImportNoteKind::Ignored {
                    key: "output.schema".to_owned(),
                    why,
                },
            );
        }
    }
}
