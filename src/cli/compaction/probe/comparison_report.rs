//! The comparison of methods as data: `ctxc/compaction-comparison/1`.
//!
//! Every figure is about the same probes. Differences are paired; their intervals are by session, since
//! probes of one session are not independent.

use super::command_line::CompareArgs;
use super::grade_agreement::{GradeAgreement, print_agreement};
use super::grade_points::{EvidenceCounts, GradedAnswer};
use crate::cli::prelude::*;
use crate::eval::statistics::paired_interval;
use crate::scenario::rubric::Rubric;
use crate::schema::json::names;
use crate::session::probe::document::TaskKind;
use crate::session::probe::grade::{MeanScores, ScoreName};
use std::collections::{BTreeMap, BTreeSet};

/// The limits of every comparison.
const NOTES: [&str; 2] = [
    "a judge receives no name of a method, but the structure of a context or an answer may betray one",
    "probes are made from facts that ctxc finds; a context may keep more",
];

/// The comparison of methods: `ctxc compaction probe compare --json`.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct ProbeComparison {
    /// The version of the format.
    schema: &'static str,
    /// The text that was graded: `answers`, or `context`, the compacted context itself, of which no
    /// answer can have more facts.
    #[schemars(extend("enum" = ["answers", "context"]))]
    pub(super) graded: &'static str,
    /// The judge: `facts`, or a role.
    pub(super) judge: String,
    /// The seed of the order in which a judge received answers and criteria. The methods were joined
    /// to the grades afterwards.
    pub(super) seed: u64,
    /// The number of votes of a role on each answer; their median counts.
    pub(super) votes: usize,
    /// The numbers that the means are over.
    pub(super) counts: ProbeCounts,
    /// The methods; the first is the base.
    pub(super) methods: Vec<MethodRow>,
    /// The same by type of task and by length of session.
    pub(super) groups: Vec<GroupRow>,
    /// The compactions that not all methods can be compared by.
    pub(super) not_compared: Vec<UncomparedProbe>,
    /// The counts of the evidence; null without a role that judges.
    pub(super) evidence: Option<EvidenceCounts>,
    /// The agreement of a role that judges with the judge by facts, on all criteria together and on
    /// each.
    pub(super) agreement: Vec<GradeAgreement>,
    /// The limits of the comparison.
    notes: Vec<&'static str>,
}

/// The numbers of things that are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub(crate) struct ProbeCounts {
    /// The number of sessions.
    pub(super) sessions: usize,
    /// The number of compactions.
    pub(super) compactions: usize,
    /// The number of messages before these compactions.
    pub(super) messages: usize,
    /// The number of probes.
    pub(super) probes: usize,
}

/// A method.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct MethodRow {
    /// The method, as given.
    pub(super) method: String,
    /// The tokens after compactions, divided by those before.
    pub(super) token_ratio: f64,
    /// Its means, from 0 to 5.
    pub(super) scores: MeanScores,
    /// The differences from the base; empty for the base.
    pub(super) differences: Vec<DifferenceRow>,
}

/// The difference of a mean from that of the base.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct DifferenceRow {
    /// The kind of mean.
    #[schemars(extend("enum" = ["overall", "dimension", "criterion"]))]
    pub(super) of: &'static str,
    /// The dimension or criterion; null for the mean of all.
    pub(super) name: Option<String>,
    /// The mean of the method, less that of the base.
    pub(super) value: f64,
    /// Its 95 % interval; null for fewer than five sessions.
    pub(super) interval: Option<(f64, f64)>,
}

/// The probes of a group of sessions.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct GroupRow {
    /// The property of the group.
    #[schemars(extend("enum" = ["task", "length"]))]
    pub(super) by: &'static str,
    /// Its value.
    pub(super) value: &'static str,
    /// The numbers that the means are over.
    pub(super) counts: ProbeCounts,
    /// The methods.
    pub(super) methods: Vec<MethodRow>,
}

/// A compaction or a probe that is not compared.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct UncomparedProbe {
    /// The session.
    pub(super) session: String,
    /// The number of the compaction in the session, from 1.
    pub(super) number: usize,
    /// The probe; null if none of the compaction is compared.
    pub(super) probe: Option<String>,
    /// The reason.
    pub(super) reason: String,
}

impl UncomparedProbe {
    /// Describes it for people: `not compared: recall_errors of s.jsonl #1: …`.
    pub(super) fn describe(&self, what: &str) -> String {
        let probe = self.probe.as_deref().unwrap_or("the compaction");
        let (session, reason) = (escape_line(&self.session), escape_line(&self.reason));
        format!("{what}: {probe} of {session} #{}: {reason}", self.number)
    }
}

