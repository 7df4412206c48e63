//! One sample of everything that JSON handed in by a host can reach: values in plain and Jinja
//! texts, schemas of answers, calls of tools, results of steps, the mark of untrusted text, cases
//! of scenarios. Built by the tests of ctxc, too: see `tests/it/assembly/order.rs`.

use ctxc::internals::context::render::call::CallParams;
use ctxc::internals::context::render::targets::TARGETS;
use ctxc::internals::scenario;
use ctxc::{
    Config, Inputs, Options, Request, Speaker, StepResult, Turn, assemble, compile_sources,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const TASK: &str = r#"<task type="atomic" name="sort">
  <description>Sort {{ticket}} as {{choice}} says.</description>
  <parameters>
    <parameter name="ticket" type="object"/>
    <parameter name="choice" type="object" default='{"z": 1, "a": {"y": 2, "b": 3}}'/>
    <parameter name="letter"/>
  </parameters>
  <inputs>
    <input name="ticket" from="ticket"/>
    <input name="letter" from="letter" trust="untrusted"/>
  </inputs>
  <instructions syntax="jinja">{% for key in ticket %}{{ key }} {% endfor %}{{ ticket.inner | tojson }} {{ letter }}</instructions>
  <output_format type="json" schema="answer.json"/>
  <history/>
</task>"#;

const SCHEMA: &str = r#"{"type": "object", "required": ["z", "a"],
  "properties": {"z": {"type": "string"}, "a": {"type": "number"}}, "additionalProperties": false}"#;

const SCENARIO: &str = "schema: ctxc/scenario/1
name: one
task: sort
context:
  inputs: {ticket: {z: 1, a: {y: 2, b: 3}}, letter: hello}
expect_context:
  - contains: [Sort]
";

/// Everything that a host compares or keeps: hashes, messages, bodies, and what the key of a case is made of.
///
/// # Panics
/// The sample does not compile, or says nothing.
pub fn sample() -> String {
    let value: Value =
        serde_json::from_str(r#"{"z": 1, "inner": {"y": [{"d": 1, "c": 2}], "b": 3}, "a": null}"#)
            .unwrap();
    let built = compile_sources(
        &Config::default(),
        [("sort.xml", TASK), ("answer.json", SCHEMA)],
    );
    let registry = built
        .registry
        .unwrap_or_else(|| panic!("{:?}", built.diagnostics));
    let inputs = Inputs::new()
        .with("ticket", value.clone())
        .with("letter", "Hello");
    let results = BTreeMap::from([(
        "earlier".to_owned(),
        StepResult {
            content: value.clone(),
            ..StepResult::default()
        },
    )]);
    let said = [
        Turn::new(Speaker::User, "Hello"),
        Turn::new(Speaker::Assistant, "").calling("1", "look", value.clone()),
        Turn::result("1", "found"),
    ];
    let request = Request {
        inputs: &inputs,
        results: &results,
        history: &said,
        previous: Some(&value),
        ..Request::new("sort")
    };
    let assembly = assemble(&registry, &request, &Options::default()).unwrap();
    let mut out = format!("{}\n{}\n", registry.hash(), assembly.report.nonce);
    for message in &assembly.messages {
        let _ = writeln!(out, "-- {}\n{}", message.speaker.word(), message.as_str());
    }
    let call = CallParams::from_registry(&registry, &request).unwrap();
    for target in TARGETS {
        let _ = writeln!(
            out,
            "-- {}\n{}",
            target.name,
            target.render_body(&assembly.messages, &call).unwrap()
        );
    }
    let suite = scenario::read_suite("sort.yaml", SCENARIO).0.unwrap();
    let _ = writeln!(
        out,
        "-- case\n{}",
        serde_json::to_string(&suite.cases).unwrap()
    );
    out
}
