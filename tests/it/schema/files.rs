//! The files under `schema/`: fresh, and equal to the tables.

use crate::support::fresh::assert_fresh;
use ctxc::internals::schema;
use ctxc::internals::template::element_specs;
use pretty_assertions::assert_eq;
use std::collections::BTreeSet;

#[test]
fn schema_files_are_fresh() {
    assert_fresh("schema/ctxc.rng", &schema::rng_schema());
    assert_fresh("schema/ctxc.xsd", &schema::xsd_schema());
}

#[test]
fn every_element_and_attribute_of_the_table_is_in_each_schema() {
    let (rng, xsd) = (schema::rng_schema(), schema::xsd_schema());
    let known: BTreeSet<(&str, &str)> = element_specs::table_rows()
        .iter()
        .flat_map(|spec| {
            spec.kind
                .attributes()
                .map(|known| ("attribute", known.name))
                .chain([("element", spec.tag)])
        })
        .collect();
    for (text, prefix) in [(&rng, ""), (&xsd, "xs:")] {
        let document = roxmltree::Document::parse(text).unwrap();
        let named: BTreeSet<(&str, &str)> = document
            .descendants()
            .filter_map(|node| Some((node.tag_name().name(), node.attribute("name")?)))
            .filter(|(tag, _)| matches!(*tag, "element" | "attribute"))
            .collect();
        assert_eq!(named, known, "{prefix}");
    }
}

#[test]
fn every_name_that_a_schema_uses_is_defined_once() {
    for (text, uses, defines) in [
        (schema::rng_schema(), ("ref", "name"), &["define"][..]),
        (
            schema::xsd_schema(),
            ("element", "type"),
            &["complexType", "simpleType"],
        ),
    ] {
        let document = roxmltree::Document::parse(&text).unwrap();
        let nodes = || document.descendants();
        let used: BTreeSet<&str> = nodes()
            .filter(|node| node.tag_name().name() == uses.0)
            .filter_map(|node| node.attribute(uses.1))
            .collect();
        let defined: Vec<&str> = nodes()
            .filter(|node| defines.contains(&node.tag_name().name()))
            .filter_map(|node| node.attribute("name"))
            .collect();
        let once: BTreeSet<&str> = defined.iter().copied().collect();
        assert_eq!(once.len(), defined.len());
        assert_eq!(
            used.difference(&once).collect::<Vec<_>>(),
            Vec::<&&str>::new()
        );
    }
}
