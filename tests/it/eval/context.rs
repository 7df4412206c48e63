//! Each expectation on a context holds and fails, and reports the value that was found instead.

use super::bench::{
    Setting, TRIAGE, at, case, expecting, finish, id, patterns, registry, said, segment, text,
    word, words,
};
use ctxc::internals::eval::case_result::{CaseResult, CaseVerdict};
use ctxc::internals::eval::verdict::ExpectationOutcome;
use ctxc::internals::kernel::context::{Kind, Origin};
use ctxc::internals::scenario::model::{
    CaseSubject, ContextExpectation, CountedTokens, FrozenValue, ScenarioCase, SegmentSelector,
    SegmentState, Situation,
};
use ctxc::internals::template::setting::SettingName;
use pretty_assertions::assert_eq;
use std::collections::BTreeMap;

fn holds(expectation: ContextExpectation) {
    let told = said(expectation);
    assert!(told.starts_with("pass:"), "{told}");
}

#[test]
fn segments_are_kept_absent_or_not_there() {
    holds(segment(id("file:docs/runbook.md"), SegmentState::Kept));
    holds(segment(
        SegmentSelector::Kind(at(Kind::File)),
        SegmentState::Kept,
    ));
    holds(segment(
        SegmentSelector::Source(word("docs/runbook.md")),
        SegmentState::Kept,
    ));
    holds(segment(id("examples"), SegmentState::Absent));
    assert_eq!(
        said(segment(id("runbook.md"), SegmentState::Kept)),
        "fail: expected segment `runbook.md`, found none; did you mean `file:docs/runbook.md`?; \
         segments here: system, file:docs/runbook.md, description"
    );
    assert_eq!(
        said(segment(id("sistem"), SegmentState::Kept))
            .split("; ")
            .nth(1),
        Some("did you mean `system`?")
    );
    assert_eq!(
        said(segment(id("system"), SegmentState::Absent)),
        "fail: expected no segment `system`, found `system`; it is there by <system>"
    );
    assert_eq!(
        said(segment(id("system"), SegmentState::Dropped)),
        "fail: expected segment `system` dropped, found it whole"
    );
}

#[test]
fn patterns_are_looked_for_in_a_segment_or_everywhere() {
    holds(ContextExpectation::Contains(patterns(
        Some(id("system")),
        &["Never promise", "^You"],
    )));
    holds(ContextExpectation::Contains(patterns(
        None,
        &["No invoice", "(?i)RESTART"],
    )));
    holds(ContextExpectation::Absent(patterns(None, &["password"])));
    assert_eq!(
        said(ContextExpectation::Contains(patterns(
            Some(id("system")),
            &["You", "always"]
        ))),
        "fail: expected segment `system` to contain /always/, found it nowhere in 51 bytes: \
         “You triage support tickets.⏎Never promise a refund.”"
    );
    assert_eq!(
        said(ContextExpectation::Absent(patterns(None, &["wait"]))),
        "fail: expected the context not to contain /wait/, found “wait” in the system message"
    );
    // A guard over nothing guards nothing.
    let vacuous = said(ContextExpectation::Absent(patterns(
        Some(id("systm")),
        &["x"],
    )));
    assert!(
        vacuous.starts_with("fail:") && vacuous.contains("state: absent"),
        "{vacuous}"
    );
    assert!(
        said(ContextExpectation::Contains(patterns(None, &["("])))
            .contains("/(/ is not a valid pattern: unclosed group")
    );
}

#[test]
fn what_is_found_leads_to_its_line() {
    let done = finish(&expecting(vec![ContextExpectation::Absent(patterns(
        Some(id("file:docs/runbook.md")),
        &["wait"],
    ))]));
    let place = done.context[0].reason.place.clone().unwrap();
    assert_eq!(place.segment.as_deref(), Some("file:docs/runbook.md"));
    assert_eq!(place.range, Some(27..31));
    assert_eq!(
        place.origin,
        Some(Origin::File {
            path: "docs/runbook.md".to_owned(),
            line: 2
        })
    );
    let done = finish(&expecting(vec![ContextExpectation::Absent(patterns(
        None,
        &["refund"],
    ))]));
    let origin = done.context[0].reason.place.clone().unwrap().origin;
    let Some(Origin::Template {
        task, field, line, ..
    }) = origin
    else {
        panic!("{origin:?}")
    };
    assert_eq!(
        (task.as_str(), field.as_str(), line),
        ("triage", "system", 1)
    );
}

