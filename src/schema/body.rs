//! The patterns of task bodies: the children of each type, and the settings that are compatible
//! with the defaults of its row.
//!
//! The combinations of types and subtypes are computed from the compiler's own rows; they are not
//! listed here.

use super::pattern::{
    Define, RngPattern, attribute, attribute_patterns, choice, definition_name, element,
    kind_reference, optional, value_pattern, word_choice,
};
use crate::settings::layers::Layers;
use crate::settings::operators::{
    BodyPart, DEFAULTS, Operator, SUBTYPES_WITHOUT_ROW, TYPE_ALIASES,
};
use crate::template::elements::{ChildSpec, ElementKind, OwnerType};
use crate::template::setting::{Fresh, Inherit, LEGACY_VALUES, SettingName, Word};
use std::collections::{BTreeMap, BTreeSet};

/// The defaults of a row that decide which settings are compatible.
type DefaultPair = (Inherit, Fresh);

/// The bodies in place, each with its part of the operator table; `script_execution` has the row of
/// its type.
const PARTS: [(ElementKind, Option<BodyPart>); 5] = [
    (ElementKind::InnerTask, Some(BodyPart::InnerTask)),
    (ElementKind::ReductionTask, Some(BodyPart::ReductionTask)),
    (ElementKind::Director, Some(BodyPart::Director)),
    (ElementKind::Evaluator, Some(BodyPart::Evaluator)),
    (ElementKind::ScriptExecution, None),
];

/// All definitions for tasks.
pub(super) fn task_definitions() -> Vec<Define> {
    let layers = Layers::default();
    let mut out = vec![
        Define {
            name: definition_name(ElementKind::Task),
            doc: ElementKind::Task.spec().doc.to_owned(),
            pattern: task_pattern(&layers),
        },
        Define {
            name: "Common".to_owned(),
            doc: "elements that every task may contain".to_owned(),
            pattern: common_pattern(),
        },
    ];
    for (part, row) in PARTS {
        let rows = || {
            layers.rows().filter(|(_, known)| {
                row.is_some_and(|part| known.subtype().is_some_and(|name| **name == *part.word()))
            })
        };
        let row = rows()
            .find(|(_, known)| known.kind() == crate::settings::operators::RowKind::Part)
            .map(|(id, _)| id);
        let row = row.or_else(|| layers.resolve_row(Operator::Script.word(), None).ok());
        let defaults = row.map_or((Inherit::Full, Fresh::Disabled), |row| {
            default_pair(&layers, row)
        });
        out.push(Define {
            name: definition_name(part),
            doc: part.spec().doc.to_owned(),
            pattern: part_pattern(part, defaults),
        });
    }
    let rows: BTreeSet<DefaultPair> = layers
        .rows()
        .map(|(id, _)| default_pair(&layers, id))
        .collect();
    for row in &rows {
        out.push(Define {
            name: settings_definition_name(*row),
            doc: settings_doc(*row),
            pattern: settings_pattern(*row),
        });
        out.push(Define {
            name: nested_definition_name(*row),
            doc: "a part's body, wrapped in a task of its own; it keeps the defaults of the part"
                .to_owned(),
            pattern: nested_task_pattern(*row),
        });
    }
    for name in SettingName::ALL.iter().copied() {
        let spec = ElementKind::ContextManagement
            .child(name.word())
            .map(|child| child.kind.spec());
        out.push(Define {
            name: setting_definition_name(name),
            doc: spec.map_or("", |spec| spec.doc).to_owned(),
            pattern: setting_pattern(name, name.allowed_words()),
        });
    }
    out
}

fn default_pair(layers: &Layers, row: crate::settings::layers::RowId) -> DefaultPair {
    let defaults = layers.defaults(row);
    (defaults.inherit_context.value, defaults.fresh_context.value)
}

/// A type or a subtype; `None` if it is absent.
type OptionalWord = Option<&'static str>;
/// The subtypes of one row, by the type as written.
type SubtypesByType = BTreeMap<OptionalWord, Vec<OptionalWord>>;
/// All spellings of the type and subtype of a row: sets of subtypes, each with the types that
/// accept them.
type TypeSpellings = BTreeMap<Vec<OptionalWord>, Vec<OptionalWord>>;

