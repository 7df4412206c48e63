//! Changes that no scenario would notice, cases that have to run again, and scenarios made from
//! today's context.

use super::bench::{Setting, TRIAGE, at, expecting, id, live, patterns, registry, segment, word};
use ctxc::internals::context::TaskGraph;
use ctxc::internals::context::context_source::Match;
use ctxc::internals::context::request::Files;
use ctxc::internals::eval::affected::{ComparisonBase, RunChoice};
use ctxc::internals::eval::answer_source::{AnswerOptions, CaseAnswers};
use ctxc::internals::eval::case;
use ctxc::internals::eval::compiled_patterns::CompiledPatterns;
use ctxc::internals::eval::draft::{
    self, LookedUpPassages, ScenarioDraft, SituationValue, TextPrecision,
};
use ctxc::internals::eval::locate::Locator;
use ctxc::internals::eval::mutate::{MutationScores, score_mutations};
use ctxc::internals::eval::prepared_case::{CaseInput, RunContext, SeenContext};
use ctxc::internals::eval::receiver::{Receiver, Roles};
use ctxc::internals::eval::scorecard::{CaseRow, RowSubject, Scorecard, SuiteRow};
use ctxc::internals::eval::trials::TrialPolicy;
use ctxc::internals::kernel::context::Trust;
use ctxc::internals::kernel::tokens::ByteEstimate;
use ctxc::internals::scenario::model::{
    ContextExpectation, FrozenText, FrozenValue, LookupStore, ScenarioCase, SegmentState, Suite,
    SuiteThresholds,
};
use ctxc::internals::template::setting::SettingName;
use pretty_assertions::assert_eq;
use std::collections::BTreeMap;

/// The unnoticed mutations, and the number of those that were tried.
fn unnoticed(cases: &[ScenarioCase]) -> (usize, Vec<String>) {
    let registry = registry(TRIAGE);
    let (patterns, roles) = (
        CompiledPatterns::compile_for(cases, "$.subtasks"),
        Roles::new(),
    );
    let (counter, live, beside) = (ByteEstimate::new("estimate", 4.0), live(), BTreeMap::new());
    let files: &(dyn Files + Sync) = &live;
    let (registry, roles, patterns, rows) =
        (&registry, &roles, &patterns, TrialPolicy::StopWhenDecided);
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
            path: "s/a.yaml",
            case,
            beside: &beside,
            snapshot: None,
            rejection: None,
            answers: CaseAnswers::default(),
        })
        .collect();
    let MutationScores {
        scores: found,
        failing,
    } = score_mutations(&context, &inputs, None);
    assert_eq!(failing, Vec::<String>::new());
    let [score] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        (score.subject.as_str(), score.node.as_str(), score.asked),
        ("triage", "/", cases.len())
    );
    (
        score.tried,
        score
            .unnoticed
            .iter()
            .map(ctxc::internals::eval::change::Mutation::describe)
            .collect(),
    )
}

