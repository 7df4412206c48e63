//! Inputs that a task makes: the parts of the surrounding task that the making task receives.

use super::settings::registry;
use super::shipped::{Here, agents, run, shipped};
use ctxc::Registry;
use ctxc::internals::context::assemble::{Assembly, assemble};
use ctxc::internals::context::fault::{FaultKind, MissingFrom};
use ctxc::internals::context::manifest::{ManifestOptions, task_manifest};
use ctxc::internals::context::options::Options;
use ctxc::internals::context::request::{Request, StepResult};
use ctxc::internals::context::{Fixtures, Inputs, Match, Trust};
use pretty_assertions::assert_eq;
use serde_json::json;
use std::collections::BTreeMap;

/// A task with every kind of text; some of them are not yet known while its inputs are made.
const CHECK: &str = "<task type=\"atomic\" name=\"check\"><description>check {{topic}}</description>\
    <parameters><parameter name=\"topic\"/></parameters>\
    <inputs>\
    <input name=\"claims\"><task type=\"atomic\"><description>claims of {{topic}}</description></task></input>\
    <input name=\"both\">about {{claims}}</input>\
    <input name=\"digest\"><task type=\"sequential\"><description>sum {{claims}} up</description>\
    <steps><task><description>read</description></task><task><description>write</description></task></steps></task></input>\
    <input name=\"spare\" from=\"digest.spare\"/>\
    </inputs>\
    <instructions>{{both}}, slowly</instructions>\
    <criteria syntax=\"jinja\">{% if digest %}short{% endif %}</criteria>\
    <constraints><constraint>Be kind.</constraint><constraint>Keep to {{digest}}.</constraint></constraints>\
    <examples><example><input>{{claims}}</input><output>b</output></example><example><input>c</input><output>d</output></example></examples>\
    </task>";

fn result(content: &str) -> StepResult {
    StepResult {
        content: json!({"text": content, "spare": "parts"}),
        ..StepResult::default()
    }
}

fn render(registry: &Registry, node: &str, results: &[&str]) -> Result<Assembly, Vec<String>> {
    let results: BTreeMap<String, StepResult> = results
        .iter()
        .map(|name| ((*name).to_owned(), result(name)))
        .collect();
    let inputs = Inputs::from([("topic", "tides")]);
    let request = Request {
        node,
        inputs: &inputs,
        results: &results,
        ..Request::new("check")
    };
    assemble(registry, &request, &Options::default())
        .map_err(|refused| refused.iter().map(ToString::to_string).collect())
}

/// The segments with their words, and the omitted segments with their reasons.
fn describe_segments(assembly: &Assembly) -> Vec<String> {
    let there = assembly.report.segments.iter().map(|account| {
        let text = account.segment.text.text().replace('\n', " ");
        format!("{}: {text}", account.segment.id)
    });
    let late = assembly
        .report
        .late
        .iter()
        .map(|late| format!("{} {}", late.id, late.reason()));
    there.chain(late).collect()
}

#[test]
fn a_task_that_makes_an_input_inherits_no_text_that_needs_that_input() {
    let registry = registry(CHECK);
    // Nothing of a run is needed, and the results of a run change nothing.
    for results in [&[][..], &["claims", "digest"]] {
        assert_eq!(
            describe_segments(&render(&registry, "/inputs/0", results).unwrap()),
            [
                "description: claims of tides",
                "inherited:description: check tides",
                "inherited:constraints: - Be kind.",
                "inherited:examples: Input: c Output: d",
                "inherited:instructions needs `claims`, which is not there before this agent has run",
                "inherited:criteria needs `digest`, which is not there before this agent has run",
                "inherited:constraints#2 needs `digest`, which is not there before this agent has run",
                "inherited:input:spare needs `digest`, which is not there before this agent has run",
                "inherited:examples#2 needs `claims`, which is not there before this agent has run",
            ]
        );
    }
}

#[test]
fn inputs_are_made_in_their_order_and_an_earlier_one_is_there() {
    let registry = registry(CHECK);
    let of = |node: &str| describe_segments(&render(&registry, node, &["claims", "read"]).unwrap());
    let second = of("/inputs/2/steps/0");
    let is_there = |words: &str| second.iter().any(|line| line.starts_with(words));
    assert!(
        is_there("inherited:instructions: about {   \"text\""),
        "{second:#?}"
    );
    assert!(
        is_there("inherited:description#2: sum {   \"text\""),
        "{second:#?}"
    );
    assert!(is_there("inherited:criteria needs `digest`"), "{second:#?}");
    assert!(
        is_there("inherited:input:spare needs `digest`"),
        "{second:#?}"
    );
}

