//! Tasks, batches, budgets, failures that repeat.

use ctxc::runtime::{
    AgentOutput, Amounts, Batch, BatchReport, BudgetAccount, BudgetPolicy, FailurePattern,
    HistoryBackend, Next, Obstacle, OutcomeContext, PatternLimit, PatternScope, Pipeline,
    PipelineState, PipelineStatus, QualityAnalyzer, RestartIntensity, StageGraph, Status, Task,
    TaskQueue, TaskSource, Visit, Workspace, WorkspaceProvider,
};
use pretty_assertions::assert_eq;
use std::cell::RefCell;
use std::time::Duration;

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn amounts(unit: &str, amount: f64) -> Amounts {
    Amounts::from([(unit.to_owned(), amount)])
}

#[test]
fn a_batch_has_so_many_tasks_and_so_much_of_each_unit() {
    let max_cost = Amounts::from([("tokens".to_owned(), 100.0), ("usd".to_owned(), 1.0)]);
    let mut account = BudgetAccount::new(BudgetPolicy::BatchWindow {
        max_tasks: Some(2),
        max_cost,
    });
    account.begin_task(seconds(0)).unwrap();
    account.add(seconds(0), &amounts("tokens", 60.0));
    account.add(seconds(9), &amounts("tokens", -20.0));
    account.add(seconds(9), &amounts("tokens", f64::NAN));
    account.add(seconds(9), &amounts("pages", 1e9));
    assert_eq!(
        (
            account.used(seconds(99), "tokens"),
            account.pressure(seconds(99))
        ),
        (60.0, 0.6)
    );
    assert_eq!(account.check(seconds(9), &amounts("tokens", 40.0)), Ok(()));
    let more = account
        .check(seconds(9), &amounts("tokens", 50.0))
        .unwrap_err();
    assert_eq!(
        more.note,
        "the budget of 100 tokens does not allow 50 more: 60 used"
    );
    account.begin_task(seconds(9)).unwrap();
    assert_eq!(
        account.begin_task(seconds(9)).unwrap_err().note,
        "the batch may have 2 tasks, and as many have begun"
    );
    account.add(seconds(9), &amounts("usd", 1.0));
    assert_eq!(
        account.check(seconds(9), &Amounts::new()).unwrap_err().note,
        "the budget of 1 usd is spent: 1 used"
    );
    let stored: BudgetAccount =
        serde_json::from_str(&serde_json::to_string(&account).unwrap()).unwrap();
    assert_eq!(stored, account);
}

#[test]
fn a_rolling_window_forgets_and_a_budget_of_nothing_allows_nothing() {
    let window = |most| BudgetPolicy::RollingWindow {
        period: seconds(60),
        max_cost_per_period: amounts("calls", most),
    };
    let mut account = BudgetAccount::new(window(1.0));
    account.add(seconds(0), &amounts("calls", 1.0));
    assert!(account.check(seconds(59), &Amounts::new()).is_err());
    assert!(account.check(seconds(60), &amounts("calls", 1.0)).is_ok());
    account.add(seconds(60), &amounts("calls", 0.5));
    assert!((account.used(seconds(61), "calls") - 0.5).abs() < 1e-9);
    let nothing = BudgetAccount::new(window(0.0));
    assert!(nothing.check(seconds(0), &Amounts::new()).is_err());
    assert!((nothing.pressure(seconds(0)) - 1.0).abs() < 1e-9);
}

/// One stage.
struct One;

impl StageGraph for One {
    fn start(&self) -> Vec<String> {
        vec!["do".to_owned()]
    }

    fn next(&self, _: &Visit, _: &PipelineState) -> Next {
        Next::Complete
    }
}

/// Records the acquired and released places.
#[derive(Default)]
struct Places(RefCell<Vec<String>>);

