//! Reads the small sections: `edition`, `[project]`, `[templates]`, `[context]`, `[limits]`,
//! `[owners]`, `[fmt]`, `[allow]`, and those of later releases.

use super::row::{At, Row, keys, naming, row, rows};
use super::value::{Key, Sink, Value, span, table, text};
use crate::base::span::Spanned;
use crate::base::suggest::nearest;
use crate::format::Indent;
use crate::project::config::{Content, EDITION, Format, Lookup, Record, Reserved, Templates};
use crate::project::fault::FaultKind;
use crate::project::glob::Globs;
use crate::project::table::{Shape, Table, table as of};
use crate::scenario::table::Thing;
use crate::scenario::{paths, pattern};
use crate::syntax::limits::Limits;
use toml::de::DeValue;

pub(super) fn edition(sink: &mut Sink, value: &Value<'_>) {
    let Some(found) = text(sink, "edition", value) else {
        return;
    };
    if found.value != EDITION {
        sink.report(
            found.span,
            FaultKind::UnknownEdition {
                found: found.value.to_owned(),
            },
        );
    }
}

/// `[project]`.
pub(super) static PROJECT: Table = of(
    "the project",
    &keys::<_, { PROJECT_ROWS.len() }>(PROJECT_ROWS),
);

const PROJECT_ROWS: &[Row<Option<Spanned<String>>>] = &[
    row("name", Shape::Name, "its name", |at, name| {
        *name = at.spanned();
    }),
    row("version", Shape::Text, "its version", |at, _| {
        drop(at.string());
    }),
    row("description", Shape::Text, "what it is for", |at, _| {
        drop(at.string());
    }),
];

