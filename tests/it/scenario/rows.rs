//! Tables of cases.

use super::fault_messages::told;
use ctxc::internals::scenario::model::{FrozenValue, Suite};
use ctxc::internals::scenario::{ScenarioReadOptions, csv, read_suite_with};
use pretty_assertions::assert_eq;

const SUITE: &str =
    "id: s\ncases_from: rows.csv\ndefaults: {task: triage, context: {objective: sort}}\n";

fn read(suite: &str, table: &str) -> (Suite, String) {
    let tables = |_: &str| Ok(table.to_owned());
    let options = ScenarioReadOptions {
        tables: Some(&tables),
        ..ScenarioReadOptions::default()
    };
    let (found, faults) = read_suite_with("scenarios/s.yaml", suite, &options);
    (found.unwrap(), told(suite, &faults))
}

#[test]
fn a_row_is_a_case_with_columns_as_inputs() {
    let table = "id,ticket,contains,runs,tags,inputs.tags\r\n1,\"late,\n\"\"very\"\"\",refund,5,a b,x\r\n\r\n2,wrong,,,,\r\n";
    let (suite, faults) = read(SUITE, table);
    assert_eq!(
        faults,
        "2:13 rows.csv:5 [rows.csv] a case lacks expect_context|expectations"
    );
    let [one, two] = &suite.cases[..] else {
        panic!("two cases")
    };
    assert_eq!(
        (
            one.name.value.as_str(),
            one.name.span.slice(SUITE),
            one.rule.runs,
            one.tags.len()
        ),
        ("s/1", "rows.csv", 5, 2)
    );
    assert_eq!(
        one.situation.inputs["ticket"].value,
        FrozenValue::Value("late,\n\"very\"".into())
    );
    assert_eq!(
        one.situation.inputs["tags"].value,
        FrozenValue::Value("x".into())
    );
    assert_eq!(
        (
            two.name.value.as_str(),
            two.situation.inputs.len(),
            two.expectations.len()
        ),
        ("s/2", 1, 0)
    );
}

#[test]
fn a_line_of_json_is_a_case_with_every_key() {
    let suite = SUITE.replace("rows.csv", "rows.jsonl");
    let table = "{\"id\": 1, \"input\": {\"inputs\": {\"a\": \"@a.txt\"}}, \"expected\": [{\"contains\": \"x\"}]}\n\n{\"id\": 2, \"expcted\": []}\n{\"id\": \n";
    let (found, faults) = read(&suite, table);
    assert_eq!(
        found.cases[0].situation.inputs["a"].value,
        FrozenValue::File("a.txt".into())
    );
    insta::assert_snapshot!(faults, @r#"
    2:13 rows.jsonl:3 [rows.jsonl] a case has no key expcted, near None, elsewhere None
    2:13 rows.jsonl:3 [rows.jsonl] a case lacks expect_context|expectations
    2:13 rows.jsonl:4 [rows.jsonl] yaml Syntax("unclosed bracket '{'")
    2:13 rows.jsonl:4 [rows.jsonl]  is nothing, wants a mapping
    "#);
}

#[test]
fn what_is_no_table_is_reported_at_cases_from() {
    let faults = |table: &str| read(SUITE, table).1;
    assert_eq!(
        faults(""),
        "2:13 [rows.csv] table rows.csv: it has no first line with the names of its columns"
    );
    assert_eq!(
        faults("id,id\n"),
        "2:13 [rows.csv] table rows.csv: two columns are called `id`"
    );
    assert_eq!(
        faults("id,a\n1\n"),
        "2:13 [rows.csv] table rows.csv: line 2 has 1 field, but the first line has 2 columns"
    );
    let two = "2:13 [rows.csv] table rows.csv: line 2 has 1 field, but the first line has 2 columns\n2:13 [rows.csv] table rows.csv: line 4 has 3 fields, but the first line has 2 columns";
    assert_eq!(faults("id,a\n1\n\n3,b,c\n"), two);
    assert_eq!(
        faults("id,a\n"),
        "2:13 [rows.csv] table rows.csv: it has no row"
    );
    let many = faults(&format!("id\n{}", "1\n".repeat(20_001)));
    assert_eq!(
        many,
        "2:13 [rows.csv] table rows.csv: it has 20001 rows; the limit is 20000"
    );
    assert_eq!(
        faults("id\n\"a\n"),
        "2:13 [rows.csv] table rows.csv: line 2: a quote is never closed"
    );
    let suite = SUITE.replace("rows.csv", "rows.txt");
    assert_eq!(
        read(&suite, "").1,
        "2:13 [rows.txt] table rows.txt: its name ends in neither `.csv` nor `.jsonl`"
    );
}

#[test]
fn records_are_read_as_rfc_4180_states() {
    let fields = |text: &str| {
        csv::parse_records(text).map(|records| {
            records
                .into_iter()
                .map(|record| record.fields)
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(
        fields("a,b\n1,\n"),
        Ok(vec![
            vec!["a".into(), "b".into()],
            vec!["1".into(), String::new()]
        ])
    );
    assert_eq!(
        fields("\"a\"\"b\",\"\r\n\",c"),
        Ok(vec![vec!["a\"b".into(), "\r\n".into(), "c".into()]])
    );
    assert_eq!(
        fields("a\r\n\r\nb"),
        Ok(vec![vec!["a".into()], vec!["b".into()]])
    );
    assert_eq!(fields(""), Ok(vec![]));
    assert_eq!(
        fields("a\n\"b\"c\n"),
        Err((2, "text follows a closing quote"))
    );
    assert_eq!(
        fields("a\nb\"c\n"),
        Err((
            2,
            "a quote stands inside a field that does not start with one"
        ))
    );
    let lines: Vec<u32> = csv::parse_records("a\n\"x\ny\"\nb\r\nc")
        .unwrap()
        .iter()
        .map(|record| record.line)
        .collect();
    assert_eq!(lines, [1, 2, 4, 5]);
}
