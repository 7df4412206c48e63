//! `baselines/LOG.jsonl`: who accepted what, and why. A line is added and never changed.

use super::safeguards::{Kind, Weakened};
use serde::{Deserialize, Serialize};

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

/// What the log of a project says beyond that of an earlier revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approvals {
    added: Vec<LogLine>,
    is_rewritten: bool,
}

/// Who accepted something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted<'a> {
    /// Who.
    pub by: &'a str,
    /// Why, in the words of whoever accepted it.
    pub reason: &'a str,
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
            added.push(read);
        }
        Ok(Self { added, is_rewritten })
    }

    /// The lines that were added.
    pub fn added(&self) -> &[LogLine] {
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

    /// Who accepted something, of those who may; where nobody is named, everybody may.
    pub fn of(&self, weakened: &Weakened, accepters: &[String]) -> Option<Accepted<'_>> {
        let may = |line: &&LogLine| accepters.is_empty() || accepters.contains(&line.by);
        let line = self.added.iter().filter(may).find(|line| line.accepted.contains(weakened))?;
        Some(Accepted { by: &line.by, reason: &line.reason })
    }
}
