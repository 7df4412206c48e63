//! Fixes as text edits on the source. Trees are never changed in place.

use super::span::Span;
use serde::Serialize;
use std::borrow::Cow;

/// The amount of review that a fix needs before it is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Applicability {
    /// Keeps every resolved setting and the meaning of every text.
    Safe,
    /// One of several possible fixes; a person chooses.
    Suggested,
}

impl Applicability {
    /// The word used in every format.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Suggested => "suggested",
        }
    }
}

/// A replacement in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Edit {
    /// The bytes that are replaced; empty for an insertion.
    pub span: Span,
    /// The new text; empty for a deletion.
    pub insert: String,
}

/// A fix for a finding: a set of edits of its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Fix {
    /// The effect of the fix, in the imperative: “`add <inherit_context>none</inherit_context>`”.
    pub title: Cow<'static, str>,
    /// The amount of review that the fix needs before it is applied.
    pub applicability: Applicability,
    /// Edits of the finding's file, sorted and apart from each other.
    pub edits: Vec<Edit>,
}

impl Fix {
    /// A safe fix.
    pub fn safe(title: impl Into<Cow<'static, str>>, edits: Vec<Edit>) -> Self {
        Self::new(title, Applicability::Safe, edits)
    }

    /// A suggested fix.
    pub fn suggested(title: impl Into<Cow<'static, str>>, edits: Vec<Edit>) -> Self {
        Self::new(title, Applicability::Suggested, edits)
    }

    fn new(
        title: impl Into<Cow<'static, str>>,
        applicability: Applicability,
        mut edits: Vec<Edit>,
    ) -> Self {
        edits.sort_by_key(|edit| edit.span);
        Self {
            title: title.into(),
            applicability,
            edits,
        }
    }
}

impl Edit {
    /// Replaces `span`.
    pub fn replace(span: Span, insert: impl Into<String>) -> Self {
        Self {
            span,
            insert: insert.into(),
        }
    }

    /// Inserts before `offset`.
    pub fn insert(offset: u32, insert: impl Into<String>) -> Self {
        Self {
            span: Span::empty_at(offset),
            insert: insert.into(),
        }
    }

    /// Removes `span`.
    pub fn delete(span: Span) -> Self {
        Self {
            span,
            insert: String::new(),
        }
    }
}

/// Returns true if the edits of a file keep its comments, which belong to the author.
pub fn keeps_comments(path: &str, text: &str, edits: &[Edit]) -> bool {
    let sign = if [".toml", ".yaml", ".yml"]
        .iter()
        .any(|end| path.ends_with(end))
    {
        "#"
    } else {
        "<!--"
    };
    let count = |text: &str| text.matches(sign).count();
    let taken: usize = edits.iter().map(|edit| count(edit.span.slice(text))).sum();
    taken == 0 || taken <= edits.iter().map(|edit| count(&edit.insert)).sum()
}

/// Applies sorted edits to a text. Returns `None` if they overlap, leave the text or split a
/// character.
pub fn apply_edits(text: &str, edits: &[Edit]) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for edit in edits {
        let start = edit.span.start as usize;
        let end = edit.span.end as usize;
        if start < at {
            return None;
        }
        out.push_str(text.get(at..start)?);
        text.get(start..end)?;
        out.push_str(&edit.insert);
        at = end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}
