//! One prompt, whatever its format.

use super::model::{Body, Format, Imported, Library, Options, Prompt, Role};
use super::names::{beside, folders};
use super::note::NoteKind;
use super::{declared, dotprompt, front, jinja, langchain, markdown, prompty};

/// Reads a prompt. What is wrong with it is among its notes.
pub fn convert(prompt: &Prompt<'_>, library: &dyn Library, options: Options) -> Imported {
    let text = unix(prompt.text);
    let prompt = &Prompt { text: &text, ..*prompt };
    let mut imported = match prompt.format {
        Format::Jinja => jinja::read(prompt, library, options),
        Format::Dotprompt => dotprompt::read(prompt),
        Format::Prompty => prompty::read(prompt),
        Format::Langchain => langchain::read(prompt, library),
        Format::Markdown if prompt.text.starts_with("---\n") => behind_front(prompt, library, options),
        Format::Markdown => markdown::read(prompt, library, options),
    };
    declared::fit(&mut imported.parameters);
    order(prompt.path, &mut imported);
    let is_system = imported.turns.iter().all(|turn| turn.role == Role::System);
    if is_system && !imported.turns.is_empty() { imported.into_system() } else { imported }
}

/// Whether a text of a format is a prompt, where its ending alone does not tell.
pub fn is_prompt(format: Format, text: &str) -> bool {
    match format {
        Format::Markdown => markdown::is_prompt(text),
        Format::Langchain => langchain::is_prompt(text),
        Format::Jinja | Format::Dotprompt | Format::Prompty => true,
    }
}

/// A page with front matter.
fn behind_front(prompt: &Prompt<'_>, library: &dyn Library, options: Options) -> Imported {
    let mut head = Imported::default();
    let front = front::split(prompt.path, prompt.text, &mut head);
    let declared = dotprompt::head(&front, prompt.path, &mut head);
    let mut imported = markdown::read(&Prompt { text: front.body, ..*prompt }, library, options);
    for turn in &mut imported.turns {
        if let Body::InPlace { text, .. } = &turn.body {
            turn.body = Body::Inline(text.clone());
            let why = "its front matter stands in the same file".to_owned();
            head.note(prompt.path, 0, NoteKind::Inlined { why });
        }
    }
    let used = std::mem::take(&mut imported.parameters);
    let Imported { name, description, model, answers_json, schema, notes, .. } = head;
    imported.notes.extend(notes);
    let mut imported = Imported { name, description, model, answers_json, schema, ..imported };
    declared::settle(declared, &used, prompt.path, 1, &mut imported);
    imported
}

/// Whether the language can say messages in this order: a system message, examples of what was asked and answered, the question.
fn order(path: &str, imported: &mut Imported) {
    let roles: Vec<Role> = imported.turns.iter().map(|turn| turn.role).collect();
    let talk = roles.strip_prefix(&[Role::System]).unwrap_or(&roles);
    let pairs = talk.strip_suffix(&[Role::User]).unwrap_or(talk);
    let is_talk = pairs.chunks(2).all(|pair| pair == [Role::User, Role::Assistant]);
    let refuse = |imported: &mut Imported, what: &str, why: &str| {
        imported.note(path, 0, NoteKind::Unsupported { what: what.to_owned(), why: why.to_owned() });
    };
    match () {
        () if imported.is_refused() => {}
        () if roles.is_empty() => refuse(imported, "a prompt without a text", "there is nothing to say"),
        () if talk.is_empty() => {}
        () if !is_talk || talk.len() == pairs.len() => {
            let why = "expected a system message, questions with answers, and a question at the end";
            refuse(imported, "the order of its messages", why);
        }
        () if !pairs.is_empty() => {
            let difference = "they become `<examples>`, which are one text and no messages of their own".to_owned();
            imported.note(path, 0, NoteKind::Differs { what: "questions with answers".to_owned(), difference });
        }
        () => {}
    }
}

/// Line breaks as the language has them.
fn unix(text: &str) -> std::borrow::Cow<'_, str> {
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return text.into();
    }
    text.replace("\r\n", "\n").replace('\r', "\n").into()
}

/// The files that a prompt takes in, among those that are there.
pub fn part_of(prompt: &Prompt<'_>, library: &dyn Library) -> Vec<String> {
    if prompt.format != Format::Jinja {
        return Vec::new();
    }
    let there = |path: &String| matches!(library.text(path), Ok(Some(_)));
    let find = |name: &String| {
        let all = folders(prompt.path, library.roots());
        all.iter().filter_map(|folder| beside(folder, name)).find(|path| there(path))
    };
    jinja::others(prompt.text).iter().filter_map(find).collect()
}
