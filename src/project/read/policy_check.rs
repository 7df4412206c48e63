//! Checks that the extending project only tightens the rules of a shared file, unless the shared
//! file permits a relaxation.
//!
//! A default is stricter if less context flows: `none` before `subset` before `full`, not looked up
//! before looked up, not carried before carried, notes before full output.

use super::lints::{LintLine, Reach, named};
use super::sections::near;
use super::shared::SHARED;
use super::value::Sink;
use crate::base::rule_meta::{Code, RuleMeta};
use crate::base::span::{Span, Spanned};
use crate::project::fault::{Fault, FaultKind};
use crate::project::lints::{Level, Lints};
use crate::settings::layers::{Declarations, Layers, Link};
use crate::settings::provenance::{Layer, Place, Value};
use crate::template::setting::{Format, Fresh, Inherit, SettingName, Word};
use std::collections::{BTreeMap, BTreeSet};

/// The relaxations that a shared file permits.
#[derive(Debug, Default)]
pub(super) struct Allowed {
    codes: BTreeSet<Code>,
    /// `defaults`, `defaults.atomic`, `defaults.atomic.subtask`.
    defaults: Vec<String>,
}

impl Allowed {
    fn default_of(&self, row: &str) -> bool {
        let path = format!("defaults.{row}");
        self.defaults.iter().any(|entry| {
            path == *entry
                || path
                    .strip_prefix(entry.as_str())
                    .is_some_and(|rest| rest.starts_with('.'))
        })
    }
}

