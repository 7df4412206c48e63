//! The patterns of task bodies: the children of each type, and the settings that are compatible
//! with the defaults of its row.
//!
//! The combinations of types and subtypes are computed from the compiler's own rows; they are not
//! listed here.

use super::pattern::{
    Define, Pattern, attribute, attributes, choice, element, kind, name_of, optional, values, words,
};
use crate::settings::layers::Layers;
use crate::settings::operators::{ALIASES, BodyPart, DEFAULTS, Operator, ROWLESS};
use crate::template::elements::{Child, Kind, Of};
use crate::template::setting::{Fresh, Inherit, LEGACY, SettingName, Word};
use std::collections::{BTreeMap, BTreeSet};

/// The defaults of a row that decide which settings are compatible.
type Row = (Inherit, Fresh);

/// The bodies in place, each with its part of the operator table; `script_execution` has the row of
/// its type.
const PARTS: [(Kind, Option<BodyPart>); 5] = [
    (Kind::InnerTask, Some(BodyPart::InnerTask)),
    (Kind::ReductionTask, Some(BodyPart::ReductionTask)),
    (Kind::Director, Some(BodyPart::Director)),
    (Kind::Evaluator, Some(BodyPart::Evaluator)),
    (Kind::ScriptExecution, None),
];

/// All definitions for tasks.
pub(super) fn defines() -> Vec<Define> {
    let layers = Layers::default();
    let mut out = vec![
        Define {
            name: name_of(Kind::Task),
            doc: Kind::Task.spec().doc.to_owned(),
            pattern: task(&layers),
        },
        Define {
            name: "Common".to_owned(),
            doc: "what every task may hold".to_owned(),
            pattern: common(),
        },
    ];
    for (part, row) in PARTS {
        let rows = || {
            layers.rows().filter(|(_, known)| {
                row.is_some_and(|part| known.subtype().is_some_and(|name| **name == *part.word()))
            })
        };
        let row = rows()
            .find(|(_, known)| known.kind() == crate::settings::operators::Kind::Part)
            .map(|(id, _)| id);
        let row = row.or_else(|| layers.row(Operator::Script.word(), None).ok());
        let defaults = row.map_or((Inherit::Full, Fresh::Disabled), |row| {
            defaults(&layers, row)
        });
        out.push(Define {
            name: name_of(part),
            doc: part.spec().doc.to_owned(),
            pattern: place(part, defaults),
        });
    }
    let rows: BTreeSet<Row> = layers.rows().map(|(id, _)| defaults(&layers, id)).collect();
    for row in &rows {
        out.push(Define {
            name: settings_name(*row),
            doc: settings_doc(*row),
            pattern: settings(*row),
        });
        out.push(Define {
            name: nested_name(*row),
            doc: "a part's body, wrapped in a task of its own; it keeps the defaults of the part"
                .to_owned(),
            pattern: nested(*row),
        });
    }
    for name in SettingName::ALL.iter().copied() {
        let spec = Kind::ContextManagement
            .child(name.word())
            .map(|child| child.kind.spec());
        out.push(Define {
            name: setting_name(name),
            doc: spec.map_or("", |spec| spec.doc).to_owned(),
            pattern: setting(name, name.words()),
        });
    }
    out
}

fn defaults(layers: &Layers, row: crate::settings::layers::RowId) -> Row {
    let defaults = layers.defaults(row);
    (defaults.inherit_context.value, defaults.fresh_context.value)
}

/// A type or a subtype; `None` if it is absent.
type Written = Option<&'static str>;
/// The subtypes of one row, by the type as written.
type Subtypes = BTreeMap<Written, Vec<Written>>;
/// All spellings of the type and subtype of a row: sets of subtypes, each with the types that
/// accept them.
type TypeSpellings = BTreeMap<Vec<Written>, Vec<Written>>;

/// The spellings of each operator and its resulting defaults.
fn dispatch(layers: &Layers) -> BTreeMap<(Operator, Row), TypeSpellings> {
    let types = Operator::ALL
        .iter()
        .map(|operator| operator.word())
        .chain(ALIASES.iter().map(|(word, ..)| *word));
    let types: Vec<Option<&'static str>> = std::iter::once(None).chain(types.map(Some)).collect();
    let named = DEFAULTS
        .iter()
        .flat_map(|row| row.names)
        .chain(ROWLESS.iter().map(|(_, name)| name));
    let subtypes: BTreeSet<Option<&'static str>> = std::iter::once(None)
        .chain(named.map(|name| Some(*name)))
        .collect();
    let mut found: BTreeMap<(Operator, Row), Subtypes> = BTreeMap::new();
    for written in types {
        for subtype in &subtypes {
            if let Ok(row) = layers.row(written.unwrap_or(Operator::Atomic.word()), *subtype) {
                let key = (layers.get(row).base(), defaults(layers, row));
                found
                    .entry(key)
                    .or_default()
                    .entry(written)
                    .or_default()
                    .push(*subtype);
            }
        }
    }
    let mut out: BTreeMap<(Operator, Row), TypeSpellings> = BTreeMap::new();
    for (key, types) in found {
        for (written, subtypes) in types {
            out.entry(key)
                .or_default()
                .entry(subtypes)
                .or_default()
                .push(written);
        }
    }
    out
}

