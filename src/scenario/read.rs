//! Converts a text to a [`Suite`] and reports all its faults in one pass. Never does I/O: the
//! caller supplies the text of a table of cases by its name.

use super::check_keys::Completeness;
use super::expect::{answer, context};
use super::keys::{
    CASE_TABLE, CONTEXT_TABLE, DEFAULTS_TABLE, FIXTURES_TABLE, SCENARIO_TABLE, SCRIPT_TABLE,
    SUITE_TABLE,
};
use super::lower::LowerCx;
use super::model::{
    ContextExpectation, HiddenInTable, ReplacedList, SUITE_SCHEMA, ScenarioCase, ScriptedAnswer,
    Suite, SuiteThresholds, TrialRule,
};
use super::scenario_fault::{KeyPath, ScenarioFault, ScenarioFaultKind, ScenarioFaultSink};

use super::table::{ScenarioTable, find_value};
use super::{case_tables, check_keys, lower, rubric, values};
use crate::base::hidden_text::{HiddenRun, gravest_run};
use crate::base::span::Spanned;
use crate::syntax::yaml::{self, YamlEntry, YamlNode, YamlValue};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Returns the text of a table of cases by its path beside the suite, or the reason why it cannot
/// be read.
pub type TableTextFn<'t> = dyn Fn(&str) -> Result<String, String> + 't;

/// Inputs of the reader besides the text.
#[derive(Clone, Default)]
pub struct ScenarioReadOptions<'o> {
    /// The default trial rule.
    pub rule: TrialRule,
    /// The reader of case tables; without it, `cases_from` gives no cases.
    pub tables: Option<&'o TableTextFn<'o>>,
}

/// Reads a scenario or a suite. The path gives a default name; no file is opened.
///
/// The suite contains everything that could be understood despite faults: a case without a receiver
/// and an invalid expectation are left out. It is `None` if the text is not a mapping. A runner
/// must not run cases of a suite with faults.
pub fn read_suite(path: &str, text: &str) -> (Option<Suite>, Vec<ScenarioFault>) {
    read_suite_with(path, text, &ScenarioReadOptions::default())
}

/// Like [`read_suite`], with tables of cases and the project's trial rule.
pub fn read_suite_with(
    path: &str,
    text: &str,
    options: &ScenarioReadOptions<'_>,
) -> (Option<Suite>, Vec<ScenarioFault>) {
    let (root, faults) = yaml::parse_tree(text);
    let end = faults
        .iter()
        .find(|fault| fault.kind.stops_reading())
        .map(|fault| fault.span.start);
    let mut sink = ScenarioFaultSink {
        text,
        faults: Vec::new(),
        row: None,
    };
    for fault in faults {
        sink.report(fault.span, ScenarioFaultKind::Yaml(fault.kind));
    }
    let suite = match (&root.value, end) {
        // A text that is invalid YAML from the start gets no further fault for its missing name.
        (YamlValue::Map(_), _) => Some(read_file(&mut sink, path, &root, options)),
        (_, Some(_)) => None,
        _ => {
            let place = KeyPath::TOP;
            check_keys::check_table(
                &mut sink,
                &place,
                &SCENARIO_TABLE,
                &root,
                Completeness::Partial,
            );
            None
        }
    };
    let mut faults = sink.faults;
    if let Some(end) = end {
        faults.retain(|fault| {
            !is_about_absence(&fault.kind)
                && (fault.span.start < end || matches!(fault.kind, ScenarioFaultKind::Yaml(_)))
        });
    }
    let key = |fault: &ScenarioFault| (fault.span, fault.row.clone());
    faults.sort_by_key(key);
    faults.dedup();
    (suite.filter(|_| end.is_none()), faults)
}

/// Reads a script: a mapping in YAML or JSON with the single key `answers`.
pub fn read_script(text: &str) -> (Vec<ScriptedAnswer>, Vec<ScenarioFault>) {
    let (root, faults) = yaml::parse_tree(text);
    let mut sink = ScenarioFaultSink {
        text,
        faults: Vec::new(),
        row: None,
    };
    for fault in faults {
        sink.report(fault.span, ScenarioFaultKind::Yaml(fault.kind));
    }
    check_keys::check_table(
        &mut sink,
        &KeyPath::TOP,
        &SCRIPT_TABLE,
        &root,
        Completeness::Complete,
    );
    let answers = lower::read_answers(&root)
        .into_iter()
        .map(|answer| answer.value)
        .collect();
    (answers, sink.faults)
}

