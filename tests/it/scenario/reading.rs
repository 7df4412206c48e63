//! The values of a sound file, and the findings of a broken one: all of it in one run.

use super::fault_messages::told;
use ctxc::internals::base::span::Spanned;
use ctxc::internals::scenario::model::{
    AnswerTest, CaseSubject, ContextExpectation, FrozenValue, Risk, SegmentSelector, SegmentState,
};
use ctxc::internals::scenario::{keys, read_suite, values};
use ctxc::internals::template::setting::{SettingName, Word};
use pretty_assertions::assert_eq;

fn faults(text: &str) -> String {
    told(text, &read_suite("scenarios/a.yaml", text).1)
}

const WHOLE: &str = include_str!("whole.yaml");

#[test]
fn a_scenario_with_everything_is_read() {
    let (suite, found) = read_suite("scenarios/whole.yaml", WHOLE);
    assert_eq!(told(WHOLE, &found), "");
    let suite = suite.unwrap();
    assert!(suite.is_scenario);
    let [case] = &suite.cases[..] else {
        panic!("one case")
    };
    assert_eq!(
        (case.name.value.as_str(), case.name.span.slice(WHOLE)),
        ("triage of a refund", "triage of a refund")
    );
    assert_eq!(case.subject.value, CaseSubject::Task("triage".into()));
    let situation = &case.situation;
    assert_eq!(
        situation.objective.as_ref().unwrap().value,
        "Sort the ticket.\nSay why.\n"
    );
    assert_eq!(situation.task_id.as_deref(), Some("1.10"));
    assert_eq!(situation.risk_level.as_ref().unwrap().value, Risk::Medium);
    assert_eq!(situation.failures[0].note, "");
    let frozen = |name: &str| situation.inputs[name].value.clone();
    assert_eq!(
        frozen("ticket"),
        FrozenValue::File("files/ticket.txt".into())
    );
    assert_eq!(frozen("mail"), FrozenValue::File("files/mail.txt".into()));
    assert_eq!(frozen("log"), FrozenValue::File("files/log.txt".into()));
    assert_eq!(frozen("handle"), FrozenValue::Value("@ada".into()));
    assert_eq!(
        frozen("limits"),
        FrozenValue::Value(serde_json::json!({"eur": 20, "retry": true}))
    );
    let ids: Vec<&str> = situation
        .matches
        .iter()
        .map(|found| found.id.as_str())
        .collect();
    assert_eq!(ids, ["refunds", "docs/policy.md"]);
    let [segment, .., setting, _, _] = &case.expect_context[..] else {
        panic!("expectations")
    };
    let ContextExpectation::Segment {
        selector: SegmentSelector::Id(id),
        state: SegmentState::Kept,
    } = &segment.value
    else {
        panic!("{segment:?}")
    };
    assert_eq!(
        (id.value.as_str(), id.span.slice(WHOLE)),
        ("input:ticket", "input:ticket")
    );
    let ContextExpectation::Setting { name, value, .. } = &setting.value else {
        panic!("{setting:?}")
    };
    assert_eq!(
        (name.value, value.value.as_str()),
        (SettingName::AccumulateData, "true")
    );
    assert_eq!(
        case.expect_context.len(),
        keys::CONTEXT_TABLE.keys.len().max(14),
        "each of the fourteen"
    );
    assert_eq!(
        case.expectations.len(),
        24,
        "each of the twenty-two, some in both forms"
    );
    assert!(
        matches!(&case.expectations[8].value.test, AnswerTest::Schema(FrozenValue::File(path)) if path == "schema.json")
    );
    assert!(!case.expectations[23].value.gate);
    assert_eq!((case.rule.runs, case.rule.pass), (5, 4));
    assert_eq!(
        case.answers[0].value.tool_calls,
        [("lookup".to_owned(), serde_json::json!({"id": 7}))]
    );
    assert_eq!(case.reviewed.map(|day| day.value), Some((2026, 2, 28)));
}