/// The pattern of a complete task: a reference, or a body by its type and subtype.
fn task(layers: &Layers) -> Pattern {
    let mut branches = vec![reference()];
    for ((operator, row), ways) in dispatch(layers) {
        let heads = ways.iter().map(|(subtypes, types)| {
            Pattern::Group(vec![
                one_of_or_none("type", types),
                one_of_or_none("subtype", subtypes),
            ])
        });
        branches.push(Pattern::Group(vec![
            choice(heads.collect()),
            body(operator, row),
        ]));
    }
    element("task", vec![head(), choice(branches)])
}

/// The attributes of a task that do not affect its type.
fn head() -> Pattern {
    let own = attributes(Kind::Task)
        .into_iter()
        .filter(|pattern| !names_one_of(pattern, &["type", "subtype", "ref"]));
    Pattern::Group(own.collect())
}

fn names_one_of(pattern: &Pattern, names: &[&str]) -> bool {
    matches!(pattern, Pattern::Optional(inside) if matches!(&**inside, Pattern::Attribute(name, _) if names.contains(name)))
}

fn one_of_or_none(name: &'static str, values: &[Option<&'static str>]) -> Pattern {
    let written: Vec<&'static str> = values.iter().flatten().copied().collect();
    if written.is_empty() {
        return Pattern::Empty;
    }
    let pattern = attribute(name, words(&written));
    if values.contains(&None) {
        optional(pattern)
    } else {
        pattern
    }
}

/// The pattern of `<task ref="…"/>`, which has no body.
fn reference() -> Pattern {
    let others = Kind::Task
        .attributes()
        .filter(|known| ["type", "subtype"].contains(&known.name));
    let mut out = vec![attribute("ref", Pattern::Name)];
    out.extend(others.map(|known| optional(attribute(known.name, values(known.values)))));
    out.push(Pattern::ForeignElements);
    Pattern::Group(out)
}

/// The pattern of the content of a task: a description, the common children, the settings of its
/// row, and the children of its type.
fn body(operator: Operator, row: Row) -> Pattern {
    let mut out = vec![kind(Kind::Description)];
    out.extend(rest(operator, row));
    Pattern::Interleave(out)
}

fn rest(operator: Operator, row: Row) -> Vec<Pattern> {
    let mut out = vec![
        Pattern::Ref("Common".to_owned()),
        optional(Pattern::Ref(settings_name(row))),
    ];
    let is_own =
        |child: &&Child| child.of == Of::Type(operator.word()) || child.kind == Kind::Inputs;
    for child in Kind::Task.spec().children.iter().filter(is_own) {
        let own = kind(child.kind);
        out.push(if operator.needs().contains(&child.kind) {
            own
        } else {
            optional(own)
        });
    }
    out.push(Pattern::ForeignElements);
    out
}

fn common() -> Pattern {
    let apart = [Kind::Description, Kind::ContextManagement, Kind::Inputs];
    let children = Kind::Task
        .spec()
        .children
        .iter()
        .filter(|child| child.of == Of::Any && !apart.contains(&child.kind));
    Pattern::Interleave(children.map(|child| optional(kind(child.kind))).collect())
}

/// The pattern of a body in place. Its place determines its type; a body wrapped in a task is
/// accepted too.
fn place(part: Kind, row: Row) -> Pattern {
    let own = if part == Kind::ScriptExecution {
        // The only body that does not require a description, because it is a command.
        let mut own = rest(Operator::Script, row);
        own.push(optional(kind(Kind::Description)));
        Pattern::Interleave(own)
    } else {
        body(Operator::Atomic, row)
    };
    let inner = if part == Kind::ScriptExecution {
        kind(Kind::Task)
    } else {
        Pattern::Ref(nested_name(row))
    };
    let any = choice(any_settings());
    let wrapped = Pattern::Interleave(vec![
        inner,
        optional(kind(Kind::Description)),
        Pattern::Ref("Common".to_owned()),
        optional(kind(Kind::Inputs)),
        optional(any),
        Pattern::ForeignElements,
    ]);
    let mut content = attributes(part);
    content.push(Pattern::Choice(vec![own, wrapped]));
    element(part.tag(), content)
}

