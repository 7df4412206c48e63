//! A project's safeguards as data: expectations, stored requests, lints, limits. The comparison of
//! two revisions yields the relaxations of a change.

use crate::base::hash::Hasher;
use crate::base::lines::diff_hunks;
use crate::base::words::words;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

words! {
    /// Kinds of safeguards of a project.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    #[cfg_attr(feature = "cli", schemars(rename = "Kind"))]
    pub enum SafeguardKind {
        /// An expectation of a scenario, its frozen situation, or its number of trials.
        Expectation = "expectation",
        /// The stored request of a scenario.
        Snapshot = "snapshot",
        /// A recorded answer to a request.
        Recording = "recording",
        /// A finding that does not count.
        Suppression = "suppression",
        /// An instruction in a template that silences a rule.
        Allow = "allow",
        /// The level of a rule, or a `[[require]]`.
        Lint = "lint",
        /// A limit of `[eval]`.
        Threshold = "threshold",
        /// A criterion on which the judge is trusted, so that its scores count, or the labels and scores
        /// that this follows from.
        Judge = "judge",
        /// Accepted results, or the log of acceptances.
        Baseline = "baseline",
    }
}

impl SafeguardKind {
    /// Returns true if an additional one is a relaxation, instead of a removed one.
    const fn is_exemption(self) -> bool {
        matches!(self, Self::Suppression | Self::Allow)
    }
}

/// One safeguard of a project.
#[derive(Clone, Debug, PartialEq)]
pub struct Safeguard {
    /// The file that defines it.
    pub path: String,
    /// Its value as text, or the hash of a long one.
    pub value: String,
    /// Its limits, as numbers of which greater ones are stricter; empty if two values cannot be
    /// compared.
    pub limits: Vec<f64>,
    /// The patterns that it searches for, if more of them are stricter.
    pub patterns: Vec<String>,
    /// Its other properties; if these differ, limits and patterns cannot be compared.
    pub besides: String,
    /// The hashed text, in lines for display; `None` if it is not needed.
    pub text: Option<String>,
}

/// The identity of a safeguard.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SafeguardKey {
    kind: SafeguardKind,
    /// The owner: a scenario, a rule, a key, a file.
    of: String,
    /// The label of its part of the owner.
    what: String,
}

/// The prefix of the label of an answer to a request.
pub const ANSWER_PREFIX: &str = "answer to ";
/// The prefix of the label of a request that has an answer.
pub const REQUEST_PREFIX: &str = "request of ";
/// The prefix of the label of a recorded judgement.
pub const JUDGEMENT_PREFIX: &str = "judgement of ";
/// The label of answers to a changed request.
pub const NEW_ANSWERS_LABEL: &str = "answers to a changed request";
/// The number of characters of a hash that distinguish two contents.
const SHORT_HASH_LENGTH: usize = 19;
/// The label of a whole scenario, as a part of itself.
pub const SCENARIO_LABEL: &str = "the scenario";
/// The label of the share of a suite's scenarios that must pass.
pub const SHARE_LABEL: &str = "share that passes";
/// The label of a frozen situation.
pub const SITUATION_LABEL: &str = "frozen situation";
/// The prefix of the label of a check's file.
pub const CHECK_PREFIX: &str = "check ";
/// The text between a silenced rule and the part of a definition that it is silenced in.
pub const PART_SEPARATOR: &str = " in ";
/// The number of displayed lines of a diff, and of characters of each.
const MAX_DIFF_LINES: usize = 12;
const MAX_DIFF_CHARS: usize = 160;
/// The number of words that identify the kind of an expectation: `context: tokens`.
const KIND_WORDS: usize = 2;

/// The safeguards of a project, by kind, owner and label.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Safeguards(BTreeMap<SafeguardKey, Safeguard>);

/// A relaxation: a safeguard that a change makes weaker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Weakened"))]
pub struct Relaxation {
    /// The kind of the safeguard.
    pub kind: SafeguardKind,
    /// The owner of the safeguard: a scenario, a rule, a key, a file.
    pub of: String,
    /// The part of the owner that changed.
    pub what: String,
    /// The value before; null if there was none.
    pub before: Option<String>,
    /// The value now; null if there is none.
    pub after: Option<String>,
}

/// A relaxation with its place and its diff.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocatedRelaxation {
    /// The relaxation.
    pub weakened: Relaxation,
    /// The file that defines the safeguard, or defined it.
    pub path: String,
    /// The shortened diff of its text; `None` if either text was not retained, or if both look the
    /// same.
    pub diff: Option<String>,
}