#[test]
fn json_is_read_like_yaml() {
    let (tree, _) = ctxc::internals::syntax::yaml::parse_tree(WHOLE);
    let mut json = tree.to_json();
    // Tags are lost: files are written as mappings in JSON.
    json["context"]["inputs"]["log"] = serde_json::json!({"file": "files/log.txt"});
    json["context"]["task_id"] = "1.10".into();
    let text = serde_json::to_string_pretty(&json).unwrap();
    let (suite, found) = read_suite("scenarios/whole.json", &text);
    assert_eq!(told(&text, &found), "");
    let first = |suite: ctxc::internals::scenario::model::Suite| {
        let case = &suite.cases[0];
        let expected: Vec<String> = case
            .expectations
            .iter()
            .map(|test| bare(&format!("{:?}", test.value)))
            .collect();
        let context: Vec<String> = case
            .expect_context
            .iter()
            .map(|test| bare(&format!("{:?}", test.value)))
            .collect();
        (
            expected,
            context,
            bare(&format!("{:?}", case.situation.inputs)),
        )
    };
    assert_eq!(
        first(suite.unwrap()),
        first(read_suite("a.yaml", WHOLE).0.unwrap())
    );
}

/// Without places.
fn bare(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("Span {") {
        out.push_str(before);
        rest = after.split_once('}').unwrap().1;
    }
    out + rest
}

#[test]
fn words_are_those_of_the_types() {
    assert_eq!(
        values::SEGMENT_KINDS,
        ctxc::internals::kernel::context::Kind::ALL
            .map(ctxc::internals::kernel::context::Kind::as_str)
    );
    for name in SettingName::ALL {
        let text = format!(
            "name: a\ntask: t\ncontext: {{objective: x}}\nexpect_context:\n  - setting: {{name: {}, value: {}}}\n",
            name.word(),
            name.allowed_words()[0]
        );
        assert_eq!(faults(&text), "");
    }
}

#[test]
fn a_key_that_nothing_reads_is_one_finding_where_anything_would_do() {
    let text =
        "name: a\ntask: t\ncontext: {objective: x}\nexpect_context:\n  - tools: {read: {}}\n";
    let found = faults(text);
    assert!(
        found.lines().count() == 1 && found.contains("has no key read"),
        "{found}"
    );
}

const BROKEN: &str = include_str!("broken.yaml");

