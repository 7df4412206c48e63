//! Trust follows data: on every path to an agent a text from outside is fenced, and it never enters
//! the system text.

use super::fences::outside;
use super::settings::registry;
use ctxc::internals::context::TaskGraph;
use ctxc::internals::context::assemble::assemble;
use ctxc::internals::context::fault::{FaultKind, MissingFrom};
use ctxc::internals::context::options::Options;
use ctxc::internals::context::request::{Attempt, Request, StepResult};
use ctxc::internals::kernel::conversation::Speaker;
use ctxc::{Config, Registry, Trust, compile_sources};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

/// The text of every outside source, and so of every agent that is shown one.
pub(super) const EVIL: &str = "EVIL";

pub(super) const ALONE: &str = "<context_management><inherit_context>none</inherit_context><accumulate_data>false</accumulate_data><fresh_context>disabled</fresh_context></context_management>";
const ALL: &str = "<context_management><inherit_context>full</inherit_context><fresh_context>disabled</fresh_context></context_management>";

/// Definitions that pass a value on.
pub(super) const OTHERS: &str = "<fragment name=\"g\">{{v}}</fragment>\
    <task type=\"atomic\" name=\"q\"><description>about {{v}}</description><parameters><parameter name=\"v\"/></parameters></task>\
    <task type=\"atomic\" name=\"all\"><description>d</description></task>\
    <template name=\"f\" params=\"a\"><task type=\"sequential\"><description>d</description><steps><task><description>see {{a}}</description></task></steps></task></template>\
    <template name=\"s\" params=\"a\"><task><description>d</description><system>Do {{a}}</system></task></template>\
    <task type=\"sequential\" name=\"n\"><description>d</description><steps><task as=\"one\"><description>d</description></task><task><description>d</description><system>Do {{one}}</system>ALONE</task></steps></task>\
    <task ref=\"n\" name=\"nn\"/>";

/// The number of system texts at the end of [`SHOWN`].
const SYSTEMS: usize = 7;

/// Paths from the value `X` to the result `Y`.
pub(super) const WAYS: [&str; 13] = [
    "<task as=\"Y\"><description>say {{X}}</description>ALONE</task>",
    "<task as=\"Y\"><description>d</description><inputs><input name=\"i\" from=\"X\"/></inputs>ALONE</task>",
    "<task as=\"Y\"><description>d <use fragment=\"g\"/></description><inputs><input name=\"v\">see {{X}}</input></inputs>ALONE</task>",
    "<task type=\"sequential\" as=\"Y\"><description>d</description><inputs><input name=\"v\" from=\"X\"/></inputs>ALONE<steps><task ref=\"q\"/></steps></task>",
    "<call template=\"f\" as=\"Y\"><arg name=\"a\">this: {{X}}</arg></call>",
    "<task type=\"sequential\" as=\"Y\"><description>about {{X}}</description>ALONE<steps><task><description>d</description>FULL</task></steps></task>",
    "<task as=\"Y\"><description>d {{i}}</description><inputs><input name=\"i\"><task><description>{{X}}</description>ALONE</task></input></inputs>ALONE</task>",
    "<cond as=\"Y\"><case test=\"n == 1\"><task><description syntax=\"jinja\">{% if n %}{{ X | upper }}{% endif %}</description>ALONE</task></case></cond>",
    "<task type=\"sequential\" as=\"Y\"><description>d {{X}}</description>ALONE<steps><task ref=\"all\"/></steps></task>",
    "<task type=\"reduce\" as=\"Y\"><description>d</description><inputs><input name=\"i\" from=\"X\"/></inputs>ALONE<initial_value>none</initial_value>\
     <inner_task><description>{{current_input}}</description></inner_task><reduction_task><description>{{current_result}} {{accumulator}}</description></reduction_task></task>",
    "<task type=\"reduce\" as=\"Y\"><description>d</description><inputs><input name=\"i\">x</input></inputs>ALONE<initial_value from=\"X\"/>\
     <inner_task><description>{{current_input}}</description></inner_task><reduction_task><description>{{accumulator}}</description></reduction_task></task>",
    "<task as=\"Y\"><description>d {{ f(a=X) }}</description>ALONE</task>",
    "<call template=\"f\" as=\"Y\"><arg name=\"a\"><task><description>d</description><instructions>{{ f(f(X)) }}</instructions>ALONE</task></arg></call>",
];

