//! The list of all schemas, and what every schema file says at its head.

use super::value::Json;
use super::{answers, diagnostics, diff, import, manifest, manifest_diff, mutations, registry, rules, scorecard, search, watch};
use std::borrow::Cow;

/// The dialect of JSON Schema.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A schema of one artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// What the key `schema` of the artifact says, such as `ctxc/registry/1`.
    pub format: &'static str,
    /// The schema.
    pub document: Json,
}

/// What a schema is made from.
pub(super) struct Draft {
    pub(super) format: &'static str,
    /// What the artifact is and which command writes it.
    pub(super) about: &'static str,
    /// The object that the artifact is.
    pub(super) root: Json,
    /// Named parts.
    pub(super) parts: Vec<(&'static str, Json)>,
}

/// Every schema, by name.
pub fn all() -> Vec<Schema> {
    let drafts = [
        answers::defaults(),
        diagnostics::draft(),
        diff::draft(),
        answers::explain(),
        import::draft(),
        manifest::draft(),
        manifest_diff::draft(),
        mutations::draft(),
        registry::draft(),
        rules::rule(),
        rules::list(),
        scorecard::draft(),
        search::draft(),
        answers::show(),
        watch::draft(),
    ];
    drafts.into_iter().map(Schema::from).collect()
}

/// One schema for all of them: an artifact that it takes is of one of the forms.
pub fn bundle() -> String {
    let all = all();
    let any = all.iter().map(|schema| Json::Object(vec![(Cow::Borrowed("$ref"), Json::from(schema.file()))]));
    let entries = vec![
        (Cow::Borrowed("$schema"), Json::from(DIALECT)),
        (Cow::Borrowed("$id"), Json::from("ctxc.schema.json")),
        (Cow::Borrowed("title"), Json::from("any JSON artifact of ctxc")),
        (Cow::Borrowed("anyOf"), Json::List(any.collect())),
        (
            Cow::Borrowed("$defs"),
            Json::Object(all.iter().map(|schema| (Cow::Borrowed(schema.name()), schema.document.clone())).collect()),
        ),
    ];
    // Plain data with string keys: writing it cannot fail.
    serde_json::to_string_pretty(&Json::Object(entries)).unwrap_or_default() + "\n"
}

impl Schema {
    /// Its short name, such as `registry`.
    pub fn name(&self) -> &'static str {
        self.format.split('/').nth(1).unwrap_or(self.format)
    }

    /// Its file, such as `registry.schema.json`: also its `$id`, to be resolved against wherever it is kept.
    pub fn file(&self) -> String {
        format!("{}.schema.json", self.name())
    }

    /// The text of its file.
    pub fn text(&self) -> String {
        // Plain data with string keys: writing it cannot fail.
        serde_json::to_string_pretty(&self.document).unwrap_or_default() + "\n"
    }
}

impl From<Draft> for Schema {
    fn from(draft: Draft) -> Self {
        let Draft { format, about, root, parts } = draft;
        let mut schema = Self { format, document: Json::Null };
        let version = format!(
            "Format {format}, as ctxc {} writes it. Within a format keys are added, never renamed or removed; this schema names \
             every key, so validate with the schema of the ctxc that wrote the artifact, or read tolerantly.",
            env!("CARGO_PKG_VERSION")
        );
        let head = [
            ("$schema", Json::from(DIALECT)),
            ("$id", Json::from(schema.file())),
            ("title", Json::from(format)),
            ("description", Json::from(about)),
            ("$comment", Json::from(version)),
        ];
        let mut entries: Vec<_> = head.into_iter().map(|(key, value)| (Cow::Borrowed(key), value)).collect();
        if let Json::Object(root) = root {
            entries.extend(root);
        }
        if !parts.is_empty() {
            let parts = parts.into_iter().map(|(name, part)| (Cow::Borrowed(name), part)).collect();
            entries.push((Cow::Borrowed("$defs"), Json::Object(parts)));
        }
        schema.document = Json::Object(entries);
        schema
    }
}