#[test]
fn the_order_may_have_gaps_and_no_swaps() {
    holds(ContextExpectation::Order(words(&["system", "description"])));
    assert_eq!(
        said(ContextExpectation::Order(words(&["description", "system"]))),
        "fail: expected the order `description`, `system`, found `system` before `description`; \
         segments here: system, file:docs/runbook.md, description"
    );
    assert!(
        said(ContextExpectation::Order(words(&["system", "desc"]))).contains("found no `desc`")
    );
}

#[test]
fn tokens_are_bounded_in_all_in_front_and_for_a_segment() {
    let tokens = |of: CountedTokens, max: u64, min: u64| ContextExpectation::Tokens {
        counted: of,
        max: Some(at(max)),
        min: Some(at(min)),
    };
    holds(tokens(CountedTokens::Total, 100, 10));
    holds(tokens(CountedTokens::Prefix, 60, 10));
    holds(tokens(CountedTokens::Segment(id("system")), 20, 5));
    let told = said(tokens(CountedTokens::Total, 30, 1));
    assert!(
        told.starts_with("fail: expected at most 30 tokens in all, found ")
            && told.contains("too many (estimate, an estimate)"),
        "{told}"
    );
    assert!(
        told.contains("the largest: file:docs/runbook.md "),
        "{told}"
    );
    assert!(said(tokens(CountedTokens::Prefix, 900, 800)).contains("too few"));
    assert!(
        said(tokens(CountedTokens::Segment(id("x")), 1, 0)).contains("found none; segments here")
    );
}

#[test]
fn a_budget_that_cuts_is_seen() {
    let registry = registry(TRIAGE);
    let setting = Setting::of(&registry)
        .with("[roles.sorter]\ntemplate = \"triage\"\nbudget = {tokens = 30}\n");
    let subject = at(CaseSubject::Role("sorter".to_owned()));
    let of = |expectation| {
        let done = setting.finish(&ScenarioCase {
            subject: subject.clone(),
            ..expecting(vec![expectation])
        });
        let reason = &done.context[0].reason;
        (
            done.context[0].outcome,
            format!("expected {}, found {}", reason.expected, reason.found),
        )
    };
    assert_eq!(
        of(segment(id("file:docs/runbook.md"), SegmentState::Dropped)).0,
        ExpectationOutcome::Pass
    );
    assert_eq!(
        of(ContextExpectation::NothingCut(false)).0,
        ExpectationOutcome::Pass
    );
    let (outcome, told) = of(ContextExpectation::NothingCut(true));
    assert_eq!(outcome, ExpectationOutcome::Fail);
    assert!(
        told.starts_with(
            "expected every segment whole, found `file:docs/runbook.md`: it dropped: "
        ),
        "{told}"
    );
    let (outcome, told) = of(segment(id("file:docs/runbook.md"), SegmentState::Kept));
    assert_eq!(outcome, ExpectationOutcome::Fail);
    assert!(told.contains("found it dropped: "), "{told}");
}

#[test]
fn settings_say_where_their_value_came_from() {
    let setting = |name, value: &str| ContextExpectation::Setting {
        name: at(name),
        value: word(value),
        node: None,
    };
    holds(setting(SettingName::InheritContext, "none"));
    assert_eq!(
        said(setting(SettingName::InheritContext, "full")),
        "fail: expected inherit_context full, found none, written in the template; it beats full, the default of type atomic"
    );
    let of = |node: &str| ContextExpectation::Setting {
        name: at(SettingName::FreshContext),
        value: word("enabled"),
        node: Some(word(node)),
    };
    assert!(said(of("/steps/4")).contains("there is no node `/steps/4`"));
}