/// Returns true if the missing text may follow the place where parsing stopped.
const fn is_about_absence(kind: &ScenarioFaultKind) -> bool {
    matches!(
        kind,
        ScenarioFaultKind::Missing { .. } | ScenarioFaultKind::UnreadableTable { .. }
    )
}

/// Returns true if a mapping is a suite: it has a key of suites alone, or the schema of a suite.
pub(super) fn is_suite(root: &YamlNode<'_>) -> bool {
    ["cases", "cases_from", "defaults", "fixtures"]
        .iter()
        .any(|key| root.get(key).is_some())
        || root.get("schema").and_then(YamlNode::text) == Some(SUITE_SCHEMA)
}

/// Returns a file's name without its folders and extension.
fn file_stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

fn read_file(
    sink: &mut ScenarioFaultSink<'_>,
    path: &str,
    root: &YamlNode<'_>,
    options: &ScenarioReadOptions<'_>,
) -> Suite {
    let text = sink.text;
    let cx = LowerCx {
        text,
        rule: &options.rule,
    };
    let named = |key: &str| root.get(key).and_then(|node| lower::read_label(cx, node));
    let fallback = || Spanned::new(file_stem(path).to_owned(), root.span.first_line(text));
    if rubric::is_rubric(root) && !is_suite(root) {
        rubric::check_rubric(sink, root);
        let id = Spanned::new(file_stem(path).to_owned(), root.span.first_line(text));
        return Suite::without_cases(id);
    }
    if is_suite(root) {
        check_keys::check_table(
            sink,
            &KeyPath::TOP,
            &SUITE_TABLE,
            root,
            Completeness::Complete,
        );
        let id = named("id").unwrap_or_else(fallback);
        return read_suite_file(sink, cx, root, id, options);
    }
    check_keys::check_table(
        sink,
        &KeyPath::TOP,
        &SCENARIO_TABLE,
        root,
        Completeness::Complete,
    );
    check_trials(sink, cx, &SCENARIO_TABLE, root);
    let name = named("name").unwrap_or_else(fallback);
    let cases: Vec<ScenarioCase> = lower::read_case(cx, &SCENARIO_TABLE, root, name.clone())
        .into_iter()
        .collect();
    for case in &cases {
        check_run_scope(sink, case);
        check_score(sink, root, case);
    }
    Suite {
        id: name,
        is_scenario: true,
        name: None,
        version: None,
        cases,
        cases_from: None,
        hidden_text: None,
        tools: BTreeMap::new(),
        thresholds: SuiteThresholds::default(),
    }
}

/// Returns the gravest hidden characters of a table.
fn find_hidden_text(text: &str) -> Option<Box<HiddenInTable>> {
    let run = gravest_run(text)?;
    let found = text.get(run.range.clone())?.to_owned();
    Some(Box::new(HiddenInTable {
        line: text.get(..run.range.start)?.matches('\n').count() + 1,
        run: HiddenRun {
            range: 0..found.len(),
            ..run
        },
        found,
    }))
}

