//! The four settings decide the content of a context: the parent's context, earlier results,
//! passages, the agent's own texts.

use ctxc::Registry;
use ctxc::internals::context::assemble::{Assembly, assemble};
use ctxc::internals::context::context_source::{Fixtures, Match};
use ctxc::internals::context::fault::{Fault, FaultKind};
use ctxc::internals::context::options::Options;
use ctxc::internals::context::request::{Request, StepResult};
use ctxc::internals::kernel::context::{
    CutPolicy, Kind, Origin, Segment, Stability, TracedText, Trust,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(super) fn registry(templates: &str) -> Registry {
    let text = format!("<library>{templates}</library>");
    let built = ctxc::compile_sources(&ctxc::Config::default(), [("lib.xml", text.as_str())]);
    built
        .registry
        .unwrap_or_else(|| panic!("{:#?}", built.diagnostics))
}

pub(super) fn values(pairs: &[(&str, Value)]) -> BTreeMap<String, Value> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect()
}

fn ids(assembly: &Assembly) -> Vec<&str> {
    assembly
        .report
        .segments
        .iter()
        .map(|account| account.segment.id.as_str())
        .collect()
}

fn parent(id: &str, kind: Kind, title: &str, text: &str) -> Segment {
    Segment {
        id: id.to_owned(),
        kind,
        title: title.to_owned(),
        text: TracedText::new(text, Origin::Generated),
        stability: Stability::Session,
        trust: Trust::Trusted,
        has_untrusted_values: false,
        cut: CutPolicy::Tail,
        why: String::new(),
        priority: None,
        max_tokens: None,
        turns: Vec::new(),
    }
}

fn task(name: &str, settings: &str, more: &str) -> String {
    format!(
        "<task type=\"atomic\" name=\"{name}\"><description>review uploads</description>{more}\
         <context_management>{settings}</context_management></task>"
    )
}

#[test]
fn what_of_the_parent_is_seen_follows_inherit_context() {
    let files = "<file_paths source=\"literal\"><path>src/upload.py</path></file_paths>";
    let registry = registry(
        &[
            task("full", "<inherit_context>full</inherit_context>", ""),
            task("none", "<inherit_context>none</inherit_context><fresh_context>enabled</fresh_context>", ""),
            task("by-files", "<inherit_context>subset</inherit_context>", files),
            task(
                "by-match",
                "<inherit_context>subset</inherit_context>",
                "<inputs><input name=\"topic\">rate limits</input></inputs><instructions>about {{topic}}</instructions>",
            ),
        ]
        .concat(),
    );
    let given = [
        parent(
            "file:src/upload.py",
            Kind::File,
            "src/upload.py",
            "def upload(): pass",
        ),
        parent("notes", Kind::Accumulated, "notes", "nothing of interest"),
        parent(
            "limits",
            Kind::Accumulated,
            "limits",
            "rate limits are ten a second",
        ),
    ];
    let files: BTreeMap<String, String> =
        [("src/upload.py".to_owned(), "def upload(): ...".to_owned())].into();
    let source = Fixtures(vec![Match {
        id: "doc".to_owned(),
        text: "found".to_owned(),
        trust: Trust::Untrusted,
    }]);
    let of = |task: &str| {
        let request = Request {
            parent: &given,
            files: &files,
            source: &source,
            ..Request::new(task)
        };
        let assembly = assemble(&registry, &request, &Options::default()).unwrap();
        ids(&assembly).join(" ")
    };
    assert_eq!(
        of("full"),
        "description inherited:file:src/upload.py inherited:notes inherited:limits"
    );
    assert_eq!(of("none"), "description fresh:doc");
    assert_eq!(
        of("by-files"),
        "description file:src/upload.py inherited:file:src/upload.py"
    );
    assert_eq!(of("by-match"), "description instructions inherited:limits");
}

const STEPS: &str = "<task type=\"sequential\" name=\"t\"><description>all of {{topic}}</description>\
    <parameters><parameter name=\"topic\" type=\"string\" required=\"true\"/></parameters>\
    <context_management><accumulation_format>FORMAT</accumulation_format></context_management>\
    <steps><task as=\"plan\" type=\"atomic\"><description>plan it</description></task>\
    <task type=\"atomic\"><description>do {{plan.first}}</description></task></steps></task>";

