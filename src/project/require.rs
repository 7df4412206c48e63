//! `[[require]]`: policy over resolved tasks. Conditions are read here and judged against facts; a fact that is not
//! known is said to be unknown, never taken for granted.

use super::glob::Globs;
use crate::base::rule_meta::Severity;
use crate::base::span::{Span, Spanned};
use crate::base::words::words;
use crate::template::setting::SettingName;

/// One `[[require]]`.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// Index into [`super::config::Config::files`].
    pub file: u16,
    /// Its header.
    pub span: Span,
    /// Which tasks it is about.
    pub selector: Selector,
    /// What must hold for them.
    pub conditions: Vec<Spanned<Condition>>,
    /// `level`: how much it weighs when it is not met; an error where the file says nothing.
    pub level: Severity,
    /// `reason`: why the project wants it.
    pub reason: Option<String>,
}

/// Which tasks a requirement is about: everything given must match; nothing given matches every task.
#[derive(Clone, Debug, Default)]
pub struct Selector {
    /// `path`: the task's file.
    pub path: Option<Globs>,
    /// `name`: the task's name.
    pub name: Option<Globs>,
    /// `operator`: its type.
    pub operator: Vec<Spanned<String>>,
    /// `subtype`.
    pub subtype: Vec<Spanned<String>>,
    /// `role`: tasks that an agent role of the project plays.
    pub role: Vec<Spanned<String>>,
}

/// A condition as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// As written.
    pub text: String,
    /// What it asks.
    pub test: Test,
}

/// What a condition asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// `has owner`, and with `false` `lacks owner`.
    Has(Thing, bool),
    /// `manifest_tokens <= 4000`.
    Number(Measure, Order, u64),
    /// `fresh_context == disabled`, `model in ["a", "b"]`; with `false` `!=` and `not in`.
    Text(Field, bool, Vec<String>),
}

words! {
    /// What a task may have.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Thing {
        /// `description`.
        Description = "description",
        /// `version`.
        Version = "version",
        /// An owner by `[owners]`.
        Owner = "owner",
        /// `model`.
        Model = "model",
        /// `provider`.
        Provider = "provider",
        /// `instructions`.
        Instructions = "instructions",
        /// `system`.
        System = "system",
        /// `criteria`.
        Criteria = "criteria",
        /// `constraints`.
        Constraints = "constraints",
        /// `parameters`.
        Parameters = "parameters",
        /// `inputs`.
        Inputs = "inputs",
        /// `file_paths`.
        FilePaths = "file_paths",
        /// `context_relevance`.
        ContextRelevance = "context_relevance",
        /// `output_format`.
        OutputFormat = "output_format",
        /// `examples`.
        Examples = "examples",
        /// `context_management`.
        ContextManagement = "context_management",
        /// A scenario that exercises it.
        Scenario = "scenario",
    }
}

words! {
    /// What can be counted.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Measure {
        /// Tokens of its manifest.
        ManifestTokens = "manifest_tokens",
        /// Declared parameters.
        Parameters = "parameters",
        /// Inputs.
        Inputs = "inputs",
        /// Steps of a sequential task.
        Steps = "steps",
        /// Attempts of a director-evaluator loop.
        MaxIterations = "max_iterations",
    }
}

words! {
    /// What can be compared as text.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Field {
        /// The resolved `inherit_context`.
        InheritContext = "inherit_context",
        /// The resolved `accumulate_data`; `N/A` where it does not apply.
        AccumulateData = "accumulate_data",
        /// The resolved `accumulation_format`; `N/A` where it does not apply.
        AccumulationFormat = "accumulation_format",
        /// The resolved `fresh_context`.
        FreshContext = "fresh_context",
        /// The model that is preferred.
        Model = "model",
        /// The provider.
        Provider = "provider",
        /// The version.
        Version = "version",
        /// The owner by `[owners]`.
        Owner = "owner",
        /// The output's format.
        OutputFormat = "output_format",
    }
}