/// The spellings of each operator and its resulting defaults.
fn type_spellings(layers: &Layers) -> BTreeMap<(Operator, DefaultPair), TypeSpellings> {
    let types = Operator::ALL
        .iter()
        .map(|operator| operator.word())
        .chain(TYPE_ALIASES.iter().map(|(word, ..)| *word));
    let types: Vec<Option<&'static str>> = std::iter::once(None).chain(types.map(Some)).collect();
    let named = DEFAULTS
        .iter()
        .flat_map(|row| row.names)
        .chain(SUBTYPES_WITHOUT_ROW.iter().map(|(_, name)| name));
    let subtypes: BTreeSet<Option<&'static str>> = std::iter::once(None)
        .chain(named.map(|name| Some(*name)))
        .collect();
    let mut found: BTreeMap<(Operator, DefaultPair), SubtypesByType> = BTreeMap::new();
    for written in types {
        for subtype in &subtypes {
            if let Ok(row) =
                layers.resolve_row(written.unwrap_or(Operator::Atomic.word()), *subtype)
            {
                let key = (layers.get(row).base(), default_pair(layers, row));
                found
                    .entry(key)
                    .or_default()
                    .entry(written)
                    .or_default()
                    .push(*subtype);
            }
        }
    }
    let mut out: BTreeMap<(Operator, DefaultPair), TypeSpellings> = BTreeMap::new();
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
fn task_pattern(layers: &Layers) -> RngPattern {
    let mut branches = vec![reference_pattern()];
    for ((operator, row), ways) in type_spellings(layers) {
        let heads = ways.iter().map(|(subtypes, types)| {
            RngPattern::Group(vec![
                optional_words("type", types),
                optional_words("subtype", subtypes),
            ])
        });
        branches.push(RngPattern::Group(vec![
            choice(heads.collect()),
            body_pattern(operator, row),
        ]));
    }
    element("task", vec![task_attributes(), choice(branches)])
}

/// The attributes of a task that do not affect its type.
fn task_attributes() -> RngPattern {
    let own = attribute_patterns(ElementKind::Task)
        .into_iter()
        .filter(|pattern| !is_optional_attribute(pattern, &["type", "subtype", "ref"]));
    RngPattern::Group(own.collect())
}

fn is_optional_attribute(pattern: &RngPattern, names: &[&str]) -> bool {
    matches!(pattern, RngPattern::Optional(inside) if matches!(&**inside, RngPattern::Attribute(name, _) if names.contains(name)))
}

fn optional_words(name: &'static str, values: &[Option<&'static str>]) -> RngPattern {
    let written: Vec<&'static str> = values.iter().flatten().copied().collect();
    if written.is_empty() {
        return RngPattern::Empty;
    }
    let pattern = attribute(name, word_choice(&written));
    if values.contains(&None) {
        optional(pattern)
    } else {
        pattern
    }
}

/// The pattern of `<task ref="…"/>`, which has no body.
fn reference_pattern() -> RngPattern {
    let others = ElementKind::Task
        .attributes()
        .filter(|known| ["type", "subtype"].contains(&known.name));
    let mut out = vec![attribute("ref", RngPattern::Name)];
    out.extend(others.map(|known| optional(attribute(known.name, value_pattern(known.values)))));
    out.push(RngPattern::ForeignElements);
    RngPattern::Group(out)
}

/// The pattern of the content of a task: a description, the common children, the settings of its
/// row, and the children of its type.
fn body_pattern(operator: Operator, row: DefaultPair) -> RngPattern {
    let mut out = vec![kind_reference(ElementKind::Description)];
    out.extend(body_children(operator, row));
    RngPattern::Interleave(out)
}

fn body_children(operator: Operator, row: DefaultPair) -> Vec<RngPattern> {
    let mut out = vec![
        RngPattern::Ref("Common".to_owned()),
        optional(RngPattern::Ref(settings_definition_name(row))),
    ];
    let is_own = |child: &&ChildSpec| {
        child.owner == OwnerType::Type(operator.word()) || child.kind == ElementKind::Inputs
    };
    for child in ElementKind::Task.spec().children.iter().filter(is_own) {
        let own = kind_reference(child.kind);
        out.push(if operator.required_children().contains(&child.kind) {
            own
        } else {
            optional(own)
        });
    }
    out.push(RngPattern::ForeignElements);
    out
}

fn common_pattern() -> RngPattern {
    let apart = [
        ElementKind::Description,
        ElementKind::ContextManagement,
        ElementKind::Inputs,
    ];
    let children = ElementKind::Task
        .spec()
        .children
        .iter()
        .filter(|child| child.owner == OwnerType::Any && !apart.contains(&child.kind));
    RngPattern::Interleave(
        children
            .map(|child| optional(kind_reference(child.kind)))
            .collect(),
    )
}

/// The pattern of a body in place. Its place determines its type; a body wrapped in a task is
/// accepted too.
fn part_pattern(part: ElementKind, row: DefaultPair) -> RngPattern {
    let own = if part == ElementKind::ScriptExecution {
        // The only body that does not require a description, because it is a command.
        let mut own = body_children(Operator::Script, row);
        own.push(optional(kind_reference(ElementKind::Description)));
        RngPattern::Interleave(own)
    } else {
        body_pattern(Operator::Atomic, row)
    };
    let inner = if part == ElementKind::ScriptExecution {
        kind_reference(ElementKind::Task)
    } else {
        RngPattern::Ref(nested_definition_name(row))
    };
    let any = choice(settings_references());
    let wrapped = RngPattern::Interleave(vec![
        inner,
        optional(kind_reference(ElementKind::Description)),
        RngPattern::Ref("Common".to_owned()),
        optional(kind_reference(ElementKind::Inputs)),
        optional(any),
        RngPattern::ForeignElements,
    ]);
    let mut content = attribute_patterns(part);
    content.push(RngPattern::Choice(vec![own, wrapped]));
    element(part.tag(), content)
}