/// References to all definitions of the settings block, for a task of unknown type.
fn any_settings() -> Vec<Pattern> {
    let layers = Layers::default();
    let rows: BTreeSet<Row> = layers.rows().map(|(id, _)| defaults(&layers, id)).collect();
    rows.into_iter()
        .map(|row| Pattern::Ref(settings_name(row)))
        .collect()
}

/// The pattern of a task around the body of a part: the children are those of its type, the
/// settings those of the part.
fn nested(row: Row) -> Pattern {
    let mut branches = vec![reference()];
    for operator in Operator::ALL {
        let aliases = ALIASES
            .iter()
            .filter(|(_, of, _)| *of == operator)
            .map(|(word, ..)| Some(*word));
        let none = (operator == Operator::Atomic).then_some(None);
        let types: Vec<_> = none
            .into_iter()
            .chain([Some(operator.word())])
            .chain(aliases)
            .collect();
        let subtype = optional(attribute("subtype", Pattern::Name));
        branches.push(Pattern::Group(vec![
            one_of_or_none("type", &types),
            subtype,
            body(operator, row),
        ]));
    }
    element("task", vec![head(), choice(branches)])
}

fn settings_name((inherit, fresh): Row) -> String {
    format!("Settings-{}-{}", inherit.word(), fresh.word())
}

fn nested_name((inherit, fresh): Row) -> String {
    format!("Nested-{}-{}", inherit.word(), fresh.word())
}

fn setting_name(name: SettingName) -> String {
    format!("{name:?}")
}

fn settings_doc((inherit, fresh): Row) -> String {
    format!(
        "settings of rows that default to inherit_context {} and fresh_context {}: fresh context is looked up only where none is inherited",
        inherit.word(),
        fresh.word()
    )
}

/// The pattern of the settings block of a row. The written settings and the defaults determine the
/// final values, which must not combine fresh context with an inherited one.
fn settings(row: Row) -> Pattern {
    // The valid values of `inherit_context` by the value of `fresh_context`; equal sets share a
    // branch.
    let mut ways: BTreeMap<Vec<Option<Inherit>>, Vec<Option<Fresh>>> = BTreeMap::new();
    for fresh in options::<Fresh>() {
        let agreeing = options::<Inherit>()
            .filter(|inherit| agree(inherit.unwrap_or(row.0), fresh.unwrap_or(row.1)));
        ways.entry(agreeing.collect()).or_default().push(fresh);
    }
    // Each branch is a whole block, because validators do not handle a choice inside an interleave
    // well.
    let branches = ways.iter().map(|(inherit, fresh)| {
        Pattern::Interleave(vec![
            pick(SettingName::InheritContext, inherit),
            optional(Pattern::Ref(setting_name(SettingName::AccumulateData))),
            optional(Pattern::Ref(setting_name(SettingName::AccumulationFormat))),
            pick(SettingName::FreshContext, fresh),
            Pattern::ForeignElements,
        ])
    });
    let mut content = attributes(Kind::ContextManagement);
    content.push(choice(branches.collect()));
    element(Kind::ContextManagement.tag(), content)
}

/// The rule of the language: see [`crate::settings::conflict`]; a test compares the verdicts.
const fn agree(inherit: Inherit, fresh: Fresh) -> bool {
    matches!(inherit, Inherit::None) || matches!(fresh, Fresh::Disabled)
}

fn options<T: Word>() -> impl Iterator<Item = Option<T>> {
    std::iter::once(None).chain(T::ALL.iter().copied().map(Some))
}

/// The pattern of a setting with some of its values, or without it.
fn pick<T: Word + PartialEq>(name: SettingName, values: &[Option<T>]) -> Pattern {
    let written: Vec<&'static str> = values.iter().flatten().map(|value| value.word()).collect();
    if written.is_empty() {
        return Pattern::Empty;
    }
    let all = written.len() == T::ALL.len();
    let pattern = if all {
        Pattern::Ref(setting_name(name))
    } else {
        setting(name, &written)
    };
    if values.contains(&None) {
        optional(pattern)
    } else {
        pattern
    }
}

/// The pattern of a setting's element, including values of older dialects.
fn setting(name: SettingName, values: &[&'static str]) -> Pattern {
    let old = LEGACY
        .iter()
        .filter(|(of, _, modern)| *of == name && values.contains(modern))
        .map(|(_, old, _)| *old);
    let all: Vec<&'static str> = values.iter().copied().chain(old).collect();
    let child = Kind::ContextManagement.child(name.word());
    let mut content = child.map_or_else(
        || vec![Pattern::ForeignAttributes],
        |child| attributes(child.kind),
    );
    content.push(words(&all));
    element(name.word(), content)
}