impl WorkspaceProvider for Places {
    fn acquire(&self, task: &str) -> Result<Workspace, Obstacle> {
        self.0.borrow_mut().push(format!("+{task}"));
        if task == "no-place" {
            Err(Obstacle::new("workspace", "the disk is full"))
        } else {
            ().acquire(task)
        }
    }

    fn release(&self, workspace: Workspace) -> Result<(), Obstacle> {
        self.0.borrow_mut().push(format!("-{}", workspace.id));
        Ok(())
    }
}

struct Setup {
    source: TaskQueue<&'static str>,
    history: Vec<OutcomeContext>,
    budget: BudgetAccount,
    places: Places,
}

impl Setup {
    fn new(tasks: &[(&'static str, &'static str)]) -> Self {
        let mut source = TaskQueue::default();
        for (id, payload) in tasks {
            source.push(Task::new("org", *id, *payload));
        }
        let budget = BudgetAccount::new(BudgetPolicy::BatchWindow {
            max_tasks: Some(50),
            max_cost: amounts("calls", 8.0),
        });
        Self {
            source,
            history: Vec::new(),
            budget,
            places: Places::default(),
        }
    }

    /// Each visit uses up a call; the payload decides how it ends.
    fn run(&mut self) -> BatchReport {
        let mut batch = Batch {
            pipeline: &Pipeline::new(One),
            source: &mut self.source,
            workspaces: &self.places,
            history: &mut self.history,
            budget: &mut self.budget,
            intensity: &mut RestartIntensity::new(4, seconds(60)),
            max_attempts: 2,
            clock: &|| seconds(1),
        };
        let report = batch.run(&mut |task, context, used| {
            used.insert("calls".to_owned(), 1.0);
            match task.payload {
                "fails" => Err(Obstacle::new(
                    "provider",
                    format!("after {}", context.attempts.len()),
                )),
                "waits" => Ok(AgentOutput {
                    status: Status::Waiting,
                    ..AgentOutput::complete("for you")
                }),
                "refuses" => Ok(AgentOutput::failed("no")),
                payload => Ok(AgentOutput::complete(payload)),
            }
        });
        report.unwrap()
    }
}

#[test]
fn a_batch_completes_what_it_can_and_gives_the_rest_back() {
    let mut setup = Setup::new(&[
        ("a", "x"),
        ("b", "fails"),
        ("c", "waits"),
        ("no-place", "x"),
        ("d", "x"),
    ]);
    let report = setup.run();
    let runs: Vec<String> = report
        .runs
        .iter()
        .map(|(id, state)| format!("{id} {}", state.status().word()))
        .collect();
    let expected = [
        "a complete",
        "b failed",
        "c blocked",
        "no-place failed",
        "d complete",
        "b failed",
        "no-place failed",
    ];
    assert_eq!(runs, expected);
    assert_eq!(report.ended, None);
    let left: Vec<&str> = setup
        .source
        .waiting()
        .map(|task| task.id.as_str())
        .collect();
    assert_eq!(
        (left, setup.source.claimed().count()),
        (vec!["c", "b", "no-place"], 0)
    );
    let places = setup.places.0.borrow().join(" ");
    assert_eq!(places, "+a -a +b -b +c -c +no-place +d -d +b -b +no-place");
    // The second attempt knew of the first.
    let notes: Vec<&str> = setup
        .history
        .iter()
        .filter_map(|outcome| outcome.obstacle.as_ref())
        .map(|it| it.note.as_str())
        .collect();
    assert_eq!(notes, ["after 0", "for you", "after 1"]);
    assert_eq!(
        report.outcomes[0].amounts.get("budget_pressure"),
        Some(&0.125)
    );
}

