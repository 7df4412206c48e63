//! `baselines/LOG.jsonl`: the log of accepted relaxations, with person and reason. Lines are only
//! added.

use super::safeguards::{Relaxation, SafeguardKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

use crate::schema::json::names::BASELINE_LOG as SCHEMA;

/// One line of `baselines/LOG.jsonl`: an acceptance with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "LogLine"))]
pub struct ApprovalEntry {
    /// The version of the format.
    pub schema: String,
    /// The time of the acceptance, in UTC.
    pub at: String,
    /// The person who accepted it, by their e-mail address in git.
    pub by: String,
    /// The reason, in the words of that person.
    pub reason: String,
    /// The accepted relaxations.
    pub accepted: Vec<Relaxation>,
}

/// A line that a change adds to the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "AddedLine"))]
pub struct AddedApproval {
    /// The line.
    #[serde(flatten)]
    pub line: ApprovalEntry,
    /// True if there is no evidence that `by` accepted it: they did not sign the commit that
    /// brought it, and are no code owner.
    pub unverified: bool,
}

/// The people who may accept relaxations, as defined by the base.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accepters {
    /// The names; `None` if everyone may.
    names: Option<Vec<String>>,
    /// The names among them in CODEOWNERS, whose review the forge requires before the log is
    /// merged.
    owners: BTreeSet<String>,
}

/// The lines of a project's log that an earlier revision lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approvals {
    added: Vec<AddedApproval>,
    is_rewritten: bool,
}

/// The acceptance of a relaxation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acceptance<'a> {
    /// The person.
    pub by: &'a str,
    /// The reason, in that person's words.
    pub reason: &'a str,
    /// True if there is no evidence of the person.
    pub unverified: bool,
}

impl Accepters {
    /// People by name, and the code owners if these count. Without names and without code owners,
    /// everyone may accept.
    pub fn new(names: Vec<String>, owners: Option<BTreeSet<String>>) -> Self {
        let is_open = names.is_empty() && owners.is_none();
        let owners = owners.unwrap_or_default();
        let names = names.into_iter().chain(owners.iter().cloned());
        Self {
            names: (!is_open).then(|| names.collect()),
            owners,
        }
    }

    /// Returns true if a person may accept.
    pub fn may_accept(&self, by: &str) -> bool {
        self.names
            .as_ref()
            .is_none_or(|names| names.iter().any(|name| name == by))
    }

    /// Lists the names.
    pub fn list_names(&self) -> String {
        self.names
            .as_ref()
            .filter(|names| !names.is_empty())
            .map_or_else(|| "nobody".to_owned(), |names| names.join(", "))
    }
}

impl ApprovalEntry {
    /// The serialised line, with its line break.
    pub fn to_line(&self) -> String {
        // Serialising plain data with string keys cannot fail.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

impl Approvals {
    /// Reads the lines that were added to a log.
    ///
    /// # Errors
    /// A line is not a valid log entry; the text contains its number, from 1, and the reason.
    pub fn read_added(before: &str, now: &str) -> Result<Self, String> {
        // Line endings changed by a checkout are not a change.
        let (before, now) = (&before.replace("\r\n", "\n"), &now.replace("\r\n", "\n"));
        // An invalid line of the base may be repaired or kept.
        let is_line = |line: &&str| {
            serde_json::from_str::<ApprovalEntry>(line).is_ok_and(|read| read.schema == SCHEMA)
        };
        let known: Vec<&str> = before.lines().collect();
        let (kept, sound) = (now.lines().filter(is_line), before.lines().filter(is_line));
        let is_rewritten = !kept.take(sound.clone().count()).eq(sound);
        let mut added = Vec::new();
        for (number, line) in now
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty() && !known.contains(line))
        {
            let read = serde_json::from_str::<ApprovalEntry>(line);
            let read = read.map_err(|why| {
                let why = why.to_string();
                format!(
                    "line {} is not a valid log entry: {}",
                    number + 1,
                    why.split(" at line ").next().unwrap_or(&why)
                )
            })?;
            if read.schema != SCHEMA {
                return Err(format!(
                    "line {} says `{}`, expected `{SCHEMA}`",
                    number + 1,
                    read.schema
                ));
            }
            added.push(AddedApproval {
                line: read,
                unverified: true,
            });
        }
        Ok(Self {
            added,
            is_rewritten,
        })
    }

    /// Marks the lines whose person is verified by a signature or CODEOWNERS.
    #[must_use]
    pub fn with_verification(
        mut self,
        accepters: &Accepters,
        is_signed: impl Fn(&ApprovalEntry) -> bool,
    ) -> Self {
        for AddedApproval { line, unverified } in &mut self.added {
            *unverified = !(accepters.owners.contains(&line.by) || is_signed(line));
        }
        self
    }

    /// The added lines.
    pub fn added_lines(&self) -> &[AddedApproval] {
        &self.added
    }

    /// The relaxation for a change of existing log lines; it cannot be accepted in the same log.
    pub fn log_relaxation(&self) -> Option<Relaxation> {
        let words = |text: &str| Some(text.to_owned());
        self.is_rewritten.then(|| Relaxation {
            kind: SafeguardKind::Baseline,
            of: "LOG.jsonl".to_owned(),
            what: "lines of the log".to_owned(),
            before: words("as the base has them"),
            after: words("changed or removed"),
        })
    }

    /// The acceptance of a relaxation by a person who may accept; a verified one is preferred.
    pub fn acceptance_of(
        &self,
        weakened: &Relaxation,
        accepters: &Accepters,
    ) -> Option<Acceptance<'_>> {
        let may = |added: &&AddedApproval| {
            accepters.may_accept(&added.line.by) && added.line.accepted.contains(weakened)
        };
        let AddedApproval { line, unverified } = self
            .added
            .iter()
            .filter(may)
            .min_by_key(|added| added.unverified)?;
        Some(Acceptance {
            by: &line.by,
            reason: &line.reason,
            unverified: *unverified,
        })
    }
}
