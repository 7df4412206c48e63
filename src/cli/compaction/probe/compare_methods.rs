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
use super::grade_points::{GradedProbe, RoleJudge, grade_points_by_facts, grade_points_by_role};
use super::methods::MethodContext;
use super::probe_method::ProbeMethod;
use super::read_probes::{
    LocatedPoint, LocatedPoints, build_point, read_rubric, read_sessions, with_context,
};
use super::role_questions::RoleQuestions;
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::session::probe::deterministic_judge::GradedText;
use crate::session::probe::document::ProbePoint;

/// Runs the verb.
pub(super) fn compare_methods(args: &CompareArgs, cx: &mut Cx) -> Result<Exit> {
    let rubric = read_rubric(&args.rubric)?;
    let located = read_sessions(&args.sessions.sessions, cx)?;
    let asks_role = args.role.is_some() || args.methods.iter().any(ProbeMethod::asks_role);
    let project = asks_role.then(|| CompiledProject::load(cx)).transpose()?;
    let questions = match &project {
        Some(project) => Some(RoleQuestions::open(project, &args.asking, cx)?),
        None => None,
    };
    let mut contexts = Vec::new();
    for method in &args.methods {
        match method.contexts(&located, questions.as_ref(), cx)? {
            Some(own) => contexts.push(own),
            None => return Ok(Exit::Success),
        }
    }
    let built: Vec<ProbePoint> = located
        .points
        .iter()
        .map(|point| build_point(point, &rubric))
        .collect();
    let mut not_compared = Vec::new();
    let compared = choose_points(&built, &contexts, args, &mut not_compared);
    // All compactions of the first method, then those of the next.
    let mut points: Vec<ProbePoint> = Vec::new();
    for own in contexts {
        let all = built.iter().zip(own).enumerate();
        let is_compared = |at: &usize| compared.contains(at);
        points.extend(
            all.filter(|(at, _)| is_compared(at))
                .map(|(_, (point, context))| with_context(point.clone(), context.ok())),
        );
    }
    let graded = if let (Some(questions), Some(role)) = (&questions, &args.role) {
        if answer_points(questions, role, &mut points, cx)?.is_none() {
            return Ok(Exit::Success);
        }
        let judge = args.judge.as_ref().map(|role| RoleJudge {
            questions,
            role,
            seed: args.asking.seed,
        });
        match judge {
            Some(judge) => grade_points_by_role(&points, judge, &rubric, cx)?,
            None => Some(grade_points_by_facts(&points, GradedText::Answer, &rubric)),
        }
    } else {
        for point in &mut points {
            for probe in &mut point.probes {
                probe.model_response.clone_from(&point.compacted_context);
            }
        }
        Some(grade_points_by_facts(&points, GradedText::Context, &rubric))
    };
    let Some(graded) = graded else {
        return Ok(Exit::Success);
    };
    let compared = join_methods(&located, &compared, &points, graded, &mut not_compared);
    let compared = ComparedMethods {
        graded: if args.role.is_some() {
            "answers"
        } else {
            "context"
        },
        judge: args.judge.clone().unwrap_or_else(|| "facts".to_owned()),
        seed: args.asking.seed,
        names: args.methods.iter().map(|one| one.name.clone()).collect(),
        points: compared,
        rubric: &rubric,
    };
    let report = ProbeComparison::new(&compared, not_compared);
    cx.emit_result(&args.output, |format, cx| match format {
        DataFormat::Json => cx.print_json(&report),
        DataFormat::Text => print_comparison(&report, cx),
    })?;
    let is_empty = report.counts.probes == 0;
    Ok(if is_empty {
        Exit::Inconclusive
    } else {
        Exit::Success
    })
}

/// Returns the numbers of the compactions that all methods have a context for, and notes the others.
fn choose_points(
    built: &[ProbePoint],
    contexts: &[Vec<MethodContext>],
    args: &CompareArgs,
    not_compared: &mut Vec<UncomparedProbe>,
) -> Vec<usize> {
    let mut chosen = Vec::new();
    for (at, point) in built.iter().enumerate() {
        let all = args.methods.iter().zip(contexts);
        let failed = all.filter_map(|(method, own)| {
            let why = own.get(at)?.as_ref().err()?;
            Some(format!("`{}`: {why}", method.name))
        });
        let is_empty = point.probes.is_empty();
        let empty = is_empty.then(|| "it truncated no fact that a probe asks for".to_owned());
        match failed.chain(empty).next() {
            Some(reason) => not_compared.push(UncomparedProbe {
                session: point.session.clone(),
                number: point.number,
                probe: None,
                reason,
            }),
            None => chosen.push(at),
        }
    }
    chosen
}

/// Joins the grades of each probe by method. A probe without a grade of every method is left out.
fn join_methods(
    located: &LocatedPoints,
    compared: &[usize],
    points: &[ProbePoint],
    graded: Vec<GradedProbe>,
    not_compared: &mut Vec<UncomparedProbe>,
) -> Vec<ComparedPoint> {
    let mut graded = graded.into_iter();
    let mut by_point: Vec<Vec<Vec<GradedProbe>>> = vec![Vec::new(); compared.len()];
    for (number, point) in points.iter().enumerate() {
        let own: Vec<GradedProbe> = graded.by_ref().take(point.probes.len()).collect();
        if let Some(methods) = by_point.get_mut(number % compared.len().max(1)) {
            methods.push(own);
        }
    }
    let mut joined = Vec::new();
    for ((position, at), methods) in compared.iter().enumerate().zip(by_point) {
        let own = points.iter().skip(position).step_by(compared.len());
        let (Some(source), Some(point)) = (located.points.get(*at), points.get(position)) else {
            continue;
        };
        let mut row = new_row(source, point, own);
        for (number, probe) in point.probes.iter().enumerate() {
            let by_method = methods.iter().filter_map(|all| all.get(number).cloned());
            match by_method.collect::<std::result::Result<Vec<_>, String>>() {
                Ok(scores) => row.probes.push(scores),
                Err(reason) => not_compared.push(UncomparedProbe {
                    session: point.session.clone(),
                    number: point.number,
                    probe: Some(probe.id.clone()),
                    reason,
                }),
            }
        }
        joined.push(row);
    }
    joined
}

/// A compaction without grades. `own` are its contexts, by method.
fn new_row<'p>(
    source: &LocatedPoint,
    point: &ProbePoint,
    own: impl Iterator<Item = &'p ProbePoint>,
) -> ComparedPoint {
    ComparedPoint {
        session: point.session.clone(),
        task: point.task,
        length: session_length(source.material.position),
        messages: point.messages,
        tokens_before: point.tokens_before,
        tokens_after: own.map(|one| one.tokens_after.unwrap_or(0)).collect(),
        probes: Vec::new(),
    }
}