fn read_suite_file(
    sink: &mut ScenarioFaultSink<'_>,
    cx: LowerCx<'_>,
    root: &YamlNode<'_>,
    id: Spanned<String>,
    options: &ScenarioReadOptions<'_>,
) -> Suite {
    let text = sink.text;
    let defaults = read_defaults(root);
    if let Some(own) = root.get("defaults") {
        check_trials(sink, cx, &DEFAULTS_TABLE, own);
    }
    let mut cases = Vec::new();
    for node in root
        .get("cases")
        .and_then(YamlNode::items)
        .unwrap_or_default()
    {
        cases.extend(read_suite_case(sink, cx, node, &defaults, &id.value));
    }
    let from = root.get("cases_from").and_then(values::read_text);
    let mut hidden_text = None;
    if let (Some(from), Some(tables)) = (&from, options.tables) {
        let parsed = tables(&from.value).and_then(|table| {
            hidden_text = find_hidden_text(&table);
            case_tables::read_table(&from.value, &table, from.span)
        });
        match parsed {
            Err(reason) => sink.report(
                from.span,
                ScenarioFaultKind::UnreadableTable {
                    path: from.value.clone(),
                    reason,
                },
            ),
            Ok(read) => {
                for reason in read.faults {
                    sink.report(
                        from.span,
                        ScenarioFaultKind::UnreadableTable {
                            path: from.value.clone(),
                            reason,
                        },
                    );
                }
                for parsed in read.rows {
                    sink.row = Some((parsed.row, from.span));
                    for fault in parsed.faults {
                        sink.report(fault.span, ScenarioFaultKind::Yaml(fault.kind));
                    }
                    check_keys::check_table(
                        sink,
                        &KeyPath::TOP,
                        &CASE_TABLE,
                        &parsed.node,
                        Completeness::Partial,
                    );
                    cases.extend(read_suite_case(
                        sink,
                        cx,
                        &parsed.node,
                        &defaults,
                        &id.value,
                    ));
                    sink.row = None;
                }
            }
        }
    }
    cases.shrink_to_fit();
    let thresholds = read_thresholds(sink, root, &mut cases);
    let named = |key: &str| {
        root.get(key)
            .and_then(|node| lower::read_label(LowerCx { text, ..cx }, node))
    };
    let tools = find_value(
        &FIXTURES_TABLE,
        root.get("fixtures").unwrap_or(root),
        "tools",
    )
    .and_then(YamlNode::entries)
    .unwrap_or_default();
    Suite {
        id,
        is_scenario: false,
        name: named("name"),
        version: named("version"),
        cases,
        cases_from: from,
        hidden_text,
        tools: tools
            .iter()
            .map(|entry| (entry.key.value.as_ref().to_owned(), entry.value.to_json()))
            .collect(),
        thresholds,
    }
}

/// Reads the thresholds of a suite. With a minimum score, each case that expects something of its
/// answer is scored.
fn read_thresholds(
    sink: &mut ScenarioFaultSink<'_>,
    root: &YamlNode<'_>,
    cases: &mut [ScenarioCase],
) -> SuiteThresholds {
    let find = |key| root.get("thresholds").and_then(|own| own.get(key));
    let thresholds = SuiteThresholds {
        min_score: find("min_score").and_then(values::read_number),
        pass_rate: find("pass_rate").and_then(values::read_number),
    };
    if let Some(place) = find("min_score") {
        for case in cases.iter_mut().filter(|case| case.score_weight() > 0.0) {
            case.is_scored = true;
        }
        if !cases.iter().any(|case| case.is_scored) {
            report_nothing_scored(sink, place, "thresholds.min_score");
        }
    }
    thresholds
}

/// Reports a minimum score of a case without an expectation that counts towards it.
fn check_score(sink: &mut ScenarioFaultSink<'_>, own: &YamlNode<'_>, case: &ScenarioCase) {
    let place = own.get("min_score");
    if let Some(place) = place.filter(|_| case.score_weight() <= 0.0) {
        report_nothing_scored(sink, place, "min_score");
    }
}

fn report_nothing_scored(sink: &mut ScenarioFaultSink<'_>, place: &YamlNode<'_>, key: &str) {
    let kind = ScenarioFaultKind::BadValue {
        key: key.to_owned(),
        found: sink.written_text(place),
        expected: "no such line, or an entry of `expectations` without `gate: false`: nothing counts towards this score".to_owned(),
        near: None,
    };
    sink.report(place.span, kind);
}

