//! `ctxc new scenario TASK|ROLE`: writes a scenario from the current context, which passes as it is
//! written.
//!
//! The context is assembled by the code that `ctxc eval` runs, from the text that is about to be
//! written. Never overwrites a file.

use super::eval::drafting::{DraftTarget, DraftedScenario};
use super::lookup::{self, LookupArgs};
use super::model_calls::{fixed_mask, redactor};
use super::project::{CompiledProject, FirstAgentWording, path_in_project};
use super::run::as_scenario::{self, FullRun, RunAgent, RunSource};
use super::run::best::{self, BestRuns};
use super::run::propose::{self, ProposeArgs};
use super::subject::SubjectArgs;
use super::values::{GivenArgs, HistoryArgs};
use crate::base::fs;
use crate::cli::compaction::{SessionDraft, names_session};
use crate::cli::init::{JudgeArgs, new_judge};
use crate::cli::prelude::*;
use crate::cli::secret_check::{NewFile, SecretCheck, SecretsChecked};
use crate::cli::{overwrite, request, rewrite};
use crate::context::context_source::Match;
use crate::context::objective;
use crate::context::request::{CallerGoals, Request};
use crate::eval::draft::{self, LookedUpPassages, ScenarioDraft, SituationValue, TextPrecision};
use crate::eval::receiver::Receiver;
use crate::kernel::conversation::Turn;
use crate::project::config::RecordedContent;
use crate::project::glob::is_pattern;
use crate::record::fixed_mask::FixedMask;
use crate::record::recording::{MaskedCount, Recording};
use crate::registry::{RegistryParameter, scenarios};
use crate::run::answers::recorded_response;
use crate::scenario::load::{self, LoadedScenario};
use crate::scenario::model::{CaseSubject, ScenarioCase};
use crate::scenario::request_source::{RequestSource, split_call_number};
use crate::scenario::{self, messages, paths};
use crate::store::trust;
use clap::Subcommand;
use serde_json::Value;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "Examples:\n  ctxc new scenario answer --input ticket=@samples/t1.txt"
)]
pub(crate) struct NewArgs {
    #[command(subcommand)]
    what: NewKind,
}

/// Kinds of files to create.
#[derive(Debug, Subcommand)]
enum NewKind {
    Scenario(Box<ScenarioArgs>),
    Judge(JudgeArgs),
}