#[test]
fn earlier_results_are_carried_as_notes_or_whole() {
    let result = StepResult {
        content: json!({"first": "this"}),
        notes: Some("short".to_owned()),
        ..StepResult::default()
    };
    let results = BTreeMap::from([("plan".to_owned(), result)]);
    let inputs = values(&[("topic", json!("x"))]);
    let carried = |format: &str| {
        let registry = registry(&STEPS.replace("FORMAT", format));
        let request = Request {
            node: "/steps/1",
            inputs: &inputs,
            results: &results,
            ..Request::new("t")
        };
        let assembly = assemble(&registry, &request, &Options::default()).unwrap();
        assert_eq!(
            ids(&assembly),
            ["description", "accumulated:plan", "inherited:description"]
        );
        assert_eq!(assembly.report.segments[0].segment.text.text(), "do this");
        assert_eq!(assembly.report.segments[2].segment.text.text(), "all of x");
        assembly.report.segments[1].segment.text.text().to_owned()
    };
    assert_eq!(carried("notes_only"), "short");
    assert_eq!(
        carried("full_output"),
        "short\n\n{\n  \"first\": \"this\"\n}"
    );
}

#[test]
fn nothing_unknown_is_rendered_as_empty() {
    let registry = registry(&STEPS.replace("FORMAT", "notes_only"));
    let faults = assemble(
        &registry,
        &Request {
            node: "/steps/1",
            ..Request::new("t")
        },
        &Options::default(),
    )
    .unwrap_err();
    let texts: Vec<String> = faults
        .iter()
        .map(|fault| format!("{} {}", fault.place.as_ref().unwrap().node, fault.kind))
        .collect();
    // The result is missing where it is carried and where it is named; the topic where it would be
    // inherited.
    assert_eq!(
        texts,
        [
            "/ `topic` has no value",
            "/steps/0 `plan` has no value",
            "/steps/1 `plan` has no value"
        ]
    );
}

#[test]
fn an_agent_must_be_there_and_be_one() {
    let registry = registry(&STEPS.replace("FORMAT", "notes_only"));
    let kind = |node: &str| {
        let faults = assemble(
            &registry,
            &Request {
                node,
                ..Request::new("t")
            },
            &Options::default(),
        )
        .unwrap_err();
        let [Fault { kind, .. }] = &faults[..] else {
            panic!("{faults:?}")
        };
        FaultKind::clone(kind)
    };
    let there = vec!["/steps/0".to_owned(), "/steps/1".to_owned()];
    assert_eq!(
        kind("/"),
        FaultKind::NoAgent {
            node: "/".to_owned(),
            there: there.clone()
        }
    );
    assert_eq!(
        kind("/steps/7"),
        FaultKind::NoNode {
            node: "/steps/7".to_owned(),
            there
        }
    );
}

#[test]
fn dropping_a_segment_reorders_no_other() {
    let registry = registry(&task(
        "t",
        "<inherit_context>full</inherit_context>",
        "<instructions>how</instructions>",
    ));
    let given: Vec<Segment> = (0..8)
        .map(|number| {
            parent(
                &format!("p{number}"),
                Kind::File,
                "f",
                &format!("{number}").repeat(40 * (number + 1)),
            )
        })
        .collect();
    let order = |budget: Option<usize>| {
        let assembly = assemble(
            &registry,
            &Request {
                parent: &given,
                ..Request::new("t")
            },
            &Options {
                budget,
                ..Options::default()
            },
        );
        let mut stays: Vec<(usize, String)> = assembly
            .unwrap()
            .report
            .segments
            .into_iter()
            .filter_map(|account| Some((account.position?, account.segment.id)))
            .collect();
        stays.sort();
        stays.into_iter().map(|(_, id)| id).collect::<Vec<_>>()
    };
    let all = order(None);
    for budget in (120..1_800).step_by(60) {
        let some = order(Some(budget));
        let kept: Vec<&String> = all.iter().filter(|id| some.contains(id)).collect();
        assert_eq!(some.iter().collect::<Vec<_>>(), kept, "{budget}");
    }
}
