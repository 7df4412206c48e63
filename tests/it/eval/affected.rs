//! Moving a default of the project selects exactly the scenarios whose resolved context changed,
//! compared with an oracle: the settings of every node that a task reaches, and the request of its
//! agent.

use super::bench::{at, case, word};
use crate::project::reading::read_with;
use ctxc::Registry;
use ctxc::internals::context::TaskGraph;
use ctxc::internals::context::lines::Lines;
use ctxc::internals::context::request::Files;
use ctxc::internals::eval::affected::{ComparisonBase, RunChoice};
use ctxc::internals::eval::answer_source::{AnswerOptions, CaseAnswers};
use ctxc::internals::eval::case_result::ResultKeys;
use ctxc::internals::eval::compiled_patterns::CompiledPatterns;
use ctxc::internals::eval::locate::Locator;
use ctxc::internals::eval::prepared_case::{CaseInput, RunContext};
use ctxc::internals::eval::receiver::Roles;
use ctxc::internals::eval::run::{result_keys, run_cases};
use ctxc::internals::eval::scorecard::{CaseRow, RowSubject, Scorecard};
use ctxc::internals::eval::trials::TrialPolicy;
use ctxc::internals::kernel::tokens::ByteEstimate;
use ctxc::internals::scenario::model::{
    CaseSubject, ContextExpectation, FrozenText, LookupFixture, LookupStore, ScenarioCase,
    Situation, Suite, SuiteThresholds,
};
use ctxc::internals::template::setting::{SettingName, Word};
use pretty_assertions::assert_eq;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const TASKS: usize = 1_000;

type KeysByName = BTreeMap<String, Option<ResultKeys>>;

/// A task of the generated project: types, subtypes, settings of its own, steps and references in a
/// mixture with a long period.
fn template(number: usize) -> String {
    let written = match number % 5 {
        0 => "",
        1 => {
            "<context_management><inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management>"
        }
        2 => {
            "<context_management><inherit_context>full</inherit_context><fresh_context>disabled</fresh_context></context_management>"
        }
        3 => "<context_management><fresh_context>disabled</fresh_context></context_management>",
        _ => "<context_management><inherit_context>none</inherit_context></context_management>",
    };
    let name = format!("t{number:04}");
    let earlier = number.saturating_sub(5);
    match number % 7 {
        0..=2 => format!(
            "<task type=\"atomic\" name=\"{name}\"><description>do {number}</description>{written}</task>\n"
        ),
        3 => format!(
            "<task type=\"atomic\" subtype=\"subtask\" name=\"{name}\"><description>do {number}</description></task>\n"
        ),
        4 => format!(
            "<task type=\"sequential\" name=\"{name}\"><description>all of {number}</description>\
             <steps><task type=\"atomic\"><description>first {number}</description>{written}</task></steps></task>\n"
        ),
        5 => format!(
            "<task type=\"sequential\" name=\"{name}\"><description>through {number}</description>\
             <steps><task ref=\"t{earlier:04}\"/></steps></task>\n"
        ),
        _ => format!(
            "<task type=\"atomic\" name=\"{name}\"><description>look {number}</description>{written}</task>\n"
        ),
    }
}

fn compiled(project: &str, texts: &[(String, String)]) -> Registry {
    let config = read_with(&format!("{project}\n[lints]\nall = \"info\"\n"), &[]);
    let sources = texts
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()));
    let built = ctxc::compile_sources(&config, sources);
    built
        .registry
        .unwrap_or_else(|| panic!("{:?}", built.diagnostics.first()))
}

fn texts() -> Vec<(String, String)> {
    (0..TASKS)
        .map(|number| (format!("t{number:04}.xml"), template(number)))
        .collect()
}

fn cases() -> Vec<ScenarioCase> {
    let of = |number: usize| {
        let matches = vec![LookupFixture {
            shelf: LookupStore::Retrieval,
            id: "kb".to_owned(),
            text: at(FrozenText::Text("what was found".to_owned())),
        }];
        ScenarioCase {
            name: word(&format!("case-{number:04}")),
            subject: at(CaseSubject::Task(format!("t{number:04}"))),
            situation: Situation {
                matches,
                ..Situation::default()
            },
            expect_context: vec![at(ContextExpectation::Snapshot)],
            ..case()
        }
    };
    (0..TASKS).map(of).collect()
}

/// Keys by name, and the oracle's view: settings of all nodes with the request.
fn seen(registry: &Registry, cases: &[ScenarioCase]) -> (KeysByName, Vec<(String, String)>) {
    let (patterns, roles) = (CompiledPatterns::compile_for(cases, "$"), Roles::new());
    let (counter, live, beside) = (
        ByteEstimate::new("estimate", 4.0),
        BTreeMap::new(),
        BTreeMap::new(),
    );
    let files: &(dyn Files + Sync) = &live;
    let (roles, patterns, rows) = (&roles, &patterns, TrialPolicy::StopWhenDecided);
    let context = RunContext {
        registry,
        roles,
        live: files,
        index: None,
        counter: &counter,
        models: None,
        plan: "$",
        rows,
        patterns,
        answers: AnswerOptions::default(),
        session: "",
    };
    let inputs: Vec<CaseInput<'_>> = cases
        .iter()
        .map(|case| CaseInput {
            path: "s",
            case,
            beside: &beside,
            snapshot: None,
            rejection: None,
            answers: CaseAnswers::default(),
        })
        .collect();
    let keys = result_keys(&context, &inputs, None);
    let done = run_cases(&context, &inputs, None);
    let names = cases.iter().map(|case| case.name.value.clone());
    let oracle = cases.iter().zip(done).map(|(case, done)| {
        let CaseSubject::Task(task) = &case.subject.value else {
            panic!()
        };
        let now = done
            .snapshot
            .unwrap_or_else(|| panic!("{:?} {:?}", done.trouble, done.faults));
        (settings(registry, task), now)
    });
    (names.zip(keys).collect(), oracle.collect())
}