/// The lengths of sessions before a compaction: fewer than 200 messages, than 1,000, or more.
const LENGTHS: [&str; 3] = ["short", "medium", "long"];

/// Returns the length of so many messages.
pub(super) const fn session_length(count: usize) -> &'static str {
    match count {
        0..200 => "short",
        200..1_000 => "medium",
        _ => "long",
    }
}

/// A compaction that is compared.
pub(super) struct ComparedPoint {
    pub(super) session: String,
    pub(super) task: TaskKind,
    pub(super) length: &'static str,
    pub(super) messages: usize,
    pub(super) tokens_before: usize,
    /// The tokens after each method.
    pub(super) tokens_after: Vec<usize>,
    /// The grades of each probe, by method.
    pub(super) probes: Vec<Vec<GradedAnswer>>,
}

/// The compactions of a comparison.
pub(super) struct ComparedMethods<'a> {
    pub(super) args: &'a CompareArgs,
    pub(super) points: Vec<ComparedPoint>,
    pub(super) not_compared: Vec<UncomparedProbe>,
    pub(super) rubric: &'a Rubric,
}

impl ProbeComparison {
    /// Creates the comparison of graded compactions.
    pub(super) fn new(compared: ComparedMethods<'_>, agreement: Vec<GradeAgreement>) -> Self {
        let all: Vec<&ComparedPoint> = compared.points.iter().collect();
        let graded = all.iter().flat_map(|point| point.probes.iter().flatten());
        let args = compared.args;
        let methods = (0..args.methods.len()).map(|method| compared.method_row(&all, method));
        let tasks = TaskKind::ALL
            .into_iter()
            .map(|task| compared.group("task", task.word(), |point| point.task == task));
        let lengths = LENGTHS
            .into_iter()
            .map(|length| compared.group("length", length, |point| point.length == length));
        Self {
            schema: names::COMPACTION_COMPARISON,
            graded: if args.role.is_some() {
                "answers"
            } else {
                "context"
            },
            judge: args.judge.as_deref().unwrap_or("facts").to_owned(),
            seed: args.asking.seed,
            votes: args.votes.votes,
            counts: counts(&all),
            methods: methods.collect(),
            groups: tasks.chain(lengths).flatten().collect(),
            evidence: EvidenceCounts::new(graded.flat_map(|graded| &graded.evidence)),
            agreement,
            not_compared: compared.not_compared,
            notes: NOTES.to_vec(),
        }
    }
}

impl ComparedMethods<'_> {
    /// The names of the methods.
    pub(super) fn names(&self) -> impl Iterator<Item = &'_ str> {
        self.args.methods.iter().map(|one| one.name.as_str())
    }

    fn method_row(&self, points: &[&ComparedPoint], method: usize) -> MethodRow {
        let after = points
            .iter()
            .filter_map(|point| point.tokens_after.get(method));
        let before = points.iter().map(|point| point.tokens_before);
        let (after, before) = (after.sum::<usize>(), before.sum::<usize>());
        #[allow(clippy::cast_precision_loss, reason = "tokens are below 2^52")]
        let token_ratio = after as f64 / before.max(1) as f64;
        let mut names = self.names();
        MethodRow {
            method: names.nth(method).unwrap_or_default().to_owned(),
            token_ratio,
            scores: self.means(points, method),
            differences: self.differences(points, method),
        }
    }

    /// The figures of the sessions of a group; `None` without any.
    fn group(
        &self,
        by: &'static str,
        value: &'static str,
        is_in: impl Fn(&ComparedPoint) -> bool,
    ) -> Option<GroupRow> {
        let points: Vec<&ComparedPoint> = self.points.iter().filter(|one| is_in(one)).collect();
        let methods = (0..self.args.methods.len()).map(|method| self.method_row(&points, method));
        (!points.is_empty()).then(|| GroupRow {
            by,
            value,
            counts: counts(&points),
            methods: methods.collect(),
        })
    }

    fn means(&self, points: &[&ComparedPoint], method: usize) -> MeanScores {
        let probes = points.iter().flat_map(|point| &point.probes);
        let own = probes.filter_map(|methods| methods.get(method));
        MeanScores::new(own.map(|graded| &*graded.results), self.rubric)
    }

    /// The differences from the first method.
    fn differences(&self, points: &[&ComparedPoint], method: usize) -> Vec<DifferenceRow> {
        if method == 0 {
            return Vec::new();
        }
        let difference = |points: &[&ComparedPoint]| -> BTreeMap<ScoreName, f64> {
            let base = self.means(points, 0).entries();
            let own = self.means(points, method).entries().into_iter();
            own.filter_map(|(name, mean)| Some((name.clone(), mean - base.get(&name)?)))
                .collect()
        };
        let sessions: BTreeSet<&str> = points.iter().map(|point| point.session.as_str()).collect();
        let without = sessions.iter().map(|session| {
            let rest: Vec<&ComparedPoint> = points
                .iter()
                .copied()
                .filter(|point| point.session != **session)
                .collect();
            difference(&rest)
        });
        let without: Vec<BTreeMap<ScoreName, f64>> = without.collect();
        let row = |(name, value): (ScoreName, f64)| {
            let values = without.iter().map(|rest| rest.get(&name).copied());
            let interval = values
                .collect::<Option<Vec<f64>>>()
                .and_then(|values| paired_interval(value, &values));
            let (of, name) = match name {
                ScoreName::Overall => ("overall", None),
                ScoreName::Dimension(name) => ("dimension", Some(name)),
                ScoreName::Criterion(name) => ("criterion", Some(name)),
            };
            DifferenceRow {
                of,
                name,
                value,
                interval,
            }
        };
        difference(points).into_iter().map(row).collect()
    }
}

