//! Tool results taint: the result of an agent that may call tools is from outside, in `check` and
//! in every context, only for roles with tools.

use super::fences::outside;
use super::trust::{ALONE, EVIL, OTHERS, SHOWN, WAYS, library};
use crate::project::reading::read;
use ctxc::internals::context::TaskGraph;
use ctxc::internals::context::assemble::assemble;
use ctxc::internals::context::fault::{FaultKind, MissingFrom};
use ctxc::internals::context::options::Options;
use ctxc::internals::context::request::{Request, StepResult};
use ctxc::internals::kernel::conversation::Speaker;
use ctxc::internals::project::roles::Role;
use ctxc::{Config, Diagnostic, Registry, Severity, compile_sources};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

/// The words of a trusted result.
const OWN: &str = "OURS";

/// One role without tools and one with; a third with tools and without fences.
const ROLES: &str = "[roles.plain]\ntemplate = \"t\"\ntools = []\n[roles.caller]\ntemplate = \"t\"\ntools = [\"fetch\"]\n\
    [roles.bare]\ntemplate = \"t\"\ntools = [\"fetch_*\"]\nblocked_tools = [\"fetch_all\"]\nprofile = \"bare\"\n";

/// The project of some roles.
fn project(kept: &[&str]) -> Config {
    let mut config = read(ROLES);
    config.roles.retain(|name, _| kept.contains(&name.as_str()));
    config
}

fn errors(library: &str, config: &Config) -> Vec<Diagnostic> {
    let found = compile_sources(config, [("a.xml", library)]).diagnostics;
    found
        .into_iter()
        .filter(|found| found.severity == Severity::Error)
        .collect()
}

/// The reason why an agent does not receive a value that no fence would surround.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    System,
    Bare,
}

/// The messages for an agent of a role; every agent before it gives the same answer, except for the
/// checked ones.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "every other fault is a mistake of this test"
)]
fn messages_for(
    registry: &Registry,
    role: &Role,
    node: &str,
) -> Result<Vec<(Speaker, String)>, Refusal> {
    let mut inputs = BTreeMap::from([("n".to_owned(), json!(1))]);
    let mut results = BTreeMap::new();
    for _ in 0..20 {
        let request = Request {
            node,
            inputs: &inputs,
            results: &results,
            ..Request::of_role(role)
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
                return Ok(assembly.messages.iter().map(describe).collect());
            }
            Err(refused) => refused,
        };
        for fault in refused.iter() {
            match &*fault.kind {
                FaultKind::Missing {
                    name,
                    origin: MissingFrom::Input,
                } => drop(inputs.insert(name.clone(), json!(OWN))),
                FaultKind::Missing { name, .. } => {
                    let says = if name == "mail" {
                        [EVIL, " by ", OWN].concat()
                    } else {
                        EVIL.to_owned()
                    };
                    results.insert(
                        name.clone(),
                        StepResult {
                            content: json!(says),
                            notes: Some(says),
                            ..StepResult::default()
                        },
                    );
                }
                FaultKind::UntrustedInSystem { .. } => return Err(Refusal::System),
                FaultKind::UntrustedInBare { .. } => return Err(Refusal::Bare),
                _ => panic!("{node}: {fault}"),
            }
        }
    }
    panic!("{node} never has enough");
}

/// First steps: two ordinary agents, and two with a trusted result.
const FIRST: [&str; 4] = [
    "<task as=\"mail\"><description>Fetch it.</description>ALONE</task>",
    "<task as=\"mail\" trust=\"trusted\"><description>Fetch it; a program holds it to a list.</description>ALONE</task>",
    "<task type=\"script\" as=\"mail\"><description>Print it.</description><command><arg>date</arg></command></task>",
    "<cond as=\"mail\"><case test=\"n == 1\"><task><description>Fetch it.</description>ALONE</task></case></cond>",
];

/// A task whose first step passes its result on in several ways, until an agent receives a text
/// made of it.
fn task(first: usize, ways: &[usize], shown: usize, is_behind: bool) -> String {
    let head = "<parameter name=\"mail\" trust=\"untrusted\"/><parameter name=\"n\" type=\"integer\"/></parameters>";
    let steps = format!("{head}{ALONE}<steps>");
    let whole =
        library(ways, shown, (true, is_behind)).replace("<task trust=\"trusted\">", "<task>");
    assert_eq!(whole.matches(&steps).count(), 1, "{whole}");
    let own = "<parameter name=\"n\" type=\"integer\"/></parameters>";
    whole.replace(
        &steps,
        &format!(
            "{own}{ALONE}<steps>{}",
            FIRST[first].replace("ALONE", ALONE)
        ),
    )
}

