//! Labels of people, the agreement of the judge with them, and its trust in `eval` and `gate`.

use super::eval_record::{asked, completion, upstream, with_model};
use super::gate::{commit, git};
use super::project::Project;
use ctxc::internals::base::hash::Hasher;
use ctxc::internals::eval::judge::labels::is_held_out;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::fmt::Write as _;

const WORDS: &str = "it names a team";
/// The name of the criterion.
const CRITERION: &str = "rubric: it names a team";
/// The request of each scenario.
const REQUEST: &str = "## Task\n\nSort the ticket: my invoice\n\n## Input: objective\n\nsort";

/// A project with so many scripted answers, of which the judge passes every second.
pub(crate) fn answered(count: usize) -> Project {
    let project = with_model("http://127.0.0.1:9/v1");
    let mut suite =
        "id: teams\nname: teams\ndefaults: {role: clerk, rule: {runs: 1, pass: 1}}\ncases:\n"
            .to_owned();
    for number in 0..count {
        let score = number % 2;
        write!(
            suite,
            "  - id: t{number:03}\n    context: {{objective: sort, inputs: {{ticket: my invoice}}}}\n    expectations: [{{rubric: {WORDS}}}]\n    \
             answers:\n      - when: {{node: judge}}\n        reply: {{scores: [{{criterion: criterion, score: {score}, quote: '', reason: so}}]}}\n      \
             - reply: 'answer {number}'\n"
        )
        .unwrap();
    }
    project.write_file("scenarios/teams.yaml", suite);
    asked(&project, &["new", "judge", "--model", "small"]).exits_with(0);
    project
}

fn hash(number: usize) -> String {
    let mut hasher = Hasher::new();
    hasher
        .add_field(REQUEST)
        .add_field(format!("answer {number}"));
    hasher.finish().to_string()
}

/// Labels of one person for the first answers; `differs` chooses those on which the person and the
/// judge disagree.
pub(crate) fn labels(count: usize, differs: impl Fn(usize) -> bool) -> String {
    let line = |number: usize| {
        let score = (number + usize::from(differs(number))) % 2;
        let label = json!({
            "schema": "ctxc/label/1", "criterion": CRITERION, "answer": hash(number), "case": format!("t{number:03}"),
            "score": score, "max": 1, "by": "ann@example.org", "at": format!("2024-11-28T08:{:02}:{:02}Z", number / 60, number % 60),
        });
        format!("{label}\n")
    };
    (0..count).map(line).collect()
}

/// Adds verdicts on changed questions that equal those on the plain ones.
pub(crate) fn add_stable_verdicts(project: &Project) {
    let scores = project.read_file("labels/judge.jsonl");
    let mut all = scores.clone();
    for line in scores.lines() {
        for form in ["second", "third", "filler", "layout"] {
            let mut row: Value = serde_json::from_str(line).unwrap();
            row["form"] = form.into();
            writeln!(all, "{row}").unwrap();
        }
    }
    project.write_file("labels/judge.jsonl", all);
}

fn report(project: &Project) -> Value {
    let report = project
        .run(&["label", "report", "--json"])
        .exits_with(0)
        .json();
    report["criteria"][0].clone()
}