impl Safeguard {
    /// A safeguard without a text.
    pub fn new(path: &str, value: impl Into<String>, limit: Option<f64>) -> Self {
        let limits = limit.into_iter().collect();
        Self {
            path: path.to_owned(),
            value: value.into(),
            limits,
            patterns: Vec::new(),
            besides: String::new(),
            text: None,
        }
    }

    fn is_as_strict_as(&self, before: &Self) -> bool {
        let is_comparable = !self.limits.is_empty()
            && self.besides == before.besides
            && self.limits.len() == before.limits.len();
        let is_looked_for = |pattern| self.patterns.contains(pattern);
        let is_limited = |(before, now): (&f64, &f64)| now >= before;
        let is_stricter = before.limits.iter().zip(&self.limits).all(is_limited);
        self.value == before.value
            || is_comparable && is_stricter && before.patterns.iter().all(is_looked_for)
    }
}

impl Safeguards {
    /// Adds a safeguard. A duplicate, such as a second equal expectation of a scenario, gets a
    /// number.
    pub fn add(
        &mut self,
        kind: SafeguardKind,
        of: &str,
        what: impl Into<String>,
        safeguard: Safeguard,
    ) {
        let what = what.into();
        let mut key = SafeguardKey {
            kind,
            of: of.to_owned(),
            what: what.clone(),
        };
        let mut number = 1;
        while self.0.contains_key(&key) {
            number += 1;
            key.what = format!("{what} ({number})");
        }
        self.0.insert(key, safeguard);
    }

    /// Adds the scenarios of another project, which lies in a folder of this one.
    pub fn add_scenarios_of(&mut self, folder: &str, other: Self) {
        for (mut key, mut safeguard) in other.0 {
            if is_of_scenario(&key, &key.of) {
                key.of = format!("{folder}: {}", key.of);
                safeguard.path = format!("{folder}/{}", safeguard.path);
                self.0.insert(key, safeguard);
            }
        }
    }

