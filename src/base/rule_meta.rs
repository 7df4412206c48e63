//! The metadata of a rule, without its check: name, code, severity, documentation.
//!
//! The kebab-case name identifies the rule; the number is an alias.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The severity of a finding. Ordered from the gravest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// Fails the build.
    Error,
    /// Probably a mistake.
    Warning,
    /// Worth knowing.
    Info,
    /// A small improvement; shown on request.
    Hint,
}

impl Severity {
    /// The word used in every format.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
            Self::Hint => "hint",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The best kind of fix that a rule offers for its findings. A single finding can still come
/// without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Fixable {
    /// A safe fix, which can be applied without review.
    Safe,
    /// A fix to review before it is applied.
    Suggested,
    /// No fix: a person has to decide what to write.
    None,
}

impl Fixable {
    /// The word used in every format.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Suggested => "suggested",
            Self::None => "none",
        }
    }
}

/// The number behind `CTX…`, an alias of the rule's name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub u16);

impl Code {
    /// The hundred that the code belongs to: 0 syntax, 1 structure, 2 context, 3 names, 4
    /// migration, 5 project, 6 scenario, 7 request, 9 input.
    pub const fn family(self) -> u16 {
        self.0 / 100
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CTX{:03}", self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The metadata of a rule; everything but its check.
#[derive(Debug, PartialEq, Eq)]
pub struct RuleMeta {
    /// The number, an alias.
    pub code: Code,
    /// The kebab-case name.
    pub name: &'static str,
    /// Former names, which `[lints]`, `allow` and `explain` still accept.
    pub renamed_from: &'static [&'static str],
    /// Severity if the project does not configure the rule. `None`: off by default.
    pub severity: Option<Severity>,
    /// Severity of a rule that is off by default and that a project turns on without giving a
    /// severity.
    pub when_enabled: Severity,
    /// True for a guarantee of the language, which can be neither silenced nor lowered. Other rules
    /// may lock single findings.
    pub locked: bool,
    /// The best fix of the rule's findings.
    pub fix: Fixable,
    /// A summary in one lower-case line.
    pub summary: &'static str,
    /// The text of `tests/cases/NAME.md`: the page in Markdown, then the examples under `## Wrong` and `## Right`.
    pub case: &'static str,
}

impl RuleMeta {
    /// An error that no project can silence or lower: a guarantee of the language.
    pub const fn locked_error(
        code: u16,
        name: &'static str,
        summary: &'static str,
        case: &'static str,
    ) -> Self {
        let mut meta = Self::new(Severity::Error, code, name, summary, case);
        meta.locked = true;
        meta
    }

    /// An error that a project may silence or lower.
    pub const fn error(
        code: u16,
        name: &'static str,
        summary: &'static str,
        case: &'static str,
    ) -> Self {
        Self::new(Severity::Error, code, name, summary, case)
    }

    /// A warning.
    pub const fn warning(
        code: u16,
        name: &'static str,
        summary: &'static str,
        case: &'static str,
    ) -> Self {
        Self::new(Severity::Warning, code, name, summary, case)
    }

    /// An informational finding.
    pub const fn info(
        code: u16,
        name: &'static str,
        summary: &'static str,
        case: &'static str,
    ) -> Self {
        Self::new(Severity::Info, code, name, summary, case)
    }

    /// A hint.
    pub const fn hint(
        code: u16,
        name: &'static str,
        summary: &'static str,
        case: &'static str,
    ) -> Self {
        Self::new(Severity::Hint, code, name, summary, case)
    }

    const fn new(
        severity: Severity,
        code: u16,
        name: &'static str,
        summary: &'static str,
        case: &'static str,
    ) -> Self {
        Self {
            code: Code(code),
            name,
            renamed_from: &[],
            severity: Some(severity),
            when_enabled: severity,
            locked: false,
            fix: Fixable::None,
            summary,
            case,
        }
    }

    /// The same rule, off until a project turns it on.
    #[must_use]
    pub const fn off_by_default(mut self) -> Self {
        self.severity = None;
        self
    }

    /// The same rule with fixes for its findings.
    #[must_use]
    pub const fn with_fix(mut self, fix: Fixable) -> Self {
        self.fix = fix;
        self
    }

    /// The Markdown page: the consequence for the agent, the reason, the remedy.
    pub fn page(&self) -> &'static str {
        self.case
            .split("\n## ")
            .next()
            .unwrap_or_default()
            .trim_end()
    }
}