#[test]
fn verdicts_are_asked_for_one_at_a_time_and_the_next_call_goes_on() {
    let project = answered(3);
    let first = project
        .run_with_input(&["label", "--by", "ann@example.org"], b"y\nmaybe\nn\nq\n")
        .exits_with(0);
    first
        .stdout_contains("1 of 3: rubric: it names a team\n--- request\n")
        .stdout_contains("--- answer\nanswer ")
        .output_lacks("it holds")
        .stderr_contains(
            "added 2 labels to labels/ann@example.org.jsonl; 1 answer without a label",
        );
    project
        .run_with_input(&["label", "--by", "ann@example.org"], b"s\n")
        .exits_with(0)
        .stdout_contains("1 of 1: rubric: it names a team")
        .stderr_contains("added nothing; 1 answer without a label");
    let unknown = ["label", "--criterion", "zzz", "--by", "ann@example.org"];
    project.run(&unknown).exits_with(2).stderr_contains(
        "no criterion is named \"zzz\", expected a part of `rubric: it names a team`",
    );
    project
        .run(&["label", "qqqqqqqq"])
        .exits_with(2)
        .stderr_contains(
            "the project has 6, such as answer, billing, teams, teams/t000, teams/t001",
        );
    let kept = project.read_file("labels/ann@example.org.jsonl");
    let scores: Vec<Value> = kept
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["score"].clone())
        .collect();
    assert_eq!(scores, [json!(1), json!(0)]);
    project
        .run_with_input(&["label", "--by", "bob"], b"y\ny\ny\n")
        .exits_with(0)
        .stderr_contains("added 3 labels to labels/bob.jsonl; none is open");
    project
        .run(&["label", "--by", "judge"])
        .exits_with(2)
        .stderr_contains("expected that of a person");
    project.write_file("labels/bob.jsonl", "{\"schema\": \"ctxc/label/1\"}\n");
    project
        .run(&["label", "report"])
        .exits_with(3)
        .stderr_contains("labels/bob.jsonl:1: missing field `criterion`");
}

#[test]
fn a_page_asks_the_same_questions_without_scores() {
    let project = answered(2);
    project
        .run(&["label", "--html", "labels.html"])
        .exits_with(0)
        .stderr_contains("wrote 2 questions to labels.html");
    let page = project.read_file("labels.html");
    assert_eq!(page.matches("<fieldset").count(), 2);
    assert!(page.contains("answer 1") && page.contains(&hash(1)) && !page.contains("so</"));
}

#[test]
fn a_judge_is_trusted_by_held_out_labels_that_agree() {
    let project = answered(100);
    assert_eq!(
        report(&project)["reason"],
        "no labels: `ctxc label` asks for them"
    );
    project.write_file("labels/ann.jsonl", labels(20, |_| false));
    let few = report(&project);
    assert_eq!(few["trusted"], false);
    assert!(
        few["reason"]
            .as_str()
            .unwrap()
            .starts_with("too few labels: about "),
        "{few}"
    );
    let held_out = (0..100)
        .filter(|number| is_held_out(CRITERION, &hash(*number)))
        .count();
    assert!((60..90).contains(&held_out));
    project.write_file("labels/ann.jsonl", labels(100, |_| false));
    let unstable = report(&project);
    assert!(
        unstable["reason"]
            .as_str()
            .unwrap()
            .contains("the stability of the judge's verdicts is not measured"),
        "{unstable}"
    );
    add_stable_verdicts(&project);
    let trusted = report(&project);
    assert_eq!(
        (&trusted["trusted"], &trusted["reason"]),
        (&json!(true), &Value::Null),
        "{trusted}"
    );
    assert_eq!(trusted["held_out"], held_out);
    // Decisions are made at 30, 40, … labels, and the first of them trusts it.
    assert_eq!(trusted["agreement"]["ratings"], held_out / 10 * 10);
    assert_eq!(trusted["agreement"]["looks"], 1);
    assert_eq!(trusted["agreement"]["kappa"]["value"], 1.0);
    assert_eq!(trusted["agreement"]["corrected_pass_rate"], 0.5);
    // Its scores decide now: every second answer fails.
    let card = project.run(&["eval", "--json"]).exits_with(1).json();
    assert_eq!(card["summary"]["passed"], 50);
    assert_eq!(card["summary"]["failed"], 50);
    project
        .run(&["label", "report"])
        .exits_with(0)
        .stdout_contains("TRUSTED  rubric: it names a team, 1 or more of 1");
    // So is one whose prompt differs for some answers alone.
    let prompt = project.read_file("templates/judge-answer.xml");
    let condition = "{% if answer != \"-\" %}Give 1.{% endif %}";
    project.write_file(
        "templates/judge-answer.xml",
        prompt
            .replace("</description>", &format!("{condition}</description>"))
            .replace("<description>", "<description syntax=\"jinja\">"),
    );
    project.run(&["check"]).exits_with(0);
    project
        .run(&["eval"])
        .exits_with(7)
        .stdout_contains("which only informs");
    project.write_file("templates/judge-answer.xml", prompt);
    // Another prompt of the judge is another judge.
    let prompt = project.read_file("templates/judge-answer.xml");
    project.write_file(
        "templates/judge-answer.xml",
        prompt.replace("expert evaluator", "strict evaluator"),
    );
    project
        .run(&["eval"])
        .exits_with(7)
        .stdout_contains("which only informs");
    let other = report(&project);
    assert_eq!(
        (&other["trusted"], &other["agreement"]["prompt_versions"]),
        (&json!(false), &json!(2))
    );
}

