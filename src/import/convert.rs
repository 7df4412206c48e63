//! Converts one prompt of any format.

use super::note::ImportNoteKind;
use super::prompt_model::{
    EngineOptions, ImportedPrompt, PromptFile, PromptFormat, PromptLibrary, PromptText, TurnRole,
};
use super::prompt_names::{path_in_folder, search_folders};
use super::{FORMATS, declared};

/// Reads a prompt. Faults are reported as notes.
pub fn convert_prompt(
    prompt: &PromptFile<'_>,
    library: &dyn PromptLibrary,
    options: EngineOptions,
) -> ImportedPrompt {
    let text = unix_lines(prompt.text);
    let prompt = &PromptFile {
        text: &text,
        ..*prompt
    };
    let mut imported = (prompt.format.read)(prompt, library, options);
    let others = std::mem::take(&mut imported.others);
    let others = others
        .into_iter()
        .map(|other| finish_import(prompt.path, other))
        .collect();
    ImportedPrompt {
        others,
        ..finish_import(prompt.path, imported)
    }
}

/// Applies the steps that are common to all formats.
fn finish_import(path: &str, mut imported: ImportedPrompt) -> ImportedPrompt {
    declared::require_inputs_with_failing_defaults(&mut imported);
    declared::drop_mismatched_types(&mut imported.parameters);
    check_order(path, &mut imported);
    let is_system = imported
        .turns
        .iter()
        .all(|turn| turn.role == TurnRole::System);
    if is_system && !imported.turns.is_empty() {
        imported = imported.into_system();
    }
    if let Some(suite) = &mut imported.suite {
        let parameters = &mut imported.parameters;
        for case in &mut suite.cases {
            case.inputs
                .retain(|(name, _)| parameters.iter().any(|one| one.name == *name));
        }
        let is_given = |name: &String| {
            suite
                .cases
                .iter()
                .all(|case| case.inputs.iter().any(|(given, _)| given == name))
        };
        // promptfoo treats a missing value as empty; here it would be an error.
        for one in parameters
            .iter_mut()
            .filter(|one| one.default.is_none() && !is_given(&one.name))
        {
            one.default = Some(String::new());
        }
    }
    imported
}

/// The format that matches the file name of a path.
pub fn format_of(path: &str) -> Option<&'static PromptFormat> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name
        .rsplit_once('.')
        .map_or("", |(_, ending)| ending)
        .to_ascii_lowercase();
    let is_so_named =
        |format: &&PromptFormat| format.stem.is_none_or(|stem| name.starts_with(stem));
    FORMATS
        .iter()
        .copied()
        .find(|format| format.endings.contains(&ending.as_str()) && is_so_named(format))
}

/// Checks that the language can express the messages in this order: a system message, examples of
/// questions and answers, the conversation, the question.
fn check_order(path: &str, imported: &mut ImportedPrompt) {
    let roles: Vec<TurnRole> = imported.turns.iter().map(|turn| turn.role).collect();
    let talk = roles.strip_prefix(&[TurnRole::System]).unwrap_or(&roles);
    let pairs = talk.strip_suffix(&[TurnRole::User]).unwrap_or(talk);
    let is_talk = pairs
        .chunks(2)
        .all(|pair| pair == [TurnRole::User, TurnRole::Assistant]);
    let question = if talk.is_empty() {
        roles.len()
    } else {
        roles.len() - 1
    };
    let is_behind = imported.history.iter().any(|before| *before > question);
    let refuse = |imported: &mut ImportedPrompt, what: &str, why: &str| {
        imported.add_note(
            path,
            0,
            ImportNoteKind::Unsupported {
                what: what.to_owned(),
                why: why.to_owned(),
            },
        );
    };
    match () {
        () if imported.has_errors() => {}
        () if roles.is_empty() => refuse(
            imported,
            "a prompt without a text",
            "there is nothing to say",
        ),
        () if roles
            .iter()
            .filter(|role| **role == TurnRole::System)
            .count()
            > 1 =>
        {
            let why =
                "a task has one: join them, or leave one to the role (`system` of `[roles.NAME]`)";
            refuse(imported, "several system messages", why);
        }
        () if !is_talk || !talk.is_empty() && talk.len() == pairs.len() => {
            let why =
                "expected a system message, questions with answers, and a question at the end";
            refuse(imported, "the order of its messages", why);
        }
        () if imported.history.iter().any(|before| *before < question) => {
            let why = "it belongs after the system message and the examples, before the question: move it there";
            refuse(imported, "the place of the conversation", why);
        }
        () if is_behind => handle_follow_up(path, imported),
        () => {}
    }
}

/// Handles a conversation after the question, as in an agent that calls tools: the question is then
/// a message of it.
fn handle_follow_up(path: &str, imported: &mut ImportedPrompt) {
    let question = imported.turns.last().and_then(|turn| match &turn.body {
        PromptText::Inline(text) => text
            .trim()
            .strip_prefix("{{")?
            .strip_suffix("}}")
            .map(|name| name.trim().to_owned()),
        PromptText::InPlace { .. } => None,
    });
    let alone =
        question.and_then(|name| imported.parameters.iter_mut().find(|one| one.name == name));
    let what = "a conversation after the question".to_owned();
    let Some(parameter) = alone else {
        let why = "the question must be a single value, such as `{input}`: it becomes a message of the conversation once the agent is at work";
        return imported.add_note(
            path,
            0,
            ImportNoteKind::Unsupported {
                what,
                why: why.to_owned(),
            },
        );
    };
    parameter.default = Some(String::new());
    let difference = format!(
        "once the agent is at work, pass the question and what followed as the last messages of the conversation, and no `{}`",
        parameter.name
    );
    imported.add_note(path, 0, ImportNoteKind::Differs { what, difference });
}

/// The text with `\n` as line breaks.
fn unix_lines(text: &str) -> std::borrow::Cow<'_, str> {
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return text.into();
    }
    text.replace("\r\n", "\n").replace('\r', "\n").into()
}

/// The files that a prompt includes, as far as they exist.
pub fn included_files(prompt: &PromptFile<'_>, library: &dyn PromptLibrary) -> Vec<String> {
    let there = |path: &String| matches!(library.text(path), Ok(Some(_)));
    let find = |name: &String| {
        let all = search_folders(prompt.path, library.roots());
        all.iter()
            .filter_map(|folder| path_in_folder(folder, name))
            .find(|path| there(path))
    };
    (prompt.format.parts)(prompt.text)
        .iter()
        .filter_map(find)
        .collect()
}