/// Write a scenario for a task or agent role, which expects what it receives today
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc new scenario answer --input ticket=@samples/t1.txt\n  ctxc new scenario --role clerk\n  \
    ctxc new scenario triage --name triage-plain --objective 'sort a ticket'\n\n\
    The scenario expects the segments and their order, a maximum of tokens, the settings of the agent and of the tasks around it, and \
    every word of the request, which is stored beside the scenario. It names files inside the project; it contains other values and \
    looked-up context itself. An existing scenario is never overwritten.\n\n\
    With --from SESSION, the scenario tests what a compaction keeps: `survives: {instruction: all, needed_again: 0}`. `ctxc eval` names \
    the facts that are lost; docs/COMPACTION.md goes on to a test of a compaction prompt.\n\n\
    With --from CALL, the scenario tests a request that another program sent. `ctxc eval` then runs that program again in the project's \
    folder, answers its calls from the recorded ones, which are copied beside the scenario, and checks the call at the same place in the \
    same conversation; `ctxc trust` must allow that. With --copy, the scenario tests the request as it was recorded. The recorded answer \
    is judged by coarse expectations as long as the request stays the same. Once it has changed, record the program again and use --renew.",
    mut_arg("subject", |arg| arg.required_unless_present_any(["role", "from", "best"]))
)]
#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
struct ScenarioArgs {
    #[command(flatten)]
    subject: SubjectArgs,
    /// A recorded request: `@last#3`, `FILE#3`, a file with its body; a run of several agents: `run:last`, `run:ID`; or one agent of it: `run:ID/NODE`; a compaction of a session: `@claude#2`, `SESSION#2`
    #[arg(long, value_name = "CALL", conflicts_with_all = ["subject", "role"])]
    from: Option<String>,
    /// Write scenarios from this many stored runs, of all tasks or of the named one: runs with
    /// tasks, agents, paths and outcomes that no scenario covers yet. With --from 'run:PREFIX*',
    /// only from runs whose names begin with that
    #[arg(long, value_name = "N", conflicts_with_all = ["name", "output", "copy", "renew", "input", "result", "node", "objective", "history"])]
    best: Option<NonZeroUsize>,
    /// With --from: test the request as recorded, without running the program that sent it
    #[arg(long, requires = "from")]
    copy: bool,
    /// With --from: write a scenario for each answered call of the recording. They share one copy of it, and one run of its program
    #[arg(long, requires = "from", conflicts_with_all = ["best", "renew", "output"])]
    all: bool,
    /// With --from and --name: replace the recorded call, answer and stored request of an existing scenario, and leave its text unchanged
    #[arg(long, requires_all = ["from", "name"], conflicts_with_all = ["copy", "no_snapshot", "output"])]
    renew: bool,
    /// With --from SESSION: put the masked session into the project, after its size and masks are shown. Otherwise it stays in your folder for state
    #[arg(long, requires = "from", conflicts_with_all = ["best", "copy", "all", "renew", "no_snapshot"])]
    embed: bool,
    /// With --embed: do not ask
    #[arg(long, requires = "embed")]
    yes: bool,
    #[command(flatten)]
    given: GivenArgs,
    /// The request [default: the task's value named `objective`, if it takes one; else the first line of its description]
    #[arg(long, value_name = "TEXT")]
    objective: Option<String>,
    #[command(flatten)]
    history: HistoryArgs,
    #[command(flatten)]
    lookup: LookupArgs,
    /// The scenario's name [default: the task's name and the first file's]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Store no snapshot of the request: check only the scenario's expectations, not every word
    #[arg(long)]
    no_snapshot: bool,
    #[command(flatten)]
    propose: ProposeArgs,
    /// Output file [default: scenarios/NAME.yaml in the project's folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Runs the verb.
pub(crate) fn run_new(args: &NewArgs, cx: &mut Cx) -> Result<Exit> {
    match &args.what {
        NewKind::Scenario(args) => new_scenario(args, cx),
        NewKind::Judge(args) => new_judge(args, cx),
    }
}

/// Replaces the recorded call, the answer and the stored request of a scenario, and leaves its text
/// unchanged.
fn renew_recording(subject: &str, name: &str, cx: &mut Cx) -> Result<Exit> {
    let Project { root, config, .. } = Project::load(&cx.options)?;
    let files = super::eval::load_scenarios(&root, &config);
    let cases = || {
        files.iter().flat_map(|file| {
            file.suite
                .iter()
                .flat_map(move |suite| suite.cases.iter().map(move |case| (file, case)))
        })
    };
    let found = cases().find_map(|(file, case)| match &case.subject.value {
        CaseSubject::Request(source) if case.name.value == name => {
            Some((&*file.path, case, source, source.file()?))
        }
        CaseSubject::Request(_)
        | CaseSubject::Role(_)
        | CaseSubject::Task(_)
        | CaseSubject::Compaction(_) => None,
    });
    let unknown = || {
        CliError::usage(format!(
            "there is no scenario `{name}` whose request was recorded"
        ))
    };
    let (path, case, source, file) = found.ok_or_else(unknown)?;
    let is_copy = matches!(source, RequestSource::File(_));
    let names = |path: &str, source: &RequestSource| {
        paths::resolve_beside(path, split_call_number(source.file()?).0)
    };
    let own = names(path, source);
    // A recording that scenarios share stays whole.
    let is_other = |other: &(&LoadedScenario, &ScenarioCase)| match &other.1.subject.value {
        CaseSubject::Request(source) => {
            !std::ptr::eq(other.1, case) && names(&other.0.path, source) == own
        }
        CaseSubject::Role(_) | CaseSubject::Task(_) | CaseSubject::Compaction(_) => false,
    };
    let is_shared = cases().any(|other| is_other(&other));
    let hold = request::new_scenario::NewScenarioOptions {
        has_snapshot: case.uses_snapshot(),
        is_copy,
        is_shared,
    };
    let project = Project {
        root: root.clone(),
        config,
        findings: Vec::new(),
    };
    let written = request::new_scenario::write_scenario(subject, name, file, hold, &project)?;
    let (suite, _) = scenario::read_suite(path, &written.scenario);
    let now = suite
        .into_iter()
        .flat_map(|suite| suite.cases)
        .find_map(|case| match case.subject.value {
            CaseSubject::Request(source) => Some(source.describe()),
            CaseSubject::Role(_) | CaseSubject::Task(_) | CaseSubject::Compaction(_) => None,
        });
    if now.as_ref() != Some(&source.describe()) {
        let now = now.unwrap_or_default();
        return Err(CliError::usage(format!("`{name}` is about {}, and {subject} is {now}", source.describe()))
            .with_hint("name the call that the scenario is about, or write another scenario: leave --renew out"));
    }
    let outside = || CliError::usage(format!("{file} lies outside the project's folder"));
    let kept = own.ok_or_else(outside)?;
    let stored = paths::snapshot_path(path, name);
    let stored = case.uses_snapshot().then_some((stored, written.snapshot));
    let files: Vec<(String, String)> = stored
        .into_iter()
        .chain([(kept, written.request)])
        .collect();
    let checked = check_files(&root, &files, cx)?;
    files
        .iter()
        .try_for_each(|(path, text)| rewrite::create_file(&root.join(path), text, checked))?;
    let names = files
        .iter()
        .rev()
        .map(|(path, _)| path.as_str())
        .collect::<Vec<_>>()
        .join(" and ");
    cx.print_line(&format!(
        "recorded anew: {names}{}",
        masked_note(&written.masked)
    ))?;
    Ok(Exit::Success)
}

fn masked_note(what: &str) -> String {
    if what.is_empty() {
        String::new()
    } else {
        format!(" ({what} masked)")
    }
}

/// Returns the first date with a time in a text, in the usual format.
fn first_time(text: &str) -> Option<&str> {
    let shapes: Vec<u8> = text
        .bytes()
        .map(|byte| if byte.is_ascii_digit() { b'0' } else { byte })
        .collect();
    let at = shapes
        .windows(16)
        .position(|window| matches!(window, b"0000-00-00T00:00" | b"0000-00-00 00:00"))?;
    text.get(at..at + 16)
}

/// Writes a scenario of a request that was sent.
fn write_request_scenario(subject: &str, args: &ScenarioArgs, cx: &mut Cx) -> Result<Exit> {
    if let (true, Some(name)) = (args.renew, &args.name) {
        return renew_recording(subject, name, cx);
    }
    let project = CompiledProject::load_or_empty(cx)?;
    let made = if args.all {
        of_all_calls(subject, args, &project, cx)?
    } else {
        let call = SentCall {
            subject,
            shared: None,
        };
        vec![of_call(call, args, &project, cx)?]
    };
    write_scenarios(&project, &made, cx)
}

/// A scenario of each call of a recording, which they share.
fn of_all_calls(
    subject: &str,
    args: &ScenarioArgs,
    project: &CompiledProject,
    cx: &mut Cx,
) -> Result<Vec<NewScenario>> {
    let calls = request::new_scenario::calls_of(subject, &project.root)?;
    let base = args
        .name
        .clone()
        .unwrap_or_else(|| request::new_scenario::scenario_name(subject));
    let mut made: Vec<NewScenario> = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        let args = ScenarioArgs {
            name: Some(format!("{base}-{}", at + 1)),
            ..args.clone()
        };
        let call = SentCall {
            subject: call,
            shared: Some(&base),
        };
        let mut one = of_call(call, &args, project, cx)?;
        // The recording is written with the first of them, and what holds for all is noted with the last.
        one.files.retain(|(path, _)| {
            made.iter()
                .flat_map(|one| &one.files)
                .all(|(other, _)| other != path)
        });
        if let Some(before) = made.last_mut() {
            before.notes.retain(|note| !one.notes.contains(note));
        }
        made.push(one);
    }
    Ok(made)
}