#[test]
fn a_judge_that_disagrees_is_refused_with_the_reasons() {
    let project = answered(100);
    project.write_file("labels/ann.jsonl", labels(100, |number| number % 3 == 0));
    report(&project);
    add_stable_verdicts(&project);
    let refused = report(&project);
    let reason = refused["reason"].as_str().unwrap();
    assert!(reason.starts_with("not trusted: κ is 0."), "{reason}");
    assert!(
        reason.contains("it is too strict") && reason.contains("it is too lenient"),
        "{reason}"
    );
    // Those that are held out are not shown: a prompt written by them would be tested by itself.
    let shown = refused["disagreements"].as_array().unwrap();
    assert!(!shown.is_empty());
    assert!(
        shown
            .iter()
            .all(|one| !is_held_out(CRITERION, one["answer"].as_str().unwrap()))
    );
    project.run(&["eval"]).exits_with(7);
}

#[test]
fn two_people_are_compared_and_the_earlier_label_counts() {
    let project = answered(10);
    project.write_file("labels/ann.jsonl", labels(10, |_| false));
    let later = labels(10, |number| number < 2)
        .replace("ann@example.org", "bob@example.org")
        .replace("2024-11-28", "2024-11-29");
    project.write_file("labels/bob.jsonl", later);
    let found = report(&project);
    assert_eq!(
        (&found["labels"], &found["people"]["answers"]),
        (&json!(10), &json!(10))
    );
    assert_eq!(found["people"]["kappa"]["value"], 0.6);
    assert_eq!(found["agreement"]["kappa"]["value"], 1.0);
}

#[test]
fn labels_of_a_change_count_from_the_next_one_on() {
    let project = answered(100);
    std::fs::remove_file(project.path("scenarios/billing.yaml")).unwrap();
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "labels"]);
    project.write_file("labels/ann.jsonl", labels(100, |_| false));
    report(&project);
    add_stable_verdicts(&project);
    commit(&project);
    assert_eq!(report(&project)["trusted"], true);
    // Results of `eval`, where the own labels count, are refused.
    project.run(&["eval", "--out", "card.json"]).exits_with(1);
    project
        .run(&["gate", "--base", "main", "--candidate", "card.json"])
        .exits_with(2)
        .stderr_contains("card.json counts scores of the judge for `rubric: it names a team`");
    std::fs::remove_file(project.path("card.json")).unwrap();
    // Half of the scenarios fail by the judge; in this change it informs.
    project
        .run(&["gate", "--base", "main"])
        .exits_with(0)
        .stdout_contains("100 of 100 scenarios only inform, such as `teams/t000`: it does not hold: so, which only informs")
        .stdout_contains("its labels count from the change after this one on");
    // So does it if the opposite is expected.
    let suite = project.read_file("scenarios/teams.yaml");
    let opposite = suite.replace(
        "{rubric: it names a team}",
        "{not: {rubric: it names a team}}",
    );
    assert!(opposite != suite);
    project.write_file("scenarios/teams.yaml", opposite);
    project.run(&["eval"]).exits_with(1);
    project
        .run(&["gate", "--base", "main"])
        .stdout_contains("100 of 100 scenarios only inform, such as `teams/t000`");
    project.write_file("scenarios/teams.yaml", suite);
    git(&project, &["switch", "-q", "main"]);
    git(&project, &["merge", "-q", "labels"]);
    git(&project, &["switch", "-q", "-c", "next"]);
    project.write_file(
        "templates/other.xml",
        "<task type=\"atomic\" name=\"other\">\n  <description>x</description>\n</task>\n",
    );
    commit(&project);
    project
        .run(&["gate", "--base", "main"])
        .exits_with(4)
        .stdout_contains("found it does not hold: so");
    // A change of the judge makes its scores inform, and has to be accepted.
    let prompt = project.read_file("templates/judge-answer.xml");
    project.write_file(
        "templates/judge-answer.xml",
        prompt.replace("expert evaluator", "kind evaluator"),
    );
    report(&project);
    commit(&project);
    project
        .run(&["gate", "--base", "main"])
        .exits_with(4)
        .stdout_contains("judge of `rubric: it names a team`: score of 1 or more");
}

