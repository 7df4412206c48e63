//! Prompts in Markdown or plain text. The kind of placeholders is detected: Jinja if there are
//! statements or filters, `{{name}}` if there are no others, else `{name}`; a text without any is
//! literal.

use super::fstring::{self, BraceStyle, is_name};
use super::note::ImportNoteKind;
use super::prompt_model::{
    EngineOptions, ImportedParameter, ImportedPrompt, ImportedTurn, PlaceholderSyntax, PromptFile,
    PromptFormat, PromptLibrary, PromptText, TurnRole,
};
use super::{braces, declared, dotprompt, front_matter, jinja};
use crate::jinja::builtins::has_statement;

pub(super) static FORMAT: PromptFormat = PromptFormat {
    help: "Markdown or plain text",
    files: "`.md`, `.txt` with placeholders.",
    named_endings: &["txt"],
    is_prompt: Some(is_prompt),
    reports_others: true,
    ..PromptFormat::new(
        "markdown",
        "Markdown",
        &["md", "markdown", "txt"],
        read_markdown,
    )
};

/// The kind of placeholders in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placeholders {
    /// No placeholders.
    None,
    /// `{{name}}`.
    Double,
    /// `{name}`, with literal braces doubled.
    Single,
    /// `{name}`, with all other braces literal.
    Replaced,
    /// Jinja.
    Jinja,
}

/// Detects the placeholders of a text.
pub(super) fn detect_placeholders(text: &str) -> Placeholders {
    let mut doubles = 0_usize;
    let mut is_jinja = has_statement(text);
    let mut others = false;
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("{{") {
        let Some((inner, behind)) = after.split_once("}}") else {
            break;
        };
        let inner = inner.trim();
        let root = inner.split(['.', '[', '|', '(', ' ']).next().unwrap_or("");
        if is_name(root)
            && inner
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
        {
            doubles += 1;
        } else if is_name(root) && inner.contains('|') {
            is_jinja = true;
        } else {
            others = true;
        }
        rest = behind;
    }
    if is_jinja {
        return Placeholders::Jinja;
    }
    let formatted = fstring::parse_text(text, BraceStyle::Escaped);
    let singles = fstring::piece_names(&formatted.pieces).len();
    match () {
        () if doubles > 0 && !others && singles == 0 => Placeholders::Double,
        () if singles > 0 && formatted.faults.is_empty() => Placeholders::Single,
        () if doubles > 0 => Placeholders::Double,
        () if !fstring::piece_names(&fstring::parse_text(text, BraceStyle::Literal).pieces)
            .is_empty() =>
        {
            Placeholders::Replaced
        }
        () => Placeholders::None,
    }
}

/// Returns true if a text of an unknown format contains `{{name}}`, except `${{name}}`, which is CI
/// syntax.
pub fn has_placeholders(text: &str) -> bool {
    !braces::plain_names(&text.replace("${{", "")).is_empty()
}

/// Returns true if a text contains placeholders: a page without any is imported only on request.
fn is_prompt(text: &str) -> bool {
    detect_placeholders(text) != Placeholders::None || !odd_names(text).is_empty()
}

/// The offsets of names such as `{{user-name}}`: they look like placeholders, but are a subtraction
/// in Jinja and invalid in the language.
fn odd_names(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some((before, after)) = text.get(at..).and_then(|rest| rest.split_once("{{")) {
        let Some((inner, _)) = after.split_once("}}") else {
            break;
        };
        let open = at + before.len();
        let name = inner.trim();
        let is_part =
            |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
        if name.contains('-')
            && name.starts_with(char::is_alphabetic)
            && name.split('-').all(is_part)
        {
            found.push((open, name));
        }
        at = open + inner.len() + 4;
    }
    found
}

/// Reads a file with optional front matter.
fn read_markdown(
    prompt: &PromptFile<'_>,
    library: &dyn PromptLibrary,
    options: EngineOptions,
) -> ImportedPrompt {
    if !prompt.text.starts_with("---\n") {
        return read_page(prompt, library, options);
    }
    let mut head = ImportedPrompt::default();
    let front = front_matter::split_prompt(prompt.path, prompt.text, &mut head);
    let declared = dotprompt::read_head(&front, prompt.path, &mut head);
    let mut imported = read_page(
        &PromptFile {
            text: front.body,
            ..*prompt
        },
        library,
        options,
    );
    for turn in &mut imported.turns {
        if let PromptText::InPlace { text, .. } = &turn.body {
            turn.body = PromptText::Inline(text.clone());
            let why = "its front matter is in the same file".to_owned();
            head.add_note(prompt.path, 0, ImportNoteKind::Inlined { why });
        }
    }
    let used = std::mem::take(&mut imported.parameters);
    let ImportedPrompt {
        name,
        description,
        model,
        answers_json,
        schema,
        notes,
        ..
    } = head;
    imported.notes.extend(notes);
    let mut imported = ImportedPrompt {
        name,
        description,
        model,
        answers_json,
        schema,
        ..imported
    };
    declared::merge_inputs(declared, &used, prompt.path, 1, &mut imported);
    imported
}