/// A call that was sent.
#[derive(Clone, Copy)]
struct SentCall<'c> {
    /// The file or recording, as given.
    subject: &'c str,
    /// The name of the recording that the scenarios of several calls share.
    shared: Option<&'c str>,
}

/// A scenario of a request that was sent.
fn of_call(
    SentCall { subject, shared }: SentCall<'_>,
    args: &ScenarioArgs,
    project: &CompiledProject,
    cx: &Cx,
) -> Result<NewScenario> {
    let ScenarioTarget { name, folder, path } = choose_target(
        args,
        Destination::for_one(project),
        &request::new_scenario::scenario_name(subject),
    )?;
    let is_body = !subject.contains('#')
        && !subject.starts_with('@')
        && Path::new(subject)
            .extension()
            .is_none_or(|ending| ending != "jsonl");
    let file = format!(
        "requests/{}.{}",
        shared.unwrap_or(&name),
        if is_body { "json" } else { "jsonl" }
    );
    let Project { root, config, .. } = Project::load(&cx.options)?;
    let own = Project {
        root,
        config,
        findings: Vec::new(),
    };
    let hold = request::new_scenario::NewScenarioOptions {
        has_snapshot: !args.no_snapshot,
        is_copy: args.copy,
        is_shared: shared.is_some(),
    };
    let written = request::new_scenario::write_scenario(subject, &name, &file, hold, &own)?;
    let (kept, stored) = (
        join_path(&folder, &file),
        paths::snapshot_path(&path, &name),
    );
    let of_answer = if written.answer_expectation_count == 0 {
        String::new()
    } else {
        format!(
            " and {} on its recorded answer",
            written.answer_expectation_count
        )
    };
    let (expectations, masked) = (
        pluralize(written.expectations, "expectation"),
        masked_note(&written.masked),
    );
    let mut notes: Vec<String> = written
        .unreadable_answer
        .iter()
        .map(|why| format!("nothing is expected of the answer: {why}"))
        .collect();
    if let Some(time) = first_time(&written.snapshot)
        .filter(|_| written.is_run && project.config.requests.volatile.is_empty())
    {
        notes.push(format!(
            "the request holds a time, `{time}`: if each run sends another, `[requests] volatile` in ctxc.toml has to leave it out, \
             such as `{{ in = \"\", pattern = \"[0-9-]+[T ][0-9:.]+\" }}`"
        ));
    }
    if written.is_run && written.alike > 1 {
        notes.push(format!(
            "{} calls are equal to the first one of its conversation, so that agents which ask at once are told apart by their order alone: \
             a header `x-ctxc-agent` in the requests of each names it",
            written.alike
        ));
    }
    if written.is_run && !trust::has_permission(&project.root) {
        notes.push(
            "`ctxc eval` will run the program that sent it: `ctxc trust` permits that".to_owned(),
        );
    }
    let stored = (!args.no_snapshot).then_some((stored, written.snapshot));
    let files = stored
        .into_iter()
        .chain([(kept, written.request), (path, written.scenario)])
        .collect();
    Ok(NewScenario {
        files,
        summary: format!("{expectations} on the request{of_answer}{masked}"),
        notes,
    })
}

fn new_scenario(args: &ScenarioArgs, cx: &mut Cx) -> Result<Exit> {
    match (&args.from, args.best) {
        (from, Some(max)) => write_best_runs(args, from.as_deref(), max.get(), cx),
        (Some(subject), None) if names_session(subject) => {
            write_session_scenario(subject, args, cx)
        }
        (Some(subject), None) if args.embed => Err(CliError::usage(format!(
            "--embed is for sessions of coding agents, and `{subject}` is none"
        ))),
        (Some(subject), None)
            if args.all
                && (subject.starts_with(as_scenario::RUN_PREFIX) || subject.contains('#')) =>
        {
            Err(CliError::usage(format!(
                "--all takes a recording, and `{subject}` is a run or a single call"
            ))
            .with_hint(
                "`--from @last --all` writes a scenario for each call of the last recording",
            ))
        }
        (Some(subject), None) if subject.starts_with(as_scenario::RUN_PREFIX) => {
            let project = CompiledProject::load(cx)?;
            let made = build_from_run(
                args,
                &as_scenario::read_source(&project, subject)?,
                Destination::for_one(&project),
                cx,
            )?;
            write_scenarios(&project, &[made], cx)
        }
        (Some(subject), None) if args.propose.is_requested() => Err(CliError::usage(format!(
            "--propose is for runs, and `{subject}` is none"
        ))
        .with_hint("`--from run:last` is the last run")),
        (Some(subject), None) => write_request_scenario(subject, args, cx),
        (None, None) => {
            let project = CompiledProject::load(cx)?;
            let made = build_task_scenario(args, None, Destination::for_one(&project), cx)?;
            write_scenarios(&project, &[made], cx)
        }
    }
}

