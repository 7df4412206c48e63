//! Reads the small sections: `edition`, `[project]`, `[templates]`, `[context]`, `[limits]`,
//! `[owners]`, `[fmt]`, `[allow]`.

use super::row::{KeyReader, KeyValue, optional_row, read_rows, row_keys, with_names};
use super::value::{FaultSink, TomlValue, read_table, read_text, to_span};
use crate::base::span::Spanned;
use crate::base::suggest::nearest_candidate;
use crate::format::Indent;
use crate::project::config::{
    DEFAULT_EDITION, Format, LookupSettings, RecordSettings, RecordedContent, Templates, VERSION,
};
use crate::project::glob::Globs;
use crate::project::project_fault::ProjectFaultKind;
use crate::project::table::{ConfigShape, ConfigTable, key_table as of};
use crate::scenario::table::NamedThingKind;
use crate::scenario::{paths, pattern};
use crate::syntax::limits::XmlLimits;
use semver::{Version, VersionReq};
use toml::de::DeValue;

pub(super) fn check_edition(sink: &mut FaultSink, value: &TomlValue<'_>) {
    let Some(found) = read_text(sink, "edition", value) else {
        return;
    };
    if found.value != DEFAULT_EDITION {
        sink.report(
            found.span,
            ProjectFaultKind::UnknownEdition {
                found: found.value.to_owned(),
            },
        );
    }
}

/// Checks that this program may read the project.
pub(super) fn check_version(sink: &mut FaultSink, value: &TomlValue<'_>) {
    let key = "required-version";
    let Some(found) = read_text(sink, key, value) else {
        return;
    };
    let Ok(required) = VersionReq::parse(found.value) else {
        let expected = "versions, such as `>=0.2, <0.4`";
        sink.bad_value(key, &found, expected, None);
        return;
    };
    if !Version::parse(VERSION).is_ok_and(|version| required.matches(&version)) {
        let required = found.value.to_owned();
        sink.report(found.span, ProjectFaultKind::WrongVersion { required });
    }
}

/// `[project]`.
pub(super) static PROJECT: ConfigTable = of(
    "the project",
    &row_keys::<_, { PROJECT_ROWS.len() }>(PROJECT_ROWS),
);

const PROJECT_ROWS: &[KeyReader<Option<Spanned<String>>>] = &[
    optional_row("name", ConfigShape::Name, "its name", |at, name| {
        *name = at.read_string();
    }),
    optional_row("version", ConfigShape::Text, "its version", |at, _| {
        drop(at.read_plain_string());
    }),
    optional_row("description", ConfigShape::Text, "its purpose", |at, _| {
        drop(at.read_plain_string());
    }),
];

pub(super) fn read_project(sink: &mut FaultSink, value: &TomlValue<'_>) -> Option<Spanned<String>> {
    let mut name = None;
    read_rows(sink, "project", value, PROJECT_ROWS, &mut name);
    if let Some(empty) = name.take_if(|name| name.value.trim().is_empty()) {
        sink.bad_value(
            "project.name",
            &empty,
            "a name with at least one character",
            None,
        );
    }
    name
}

/// `[templates]`.
pub(super) static TEMPLATES: ConfigTable = of(
    "the files that are templates",
    &row_keys::<_, { TEMPLATES_ROWS.len() }>(TEMPLATES_ROWS),
);

pub(super) const TEMPLATES_ROWS: &[KeyReader<Templates>] = &[
    with_names(
        NamedThingKind::Path,
        &optional_row(
            "include",
            ConfigShape::Globs,
            "files that are templates",
            |at, templates| {
                templates.include = Some(at.read_globs()).filter(|globs| !globs.is_empty());
            },
        ),
    ),
    with_names(
        NamedThingKind::Path,
        &optional_row(
            "exclude",
            ConfigShape::Globs,
            "matching files that are not templates",
            |at, templates| templates.exclude = at.read_globs(),
        ),
    ),
];

/// `[context]`.
pub(super) static CONTEXT: ConfigTable = of(
    "the files in which fresh context is looked up",
    &row_keys::<_, { CONTEXT_ROWS.len() }>(CONTEXT_ROWS),
);

