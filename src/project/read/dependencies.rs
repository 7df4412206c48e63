//! Reads `[dependencies]`.

use super::inherit::{InheritedSection, read_inheritance};
use super::row::{KeyReader, optional_row, read_rows, required_row, row_keys};
use super::value::{
    FaultSink, TomlTable, TomlValue, read_table, read_text, report_missing_keys, to_span,
};
use crate::base::span::Spanned;
use crate::project::dependencies::{Dependency, PackageSource, PackageTrust, mask_credentials};
use crate::project::package_section::is_package_name;
use crate::project::table::{ConfigShape, ConfigTable, key_table as of};
use std::collections::BTreeMap;
use toml::de::DeValue;

/// A package with more than its source.
pub(super) static DEPENDENCY: ConfigTable = of(
    "a package",
    &row_keys::<_, { DEPENDENCY_ROWS.len() }>(DEPENDENCY_ROWS),
);

#[derive(Default)]
struct WrittenDependency {
    source: Option<Spanned<PackageSource>>,
    trust: PackageTrust,
}

const DEPENDENCY_ROWS: &[KeyReader<WrittenDependency>] = &[
    required_row(
        "source",
        ConfigShape::Text,
        "`path:FOLDER` or `git+https://…@TAG`",
        |at, out| out.source = read_source(at.sink, &at.path, at.value),
    ),
    optional_row(
        "trust",
        ConfigShape::Word(&PackageTrust::WORDS),
        "`author`: its templates and fragments are trusted as the project's own, which is the default; `outside`: they are not",
        |at, out| {
            let word = at.read_word(PackageTrust::WORDS);
            if word.is_some_and(|word| word.value == "outside") {
                out.trust = PackageTrust::Outside;
            }
        },
    ),
];

/// Reads the packages that a project requires, by their names.
pub(super) fn read_dependencies(
    sink: &mut FaultSink,
    value: &TomlValue<'_>,
    inherited: &mut Vec<InheritedSection>,
) -> BTreeMap<String, Dependency> {
    let mut found = BTreeMap::new();
    for (key, value) in read_table(sink, "dependencies", value)
        .into_iter()
        .flatten()
    {
        if read_inheritance(sink, "dependencies", key, value, inherited) {
            continue;
        }
        let name = Spanned::new(key.get_ref().as_ref(), to_span(&key.span()));
        if !is_package_name(name.value) {
            let expected = "the name of a package in quotes, such as \"acme/rules\": lower-case letters, digits and `-`";
            sink.bad_value("dependencies", &name, expected, None);
            continue;
        }
        let path = format!("dependencies.\"{}\"", name.value);
        let written = match value.get_ref() {
            DeValue::Table(own) => read_dependency_table(sink, &path, value, own),
            DeValue::String(_) => WrittenDependency {
                source: read_source(sink, &path, value),
                ..WrittenDependency::default()
            },
            DeValue::Array(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Float(_)
            | DeValue::Integer(_) => {
                sink.wrong_type(&path, value, "a source in quotes, or a table with `source`");
                continue;
            }
        };
        if let Some(source) = written.source {
            let dependency = Dependency {
                name: name.map(str::to_owned),
                source,
                trust: written.trust,
            };
            found.insert(dependency.name.value.clone(), dependency);
        }
    }
    found
}

fn read_dependency_table(
    sink: &mut FaultSink,
    path: &str,
    value: &TomlValue<'_>,
    own: &TomlTable<'_>,
) -> WrittenDependency {
    let mut written = WrittenDependency::default();
    read_rows(sink, path, value, DEPENDENCY_ROWS, &mut written);
    let at = Spanned::new(path, to_span(&value.span()));
    report_missing_keys(sink, at, own, &DEPENDENCY);
    written
}

fn read_source(
    sink: &mut FaultSink,
    path: &str,
    value: &TomlValue<'_>,
) -> Option<Spanned<PackageSource>> {
    let written = read_text(sink, path, value)?;
    match PackageSource::parse(written.value) {
        Ok(source) => Some(Spanned::new(source, written.span)),
        Err(fault) => {
            // A password is never printed.
            let found = written.map(mask_credentials);
            sink.bad_value(path, &found, fault.to_string(), None);
            None
        }
    }
}
