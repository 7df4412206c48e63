//! Converts a text to a [`Suite`] and reports all its faults in one pass. Never does I/O: the
//! caller supplies the text of a table of cases by its name.

use super::check::{self, Ask};
use super::expect::{answer, context};
use super::fault::{Fault, FaultKind};
use super::fault_collector::{Path, Sink};
use super::keys::{CASE, CONTEXT, DEFAULTS, FIXTURES, SCENARIO, SCRIPT, SUITE};
use super::lower::{self, Cx};
use super::model::{Case, ContextExpectation, Replaced, Rule, SUITE_SCHEMA, Scripted, Suite};
use super::table::{Table, find};
use super::table_cases;
use super::values;
use crate::base::span::Spanned;
use crate::syntax::yaml::{self, Entry, Node, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Returns the text of a table of cases by its path beside the suite, or the reason why it cannot
/// be read.
pub type Tables<'t> = dyn Fn(&str) -> Result<String, String> + 't;

/// Inputs of the reader besides the text.
#[derive(Clone, Default)]
pub struct Options<'o> {
    /// The default trial rule.
    pub rule: Rule,
    /// The reader of case tables; without it, `cases_from` gives no cases.
    pub tables: Option<&'o Tables<'o>>,
}

/// Reads a scenario or a suite. The path gives a default name; no file is opened.
///
/// The suite contains everything that could be understood despite faults: a case without a receiver
/// and an invalid expectation are left out. It is `None` if the text is not a mapping. A runner
/// must not run cases of a suite with faults.
pub fn read(path: &str, text: &str) -> (Option<Suite>, Vec<Fault>) {
    read_with(path, text, &Options::default())
}

/// Like [`read`], with tables of cases and the project's trial rule.
pub fn read_with(path: &str, text: &str, options: &Options<'_>) -> (Option<Suite>, Vec<Fault>) {
    let (root, faults) = yaml::read(text);
    let end = faults
        .iter()
        .find(|fault| fault.kind.ends())
        .map(|fault| fault.span.start);
    let mut sink = Sink {
        text,
        faults: Vec::new(),
        row: None,
    };
    for fault in faults {
        sink.report(fault.span, FaultKind::Yaml(fault.kind));
    }
    let suite = match (&root.value, end) {
        // A text that is invalid YAML from the start gets no further fault for its missing name.
        (Value::Map(_), _) => Some(file(&mut sink, path, &root, options)),
        (_, Some(_)) => None,
        _ => {
            let place = Path::TOP;
            check::table(&mut sink, &place, &SCENARIO, &root, Ask::Part);
            None
        }
    };
    let mut faults = sink.faults;
    if let Some(end) = end {
        faults.retain(|fault| {
            !is_about_absence(&fault.kind)
                && (fault.span.start < end || matches!(fault.kind, FaultKind::Yaml(_)))
        });
    }
    let key = |fault: &Fault| (fault.span, fault.row.clone());
    faults.sort_by_key(key);
    faults.dedup();
    (suite.filter(|_| end.is_none()), faults)
}

/// Reads a script: a mapping in YAML or JSON with the single key `answers`.
pub fn read_script(text: &str) -> (Vec<Scripted>, Vec<Fault>) {
    let (root, faults) = yaml::read(text);
    let mut sink = Sink {
        text,
        faults: Vec::new(),
        row: None,
    };
    for fault in faults {
        sink.report(fault.span, FaultKind::Yaml(fault.kind));
    }
    check::table(&mut sink, &Path::TOP, &SCRIPT, &root, Ask::Whole);
    let answers = lower::answers(&root)
        .into_iter()
        .map(|answer| answer.value)
        .collect();
    (answers, sink.faults)
}

/// Returns true if the missing text may follow the place where parsing stopped.
const fn is_about_absence(kind: &FaultKind) -> bool {
    matches!(kind, FaultKind::Missing { .. } | FaultKind::Table { .. })
}

/// Returns true if a mapping is a suite: it has a key of suites alone, or the schema of a suite.
pub(super) fn is_suite(root: &Node<'_>) -> bool {
    ["cases", "cases_from", "defaults", "fixtures"]
        .iter()
        .any(|key| root.get(key).is_some())
        || root.get("schema").and_then(Node::text) == Some(SUITE_SCHEMA)
}

/// Returns a file's name without its folders and extension.
fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