#[test]
fn a_change_that_weakens_the_evidence_for_the_judge_is_listed() {
    let project = answered(12);
    std::fs::remove_file(project.path("scenarios/billing.yaml")).unwrap();
    let (labels, scores) = ("labels/ann.jsonl", "labels/judge.jsonl");
    project.write_file(labels, self::labels(10, |_| false));
    report(&project);
    let prompt = project.read_file("templates/judge-answer.xml");
    let other = prompt.replace("expert evaluator", "strict evaluator");
    project.write_file("templates/judge-answer.xml", other);
    report(&project);
    project.write_file("templates/judge-answer.xml", prompt);
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    let gate = |what: &str, path: &str, text: String| {
        let before = project.read_file(path);
        assert!(text != before, "{what}");
        project.write_file(path, text);
        commit(&project);
        let run = project.run(&["gate", "--base", "main"]);
        git(&project, &["reset", "-q", "--hard", "main"]);
        run
    };
    let known = project.read_file(labels);
    let lines: Vec<&str> = known.lines().collect();
    gate("more labels", labels, self::labels(12, |_| false))
        .exits_with(0)
        .stdout_contains("nothing is loosened");
    let from_one = "judge of `rubric: it names a team`: labels from 0 to 1: ";
    gate("fewer labels", labels, lines[1..].join("\n") + "\n")
        .exits_with(4)
        .stdout_contains(from_one);
    let changed = known.replacen("\"score\":0", "\"score\":1", 1);
    gate("another score", labels, changed)
        .exits_with(4)
        .stdout_contains(from_one);
    // Of several labels the earliest counts, so an earlier one takes the place of another.
    let earlier = lines[0]
        .replace("ann@example.org", "bob@example.org")
        .replace("2024-11-28", "2024-11-27");
    gate("an earlier label", labels, format!("{known}{earlier}\n"))
        .exits_with(4)
        .stdout_contains(from_one);
    let known = project.read_file(scores);
    let first: Value = serde_json::from_str(known.lines().next().unwrap()).unwrap();
    let version = first["judge"].as_str().unwrap();
    let of_others = |line: &&str| !line.contains(version);
    let others: Vec<&str> = known.lines().filter(of_others).collect();
    assert!(!others.is_empty());
    let of_version = format!(
        "judge of `rubric: it names a team`: scores of the judge {}: ",
        &version[..19]
    );
    gate("fewer versions", scores, others.join("\n") + "\n")
        .exits_with(4)
        .stdout_contains(&format!("{of_version}it is gone"));
    let changed = known.replacen("\"score\":0", "\"score\":1", 1);
    gate("another score of the judge", scores, changed)
        .exits_with(4)
        .stdout_contains(&of_version);
}

