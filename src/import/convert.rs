//! One prompt, whatever its format.

use super::model::{Format, Imported, Library, Options, Prompt, Role};
use super::names::{beside, folders};
use super::note::NoteKind;
use super::{FORMATS, declared};

/// Reads a prompt. What is wrong with it is among its notes.
pub fn convert(prompt: &Prompt<'_>, library: &dyn Library, options: Options) -> Imported {
    let text = unix(prompt.text);
    let prompt = &Prompt { text: &text, ..*prompt };
    let mut imported = (prompt.format.read)(prompt, library, options);
    declared::fit(&mut imported.parameters);
    order(prompt.path, &mut imported);
    let is_system = imported.turns.iter().all(|turn| turn.role == Role::System);
    if is_system && !imported.turns.is_empty() { imported.into_system() } else { imported }
}

/// The format that the ending of a path tells.
pub fn format_of(path: &str) -> Option<&'static Format> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    FORMATS.iter().copied().find(|format| format.endings.contains(&ending.as_str()))
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
    let there = |path: &String| matches!(library.text(path), Ok(Some(_)));
    let find = |name: &String| {
        let all = folders(prompt.path, library.roots());
        all.iter().filter_map(|folder| beside(folder, name)).find(|path| there(path))
    };
    (prompt.format.parts)(prompt.text).iter().filter_map(find).collect()
}