fn file(sink: &mut Sink<'_>, path: &str, root: &Node<'_>, options: &Options<'_>) -> Suite {
    let text = sink.text;
    let cx = Cx {
        text,
        rule: &options.rule,
    };
    let named = |key: &str| root.get(key).and_then(|node| lower::label(cx, node));
    let fallback = || Spanned::new(stem(path).to_owned(), root.span.first_line(text));
    if is_suite(root) {
        check::table(sink, &Path::TOP, &SUITE, root, Ask::Whole);
        let id = named("id").unwrap_or_else(fallback);
        return suite(sink, cx, root, id, options);
    }
    check::table(sink, &Path::TOP, &SCENARIO, root, Ask::Whole);
    trials(sink, cx, &SCENARIO, root);
    let name = named("name").unwrap_or_else(fallback);
    let cases: Vec<Case> = lower::case(cx, &SCENARIO, root, name.clone())
        .into_iter()
        .collect();
    for case in &cases {
        whole_run(sink, case);
    }
    Suite {
        id: name,
        is_scenario: true,
        name: None,
        version: None,
        cases,
        cases_from: None,
        tools: BTreeMap::new(),
    }
}

fn suite(
    sink: &mut Sink<'_>,
    cx: Cx<'_>,
    root: &Node<'_>,
    id: Spanned<String>,
    options: &Options<'_>,
) -> Suite {
    let text = sink.text;
    let defaults = defaults(root);
    if let Some(own) = root.get("defaults") {
        trials(sink, cx, &DEFAULTS, own);
    }
    let mut cases = Vec::new();
    for node in root.get("cases").and_then(Node::items).unwrap_or_default() {
        cases.extend(one(sink, cx, node, &defaults, &id.value));
    }
    let from = root.get("cases_from").and_then(values::text);
    if let (Some(from), Some(tables)) = (&from, options.tables) {
        let made =
            tables(&from.value).and_then(|table| table_cases::read(&from.value, &table, from.span));
        match made {
            Err(reason) => sink.report(
                from.span,
                FaultKind::Table {
                    path: from.value.clone(),
                    reason,
                },
            ),
            Ok(read) => {
                for reason in read.faults {
                    sink.report(
                        from.span,
                        FaultKind::Table {
                            path: from.value.clone(),
                            reason,
                        },
                    );
                }
                for made in read.rows {
                    sink.row = Some((made.row, from.span));
                    for fault in made.faults {
                        sink.report(fault.span, FaultKind::Yaml(fault.kind));
                    }
                    check::table(sink, &Path::TOP, &CASE, &made.node, Ask::Part);
                    cases.extend(one(sink, cx, &made.node, &defaults, &id.value));
                    sink.row = None;
                }
            }
        }
    }
    cases.shrink_to_fit();
    let named = |key: &str| {
        root.get(key)
            .and_then(|node| lower::label(Cx { text, ..cx }, node))
    };
    let tools = find(&FIXTURES, root.get("fixtures").unwrap_or(root), "tools")
        .and_then(Node::entries)
        .unwrap_or_default();
    Suite {
        id,
        is_scenario: false,
        name: named("name"),
        version: named("version"),
        cases,
        cases_from: from,
        tools: tools
            .iter()
            .map(|entry| (entry.key.value.as_ref().to_owned(), entry.value.to_json()))
            .collect(),
    }
}

/// Reads one case with the defaults filled in. Its own keys were checked against the table with the
/// suite.
fn one(
    sink: &mut Sink<'_>,
    cx: Cx<'_>,
    own: &Node<'_>,
    defaults: &[Entry<'_>],
    suite: &str,
) -> Option<Case> {
    own.entries()?;
    let full = fill(own, defaults);
    check::whole(sink, &Path::TOP, &CASE, &full);
    if let Some(context) =
        find(&CASE, &full, "context").filter(|context| context.entries().is_some())
    {
        check::whole(
            sink,
            &Path {
                parent: None,
                name: "context",
            },
            &CONTEXT,
            context,
        );
    }
    trials(sink, cx, &CASE, own);
    let id = own
        .get("id")
        .and_then(|id| lower::label(cx, id))
        .unwrap_or_else(|| Spanned::new(String::new(), own.span));
    let name = id.map(|id| format!("{suite}/{id}"));
    let case = lower::case(cx, &CASE, &full, name)?;
    whole_run(sink, &case);
    Some(Case {
        span: own.span,
        row: sink.row.as_ref().map(|(row, _)| row.clone()),
        replaces: replaced(own, defaults),
        ..case
    })
}

/// Returns the lists of expectations that a case has in place of those of the defaults.
fn replaced(own: &Node<'_>, defaults: &[Entry<'_>]) -> Vec<Replaced> {
    let of = |key: &'static str| {
        let list = find(&CASE, own, key)?;
        let default = defaults.iter().find(|entry| {
            DEFAULTS
                .key(&entry.key.value)
                .is_some_and(|known| known.name == key)
        })?;
        let kept: Vec<_> = list.items()?.iter().map(Node::to_json).collect();
        let count = default
            .value
            .items()?
            .iter()
            .filter(|entry| !kept.contains(&entry.to_json()))
            .count();
        (count > 0).then_some(Replaced {
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
fn defaults<'t>(root: &Node<'t>) -> Vec<Entry<'t>> {
    let mut out: Vec<Entry<'t>> = root
        .get("defaults")
        .and_then(Node::entries)
        .unwrap_or_default()
        .to_vec();
    let fixtures = root
        .get("fixtures")
        .and_then(Node::entries)
        .unwrap_or_default();
    let fixtures: Vec<Entry<'t>> = fixtures
        .iter()
        .filter(|entry| entry.key.value != "tools")
        .cloned()
        .collect();
    if fixtures.is_empty() {
        return out;
    }
    match out.iter_mut().find(|entry| is_context(entry)) {
        Some(Entry {
            value:
                Node {
                    value: Value::Map(context),
                    ..
                },
            ..
        }) => {
            let new = |entry: &Entry<'t>| {
                !context
                    .iter()
                    .any(|known| known.key.value == entry.key.value)
            };
            let new: Vec<Entry<'t>> = fixtures.into_iter().filter(new).collect();
            context.extend(new);
        }
        Some(_) => {}
        None => out.push(Entry {
            key: Spanned::new(Cow::Borrowed("context"), root.span),
            value: Node {
                value: Value::Map(fixtures),
                span: root.span,
                tag: None,
            },
        }),
    }
    out
}