/// Writes a scenario of a compaction of a session.
fn write_session_scenario(subject: &str, args: &ScenarioArgs, cx: &mut Cx) -> Result<Exit> {
    if args.copy || args.all || args.renew || args.no_snapshot || args.propose.is_requested() {
        return Err(CliError::usage(format!(
            "`{subject}` is a session: only --name, --output, --embed and --yes apply to it"
        )));
    }
    let project = CompiledProject::load_or_empty(cx)?;
    let session = SessionDraft::read(subject, cx)?;
    // A second scenario of the same compaction is refused.
    let name = args.name.clone().or(Some(session.scenario_name.clone()));
    let args = &ScenarioArgs {
        name,
        ..args.clone()
    };
    let ScenarioTarget { name, folder, path } =
        choose_target(args, Destination::for_one(&project), "")?;
    let is_embedded = if args.embed && args.yes {
        session.note_content(cx);
        true
    } else {
        args.embed && session.confirm_embedding(cx)?
    };
    let place = if is_embedded {
        format!(
            "with the session, {} bytes",
            format_thousands(session.text.len())
        )
    } else {
        session.store(&project.root)?;
        "the session stays in your folder for state; on other machines the scenario is inconclusive, unless --embed puts it into the project".to_owned()
    };
    let failing = if session.failing.is_empty() {
        String::new()
    } else {
        format!(
            ", and what it lost, so that `ctxc eval` fails: {}",
            session.failing.join(", ")
        )
    };
    let text = format!("name: {}\n{}", draft::yaml_scalar(&name), session.scenario);
    let embedded = (join_path(&folder, &session.path), session.text);
    let files = is_embedded.then_some(embedded).into_iter();
    let made = NewScenario {
        files: files.chain([(path, text)]).collect(),
        summary: format!("what the recorded summary keeps{failing}; {place}"),
        notes: Vec::new(),
    };
    write_scenarios(&project, &[made], cx)
}

/// Builds a scenario of a run, or of one agent of it.
fn build_from_run(
    args: &ScenarioArgs,
    run: &RunSource,
    destination: Destination<'_>,
    cx: &mut Cx,
) -> Result<NewScenario> {
    let agent = match run {
        RunSource::Whole(run) => return build_run_scenario(args, run, destination),
        RunSource::Agent(agent) => agent,
    };
    let args = ScenarioArgs {
        subject: SubjectArgs::for_task(agent.task.clone(), agent.role.clone()),
        from: None,
        given: GivenArgs {
            node: Some(agent.node.clone()),
            input: agent.inputs.clone(),
            result: agent.results.clone(),
        },
        objective: agent.objective.clone().or_else(|| args.objective.clone()),
        ..args.clone()
    };
    build_task_scenario(&args, Some(agent), destination, cx)
}

/// Writes scenarios of the stored runs that cover the most of the still uncovered parts of the
/// project.
fn write_best_runs(
    args: &ScenarioArgs,
    from: Option<&str>,
    max: usize,
    cx: &mut Cx,
) -> Result<Exit> {
    let project = CompiledProject::load(cx)?;
    let prefix = match from.map(|from| from.strip_prefix(as_scenario::RUN_PREFIX).unwrap_or(from)) {
        None => "",
        Some(name)
            if from.is_some_and(|from| from.starts_with(as_scenario::RUN_PREFIX))
                && name.ends_with('*') =>
        {
            name.trim_end_matches('*')
        }
        Some(_) => {
            let from = from.unwrap_or_default();
            let what = if from.starts_with(as_scenario::RUN_PREFIX) {
                "a single run"
            } else {
                "no run"
            };
            return Err(CliError::usage(format!("`{from}` is {what}; `--best` takes `run:PREFIX*`"))
                .with_hint("`--from 'run:*'` are all, `--from 'run:20261126*'` those of a day; without --from it is all"));
        }
    };
    let subject = if args.subject.is_given() {
        Some(args.subject.resolve(&project)?)
    } else {
        None
    };
    let subject = subject
        .as_ref()
        .map(|(role, task)| role.map_or(task.as_str(), |role| &role.name.value));
    let BestRuns {
        runs,
        total: of,
        refused,
    } = best::choose_runs(&project, prefix, subject, max);
    if of == 0 {
        let whose = subject.map_or_else(String::new, |subject| format!(" of `{subject}`"));
        let named = if prefix.is_empty() {
            String::new()
        } else {
            format!(" whose name begins with `{prefix}`")
        };
        return Err(CliError::new(
            CliErrorKind::NothingSelected,
            format!("no run{whose}{named} is kept"),
        )
        .with_hint("`ctxc run` keeps one"));
    }
    for (name, why) in &refused {
        cx.print_note(&escape_line(&format!("run:{name} is skipped: {why}")));
    }
    let why = match runs.len() {
        0 => "no run that a scenario can hold covers anything new",
        count if count < max => "no other run that a scenario can hold covers anything new",
        _ => "they cover the most of what no scenario covers yet",
    };
    cx.print_note(&format!(
        "{} of {} chosen: {why}",
        runs.len(),
        pluralize(of, "kept run")
    ));
    let mut made = Vec::new();
    for run in &runs {
        made.push(build_from_run(
            args,
            run,
            Destination {
                project: &project,
                made: &made,
            },
            cx,
        )?);
    }
    write_scenarios(&project, &made, cx)?;
    Ok(if runs.is_empty() {
        Exit::Nothing
    } else {
        Exit::Success
    })
}