/// Reads a page without front matter.
fn read_page(
    prompt: &PromptFile<'_>,
    library: &dyn PromptLibrary,
    options: EngineOptions,
) -> ImportedPrompt {
    let mut imported = ImportedPrompt::default();
    let in_place = || PromptText::InPlace {
        path: prompt.path.to_owned(),
        text: prompt.text.to_owned(),
    };
    let (body, syntax) = match detect_placeholders(prompt.text) {
        Placeholders::Jinja => return jinja::read_jinja(prompt, library, options),
        Placeholders::None => (in_place(), PlaceholderSyntax::Verbatim),
        Placeholders::Double => {
            imported.parameters = braces::plain_names(prompt.text)
                .into_iter()
                .map(untyped_input)
                .collect();
            (in_place(), PlaceholderSyntax::Plain)
        }
        Placeholders::Single => convert_single(prompt, BraceStyle::Escaped, &mut imported),
        Placeholders::Replaced => convert_single(prompt, BraceStyle::Literal, &mut imported),
    };
    for (at, name) in odd_names(prompt.text) {
        let line = 1 + prompt.text.get(..at).unwrap_or("").matches('\n').count() as u32;
        let why = format!(
            "names have letters, digits and `_`: write `{}`",
            name.replace('-', "_")
        );
        imported.add_note(
            prompt.path,
            line,
            ImportNoteKind::Unsupported {
                what: format!("`{{{{ {name} }}}}`"),
                why,
            },
        );
    }
    if let Some(kind) = mixed_note(prompt.text) {
        imported.add_note(prompt.path, 0, kind);
    }
    imported.turns.push(ImportedTurn {
        role: TurnRole::User,
        body,
        syntax,
    });
    imported
}

/// The note on a text with both `{name}` and `{{ name }}`, since either can be the placeholder.
pub(super) fn mixed_note(text: &str) -> Option<ImportNoteKind> {
    let single = fstring::piece_names(&fstring::parse_text(text, BraceStyle::Escaped).pieces)
        .into_iter()
        .next()?;
    let double = braces::plain_names(text).into_iter().next()?;
    let what = format!("`{{{single}}}` beside `{{{{{double}}}}}`");
    let why = "either may stand for a value: write all values as `{{name}}`, and braces that are meant as `\\{{`".to_owned();
    Some(ImportNoteKind::Unsupported { what, why })
}

/// An untyped input: a placeholder does not reveal its type.
fn untyped_input(name: String) -> ImportedParameter {
    ImportedParameter {
        name,
        kind: None,
        default: None,
    }
}

fn convert_single(
    prompt: &PromptFile<'_>,
    how: BraceStyle,
    imported: &mut ImportedPrompt,
) -> (PromptText, PlaceholderSyntax) {
    let mut read = fstring::parse_text(prompt.text, how);
    // `${name}`, as in shells and JavaScript: if every placeholder has the sign, it is removed.
    let names = read
        .pieces
        .iter()
        .filter(|piece| matches!(piece, braces::ImportedPiece::Name(_)))
        .count();
    let is_dollar = names > 0 && prompt.text.matches("${").count() == names;
    if is_dollar {
        read = fstring::parse_text(&prompt.text.replace("${", "{"), how);
    }
    imported.parameters = fstring::piece_names(&read.pieces)
        .into_iter()
        .map(untyped_input)
        .collect();
    let other = if how == BraceStyle::Escaped {
        "and doubled braces become single ones"
    } else {
        "and all other braces stay"
    };
    let sign = if is_dollar { "$" } else { "" };
    let why =
        format!("a value is written `{sign}{{name}}` in it, which is `{{{{name}}}}` here, {other}");
    imported.add_note(prompt.path, 0, ImportNoteKind::Inlined { why });
    let (text, syntax) = braces::write_pieces(&read.pieces);
    (PromptText::Inline(text), syntax)
}

#[cfg(test)]
#[path = "../../tests/unit/import/markdown.rs"]
mod tests;
