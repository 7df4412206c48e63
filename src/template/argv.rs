//! Splits the text of a command into arguments without a shell. Single quotes, double quotes and
//! backslashes work as in POSIX.
//!
//! Anything that only a shell would act on (`&&`, `|`, `>`, `$VAR`, `*`, …) stays plain text of its
//! argument and is also returned as an operator with its span. `{{…}}` is never split, and nothing
//! inside it is a quote or an operator. Runs in linear time. Never runs a command, never reads the
//! environment, never formats the message of a fault.

use crate::base::span::{Span, Spanned};

/// The arguments of a command, and the parts of its text that would need a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Argv {
    /// The arguments, with quotes and backslashes resolved; spans are those of the words as
    /// written.
    pub arguments: Vec<Spanned<String>>,
    /// The text that only a shell would act on, as written and in that order. A line end between
    /// two words is included: it would separate two commands.
    pub operators: Vec<Spanned<String>>,
}

/// The reason why a command cannot be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgvFault {
    /// The kind of fault.
    pub kind: ArgvFaultKind,
    /// The span of the quote or the backslash.
    pub span: Span,
}

/// The kinds of faults of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArgvFaultKind {
    /// A `'` without a closing `'`.
    UnclosedSingleQuote,
    /// A `"` without a closing `"`.
    UnclosedDoubleQuote,
    /// A backslash at the end of the text.
    TrailingBackslash,
}

/// Splits the decoded text of a command. Spans are byte positions in `text`, moved by `offset`.
/// They are exact if the text stands in the document unchanged.
///
/// # Errors
/// The first quote or backslash that is not closed.
pub fn split_command(text: &str, offset: u32) -> Result<Argv, ArgvFault> {
    let mut splitter = CommandSplitter {
        text,
        at: 0,
        offset,
        word: None,
        argv: Argv::default(),
        closed: true,
        end: text.trim_end().len(),
    };
    while let Some(c) = splitter.remaining_text().chars().next() {
        splitter.consume_char(c)?;
    }
    splitter.end_word();
    Ok(splitter.argv)
}

/// Programs that run a line of text as a command.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];

/// Returns the index of the argument that a shell runs as its command line, as in `sh -c LINE`.
pub fn shell_line_index<W: AsRef<str>>(words: &[W]) -> Option<usize> {
    let words = || words.iter().map(AsRef::as_ref).enumerate();
    let is_shell = |word: &str| SHELLS.contains(&word.rsplit('/').next().unwrap_or(word));
    let is_option = |word: &str| word.starts_with(['-', '+']);
    let takes_line =
        |word: &str| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    let mut behind = words()
        .skip_while(|(_, word)| !is_shell(word))
        .skip(1)
        .skip_while(|(_, word)| !takes_line(word))
        .skip(1);
    // The words after the line are passed to it as `$0`, `$1` and so on, and are no part of it.
    behind.find(|(_, word)| !is_option(word)).map(|(at, _)| at)
}

struct PartialArgument {
    start: usize,
    value: String,
}

struct CommandSplitter<'a> {
    text: &'a str,
    at: usize,
    offset: u32,
    word: Option<PartialArgument>,
    argv: Argv,
    /// True as long as a `}}` may follow; it is searched in vain at most once.
    closed: bool,
    /// The offset of the white space at the end of the text.
    end: usize,
}

impl<'a> CommandSplitter<'a> {
    fn remaining_text(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(
            self.offset.saturating_add(start as u32),
            self.offset.saturating_add(end as u32),
        )
    }

    fn push(&mut self, text: &str) {
        let start = self.at;
        self.word
            .get_or_insert_with(|| PartialArgument {
                start,
                value: String::new(),
            })
            .value
            .push_str(text);
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take() {
            let span = self.span(word.start, self.at);
            self.argv.arguments.push(Spanned::new(word.value, span));
        }
    }

    fn consume_char(&mut self, c: char) -> Result<(), ArgvFault> {
        match c {
            '\n' => self.take_line_end(),
            c if c.is_whitespace() => {
                self.end_word();
                self.at += c.len_utf8();
            }
            '\\' => self.take_backslash()?,
            '\'' => self.take_single_quoted()?,
            '"' => self.take_double_quoted()?,
            '{' if self.take_expression() => {}
            _ => self.take_plain_char(c),
        }
        Ok(())
    }
}