fn counts(points: &[&ComparedPoint]) -> ProbeCounts {
    let sessions: BTreeSet<&str> = points.iter().map(|point| point.session.as_str()).collect();
    ProbeCounts {
        sessions: sessions.len(),
        compactions: points.len(),
        messages: points.iter().map(|point| point.messages).sum(),
        probes: points.iter().map(|point| point.probes.len()).sum(),
    }
}

/// Prints the comparison.
pub(super) fn print_comparison(report: &ProbeComparison, cx: &mut Cx) -> Result<()> {
    let graded = if report.graded == "context" {
        "the compacted contexts themselves, of which no answer can have more facts"
    } else {
        "answers from the compacted contexts"
    };
    cx.print_hanging(
        &format!("graded by {}: {graded}", escape_line(&report.judge)),
        2,
    )?;
    cx.print_line(&describe_counts(report.counts))?;
    for row in &report.methods {
        cx.print_line("")?;
        let overall = row.scores.overall.map(|mean| format!("{mean:.2} of 5"));
        let overall = overall.unwrap_or_else(|| "no score".to_owned());
        let difference = row.differences.iter().find(|row| row.of == "overall");
        cx.print_line(&format!(
            "{}: {overall}{}, {:.1} % of the tokens",
            escape_line(&row.method),
            describe_difference(difference),
            row.token_ratio * 100.0
        ))?;
        for (name, mean) in &row.scores.dimensions {
            let own =
                |row: &&DifferenceRow| row.of == "dimension" && row.name.as_ref() == Some(name);
            let difference = row.differences.iter().find(own);
            cx.print_line(&format!(
                "  {name:<22} {mean:.2}{}",
                describe_difference(difference)
            ))?;
        }
    }
    cx.print_line("")?;
    for group in &report.groups {
        let methods = group.methods.iter().map(|one| {
            let overall = one.scores.overall.map(|mean| format!("{mean:.2}"));
            let overall = overall.as_deref().unwrap_or("no score");
            format!("{} {overall}", escape_line(&one.method))
        });
        let methods: Vec<String> = methods.collect();
        cx.print_hanging(
            &format!(
                "{} {}: {} ({})",
                group.by,
                group.value,
                methods.join(" · "),
                describe_counts(group.counts)
            ),
            2,
        )?;
    }
    for one in &report.not_compared {
        cx.print_hanging(&one.describe("not compared"), 2)?;
    }
    if let Some(evidence) = report.evidence {
        cx.print_hanging(&evidence.describe(), 2)?;
    }
    print_agreement(&report.agreement, cx)?;
    for note in &report.notes {
        cx.print_hanging(&format!("note: {note}"), 2)?;
    }
    Ok(())
}

fn describe_counts(counts: ProbeCounts) -> String {
    format!(
        "{}, {}, {}, {}",
        pluralize(counts.probes, "probe"),
        pluralize(counts.compactions, "compaction"),
        pluralize(counts.sessions, "session"),
        pluralize(counts.messages, "message")
    )
}

fn describe_difference(row: Option<&DifferenceRow>) -> String {
    row.map_or_else(String::new, |row| {
        let interval = row.interval.map_or_else(
            || "fewer than five sessions for an interval".to_owned(),
            |(low, high)| format!("{low:+.2} to {high:+.2}"),
        );
        format!(" ({:+.2}, {interval})", row.value)
    })
}