/// `check` reports a role if and only if some context of the role is refused, and an untrusted
/// result in a context stands in a fence, and in no text of the system.
fn agrees(library: &str, first: usize) {
    let all = project(&["plain", "caller", "bare"]);
    assert_eq!(errors(library, &project(&["plain"])), vec![], "{library}");
    let registry = compile_sources(&Config::default(), [("a.xml", library)])
        .registry
        .unwrap();
    let agents = TaskGraph::load(&registry, "t")
        .unwrap()
        .unwrap()
        .agents("t")
        .unwrap();
    for role in all.roles.values() {
        let mut refusals = Vec::new();
        for agent in &agents {
            let messages = match messages_for(&registry, role, &agent.node) {
                Ok(messages) => messages,
                Err(refusal) => {
                    refusals.push(refusal);
                    continue;
                }
            };
            for (speaker, text) in messages {
                // The output of the first step is trusted if it was checked, or if no model
                // answered.
                let is_own = matches!(first, 1 | 2);
                let own = |text: &str| {
                    text.replace(&format!("{EVIL} by"), "ok")
                        .replace("EVIL BY", "ok")
                        .replace("evil by", "ok")
                };
                let text = if is_own { own(&text) } else { text };
                // Further lines of a constraint are indented.
                let text = text.replace("\n  ", "\n");
                if role.has_tools() {
                    let open = outside(&text).to_uppercase();
                    assert!(
                        !open.contains(EVIL),
                        "{}, {}: {text}\n{library}",
                        role.name.value,
                        agent.node
                    );
                    let is_said = text.to_uppercase().contains(EVIL);
                    assert!(
                        speaker != Speaker::System || !is_said,
                        "{}: {text}\n{library}",
                        agent.node
                    );
                } else {
                    assert!(
                        !text.contains("<untrusted"),
                        "{}: {text}\n{library}",
                        agent.node
                    );
                }
            }
        }
        let found = errors(library, &project(&[role.name.value.as_str()]));
        for found in &found {
            let named = format!(
                "with the tools of role `{}`, which plays the task `t`, ",
                role.name.value
            );
            assert!(
                found.message.starts_with(&named),
                "{}\n{library}",
                found.message
            );
            assert!(
                found
                    .labels
                    .iter()
                    .any(|label| label.text == "its agents may call tools"),
                "{found:#?}"
            );
        }
        let codes: Vec<u16> = found.iter().map(|found| found.rule.code.0).collect();
        // A context with both faults is refused for the first of them.
        if role.profile.is_none() {
            assert_eq!(
                codes.contains(&310),
                refusals.contains(&Refusal::System),
                "{codes:?} {refusals:?}\n{library}"
            );
        }
        assert_eq!(
            codes.is_empty(),
            refusals.is_empty(),
            "{}: {codes:?} {refusals:?}\n{library}",
            role.name.value
        );
    }
}