words! {
    /// How two numbers compare.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Order {
        /// At most.
        AtMost = "<=",
        /// Less than.
        Less = "<",
        /// At least.
        AtLeast = ">=",
        /// More than.
        More = ">",
        /// Equal.
        Equal = "==",
        /// Not equal.
        Unequal = "!=",
    }
}

impl Order {
    /// Whether `left` stands in this order to `right`.
    pub const fn holds(self, left: u64, right: u64) -> bool {
        match self {
            Self::AtMost => left <= right,
            Self::Less => left < right,
            Self::AtLeast => left >= right,
            Self::More => left > right,
            Self::Equal => left == right,
            Self::Unequal => left != right,
        }
    }
}

impl Field {
    /// The setting that it is, for the four that are settings.
    pub const fn setting(self) -> Option<SettingName> {
        Some(match self {
            Self::InheritContext => SettingName::InheritContext,
            Self::AccumulateData => SettingName::AccumulateData,
            Self::AccumulationFormat => SettingName::AccumulationFormat,
            Self::FreshContext => SettingName::FreshContext,
            Self::Model | Self::Provider | Self::Version | Self::Owner | Self::OutputFormat => return None,
        })
    }
}

/// What a condition is about, where the templates do not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The project's scenarios.
    Scenarios,
    /// The tokens of the manifest.
    Tokens,
}

/// A fact about a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact<T> {
    /// Known.
    Known(T),
    /// Not known to this command.
    Unknown,
}

/// What conditions are judged against. Implemented by the owner of the task.
pub trait Facts {
    /// Whether the task has a thing.
    fn has(&self, thing: Thing) -> Fact<bool>;

    /// A number; `Known(None)` where the task has no such thing.
    fn number(&self, measure: Measure) -> Fact<Option<u64>>;

    /// A text; `Known(None)` where the task has no such thing.
    fn text(&self, field: Field) -> Fact<Option<&str>>;
}

/// What came of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It holds.
    Holds,
    /// It does not; what was found instead, where there is something to name.
    Fails(Option<String>),
    /// The fact is not known, so nothing is claimed.
    Unknown,
}

impl Condition {
    /// Judges the condition. What a task does not have fulfils no comparison but `!=` and `not in`.
    pub fn judge(&self, facts: &dyn Facts) -> Outcome {
        match &self.test {
            Test::Has(thing, wanted) => match facts.has(*thing) {
                Fact::Unknown => Outcome::Unknown,
                Fact::Known(has) if has == *wanted => Outcome::Holds,
                Fact::Known(_) => Outcome::Fails(None),
            },
            Test::Number(measure, order, limit) => match facts.number(*measure) {
                Fact::Unknown => Outcome::Unknown,
                Fact::Known(Some(number)) if order.holds(number, *limit) => Outcome::Holds,
                Fact::Known(None) if *order == Order::Unequal => Outcome::Holds,
                Fact::Known(number) => Outcome::Fails(number.map(|number| number.to_string())),
            },
            Test::Text(field, wanted, values) => match facts.text(*field) {
                Fact::Unknown => Outcome::Unknown,
                Fact::Known(text) => {
                    let among = text.is_some_and(|text| values.iter().any(|value| value == text));
                    if among == *wanted { Outcome::Holds } else { Outcome::Fails(text.map(str::to_owned)) }
                }
            },
        }
    }

    /// What the condition needs beside the templates. Said once, at the condition itself.
    pub const fn needs(&self) -> Option<Needs> {
        match &self.test {
            Test::Has(Thing::Scenario, _) => Some(Needs::Scenarios),
            Test::Number(Measure::ManifestTokens, ..) => Some(Needs::Tokens),
            Test::Has(..) | Test::Number(..) | Test::Text(..) => None,
        }
    }

    /// Whether it is about a resolved setting, so that every node of a task has to fulfil it.
    pub const fn is_about_setting(&self) -> bool {
        match &self.test {
            Test::Text(field, ..) => field.setting().is_some(),
            Test::Has(..) | Test::Number(..) => false,
        }
    }
}