/// Reads `[allow] loosen` of the shared file.
pub(super) fn allowed(
    sink: &mut Sink,
    entries: &[Spanned<String>],
    file: u16,
    rules: &[&'static RuleMeta],
) -> Allowed {
    let own = std::mem::replace(&mut sink.file, file);
    let mut out = Allowed::default();
    for entry in entries {
        let text = entry.value.as_str();
        if text == "all" || text == "defaults" || text.starts_with("defaults.") {
            out.defaults.push(if text == "all" {
                "defaults".to_owned()
            } else {
                text.to_owned()
            });
        }
        if text == "lints" || text == "all" {
            out.codes.extend(rules.iter().map(|rule| rule.code));
        } else if let Some((_, rules)) = named(text, rules) {
            out.codes.extend(rules.iter().map(|rule| rule.code));
        } else if !text.starts_with("defaults.") && text != "defaults" {
            let words = rules
                .iter()
                .map(|rule| rule.name)
                .chain(["all", "lints", "defaults"]);
            let kind = FaultKind::BadValue {
                key: "allow.loosen".to_owned(),
                found: text.to_owned(),
                expected: "`all`, `lints`, `defaults`, `defaults.TYPE`, or the name, code or family of a rule".to_owned(),
                near: near(text, words),
            };
            sink.report(entry.span, kind);
        }
    }
    sink.file = own;
    out
}

/// Merges the project's lints with those of the shared file.
pub(super) fn lints(
    sink: &mut Sink,
    allowed: &Allowed,
    shared: &[LintLine],
    own: &[LintLine],
    rules: &[&'static RuleMeta],
) -> Lints {
    let shared = by_code(shared);
    let mut reported: BTreeSet<Span> = BTreeSet::new();
    let mut levels: BTreeMap<Code, Level> = shared
        .iter()
        .map(|(code, line)| (*code, line.level))
        .collect();
    for (code, line) in by_code(own) {
        let Some(before) = shared
            .get(&code)
            .filter(|before| is_looser(line.level, before.level))
        else {
            levels.insert(code, line.level);
            continue;
        };
        if allowed.codes.contains(&code) {
            levels.insert(code, line.level);
        } else if line.reach == Reach::Rule && reported.insert(line.span) {
            // A line for a family or `all` does not relax stricter rules silently; only a line for
            // the one rule is reported.
            let name = rules
                .iter()
                .find(|rule| rule.code == code)
                .map_or("", |rule| rule.name);
            let kind = FaultKind::Loosened {
                what: name.to_owned(),
                here: line.level.as_str().to_owned(),
                shared: before.level.as_str().to_owned(),
                at: (SHARED, before.span),
                entry: name.to_owned(),
            };
            sink.report(line.span, kind);
        }
    }
    Lints { levels }
}

fn is_looser(level: Level, than: Level) -> bool {
    level.strictness() < than.strictness()
}

/// The effective line of each rule: the one with the narrowest scope, and of those the last.
fn by_code(lines: &[LintLine]) -> BTreeMap<Code, &LintLine> {
    let mut out: BTreeMap<Code, &LintLine> = BTreeMap::new();
    for line in lines {
        for code in &line.codes {
            let known = out.entry(*code).or_insert(line);
            if known.reach <= line.reach {
                *known = line;
            }
        }
    }
    out
}

/// Compares the project's defaults and declared rows with the defaults of the shared file: the
/// resolved value of each row with its value without the project's defaults, and with the shared
/// file's last value beneath. Removes relaxed values, and returns true if any was removed.
pub(super) fn defaults(
    sink: &mut Sink,
    allowed: &Allowed,
    before: &Layers,
    after: &Layers,
    declared: &mut Declarations,
) -> bool {
    let mut loosened: BTreeMap<Span, (SettingName, FaultKind)> = BTreeMap::new();
    for (id, row) in after.rows() {
        for name in SettingName::ALL.iter().copied() {
            let new = row.defaults().get(name);
            let Place::Project(0, span) = new.origin.place else {
                continue;
            };
            let of_house = |link: &&Link| matches!(link.origin.place, Place::Project(SHARED, _));
            let Some(house) = after.chain(id, name).iter().rev().find(of_house) else {
                continue;
            };
            let Place::Project(_, at) = house.origin.place else {
                continue;
            };
            let old = before.defaults(id).get(name);
            let is_own = matches!(old.origin.place, Place::Project(0, _));
            let least = if is_own {
                flow(house.value)
            } else {
                flow(old.value).max(flow(house.value))
            };
            let row = after.get(new.origin.row).name();
            if flow(new.value) <= least || allowed.default_of(row) {
                continue;
            }
            let table = if new.origin.layer == Layer::Subtype {
                "operators"
            } else {
                "defaults"
            };
            let kind = FaultKind::Loosened {
                what: format!("{table}.{row}.{}", name.word()),
                here: new.value.word().to_owned(),
                shared: house.value.word().to_owned(),
                at: (SHARED, at),
                entry: format!("defaults.{row}"),
            };
            loosened.entry(span).or_insert((name, kind));
        }
    }
    let of_defaults = declared
        .defaults
        .iter_mut()
        .filter(|default| default.file == 0)
        .map(|default| &mut default.written);
    for written in of_defaults.chain(declared.rows.iter_mut().map(|row| &mut row.written)) {
        for (span, (name, _)) in &loosened {
            if written.span(*name) == Some(*span) {
                match name {
                    SettingName::InheritContext => written.inherit_context = None,
                    SettingName::AccumulateData => written.accumulate_data = None,
                    SettingName::AccumulationFormat => written.accumulation_format = None,
                    SettingName::FreshContext => written.fresh_context = None,
                }
            }
        }
    }
    let any = !loosened.is_empty();
    sink.faults
        .extend(loosened.into_iter().map(|(span, (_, kind))| Fault {
            file: 0,
            span,
            kind,
        }));
    any
}

/// The amount of context that a value lets flow, for comparison.
const fn flow(value: Value) -> u8 {
    match value {
        Value::NotApplicable
        | Value::Inherit(Inherit::None)
        | Value::Accumulate(false)
        | Value::Format(Format::NotesOnly)
        | Value::Fresh(Fresh::Disabled) => 0,
        Value::Inherit(Inherit::Subset)
        | Value::Accumulate(true)
        | Value::Format(Format::FullOutput)
        | Value::Fresh(Fresh::Enabled) => 1,
        Value::Inherit(Inherit::Full) => 2,
    }
}
