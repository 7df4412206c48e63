//! `ctxc-package.json`: the description of a package, with the proof that it works.

use super::surface::Surface;
use crate::context::manifest::Manifest;
use crate::eval::scorecard::Scorecard;
use crate::schema::json::names;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The description of a package: `ctxc-package.json` in its archive.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
pub struct PackageDocument {
    /// The version of the format.
    pub schema: String,
    /// The name of the package: `acme/rules`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its licence; absent if it names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// The version of ctxc that packed it.
    pub tool: String,
    /// The reason why its texts may have hidden characters; absent if they have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_text: Option<String>,
    /// The SHA-256 of each file, by its path.
    pub files: BTreeMap<String, String>,
    /// Its exports by kind and name, and what each promises to its users.
    pub exports: Surface,
    /// The contexts of its agents, with their tokens, as `ctxc manifest --json` prints them.
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub manifest: Manifest,
    /// The results of its scenarios, from the files of the package alone, as `ctxc eval --json`
    /// prints them; null without scenarios.
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    pub scorecard: Option<Scorecard>,
    /// The compiled tasks, as `ctxc build` writes them.
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub registry: Box<RawValue>,
}

impl PackageDocument {
    /// Reads a description.
    ///
    /// # Errors
    /// It is no description of this version.
    pub fn read(bytes: &[u8]) -> Result<Self, DocumentFault> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let damaged = |why: serde_json::Error| DocumentFault::Damaged(why.to_string());
        let head: Head = serde_json::from_slice(bytes).map_err(damaged)?;
        if head.schema != names::PACKAGE {
            return Err(DocumentFault::Version(head.schema));
        }
        serde_json::from_slice(bytes).map_err(damaged)
    }
}

/// The reason why a description cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentFault {
    /// It is no such JSON.
    #[error("{0}")]
    Damaged(String),
    /// It has another schema.
    #[error("its schema is `{0}`, and this version of ctxc reads `{own}`", own = names::PACKAGE)]
    Version(String),
}
