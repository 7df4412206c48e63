//! Reads `[lints]` and resolves names to rules. A line for one rule overrides one for a family,
//! which overrides `all`.

use super::inherit::{InheritedSection, read_inheritance};
use super::sections::nearest_name;
use super::value::{FaultSink, TomlValue, read_table, read_word, to_span};
use crate::base::rule_meta::{Code, RuleMeta};
use crate::base::span::{Span, Spanned};
use crate::project::lints::{FAMILIES, LintLevel};
use crate::project::project_fault::ProjectFaultKind;
use toml::de::DeValue;

/// The scope of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LintReach {
    All,
    Family,
    Rule,
}

/// One line of `[lints]`.
#[derive(Clone, Debug)]
pub(super) struct LintLine {
    /// Index of the file of the line.
    pub(super) file: u16,
    /// The span of the level.
    pub(super) span: Span,
    pub(super) reach: LintReach,
    /// The rules that it sets, without locked rules that it would lower.
    pub(super) codes: Vec<Code>,
    pub(super) level: LintLevel,
}

/// Resolves a name in `[lints]` or `[allow] loosen`.
pub(super) fn resolve_lint_name(
    name: &str,
    rules: &[&'static RuleMeta],
) -> Option<(LintReach, Vec<&'static RuleMeta>)> {
    if name == "all" {
        return Some((LintReach::All, rules.to_vec()));
    }
    let family = FAMILIES.iter().find(|family| {
        family.name == name || name.eq_ignore_ascii_case(&format!("CTX{}xx", family.number))
    });
    if let Some(family) = family {
        return Some((
            LintReach::Family,
            rules
                .iter()
                .copied()
                .filter(|rule| rule.code.family() == family.number)
                .collect(),
        ));
    }
    let is_named = |rule: &&&'static RuleMeta| {
        rule.name == name
            || rule.renamed_from.contains(&name)
            || rule.code.to_string().eq_ignore_ascii_case(name)
    };
    rules
        .iter()
        .find(is_named)
        .map(|rule| (LintReach::Rule, vec![*rule]))
}

pub(super) fn read_lints(
    sink: &mut FaultSink,
    value: &TomlValue<'_>,
    rules: &[&'static RuleMeta],
    out: &mut Vec<LintLine>,
    inherited: &mut Vec<InheritedSection>,
) {
    let mut seen: Vec<(Code, Span)> = Vec::new();
    for (key, value) in read_table(sink, "lints", value).into_iter().flatten() {
        if read_inheritance(sink, "lints", key, value, inherited) {
            continue;
        }
        let name = key.get_ref().as_ref();
        let at = to_span(&key.span());
        let Some((reach, named)) = resolve_lint_name(name, rules) else {
            let words = rules
                .iter()
                .map(|rule| rule.name)
                .chain(FAMILIES.iter().map(|family| family.name))
                .chain(["all"]);
            sink.report(
                at,
                ProjectFaultKind::UnknownRule {
                    found: name.to_owned(),
                    near: nearest_name(name, words),
                },
            );
            continue;
        };
        let Some((word, level)) = read_level(sink, &format!("lints.{name}"), value) else {
            continue;
        };
        if let (LintReach::Rule, [rule]) = (reach, named.as_slice()) {
            if let Some((_, first)) = seen.iter().find(|(code, _)| *code == rule.code) {
                sink.report(
                    at,
                    ProjectFaultKind::RepeatedRule {
                        rule: rule.name,
                        first: *first,
                    },
                );
                continue;
            }
            seen.push((rule.code, at));
        }
        let codes: Vec<Code> = named
            .iter()
            .filter(|rule| !is_lowered(rule, level))
            .map(|rule| rule.code)
            .collect();
        if codes.is_empty() && !named.is_empty() {
            // All rules of the line are locked.
            let floor = named
                .first()
                .and_then(|rule| rule.severity)
                .map_or("error", |severity| severity.as_str());
            sink.report(
                word.span,
                ProjectFaultKind::LockedRule {
                    rule: name.to_owned(),
                    level: level.as_str(),
                    floor,
                },
            );
            continue;
        }
        out.push(LintLine {
            file: sink.file,
            span: word.span,
            reach,
            codes,
            level,
        });
    }
}

/// The levels of other tools, with our equivalents.
const FOREIGN_LEVELS: [(&str, &str); 6] = [
    ("warn", "warning"),
    ("deny", "error"),
    ("forbid", "error"),
    ("allow", "off"),
    ("ignore", "off"),
    ("note", "info"),
];

fn read_level<'v>(
    sink: &mut FaultSink,
    key: &str,
    value: &'v TomlValue<'_>,
) -> Option<(Spanned<&'v str>, LintLevel)> {
    if let DeValue::String(text) = value.get_ref()
        && let Some((_, meant)) = FOREIGN_LEVELS.iter().find(|(foreign, _)| foreign == text)
    {
        let at = Spanned::new(text.as_ref(), to_span(&value.span()));
        sink.bad_word_near(key, at, &LintLevel::WORDS, Some((*meant).to_owned()));
        return None;
    }
    let found = read_word(sink, key, value, &LintLevel::WORDS, ["warning", "off"])?;
    LintLevel::parse(found.value).map(|level| (found, level))
}

/// True if a level is lower than the severity of a locked rule.
fn is_lowered(rule: &RuleMeta, level: LintLevel) -> bool {
    let promised = rule
        .severity
        .map_or(0, |severity| LintLevel::At(severity).strictness());
    rule.locked && level.strictness() < promised
}