/// Reads one case with the defaults filled in. Its own keys were checked against the table with the
/// suite.
fn read_suite_case(
    sink: &mut ScenarioFaultSink<'_>,
    cx: LowerCx<'_>,
    own: &YamlNode<'_>,
    defaults: &[YamlEntry<'_>],
    suite: &str,
) -> Option<ScenarioCase> {
    own.entries()?;
    let full = fill_defaults(own, defaults);
    check_keys::report_missing_keys(sink, &KeyPath::TOP, &CASE_TABLE, &full);
    if let Some(context) =
        find_value(&CASE_TABLE, &full, "context").filter(|context| context.entries().is_some())
    {
        check_keys::report_missing_keys(
            sink,
            &KeyPath {
                parent: None,
                name: "context",
            },
            &CONTEXT_TABLE,
            context,
        );
    }
    check_trials(sink, cx, &CASE_TABLE, own);
    let id = own
        .get("id")
        .and_then(|id| lower::read_label(cx, id))
        .unwrap_or_else(|| Spanned::new(String::new(), own.span));
    let name = id.map(|id| format!("{suite}/{id}"));
    let case = lower::read_case(cx, &CASE_TABLE, &full, name)?;
    check_run_scope(sink, &case);
    check_score(sink, own, &case);
    Some(ScenarioCase {
        span: own.span,
        row: sink.row.as_ref().map(|(row, _)| row.clone()),
        replaces: replaced_lists(own, defaults),
        ..case
    })
}

/// Returns the lists of expectations that a case has in place of those of the defaults.
fn replaced_lists(own: &YamlNode<'_>, defaults: &[YamlEntry<'_>]) -> Vec<ReplacedList> {
    let of = |key: &'static str| {
        let list = find_value(&CASE_TABLE, own, key)?;
        let default = defaults.iter().find(|entry| {
            DEFAULTS_TABLE
                .key(&entry.key.value)
                .is_some_and(|known| known.name == key)
        })?;
        let own_items: Vec<_> = list.items()?.iter().map(YamlNode::to_json).collect();
        let count = default
            .value
            .items()?
            .iter()
            .filter(|entry| !own_items.contains(&entry.to_json()))
            .count();
        (count > 0).then_some(ReplacedList {
            key,
            count,
            span: list.span,
        })
    };
    ["expect_context", "expectations"]
        .into_iter()
        .filter_map(of)
        .collect()
}

/// Returns `defaults`, with `fixtures` added to their context.
fn read_defaults<'t>(root: &YamlNode<'t>) -> Vec<YamlEntry<'t>> {
    let mut out: Vec<YamlEntry<'t>> = root
        .get("defaults")
        .and_then(YamlNode::entries)
        .unwrap_or_default()
        .to_vec();
    let fixtures = root
        .get("fixtures")
        .and_then(YamlNode::entries)
        .unwrap_or_default();
    let fixtures: Vec<YamlEntry<'t>> = fixtures
        .iter()
        .filter(|entry| entry.key.value != "tools")
        .cloned()
        .collect();
    if fixtures.is_empty() {
        return out;
    }
    match out.iter_mut().find(|entry| is_context(entry)) {
        Some(YamlEntry {
            value:
                YamlNode {
                    value: YamlValue::Map(context),
                    ..
                },
            ..
        }) => {
            let new = |entry: &YamlEntry<'t>| {
                !context
                    .iter()
                    .any(|known| known.key.value == entry.key.value)
            };
            let new: Vec<YamlEntry<'t>> = fixtures.into_iter().filter(new).collect();
            context.extend(new);
        }
        Some(_) => {}
        None => out.push(YamlEntry {
            key: Spanned::new(Cow::Borrowed("context"), root.span),
            value: YamlNode {
                value: YamlValue::Map(fixtures),
                span: root.span,
                tag: None,
            },
        }),
    }
    out
}

fn is_context(entry: &YamlEntry<'_>) -> bool {
    CASE_TABLE
        .key(&entry.key.value)
        .is_some_and(|key| key.name == "context")
}

/// Groups of keys: a case that has one key of a group takes none of the others from the defaults.
const EXCLUSIVE_KEYS: [&[&str]; 3] = [
    &["role", "task"],
    &["run", "node"],
    &["rule", "runs", "pass_threshold"],
];

