//! Checks that the extending project only tightens the rules of a shared file, unless the shared
//! file permits a relaxation.
//!
//! A default is stricter if less context flows: `none` before `subset` before `full`, not looked up
//! before looked up, not carried before carried, notes before full output.

use super::lints::{LintLine, LintReach, resolve_lint_name};
use super::sections::nearest_name;
use super::shared::SHARED_FILE;
use super::value::FaultSink;
use crate::base::rule_meta::{Code, RuleMeta};
use crate::base::span::{Span, Spanned};
use crate::project::lints::{LintLevel, Lints};
use crate::project::project_fault::{ProjectFault, ProjectFaultKind};
use crate::settings::layers::{Declarations, LayerValue, Layers};
use crate::settings::provenance::{Layer, SettingValue, ValuePlace};
use crate::template::setting::{Format, Fresh, Inherit, SettingName, Word};
use std::collections::{BTreeMap, BTreeSet};

/// The relaxations that a shared file permits.
#[derive(Debug, Default)]
pub(super) struct AllowedRelaxations {
    codes: BTreeSet<Code>,
    /// `defaults`, `defaults.atomic`, `defaults.atomic.subtask`.
    defaults: Vec<String>,
}

impl AllowedRelaxations {
    fn allows_default(&self, row: &str) -> bool {
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
pub(super) fn read_allowed(
    sink: &mut FaultSink,
    entries: &[Spanned<String>],
    file: u16,
    rules: &[&'static RuleMeta],
) -> AllowedRelaxations {
    let own = std::mem::replace(&mut sink.file, file);
    let mut out = AllowedRelaxations::default();
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
        } else if let Some((_, rules)) = resolve_lint_name(text, rules) {
            out.codes.extend(rules.iter().map(|rule| rule.code));
        } else if !text.starts_with("defaults.") && text != "defaults" {
            let words = rules
                .iter()
                .map(|rule| rule.name)
                .chain(["all", "lints", "defaults"]);
            let kind = ProjectFaultKind::BadValue {
                key: "allow.loosen".to_owned(),
                found: text.to_owned(),
                expected: "`all`, `lints`, `defaults`, `defaults.TYPE`, or the name, code or family of a rule".to_owned(),
                near: nearest_name(text, words),
            };
            sink.report(entry.span, kind);
        }
    }
    sink.file = own;
    out
}

/// Merges the project's lints with those of the shared file.
pub(super) fn merge_lints(
    sink: &mut FaultSink,
    allowed: &AllowedRelaxations,
    shared: &[LintLine],
    own: &[LintLine],
    rules: &[&'static RuleMeta],
) -> Lints {
    let shared = lines_by_code(shared);
    let mut reported: BTreeSet<Span> = BTreeSet::new();
    let mut levels: BTreeMap<Code, LintLevel> = shared
        .iter()
        .map(|(code, line)| (*code, line.level))
        .collect();
    for (code, line) in lines_by_code(own) {
        let Some(before) = shared
            .get(&code)
            .filter(|before| is_looser(line.level, before.level))
        else {
            levels.insert(code, line.level);
            continue;
        };
        if allowed.codes.contains(&code) {
            levels.insert(code, line.level);
        } else if line.reach == LintReach::Rule && reported.insert(line.span) {
            // A line for a family or `all` does not relax stricter rules silently; only a line for
            // the one rule is reported.
            let name = rules
                .iter()
                .find(|rule| rule.code == code)
                .map_or("", |rule| rule.name);
            let kind = ProjectFaultKind::Loosened {
                what: name.to_owned(),
                here: line.level.as_str().to_owned(),
                shared: before.level.as_str().to_owned(),
                at: (before.file, before.span),
                entry: name.to_owned(),
            };
            sink.report(line.span, kind);
        }
    }
    Lints { levels }
}

pub(super) fn is_looser(level: LintLevel, than: LintLevel) -> bool {
    level.strictness() < than.strictness()
}

/// The effective line of each rule: the one with the narrowest scope, and of those the last.
pub(super) fn lines_by_code(lines: &[LintLine]) -> BTreeMap<Code, &LintLine> {
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
pub(super) fn remove_relaxed_defaults(
    sink: &mut FaultSink,
    allowed: &AllowedRelaxations,
    before: &Layers,
    after: &Layers,
    declared: &mut Declarations,
) -> bool {
    let mut loosened: BTreeMap<Span, (SettingName, ProjectFaultKind)> = BTreeMap::new();
    for (id, row) in after.rows() {
        for name in SettingName::ALL.iter().copied() {
            let new = row.defaults().get(name);
            let ValuePlace::Project(0, span) = new.origin.place else {
                continue;
            };
            let of_house = |link: &&LayerValue| {
                matches!(link.origin.place, ValuePlace::Project(SHARED_FILE, _))
            };
            let Some(house) = after.layer_values(id, name).iter().rev().find(of_house) else {
                continue;
            };
            let ValuePlace::Project(_, at) = house.origin.place else {
                continue;
            };
            let old = before.defaults(id).get(name);
            let is_own = matches!(old.origin.place, ValuePlace::Project(0, _));
            let min = if is_own {
                context_flow(house.value)
            } else {
                context_flow(old.value).max(context_flow(house.value))
            };
            let row = after.get(new.origin.row).name();
            if context_flow(new.value) <= min || allowed.allows_default(row) {
                continue;
            }
            let table = if new.origin.layer == Layer::Subtype {
                "operators"
            } else {
                "defaults"
            };
            let kind = ProjectFaultKind::Loosened {
                what: format!("{table}.{row}.{}", name.word()),
                here: new.value.as_str().to_owned(),
                shared: house.value.as_str().to_owned(),
                at: (SHARED_FILE, at),
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
        .extend(loosened.into_iter().map(|(span, (_, kind))| ProjectFault {
            file: 0,
            span,
            kind,
        }));
    any
}

/// The amount of context that a value lets flow, for comparison.
const fn context_flow(value: SettingValue) -> u8 {
    match value {
        SettingValue::NotApplicable
        | SettingValue::Inherit(Inherit::None)
        | SettingValue::Accumulate(false)
        | SettingValue::Format(Format::NotesOnly)
        | SettingValue::Fresh(Fresh::Disabled) => 0,
        SettingValue::Inherit(Inherit::Subset)
        | SettingValue::Accumulate(true)
        | SettingValue::Format(Format::FullOutput)
        | SettingValue::Fresh(Fresh::Enabled) => 1,
        SettingValue::Inherit(Inherit::Full) => 2,
    }
}