#[test]
fn a_change_of_a_rubric_is_listed_by_the_criteria_in_use() {
    let project = answered(1);
    let (suite, rubric) = ("scenarios/teams.yaml", "scenarios/rubrics/answer.yaml");
    let judge = "judge: {rubric: {file: rubrics/answer.yaml}, criteria: [correct], min_score: 4}";
    let expectation = format!("rubric: {WORDS}");
    project.write_file(suite, project.read_file(suite).replace(&expectation, judge));
    project.write_file(
        rubric,
        "criteria:\n  - {id: correct, question: right?, weight: 2}\n  - {id: whole, question: all?}\n",
    );
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    let listed = "expectation of `teams/t000`: answer: a judge gives 4 or more for “correct”";
    for (from, to, is_listed) in [
        ("weight: 2", "weight: 3", true),
        ("weight: 2", "weight: 1", true),
        ("right?", "nearly right?", true),
        ("all?", "most?", false),
    ] {
        let text = project.read_file(rubric);
        project.write_file(rubric, text.replace(from, to));
        commit(&project);
        let run = project.run(&["gate", "--base", "main"]);
        assert_eq!(
            run.stdout.contains(listed),
            is_listed,
            "{to}: {}",
            run.stdout
        );
        git(&project, &["reset", "-q", "--hard", "main"]);
    }
}

#[test]
fn a_stricter_minimum_score_is_not_listed() {
    let project = answered(100);
    let suite = "scenarios/teams.yaml";
    let judge =
        |min: u64| format!("judge: {{rubric: {{text: 'Does it name a team?'}}, min_score: {min}}}");
    let text = project.read_file(suite);
    let text = text
        .replace(&format!("rubric: {WORDS}"), &judge(3))
        .replace("criterion: criterion", "criterion: answer")
        .replace("score: 1", "score: 5");
    project.write_file(suite, text);
    report(&project);
    let name = report(&project)["criterion"].as_str().unwrap().to_owned();
    let of_scale = |line: &str| {
        let mut label: Value = serde_json::from_str(line).unwrap();
        label["criterion"] = name.clone().into();
        label["max"] = 5.into();
        label["score"] = (label["score"].as_u64().unwrap() * 5).into();
        format!("{label}\n")
    };
    let lines = labels(100, |_| false);
    project.write_file(
        "labels/ann.jsonl",
        lines.lines().map(of_scale).collect::<String>(),
    );
    report(&project);
    add_stable_verdicts(&project);
    assert_eq!(report(&project)["trusted"], true);
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    for (min, listed) in [(4, false), (2, true)] {
        let text = project.read_file(suite);
        project.write_file(
            suite,
            text.replace("min_score: 3", &format!("min_score: {min}")),
        );
        commit(&project);
        let run = project.run(&["gate", "--base", "main"]);
        let is_listed =
            run.stdout.contains("judge of `") && run.stdout.contains("score of 3 or more");
        assert_eq!(is_listed, listed, "{}", run.stdout);
        git(&project, &["reset", "-q", "--hard", "main"]);
    }
}

#[test]
fn each_form_of_the_question_is_held_to_the_limit() {
    let project = answered(100);
    project.write_file("labels/ann.jsonl", labels(100, |_| false));
    report(&project);
    add_stable_verdicts(&project);
    // 7 of 100 verdicts in one form are 2 % of all.
    let scores = project.read_file("labels/judge.jsonl");
    let mut left = 7;
    let flip = |line: &str| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        if left > 0 && row["form"] == "layout" {
            left -= 1;
            row["score"] = (1 - row["score"].as_u64().unwrap()).into();
        }
        format!("{row}\n")
    };
    let changed: String = scores.lines().map(flip).collect();
    project.write_file("labels/judge.jsonl", &changed);
    let unstable = report(&project);
    assert_eq!(
        unstable["reason"],
        "not trusted: 7 of 100 verdicts change with the form of the question, expected at most 5 % in each"
    );
    let layout = json!({"form": "layout", "verdicts": 100, "changed": 7});
    let forms = unstable["agreement"]["stability"].as_array().unwrap();
    assert!(forms.contains(&layout), "{forms:?}");
    // A form that was not asked for leaves it open.
    let lines = changed.split_inclusive('\n');
    let others: String = lines.filter(|line| !line.contains("\"layout\"")).collect();
    project.write_file("labels/judge.jsonl", others);
    let unknown = report(&project)["reason"].as_str().unwrap().to_owned();
    assert!(unknown.contains("which takes 20 in each form"), "{unknown}");
}