/// References to all definitions of the settings block, for a task of unknown type.
fn settings_references() -> Vec<RngPattern> {
    let layers = Layers::default();
    let rows: BTreeSet<DefaultPair> = layers
        .rows()
        .map(|(id, _)| default_pair(&layers, id))
        .collect();
    rows.into_iter()
        .map(|row| RngPattern::Ref(settings_definition_name(row)))
        .collect()
}

/// The pattern of a task around the body of a part: the children are those of its type, the
/// settings those of the part.
fn nested_task_pattern(row: DefaultPair) -> RngPattern {
    let mut branches = vec![reference_pattern()];
    for operator in Operator::ALL {
        let aliases = TYPE_ALIASES
            .iter()
            .filter(|(_, of, _)| *of == operator)
            .map(|(word, ..)| Some(*word));
        let none = (operator == Operator::Atomic).then_some(None);
        let types: Vec<_> = none
            .into_iter()
            .chain([Some(operator.word())])
            .chain(aliases)
            .collect();
        let subtype = optional(attribute("subtype", RngPattern::Name));
        branches.push(RngPattern::Group(vec![
            optional_words("type", &types),
            subtype,
            body_pattern(operator, row),
        ]));
    }
    element("task", vec![task_attributes(), choice(branches)])
}

fn settings_definition_name((inherit, fresh): DefaultPair) -> String {
    format!("Settings-{}-{}", inherit.word(), fresh.word())
}

fn nested_definition_name((inherit, fresh): DefaultPair) -> String {
    format!("Nested-{}-{}", inherit.word(), fresh.word())
}

fn setting_definition_name(name: SettingName) -> String {
    format!("{name:?}")
}

fn settings_doc((inherit, fresh): DefaultPair) -> String {
    format!(
        "settings of rows that default to inherit_context {} and fresh_context {}: fresh context is looked up only where none is inherited",
        inherit.word(),
        fresh.word()
    )
}

/// The pattern of the settings block of a row. The written settings and the defaults determine the
/// final values, which must not combine fresh context with an inherited one.
fn settings_pattern(row: DefaultPair) -> RngPattern {
    // The valid values of `inherit_context` by the value of `fresh_context`; equal sets share a
    // branch.
    let mut ways: BTreeMap<Vec<Option<Inherit>>, Vec<Option<Fresh>>> = BTreeMap::new();
    for fresh in values_or_none::<Fresh>() {
        let agreeing = values_or_none::<Inherit>()
            .filter(|inherit| is_compatible(inherit.unwrap_or(row.0), fresh.unwrap_or(row.1)));
        ways.entry(agreeing.collect()).or_default().push(fresh);
    }
    // Each branch is a whole block, because validators do not handle a choice inside an interleave
    // well.
    let branches = ways.iter().map(|(inherit, fresh)| {
        RngPattern::Interleave(vec![
            setting_choice(SettingName::InheritContext, inherit),
            optional(RngPattern::Ref(setting_definition_name(
                SettingName::AccumulateData,
            ))),
            optional(RngPattern::Ref(setting_definition_name(
                SettingName::AccumulationFormat,
            ))),
            setting_choice(SettingName::FreshContext, fresh),
            RngPattern::ForeignElements,
        ])
    });
    let mut content = attribute_patterns(ElementKind::ContextManagement);
    content.push(choice(branches.collect()));
    element(ElementKind::ContextManagement.tag(), content)
}

/// The rule of the language: see [`crate::settings::conflict`]; a test compares the verdicts.
const fn is_compatible(inherit: Inherit, fresh: Fresh) -> bool {
    matches!(inherit, Inherit::None) || matches!(fresh, Fresh::Disabled)
}

fn values_or_none<T: Word>() -> impl Iterator<Item = Option<T>> {
    std::iter::once(None).chain(T::ALL.iter().copied().map(Some))
}

/// The pattern of a setting with some of its values, or without it.
fn setting_choice<T: Word + PartialEq>(name: SettingName, values: &[Option<T>]) -> RngPattern {
    let written: Vec<&'static str> = values.iter().flatten().map(|value| value.word()).collect();
    if written.is_empty() {
        return RngPattern::Empty;
    }
    let all = written.len() == T::ALL.len();
    let pattern = if all {
        RngPattern::Ref(setting_definition_name(name))
    } else {
        setting_pattern(name, &written)
    };
    if values.contains(&None) {
        optional(pattern)
    } else {
        pattern
    }
}

/// The pattern of a setting's element, including values of older dialects.
fn setting_pattern(name: SettingName, values: &[&'static str]) -> RngPattern {
    let old = LEGACY_VALUES
        .iter()
        .filter(|(of, _, modern)| *of == name && values.contains(modern))
        .map(|(_, old, _)| *old);
    let all: Vec<&'static str> = values.iter().copied().chain(old).collect();
    let child = ElementKind::ContextManagement.child(name.word());
    let mut content = child.map_or_else(
        || vec![RngPattern::ForeignAttributes],
        |child| attribute_patterns(child.kind),
    );
    content.push(word_choice(&all));
    element(name.word(), content)
}