/// Places in which an agent receives the value `X`.
pub(super) const SHOWN: [&str; 16] = [
    "<task><description>say {{X}}</description>ALONE</task>",
    "<task><description>d</description><instructions>do {{X}}</instructions><constraints><constraint>not {{X}}</constraint></constraints>ALONE</task>",
    "<task><description>d</description><examples><example><input>{{X}}</input><output>{{X}}</output></example></examples>ALONE</task>",
    "<task><description>d</description><inputs><input name=\"i\" from=\"X\"/><input name=\"j\">{{X}}</input></inputs>ALONE</task>",
    "<task type=\"sequential\"><description>about {{X}}</description><instructions>{{X}}</instructions>ALONE<steps><task><description>d</description>FULL</task></steps></task>",
    "<task><description syntax=\"jinja\">{% for one in [X] %}{{ one | lower }}{% endfor %}</description>ALONE</task>",
    "<task type=\"sequential\"><description>d</description><context_management><inherit_context>none</inherit_context><accumulate_data>true</accumulate_data><accumulation_format>full_output</accumulation_format><fresh_context>disabled</fresh_context></context_management>\
     <steps><task><description>{{X}}</description>ALONE</task><task><description>last</description>ALONE</task><task ref=\"all\"/></steps></task>",
    "<task type=\"director_evaluator_loop\"><description>d</description>ALONE<director><description>{{X}}</description></director><evaluator><description>{{director_result}}</description></evaluator></task>",
    "<task><description>say {{ f(X) }} and {{f( X )}}</description><constraints><constraint>not {{ f(X) }}</constraint></constraints>ALONE</task>",
    "<task type=\"sequential\"><description>about {{X}}</description>ALONE<steps><task ref=\"nn\"/></steps></task>",
    "<task type=\"sequential\"><description>about {{ f(X) }}</description>ALONE<steps><task ref=\"n\"/></steps></task>",
    "<task type=\"sequential\"><description>d</description>CARRIES<steps><task><description>{{X}}</description>ALONE</task><task ref=\"n\"/></steps></task>",
    "<task type=\"sequential\"><description>d</description>CARRIES<steps><task trust=\"trusted\"><description>d</description>ALONE</task><call template=\"f\"><arg name=\"a\" from=\"X\"/></call><task ref=\"n\"/></steps></task>",
    "<task><description>d</description><system>Do {{X}}</system>ALONE</task>",
    "<task><description>d</description><system>Do {{ f(a=X) }}</system>ALONE</task>",
    "<task><description>d {{ s(X) }}</description>ALONE</task>",
];

/// A task whose steps pass `mail` on, and show the result in the end, there or in a task of its
/// own.
pub(super) fn library(
    ways: &[usize],
    shown: usize,
    (is_declared, is_behind): (bool, bool),
) -> String {
    let carries = ALONE.replace(
        "<accumulate_data>false</accumulate_data>",
        "<accumulate_data>true</accumulate_data><accumulation_format>full_output</accumulation_format>",
    );
    let fill = |text: &str| {
        text.replace("ALONE", ALONE)
            .replace("FULL", ALL)
            .replace("CARRIES", &carries)
    };
    let mut steps = String::new();
    let mut name = "mail".to_owned();
    for (number, way) in ways.iter().enumerate() {
        let next = format!("r{number}");
        steps += &fill(WAYS[*way]).replace('Y', &next).replace('X', &name);
        name = next;
    }
    let mut others = fill(OTHERS);
    let shown = fill(SHOWN[shown]).replace('X', &name);
    if is_behind {
        steps += "<task ref=\"z\"/>";
        let inside = [
            "<description>d</description>",
            ALONE,
            "<steps>",
            &shown,
            "</steps>",
        ]
        .concat();
        others += &["<task type=\"sequential\" name=\"z\">", &inside, "</task>"].concat();
    } else {
        steps += &shown;
    }
    let mark = |is: bool| if is { " trust=\"untrusted\"" } else { "" };
    // If the parameter does not declare it, an input of some step does.
    let inner = format!(
        "<task><description>d</description><inputs><input name=\"m\" from=\"mail\"{}/></inputs>{ALONE}</task>",
        mark(!is_declared)
    );
    format!(
        "<library>{others}<task type=\"sequential\" name=\"t\"><description>d</description><parameters><parameter name=\"mail\"{}/>\
         <parameter name=\"n\" type=\"integer\"/></parameters>{ALONE}<steps>{steps}{inner}</steps></task></library>",
        mark(is_declared)
    )
}