/// Builds a scenario of an agent from its context; with the recorded answer, if the agent comes
/// from a run.
fn build_task_scenario(
    args: &ScenarioArgs,
    agent: Option<&RunAgent>,
    destination: Destination<'_>,
    cx: &mut Cx,
) -> Result<NewScenario> {
    let project = destination.project;
    let (role, task) = args.subject.resolve(project)?;
    let receiver = role.map_or_else(|| Receiver::for_task(&task), Receiver::for_role);
    let parameters = project.task_parameters(receiver.task)?;
    let (inputs, results) =
        args.given
            .read_values(&project.registry, receiver.task, &parameters)?;
    let objective = scenario_objective(args, receiver.name(), &parameters, &inputs)?;
    let objective = objective.as_deref();
    let has_value =
        |name: &str| inputs.contains_key(name) || name == objective::NAME && objective.is_some();
    let missing = parameters
        .iter()
        .find(|one| one.required && one.default.is_none() && !has_value(&one.name));
    if let Some(RegistryParameter { name, .. }) = missing {
        return Err(CliError::usage(format!(
            "`{name}` has no value, and a scenario freezes all that its task needs"
        ))
        .with_hint(format!("give it: --input {name}=VALUE")));
    }
    let ScenarioTarget { name, folder, path } = choose_target(args, destination, receiver.name())?;
    let (source, (turns, history)) = (
        args.lookup.for_project(project),
        read_history(args, &project.root, &folder)?,
    );
    let goals = CallerGoals {
        objective,
        ..CallerGoals::default()
    };
    let agents = project.task_agents(receiver.task)?;
    let node = if let Some(node) = &args.given.node {
        project.find_node(receiver.task, node)?
    } else {
        let wording = FirstAgentWording {
            reason: ", and a scenario tests what an agent is shown",
            hint: "name a task that calls one, or one that has this one as a step",
            is: "it holds",
            names: "names",
        };
        project.first_agent(receiver.task, &wording, cx)?
    };
    let handle = agents
        .iter()
        .find(|agent| agent.node == node)
        .filter(|_| agents.len() > 1)
        .map(|agent| agent.short_name(&agents));
    let files = project.files();
    let request = Request {
        node: &node,
        inputs: &inputs,
        results: &results,
        files: &files,
        history: &turns,
        goals,
        role: receiver.role,
        ..Request::new(receiver.task)
    };
    let found = lookup::find_passages(project, &request, &source)
        .map_err(|faults| project.context_error(&faults))?;
    source.note_index(cx);
    let mask = fixed_mask(project);
    let mut values = MaskedValues {
        project,
        mask: &mask,
        redacted: Vec::new(),
    };
    let inputs = values.mask_all_given(scenario_values(
        &project.root,
        &folder,
        &args.given.input,
        inputs,
    ))?;
    let results = results
        .into_iter()
        .map(|(name, result)| (name, as_scenario::result_value(result)));
    let results = values.mask_all_given(scenario_values(
        &project.root,
        &folder,
        &args.given.result,
        results,
    ))?;
    let history = history
        .map(|history| values.mask_given("", history))
        .transpose()?;
    let found = values.mask_passages(found)?;
    let objective = objective
        .map(|objective| values.mask_text(objective.to_owned()))
        .transpose()?;
    let objective = objective.as_deref();
    let holds = if args.no_snapshot {
        TextPrecision::Segments
    } else {
        TextPrecision::Words
    };
    let draft = ScenarioDraft {
        name: &name,
        receiver,
        node: handle,
        // A run of a role without an objective had none in its context.
        objective: objective.or_else(|| agent.filter(|_| role.is_some()).map(|_| "")),
        inputs: &inputs,
        results: &results,
        history: history.as_ref(),
        found: &found,
        holds,
    };
    let sources = DraftTarget {
        project,
        path: &path,
        mask: &mask,
    };
    let DraftedScenario {
        text,
        request,
        has_conversation: receives_history,
        expectations,
        is_whole,
    } = sources
        .draft_scenario(&draft)
        .map_err(|error| error.into_error(|faults| project.context_error(faults)))?;
    if history.is_some() && !receives_history {
        return Err(no_history_error(receiver.task));
    }
    let stored = (holds == TextPrecision::Words).then(|| paths::snapshot_path(&path, &name));
    let answered = agent.filter(|agent| !agent.calls.is_empty());
    let text = answered.map_or(text.clone(), |agent| text + &answer_expectations(agent));
    let text = with_proposals(
        args,
        &text,
        agent.map_or(&[][..], |agent| &agent.calls),
        project,
    )?;
    let recording = answered.map(|_| paths::recording_path(&path, &name));
    let lines: String = answered
        .into_iter()
        .flat_map(|agent| &agent.calls)
        .map(Recording::to_line)
        .collect();
    let files = [
        stored.map(|stored| (stored, request)),
        recording.map(|recording| (recording, lines)),
        Some((path, text)),
    ];
    let lookup = "the tasks around this agent look up other context, and a scenario has one lookup for all: its looked-up context differs \
                  from that of `ctxc render`";
    let count = pluralize(expectations, "expectation");
    let masked = masked_note(&request::new_scenario::describe_masked(
        values.redacted.iter(),
    ));
    Ok(NewScenario {
        files: files.into_iter().flatten().collect(),
        summary: format!(
            "{count} on the context, taken from this render{masked}; add what the answer must satisfy"
        ),
        notes: (!is_whole).then(|| lookup.to_owned()).into_iter().collect(),
    })
}