    /// The files that define safeguards.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.values().map(|safeguard| safeguard.path.as_str())
    }

    /// Returns true if a removed answer belongs to a request that is no longer sent: the scenario
    /// has answers, and none of them belongs to that request. Their fit to the current request is
    /// judged by the scenario itself.
    fn has_other_answers(&self, key: &SafeguardKey) -> bool {
        let SafeguardKey { kind, of, what } = key;
        let request = |what: &str| {
            Some(
                what.strip_prefix(ANSWER_PREFIX)?
                    .split(" (")
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            )
        };
        let Some(removed) = request(what).filter(|_| *kind == SafeguardKind::Recording) else {
            return false;
        };
        let mut others = self
            .0
            .keys()
            .filter(|key| key.kind == *kind && key.of == *of)
            .filter_map(|key| request(&key.what))
            .peekable();
        others.peek().is_some() && others.all(|other| other != removed)
    }

    /// Returns true if the rule was silenced in the whole definition before, so that silencing it
    /// in a part is not a relaxation.
    fn has_wider(&self, key: &SafeguardKey, now: &Self) -> bool {
        let Some((rule, _)) = key.what.split_once(PART_SEPARATOR) else {
            return false;
        };
        let whole = SafeguardKey {
            what: rule.to_owned(),
            ..key.clone()
        };
        let count = |side: &Self| {
            side.0
                .get(&whole)
                .and_then(|safeguard| safeguard.limits.first())
                .map_or(0.0, |limit| -limit)
        };
        key.kind == SafeguardKind::Allow && count(self) > count(now)
    }

    /// The answers of each scenario, by request.
    fn answers_by_scenario(&self) -> BTreeMap<&str, BTreeMap<&str, Vec<&Safeguard>>> {
        let mut all: BTreeMap<&str, BTreeMap<&str, Vec<&Safeguard>>> = BTreeMap::new();
        for (SafeguardKey { kind, of, what }, safeguard) in &self.0 {
            if let Some(request) = what
                .strip_prefix(ANSWER_PREFIX)
                .filter(|_| *kind == SafeguardKind::Recording)
            {
                let request = request.split(" (").next().unwrap_or_default();
                all.entry(of)
                    .or_default()
                    .entry(request)
                    .or_default()
                    .push(safeguard);
            }
        }
        all
    }

    /// The answers that `now` adds for new requests of scenarios that already have answers: the
    /// author of a request cannot vouch for its answer. One relaxation for each scenario.
    fn new_answers(&self, now: &Self) -> Vec<LocatedRelaxation> {
        let before = self.answers_by_scenario();
        let brought = |(of, requests): (&str, BTreeMap<&str, Vec<&Safeguard>>)| {
            let known = before.get(of)?;
            let new: Vec<(&str, &Safeguard)> = requests
                .iter()
                .filter(|(request, _)| !known.contains_key(**request))
                .flat_map(|(request, answers)| {
                    answers.iter().map(move |answer| (*request, *answer))
                })
                .collect();
            let (_, first) = new.first()?;
            let mut hasher = Hasher::new();
            for (request, answer) in &new {
                hasher.add_field(request).add_field(&answer.value);
            }
            let hash = hasher.finish().to_string();
            let count = if new.len() == 1 {
                "1 answer".to_owned()
            } else {
                format!("{} answers", new.len())
            };
            let after = format!(
                "{}, {count}",
                hash.get(..SHORT_HASH_LENGTH).unwrap_or(&hash)
            );
            let (of, what) = (of.to_owned(), NEW_ANSWERS_LABEL.to_owned());
            let weakened = Relaxation {
                kind: SafeguardKind::Recording,
                of,
                what,
                before: None,
                after: Some(after),
            };
            Some(LocatedRelaxation {
                weakened,
                path: first.path.clone(),
                diff: None,
            })
        };
        now.answers_by_scenario()
            .into_iter()
            .filter_map(brought)
            .collect()
    }

    fn scenario_names(&self) -> BTreeSet<&str> {
        self.0
            .keys()
            .filter(|key| key.kind == SafeguardKind::Expectation)
            .map(|key| key.of.as_str())
            .collect()
    }

    /// The scenarios removed in `now`, one relaxation for each, which covers all of its safeguards.
    fn removed_scenarios<'s>(&'s self, now: &Self) -> BTreeMap<&'s str, LocatedRelaxation> {
        let there = now.scenario_names();
        let gone = self
            .scenario_names()
            .into_iter()
            .filter(|name| !there.contains(name));
        let removed = |of: &'s str| {
            let mut hasher = Hasher::new();
            let own = self.0.iter().filter(|(key, _)| is_of_scenario(key, of));
            for (key, safeguard) in own {
                hasher.add_field(&key.what).add_field(&safeguard.value);
            }
            let hash = hasher.finish().to_string();
            let before = Some(hash.get(..SHORT_HASH_LENGTH).unwrap_or(&hash).to_owned());
            let path = self
                .0
                .iter()
                .find(|(key, _)| key.of == of && key.what == SITUATION_LABEL)
                .map(|(_, one)| one.path.clone());
            let weakened = Relaxation {
                kind: SafeguardKind::Expectation,
                of: of.to_owned(),
                what: SCENARIO_LABEL.to_owned(),
                before,
                after: None,
            };
            (
                of,
                LocatedRelaxation {
                    weakened,
                    path: path.unwrap_or_default(),
                    diff: None,
                },
            )
        };
        gone.map(removed).collect()
    }

    /// The relaxations of a change from `self` to `now`.
    pub fn find_relaxations(&self, now: &Self) -> Vec<LocatedRelaxation> {
        let removed = self.removed_scenarios(now);
        let is_left = |key: &SafeguardKey| !removed.keys().any(|of| is_of_scenario(key, of));
        let mut found: Vec<LocatedRelaxation> = removed.values().cloned().collect();
        let mut tell = |key: &SafeguardKey,
                        before: Option<&Safeguard>,
                        after: Option<&Safeguard>| {
            let SafeguardKey { kind, of, what } = key.clone();
            let path = after
                .or(before)
                .map_or_else(String::new, |safeguard| safeguard.path.clone());
            let value =
                |safeguard: Option<&Safeguard>| safeguard.map(|safeguard| safeguard.value.clone());
            let diff = before.zip(after).and_then(|(before, after)| {
                short_diff(before.text.as_deref()?, after.text.as_deref()?)
            });
            let weakened = Relaxation {
                kind,
                of,
                what,
                before: value(before),
                after: value(after),
            };
            found.push(LocatedRelaxation {
                weakened,
                path,
                diff,
            });
        };
        // An expectation is identified by its text, so an edited one counts as replaced, preferably
        // by one that is at least as strict.
        let mut new: BTreeMap<_, Vec<(&SafeguardKey, &Safeguard)>> = BTreeMap::new();
        for one in now
            .0
            .iter()
            .filter(|(key, _)| key.kind == SafeguardKind::Expectation && !self.0.contains_key(*key))
        {
            new.entry(expectation_kind(one.0)).or_default().push(one);
        }
        let mut gone = Vec::new();
        for (key, before) in self
            .0
            .iter()
            .filter(|(key, _)| !key.kind.is_exemption() && is_left(key))
        {
            match now.0.get(key) {
                Some(after) if after.is_as_strict_as(before) => {}
                Some(after) => tell(key, Some(before), Some(after)),
                None if now.has_other_answers(key) => {}
                // It is removed together with its answer.
                None if key.kind == SafeguardKind::Recording
                    && [REQUEST_PREFIX, JUDGEMENT_PREFIX]
                        .iter()
                        .any(|prefix| key.what.starts_with(prefix)) => {}
                // A check may stop referring to a missing file.
                None if key.what.starts_with(CHECK_PREFIX) && !before.value.starts_with("b3:") => {}
                None => {
                    let own = new.get_mut(&expectation_kind(key));
                    let kept = own.and_then(|own| {
                        Some(
                            own.remove(
                                own.iter()
                                    .position(|(_, now)| now.is_as_strict_as(before))?,
                            ),
                        )
                    });
                    gone.extend(kept.is_none().then_some((key, before)));
                }
            }
        }
        for (key, before) in gone {
            let other = new
                .get_mut(&expectation_kind(key))
                .filter(|own| !own.is_empty())
                .map(|own| own.remove(0));
            let other = other.map(|(other, safeguard)| Safeguard {
                value: other.what.clone(),
                ..safeguard.clone()
            });
            tell(key, Some(before), other.as_ref());
        }
        for (key, after) in now.0.iter().filter(|(key, _)| key.kind.is_exemption()) {
            match self.0.get(key) {
                Some(before) if after.is_as_strict_as(before) => {}
                None if self.has_wider(key, now) => {}
                before => tell(key, before, Some(after)),
            }
        }
        // Results accepted for the first time can excuse later ones.
        for (key, after) in now
            .0
            .iter()
            .filter(|(key, _)| key.kind == SafeguardKind::Baseline && !self.0.contains_key(*key))
        {
            tell(key, None, Some(after));
        }
        found.extend(self.new_answers(now));
        found.sort();
        found
    }
}