#[test]
fn a_manifest_waits_for_nothing_that_the_agent_itself_gives() {
    let registry = registry(CHECK);
    let how = ManifestOptions {
        options: Options::default(),
        files: &(),
    };
    let manifest = task_manifest(&registry, &Request::new("check"), None, &how).unwrap();
    let waits = |node: &str| {
        let entry = manifest
            .entries
            .iter()
            .find(|entry| entry.node == node)
            .unwrap();
        let mut names: Vec<&str> = entry
            .segments
            .iter()
            .flat_map(|part| &part.variable)
            .map(String::as_str)
            .collect();
        names.sort_unstable();
        names.dedup();
        (
            names.join(" "),
            entry
                .late
                .iter()
                .map(|late| &*late.id)
                .collect::<Vec<_>>()
                .join(" "),
        )
    };
    let late = "inherited:instructions inherited:criteria inherited:constraints#2 inherited:input:spare inherited:examples#2";
    assert_eq!(waits("/inputs/0"), ("topic".to_owned(), late.to_owned()));
    let late = "inherited:criteria inherited:constraints#2 inherited:input:spare";
    assert_eq!(
        waits("/inputs/2/steps/0"),
        ("both claims topic".to_owned(), late.to_owned())
    );
    assert_eq!(waits("/").1, "");
    let json = serde_json::to_value(&manifest).unwrap();
    assert_eq!(json["entries"][1]["late"][0]["needs"], json!(["claims"]));
    assert_eq!(json["entries"][0].get("late"), None, "{json:#}");
}

#[test]
fn what_a_parent_looks_up_with_a_late_input_is_late() {
    let registry = registry(
        "<task type=\"atomic\" name=\"check\"><description>check</description>\
         <context_management><inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management>\
         <inputs><input name=\"claims\"><task type=\"atomic\"><description>make them</description></task></input></inputs>\
         <instructions>{{claims}}</instructions></task>",
    );
    let source = Fixtures(vec![Match {
        id: "doc".to_owned(),
        text: "found".to_owned(),
        trust: Trust::Untrusted,
    }]);
    let request = Request {
        node: "/inputs/0",
        source: &source,
        ..Request::new("check")
    };
    let assembly = assemble(&registry, &request, &Options::default()).unwrap();
    assert_eq!(
        describe_segments(&assembly),
        [
            "description: make them",
            "inherited:description: check",
            "inherited:fresh needs `claims`, which is not there before this agent has run",
            "inherited:instructions needs `claims`, which is not there before this agent has run",
        ]
    );
}

#[test]
fn an_input_of_a_loop_is_made_before_its_rounds() {
    let registry = registry(
        "<task type=\"director_evaluator_loop\" name=\"check\"><description>polish</description>\
         <inputs><input name=\"style\"><task type=\"atomic\"><description>name a style</description></task></input></inputs>\
         <max_iterations>2</max_iterations>\
         <director><description>write in {{style}}</description></director>\
         <evaluator><description>judge</description></evaluator>\
         <termination_condition><condition>evaluation.success == true</condition></termination_condition></task>",
    );
    let assembly = render(&registry, "/inputs/0", &[]).unwrap();
    assert!(
        describe_segments(&assembly)
            .iter()
            .all(|line| !line.contains("accumulated")),
        "{:#?}",
        describe_segments(&assembly)
    );
}

#[test]
fn a_name_around_is_not_hidden_by_the_input_that_is_made_of_it() {
    let registry = registry(
        "<task type=\"atomic\" name=\"check\"><description>d</description><parameters><parameter name=\"topic\"/></parameters>\
         <inputs><input name=\"topic\"><task type=\"atomic\"><description>clean {{topic}}</description></task></input></inputs>\
         <instructions>{{topic}}</instructions></task>",
    );
    assert_eq!(
        describe_segments(&render(&registry, "/inputs/0", &[]).unwrap())[0],
        "description: clean tides"
    );
}

#[test]
fn a_function_sees_its_parameters_and_no_variable_of_its_caller() {
    let called = "<task type=\"sequential\" name=\"check\"><description>d</description>\
         <parameters><parameter name=\"topic\"/></parameters>\
         <steps><call template=\"f\"><arg name=\"text\">the {{topic}}</arg></call></steps></task>\
         <fragment name=\"mine\">{{text}}</fragment>\
         <template name=\"f\" params=\"text\"><task type=\"atomic\"><description>sum WORDS up</description></task></template>";
    let known = registry(&called.replace("WORDS", "<use fragment=\"mine\"/>"));
    assert_eq!(
        describe_segments(&render(&known, "/steps/0", &[]).unwrap())[0],
        "description: sum the tides up"
    );
    let faults = |words: &str| {
        let text = format!("<library>{}</library>", called.replace("WORDS", words));
        let built = ctxc::compile_sources(&ctxc::Config::default(), [("lib.xml", text.as_str())]);
        built
            .diagnostics
            .iter()
            .map(|found| found.message.clone())
            .collect::<Vec<_>>()
            .join("; ")
    };
    assert!(
        faults("{{topic}}").contains("`topic`"),
        "{}",
        faults("{{topic}}")
    );
}