/// Builds a scenario of a whole run, with all its answers.
fn build_run_scenario(
    args: &ScenarioArgs,
    run: &FullRun,
    destination: Destination<'_>,
) -> Result<NewScenario> {
    let project = destination.project;
    let role = run
        .role
        .as_deref()
        .map(|name| super::models::find_role(&project.config, name))
        .transpose()?;
    let receiver = role.map_or_else(|| Receiver::for_task(&run.task), Receiver::for_role);
    let ScenarioTarget { name, path, .. } = choose_target(args, destination, receiver.name())?;
    let text = draft::run_yaml(&draft::RunDraft {
        name: &name,
        receiver,
        objective: run.objective.as_deref().or(args.objective.as_deref()),
        inputs: &run.inputs,
        path: &run.path,
        is_whole: run.is_whole,
        ends: &run.ends,
        scripts: &run.scripts,
        tokens: run.tokens,
    });
    let text = with_proposals(args, &text, &run.calls, project)?;
    let recording = paths::recording_path(&path, &name);
    let lines: String = run.calls.iter().map(Recording::to_line).collect();
    let stages = pluralize(run.path.len(), "stage");
    Ok(NewScenario {
        files: vec![(recording, lines), (path, text)],
        summary: format!(
            "the run came by {stages}; add what its result and its agents must satisfy"
        ),
        notes: Vec::new(),
    })
}

/// Returns the text of a scenario with the expectations that a model proposes, from the answers of
/// the run.
fn with_proposals(
    args: &ScenarioArgs,
    text: &str,
    calls: &[Recording],
    project: &CompiledProject,
) -> Result<String> {
    let answers = calls
        .iter()
        .filter_map(|call| Some((call, recorded_response(call).ok()?.answer)));
    let lines = answers.map(|(call, answer)| {
        format!(
            "{}: {}",
            call.agent.as_deref().unwrap_or_default(),
            answer.content()
        )
    });
    let answer_texts = lines.collect::<Vec<_>>().join("\n");
    let proposals = propose::propose_expectations(&args.propose, text, &answer_texts, project)?;
    Ok(fixed_mask(project)
        .mask_text(&proposals)
        .unwrap_or(proposals)
        + text)
}

/// Returns coarse expectations of an answer that was good in a run, since a different answer may be
/// as good.
fn answer_expectations(agent: &RunAgent) -> String {
    // The next multiple of 100.
    let max = (agent.tokens + agent.tokens / 2).div_ceil(100).max(1) * 100;
    format!(
        "# What it answered in the run is recorded beside this file.\nruns: 1\npass_threshold: 1\nexpectations:\n  - max_tokens: {max}\n"
    )
}

/// Replaces secrets and personal data in the values of a scenario, with the user's own
/// placeholders, as recordings have them.
struct MaskedValues<'v> {
    project: &'v CompiledProject,
    mask: &'v FixedMask,
    /// The replaced data.
    redacted: Vec<MaskedCount>,
}