/// The messages of an agent with their speakers, if every outside source has the same text.
fn received(registry: &Registry, node: &str) -> Vec<(Speaker, String)> {
    let mut inputs = BTreeMap::from([("n".to_owned(), json!(1))]);
    let mut results = BTreeMap::new();
    for _ in 0..20 {
        let request = Request {
            node,
            inputs: &inputs,
            results: &results,
            ..Request::new("t")
        };
        let refused = match assemble(registry, &request, &Options::default()) {
            Ok(assembly) => {
                let nonce = &assembly.report.nonce;
                let describe = |message: &ctxc::Message| {
                    (
                        message.speaker,
                        message.as_str().replace(nonce.as_str(), "N"),
                    )
                };
                return assembly.messages.iter().map(describe).collect();
            }
            Err(refused) => refused,
        };
        for fault in refused.iter() {
            let FaultKind::Missing { name, origin } = &*fault.kind else {
                panic!("{node}: {fault}")
            };
            if *origin == MissingFrom::Input {
                inputs.insert(name.clone(), json!(EVIL));
            } else {
                results.insert(
                    name.clone(),
                    StepResult {
                        content: json!(EVIL),
                        notes: Some(EVIL.to_owned()),
                        ..StepResult::default()
                    },
                );
            }
        }
    }
    panic!("{node} never has enough");
}

fn holds(library: &str, is_system: bool) {
    let built = compile_sources(&Config::default(), [("a.xml", library)]);
    let found: Vec<u16> = built
        .diagnostics
        .iter()
        .filter(|found| found.severity == ctxc::Severity::Error)
        .map(|found| found.rule.code.0)
        .collect();
    assert_eq!(
        found,
        if is_system { vec![310] } else { vec![] },
        "{library}"
    );
    let Some(registry) = built.registry else {
        return;
    };
    let agents = TaskGraph::load(&registry, "t")
        .unwrap()
        .unwrap()
        .agents("t")
        .unwrap();
    assert!(agents.len() >= 2);
    for agent in agents {
        for (speaker, text) in received(&registry, &agent.node) {
            // Further lines of a constraint are indented.
            let open = outside(&text.replace("\n  ", "\n")).to_uppercase();
            assert!(!open.contains(EVIL), "{}: {text}\n{library}", agent.node);
            assert!(
                speaker != Speaker::System || !text.to_uppercase().contains(EVIL),
                "{}: {text}\n{library}",
                agent.node
            );
        }
    }
}