/// Fills in the keys that a case omits from the defaults; its context key by key.
fn fill_defaults<'n, 't>(
    own: &'n YamlNode<'t>,
    defaults: &[YamlEntry<'t>],
) -> Cow<'n, YamlNode<'t>> {
    if defaults.is_empty() {
        return Cow::Borrowed(own);
    }
    let mut full = own.clone();
    let YamlValue::Map(entries) = &mut full.value else {
        return Cow::Borrowed(own);
    };
    let has = |name: &str| find_value(&CASE_TABLE, own, name).is_some();
    for default in defaults {
        let Some(name) = DEFAULTS_TABLE.key(&default.key.value).map(|key| key.name) else {
            continue;
        };
        let together = EXCLUSIVE_KEYS.iter().find(|keys| keys.contains(&name));
        if !has(name) && !together.is_some_and(|keys| keys.iter().any(|key| has(key))) {
            entries.push(default.clone());
        } else if name == "context"
            && let Some(context) = entries.iter_mut().find(|entry| is_context(entry))
            && let (YamlValue::Map(context), Some(more)) =
                (&mut context.value.value, default.value.entries())
        {
            let new: Vec<YamlEntry<'t>> = more
                .iter()
                .filter(|entry| {
                    !context
                        .iter()
                        .any(|known| known.key.value == entry.key.value)
                })
                .cloned()
                .collect();
            context.extend(new);
        }
    }
    Cow::Owned(full)
}

/// Reports expectations on a whole run in a case of one agent, and the reverse.
fn check_run_scope(sink: &mut ScenarioFaultSink<'_>, case: &ScenarioCase) {
    let mut report = |span, kind| sink.report(span, kind);
    let contexts = context::all_expectations(&case.expect_context);
    if case.is_run {
        let together = |second: &str| ScenarioFaultKind::ExclusiveKeys {
            table: "a scenario".to_owned(),
            first: ("run".to_owned(), case.subject.span),
            second: second.to_owned(),
        };
        for snapshot in contexts.filter(|one| one.value == ContextExpectation::Snapshot) {
            report(snapshot.span, together("snapshot"));
        }
        if let Some(result) = case.situation.results.values().next() {
            report(result.span, together("context.results"));
        }
        return;
    }
    let needed = |what: &str| ScenarioFaultKind::Missing {
        table: format!("a scenario with {what}"),
        keys: &["run"],
    };
    for one in contexts.filter(|one| matches!(one.value, ContextExpectation::OfAgent { .. })) {
        report(one.span, needed("an expectation on another agent (`node`)"));
    }
    for answer in case
        .answers
        .iter()
        .filter(|answer| answer.value.end.is_some())
    {
        report(
            answer.span,
            needed("a script's end (`exit`, `stderr`, `killed_by`)"),
        );
    }
    for (test, span) in answer::all_tests(&case.expectations) {
        if let Some(what) = test.describe_run_test() {
            report(span, needed(what));
        }
    }
}

/// Reports a threshold above the number of trials, and rates in the wrong order.
fn check_trials(
    sink: &mut ScenarioFaultSink<'_>,
    cx: LowerCx<'_>,
    table: &'static ScenarioTable,
    node: &YamlNode<'_>,
) {
    let rule = lower::read_rule(cx, table, node);
    let own = find_value(table, node, "rule");
    let either = |short: &str, key: &str| {
        find_value(table, node, short).or_else(|| own.and_then(|own| own.get(key)))
    };
    let place = either("pass_threshold", "pass").or_else(|| either("runs", "runs"));
    if let Some(place) = place.filter(|_| rule.pass > rule.runs) {
        sink.report(
            place.span,
            ScenarioFaultKind::PassAboveRuns {
                runs: rule.runs.into(),
                pass: rule.pass.into(),
            },
        );
    }
    let confirm = own
        .and_then(|own| own.get("confirm"))
        .and_then(|confirm| confirm.get("pass"));
    if let (Some(place), Some((runs, pass))) =
        (confirm, rule.confirm.filter(|(runs, pass)| pass > runs))
    {
        sink.report(
            place.span,
            ScenarioFaultKind::PassAboveRuns {
                runs: runs.into(),
                pass: pass.into(),
            },
        );
    }
    let high = own
        .and_then(|own| own.get("sequential"))
        .and_then(|test| test.get("p1"));
    if let (Some(place), Some(test)) = (high, rule.sequential.filter(|test| test.p0 >= test.p1)) {
        let kind = ScenarioFaultKind::BadValue {
            key: "rule.sequential.p1".to_owned(),
            found: sink.written_text(place),
            expected: format!("a rate above `p0`, which is {}", test.p0),
            near: None,
        };
        sink.report(place.span, kind);
    }
}