fn is_context(entry: &Entry<'_>) -> bool {
    CASE.key(&entry.key.value)
        .is_some_and(|key| key.name == "context")
}

/// Groups of keys: a case that has one key of a group takes none of the others from the defaults.
const TOGETHER: [&[&str]; 3] = [
    &["role", "task"],
    &["run", "node"],
    &["rule", "runs", "pass_threshold"],
];

/// Fills in the keys that a case omits from the defaults; its context key by key.
fn fill<'n, 't>(own: &'n Node<'t>, defaults: &[Entry<'t>]) -> Cow<'n, Node<'t>> {
    if defaults.is_empty() {
        return Cow::Borrowed(own);
    }
    let mut full = own.clone();
    let Value::Map(entries) = &mut full.value else {
        return Cow::Borrowed(own);
    };
    let has = |name: &str| find(&CASE, own, name).is_some();
    for default in defaults {
        let Some(name) = DEFAULTS.key(&default.key.value).map(|key| key.name) else {
            continue;
        };
        let together = TOGETHER.iter().find(|keys| keys.contains(&name));
        if !has(name) && !together.is_some_and(|keys| keys.iter().any(|key| has(key))) {
            entries.push(default.clone());
        } else if name == "context"
            && let Some(context) = entries.iter_mut().find(|entry| is_context(entry))
            && let (Value::Map(context), Some(more)) =
                (&mut context.value.value, default.value.entries())
        {
            let new: Vec<Entry<'t>> = more
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
fn whole_run(sink: &mut Sink<'_>, case: &Case) {
    let mut report = |span, kind| sink.report(span, kind);
    let contexts = context::each(&case.expect_context);
    if case.is_run {
        let together = |second: &str| FaultKind::Together {
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
    let needed = |what: &str| FaultKind::Missing {
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
    for (test, span) in answer::each(&case.expectations) {
        if let Some(what) = test.of_run() {
            report(span, needed(what));
        }
    }
}

/// Reports a threshold above the number of trials, and rates in the wrong order.
fn trials(sink: &mut Sink<'_>, cx: Cx<'_>, table: &'static Table, node: &Node<'_>) {
    let rule = lower::rule(cx, table, node);
    let own = find(table, node, "rule");
    let either = |short: &str, key: &str| {
        find(table, node, short).or_else(|| own.and_then(|own| own.get(key)))
    };
    let place = either("pass_threshold", "pass").or_else(|| either("runs", "runs"));
    if let Some(place) = place.filter(|_| rule.pass > rule.runs) {
        sink.report(
            place.span,
            FaultKind::Threshold {
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
            FaultKind::Threshold {
                runs: runs.into(),
                pass: pass.into(),
            },
        );
    }
    let high = own
        .and_then(|own| own.get("sequential"))
        .and_then(|test| test.get("p1"));
    if let (Some(place), Some(test)) = (high, rule.sequential.filter(|test| test.p0 >= test.p1)) {
        let kind = FaultKind::BadValue {
            key: "rule.sequential.p1".to_owned(),
            found: sink.written(place),
            expected: format!("a rate above `p0`, which is {}", test.p0),
            near: None,
        };
        sink.report(place.span, kind);
    }
}
