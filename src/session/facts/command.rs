//! Commands of shells: their programs, the words that identify them, and the files that they name.

use super::fact::FileUse;
use super::file_path::{base_name, is_path_like, path_in};

/// Programs that look around, move or print, which identify no work.
const PLAIN_PROGRAMS: &str = " ls cat head tail grep egrep rg fd find sed awk echo printf cd pwd wc which type sort uniq cut tr true false \
    test [ [[ mkdir rm rmdir cp mv ln touch chmod sleep wait export set unset source . xargs tee jq diff cmp file stat du df date env kill pkill \
    ps nl bat less more tree git gh hub read exit return then do done fi else elif if for while until in case esac break continue shift local declare alias eval trap clear history man seq basename dirname realpath \
    rev xxd od tac pgrep lsof whoami hostname uname id mktemp uuidgen ";
/// Programs that print a file that they name.
const READERS: &str = " cat head tail nl bat less more sed ";
/// Words before a program.
const PREFIXES: &str = " sudo time nohup exec command env timeout then do else ! ";
/// Programs that run a script or a module, which identifies the command.
const INTERPRETERS: &str = " python python3 node ruby perl php bash sh zsh deno bun ";
/// The maximum length in bytes of a command line that is read.
const MAX_COMMAND_BYTES: usize = 4_000;
/// The maximum number of words that identify a command.
const MAX_KEY_WORDS: usize = 3;

/// The facts of a command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The commands that identify work: program, verb, long options.
    pub commands: Vec<String>,
    /// The files that it names, with their uses.
    pub files: Vec<NamedFile>,
    /// True if it only looks around: its output quotes files.
    pub is_plain: bool,
    /// The folder that it changes to.
    folder: String,
}

/// A file that a call names.
#[derive(Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// The path, as written.
    pub path: String,
    /// Its use.
    pub file_use: FileUse,
}

impl CommandLine {
    /// Reads a command line. Here documents and everything behind them are ignored.
    pub fn parse(line: &str) -> Self {
        let line = line.split("<<").next().unwrap_or_default();
        let line = line
            .get(..line.floor_char_boundary(MAX_COMMAND_BYTES))
            .unwrap_or_default();
        let mut out = Self {
            is_plain: true,
            ..Self::default()
        };
        for words in simple_commands(line) {
            out.add_command(&words);
        }
        out
    }

    fn add_command(&mut self, words: &[String]) {
        let words = words.iter().map(String::as_str).skip_while(|word| {
            PREFIXES.contains(&format!(" {word} "))
                || word.parse::<f64>().is_ok()
                || is_assignment(word)
        });
        let mut words = words.peekable();
        let mut program = words.next().map(base_name).unwrap_or_default();
        let is_interpreter = |program: &str| INTERPRETERS.contains(&format!(" {program} "));
        if is_interpreter(program) && words.next_if_eq(&"-m").is_some() {
            program = words.next().unwrap_or_default();
        }
        if !is_program(program) {
            return;
        }
        let is_plain = PLAIN_PROGRAMS.contains(&format!(" {program} "));
        let is_reader = READERS.contains(&format!(" {program} "));
        if program == "cd" {
            self.folder = path_in(&self.folder, words.next().unwrap_or_default());
            return;
        }
        let mut is_changed = false;
        let mut key = vec![program];
        let mut is_head = true;
        let mut redirect = None;
        for word in words {
            is_changed |= program == "sed" && word.starts_with("-i");
            if let Some(rest) = word.trim_start_matches('&').strip_prefix('>') {
                redirect = Some(rest.trim_start_matches('>'));
                continue;
            }
            if redirect.take() == Some("") {
                continue;
            }
            is_head &= is_key_word(word);
            if is_head && key.len() < MAX_KEY_WORDS
                || word.starts_with("--") && word.len() > 2 && is_option(word)
            {
                key.push(word.split('=').next().unwrap_or(word));
            } else if is_interpreter(program) && key.len() == 1 && is_path_like(word) {
                key.push(base_name(word));
                self.files.push(NamedFile {
                    path: path_in(&self.folder, word),
                    file_use: FileUse::Seen,
                });
            } else if is_path_like(word) && (is_reader || word.contains('/')) {
                let file_use = match (is_reader, is_changed) {
                    (_, true) => FileUse::Modified,
                    (true, false) => FileUse::Read,
                    (false, false) => FileUse::Seen,
                };
                self.files.push(NamedFile {
                    path: path_in(&self.folder, word),
                    file_use,
                });
            }
        }
        if !is_plain {
            self.is_plain = false;
        }
        // A program in the words of the command has no name.
        if !(is_plain || is_interpreter(program) && key.len() == 1) {
            self.commands.push(key.join(" "));
        }
    }
}

fn is_program(name: &str) -> bool {
    name.len() >= 2
        && name.len() <= 40
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Returns true for the name of a verb, such as `test` or `ash.codegen`: no path, no id.
fn is_key_word(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && !word.contains(['/', '=', '@', '\\', '$', ',', '(', ' '])
        && !word.bytes().any(|byte| byte.is_ascii_digit())
        && !is_path_like(word)
}

fn is_option(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    name.bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// Splits a line at `;`, `&`, `|` and line ends outside quotes, and each command into words.
fn simple_commands(line: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let (mut quote, mut is_word) = (None, false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => word.extend(chars.next().filter(|next| *next != '\n')),
            (None, '\'' | '"') => (quote, is_word) = (Some(c), true),
            // `2>&1` and `&>file` are words.
            (None, '&') if word.ends_with('>') || chars.peek() == Some(&'>') => word.push(c),
            (None, ';' | '&' | '|' | '\n' | '(' | ')') => {
                end_word(&mut word, &mut is_word, &mut words);
                all.push(std::mem::take(&mut words));
            }
            (None, '#') if word.is_empty() => while chars.next_if(|c| *c != '\n').is_some() {},
            (None, c) if c.is_whitespace() => end_word(&mut word, &mut is_word, &mut words),
            (Some(_) | None, c) => word.push(c),
        }
    }
    end_word(&mut word, &mut is_word, &mut words);
    all.push(words);
    all.retain(|words| !words.is_empty());
    all
}

fn end_word(word: &mut String, is_word: &mut bool, words: &mut Vec<String>) {
    if *is_word || !word.is_empty() {
        words.push(std::mem::take(word));
    }
    *is_word = false;
}

#[cfg(test)]
#[path = "../../../tests/unit/session/facts/command.rs"]
mod tests;