/// The first lines that differ, shortened. If a line shares a long prefix with its counterpart,
/// only the part that differs is shown.
fn short_diff(before: &str, after: &str) -> Option<String> {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    let mut lines = Vec::new();
    for (_, hunk) in diff_hunks(&before, &after, 1) {
        let of = |sign: char| {
            hunk.iter()
                .filter(|(own, _)| *own == sign)
                .map(|(_, line)| *line)
                .collect::<Vec<_>>()
        };
        let (gone, new) = (of('-'), of('+'));
        let prefixes = || {
            gone.iter()
                .zip(&new)
                .map(|(one, other)| common_prefix(one, other))
        };
        let (mut gone, mut new) = (prefixes(), prefixes());
        for (sign, line) in hunk {
            let equal = match sign {
                '-' => gone.next(),
                '+' => new.next(),
                _ => None,
            };
            let from = equal
                .filter(|equal| *equal > MAX_DIFF_CHARS / 2)
                .map_or(0, |equal| equal - MAX_DIFF_CHARS / 4);
            let mark = if from > 0 { "…" } else { "" };
            let shown: String = line.chars().skip(from).take(MAX_DIFF_CHARS).collect();
            lines.push(format!("{sign}{mark}{shown}"));
        }
    }
    let more = if lines.len() > MAX_DIFF_LINES {
        "\n…"
    } else {
        ""
    };
    (!lines.is_empty()).then(|| lines.get(..MAX_DIFF_LINES).unwrap_or(&lines).join("\n") + more)
}

/// The length of the common prefix of two lines, in characters.
fn common_prefix(one: &str, other: &str) -> usize {
    one.chars()
        .zip(other.chars())
        .take_while(|(one, other)| one == other)
        .count()
}

/// Returns true if a safeguard belongs to a scenario.
fn is_of_scenario(key: &SafeguardKey, name: &str) -> bool {
    matches!(
        key.kind,
        SafeguardKind::Expectation | SafeguardKind::Snapshot | SafeguardKind::Recording
    ) && key.of == name
}

/// The scenario of an expectation and the first words of its text, which are equal for expectations
/// of one kind.
fn expectation_kind(key: &SafeguardKey) -> (SafeguardKind, &str, String) {
    (
        key.kind,
        &key.of,
        key.what
            .split(' ')
            .take(KIND_WORDS)
            .collect::<Vec<_>>()
            .join(" "),
    )
}