pub(super) fn project(sink: &mut Sink, value: &Value<'_>) -> Option<Spanned<String>> {
    let mut name = None;
    rows(sink, "project", value, PROJECT_ROWS, &mut name);
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
pub(super) static TEMPLATES: Table = of(
    "which files are templates",
    &keys::<_, { TEMPLATES_ROWS.len() }>(TEMPLATES_ROWS),
);

pub(super) const TEMPLATES_ROWS: &[Row<Templates>] = &[
    naming(
        Thing::Path,
        &row(
            "include",
            Shape::Globs,
            "those that are",
            |at, templates| {
                templates.include = Some(at.globs()).filter(|globs| !globs.is_empty());
            },
        ),
    ),
    naming(
        Thing::Path,
        &row(
            "exclude",
            Shape::Globs,
            "those of them that are not",
            |at, templates| templates.exclude = at.globs(),
        ),
    ),
];

/// `[context]`.
pub(super) static CONTEXT: Table = of(
    "what fresh context is looked up in",
    &keys::<_, { CONTEXT_ROWS.len() }>(CONTEXT_ROWS),
);

pub(super) const CONTEXT_ROWS: &[Row<Lookup>] = &[
    naming(
        Thing::Path,
        &row(
            "include",
            Shape::Globs,
            "files that are; all of the project where it is left out",
            |at, lookup| {
                lookup.include = Some(at.globs()).filter(|globs| !globs.is_empty());
            },
        ),
    ),
    naming(
        Thing::Path,
        &row(
            "exclude",
            Shape::Globs,
            "those of them that are not",
            |at, lookup| lookup.exclude = at.globs(),
        ),
    ),
    naming(
        Thing::Path,
        &row(
            "documents",
            Shape::Globs,
            "files taken besides, whatever hides or excludes them",
            |at, lookup| {
                lookup.documents = at.globs();
            },
        ),
    ),
    row(
        "objective_tokens",
        Shape::Whole((1, 10_000_000)),
        "tokens that the objective of a request may have; 8,000 where it is left out",
        |at, lookup| {
            lookup.objective_tokens = at.whole().map(|most| most.value as usize);
        },
    ),
];

/// `[history]`.
pub(super) static HISTORY: Table = of(
    "where runs of `ctxc eval` are kept",
    &keys::<_, { HISTORY_ROWS.len() }>(HISTORY_ROWS),
);

pub(super) const HISTORY_ROWS: &[Row<Option<Spanned<String>>>] = &[naming(
    Thing::Path,
    &row(
        "path",
        Shape::Text,
        "the file that they are kept in; in the user's own folder for state where it is left out",
        |at, history| {
            let Some(path) = at.spanned() else { return };
            match paths::beside("ctxc.toml", &path.value).filter(|path| !path.is_empty()) {
                Some(inside) => *history = Some(path.map(|_| inside)),
                None => at.bad(&path, "a file of the project, relative to its root"),
            }
        },
    ),
)];

/// `[record]`.
pub(super) static RECORD: Table = of(
    "what is kept of calls",
    &keys::<_, { RECORD_ROWS.len() }>(RECORD_ROWS),
);

/// The values of `content`.
const CONTENT: [&str; 3] = ["redacted", "full", "shape"];

pub(super) const RECORD_ROWS: &[Row<Record>] = &[
    row(
        "content",
        Shape::Word(&CONTENT),
        "`redacted`: words, with secrets and personal data replaced; `full`: what `ctxc record` keeps has personal data as well; `shape`: hashes, tokens and times alone",
        |at, record| {
            record.content = match at.word(["redacted", "shape"]).map(|found| found.value) {
                Some("shape") => Content::Shape,
                Some("full") => Content::Full,
                _ => Content::Redacted,
            };
        },
    ),
    row(
        "env",
        Shape::Texts,
        "variables that `ctxc record` sets to the address of its proxy, besides the usual ones",
        |at, record| {
            record.env = super::policy::variables(at);
        },
    ),
    row(
        "mask",
        Shape::Texts,
        "patterns of what is replaced before a call is kept, besides secrets and personal data",
        |at, record| {
            for found in at.texts() {
                match pattern::fault(&found.value) {
                    Some(fault) => at.bad(&found, format!("a pattern: {}", fault.reason)),
                    None => record.mask.push(found.value),
                }
            }
        },
    ),
    row(
        "upstream",
        Shape::Texts,
        "where `ctxc record` and `ctxc proxy` send calls on, as `[VENDOR=]URL`, such as `openai=https://gateway.example.com/v1`; `ctxc trust` has to permit it",
        |at, record| {
            record
                .upstream
                .extend(at.texts().into_iter().map(|address| address.value));
        },
    ),
];

/// `[limits]`. The upper bound of each limit is the capacity of spans, counters and the stack.
pub(super) static LIMITS: Table = of(
    "what an input may not exceed",
    &keys::<_, { LIMIT_ROWS.len() }>(LIMIT_ROWS),
);

pub(super) const LIMIT_ROWS: &[Row<Limits>] = &[
    row(
        "depth",
        Shape::Whole((1, 512)),
        "elements inside each other",
        |at, limits| {
            limits.depth = at.whole().map_or(limits.depth, |most| most.value as u32);
        },
    ),
    row(
        "attributes",
        Shape::Whole((1, 65_535)),
        "attributes of an element",
        |at, limits| {
            limits.attributes = at
                .whole()
                .map_or(limits.attributes, |most| most.value as u32);
        },
    ),
    row(
        "namespaces",
        Shape::Whole((1, 1_000)),
        "namespaces of a file",
        |at, limits| {
            limits.namespaces = at
                .whole()
                .map_or(limits.namespaces, |most| most.value as u32);
        },
    ),
    row(
        "file",
        Shape::Whole((1, 1 << 30)),
        "bytes of a file",
        |at, limits| {
            limits.file = at.whole().map_or(limits.file, |most| most.value);
        },
    ),
    row(
        "text",
        Shape::Whole((1, 1 << 30)),
        "bytes of a text",
        |at, limits| {
            limits.text = at.whole().map_or(limits.text, |most| most.value as u32);
        },
    ),
    row(
        "name",
        Shape::Whole((1, 65_535)),
        "bytes of a name",
        |at, limits| {
            limits.name = at.whole().map_or(limits.name, |most| most.value as u32);
        },
    ),
    row(
        "nodes",
        Shape::Whole((1, 100_000_000)),
        "nodes of a file",
        |at, limits| {
            limits.nodes = at.whole().map_or(limits.nodes, |most| most.value as u32);
        },
    ),
    row(
        "diagnostics",
        Shape::Whole((1, 1_000_000)),
        "findings of a file",
        |at, limits| {
            limits.diagnostics = at
                .whole()
                .map_or(limits.diagnostics, |most| most.value as u32);
        },
    ),
];

pub(super) fn owners(sink: &mut Sink, value: &Value<'_>, out: &mut Vec<(Globs, String)>) {
    for (key, value) in table(sink, "owners", value).into_iter().flatten() {
        let pattern = key.get_ref().as_ref();
        let mut globs = Globs::default();
        if let Err(error) = globs.add(pattern) {
            sink.report(
                span(&key.span()),
                FaultKind::BadGlob {
                    pattern: pattern.to_owned(),
                    error,
                },
            );
        }
        if let Some(owner) = text(sink, &format!("owners.\"{pattern}\""), value) {
            out.push((globs, owner.value.to_owned()));
        }
    }
}

/// `[fmt]`.
pub(super) static FORMAT: Table = of(
    "how `ctxc fmt` lays out templates",
    &keys::<_, { FORMAT_ROWS.len() }>(FORMAT_ROWS),
);

pub(super) const FORMAT_ROWS: &[Row<Format>] = &[
    row(
        "width",
        Shape::Whole((20, 1_000)),
        "columns of a line",
        |at, format| {
            format.width = at.whole().map_or(format.width, |width| width.value as u32);
        },
    ),
    row(
        "indent",
        Shape::WholeOr((1, 16), TAB),
        "spaces of a level, or `tab`",
        indent,
    ),
];

/// The word for an indent of tabs.
const TAB: &str = "tab";

fn indent(at: &mut At<'_, '_>, format: &mut Format) {
    let DeValue::String(word) = at.value.get_ref() else {
        format.indent = at
            .whole()
            .map_or(format.indent, |spaces| Indent::Spaces(spaces.value as u8));
        return;
    };
    if word == TAB {
        format.indent = Indent::Tab;
        return;
    }
    let near = nearest(word, [TAB]).map(str::to_owned);
    let found = Spanned::new(word, at.span());
    at.sink.bad_value(
        &at.path,
        &found,
        "a number of spaces from 1 to 16, or \"tab\"",
        near,
    );
}

/// `[allow]`.
pub(super) static ALLOW: Table = of(
    "what a project may loosen of a shared file",
    &keys::<_, { ALLOW_ROWS.len() }>(ALLOW_ROWS),
);

pub(super) const ALLOW_ROWS: &[Row<Vec<Spanned<String>>>] = &[row(
    "loosen",
    Shape::Texts,
    "rules, defaults and settings by name",
    |at, allow| *allow = at.texts(),
)];

/// Reads a section of a later release: a table, recorded with its span.
pub(super) fn reserved(sink: &mut Sink, key: &Key<'_>, value: &Value<'_>) -> Option<Reserved> {
    table(sink, key.get_ref(), value)?;
    Some(Reserved {
        file: sink.file,
        span: span(&key.span()),
        value: span(&value.span()),
    })
}

/// The most similar name, owned.
pub(super) fn near<'s>(written: &str, names: impl IntoIterator<Item = &'s str>) -> Option<String> {
    nearest(written, names).map(str::to_owned)
}