impl CommandSplitter<'_> {
    /// Appends the next `bytes` of the text to the word.
    fn copy_to_word(&mut self, bytes: usize) {
        let text = self.remaining_text().get(..bytes).unwrap_or("");
        self.push(text);
        self.at += text.len();
    }

    fn take_operator(&mut self, bytes: usize) {
        self.record_operator(bytes);
        self.copy_to_word(bytes);
    }

    fn record_operator(&mut self, bytes: usize) {
        let written = self.remaining_text().get(..bytes).unwrap_or("").to_owned();
        let span = self.span(self.at, self.at + bytes);
        self.argv.operators.push(Spanned::new(written, span));
    }

    fn fault_at(&self, kind: ArgvFaultKind, at: usize) -> ArgvFault {
        ArgvFault {
            kind,
            span: self.span(at, at + 1),
        }
    }

    /// Handles a line end: white space, and the end of a command if words stand before and after
    /// it.
    fn take_line_end(&mut self) {
        self.end_word();
        let more = !self.argv.arguments.is_empty() && self.at < self.end;
        let since = self
            .argv
            .arguments
            .last()
            .map_or(0, |argument| argument.span.end);
        let is_reported = self
            .argv
            .operators
            .last()
            .is_some_and(|last| last.span.start >= since);
        if more && !is_reported {
            self.record_operator(1);
        }
        self.at += 1;
    }

    /// Copies a `{{…}}` unchanged; returns false if none begins here.
    fn take_expression(&mut self) -> bool {
        let rest = self.remaining_text();
        if !self.closed || !rest.starts_with("{{") {
            return false;
        }
        let end = memchr::memmem::find(rest.as_bytes(), b"}}");
        self.closed = end.is_some();
        if let Some(end) = end {
            self.copy_to_word(end + 2);
        }
        self.closed
    }

    fn take_backslash(&mut self) -> Result<(), ArgvFault> {
        let start = self.at;
        if self.remaining_text().starts_with("\\{{") {
            // A literal `{{`: the reader of the argument's expressions handles its backslash.
            self.copy_to_word(3);
            return Ok(());
        }
        let Some(next) = self.remaining_text().chars().nth(1) else {
            return Err(self.fault_at(ArgvFaultKind::TrailingBackslash, start));
        };
        if next == '\n' {
            self.at += 2;
            return Ok(());
        }
        // The word starts at the backslash.
        self.push("");
        self.at += 1;
        self.copy_to_word(next.len_utf8());
        Ok(())
    }

    fn take_single_quoted(&mut self) -> Result<(), ArgvFault> {
        let start = self.at;
        self.push("");
        self.at += 1;
        loop {
            let plain = memchr::memchr2(b'\'', b'{', self.remaining_text().as_bytes());
            let Some(plain) = plain else {
                return Err(self.fault_at(ArgvFaultKind::UnclosedSingleQuote, start));
            };
            self.copy_to_word(plain);
            if self.remaining_text().starts_with('\'') {
                self.at += 1;
                return Ok(());
            }
            if !self.take_expression() {
                self.copy_to_word(1);
            }
        }
    }

    fn take_double_quoted(&mut self) -> Result<(), ArgvFault> {
        let start = self.at;
        self.push("");
        self.at += 1;
        while let Some(c) = self.remaining_text().chars().next() {
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '\\' => self.take_quoted_backslash(),
                '{' if self.take_expression() => {}
                '$' | '`' => self.take_plain_char(c),
                _ => self.copy_to_word(c.len_utf8()),
            }
        }
        Err(self.fault_at(ArgvFaultKind::UnclosedDoubleQuote, start))
    }

    /// Handles a backslash in double quotes. It is literal, except before `$`, a backtick, `"`, `\`
    /// and a line end.
    fn take_quoted_backslash(&mut self) {
        match self.remaining_text().as_bytes().get(1) {
            Some(b'\n') => self.at += 2,
            Some(b'$' | b'`' | b'"' | b'\\') => {
                self.at += 1;
                self.copy_to_word(1);
            }
            Some(b'{') if self.remaining_text().starts_with("\\{{") => self.copy_to_word(3),
            _ => self.copy_to_word(1),
        }
    }

    /// Handles a character outside quotes that is neither white space nor a quote.
    fn take_plain_char(&mut self, c: char) {
        let rest = self.remaining_text();
        let starts = self.word.is_none();
        let pair = |second: char| rest.chars().nth(1) == Some(second);
        match c {
            '&' if pair('&') || pair('>') => self.take_operator(2),
            '|' if pair('|') => self.take_operator(2),
            '>' | '<' if pair(c) || pair('&') => self.take_operator(2),
            '$' if pair('(') => self.take_operator(2),
            '$' => match variable_length(rest) {
                Some(length) => self.take_operator(length),
                None => self.copy_to_word(1),
            },
            '&' | '|' | ';' | '>' | '<' | '`' | '*' | '?' => self.take_operator(1),
            '~' | '#' if starts => self.take_operator(1),
            _ => self.copy_to_word(c.len_utf8()),
        }
    }
}

/// The length of the `$NAME`, `$1` or `${` at the start of a text.
fn variable_length(rest: &str) -> Option<usize> {
    match *rest.as_bytes().get(1)? {
        b'{' | b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-' | b'0'..=b'9' => Some(2),
        c if c == b'_' || c.is_ascii_alphabetic() => Some(
            1 + rest
                .bytes()
                .skip(1)
                .take_while(|&c| c == b'_' || c.is_ascii_alphanumeric())
                .count(),
        ),
        _ => None,
    }
}