/// The inputs that do not exist before an agent has run: those that it makes on the way, and those
/// after.
fn late(registry: &Registry, task: &str, node: &str) -> Vec<String> {
    let root = registry.find(task).unwrap().root().unwrap();
    let number = node
        .strip_prefix("/inputs/")
        .and_then(|rest| rest.split('/').next()?.parse::<usize>().ok());
    let made = root
        .body
        .inputs
        .iter()
        .skip(number.unwrap_or(usize::MAX))
        .filter(|input| input.from.is_none());
    made.filter_map(|input| Some(input.name.as_ref()?.to_string()))
        .collect()
}

#[test]
fn every_shipped_agent_needs_only_what_an_author_knows_that_it_needs() {
    let registry = shipped();
    let mut made = 0;
    for (task, node) in agents(&registry) {
        let names: Vec<String> = registry
            .find(&task)
            .unwrap()
            .parameters()
            .unwrap()
            .into_iter()
            .map(|one| one.name)
            .collect();
        let request = Request {
            node: &node,
            files: &Here,
            ..Request::new(&task)
        };
        let late = late(&registry, &task, &node);
        made += usize::from(!late.is_empty());
        let refused = assemble(&registry, &request, &Options::default()).err();
        for fault in refused.iter().flat_map(|refused| refused.iter()) {
            // A parameter that the run provides, the result of an earlier stage, or a value that
            // only a trusted run may have.
            let is_known = if let FaultKind::Missing { name, origin } = &*fault.kind {
                if *origin == MissingFrom::Input {
                    names.contains(name)
                } else {
                    !late.contains(name)
                }
            } else {
                matches!(
                    &*fault.kind,
                    FaultKind::Source { .. } | FaultKind::File { .. }
                )
            };
            assert!(is_known, "{task}{node}: {fault}");
        }
        let Some((given, _)) = run(&registry, &task, &node, &Options::default()) else {
            continue;
        };
        assert!(
            late.iter().all(|name| !given.results.contains_key(name)),
            "{task}{node}: {:?}",
            given.results
        );
    }
    assert!(
        made >= 2,
        "{made}: templates/verify-claims.xml shows such inputs"
    );
}

#[test]
fn only_what_an_agent_is_shown_of_an_argument_is_asked_for() {
    let of = |texts: &str| {
        registry(&format!(
            "<task type=\"sequential\" name=\"check\"><description>d</description><parameters><parameter name=\"topic\"/></parameters>\
             <context_management><accumulate_data>false</accumulate_data></context_management><steps>\
             <task as=\"review\"><description>r</description></task><call template=\"f\"><arg name=\"text\">so: {{{{review}}}}</arg></call>\
             </steps></task>\
             <template name=\"f\" params=\"text\"><task type=\"sequential\"><description>d</description>\
             <context_management><accumulate_data>false</accumulate_data></context_management><steps>\
             <task><description>one</description></task><task>{texts}</task></steps></task></template>"
        ))
    };
    let uses = "<description>two: {{text}}</description>";
    let hands_on =
        "<description>two</description><inputs><input name=\"given\" from=\"text\"/></inputs>";
    let asked =
        |registry: &Registry, node: &str| render(registry, node, &[]).err().unwrap_or_default();
    for texts in [uses, hands_on] {
        let registry = of(texts);
        assert_eq!(asked(&registry, "/steps/1/steps/0"), [""; 0]);
        assert_eq!(
            asked(&registry, "/steps/1/steps/1"),
            ["`review` has no value"]
        );
        // The manifest agrees.
        let inputs = Inputs::from([("topic", "tides")]);
        let request = Request {
            inputs: &inputs,
            ..Request::new("check")
        };
        let manifest = task_manifest(
            &registry,
            &request,
            None,
            &ManifestOptions {
                options: Options::default(),
                files: &(),
            },
        )
        .unwrap();
        let open = manifest.entries.iter().map(|entry| {
            entry.segments.iter().any(|part| {
                part.variable
                    .iter()
                    .any(|name| name == "text" || name == "given")
            })
        });
        assert_eq!(open.collect::<Vec<_>>().split_off(1), [false, true]);
    }
}
