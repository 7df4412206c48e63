//! Reads `[package]`.

use super::row::{KeyReader, KeyValue, optional_row, read_rows, required_row, row_keys};
use super::value::{
    FaultSink, TomlKey, TomlValue, add_glob, read_boolean, read_table, read_texts,
    report_missing_keys, to_span,
};
use crate::base::span::Spanned;
use crate::project::dependencies::{PackageSource, expected_consumer, mask_credentials};
use crate::project::glob::Globs;
use crate::project::package_section::{
    ConsumerEntry, PackageExport, PackageSection, is_package_name,
};
use crate::project::table::{ConfigShape, ConfigTable, key_table};
use semver::Version;
use toml::de::DeValue;

/// `[package]`.
pub(super) static PACKAGE: ConfigTable = key_table(
    "the package that the project is published as",
    &row_keys::<_, { ROWS.len() }>(ROWS),
);

/// `[[package.consumers]]`.
static CONSUMER: ConfigTable = key_table(
    "a project whose contracts a release must keep",
    &row_keys::<_, { CONSUMER_ROWS.len() }>(CONSUMER_ROWS),
);

/// A package as written.
#[derive(Default)]
struct WrittenPackage {
    name: Option<Spanned<String>>,
    version: Option<Spanned<Version>>,
    license: Option<String>,
    files: Option<Globs>,
    patterns: Vec<Spanned<String>>,
    exports: Vec<Spanned<PackageExport>>,
    has_recordings: bool,
    consumers: Vec<ConsumerEntry>,
}

const ROWS: &[KeyReader<WrittenPackage>] = &[
    required_row(
        "name",
        ConfigShape::Name,
        "its organisation and name: `acme/rules`",
        |at, out| {
            let Some(name) = at.read_string() else { return };
            if is_package_name(&name.value) {
                out.name = Some(name);
                return;
            }
            at.report_bad_value(
                &name,
                "an organisation and a name of lower-case letters, digits and `-`, such as \"acme/rules\"",
            );
        },
    ),
    required_row(
        "version",
        ConfigShape::Text,
        "its version: `1.2.0`",
        |at, out| {
            let Some(written) = at.read_text() else {
                return;
            };
            match Version::parse(written.value) {
                Ok(version) => out.version = Some(Spanned::new(version, written.span)),
                Err(_) => at.report_bad_value(&written, "a semantic version, such as \"1.2.0\""),
            }
        },
    ),
    optional_row(
        "license",
        ConfigShape::Text,
        "its licence: `MIT`",
        |at, out| out.license = at.read_plain_string(),
    ),
    optional_row(
        "files",
        ConfigShape::Globs,
        "its files; default: this file, templates, the texts that they and roles include, scenarios with stored requests, and schemas",
        |at, out| {
            let mut files = Globs::default();
            for pattern in read_texts(at.sink, &at.path, at.value) {
                add_glob(at.sink, &mut files, &pattern);
                out.patterns.push(pattern.map(str::to_owned));
            }
            out.files = Some(files);
        },
    ),
    optional_row(
        "exports",
        ConfigShape::Set,
        "the definitions that others may use: `tasks/NAME`, `fragments/NAME`, `roles/NAME`, `tools/NAME`, `rules`",
        |at, out| {
            for written in at.read_unique_texts() {
                match PackageExport::parse(&written.value) {
                    Some(export) => out.exports.push(Spanned::new(export, written.span)),
                    None => at.report_bad_value(
                        &written,
                        "`tasks/NAME`, `fragments/NAME`, `roles/NAME`, `tools/NAME` or `rules`",
                    ),
                }
            }
        },
    ),
    optional_row(
        "recordings",
        ConfigShape::Bool,
        "includes the recorded answers of scenarios",
        |at, out| {
            out.has_recordings =
                read_boolean(at.sink, &at.path, at.value).is_some_and(|read| read.value);
        },
    ),
    optional_row(
        "consumers",
        ConfigShape::List(&CONSUMER),
        "the projects whose contracts a release must keep",
        read_consumers,
    ),
];

/// A consumer as written.
#[derive(Default)]
struct WrittenConsumer {
    source: Option<String>,
    name: Option<String>,
}

const CONSUMER_ROWS: &[KeyReader<WrittenConsumer>] = &[
    required_row(
        "source",
        ConfigShape::Name,
        "its source: `git+https://example.org/shop.git@main`",
        |at, out| {
            let Some(source) = at.read_string() else {
                return;
            };
            if let Err(fault) = PackageSource::parse(&source.value) {
                let found = source.as_ref().map(|text| mask_credentials(text));
                at.sink
                    .bad_value(&at.path, &found, expected_consumer(fault), None);
            }
            out.source = Some(source.value);
        },
    ),
    optional_row(
        "name",
        ConfigShape::Name,
        "its name, which no other consumer has; default: that of its folder or repository",
        |at, out| match at.read_string() {
            Some(name) if name.value.trim().is_empty() => {
                at.report_bad_value(&name, "a text with at least one character");
            }
            name => out.name = name.map(|name| name.value),
        },
    ),
];

fn read_consumers(at: &mut KeyValue<'_, '_>, out: &mut WrittenPackage) {
    let DeValue::Array(list) = at.value.get_ref() else {
        let expected = "a list of tables, each under its own `[[package.consumers]]`";
        at.sink.wrong_type(&at.path, at.value, expected);
        return;
    };
    for item in list {
        let mut consumer = WrittenConsumer::default();
        read_rows(at.sink, &at.path, item, CONSUMER_ROWS, &mut consumer);
        out.consumers
            .extend(consumer.source.map(|source| ConsumerEntry {
                source,
                name: consumer.name,
            }));
        if let DeValue::Table(table) = item.get_ref() {
            at.report_missing_keys(to_span(&item.span()), table, &CONSUMER);
        }
    }
}

/// Reads the section; `None` if its name or version is missing or wrong, which is reported.
pub(super) fn read_package(
    sink: &mut FaultSink,
    key: &TomlKey<'_>,
    value: &TomlValue<'_>,
) -> Option<PackageSection> {
    let table = read_table(sink, "package", value)?;
    let mut out = WrittenPackage::default();
    read_rows(sink, "package", value, ROWS, &mut out);
    report_missing_keys(
        sink,
        Spanned::new("package", to_span(&key.span())),
        table,
        &PACKAGE,
    );
    Some(PackageSection {
        name: out.name?,
        version: out.version?,
        license: out.license,
        files: out.files,
        patterns: out.patterns,
        exports: out.exports,
        has_recordings: out.has_recordings,
        consumers: out.consumers,
    })
}