#[test]
fn what_no_scenario_would_notice_is_listed() {
    let weak = expecting(vec![segment(id("system"), SegmentState::Kept)]);
    let (tried, left) = unnoticed(std::slice::from_ref(&weak));
    assert_eq!(tried, 3 * 3 + 3);
    insta::assert_snapshot!(left.join("\n"), @r"
    segment `description` dropped
    segment `file:docs/runbook.md` dropped
    segment `description` loses the second half of its text
    segment `file:docs/runbook.md` loses the second half of its text
    segment `system` loses the second half of its text
    segment `description` loses its first word
    segment `file:docs/runbook.md` loses its first word
    segment `system` loses its first word
    inherit_context set to full
    inherit_context set to subset
    fresh_context set to enabled
    ");
    // Another scenario of the same agent checks the rest.
    let setting = |name, value: &str| ContextExpectation::Setting {
        name: at(name),
        value: word(value),
        node: None,
    };
    let strong = expecting(vec![
        ContextExpectation::Contains(patterns(Some(id("system")), &["refund\\.$"])),
        ContextExpectation::Contains(patterns(Some(id("description")), &["came\\.\\.$"])),
        ContextExpectation::Contains(patterns(None, &["Then wait"])),
        setting(SettingName::InheritContext, "none"),
        setting(SettingName::FreshContext, "disabled"),
    ]);
    let first = |id: &str| format!("segment `{id}` loses its first word");
    let left = ["description", "file:docs/runbook.md", "system"]
        .map(first)
        .to_vec();
    assert_eq!(unnoticed(&[weak, strong]), (12, left));
}

fn row_of(
    case: &ScenarioCase,
    registry: &ctxc::Registry,
) -> (
    CaseRow,
    Option<ctxc::internals::eval::case_result::ResultKeys>,
) {
    let done = Setting::of(registry).finish(case);
    let live = live();
    let lines = || {
        let mut lines = ctxc::internals::context::lines::Lines::default();
        let files = BTreeMap::from([("templates/triage.xml".to_owned(), TRIAGE.to_owned())]);
        lines.add_file(
            &files,
            "templates/triage.xml",
            "triage",
            &ctxc::internals::syntax::limits::XmlLimits::default(),
        );
        lines
    };
    let locator = Locator::new(&live, &lines);
    locator.add_text("scenarios/triage.yaml", "name: triage-1\n");
    let suite = Suite {
        id: word("triage-1"),
        is_scenario: true,
        name: None,
        version: None,
        cases: Vec::new(),
        cases_from: None,
        hidden_text: None,
        tools: BTreeMap::new(),
        thresholds: SuiteThresholds::default(),
    };
    let receiver = Receiver::for_task("triage");
    let of = RowSubject {
        path: "scenarios/triage.yaml",
        suite: &suite.id.value,
        case,
        receiver: Some(receiver),
    };
    (CaseRow::from_result(of, &done, &locator), done.keys)
}

fn card(registry: &ctxc::Registry, rows: Vec<CaseRow>) -> Scorecard {
    let suites = rows.iter().map(|row| SuiteRow {
        path: row.path.clone(),
        id: row.suite.clone(),
        name: None,
        version: None,
        thresholds: None,
    });
    Scorecard::new(registry.hash(), "estimate", suites.collect(), rows)
}

#[test]
fn what_did_not_move_and_passed_is_carried_and_all_else_is_run() {
    let (before, moved) = (
        registry(TRIAGE),
        registry(&TRIAGE.replace("You triage", "You sort")),
    );
    let passing = expecting(vec![segment(id("system"), SegmentState::Kept)]);
    let failing = ScenarioCase {
        name: word("other"),
        ..expecting(vec![segment(id("system"), SegmentState::Absent)])
    };
    let (passed, keys) = row_of(&passing, &before);
    let (failed, failed_keys) = row_of(&failing, &before);
    let earlier = card(&before, vec![passed, failed]);
    assert_eq!(
        (
            earlier.summary.passed,
            earlier.summary.failed,
            earlier.summary.planned
        ),
        (1, 1, 2)
    );
    let since = ComparisonBase::from_results(&earlier);
    let RunChoice::Carry(row) = since.choose_for("triage-1", keys.as_ref()) else {
        panic!()
    };
    assert_eq!(row.carried_from, Some(before.hash().to_string()));
    // A case that did not pass is run again, and so is one that is new, moved, or could not be
    // tried.
    assert_eq!(
        since.choose_for("other", failed_keys.as_ref()),
        RunChoice::Run
    );
    assert_eq!(since.choose_for("new", keys.as_ref()), RunChoice::Run);
    assert_eq!(
        since.choose_for("triage-1", row_of(&passing, &moved).1.as_ref()),
        RunChoice::Run
    );
    assert_eq!(since.choose_for("triage-1", None), RunChoice::Run);
    let edited = ScenarioCase {
        name: word("triage-1"),
        ..expecting(vec![
            segment(id("system"), SegmentState::Kept),
            segment(id("history"), SegmentState::Absent),
        ])
    };
    assert_eq!(
        since.choose_for("triage-1", row_of(&edited, &before).1.as_ref()),
        RunChoice::Run
    );
    // A carried case keeps its first origin.
    let next = card(&moved, vec![*row]);
    assert_eq!((next.summary.carried, next.summary.passed), (1, 1));
    let RunChoice::Carry(again) =
        ComparisonBase::from_results(&next).choose_for("triage-1", keys.as_ref())
    else {
        panic!()
    };
    assert_eq!(again.carried_from, Some(before.hash().to_string()));
    // A case that did not move since a revision is no part of the run: its result there is unknown.
    let since = ComparisonBase::from_revision([("triage-1".to_owned(), keys.unwrap())]);
    assert_eq!(
        since.choose_for("triage-1", keys.as_ref()),
        RunChoice::LeaveOut
    );
    assert_eq!(since.choose_for("new", keys.as_ref()), RunChoice::Run);
    assert_eq!(
        since.choose_for("triage-1", row_of(&passing, &moved).1.as_ref()),
        RunChoice::Run
    );
    // An unknown verdict is no success.
    let mut strange = earlier.clone();
    strange.cases[0].verdict = "certainly".to_owned();
    assert_eq!(
        ComparisonBase::from_results(&strange).choose_for("triage-1", keys.as_ref()),
        RunChoice::Run
    );
}

#[test]
fn a_scorecard_reports_what_was_expected_found_and_where_and_is_read_back() {
    let registry = registry(TRIAGE);
    let wrong = expecting(vec![ContextExpectation::Absent(patterns(
        Some(id("system")),
        &["refund"],
    ))]);
    let card = card(&registry, vec![row_of(&wrong, &registry).0]);
    let again: Scorecard = serde_json::from_value(serde_json::to_value(&card).unwrap()).unwrap();
    assert_eq!(again, card);
    let verdict = &card.cases[0].context[0];
    let at = verdict.at.as_ref().unwrap();
    assert_eq!(
        (
            verdict.found.as_str(),
            at.segment.as_deref(),
            at.start,
            at.end,
            at.path.as_deref(),
            at.line
        ),
        (
            "“refund”",
            Some("system"),
            Some(44),
            Some(50),
            Some("templates/triage.xml"),
            Some(7)
        )
    );
}

#[test]
fn a_scenario_is_written_from_todays_context() {
    let registry = registry(TRIAGE);
    let forest = TaskGraph::load(&registry, "triage").unwrap().unwrap();
    let mut case = expecting(Vec::new());
    case.situation.inputs.insert(
        "ticket".to_owned(),
        Box::new(at(FrozenValue::Value("No: invoice".into()))),
    );
    let (counter, live, beside) = (ByteEstimate::new("estimate", 4.0), live(), BTreeMap::new());
    let (patterns, roles) = (CompiledPatterns::default(), Roles::new());
    let context = RunContext {
        registry: &registry,
        roles: &roles,
        live: &live,
        index: None,
        counter: &counter,
        models: None,
        plan: "$",
        rows: TrialPolicy::StopWhenDecided,
        patterns: &patterns,
        answers: AnswerOptions::default(),
        session: "",
    };
    let input = CaseInput {
        path: "s/a.yaml",
        case: &case,
        beside: &beside,
        snapshot: None,
        rejection: None,
        answers: CaseAnswers::default(),
    };
    let receiver = Receiver::for_task("triage");
    let given = [
        (
            "ticket".to_owned(),
            SituationValue::Value("No: invoice".into()),
        ),
        (
            "plan".to_owned(),
            SituationValue::File("../samples/plan.json".to_owned()),
        ),
        ("who".to_owned(), SituationValue::Value("@somebody".into())),
    ];
    let yaml = |seen: &SeenContext<'_>| {
        let written = ScenarioDraft {
            name: "triage-t1",
            receiver,
            node: None,
            objective: Some(&draft::first_description_line(seen)),
            inputs: &given,
            results: &[],
            history: None,
            found: &LookedUpPassages::default(),
            holds: TextPrecision::Segments,
        };
        draft::scenario_yaml(&written, Some(seen))
    };
    insta::assert_snapshot!(case::with_context(&context, &input, &forest, receiver, yaml).unwrap().unwrap(), @r#"
    # What triage receives today, as `ctxc new scenario` took it from a render. Take out what may change, and
    # add what the answer must satisfy: `expectations`.
    # Words may still change: `contains` names those that must stay, `snapshot: true` holds every one.
    schema: ctxc/scenario/1
    name: triage-t1
    task: triage
    context:
      objective: "Sort No: invoice."
      inputs:
        ticket: "No: invoice"
        plan: {file: "../samples/plan.json"}
        who: "@@somebody"
    expect_context:
      - segments: {exactly: [system, "file:docs/runbook.md", description]}
      - nothing_cut: true
      - tokens: {of: total, max: 50}
      - setting: {name: inherit_context, value: none}
      - setting: {name: fresh_context, value: disabled}
    "#);
}

#[test]
fn what_yaml_could_mistake_is_quoted_and_ceilings_are_round() {
    let quoted: Vec<String> = [
        "plain-word",
        "/steps/1",
        "no",
        "1.0",
        "a: b",
        "input:x",
        "",
        "@x",
        "tab\there",
    ]
    .map(draft::yaml_scalar)
    .into();
    assert_eq!(
        quoted,
        [
            "plain-word",
            "/steps/1",
            "\"no\"",
            "\"1.0\"",
            "\"a: b\"",
            "\"input:x\"",
            "\"\"",
            "\"@x\"",
            "\"tab\\there\""
        ]
    );
    let round: Vec<usize> = [0, 9, 50, 100, 950, 4_000, 20_000]
        .map(draft::round_up_limit)
        .into();
    assert_eq!(round, [0, 10, 60, 150, 1_100, 4_400, 22_000]);
    assert_eq!(
        draft::unused_name("triage", Some("samples/t1.txt"), |_| false),
        "triage-t1"
    );
    assert_eq!(
        draft::unused_name("triage", None, |name| name == "triage-1"),
        "triage-2"
    );
}

#[test]
fn what_was_looked_up_is_read_back_byte_for_byte() {
    let texts = [
        "one line",
        "",
        "a\nb",
        "a\nb\n",
        "a\nb\n\n\n",
        "  indented\nthen not",
        "\nbegins empty\nb",
        "\ttab\n  two\n \n",
        "a\r\nb",
        "\n\n",
        "# no comment\n- no list\n...\n---\nk: v\n",
        "@file\nb",
        "{file: x}",
        "umlaut ä\n\u{85}\n",
        "\u{feff}mark\nb",
        "\u{7}\nb",
        "last line has spaces\n   ",
    ];
    let of = |shelf: &str| -> Vec<Match> {
        let one = |(at, text): (usize, &&str)| Match {
            id: format!("docs/{shelf}: {at}"),
            text: (*text).to_owned(),
            trust: Trust::Untrusted,
        };
        texts.iter().enumerate().map(one).collect()
    };
    let (files, fresh) = (of("files"), of("fresh"));
    let receiver = Receiver::for_task("triage");
    for files in [Vec::new(), files] {
        let found = LookedUpPassages {
            files: files.clone(),
            fresh: fresh.clone(),
            held: Vec::new(),
        };
        let draft = ScenarioDraft {
            name: "n",
            receiver,
            node: None,
            objective: Some("o"),
            inputs: &[],
            results: &[],
            history: None,
            found: &found,
            holds: TextPrecision::Segments,
        };
        let text = draft::scenario_yaml(&draft, None);
        let (suite, faults) = ctxc::internals::scenario::read_suite("scenarios/n.yaml", &text);
        assert!(faults.is_empty(), "{faults:?}\n{text}");
        let matches = suite.unwrap().cases.remove(0).situation.matches;
        let shelf = if files.is_empty() {
            LookupStore::Retrieval
        } else {
            LookupStore::Memory
        };
        let wanted = fresh
            .iter()
            .map(|one| (shelf, one))
            .chain(files.iter().map(|one| (LookupStore::Retrieval, one)));
        let wanted: Vec<_> = wanted
            .map(|(shelf, one)| (shelf, one.id.clone(), FrozenText::Text(one.text.clone())))
            .collect();
        let read: Vec<_> = matches
            .into_iter()
            .map(|one| (one.shelf, one.id, one.text.value))
            .collect();
        assert_eq!(read, wanted, "{text}");
    }
}
