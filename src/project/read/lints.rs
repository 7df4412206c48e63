//! Reads `[lints]` and resolves names to rules. A line for one rule overrides one for a family,
//! which overrides `all`.

use super::sections::near;
use super::value::{Sink, Value, span, table, word};
use crate::base::rule_meta::{Code, RuleMeta};
use crate::base::span::{Span, Spanned};
use crate::project::fault::FaultKind;
use crate::project::lints::{FAMILIES, Level};
use toml::de::DeValue;

/// The scope of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    All,
    Family,
    Rule,
}

/// One line of `[lints]`.
#[derive(Clone, Debug)]
pub(super) struct LintLine {
    /// The span of the level.
    pub(super) span: Span,
    pub(super) reach: Reach,
    /// The rules that it sets, without locked rules that it would lower.
    pub(super) codes: Vec<Code>,
    pub(super) level: Level,
}

/// Resolves a name in `[lints]` or `[allow] loosen`.
pub(super) fn named(
    name: &str,
    rules: &[&'static RuleMeta],
) -> Option<(Reach, Vec<&'static RuleMeta>)> {
    if name == "all" {
        return Some((Reach::All, rules.to_vec()));
    }
    let family = FAMILIES.iter().find(|family| {
        family.name == name || name.eq_ignore_ascii_case(&format!("CTX{}xx", family.number))
    });
    if let Some(family) = family {
        return Some((
            Reach::Family,
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
        .map(|rule| (Reach::Rule, vec![*rule]))
}

pub(super) fn lints(
    sink: &mut Sink,
    value: &Value<'_>,
    rules: &[&'static RuleMeta],
    out: &mut Vec<LintLine>,
) {
    let mut seen: Vec<(Code, Span)> = Vec::new();
    for (key, value) in table(sink, "lints", value).into_iter().flatten() {
        let name = key.get_ref().as_ref();
        let at = span(&key.span());
        let Some((reach, named)) = named(name, rules) else {
            let words = rules
                .iter()
                .map(|rule| rule.name)
                .chain(FAMILIES.iter().map(|family| family.name))
                .chain(["all"]);
            sink.report(
                at,
                FaultKind::UnknownRule {
                    found: name.to_owned(),
                    near: near(name, words),
                },
            );
            continue;
        };
        let Some((word, level)) = level(sink, &format!("lints.{name}"), value) else {
            continue;
        };
        if let (Reach::Rule, [rule]) = (reach, named.as_slice()) {
            if let Some((_, first)) = seen.iter().find(|(code, _)| *code == rule.code) {
                sink.report(
                    at,
                    FaultKind::RepeatedRule {
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
                FaultKind::LockedRule {
                    rule: name.to_owned(),
                    level: level.as_str(),
                    floor,
                },
            );
            continue;
        }
        out.push(LintLine {
            span: word.span,
            reach,
            codes,
            level,
        });
    }
}

/// The levels of other tools, with our equivalents.
const FOREIGN: [(&str, &str); 6] = [
    ("warn", "warning"),
    ("deny", "error"),
    ("forbid", "error"),
    ("allow", "off"),
    ("ignore", "off"),
    ("note", "info"),
];

fn level<'v>(
    sink: &mut Sink,
    key: &str,
    value: &'v Value<'_>,
) -> Option<(Spanned<&'v str>, Level)> {
    if let DeValue::String(text) = value.get_ref()
        && let Some((_, meant)) = FOREIGN.iter().find(|(foreign, _)| foreign == text)
    {
        let at = Spanned::new(text.as_ref(), span(&value.span()));
        sink.bad_word_near(key, at, &Level::WORDS, Some((*meant).to_owned()));
        return None;
    }
    let found = word(sink, key, value, &Level::WORDS, ["warning", "off"])?;
    Level::parse(found.value).map(|level| (found, level))
}

/// True if a level is lower than the severity of a locked rule.
fn is_lowered(rule: &RuleMeta, level: Level) -> bool {
    let promised = rule
        .severity
        .map_or(0, |severity| Level::At(severity).strictness());
    rule.locked && level.strictness() < promised
}