impl MaskedValues<'_> {
    /// Masks a text. The user's secret is read only if something is to be replaced.
    fn mask_text(&mut self, text: String) -> Result<String> {
        self.mask_named_text("", text)
    }

    /// Masks the text of a key with this name.
    fn mask_named_text(&mut self, name: &str, text: String) -> Result<String> {
        if self.mask.mask_named_text(name, &text).is_none() {
            return Ok(text);
        }
        let redactor = redactor(self.project)?;
        let keeps = self.project.config.record.content == RecordedContent::Full;
        let (masked, counts) = if keeps {
            redactor.keep_personal_data()
        } else {
            redactor
        }
        .mask_named_text(name, &text);
        let row = |(kind, count): (&str, u64)| MaskedCount {
            pointer: String::new(),
            kind: kind.to_owned(),
            count,
        };
        self.redacted.extend(counts.into_iter().map(row));
        Ok(masked)
    }

    fn mask_value(&mut self, name: &str, value: Value) -> Result<Value> {
        Ok(match value {
            Value::String(text) => Value::String(self.mask_named_text(name, text)?),
            Value::Array(values) => Value::Array(
                values
                    .into_iter()
                    .map(|value| self.mask_value(name, value))
                    .collect::<Result<_>>()?,
            ),
            Value::Object(fields) => {
                let field = |(name, value): (String, Value)| {
                    let value = self.mask_value(&name, value)?;
                    Ok((self.mask_text(name)?, value))
                };
                Value::Object(fields.into_iter().map(field).collect::<Result<_>>()?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        })
    }

    fn mask_given(&mut self, name: &str, given: SituationValue) -> Result<SituationValue> {
        Ok(match given {
            SituationValue::Value(value) => SituationValue::Value(self.mask_value(name, value)?),
            SituationValue::File(path) => SituationValue::File(path),
        })
    }

    fn mask_all_given(
        &mut self,
        values: Vec<(String, SituationValue)>,
    ) -> Result<Vec<(String, SituationValue)>> {
        let one = |(name, given): (String, SituationValue)| {
            let given = self.mask_given(&name, given)?;
            Ok((name, given))
        };
        values.into_iter().map(one).collect()
    }

    fn mask_passages(
        &mut self,
        LookedUpPassages { files, fresh, held }: LookedUpPassages,
    ) -> Result<LookedUpPassages> {
        let mut matches = |matches: Vec<Match>| {
            let one = |found: Match| {
                Ok(Match {
                    text: self.mask_text(found.text)?,
                    ..found
                })
            };
            matches.into_iter().map(one).collect::<Result<Vec<_>>>()
        };
        Ok(LookedUpPassages {
            files: matches(files)?,
            fresh: matches(fresh)?,
            held,
        })
    }
}

/// Reads the conversation, and returns it with its form in the scenario: the name of the file if
/// that lies in the project.
fn read_history(
    args: &ScenarioArgs,
    root: &Path,
    folder: &str,
) -> Result<(Vec<Turn>, Option<SituationValue>)> {
    let turns = args.history.read_turns()?;
    let Some(path) = args.history.path() else {
        return Ok((turns, None));
    };
    if turns.is_empty() {
        let error = format!(
            "--history {}: expected a message, found none",
            path.display()
        );
        return Err(CliError::usage(error).with_hint(
            "a file of a conversation has one message a line; messages of the system do not count",
        ));
    }
    let written = || SituationValue::Value(turns.iter().map(messages::write_message).collect());
    let given = path_from_folder(root, folder, path).map_or_else(written, SituationValue::File);
    Ok((turns, Some(given)))
}

fn no_history_error(task: &str) -> CliError {
    CliError::usage(format!("--history: this agent of `{task}` sees nothing of the conversation: its task has no <history>"))
        .with_hint("leave --history out, or add `<history/>` to the task")
}

/// A scenario to be written.
struct NewScenario {
    /// The files, by project path, with their texts; the last one refers to the others.
    files: Vec<(String, String)>,
    /// A description of its contents.
    summary: String,
    /// Notes for its author.
    notes: Vec<String>,
}

/// Writes scenarios; if one of their files is refused, none of them.
fn write_scenarios(project: &CompiledProject, all: &[NewScenario], cx: &mut Cx) -> Result<Exit> {
    let checked = check_files(&project.root, all.iter().flat_map(|one| &one.files), cx)?;
    for one in all {
        for (path, text) in &one.files {
            rewrite::create_file(&project.root.join(path), text, checked)?;
        }
        let names = one
            .files
            .iter()
            .rev()
            .map(|(path, _)| path.as_str())
            .collect::<Vec<_>>();
        if let Some(path) = names.first() {
            note_unlisted_place(project, path, cx);
        }
        cx.print_line(&format!("wrote {}: {}", names.join(" and "), one.summary))?;
        one.notes.iter().for_each(|note| cx.print_note(note));
    }
    Ok(Exit::Success)
}

/// Checks that files of the project may be written.
fn check_files<'f>(
    root: &Path,
    files: impl IntoIterator<Item = &'f (String, String)> + Clone,
    cx: &Cx,
) -> Result<SecretsChecked> {
    let checked = SecretCheck::new(&cx.options, root).check_files(
        files
            .clone()
            .into_iter()
            .map(|(name, text)| NewFile { name, text }),
    )?;
    files
        .into_iter()
        .try_for_each(|(path, _)| overwrite::reject_links(root, path))?;
    Ok(checked)
}

/// The name of a scenario, and its place.
struct ScenarioTarget {
    name: String,
    /// Its folder, as a project path.
    folder: String,
    /// Its file, as a project path. The file does not exist yet.
    path: String,
}

/// The project that receives a new scenario.
#[derive(Clone, Copy)]
struct Destination<'p> {
    project: &'p CompiledProject,
    /// The scenarios that are written in the same run; no name or path is used twice.
    made: &'p [NewScenario],
}

impl<'p> Destination<'p> {
    /// A project that receives one scenario.
    fn for_one(project: &'p CompiledProject) -> Self {
        Self { project, made: &[] }
    }
}

