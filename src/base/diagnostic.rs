//! A finding as plain data. Never words itself, never renders itself: rules fill it in, `cli/render` shows it.

use super::fix::{self, Fix};
use super::rule_meta::{Code, RuleMeta, Severity};
use super::source::{LineIndex, Position};
use super::span::Span;
use std::borrow::Cow;
use std::sync::Arc;

/// A further place that explains a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The file, when it is another one than the finding's.
    pub path: Option<Arc<str>>,
    /// Where.
    pub span: Span,
    /// Line and column of the span's start; filled in where the text is at hand.
    pub start: Position,
    /// What is to be seen there; a lower-case fragment.
    pub text: Cow<'static, str>,
}

/// One finding of one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The rule that found it.
    pub rule: &'static RuleMeta,
    /// Severity after `[lints]`.
    pub severity: Severity,
    /// Can be neither silenced nor lowered: its rule cannot, or a setting, a type or a subtype hangs on it.
    pub locked: bool,
    /// What was found, against what was expected; a lower-case fragment without a full stop.
    pub message: String,
    /// The file, relative to the project root; `-` for standard input.
    pub path: Arc<str>,
    /// The place to look at.
    pub span: Span,
    /// Where the span starts; filled in by [`Diagnostic::place`].
    pub start: Position,
    /// Where the span ends; filled in by [`Diagnostic::place`].
    pub end: Position,
    /// What is to be seen at the span itself; may be empty.
    pub here: Cow<'static, str>,
    /// Further places, first the most telling one.
    pub labels: Vec<Label>,
    /// Where values came from, why it matters.
    pub notes: Vec<Cow<'static, str>>,
    /// What to do.
    pub help: Option<Cow<'static, str>>,
    /// The name of the task it belongs to.
    pub task: Option<Arc<str>>,
    /// Ways out, the best first.
    pub fixes: Vec<Fix>,
    /// Stable identity for suppressions: rule, task and the text of the place, not its line number. Empty where nobody
    /// asks for it; filled in by [`Diagnostic::identify`].
    pub fingerprint: String,
}

impl Diagnostic {
    /// A finding with the rule's default severity and nothing but its message and place.
    pub fn new(rule: &'static RuleMeta, path: &Arc<str>, span: Span, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity: rule.severity.unwrap_or(rule.when_enabled),
            locked: rule.locked,
            message: message.into(),
            path: Arc::clone(path),
            span,
            start: Position::default(),
            end: Position::default(),
            here: Cow::Borrowed(""),
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
            task: None,
            fixes: Vec::new(),
            fingerprint: String::new(),
        }
    }

    /// Says what is to be seen at the span.
    #[must_use]
    pub fn here(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.here = text.into();
        self
    }

    /// Adds a place in the same file.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<Cow<'static, str>>) -> Self {
        // Most findings have one label or two, and there are many findings.
        self.labels.reserve_exact(1);
        self.labels.push(Label { path: None, span, start: Position::default(), text: text.into() });
        self
    }

    /// Adds a place in another file.
    #[must_use]
    pub fn label_in(mut self, path: Arc<str>, span: Span, start: Position, text: impl Into<Cow<'static, str>>) -> Self {
        self.labels.reserve_exact(1);
        self.labels.push(Label { path: Some(path), span, start, text: text.into() });
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.notes.reserve_exact(1);
        self.notes.push(text.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Adds a way out.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fixes.reserve_exact(1);
        self.fixes.push(fix);
        self
    }

    /// Overrides the severity (before `[lints]`).
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Fills in lines, columns and the fingerprint from the text of the finding's file.
    pub fn locate(&mut self, text: &str, index: &LineIndex) {
        self.place(text, index);
        self.identify(text, index);
    }

    /// Fills in lines and columns; ways out that would take a comment away are none.
    pub fn place(&mut self, text: &str, index: &LineIndex) {
        self.fixes.retain(|fix| fix::keeps_comments(&self.path, text, &fix.edits));
        self.start = index.position(text, self.span.start);
        self.end = index.position(text, self.span.end);
        for label in &mut self.labels {
            if label.path.is_none() {
                label.start = index.position(text, label.span.start);
            }
        }
    }

    /// Fills in the fingerprint. The finding must have its place.
    pub fn identify(&mut self, text: &str, index: &LineIndex) {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.rule.name.as_bytes());
        hasher.update(b"\0");
        hasher.update(self.path.as_bytes());
        hasher.update(b"\0");
        hasher.update(self.task.as_deref().unwrap_or("").as_bytes());
        let line = index.line_span(text, self.start.line).map_or("", |span| upto(text, span, LINE));
        let place = upto(text, self.span, 200);
        for part in [line, place] {
            hasher.update(b"\0");
            for word in part.split_ascii_whitespace().take(64) {
                hasher.update(word.as_bytes());
                hasher.update(b" ");
            }
        }
        hasher.finalize().to_hex().get(..16).unwrap_or("").clone_into(&mut self.fingerprint);
    }

    /// Whether it has a fix that some flag applies.
    pub fn is_fixable(&self) -> bool {
        !self.fixes.is_empty()
    }
}

/// Bytes of a line that a fingerprint looks at: a file on one line may have a finding at each of its places.
const LINE: u32 = 4096;

/// What stands under a span, at most so many bytes of it.
fn upto(text: &str, span: Span, most: u32) -> &str {
    let mut end = (span.end.min(span.start.saturating_add(most)) as usize).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(span.start as usize..end).unwrap_or("")
}

/// The stable order of every output: path, span start, code, span end, message. The calls of a recording follow by their numbers.
pub fn sort(diagnostics: &mut [Diagnostic]) {
    fn place(path: &str) -> (&str, u64) {
        path.rsplit_once('#').and_then(|(name, number)| Some((name, number.parse().ok()?))).unwrap_or((path, 0))
    }
    fn key(one: &Diagnostic) -> (&str, u64, &str, u32, Code, u32, &str) {
        let (name, number) = place(&one.path);
        (name, number, &one.path, one.span.start, one.rule.code, one.span.end, &one.message)
    }
    diagnostics.sort_by(|a, b| key(a).cmp(&key(b)));
}