#[test]
fn tools_models_and_paths_are_those_of_a_role() {
    let registry = registry(TRIAGE);
    let project = "[roles.sorter]\ntemplate = \"triage\"\nmodel = \"small\"\ntools = [\"read_file\", \"search\"]\n\
        blocked_tools = [\"rm\"]\nprotected_paths = [\"secrets/\"]\n\
        [models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 8000\n";
    let setting = Setting::of(&registry).with(project);
    let subject = at(CaseSubject::Role("sorter".to_owned()));
    let of = |expectation: ContextExpectation| {
        let done = setting.finish(&ScenarioCase {
            subject: subject.clone(),
            ..expecting(vec![expectation])
        });
        let reason = &done.context[0].reason;
        format!(
            "{}: {}; {}",
            done.context[0].outcome.word(),
            reason.found,
            reason.advice.join("; ")
        )
    };
    assert_eq!(
        of(ContextExpectation::Tools(words(&[
            "search",
            "read_file",
            "!rm"
        ]))),
        "pass: the same; "
    );
    let wrong = of(ContextExpectation::Tools(words(&[
        "serch",
        "read_file",
        "!rm",
    ])));
    assert_eq!(
        wrong,
        "fail: no `serch`, and `search` too; did you mean `search`?"
    );
    assert_eq!(of(ContextExpectation::Model(word("small"))), "pass: it; ");
    assert_eq!(
        of(ContextExpectation::Model(word("large"))),
        "fail: `small`; "
    );
    assert_eq!(
        of(ContextExpectation::ProtectedPaths(words(&["secrets/"]))),
        "pass: the same; "
    );
    assert_eq!(
        of(ContextExpectation::ProtectedPaths(Vec::new())),
        "fail: `secrets/` too; "
    );
    let alone = said(ContextExpectation::Tools(words(&["search"])));
    assert!(
        alone.ends_with("`triage` is asked for as a task: name a `role`"),
        "{alone}"
    );
    let none = || ContextExpectation::Tools(Vec::new());
    for expectation in [none(), ContextExpectation::Not(Box::new(at(none())))] {
        assert!(
            said(expectation)
                .contains("found no tools: a task has none; `triage` is asked for as a task")
        );
    }
    let nobody = setting.finish(&ScenarioCase {
        subject: at(CaseSubject::Role("sortr".to_owned())),
        ..case()
    });
    assert_eq!(nobody.verdict, CaseVerdict::Fail);
    assert_eq!(
        nobody.trouble.as_deref(),
        Some("there is no agent role `sortr` in this project; did you mean `sorter`?")
    );
}

fn with(registry: &ctxc::Registry, case: &ScenarioCase, snapshot: Option<&str>) -> CaseResult {
    Setting {
        snapshot,
        ..Setting::of(registry)
    }
    .finish(case)
}

#[test]
fn a_stored_request_is_compared_line_by_line() {
    let registry = registry(TRIAGE);
    let case = expecting(vec![ContextExpectation::Snapshot]);
    let none = with(&registry, &case, None);
    assert_eq!(none.verdict, CaseVerdict::Fail);
    assert_eq!(
        none.context[0].reason.expected,
        "the request as stored in scenarios/snapshots/triage-1.json"
    );
    assert!(none.context[0].reason.advice[0].contains("ctxc eval --accept"));
    let stored = none.snapshot.unwrap();
    assert!(
        stored.starts_with("{\n  \"schema\": \"ctxc/snapshot/1\",\n  \"messages\": ["),
        "{stored}"
    );
    assert_eq!(
        with(&registry, &case, Some(&stored)).verdict,
        CaseVerdict::Pass
    );
    let found = |other: String| {
        let moved = with(&registry, &case, Some(&other));
        assert_eq!(moved.verdict, CaseVerdict::Fail);
        moved.context[0].reason.found.clone()
    };
    assert_eq!(
        found(stored.replace("wait", "leave")),
        "message 1 (system), line 9: “Then wait.” in place of “Then leave.”"
    );
    let less = stored.replace("            \"Never promise a refund.\",\n", "");
    assert_eq!(
        found(less),
        "message 1 (system), line 2: “Never promise a refund.” in place of “## File: docs/runbook.md”"
    );
    let model = stored.replace(
        "  \"messages\"",
        "  \"model\": {\"id\": \"m\"},\n  \"messages\"",
    );
    assert_eq!(found(model), "model: nothing in place of {\"id\":\"m\"}");
    assert_eq!(found("[system]".to_owned()), "a file that holds no request");
    // The origin of the words is reported if it is known.
    let origin = with(&registry, &case, Some(&stored.replace("wait", "leave"))).context[0]
        .reason
        .place
        .clone()
        .unwrap()
        .origin;
    assert_eq!(
        format!("{origin:?}"),
        "Some(File { path: \"docs/runbook.md\", line: 2 })"
    );
}