/// Chooses the name and place of a scenario.
fn choose_target(
    args: &ScenarioArgs,
    destination: Destination<'_>,
    subject: &str,
) -> Result<ScenarioTarget> {
    let Destination { project, made } = destination;
    let files = args
        .given
        .input
        .iter()
        .chain(&args.given.result)
        .filter_map(|one| Some(one.split_once("=@")?.1));
    let file = files.into_iter().find(|path| !path.starts_with('@'));
    let folder = args
        .output
        .as_deref()
        .and_then(Path::parent)
        .map(Path::to_path_buf);
    let place = || {
        let places = project
            .config
            .eval
            .scenarios
            .iter()
            .map(|place| &place.value);
        let is_folder = |place: &&String| {
            !is_pattern(place)
                && !fs::is_file(&project.root.join(place))
                && Path::new(place).extension().is_none()
        };
        places
            .into_iter()
            .find(is_folder)
            .cloned()
            .unwrap_or_else(|| load::DEFAULT_FOLDER.to_owned())
    };
    let folder = folder.map_or_else(
        || Ok(place()),
        |folder| folder_in_project(&project.root, &folder),
    )?;
    let known = super::eval::scenario_names(project);
    let is_there = |path: &str| {
        fs::exists(&project.root.join(path))
            || made
                .iter()
                .flat_map(|one| &one.files)
                .any(|(other, _)| other == path)
    };
    let is_taken = |name: &str| known.contains(name) || is_there(&format!("{folder}/{name}.yaml"));
    let name = args
        .name
        .clone()
        .unwrap_or_else(|| draft::unused_name(subject, file, is_taken));
    if name.trim().is_empty() {
        return Err(CliError::usage("--name: expected a name, found none"));
    }
    if known.contains(&name) {
        let file = format!("{folder}/{name}.yaml");
        let place = if is_there(&file) {
            format!(", in {file}")
        } else {
            String::new()
        };
        return Err(
            CliError::usage(format!("there is a scenario `{name}` already{place}"))
                .with_hint("--name gives this one another name"),
        );
    }
    if args.output.is_none() && (name.contains(['/', '\\']) || name.starts_with('.')) {
        return Err(CliError::usage(format!(
            "`{name}` cannot be a file name, and a scenario's file has its name"
        ))
        .with_hint("use a name without `/`, `\\` and a leading dot, or use --output FILE"));
    }
    if let Some(output) = &args.output
        && !output.extension().is_some_and(|ending| {
            ending.eq_ignore_ascii_case("yaml") || ending.eq_ignore_ascii_case("yml")
        })
    {
        return Err(CliError::usage(format!(
            "{} would not be a scenario: expected a name that ends in .yaml",
            output.display()
        ))
        .with_hint("`ctxc eval` and `ctxc check` find scenarios by this ending"));
    }
    let path = match args.output.as_deref().and_then(Path::file_name) {
        Some(file) => join_path(&folder, &file.to_string_lossy()),
        None => join_path(&folder, &format!("{name}.yaml")),
    };
    if is_there(&path) {
        return Err(
            CliError::usage(format!("{path} already exists and is never overwritten"))
                .with_hint("--name or --output writes another file"),
        );
    }
    Ok(ScenarioTarget { name, folder, path })
}

/// Prints a note if the scenario lies outside the project's scenario folders.
fn note_unlisted_place(project: &CompiledProject, path: &str, cx: &mut Cx) {
    if !scenarios::list_files(&project.root, &project.config)
        .iter()
        .any(|known| known == path)
    {
        cx.print_note(&format!(
            "{path} lies outside of [eval] scenarios: `ctxc eval` runs it only if named, and `ctxc check` skips it"
        ));
    }
}

/// Returns the objective, if it is known. A task that takes the objective as a parameter does not
/// receive its own description.
fn scenario_objective(
    args: &ScenarioArgs,
    subject: &str,
    declared: &[RegistryParameter],
    inputs: &BTreeMap<String, Value>,
) -> Result<Option<String>> {
    let is_blank = |words: &str| words.trim().is_empty();
    if args.objective.as_deref().is_some_and(is_blank) {
        return Err(CliError::usage(
            "--objective: expected words that say what is to be done, found none",
        ));
    }
    let Some(parameter) = objective::objective_parameter(declared) else {
        return Ok(args.objective.clone());
    };
    let words = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    match (&args.objective, inputs.get(objective::NAME)) {
        (Some(_), Some(_)) => Err(CliError::usage(
            "--objective and --input objective give the same value",
        )
        .with_hint("leave one of them out")),
        (Some(objective), None) => Ok(Some(objective.clone())),
        (None, Some(value)) if is_blank(&words(value)) => Err(CliError::usage(
            "--input objective: expected words that say what is to be done, found none",
        )),
        (None, Some(value)) => Ok(Some(words(value))),
        (None, None) => match &parameter.default {
            Some(default) if !is_blank(default) => Ok(Some(default.clone())),
            _ => Err(
                CliError::usage(format!("`{subject}` takes an objective, and none is given"))
                    .with_hint(
                        "say what is to be done: --objective 'add a flag that prints the plan'",
                    ),
            ),
        },
    }
}

fn join_path(folder: &str, file: &str) -> String {
    if folder.is_empty() {
        file.to_owned()
    } else {
        format!("{folder}/{file}")
    }
}

/// Returns a folder as a project path.
fn folder_in_project(root: &Path, folder: &Path) -> Result<String> {
    let outside = || {
        CliError::usage(format!(
            "{} lies outside the project's folder",
            folder.display()
        ))
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    if !fs::is_dir(folder) {
        return Err(
            CliError::usage(format!("there is no folder {}", folder.display()))
                .with_hint("make it first"),
        );
    }
    path_in_project(root, folder).ok_or_else(outside)
}

/// Returns values in the form of the scenario: files of the project by name, all others literally.
fn scenario_values(
    root: &Path,
    folder: &str,
    written: &[String],
    values: impl IntoIterator<Item = (String, Value)>,
) -> Vec<(String, SituationValue)> {
    let file = |name: &str| {
        let path = written
            .iter()
            .find_map(|one| one.strip_prefix(name)?.strip_prefix("=@"))?;
        if path.starts_with('@') {
            return None;
        }
        path_from_folder(root, folder, Path::new(path)).map(SituationValue::File)
    };
    values
        .into_iter()
        .map(|(name, value)| {
            (
                name.clone(),
                file(&name).unwrap_or(SituationValue::Value(value)),
            )
        })
        .collect()
}

/// Returns a file of the project relative to a folder of scenarios.
fn path_from_folder(root: &Path, folder: &str, path: &Path) -> Option<String> {
    let up = "../".repeat(folder.split('/').filter(|part| !part.is_empty()).count());
    let path = path_in_project(root, path)?;
    let beside = path
        .strip_prefix(folder)
        .and_then(|rest| rest.strip_prefix('/'))
        .filter(|_| !folder.is_empty());
    Some(beside.map_or_else(|| format!("{up}{path}"), str::to_owned))
}