#[test]
fn a_batch_ends_when_it_only_fails_or_its_budget_is_spent() {
    let mut setup = Setup::new(&[("a", "fails"), ("b", "refuses"), ("c", "fails"), ("d", "x")]);
    let report = setup.run();
    let ended = report.ended.unwrap();
    assert_eq!(
        (ended.kind.as_str(), ended.note.as_str()),
        (
            "failures",
            "5 tasks failed within 60 s, more than the 4 that are borne"
        )
    );
    assert_eq!(setup.source.waiting().count(), 3);

    let mut setup = Setup::new(&[("a", "x")]);
    for number in 0..9 {
        setup
            .source
            .push(Task::new("org", format!("n{number}"), "x"));
    }
    let report = setup.run();
    assert_eq!(
        (report.runs.len(), report.ended.unwrap().note.as_str()),
        (8, "the budget of 8 calls is spent: 8 used")
    );
    assert_eq!(setup.source.waiting().count(), 2);
    assert!(
        report
            .runs
            .iter()
            .all(|(_, state)| state.status() == PipelineStatus::Complete)
    );
}

/// A history that cannot be written.
struct Broken;

impl HistoryBackend for Broken {
    fn record(&mut self, _: OutcomeContext) -> Result<(), String> {
        Err("the disk is full".to_owned())
    }

    fn failure_context(&self, _: &str) -> Result<Vec<ctxc::runtime::Attempt>, String> {
        Ok(Vec::new())
    }
}

#[test]
fn a_history_that_cannot_be_written_ends_the_batch_and_releases_its_workspace() {
    let mut setup = Setup::new(&[("a", "x")]);
    let mut batch = Batch {
        pipeline: &Pipeline::new(One),
        source: &mut setup.source,
        workspaces: &setup.places,
        history: &mut Broken,
        budget: &mut setup.budget,
        intensity: &mut RestartIntensity::new(4, seconds(60)),
        max_attempts: 2,
        clock: &|| seconds(1),
    };
    let error = batch
        .run(&mut |_, _, _| Ok(AgentOutput::default()))
        .unwrap_err();
    assert_eq!(error, Obstacle::new("source", "the disk is full"));
    assert_eq!(setup.places.0.borrow().join(" "), "+a -a");
}

fn failed(task: &str, stage: &str, at: u64, kind: &str) -> OutcomeContext {
    OutcomeContext::new(task, Visit::first(stage), seconds(at))
        .failed(Obstacle::new(kind, format!("{task} at {at}")))
}

fn done(task: &str, stage: &str, at: u64) -> OutcomeContext {
    OutcomeContext::new(task, Visit::first(stage), seconds(at))
}

fn task_measures(
    pattern: FailurePattern,
    outcomes: &[OutcomeContext],
) -> Vec<(Option<String>, f64)> {
    let analyzer = QualityAnalyzer::new("org", vec![pattern], |finding| finding.pattern.clone());
    analyzer
        .analyze(outcomes)
        .into_iter()
        .map(|finding| (finding.task, finding.measure))
        .collect()
}

#[test]
fn failures_are_counted_by_task_or_in_all() {
    let outcomes = [
        failed("a", "test", 0, "x"),
        failed("b", "test", 1, "x"),
        failed("a", "test", 2, "x"),
        failed("a", "test", 3, "y"),
    ];
    let counting =
        |count, scope| FailurePattern::new("x", PatternLimit::Count(count), scope, "mend it");
    assert_eq!(
        task_measures(counting(2, PatternScope::Task), &outcomes),
        [(Some("a".to_owned()), 2.0)]
    );
    assert_eq!(
        task_measures(counting(3, PatternScope::Batch), &outcomes),
        [(None, 3.0)]
    );
    assert_eq!(
        task_measures(counting(4, PatternScope::Batch), &outcomes),
        []
    );
    assert_eq!(
        task_measures(counting(0, PatternScope::Batch), &[done("a", "test", 0)]),
        [],
        "nothing is no failure"
    );
    let within = FailurePattern {
        within: Some(seconds(1)),
        ..counting(2, PatternScope::Batch)
    };
    assert_eq!(task_measures(within.clone(), &outcomes), [(None, 2.0)]);
    assert_eq!(
        task_measures(
            FailurePattern {
                within: Some(Duration::ZERO),
                ..within
            },
            &outcomes
        ),
        []
    );
    let other = FailurePattern {
        stage: Some("plan".to_owned()),
        ..counting(1, PatternScope::Batch)
    };
    assert_eq!(task_measures(other, &outcomes), []);
}

