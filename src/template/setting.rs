//! The four context settings as keywords of the language. Never a default, never a merge.

use crate::base::span::{Span, Spanned};
use crate::base::words::words;
use serde::{Deserialize, Serialize};

words! {
    /// The part of the parent's context that a task sees.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Inherit {
        /// All of it.
        Full = "full",
        /// Nothing.
        None = "none",
        /// The part that the task's files and inputs select.
        Subset = "subset",
    }
}

words! {
    /// The form in which earlier results are carried.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Format {
        /// The notes of each earlier step.
        NotesOnly = "notes_only",
        /// Notes and content.
        FullOutput = "full_output",
    }
}

words! {
    /// The setting that enables the lookup of new context by associative matching.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Fresh {
        /// Context is looked up.
        Enabled = "enabled",
        /// Context is not looked up.
        Disabled = "disabled",
    }
}

/// A keyword of the language with a fixed set of values.
pub trait Word: Copy + Sized + 'static {
    /// All values, in the order in which messages list them.
    const ALL: &'static [Self];

    /// The value as written in a template.
    fn word(self) -> &'static str;

    /// Parses a trimmed, case-sensitive value.
    fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.word() == text)
    }
}

macro_rules! fixed {
    ($($name:ident)*) => {
        $(impl Word for $name {
            const ALL: &'static [Self] = &Self::ALL;

            fn word(self) -> &'static str {
                Self::word(self)
            }
        })*
    };
}

fixed! { Inherit Format Fresh }

impl Word for bool {
    const ALL: &'static [Self] = &[true, false];

    fn word(self) -> &'static str {
        if self { "true" } else { "false" }
    }
}

/// One of the four settings, in canonical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SettingName {
    /// The inherited part of the parent's context.
    InheritContext,
    /// The setting that carries earlier results.
    AccumulateData,
    /// The form of carried results.
    AccumulationFormat,
    /// The setting that enables the lookup of context.
    FreshContext,
}

impl Word for SettingName {
    const ALL: &'static [Self] = &[
        Self::InheritContext,
        Self::AccumulateData,
        Self::AccumulationFormat,
        Self::FreshContext,
    ];

    fn word(self) -> &'static str {
        match self {
            Self::InheritContext => "inherit_context",
            Self::AccumulateData => "accumulate_data",
            Self::AccumulationFormat => "accumulation_format",
            Self::FreshContext => "fresh_context",
        }
    }
}

impl SettingName {
    /// The values that its element accepts.
    pub const fn allowed_words(self) -> &'static [&'static str] {
        match self {
            Self::InheritContext => &Inherit::WORDS,
            Self::AccumulateData => &["true", "false"],
            Self::AccumulationFormat => &Format::WORDS,
            Self::FreshContext => &Fresh::WORDS,
        }
    }

    /// The meanings of its values, in the order of [`SettingName::words`]; a test checks that none
    /// is missing.
    pub const fn meanings(self) -> &'static [&'static str] {
        match self {
            Self::InheritContext => &[
                "the task sees all of its parent's context",
                "the task sees nothing of its parent's context",
                "the task sees the part of its parent's context that its files and inputs select",
            ],
            Self::AccumulateData => &[
                "results of earlier steps are carried along from step to step",
                "each step starts without the results of those before it",
            ],
            Self::AccumulationFormat => &[
                "the notes of each earlier step are carried, not its output",
                "the notes and the whole output of each earlier step are carried",
            ],
            Self::FreshContext => &[
                "context is looked up for the description and the inputs; `inherit_context` must be `none` then",
                "no context is looked up",
            ],
        }
    }

    /// The meaning of one of its values.
    pub fn word_meaning(self, word: &str) -> Option<&'static str> {
        let at = self.allowed_words().iter().position(|own| *own == word)?;
        self.meanings().get(at).copied()
    }
}

/// Values of older dialects: the setting, the value as written, the modern value.
pub static LEGACY_VALUES: &[(SettingName, &str, &str)] = &[
    (SettingName::InheritContext, "true", "full"),
    (SettingName::InheritContext, "false", "none"),
    (SettingName::AccumulationFormat, "minimal", "notes_only"),
    (SettingName::AccumulationFormat, "full", "full_output"),
];

/// The settings that a template, a project row or a request contains: each at most once. Spans are
/// those of the *value*.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenSettings {
    /// `inherit_context`.
    pub inherit_context: Option<Spanned<Inherit>>,
    /// `accumulate_data`.
    pub accumulate_data: Option<Spanned<bool>>,
    /// `accumulation_format`.
    pub accumulation_format: Option<Spanned<Format>>,
    /// `fresh_context`.
    pub fresh_context: Option<Spanned<Fresh>>,
}

impl WrittenSettings {
    /// True if no setting is written.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The span of a setting's value.
    pub fn span(&self, name: SettingName) -> Option<Span> {
        match name {
            SettingName::InheritContext => self.inherit_context.map(|s| s.span),
            SettingName::AccumulateData => self.accumulate_data.map(|s| s.span),
            SettingName::AccumulationFormat => self.accumulation_format.map(|s| s.span),
            SettingName::FreshContext => self.fresh_context.map(|s| s.span),
        }
    }
}
