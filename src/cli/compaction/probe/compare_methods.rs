//! `ctxc compaction probe compare`: the contexts that methods leave of the same conversations, graded
//! by the same probes.
//!
//! Answers and grades are asked for all methods together, in an order by the seed; which method each
//! belongs to is joined afterwards.

use super::answer_probes::answer_points;
use super::command_line::CompareArgs;
use super::comparison_report::{
    ComparedMethods, ComparedPoint, ProbeComparison, UncomparedProbe, print_comparison,
    session_length,
};
use super::grade_agreement::GradeAgreement;
use super::grade_points::{GradedProbe, RoleJudge, grade_points_by_facts};
use super::methods::MethodContext;
use super::probe_method::{MethodKind, ProbeMethod};
use super::read_probes::{LocatedPoints, build_point, read_rubric, read_sessions, with_context};
use super::role_questions::{PLACEHOLDER, RoleQuestions};
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::session::probe::deterministic_judge::GradedText;
use crate::session::probe::document::ProbePoint;

/// Runs the verb.
pub(super) fn compare_methods(args: &CompareArgs, cx: &mut Cx) -> Result<Exit> {
    let rubric = read_rubric(&args.common.rubric)?;
    let located = read_sessions(&args.sessions.sessions, cx)?;
    let asks_role = args.role.is_some() || args.methods.iter().any(ProbeMethod::asks_role);
    let project = asks_role.then(|| CompiledProject::load(cx)).transpose()?;
    let questions = match &project {
        Some(project) => Some(RoleQuestions::open(project, &args.asking, cx)?),
        None => None,
    };
    let mut contexts = Vec::new();
    for method in &args.methods {
        let is_program = matches!(method.kind, MethodKind::Command(_));
        contexts.push(if is_program && args.asking.plan {
            plan_program(method, &located, cx)?
        } else {
            method.contexts(&located, questions.as_ref(), cx)?
        });
    }
    if args.asking.plan && questions.is_none() {
        cx.print_line("no role is named, so no model is asked")?;
    }
    let mut compared = ComparedMethods {
        args,
        points: Vec::new(),
        not_compared: Vec::new(),
        rubric: &rubric,
    };
    let mut points = compared.add_points(&located, &contexts);
    let mut agreement = Vec::new();
    let graded = if let (Some(questions), Some(role)) = (&questions, &args.role) {
        for one in answer_points(questions, role, &mut points, cx)? {
            cx.print_note(&one.describe("not answered"));
        }
        let by_facts = grade_points_by_facts(&points, GradedText::Answer, &rubric);
        if let Some(role) = args.judge.as_deref() {
            let judge = RoleJudge {
                questions,
                role,
                votes: args.votes,
                seed: args.asking.seed,
                rubric: &rubric,
            };
            let graded = judge.grade_points(&points, cx)?;
            let facts =
                |at: usize, criterion: &str| by_facts.get(at)?.as_ref().ok()?.score(criterion);
            agreement = GradeAgreement::compare([role, "facts"], &graded, facts);
            graded
        } else {
            by_facts
        }
    } else {
        for point in &mut points {
            for probe in &mut point.probes {
                probe.model_response.clone_from(&point.compacted_context);
            }
        }
        grade_points_by_facts(&points, GradedText::Context, &rubric)
    };
    if args.asking.plan {
        return Ok(Exit::Success);
    }
    compared.add_grades(&points, graded);
    let report = ProbeComparison::new(compared, agreement);
    cx.emit_result(&args.common.output, |format, cx| match format {
        DataFormat::Json => cx.print_json(&report),
        DataFormat::Text => print_comparison(&report, cx),
    })?;
    Ok(if report.counts.probes == 0 {
        Exit::Inconclusive
    } else {
        Exit::Success
    })
}

/// Prints the number of runs of a program. Returns a text in the place of each context.
fn plan_program(
    method: &ProbeMethod,
    located: &LocatedPoints,
    cx: &mut Cx,
) -> Result<Vec<MethodContext>> {
    let count = located.points.len();
    let runs = pluralize(count, "run");
    cx.print_line(&format!("{} in {runs}", escape_line(&method.name)))?;
    let context = |at: usize| Ok(format!("{PLACEHOLDER} {} {at}", method.name));
    Ok((0..count).map(context).collect())
}

impl ComparedMethods<'_> {
    /// Adds the compactions that all methods have a context for. Returns these contexts with probes:
    /// for each compaction, those of all methods.
    fn add_points(
        &mut self,
        located: &LocatedPoints,
        contexts: &[Vec<MethodContext>],
    ) -> Vec<ProbePoint> {
        let mut points = Vec::new();
        for (at, source) in located.points.iter().enumerate() {
            let point = build_point(source, self.rubric);
            let own = contexts.iter().zip(self.names()).map(|(own, name)| {
                let missing = Err("it has no context".to_owned());
                let context = own.get(at).cloned().unwrap_or(missing);
                context.map_err(|why| format!("`{name}`: {why}"))
            });
            let own = own.collect::<std::result::Result<Vec<String>, String>>();
            let own = own.and_then(|own| {
                let has_probe = !point.probes.is_empty();
                let none = || "it truncated no fact that a probe asks for".to_owned();
                has_probe.then_some(own).ok_or_else(none)
            });
            match own {
                Ok(own) => {
                    let first = points.len();
                    let own = own.into_iter();
                    points.extend(own.map(|context| with_context(point.clone(), Some(context))));
                    let own = points.get(first..).unwrap_or_default().iter();
                    self.points.push(ComparedPoint {
                        session: point.session,
                        task: point.task,
                        length: session_length(source.material.position),
                        messages: point.messages,
                        tokens_before: point.tokens_before,
                        tokens_after: own.map(|one| one.tokens_after.unwrap_or(0)).collect(),
                        probes: Vec::new(),
                    });
                }
                Err(reason) => self.not_compared.push(UncomparedProbe {
                    session: point.session,
                    number: point.number,
                    probe: None,
                    reason,
                }),
            }
        }
        points
    }

    /// Joins the grades of each probe by method. A probe without a grade of every method is left out.
    fn add_grades(&mut self, points: &[ProbePoint], graded: Vec<GradedProbe>) {
        let mut graded = graded.into_iter();
        let names = self.args.methods.iter().map(|one| &one.name);
        for (row, own) in self.points.iter_mut().zip(points.chunks(names.len())) {
            let count = |point: &ProbePoint| point.probes.len();
            let by_method: Vec<Vec<GradedProbe>> = own
                .iter()
                .map(|point| graded.by_ref().take(count(point)).collect())
                .collect();
            let Some(first) = own.first() else {
                continue;
            };
            for (number, probe) in first.probes.iter().enumerate() {
                let own = by_method.iter().zip(names.clone()).map(|(all, name)| {
                    let missing = Err("it has no grade".to_owned());
                    let own = all.get(number).cloned().unwrap_or(missing);
                    own.map_err(|why| format!("`{name}`: {why}"))
                });
                match own.collect::<std::result::Result<Vec<_>, String>>() {
                    Ok(own) => row.probes.push(own),
                    Err(reason) => self.not_compared.push(UncomparedProbe {
                        session: first.session.clone(),
                        number: first.number,
                        probe: Some(probe.id.clone()),
                        reason,
                    }),
                }
            }
        }
    }
}
