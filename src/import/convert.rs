//! One prompt, whatever its format.

use super::model::{Format, Imported, Library, Options, Prompt};
use super::names::{beside, folders};
use super::{jinja, markdown};

/// Reads a prompt. What is wrong with it is among its notes.
pub fn convert(prompt: &Prompt<'_>, library: &dyn Library, options: Options) -> Imported {
    let text = unix(prompt.text);
    let prompt = &Prompt { text: &text, ..*prompt };
    match prompt.format {
        Format::Jinja => jinja::read(prompt, library, options),
        Format::Markdown => markdown::read(prompt, library, options),
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
