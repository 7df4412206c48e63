//! The element table is consistent, and equals the words of the language.

use ctxc::internals::template::element_specs;
use ctxc::internals::template::elements::{AttrValues, ElementContent, ElementKind, OwnerType};
use ctxc::internals::template::setting::{Format, Fresh, Inherit, SettingName, Word};
use pretty_assertions::assert_eq;

#[test]
fn each_kind_has_its_row() {
    for (at, spec) in element_specs::table_rows().iter().enumerate() {
        assert_eq!(
            spec.kind as usize, at,
            "the row of {:?} is out of place",
            spec.kind
        );
        assert_eq!(spec.kind.spec().tag, spec.tag);
        assert!(
            !spec.doc.is_empty() && !spec.doc.ends_with('.'),
            "{}",
            spec.tag
        );
    }
    assert_eq!(
        element_specs::table_rows().last().map(|spec| spec.kind),
        Some(ElementKind::ValidationRules)
    );
}

#[test]
fn a_tag_is_one_kind_in_its_place() {
    for spec in element_specs::table_rows() {
        let mut tags: Vec<&str> = spec.children.iter().map(|child| child.kind.tag()).collect();
        tags.sort_unstable();
        let count = tags.len();
        tags.dedup();
        assert_eq!(
            tags.len(),
            count,
            "two children of {} have one tag",
            spec.tag
        );
        // Lowering keeps a bit for each.
        assert!(
            count <= 64 && spec.kind.attributes().count() <= 32,
            "{}",
            spec.tag
        );
        let leaf = matches!(
            spec.content,
            ElementContent::Word | ElementContent::Empty | ElementContent::Opaque
        );
        assert!(
            !leaf || spec.children.is_empty(),
            "{} holds no elements",
            spec.tag
        );
        for attribute in spec.attributes {
            assert!(!attribute.doc.is_empty(), "{} {}", spec.tag, attribute.name);
        }
    }
}

#[test]
fn every_kind_but_the_roots_stands_somewhere() {
    let stands = |kind: ElementKind| {
        element_specs::table_rows()
            .iter()
            .any(|spec| spec.children.iter().any(|child| child.kind == kind))
    };
    let homeless: Vec<_> = element_specs::table_rows()
        .iter()
        .map(|spec| spec.kind)
        .filter(|kind| !stands(*kind))
        .collect();
    assert_eq!(homeless, [ElementKind::Library]);
}

#[test]
fn types_of_children_are_types_of_the_language() {
    let known: Vec<&str> = ctxc::internals::settings::operators::Operator::ALL
        .iter()
        .map(|operator| operator.word())
        .collect();
    for child in element_specs::table_rows()
        .iter()
        .flat_map(|spec| spec.children)
    {
        if let OwnerType::Type(name) = child.owner {
            assert!(
                name.is_empty() && child.kind == ElementKind::Task || known.contains(&name),
                "{name}"
            );
        }
    }
}

#[test]
fn settings_take_the_words_of_their_types() {
    fn words<T: Word>() -> Vec<&'static str> {
        T::ALL.iter().map(|value| value.word()).collect()
    }
    assert_eq!(
        SettingName::InheritContext.allowed_words(),
        words::<Inherit>()
    );
    assert_eq!(SettingName::AccumulateData.allowed_words(), words::<bool>());
    assert_eq!(
        SettingName::AccumulationFormat.allowed_words(),
        words::<Format>()
    );
    assert_eq!(SettingName::FreshContext.allowed_words(), words::<Fresh>());
    let block: Vec<&str> = ElementKind::ContextManagement
        .spec()
        .children
        .iter()
        .map(|child| child.kind.tag())
        .collect();
    assert_eq!(block, words::<SettingName>());
    for (at, name) in SettingName::ALL.iter().enumerate() {
        assert_eq!(*name as usize, at);
    }
}

#[test]
fn text_elements_share_their_attributes() {
    for spec in element_specs::table_rows() {
        assert_eq!(
            spec.kind.attribute("src").is_some(),
            spec.kind.is_text(),
            "{}",
            spec.tag
        );
    }
    assert!(matches!(
        ElementKind::Task.attribute("name").map(|name| name.values),
        Some(AttrValues::Name)
    ));
}