#[test]
fn shares_sums_and_peaks_are_measured() {
    let outcomes = [
        failed("a", "triage", 0, "x"),
        done("b", "triage", 1),
        done("b", "other", 1),
        failed("c", "triage", 2, "y"),
    ];
    let pattern = |limit| FailurePattern {
        obstacles: Vec::new(),
        stage: Some("triage".to_owned()),
        ..FailurePattern::new("p", limit, PatternScope::Batch, "r")
    };
    let two_thirds = task_measures(pattern(PatternLimit::Share { from: 0.5, of: 3 }), &outcomes);
    assert!((two_thirds[0].1 - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(
        task_measures(pattern(PatternLimit::Share { from: 0.5, of: 4 }), &outcomes),
        []
    );
    assert_eq!(
        task_measures(pattern(PatternLimit::Share { from: 0.9, of: 1 }), &outcomes),
        []
    );
    let weighed: Vec<OutcomeContext> = outcomes
        .into_iter()
        .map(|outcome| OutcomeContext {
            amounts: amounts("alerts", 2.0),
            ..outcome
        })
        .collect();
    let of = |limit| task_measures(pattern(limit), &weighed);
    assert_eq!(
        of(PatternLimit::Sum {
            unit: "alerts".to_owned(),
            from: 6.0
        }),
        [(None, 6.0)]
    );
    assert_eq!(
        of(PatternLimit::Peak {
            unit: "alerts".to_owned(),
            from: 2.0
        }),
        [(None, 2.0)]
    );
    assert_eq!(
        of(PatternLimit::Peak {
            unit: "alerts".to_owned(),
            from: 3.0
        }),
        []
    );
    assert_eq!(
        of(PatternLimit::Sum {
            unit: "pages".to_owned(),
            from: 0.0
        }),
        []
    );
}

#[test]
fn remedies_are_tasks_that_no_one_analyses() {
    let pattern = FailurePattern::new(
        "stale-runbook",
        PatternLimit::Count(1),
        PatternScope::Task,
        "rewrite it",
    );
    let analyzer = QualityAnalyzer::new("ops", vec![pattern], |finding| finding.notes.join(", "));
    let outcomes = [
        failed("a", "t", 0, "stale_runbook"),
        failed("a", "t", 1, "stale_runbook"),
    ];
    assert_eq!(analyzer.classify(&outcomes[0]), ["stale-runbook"]);
    let [task] = &analyzer.remedies(&analyzer.analyze(&outcomes))[..] else {
        panic!("one remedy")
    };
    assert_eq!(
        (&*task.id, &*task.org, &*task.payload),
        ("remedy:stale-runbook:a", "ops", "a at 1, a at 0")
    );
    let again = task
        .outcome(Visit::first("t"), seconds(9))
        .failed(Obstacle::new("stale_runbook", "again"));
    assert_eq!(
        (
            analyzer.classify(&again),
            analyzer.analyze(&[again.clone(), again.clone()])
        ),
        (Vec::new(), Vec::new())
    );
    let stored: OutcomeContext =
        serde_json::from_str(&serde_json::to_string(&again).unwrap()).unwrap();
    assert_eq!(stored, again);
    let mut queue = TaskQueue::default();
    assert!(queue.push(task.clone()) && !queue.push(task.clone()));
    assert_eq!(queue.claim().unwrap().as_ref(), Some(task));
    queue.complete("never claimed").unwrap();
    queue.release("never claimed").unwrap();
    assert!(queue.knows(&task.id));
}