#[test]
fn every_way_keeps_its_fence() {
    for way in 0..WAYS.len() {
        holds(
            &library(
                &[way],
                way % (SHOWN.len() - SYSTEMS),
                (way % 2 == 0, way % 3 == 0),
            ),
            false,
        );
    }
    for shown in 0..SHOWN.len() {
        for is_behind in [false, true] {
            holds(
                &library(&[shown % WAYS.len()], shown, (shown % 2 == 1, is_behind)),
                shown >= SHOWN.len() - SYSTEMS,
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_text_from_outside_is_fenced_whatever_way_it_takes(
        ways in proptest::collection::vec(0..WAYS.len(), 0..5),
        shown in 0..SHOWN.len(),
        is_declared: bool,
        is_behind: bool,
    ) {
        holds(&library(&ways, shown, (is_declared, is_behind)), shown >= SHOWN.len() - SYSTEMS);
    }
}

/// A checked result may stand without a fence, whatever its text was made of; the answer of a call
/// in that text is another value.
#[test]
fn what_was_checked_is_trusted_though_its_text_calls() {
    let registry = registry(&format!(
        "{}<task type=\"sequential\" name=\"t\"><description>d</description><parameters><parameter name=\"mail\" trust=\"untrusted\"/></parameters>\
         {ALONE}<steps><task as=\"c\" trust=\"trusted\"><description>about {{{{ f(mail) }}}}</description>{ALONE}</task>\
         <task><description>d</description><system>Do {{{{c}}}}</system>{ALONE}</task></steps></task>",
        OTHERS.replace("ALONE", ALONE)
    ));
    let render_step = |node: &str, result: &str| {
        let results = BTreeMap::from([(
            result.to_owned(),
            StepResult {
                content: json!(EVIL),
                ..StepResult::default()
            },
        )]);
        let assembly = assemble(
            &registry,
            &Request {
                node,
                results: &results,
                ..Request::new("t")
            },
            &Options::default(),
        )
        .unwrap();
        assembly
            .messages
            .iter()
            .map(|message| message.as_str().replace(&assembly.report.nonce, "N"))
            .collect::<String>()
    };
    assert!(render_step("/steps/1", "c").starts_with(&format!("Do {EVIL}")));
    assert!(!outside(&render_step("/steps/0", "/steps/0/calls/0")).contains(EVIL));
}

/// A result that is marked at a hand-over is from outside everywhere, by its name or carried along.
#[test]
fn a_result_is_fenced_wherever_it_was_marked() {
    let carries = ALONE.replace(
        "<accumulate_data>false</accumulate_data>",
        "<accumulate_data>true</accumulate_data><accumulation_format>full_output</accumulation_format>",
    );
    let registry = registry(&format!(
        "{}<task type=\"sequential\" name=\"t\"><description>d</description>{carries}<steps><task as=\"r\"><description>{{{{ f(\"x\") }}}}</description>{ALONE}</task>\
         <task><description>d {{{{r}}}}</description>{ALONE}</task><task><description>d</description><inputs><input name=\"i\" from=\"r\" trust=\"untrusted\"/></inputs>{ALONE}</task></steps></task>",
        OTHERS.replace("ALONE", ALONE)
    ));
    let results = ["r", "/steps/1"].map(|name| {
        (
            name.to_owned(),
            StepResult {
                content: json!(EVIL),
                ..StepResult::default()
            },
        )
    });
    let results = BTreeMap::from(results);
    for node in ["/steps/1", "/steps/2"] {
        let assembly = assemble(
            &registry,
            &Request {
                node,
                results: &results,
                ..Request::new("t")
            },
            &Options::default(),
        )
        .unwrap();
        let text = assembly
            .messages
            .iter()
            .map(|message| message.as_str().replace(&assembly.report.nonce, "N"))
            .collect::<String>();
        assert!(
            text.contains(EVIL) && !outside(&text).contains(EVIL),
            "{node}: {text}"
        );
    }
}

/// A number, a truth value or an item of a list cannot carry an instruction; a result with anything
/// else in its place is refused.
#[test]
fn what_cannot_hold_a_text_stands_without_a_fence() {
    let library = "<task type=\"sequential\" name=\"t\"><description>d</description><parameters><parameter name=\"mail\" trust=\"untrusted\"/><parameter name=\"n\" type=\"number\" trust=\"untrusted\"/></parameters>\
        <steps><task as=\"x\"><description>{{mail}}</description><output_format type=\"json\" schema=\"boolean\"/></task>\
        <task><description>d</description><system>It is {{x}}: {{n}}.</system></task></steps></task>";
    let registry = registry(library);
    let system_text = |x: serde_json::Value| {
        let inputs = BTreeMap::from([("mail".to_owned(), json!(EVIL)), ("n".to_owned(), json!(3))]);
        let results = BTreeMap::from([(
            "x".to_owned(),
            StepResult {
                content: x,
                ..StepResult::default()
            },
        )]);
        let request = Request {
            node: "/steps/1",
            inputs: &inputs,
            results: &results,
            ..Request::new("t")
        };
        assemble(&registry, &request, &Options::default())
            .map(|assembly| assembly.messages[0].as_str().to_owned())
            .map_err(|refused| refused.to_string())
    };
    assert_eq!(system_text(json!(true)).unwrap(), "It is true: 3.");
    let refused = system_text(json!(EVIL)).unwrap_err();
    assert!(
        refused.contains("`x` of the result `x` is not what its schema requires there: what is of the type boolean"),
        "{refused}"
    );
}

/// Before the first merge the accumulator is the initial value, of any source.
#[test]
fn an_initial_value_is_there_in_the_first_round() {
    for (initial, is_fenced) in [
        ("<initial_value from=\"mail\"/>", true),
        ("<initial_value>so: {{mail}}</initial_value>", true),
        ("<initial_value from=\"mail\" trust=\"trusted\"/>", false),
    ] {
        let registry = registry(&format!(
            "<task type=\"reduce\" name=\"t\"><description>d</description><parameters><parameter name=\"mail\" trust=\"untrusted\"/></parameters><inputs><input name=\"i\">x</input></inputs>{initial}\
             <inner_task><description>{{{{current_input}}}}</description></inner_task><reduction_task><description>{{{{accumulator}}}} {{{{current_result}}}}</description>\
             <context_management><inherit_context>none</inherit_context><fresh_context>disabled</fresh_context></context_management><output_format type=\"json\" schema=\"number\"/></reduction_task></task>"
        ));
        let inputs = BTreeMap::from([("mail".to_owned(), json!(EVIL))]);
        let result = |content| StepResult {
            content,
            ..StepResult::default()
        };
        let results = BTreeMap::from([
            ("current_result".to_owned(), result(json!(1))),
            ("/initial_value".to_owned(), result(json!(EVIL))),
        ]);
        let request = Request {
            node: "/reduction_task",
            inputs: &inputs,
            results: &results,
            ..Request::new("t")
        };
        let assembly = assemble(&registry, &request, &Options::default()).unwrap();
        let text = assembly
            .messages
            .iter()
            .map(|message| message.as_str().replace(&assembly.report.nonce, "N"))
            .collect::<String>();
        assert!(text.contains(EVIL), "{initial}: {text}");
        assert_eq!(
            !outside(&text).contains(EVIL),
            is_fenced,
            "{initial}: {text}"
        );
    }
}

/// The values that a pipeline hands in are texts of agents.
#[test]
fn the_output_of_the_stage_before_and_earlier_attempts_are_fenced() {
    let registry = registry("<task type=\"atomic\" name=\"t\"><description>d</description></task>");
    let attempts = [Attempt {
        stage: "build".to_owned(),
        obstacle: EVIL.to_owned(),
        note: String::new(),
    }];
    let render_previous = |previous: serde_json::Value| {
        let request = Request {
            previous: Some(&previous),
            attempts: &attempts,
            ..Request::new("t")
        };
        let assembly = assemble(&registry, &request, &Options::default()).unwrap();
        assembly
            .messages
            .iter()
            .map(|message| message.as_str().replace(&assembly.report.nonce, "N"))
            .collect::<String>()
    };
    let text = render_previous(json!({"mail": EVIL}));
    assert_eq!(
        (
            text.matches(EVIL).count(),
            outside(&text).matches(EVIL).count()
        ),
        (2, 0),
        "{text}"
    );
    assert!(outside(&render_previous(json!(17))).contains("17"));
}

/// A context is untrusted once anything in it is: a segment, a value inside a text of the author's,
/// a value that a text waits for. Omitted segments do not count.
#[test]
fn a_context_is_as_trusted_as_the_least_of_what_is_in_it() {
    let declared = "<parameters><parameter name=\"mail\" trust=\"untrusted\"/><parameter name=\"n\" type=\"integer\" trust=\"untrusted\"/>\
        <parameter name=\"own\"/></parameters>";
    let trust = |inside: &str| {
        let registry = registry(&format!(
            "<task type=\"atomic\" name=\"t\"><description>d {{{{own}}}}</description>{inside}{declared}{ALONE}</task>"
        ));
        let values = BTreeMap::from([
            ("mail", json!(EVIL)),
            ("n", json!(3)),
            ("own", json!("ours")),
        ]);
        let inputs = values
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        let request = Request {
            inputs: &inputs,
            ..Request::new("t")
        };
        let assembly = assemble(&registry, &request, &Options::default()).unwrap();
        let inside = assembly
            .report
            .segments
            .iter()
            .any(|account| account.segment.has_untrusted_values);
        (assembly.trust(), inside)
    };
    assert_eq!(trust(""), (Trust::Trusted, false));
    assert_eq!(
        trust("<instructions>{{n}} times</instructions>"),
        (Trust::Trusted, false)
    );
    for inside in [
        "<instructions>do {{mail}}</instructions>",
        "<instructions syntax=\"jinja\">{{ mail | upper }}</instructions>",
        "<criteria>not {{mail}}</criteria>",
        "<constraints><constraint>short</constraint><constraint>not {{mail}}</constraint></constraints>",
        "<constraints><constraint trust=\"untrusted\">short</constraint></constraints>",
        "<examples><example><input>{{mail}}</input><output>yes</output></example></examples>",
        "<examples as=\"turns\"><example><input>{{mail}}</input><output>yes</output></example></examples>",
    ] {
        assert_eq!(trust(inside), (Trust::Untrusted, true), "{inside}");
    }
    assert_eq!(
        trust("<instructions trust=\"untrusted\">do</instructions>"),
        (Trust::Untrusted, false)
    );
    assert_eq!(
        trust("<inputs><input name=\"i\" from=\"mail\"/></inputs>"),
        (Trust::Untrusted, false)
    );
    assert_eq!(
        trust("<inputs><input name=\"i\">so: {{mail}}</input></inputs>"),
        (Trust::Untrusted, false)
    );
}

/// Values inside an agent's texts reach every task that receives its context: results that are made
/// of them are untrusted.
#[test]
fn a_parent_with_a_value_inside_a_text_is_untrusted() {
    let registry = registry(&format!(
        "<task type=\"atomic\" name=\"asks\"><description>about {{{{mail}}}}</description>{ALONE}\
         <parameters><parameter name=\"mail\" trust=\"untrusted\"/></parameters></task>\
         <task type=\"sequential\" name=\"t\"><description>d</description>{ALL}\
         <steps><task as=\"one\"><description>d</description>{ALL}</task><task><description>so: {{{{one}}}}</description>{ALONE}</task></steps></task>"
    ));
    let render_mail = |mail: serde_json::Value| {
        let inputs = BTreeMap::from([("mail".to_owned(), mail)]);
        let parent = assemble(
            &registry,
            &Request {
                inputs: &inputs,
                ..Request::new("asks")
            },
            &Options::default(),
        )
        .unwrap()
        .segments();
        let results = BTreeMap::from([(
            "one".to_owned(),
            StepResult {
                content: json!(EVIL),
                ..StepResult::default()
            },
        )]);
        let request = Request {
            node: "/steps/1",
            parent: &parent,
            results: &results,
            ..Request::new("t")
        };
        let assembly = assemble(&registry, &request, &Options::default()).unwrap();
        assembly
            .messages
            .iter()
            .map(|message| message.as_str().replace(&assembly.report.nonce, "N"))
            .collect::<String>()
    };
    assert!(!outside(&render_mail(json!("obey"))).contains(EVIL));
    assert!(outside(&render_mail(json!(3))).contains(EVIL));
}
