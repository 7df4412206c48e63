//! A finding as plain data. Contains no wording and no rendering: rules fill it in, `cli/render`
//! prints it.

use super::fix::{self, Fix};
use super::rule_meta::{Code, RuleMeta, Severity};
use super::source::{LineIndex, Position};
use super::span::Span;
use std::borrow::Cow;
use std::sync::Arc;

/// A further place that explains a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The file, if it differs from the finding's.
    pub path: Option<Arc<str>>,
    /// The labelled span.
    pub span: Span,
    /// Line and column of the span's start; filled in once the text is available.
    pub start: Position,
    /// The explanation of the place; a lower-case fragment.
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
    /// True if the finding can be neither silenced nor lowered: its rule cannot, or a setting, a
    /// type or a subtype depends on it.
    pub locked: bool,
    /// The fault, compared with the expected form; a lower-case fragment without a full stop.
    pub message: String,
    /// The file, relative to the project root; `-` for standard input.
    pub path: Arc<str>,
    /// The faulty place.
    pub span: Span,
    /// The start of the span; filled in by [`Diagnostic::place`].
    pub start: Position,
    /// The end of the span; filled in by [`Diagnostic::place`].
    pub end: Position,
    /// The explanation of the span itself; may be empty.
    pub here: Cow<'static, str>,
    /// Further places, the most useful one first.
    pub labels: Vec<Label>,
    /// The sources of the values involved, and why the finding matters.
    pub notes: Vec<Cow<'static, str>>,
    /// Advice for the author.
    pub help: Option<Cow<'static, str>>,
    /// The name of the task that the finding belongs to.
    pub task: Option<Arc<str>>,
    /// Fixes, the best first.
    pub fixes: Vec<Fix>,
    /// Stable identity for suppressions: rule, task and the text of the place, without the line
    /// number. Empty until [`Diagnostic::identify`] fills it in, which happens only if it is
    /// needed.
    pub fingerprint: String,
}

impl Diagnostic {
    /// A finding with only the rule's default severity, its message and its span.
    pub fn new(
        rule: &'static RuleMeta,
        path: &Arc<str>,
        span: Span,
        message: impl Into<String>,
    ) -> Self {
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

    /// Sets the explanation of the span itself.
    #[must_use]
    pub fn here(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.here = text.into();
        self
    }

    /// Adds a label in the same file.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<Cow<'static, str>>) -> Self {
        // Most findings have one label or two, and findings are many.
        self.labels.reserve_exact(1);
        self.labels.push(Label {
            path: None,
            span,
            start: Position::default(),
            text: text.into(),
        });
        self
    }

    /// Adds a label in another file.
    #[must_use]
    pub fn label_in(
        mut self,
        path: Arc<str>,
        span: Span,
        start: Position,
        text: impl Into<Cow<'static, str>>,
    ) -> Self {
        self.labels.reserve_exact(1);
        self.labels.push(Label {
            path: Some(path),
            span,
            start,
            text: text.into(),
        });
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.notes.reserve_exact(1);
        self.notes.push(text.into());
        self
    }

    /// Sets the advice for the author.
    #[must_use]
    pub fn help(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Adds a fix.
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

    /// Fills in lines and columns, and removes fixes that would delete a comment.
    pub fn place(&mut self, text: &str, index: &LineIndex) {
        self.fixes
            .retain(|fix| fix::keeps_comments(&self.path, text, &fix.edits));
        self.start = index.position(text, self.span.start);
        self.end = index.position(text, self.span.end);
        for label in &mut self.labels {
            if label.path.is_none() {
                label.start = index.position(text, label.span.start);
            }
        }
    }

    /// Fills in the fingerprint. Requires lines and columns to be filled in.
    pub fn identify(&mut self, text: &str, index: &LineIndex) {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.rule.name.as_bytes());
        hasher.update(b"\0");
        hasher.update(self.path.as_bytes());
        hasher.update(b"\0");
        hasher.update(self.task.as_deref().unwrap_or("").as_bytes());
        let line = index
            .line_span(text, self.start.line)
            .map_or("", |span| slice_up_to(text, span, MAX_LINE_BYTES));
        let place = slice_up_to(text, self.span, 200);
        for part in [line, place] {
            hasher.update(b"\0");
            for word in part.split_ascii_whitespace().take(64) {
                hasher.update(word.as_bytes());
                hasher.update(b" ");
            }
        }
        hasher
            .finalize()
            .to_hex()
            .get(..16)
            .unwrap_or("")
            .clone_into(&mut self.fingerprint);
    }

    /// Returns true if the finding has any fix.
    pub fn is_fixable(&self) -> bool {
        !self.fixes.is_empty()
    }
}

/// Bytes of a line that enter a fingerprint: a minified file may have a finding at each place of
/// its only line.
const MAX_LINE_BYTES: u32 = 4096;

/// The text of a span, at most `max` bytes of it.
fn slice_up_to(text: &str, span: Span, max: u32) -> &str {
    let mut end = (span.end.min(span.start.saturating_add(max)) as usize).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(span.start as usize..end).unwrap_or("")
}

/// Sorts into the stable order of every output: path, span start, code, span end, message. The
/// calls of a recording are ordered by their numbers.
pub fn sort_diagnostics(diagnostics: &mut [Diagnostic]) {
    fn split_call_number(path: &str) -> (&str, u64) {
        path.rsplit_once('#')
            .and_then(|(name, number)| Some((name, number.parse().ok()?)))
            .unwrap_or((path, 0))
    }
    fn sort_key(one: &Diagnostic) -> (&str, u64, &str, u32, Code, u32, &str) {
        let (name, number) = split_call_number(&one.path);
        (
            name,
            number,
            &one.path,
            one.span.start,
            one.rule.code,
            one.span.end,
            &one.message,
        )
    }
    diagnostics.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
}
