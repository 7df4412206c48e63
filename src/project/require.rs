//! `[[require]]`: policies over resolved tasks. Conditions are evaluated against facts; an unknown
//! fact yields an unknown outcome and is never assumed.

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
    /// The tasks that it applies to.
    pub selector: Selector,
    /// The conditions that these tasks must meet.
    pub conditions: Vec<Spanned<Condition>>,
    /// `level`: the severity if it is not met; an error if the key is absent.
    pub level: Severity,
    /// `reason`: the project's reason for it.
    pub reason: Option<String>,
}

/// The tasks that a requirement applies to: every given pattern must match; without patterns it
/// applies to every task.
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
    /// `role`: tasks of an agent role of the project.
    pub role: Vec<Spanned<String>>,
}

/// A condition as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// As written.
    pub text: String,
    /// The test.
    pub test: ConditionTest,
}

/// The test of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionTest {
    /// `has owner`; with `false`, `lacks owner`.
    Has(Thing, bool),
    /// `manifest_tokens <= 4000`.
    Number(Measure, Order, u64),
    /// `fresh_context == disabled`, `model in ["a", "b"]`; with `false`, `!=` and `not in`.
    Text(Field, bool, Vec<String>),
}

words! {
    /// A part that a task may have.
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
    /// A quantity that can be compared.
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
    /// A property that can be compared as text.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Field {
        /// The resolved `inherit_context`.
        InheritContext = "inherit_context",
        /// The resolved `accumulate_data`; `N/A` if it does not apply.
        AccumulateData = "accumulate_data",
        /// The resolved `accumulation_format`; `N/A` if it does not apply.
        AccumulationFormat = "accumulation_format",
        /// The resolved `fresh_context`.
        FreshContext = "fresh_context",
        /// The preferred model.
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
    /// The comparison of two numbers.
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
    /// True if the comparison of `left` with `right` holds.
    pub const fn is_satisfied(self, left: u64, right: u64) -> bool {
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
    /// The setting of this name; `None` for other fields.
    pub const fn setting(self) -> Option<SettingName> {
        Some(match self {
            Self::InheritContext => SettingName::InheritContext,
            Self::AccumulateData => SettingName::AccumulateData,
            Self::AccumulationFormat => SettingName::AccumulationFormat,
            Self::FreshContext => SettingName::FreshContext,
            Self::Model | Self::Provider | Self::Version | Self::Owner | Self::OutputFormat => {
                return None;
            }
        })
    }
}

/// The data, besides the templates, that a condition depends on.
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
    /// Not available to this command.
    Unknown,
}

/// The facts that conditions are evaluated against. Implemented by the owner of the task.
pub trait RequirementFacts {
    /// True if the task has the part.
    fn has(&self, thing: Thing) -> Fact<bool>;

    /// A quantity; `Known(None)` if the task does not have it.
    fn number(&self, measure: Measure) -> Fact<Option<u64>>;

    /// A property; `Known(None)` if the task does not have it.
    fn text(&self, field: Field) -> Fact<Option<&str>>;
}

/// The outcome of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionOutcome {
    /// It holds.
    Holds,
    /// It does not hold; the actual value, if the task has one.
    Fails(Option<String>),
    /// The fact is unknown, so the condition is neither met nor failed.
    Unknown,
}

impl Condition {
    /// Evaluates the condition. An absent value satisfies only `!=` and `not in`.
    pub fn evaluate(&self, facts: &dyn RequirementFacts) -> ConditionOutcome {
        match &self.test {
            ConditionTest::Has(thing, wanted) => match facts.has(*thing) {
                Fact::Unknown => ConditionOutcome::Unknown,
                Fact::Known(has) if has == *wanted => ConditionOutcome::Holds,
                Fact::Known(_) => ConditionOutcome::Fails(None),
            },
            ConditionTest::Number(measure, order, limit) => match facts.number(*measure) {
                Fact::Unknown => ConditionOutcome::Unknown,
                Fact::Known(Some(number)) if order.is_satisfied(number, *limit) => {
                    ConditionOutcome::Holds
                }
                Fact::Known(None) if *order == Order::Unequal => ConditionOutcome::Holds,
                Fact::Known(number) => {
                    ConditionOutcome::Fails(number.map(|number| number.to_string()))
                }
            },
            ConditionTest::Text(field, wanted, values) => match facts.text(*field) {
                Fact::Unknown => ConditionOutcome::Unknown,
                Fact::Known(text) => {
                    let among = text.is_some_and(|text| values.iter().any(|value| value == text));
                    if among == *wanted {
                        ConditionOutcome::Holds
                    } else {
                        ConditionOutcome::Fails(text.map(str::to_owned))
                    }
                }
            },
        }
    }

    /// The data that the condition requires besides the templates. Reported once, at the condition
    /// itself.
    pub const fn required_facts(&self) -> Option<Needs> {
        match &self.test {
            ConditionTest::Has(Thing::Scenario, _) => Some(Needs::Scenarios),
            ConditionTest::Number(Measure::ManifestTokens, ..) => Some(Needs::Tokens),
            ConditionTest::Has(..) | ConditionTest::Number(..) | ConditionTest::Text(..) => None,
        }
    }

    /// True if it tests a resolved setting, which every node of a task has to satisfy.
    pub const fn is_about_setting(&self) -> bool {
        match &self.test {
            ConditionTest::Text(field, ..) => field.setting().is_some(),
            ConditionTest::Has(..) | ConditionTest::Number(..) => false,
        }
    }
}