#[test]
fn expectations_compose() {
    let kept = || at(segment(id("system"), SegmentState::Kept));
    let gone = || at(segment(id("examples"), SegmentState::Kept));
    holds(ContextExpectation::Not(Box::new(gone())));
    holds(ContextExpectation::AnyOf(vec![gone(), kept()]));
    holds(ContextExpectation::AllOf(vec![kept(), kept()]));
    assert_eq!(
        said(ContextExpectation::Not(Box::new(kept()))),
        "fail: expected not: segment `system` kept, found it whole"
    );
    assert!(
        said(ContextExpectation::AllOf(vec![kept(), gone()]))
            .starts_with("fail: expected segment `examples`, found none")
    );
    let either = said(ContextExpectation::AnyOf(vec![
        gone(),
        at(segment(id("history"), SegmentState::Kept)),
    ]));
    assert!(
        either.starts_with(
            "fail: expected segment `examples`, or segment `history`, found none; and none"
        ),
        "{either}"
    );
}

#[test]
fn not_holds_of_what_could_be_there_alone() {
    let not = |expectation| said(ContextExpectation::Not(Box::new(at(expectation))));
    let kept = |which| not(segment(which, SegmentState::Kept));
    let source = |name: &str| SegmentSelector::Source(word(name));
    // The task has no examples, no such input stands in a text of its own, and the project has the
    // file: every possible segment.
    for which in [
        id("examples"),
        SegmentSelector::Kind(at(Kind::History)),
        source("previous"),
        id("constraints:request"),
    ] {
        assert!(kept(which.clone()).starts_with("pass:"), "{which:?}");
    }
    holds(ContextExpectation::Not(Box::new(at(segment(
        id("file:docs/runbook.md"),
        SegmentState::Cut,
    )))));
    for which in [
        id("input:nosuch"),
        id("file:docs/never.md"),
        id("systm"),
        id("fresh:x"),
        source("docs/never.md"),
        source("nobody"),
    ] {
        let told = kept(which.clone());
        assert!(
            told.starts_with("fail: expected not: ") && told.contains("`not` does not hold either"),
            "{which:?}: {told}"
        );
    }
    let role = ContextExpectation::Tools(words(&["rm"]));
    for blind in [
        ContextExpectation::Model(word("small")),
        ContextExpectation::Snapshot,
        role,
    ] {
        assert!(not(blind.clone()).starts_with("fail:"), "{blind:?}");
    }
    // A segment of any name may be absent.
    holds(segment(id("file:docs/never.md"), SegmentState::Absent));
    // One that was inspected is enough, at any position.
    let (seen, blind) = (
        || at(segment(id("examples"), SegmentState::Kept)),
        || at(segment(id("input:nosuch"), SegmentState::Kept)),
    );
    holds(ContextExpectation::Not(Box::new(at(
        ContextExpectation::AllOf(vec![blind(), seen()]),
    ))));
    holds(ContextExpectation::Not(Box::new(at(
        ContextExpectation::AllOf(vec![seen(), blind()]),
    ))));
    assert!(not(ContextExpectation::AllOf(vec![blind()])).starts_with("fail:"));
    assert!(not(ContextExpectation::AnyOf(vec![seen(), blind()])).starts_with("fail:"));
}

#[test]
fn what_a_case_freezes_or_a_project_has_could_be_there() {
    let registry = registry(TRIAGE);
    let setting = Setting::of(&registry);
    let not = |which| ContextExpectation::Not(Box::new(at(segment(which, SegmentState::Kept))));
    let of = |which: SegmentSelector, situation: Situation| {
        let inputs = case().situation.inputs;
        let done = setting.finish(&ScenarioCase {
            situation: Situation {
                inputs,
                ..situation
            },
            ..expecting(vec![not(which)])
        });
        done.context[0].outcome
    };
    let frozen = || Situation {
        files: BTreeMap::from([("docs/new.md".to_owned(), text("new"))]),
        ..Situation::default()
    };
    assert_eq!(
        of(id("file:docs/new.md"), frozen()),
        ExpectationOutcome::Pass
    );
    assert_eq!(
        of(SegmentSelector::Source(word("./docs/new.md")), frozen()),
        ExpectationOutcome::Pass
    );
    assert_eq!(
        of(id("file:docs/new.md"), Situation::default()),
        ExpectationOutcome::Fail
    );
    let step = || Situation {
        results: BTreeMap::from([(
            "plan".to_owned(),
            Box::new(at(FrozenValue::Value("x".into()))),
        )]),
        ..Situation::default()
    };
    assert_eq!(
        of(SegmentSelector::Source(word("plan")), step()),
        ExpectationOutcome::Pass
    );
    assert_eq!(
        of(SegmentSelector::Source(word("plan")), Situation::default()),
        ExpectationOutcome::Fail
    );
}