#[test]
fn every_way_of_a_result_is_found_where_its_context_is_refused() {
    for first in 0..FIRST.len() {
        for shown in 0..SHOWN.len() {
            agrees(&task(first, &[], shown, shown % 2 == 0), first);
        }
    }
    for way in 0..WAYS.len() {
        agrees(
            &task(way % FIRST.len(), &[way], way % SHOWN.len(), way % 2 == 0),
            way % FIRST.len(),
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn check_finds_what_a_context_would_refuse(
        first in 0..FIRST.len(),
        ways in proptest::collection::vec(0..WAYS.len(), 0..4),
        shown in 0..SHOWN.len(),
        is_behind: bool,
    ) {
        agrees(&task(first, &ways, shown, is_behind), first);
    }
}

/// A task of these steps, in a library with functions and tasks to use.
fn sequence(steps: &str) -> String {
    format!(
        "<library>{}<task type=\"sequential\" name=\"t\"><description>d</description><parameters><parameter name=\"n\" type=\"integer\"/></parameters>{ALONE}<steps>{steps}</steps></task></library>",
        OTHERS.replace("ALONE", ALONE)
    )
}

fn codes(library: &str, config: &Config) -> Vec<u16> {
    errors(library, config)
        .iter()
        .map(|found| found.rule.code.0)
        .collect()
}

const SYSTEM: &str = "<task><description>d</description><system>In the tone {{x}}</system></task>";
const SHELL: &str = "<task type=\"script\"><description>d</description><command shell=\"sh\">echo {{x}}</command></task>";

#[test]
fn a_result_reaches_no_system_text_and_no_shell_on_any_way() {
    for made in [
        "<task as=\"x\"><description>Fetch.</description></task>",
        "<task ref=\"all\" as=\"x\"/>",
        "<task ref=\"nested\" as=\"x\"/>",
        "<call template=\"f\" as=\"x\"><arg name=\"a\">a</arg></call>",
        "<cond as=\"x\"><case test=\"n == 1\"><task><description>Fetch.</description></task></case></cond>",
        "<task type=\"reduce\" as=\"x\"><description>d</description><inputs><input name=\"i\">a</input></inputs><inner_task><description>d</description>ALONE</inner_task>\
         <reduction_task><description>{{current_result}}</description>ALONE</reduction_task></task>",
        "<task type=\"director_evaluator_loop\" as=\"x\"><description>d</description><director><description>d</description>ALONE</director><evaluator><description>d</description>ALONE</evaluator></task>",
        "<task type=\"sequential\" as=\"x\"><description>d</description><steps><task><description>d</description></task></steps></task>",
    ] {
        for (used, code) in [(SYSTEM, 310), (SHELL, 326)] {
            let made = &made.replace("ALONE", ALONE);
            let library = sequence(&[made, used].concat()).replace(
                "<task ref=\"n\" name=\"nn\"/>",
                "<task ref=\"n\" name=\"nn\"/><task ref=\"all\" name=\"nested\"/>",
            );
            assert_eq!(codes(&library, &project(&["caller"])), [code], "{made}");
            assert_eq!(codes(&library, &project(&["plain"])), [0_u16; 0], "{made}");
            let (tag, rest) = made.split_once(' ').unwrap();
            let checked = [tag, " trust=\"trusted\" ", rest].concat();
            let library = library.replace(made, &checked);
            // A choice has no mark of its own: its steps have one.
            let is_choice = tag == "<cond";
            let library = if is_choice {
                library.replace(
                    &checked,
                    &made.replace("\"><task>", "\"><task trust=\"trusted\">"),
                )
            } else {
                library
            };
            assert_eq!(codes(&library, &project(&["caller"])), [0_u16; 0], "{made}");
        }
    }
}

/// Inside a loop, a reduce, a task that makes an input, and a referenced task.
#[test]
fn a_result_is_found_inside_of_composites() {
    for (steps, code) in [
        (
            "<task type=\"director_evaluator_loop\"><description>d</description><director><description>d</description>ALONE</director>\
          <evaluator><description>d</description><system>Judge {{director_result}}</system>ALONE</evaluator></task>",
            310,
        ),
        (
            "<task type=\"director_evaluator_loop\"><description>d</description><director><description>d</description><system>Heed {{evaluation_feedback}}</system>ALONE</director>\
          <evaluator><description>d</description>ALONE</evaluator></task>",
            310,
        ),
        (
            "<task type=\"director_evaluator_loop\"><description>d</description><director><description>d</description>ALONE</director>\
          <script_execution><description>d</description><command shell=\"sh\">echo {{director_result}}</command></script_execution><evaluator><description>d</description>ALONE</evaluator></task>",
            326,
        ),
        (
            "<task type=\"reduce\"><description>d</description><inputs><input name=\"i\">a</input></inputs><inner_task><description>d</description>ALONE</inner_task>\
          <reduction_task><description>d</description><system>{{accumulator}}</system>ALONE</reduction_task><initial_value>a</initial_value></task>",
            310,
        ),
        (
            "<task><description>d</description><inputs><input name=\"i\"><task><description>d</description></task></input></inputs><system>{{i}}</system></task>",
            310,
        ),
        (
            "<task><description>d</description><system>{{ f(\"a\") }}</system></task>",
            310,
        ),
        (
            "<task as=\"x\"><description>d</description></task><call template=\"s\"><arg name=\"a\" from=\"x\"/></call>",
            310,
        ),
        ("<task ref=\"nn\"/>", 310),
        (
            "<task as=\"x\"><description>d</description></task><task profile=\"bare\"><description>{{x}}</description></task>",
            325,
        ),
    ] {
        let library = sequence(&steps.replace("ALONE", ALONE));
        let found = codes(&library, &project(&["caller"]));
        assert!(
            !found.is_empty() && found.iter().all(|found| *found == code),
            "{found:?} {steps}"
        );
        assert_eq!(codes(&library, &project(&["plain"])), [0_u16; 0], "{steps}");
    }
}

/// An answer that cannot hold a text carries no instructions.
#[test]
fn an_answer_that_cannot_hold_a_text_stays_trusted() {
    let step = |format: &str| format!("<task as=\"x\"><description>d</description>{format}</task>");
    for format in [
        "<output_format type=\"json\" schema=\"boolean\"/>",
        "<output_format type=\"json\" schema=\"number\"/>",
    ] {
        for used in [SYSTEM, SHELL] {
            assert_eq!(
                codes(
                    &sequence(&[&step(format), used].concat()),
                    &project(&["caller"])
                ),
                [0_u16; 0],
                "{format}"
            );
        }
    }
    let library = sequence(&[&step(""), SYSTEM].concat());
    assert_eq!(codes(&library, &project(&["caller"])), [310]);
}

/// Several roles of one task, and several tasks that lead to one place, are one finding.
#[test]
fn a_place_is_found_once_for_all_roles() {
    let library = sequence("<task ref=\"n\"/>")
        .replace("</library>", "<task ref=\"n\" name=\"u\"/></library>");
    let roles = |names: &[(&str, &str)]| -> Config {
        let role = |(name, task): &(&str, &str)| {
            format!("[roles.{name}]\ntemplate = \"{task}\"\ntools = [\"fetch\"]\n")
        };
        read(&names.iter().map(role).collect::<Vec<_>>().concat())
    };
    let message = |names: &[(&str, &str)]| {
        let found = errors(&library, &roles(names));
        assert_eq!(found.len(), 1, "{found:#?}");
        found[0].message.clone()
    };
    let rest = "`one` comes from outside and would be part of the system text";
    assert_eq!(
        message(&[("a", "t")]),
        format!("with the tools of role `a`, which plays the task `t`, {rest}")
    );
    let two = message(&[("a", "t"), ("b", "t")]);
    assert_eq!(
        two,
        format!(
            "with the tools of role `a`, which plays the task `t`, and of one more role, {rest}"
        )
    );
    let three = message(&[("a", "t"), ("b", "u"), ("c", "n")]);
    assert!(
        three.ends_with(&format!(", and of 2 more roles, {rest}")),
        "{three}"
    );
}

/// A role has tools if one of its listed tools is not blocked, for defined and undefined names.
#[test]
fn a_role_has_tools_where_one_is_left() {
    for (tools, has_tools) in [
        ("", false),
        ("tools = []", false),
        ("blocked_tools = [\"git_*\"]", false),
        ("tools = [\"fetch\"]", true),
        ("tools = [\"git_*\"]", true),
        ("tools = [\"git_*\"]\nblocked_tools = [\"git_push\"]", true),
        (
            "tools = [\"git_log\", \"git_*\"]\nblocked_tools = [\"g*\"]",
            false,
        ),
        (
            "tools = [\"git_log\"]\nblocked_tools = [\"git_log\"]",
            false,
        ),
    ] {
        let config = read(&format!("[roles.a]\ntemplate = \"t\"\n{tools}\n"));
        assert_eq!(config.roles["a"].has_tools(), has_tools, "{tools}");
    }
}

/// A registry that was compiled before `/tools` existed keeps its results trusted.
#[test]
fn a_registry_without_the_source_has_trusted_results() {
    let library = sequence(
        "<task as=\"x\"><description>d</description></task><task><description>{{x}}</description></task>",
    );
    let built = compile_sources(&Config::default(), [("a.xml", &*library)])
        .registry
        .unwrap();
    let text = String::from_utf8(built.as_bytes().to_vec()).unwrap();
    assert!(text.contains("{\"at\":\"/tools\"}"), "{text}");
    let older = Registry::read(text.replace("/tools", "/parameters/none").as_bytes()).unwrap();
    let role = &project(&["caller"]).roles["caller"];
    let is_open = |registry: &Registry| {
        let results = BTreeMap::from([(
            "x".to_owned(),
            StepResult {
                content: json!(EVIL),
                ..StepResult::default()
            },
        )]);
        let request = Request {
            node: "/steps/1",
            results: &results,
            ..Request::of_role(role)
        };
        let assembly = assemble(registry, &request, &Options::default()).unwrap();
        let text: String = assembly
            .messages
            .iter()
            .map(|message| message.as_str().replace(&assembly.report.nonce, "N"))
            .collect();
        outside(&text).contains(EVIL)
    };
    assert_eq!((is_open(&built), is_open(&older)), (false, true));
}