pub(super) const CONTEXT_ROWS: &[KeyReader<LookupSettings>] = &[
    with_names(
        NamedThingKind::Path,
        &optional_row(
            "include",
            ConfigShape::Globs,
            "files that are searched; default: all of the project",
            |at, lookup| {
                lookup.include = Some(at.read_globs()).filter(|globs| !globs.is_empty());
            },
        ),
    ),
    with_names(
        NamedThingKind::Path,
        &optional_row(
            "exclude",
            ConfigShape::Globs,
            "matching files that are not templates",
            |at, lookup| lookup.exclude = at.read_globs(),
        ),
    ),
    with_names(
        NamedThingKind::Path,
        &optional_row(
            "documents",
            ConfigShape::Globs,
            "further files that are searched, even if they are hidden or excluded",
            |at, lookup| {
                lookup.documents = at.read_globs();
            },
        ),
    ),
    optional_row(
        "objective_tokens",
        ConfigShape::Whole((1, 10_000_000)),
        "the maximum number of tokens of a request's objective; default: 8,000",
        |at, lookup| {
            lookup.objective_tokens = at.read_whole().map(|max| max.value as usize);
        },
    ),
];

/// `[history]`.
pub(super) static HISTORY: ConfigTable = of(
    "the location of the history of `ctxc eval`",
    &row_keys::<_, { HISTORY_ROWS.len() }>(HISTORY_ROWS),
);

pub(super) const HISTORY_ROWS: &[KeyReader<Option<Spanned<String>>>] = &[with_names(
    NamedThingKind::Path,
    &optional_row(
        "path",
        ConfigShape::Text,
        "the file of the history; default: in the user's own folder for state",
        |at, history| {
            let Some(path) = at.read_string() else { return };
            match paths::resolve_beside("ctxc.toml", &path.value).filter(|path| !path.is_empty()) {
                Some(inside) => *history = Some(path.map(|_| inside)),
                None => at.report_bad_value(&path, "a file of the project, relative to its root"),
            }
        },
    ),
)];

/// `[record]`.
pub(super) static RECORD: ConfigTable = of(
    "the stored content of calls",
    &row_keys::<_, { RECORD_ROWS.len() }>(RECORD_ROWS),
);

/// The values of `content`.
const CONTENT_WORDS: [&str; 3] = ["redacted", "full", "shape"];

pub(super) const RECORD_ROWS: &[KeyReader<RecordSettings>] = &[
    optional_row(
        "content",
        ConfigShape::Word(&CONTENT_WORDS),
        "`redacted`: texts, with secrets and personal data masked; `full`: recordings of `ctxc record` contain personal data as well; `shape`: only hashes, tokens and times",
        |at, record| {
            record.content = match at.read_word(["redacted", "shape"]).map(|found| found.value) {
                Some("shape") => RecordedContent::Shape,
                Some("full") => RecordedContent::Full,
                _ => RecordedContent::Redacted,
            };
        },
    ),
    optional_row(
        "env",
        ConfigShape::Texts,
        "variables that `ctxc record` sets to the address of its proxy, besides the usual ones",
        |at, record| {
            record.env = super::policy::read_variables(at);
        },
    ),
    optional_row(
        "mask",
        ConfigShape::Texts,
        "patterns of texts that are masked before a call is stored, besides secrets and personal data",
        |at, record| {
            for found in at.read_texts() {
                match pattern::find_fault(&found.value) {
                    Some(fault) => {
                        at.report_bad_value(&found, format!("a pattern: {}", fault.reason));
                    }
                    None => record.mask.push(found.value),
                }
            }
        },
    ),
    optional_row(
        "upstream",
        ConfigShape::Texts,
        "addresses to which `ctxc record` and `ctxc proxy` forward calls, as `[VENDOR=]URL`, such as `openai=https://gateway.example.com/v1`; `ctxc trust` has to permit them",
        |at, record| {
            record
                .upstream
                .extend(at.read_texts().into_iter().map(|address| address.value));
        },
    ),
];

/// `[limits]`. The upper bound of each limit is the capacity of spans, counters and the stack.
pub(super) static LIMITS: ConfigTable = of(
    "limits on input",
    &row_keys::<_, { LIMIT_ROWS.len() }>(LIMIT_ROWS),
);

