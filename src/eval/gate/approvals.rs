//! `baselines/LOG.jsonl`: who accepted what, and why. A line is added and never changed.

use super::safeguards::{Kind, Weakened};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

use crate::schema::json::names::BASELINE_LOG as SCHEMA;

/// One line of `baselines/LOG.jsonl`: somebody accepted something, for a reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct LogLine {
    /// The format.
    pub schema: String,
    /// When it was accepted, in UTC.
    pub at: String,
    /// Who accepted it, by the address that git has of them.
    pub by: String,
    /// Why, in the words of whoever accepted it.
    pub reason: String,
    /// What was accepted.
    pub accepted: Vec<Weakened>,
}

/// A line that a change adds to the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct AddedLine {
    /// The line.
    #[serde(flatten)]
    pub line: LogLine,
    /// True if nothing shows that `by` is who accepted it: they did not sign the commit that brought it, and are no code owner.
    pub unverified: bool,
}

/// Those who may accept, by the base.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accepters {
    /// The names; `None` if every person may.
    names: Option<Vec<String>>,
    /// Those of them whom CODEOWNERS names, so that the forge asks them before the log is merged.
    owners: BTreeSet<String>,
}

/// What the log of a project says beyond that of an earlier revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approvals {
    added: Vec<AddedLine>,
    is_rewritten: bool,
}

/// Who accepted something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted<'a> {
    /// Who.
    pub by: &'a str,
    /// Why, in the words of whoever accepted it.
    pub reason: &'a str,
    /// True if nothing shows that it was they.
    pub unverified: bool,
}

impl Accepters {
    /// Those of these names, and the code owners where these count. Without a name and without a rule for code owners, every person may.
    pub fn new(names: Vec<String>, owners: Option<BTreeSet<String>>) -> Self {
        let is_open = names.is_empty() && owners.is_none();
        let owners = owners.unwrap_or_default();
        let names = names.into_iter().chain(owners.iter().cloned());
        Self { names: (!is_open).then(|| names.collect()), owners }
    }

    /// Returns whether a person of this name may accept.
    pub fn may(&self, by: &str) -> bool {
        self.names.as_ref().is_none_or(|names| names.iter().any(|name| name == by))
    }

    /// The names in words.
    pub fn words(&self) -> String {
        self.names.as_ref().filter(|names| !names.is_empty()).map_or_else(|| "nobody".to_owned(), |names| names.join(", "))
    }
}

impl LogLine {
    /// As it is written, with its line break.
    pub fn line(&self) -> String {
        // Plain data with string keys: writing it cannot fail.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

impl Approvals {
    /// Reads the lines that a log has beyond an earlier one.
    ///
    /// # Errors
    /// A line is no line of a log: its number, from 1, and why.
    pub fn between(before: &str, now: &str) -> Result<Self, String> {
        // What a checkout does to line ends is no change.
        let (before, now) = (&before.replace("\r\n", "\n"), &now.replace("\r\n", "\n"));
        // A line of the base that is none may be mended, or stay.
        let is_line = |line: &&str| serde_json::from_str::<LogLine>(line).is_ok_and(|read| read.schema == SCHEMA);
        let known: Vec<&str> = before.lines().collect();
        let (kept, sound) = (now.lines().filter(is_line), before.lines().filter(is_line));
        let is_rewritten = !kept.take(sound.clone().count()).eq(sound);
        let mut added = Vec::new();
        for (number, line) in now.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !known.contains(line)) {
            let read = serde_json::from_str::<LogLine>(line);
            let read = read.map_err(|why| {
                let why = why.to_string();
                format!("line {} is not a valid log entry: {}", number + 1, why.split(" at line ").next().unwrap_or(&why))
            })?;
            if read.schema != SCHEMA {
                return Err(format!("line {} says `{}`, expected `{SCHEMA}`", number + 1, read.schema));
            }
            added.push(AddedLine { line: read, unverified: true });
        }
        Ok(Self { added, is_rewritten })
    }

    /// The same with what shows who accepted: a signature, or CODEOWNERS.
    #[must_use]
    pub fn verified(mut self, accepters: &Accepters, is_signed: impl Fn(&LogLine) -> bool) -> Self {
        for AddedLine { line, unverified } in &mut self.added {
            *unverified = !(accepters.owners.contains(&line.by) || is_signed(line));
        }
        self
    }

    /// The lines that were added.
    pub fn added(&self) -> &[AddedLine] {
        &self.added
    }

    /// What changing the log itself comes to; nobody can accept that in the same log.
    pub fn rewritten(&self) -> Option<Weakened> {
        let words = |text: &str| Some(text.to_owned());
        self.is_rewritten.then(|| Weakened {
            kind: Kind::Baseline,
            of: "LOG.jsonl".to_owned(),
            what: "lines of the log".to_owned(),
            before: words("as the base has them"),
            after: words("changed or removed"),
        })
    }

    /// The person who accepted something, of those who may; a verified one rather than another.
    pub fn of(&self, weakened: &Weakened, accepters: &Accepters) -> Option<Accepted<'_>> {
        let may = |added: &&AddedLine| accepters.may(&added.line.by) && added.line.accepted.contains(weakened);
        let AddedLine { line, unverified } = self.added.iter().filter(may).min_by_key(|added| added.unverified)?;
        Some(Accepted { by: &line.by, reason: &line.reason, unverified: *unverified })
    }
}
