//! Layers of a project: declared rows, defaults for operators, subtypes and parts.

use ctxc::internals::base::span::{Span, Spanned};
use ctxc::internals::settings::layers::{
    Declarations, DeclaredDefault, DeclaredRow, Layers, RowFault,
};
use ctxc::internals::settings::operators::{BodyPart, Operator};
use ctxc::internals::settings::provenance::{Layer, ValuePlace};
use ctxc::internals::settings::resolve::resolve;
use ctxc::internals::template::setting::{Fresh, Inherit, SettingName, WrittenSettings};
use pretty_assertions::assert_eq;

fn inherit(value: Inherit, at: u32) -> WrittenSettings {
    WrittenSettings {
        inherit_context: Some(Spanned::new(value, Span::new(at, at + 1))),
        ..WrittenSettings::default()
    }
}

fn fresh(value: Fresh, at: u32) -> WrittenSettings {
    WrittenSettings {
        fresh_context: Some(Spanned::new(value, Span::new(at, at + 1))),
        ..WrittenSettings::default()
    }
}

fn default(operator: &str, subtype: Option<&str>, written: WrittenSettings) -> DeclaredDefault {
    DeclaredDefault {
        operator: operator.into(),
        subtype: subtype.map(Into::into),
        written,
        file: 0,
    }
}

fn layers(rows: Vec<DeclaredRow>, defaults: Vec<DeclaredDefault>) -> Layers {
    Layers::new(&Declarations {
        files: vec!["ctxc.toml".into()],
        rows,
        defaults,
    })
}

#[test]
fn a_subtype_row_beats_the_operators_project_default_and_its_own_default_beats_that() {
    let layers = layers(
        vec![],
        vec![
            default("atomic", None, inherit(Inherit::Subset, 10)),
            default("atomic", Some("subtask"), fresh(Fresh::Disabled, 20)),
        ],
    );
    let id = layers.resolve_row("atomic", Some("subtask")).unwrap();
    let chain = |name| {
        layers
            .layer_values(id, name)
            .iter()
            .map(|link| (link.origin.layer, link.value.as_str()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        chain(SettingName::InheritContext),
        [
            (Layer::Operator, "full"),
            (Layer::Project, "subset"),
            (Layer::Subtype, "none")
        ]
    );
    assert_eq!(
        chain(SettingName::FreshContext),
        [
            (Layer::Operator, "disabled"),
            (Layer::Subtype, "enabled"),
            (Layer::ProjectSubtype, "disabled")
        ]
    );
    let resolved = resolve(id, &layers, &WrittenSettings::default());
    assert_eq!(resolved.inherit_context.value, Inherit::None);
    assert_eq!(
        resolved.fresh_context.origin.place,
        ValuePlace::Project(0, Span::new(20, 21))
    );
}

#[test]
fn an_operators_default_reaches_its_rowless_subtypes_and_none_of_its_parts() {
    let layers = layers(
        vec![],
        vec![
            default("reduce", None, inherit(Inherit::Subset, 1)),
            default("atomic", None, inherit(Inherit::None, 2)),
        ],
    );
    let value = |id| layers.defaults(id).inherit_context.value;
    let reduce = layers.resolve_row("reduce", None).unwrap();
    assert_eq!(value(reduce), Inherit::Subset);
    assert_eq!(
        value(layers.resolve_row("reduce", Some("subtask")).unwrap()),
        Inherit::Subset
    );
    assert_eq!(
        value(layers.part_row(reduce, BodyPart::InnerTask)),
        Inherit::Full
    );
    assert_eq!(
        value(layers.resolve_row("atomic", Some("director")).unwrap()),
        Inherit::None
    );
}

#[test]
fn a_declared_operator_starts_from_its_base_and_has_its_parts() {
    let row = |operator: &str, subtype: Option<&str>, base, written| DeclaredRow {
        operator: operator.into(),
        subtype: subtype.map(Into::into),
        base,
        written,
        file: 0,
    };
    let layers = layers(
        vec![
            row("fold", None, Operator::Reduce, inherit(Inherit::Full, 5)),
            row(
                "fold",
                Some("wide"),
                Operator::Atomic,
                fresh(Fresh::Disabled, 6),
            ),
        ],
        vec![
            default("reduce", None, fresh(Fresh::Disabled, 7)),
            default("fold", Some("inner_task"), inherit(Inherit::None, 8)),
        ],
    );
    let fold = layers.resolve_row("fold", None).unwrap();
    assert_eq!(layers.get(fold).base(), Operator::Reduce);
    // Defaults of the base are the base's alone.
    assert_eq!(layers.defaults(fold).fresh_context.value, Fresh::Enabled);
    assert_eq!(layers.defaults(fold).inherit_context.value, Inherit::Full);
    assert_eq!(
        &**layers
            .get(layers.defaults(fold).fresh_context.origin.row)
            .name(),
        "reduce"
    );
    assert_eq!(
        layers
            .defaults(layers.resolve_row("fold", Some("wide")).unwrap())
            .fresh_context
            .value,
        Fresh::Disabled
    );
    assert_eq!(
        layers
            .defaults(layers.part_row(fold, BodyPart::InnerTask))
            .inherit_context
            .value,
        Inherit::None
    );
    assert_eq!(
        layers
            .defaults(layers.part_row(fold, BodyPart::ReductionTask))
            .inherit_context
            .value,
        Inherit::Full
    );
    assert!(layers.resolve_row("fold", Some("subtask")).is_ok());
}

#[test]
fn unknown_types_are_distinguished_from_unknown_subtypes_and_old_words_are_understood() {
    let layers = Layers::default();
    assert_eq!(
        layers.resolve_row("atomc", None),
        Err(RowFault::UnknownOperator)
    );
    let script = layers.resolve_row("script", None).unwrap();
    assert_eq!(
        layers.resolve_row("script", Some("director")),
        Err(RowFault::UnknownSubtype(script))
    );
    // A part is no subtype.
    let reduce = layers.resolve_row("reduce", None).unwrap();
    assert_eq!(
        layers.resolve_row("reduce", Some("inner_task")),
        Err(RowFault::UnknownSubtype(reduce))
    );
    assert_eq!(
        layers.resolve_row("map", None),
        layers.resolve_row("sequential", None)
    );
    assert_eq!(
        layers.resolve_row("director", None),
        layers.resolve_row("atomic", Some("director"))
    );
}