#[test]
fn all_faults_of_a_file_come_in_one_run() {
    insta::assert_snapshot!(faults(BROKEN), @r#"
    1:1 [nmae] a scenario has no key nmae, near Some("name"), elsewhere None
    3:1 [role] a scenario has task and role
    3:7 [[planner]] role is a list, wants a text
    4:1 [contxt] a scenario has no key contxt, near Some("context"), elsewhere None
    6:14 [5] context.objective is a number, wants a text
    7:15 [hihg] context.risk_level is hihg, wants `low`, `medium`, `high`, `critical`, near Some("high")
    8:16 [one] context.constraints is a text, wants a list of texts
    9:24 [7] context.file_context.a.rs is a number, wants a text, or a file as `{file: PATH}`
    9:33 [!fle] UnknownTag("fle")
    10:21 [{stage: build}] an entry of `failure_history` (`context.failure_history`) lacks obstacle
    12:27 [id] `expect_context.segment` has kind and id
    12:41 [keept] expect_context.segment.state is keept, wants `kept`, `cut`, `dropped`, `absent`, near Some("kept")
    13:27 [pattern] a mapping of patterns (`expect_context.contains`) has no key pattern, near Some("patterns"), elsewhere None
    14:17 [[] pattern: unclosed character class at 1 `[`
    14:22 ["tab\\t("] pattern: unclosed group at 6 `(`
    15:25 [model] an expectation on the context (`expect_context`) has nothing_cut and model
    16:5 [{}] an expectation on the context (`expect_context`) lacks segment|segments|trust|contains|absent|order|tokens|prompt_cache|nothing_cut|setting|tools|model|protected_paths|lookup|snapshot|not|any_of|all_of
    17:12 [[one]] expect_context.order is [one], wants a list of 2 or more, near None
    18:13 [{of: totl}] `expect_context.tokens` lacks max|min
    18:18 [totl] expect_context.tokens.of is totl, wants `total`, `prefix`, or a mapping with `id`, `kind` or `source`, near Some("total")
    19:19 [-1] expect_context.tokens.max is -1, wants a whole number from 0 up, near None
    20:15 [false] expect_context.snapshot is false, wants `true`, or no such line, near None
    21:43 [enable] expect_context.setting.value is enable, wants `enabled`, `disabled`, near Some("enabled")
    21:51 [nod] `setting` has no key nod, near Some("node"), elsewhere None
    22:13 [[]] expect_context.any_of is [], wants a list of 1 or more, near None
    23:11 [mode] an expectation inside another (`expect_context.not`) has no key mode, near Some("model"), elsewhere None
    25:31 [[] BadPath { at: 4 }
    25:46 [{2,1}] pattern: invalid repetition count range, the start must be <= the end at 2 `{2,1}`
    26:19 [cheap] expectations.max_cost_usd is a text, wants a number
    27:5 [gate: false] an expectation on the answer (`expectations`) lacks field_matches|absent|contains|max_risk|decomposes|max_tokens|references_files|exact|schema|calls_tool|never_calls_tool|trajectory|refuses|max_latency_ms|max_cost_usd|judge|rubric|survives|todo|command|python|path|ends|not|any_of|all_of
    29:5 [gates] an expectation on the answer (`expectations`) has no key gates, near Some("gate"), elsewhere None
    32:1 [rule] a scenario has runs and rule
    32:14 [0] rule.runs is 0, wants a whole number from 1 to 1000, near None
    32:17 [sequential] `rule` has runs and sequential
    32:43 [0.5] rule.sequential.p1 is 0.5, wants a rate above `p0`, which is 0.9, near None
    33:11 [{when: {has: '('}}] a scripted answer (`answers`) lacks reply|tool_calls|exit|killed_by
    33:25 [(] pattern: unclosed group at 1 `(`
    34:11 [2026-02-29] reviewed is 2026-02-29, wants a day of the calendar, as year-month-day: `2026-11-21`, near None
    35:7 [urgent] tags is a text, wants a list of texts
    36:1 [objective] a scenario has no key objective, near None, elsewhere Some("context")
    "#);
}

#[test]
fn aliases_of_keys_are_keys() {
    let text = "name: a\ntask: t\ninput: {objective: x}\nexpected: [{contains: x}]\n";
    assert_eq!(faults(text), "");
    let (suite, _) = read_suite("a.yaml", text);
    let case = &suite.unwrap().cases[0];
    assert_eq!(
        case.situation
            .objective
            .as_ref()
            .map(|Spanned { value, .. }| value.as_str()),
        Some("x")
    );
    assert_eq!(case.expectations.len(), 1);
    insta::assert_snapshot!(faults("name: a\ntask: t\ninput: {objective: x}\ncontext: {objective: x}\nexpected: [{contains: x}]\n"), @r#"4:1 [context] RepeatedKey { key: "context", first: Span { start: 16, end: 21 } }"#);
}

#[test]
fn trials_are_those_of_the_case_then_those_of_the_project() {
    use ctxc::internals::scenario::{ScenarioReadOptions, model::TrialRule, read_suite_with};
    let rule = |more: &str| {
        let text = format!(
            "name: a\ntask: t\ncontext: {{objective: x}}\nexpected: [{{contains: x}}]\n{more}"
        );
        let options = ScenarioReadOptions {
            rule: TrialRule {
                runs: 9,
                pass: 8,
                ..TrialRule::default()
            },
            tables: None,
        };
        let (suite, found) = read_suite_with("a.yaml", &text, &options);
        let rule = suite.unwrap().cases.remove(0).rule;
        (rule.runs, rule.pass, told(&text, &found))
    };
    let sound = |runs, pass| (runs, pass, String::new());
    assert_eq!(rule(""), sound(9, 8));
    assert_eq!(rule("runs: 2\n"), sound(2, 2));
    assert_eq!(rule("pass_threshold: 3\n"), sound(9, 3));
    assert_eq!(rule("rule: {runs: 20}\n"), sound(20, 8));
    assert_eq!(
        rule("pass_threshold: 10\n").2,
        "5:17 [10] PassAboveRuns { runs: 9, pass: 10 }"
    );
    assert_eq!(
        rule("rule: {confirm: {runs: 3, pass: 4}}\n").2,
        "5:33 [4] PassAboveRuns { runs: 3, pass: 4 }"
    );
}

#[test]
fn a_suite_gives_its_cases_what_they_leave_out() {
    let text = "\
id: refunds
version: 1.10
defaults:
  task: triage
  runs: 5
  tags: [money]
  context: {objective: sort it, constraints: [be brief]}
fixtures: {memory: {a: one}, tools: {lookup: {found: true}}}
cases:
  - id: 1
    context: {inputs: {ticket: late}}
    expected: [{contains: late}]
  - {id: two, role: planner, rule: {strict: true}, tags: [], context: {objective: own, memory: []}, expect_context: [{nothing_cut: true}]}
";
    let (suite, found) = read_suite("scenarios/refunds.yaml", text);
    assert_eq!(told(text, &found), "");
    let suite = suite.unwrap();
    assert_eq!(
        (
            suite.id.value.as_str(),
            suite.version.unwrap().value.as_str()
        ),
        ("refunds", "1.10")
    );
    assert_eq!(suite.tools["lookup"], serde_json::json!({"found": true}));
    let [one, two] = &suite.cases[..] else {
        panic!("two cases")
    };
    assert_eq!(
        (one.name.value.as_str(), one.name.span.slice(text)),
        ("refunds/1", "1")
    );
    assert_eq!(
        (&one.subject.value, one.rule.runs, one.tags.len()),
        (&CaseSubject::Task("triage".into()), 5, 1)
    );
    assert_eq!(
        (
            one.situation.constraints.len(),
            one.situation.matches.len(),
            one.situation.inputs.len()
        ),
        (1, 1, 1)
    );
    assert_eq!(
        (&two.subject.value, two.rule.runs, two.rule.strict),
        (&CaseSubject::Role("planner".into()), 3, true)
    );
    assert_eq!((two.tags.len(), two.situation.matches.len()), (0, 0));
    assert_eq!(two.situation.objective.as_ref().unwrap().value, "own");
}

#[test]
fn faults_of_a_suite_are_reported_once_and_where_they_stand() {
    let text = "\
task: triage
defaults: {runs: 2, pass_threshold: 3, context: {objectiv: x}, id: q}
cases:
  - {id: a, expected: [{contains: x}]}
  - {id: a, task: t, role: r}
  - {task: t, context: {objective: x}, expected: [{contains: x}]}
";
    insta::assert_snapshot!(faults(text), @r#"
    1:1 [task] a suite has no key task, near None, elsewhere Some("defaults")
    1:1 [task: triage] a suite lacks id
    2:37 [3] PassAboveRuns { runs: 2, pass: 3 }
    2:50 [objectiv] `defaults.context` has no key objectiv, near Some("objective"), elsewhere None
    2:64 [id] `defaults` has no key id, near None, elsewhere None
    4:5 [{id: a, expected: [{contains: x}]}] a case lacks role|task|request|compaction
    5:5 [{id: a, task: t, role: r}] a case lacks expect_context|expectations
    5:22 [role] a case (`cases`) has task and role
    6:5 [{task: t, context: {objective: x}, expected: [{contains: x}]}] a case lacks id
    "#);
}

#[test]
fn what_is_no_mapping_is_no_suite() {
    assert_eq!(faults(""), "1:1 []  is nothing, wants a mapping");
    assert_eq!(faults("- a\n"), "1:1 [- a]  is a list, wants a mapping");
    assert_eq!(faults("hello"), "1:1 [hello]  is a text, wants a mapping");
    let text = "name: a\ntask: t\n\tcontext: {}\n";
    assert_eq!(
        (read_suite("a.yaml", text).0.is_none(), faults(text)),
        (true, "3:1 [\t] yaml Tab".to_owned())
    );
    // Keys before a fault are checked; keys that may stand behind it are not reported as missing.
    insta::assert_snapshot!(faults("nmae: a\ntask: [t\ncontext: {}\n"), @r#"
    1:1 [nmae] a scenario has no key nmae, near Some("name"), elsewhere None
    2:7 [[] task is a list, wants a text
    3:8 [:] yaml Syntax("illegal placement of ':' indicator")
    "#);
}