/// Deleting the verdicts in another order before the first commit does not make it unnecessary.
#[test]
fn criteria_that_are_judged_together_need_verdicts_in_another_order() {
    let project = answered(100);
    let rubric =
        "judge: {rubric: {text: 'a: Does it name a team?'}, criteria: [a, b], min_score: 1}";
    let suite = project.read_file("scenarios/teams.yaml");
    let both = "{criterion: a, score: 1, quote: '', reason: so}, {criterion: b, score: 1, quote: '', reason: so}";
    let mut suite = suite.replace(&format!("rubric: {WORDS}"), rubric);
    for score in [0, 1] {
        let one = format!("{{criterion: criterion, score: {score}, quote: '', reason: so}}");
        suite = suite.replace(
            &one,
            &both.replacen("score: 1", &format!("score: {score}"), 1),
        );
    }
    let suite = suite.replace(
        "{rubric: {text: 'a: Does it name a team?'}, criteria: [a, b], ",
        "{criteria: [a, b], ",
    );
    project.write_file("scenarios/teams.yaml", suite);
    let first = report(&project);
    let name = first["criterion"].as_str().unwrap().to_owned();
    let of_scale = labels(100, |_| false)
        .replace(CRITERION, &name)
        .replace("\"max\":1", "\"max\":5");
    project.write_file("labels/ann.jsonl", of_scale);
    report(&project);
    add_stable_verdicts(&project);
    let reason = report(&project)["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("which takes 20 in each form"), "{reason}");
    let scores = project.read_file("labels/judge.jsonl");
    let in_order = scores.lines().filter(|line| line.contains("\"plain\""));
    let in_order: String = in_order
        .map(|line| line.replace("\"plain\"", "\"order\"") + "\n")
        .collect();
    project.write_file("labels/judge.jsonl", scores.clone() + &in_order);
    assert_eq!(report(&project)["trusted"], true);
}

#[test]
fn a_person_has_a_name_of_one_line() {
    let project = answered(1);
    project
        .run(&["label", "--by", "ann\nbob"])
        .exits_with(2)
        .stderr_contains("found the name \"ann\\nbob\", expected that of a person in one line");
    let label = labels(1, |_| false).replace("ann@", "ann\\n@");
    project.write_file("labels/ann.jsonl", label);
    project
        .run(&["label", "report"])
        .exits_with(3)
        .stderr_contains("labels/ann.jsonl:1: found `by` \"ann\\n@example.org\", expected the name of a person in one line");
}

#[test]
fn labels_that_cannot_be_read_leave_the_gate_undecided() {
    let project = answered(2);
    std::fs::remove_file(project.path("scenarios/billing.yaml")).unwrap();
    project.write_file("labels/ann.jsonl", "{\"schema\": \"ctxc/label/1\"}\n");
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    let template =
        "<task type=\"atomic\" name=\"other\">\n  <description>x</description>\n</task>\n";
    project.write_file("templates/other.xml", template);
    commit(&project);
    project
        .run(&["gate", "--base", "main"])
        .exits_with(7)
        .stdout_contains("the labels of the judge cannot be read, so it is trusted on nothing: labels/ann.jsonl:1: missing field `criterion`");
    // A change that mends them can pass; they count from the next one on.
    project.write_file("labels/ann.jsonl", labels(2, |_| false));
    commit(&project);
    project
        .run(&["gate", "--base", "main"])
        .exits_with(0)
        .stdout_contains("the labels of the judge cannot be read at main, so its scores count from the next change on");
}

#[test]
fn answers_without_a_score_are_few() {
    let project = answered(100);
    let gone = labels(10, |_| false).replace("\"answer\":\"b3:", "\"answer\":\"b3:0");
    project.write_file("labels/ann.jsonl", labels(100, |_| false) + &gone);
    report(&project);
    add_stable_verdicts(&project);
    let reason = report(&project)["reason"].as_str().unwrap().to_owned();
    assert!(
        reason.starts_with("not trusted: ")
            && reason.contains("labelled answers have no score, expected at most 5 %"),
        "{reason}"
    );
}

#[test]
fn a_label_has_a_time_that_is_past() {
    let project = answered(1);
    for at in [
        "",
        "soon",
        "2024-02-30T08:00:00Z",
        "2024-11-28 08:00",
        "2999-01-01T00:00:00Z",
    ] {
        let label = labels(1, |_| false).replace("2024-11-28T08:00:00Z", at);
        project.write_file("labels/ann.jsonl", label);
        project
            .run(&["label", "report"])
            .exits_with(3)
            .stderr_contains(&format!(
                "labels/ann.jsonl:1: found `at` {at:?}, expected a time that is past"
            ));
    }
}

#[test]
fn a_minimum_that_every_score_meets_is_not_trusted() {
    let project = answered(100);
    let suite = project.read_file("scenarios/teams.yaml");
    let judge = "judge: {criteria: [team], min_score: 0}";
    let suite = suite
        .replace(&format!("rubric: {WORDS}"), judge)
        .replace("criterion: criterion", "criterion: team");
    project.write_file("scenarios/teams.yaml", suite);
    let scale = labels(100, |_| false)
        .replace(CRITERION, "words#team")
        .replace("\"max\":1", "\"max\":5");
    project.write_file("labels/ann.jsonl", scale);
    report(&project);
    let reason = report(&project)["reason"].as_str().unwrap().to_owned();
    assert!(
        reason.contains("expected at least 15 of each verdict"),
        "{reason}"
    );
}

/// A signal that ends the program leaves the terminal as it was.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_restores_the_terminal() {
    use rustix::process::{Pid, Signal, kill_process};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{LocalModes, tcgetattr};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let project = answered(1);
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let terminal = std::fs::File::options()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap())
        .unwrap();
    let is_usual = || {
        let modes = tcgetattr(&terminal).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    };
    assert!(is_usual());
    let mut child = Command::new(env!("CARGO_BIN_EXE_ctxc"))
        .args(["label", "--by", "ann@example.org"])
        .current_dir(project.path(""))
        .stdin(terminal.try_clone().unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while is_usual() {
        assert!(begin.elapsed() < Duration::from_secs(30), "no question");
        std::thread::sleep(Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(is_usual());
}

#[test]
fn the_judge_is_asked_in_other_forms_with_permission() {
    let form = completion(
        &json!({"scores": [{"criterion": "criterion", "score": 1, "quote": "", "reason": "so"}]})
            .to_string(),
    );
    let server = upstream(vec![form; 10]);
    let project = answered(2);
    let text = project
        .read_file("ctxc.toml")
        .replace("http://127.0.0.1:9/v1", &server.address);
    project.write_file("ctxc.toml", text);
    project.write_file("labels/ann.jsonl", labels(2, |_| false));
    asked(&project, &["label", "report", "--record"])
        .exits_with(2)
        .stderr_contains("ctxc trust");
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &["label", "report", "--record"])
        .exits_with(0)
        .stderr_contains("asking the judge 8 questions")
        .stderr_contains("added 10 scores of the judge to labels/judge.jsonl");
    let asked_for: Vec<String> = (0..8).map(|_| server.asked.recv().unwrap()).collect();
    assert_eq!(
        asked_for
            .iter()
            .filter(|request| request.contains("I hope this helps"))
            .count(),
        2
    );
    assert_eq!(
        asked_for
            .iter()
            .filter(|request| request.contains("- answer"))
            .count(),
        2
    );
    assert!(
        project
            .files()
            .iter()
            .all(|path| !path.contains("recordings/"))
    );
    asked(&project, &["label", "report", "--record"])
        .exits_with(0)
        .output_lacks("asking the judge");
}