/// The settings of everything that a task reaches, by node.
fn settings(registry: &Registry, task: &str) -> String {
    let forest = TaskGraph::load(registry, task).unwrap().unwrap();
    let mut out = String::new();
    let mut nodes: Vec<String> = forest
        .agents(task)
        .unwrap()
        .into_iter()
        .map(|agent| agent.node)
        .collect();
    nodes.push("/".to_owned());
    for node in nodes {
        let Ok(Some(settings)) = forest.settings(task, &node) else {
            continue;
        };
        for name in SettingName::ALL.iter().copied() {
            let setting = settings.get(name);
            write!(
                out,
                "{node} {} {} {};",
                name.word(),
                setting.value.as_str(),
                setting.applies
            )
            .unwrap();
        }
    }
    out
}

/// Results of a run in which every case passed.
fn passed(registry: &Registry, cases: &[ScenarioCase], keys: &[(String, ResultKeys)]) -> Scorecard {
    let locator = Locator::new(&(), &Lines::default);
    let suite = Suite {
        id: word("all"),
        is_scenario: false,
        name: None,
        version: None,
        cases: Vec::new(),
        cases_from: None,
        hidden_text: None,
        tools: BTreeMap::new(),
        thresholds: SuiteThresholds::default(),
    };
    let row = |(case, (_, keys)): (&ScenarioCase, &(String, ResultKeys))| CaseRow {
        verdict: "pass".to_owned(),
        context_hash: Some(keys.context.to_string()),
        key: Some(keys.case.to_string()),
        ..CaseRow::unjudged(
            RowSubject {
                path: "s",
                suite: &suite.id.value,
                case,
                receiver: None,
            },
            &locator,
        )
    };
    Scorecard::new(
        registry.hash(),
        "estimate",
        Vec::new(),
        cases.iter().zip(keys).map(row).collect(),
    )
}

/// The cases selected to run after a change, and the cases that changed by the oracle.
fn selected(before: &Registry, after: &Registry) -> (Vec<String>, Vec<String>, usize) {
    let cases = cases();
    let ((old, was), (new, is)) = (seen(before, &cases), seen(after, &cases));
    let known: Vec<(String, ResultKeys)> = old
        .into_iter()
        .map(|(name, keys)| (name, keys.unwrap()))
        .collect();
    let is_run = |since: &ComparisonBase, name: &str| {
        since.choose_for(name, new[name].as_ref()) == RunChoice::Run
    };
    // With the earlier results and against a revision the same cases have moved.
    let since = ComparisonBase::from_results(&passed(before, &cases, &known));
    let run: Vec<String> = new
        .keys()
        .filter(|name| is_run(&since, name))
        .cloned()
        .collect();
    let since = ComparisonBase::from_revision(known);
    assert_eq!(
        new.keys()
            .filter(|name| is_run(&since, name))
            .cloned()
            .collect::<Vec<_>>(),
        run
    );
    let moved = cases
        .iter()
        .zip(was.iter().zip(&is))
        .filter(|(_, (was, is))| was != is);
    let rendered = was
        .iter()
        .zip(&is)
        .filter(|(was, is)| was.1 != is.1)
        .count();
    (
        run,
        moved.map(|(case, _)| case.name.value.clone()).collect(),
        rendered,
    )
}

#[test]
fn moving_a_default_selects_exactly_what_changed() {
    let texts = texts();
    let before = compiled("", &texts);
    let moves = [
        "[defaults.atomic]\ninherit_context = \"none\"\nfresh_context = \"enabled\"\n",
        "[defaults.atomic]\ninherit_context = \"none\"\n",
        "[defaults.sequential]\naccumulation_format = \"full_output\"\n",
        "[defaults.atomic.subtask]\nfresh_context = \"disabled\"\n",
    ];
    for project in moves {
        let (run, changed, rendered) = selected(&before, &compiled(project, &texts));
        assert_eq!(run, changed, "{project}");
        assert!(
            !run.is_empty() && run.len() < TASKS,
            "{project}: {} of {TASKS}, {rendered} read otherwise",
            run.len()
        );
    }
}

#[test]
fn editing_a_comment_or_white_space_selects_nothing_and_a_text_selects_whatever_reaches_it() {
    let mut texts = texts();
    let before = compiled("", &texts);
    for (number, (_, text)) in texts.iter_mut().enumerate() {
        *text = text
            .replace("><description>", ">\n  <!-- moved -->\n  <description>")
            .replace("</task>", &format!("{}</task>", " ".repeat(number % 3)));
    }
    let (run, moved, _) = selected(&before, &compiled("# a comment\n", &texts));
    assert_eq!((run, moved), (Vec::new(), Vec::new()));
    // Task 5 goes through task 0.
    texts[0].1 = texts[0].1.replace("do 0<", "do nothing<");
    let (run, moved, _) = selected(&before, &compiled("", &texts));
    assert_eq!(run, ["case-0000", "case-0005"]);
    assert_eq!(run, moved);
}