pub(super) const LIMIT_ROWS: &[KeyReader<XmlLimits>] = &[
    optional_row(
        "depth",
        ConfigShape::Whole((1, 512)),
        "elements inside each other",
        |at, limits| {
            limits.depth = at.read_whole().map_or(limits.depth, |max| max.value as u32);
        },
    ),
    optional_row(
        "attributes",
        ConfigShape::Whole((1, 65_535)),
        "attributes of an element",
        |at, limits| {
            limits.attributes = at
                .read_whole()
                .map_or(limits.attributes, |max| max.value as u32);
        },
    ),
    optional_row(
        "namespaces",
        ConfigShape::Whole((1, 1_000)),
        "namespaces of a file",
        |at, limits| {
            limits.namespaces = at
                .read_whole()
                .map_or(limits.namespaces, |max| max.value as u32);
        },
    ),
    optional_row(
        "file",
        ConfigShape::Whole((1, 1 << 30)),
        "bytes of a file",
        |at, limits| {
            limits.file = at.read_whole().map_or(limits.file, |max| max.value);
        },
    ),
    optional_row(
        "text",
        ConfigShape::Whole((1, 1 << 30)),
        "bytes of a text",
        |at, limits| {
            limits.text = at.read_whole().map_or(limits.text, |max| max.value as u32);
        },
    ),
    optional_row(
        "name",
        ConfigShape::Whole((1, 65_535)),
        "bytes of a name",
        |at, limits| {
            limits.name = at.read_whole().map_or(limits.name, |max| max.value as u32);
        },
    ),
    optional_row(
        "nodes",
        ConfigShape::Whole((1, 100_000_000)),
        "nodes of a file",
        |at, limits| {
            limits.nodes = at.read_whole().map_or(limits.nodes, |max| max.value as u32);
        },
    ),
    optional_row(
        "diagnostics",
        ConfigShape::Whole((1, 1_000_000)),
        "findings of a file",
        |at, limits| {
            limits.diagnostics = at
                .read_whole()
                .map_or(limits.diagnostics, |max| max.value as u32);
        },
    ),
];

pub(super) fn read_owners(
    sink: &mut FaultSink,
    value: &TomlValue<'_>,
    out: &mut Vec<(Globs, String)>,
) {
    for (key, value) in read_table(sink, "owners", value).into_iter().flatten() {
        let pattern = key.get_ref().as_ref();
        let mut globs = Globs::default();
        if let Err(error) = globs.add_pattern(pattern) {
            sink.report(
                to_span(&key.span()),
                ProjectFaultKind::BadGlob {
                    pattern: pattern.to_owned(),
                    error,
                },
            );
        }
        if let Some(owner) = read_text(sink, &format!("owners.\"{pattern}\""), value) {
            out.push((globs, owner.value.to_owned()));
        }
    }
}

/// `[fmt]`.
pub(super) static FORMAT: ConfigTable = of(
    "the layout of templates by `ctxc fmt`",
    &row_keys::<_, { FORMAT_ROWS.len() }>(FORMAT_ROWS),
);

pub(super) const FORMAT_ROWS: &[KeyReader<Format>] = &[
    optional_row(
        "width",
        ConfigShape::Whole((20, 1_000)),
        "columns of a line",
        |at, format| {
            format.width = at
                .read_whole()
                .map_or(format.width, |width| width.value as u32);
        },
    ),
    optional_row(
        "indent",
        ConfigShape::WholeOr((1, 16), TAB_WORD),
        "spaces of a level, or `tab`",
        read_indent,
    ),
];

/// The word for an indent of tabs.
const TAB_WORD: &str = "tab";

fn read_indent(at: &mut KeyValue<'_, '_>, format: &mut Format) {
    let DeValue::String(word) = at.value.get_ref() else {
        format.indent = at
            .read_whole()
            .map_or(format.indent, |spaces| Indent::Spaces(spaces.value as u8));
        return;
    };
    if word == TAB_WORD {
        format.indent = Indent::Tab;
        return;
    }
    let near = nearest_candidate(word, [TAB_WORD]).map(str::to_owned);
    let found = Spanned::new(word, at.span());
    at.sink.bad_value(
        &at.path,
        &found,
        "a number of spaces from 1 to 16, or \"tab\"",
        near,
    );
}

/// `[allow]`.
pub(super) static ALLOW: ConfigTable = of(
    "the parts of a shared file that a project may loosen",
    &row_keys::<_, { ALLOW_ROWS.len() }>(ALLOW_ROWS),
);

pub(super) const ALLOW_ROWS: &[KeyReader<Vec<Spanned<String>>>] = &[optional_row(
    "loosen",
    ConfigShape::Texts,
    "rules, defaults and settings by name",
    |at, allow| *allow = at.read_texts(),
)];

/// The most similar name, owned.
pub(super) fn nearest_name<'s>(
    written: &str,
    names: impl IntoIterator<Item = &'s str>,
) -> Option<String> {
    nearest_candidate(written, names).map(str::to_owned)
}
