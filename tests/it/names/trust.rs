//! Trust follows data: a value made of something from outside is from outside, on every way to a
//! system text.

use super::linked::places;
use crate::project::reading::read;
use crate::support::examples::RuleExamples as _;
use ctxc::compile_sources;
use ctxc::internals::rules::list;
use pretty_assertions::assert_eq;

const MAIL: &str = "<parameters><parameter name=\"mail\" trust=\"untrusted\"/><parameter name=\"n\" type=\"integer\" trust=\"untrusted\"/></parameters>";
/// The description of an agent that sees the mail, a text from outside.
const SEES: &str = "<description>{{mail}}</description>";

/// The findings of text from outside in a system text: for a task with these steps, in a library
/// with further definitions.
fn trust_findings(rest: &str, steps: &str) -> Vec<String> {
    let all = format!(
        "<library>{rest}<task type=\"sequential\" name=\"t\"><description>d</description>{MAIL}<steps>{steps}</steps></task></library>"
    );
    places(&all, &["CTX310"])
}

/// A step with a text in its system text, where nothing from outside may stand.
fn system_step(what: &str) -> String {
    format!("<task><description>act</description><system>Do {what}.</system></task>")
}

#[test]
fn a_result_is_what_its_agent_was_shown() {
    let alone = "<context_management><inherit_context>none</inherit_context></context_management>";
    let looks = "<context_management><inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management>";
    for step in [
        format!("<task as=\"r\">{SEES}</task>"),
        "<task as=\"r\"><description>d</description><inputs><input name=\"i\" from=\"mail\"/></inputs></task>".to_owned(),
        "<task as=\"r\"><description>d</description><instructions trust=\"untrusted\">from a page</instructions></task>".to_owned(),
        "<task as=\"r\"><description>d</description><history/></task>".to_owned(),
        format!("<task as=\"r\"><description>d</description>{looks}</task>"),
        "<task as=\"r\" trust=\"untrusted\"><description>d</description></task>".to_owned(),
        format!("<cond as=\"r\"><case test=\"n == 1\"><task>{SEES}</task></case></cond>"),
        format!("<task type=\"sequential\" as=\"r\"><description>d</description><steps><task><description>a</description></task><task>{SEES}</task></steps></task>"),
        format!("<task as=\"a\">{SEES}</task><task as=\"r\"><description>{{{{a}}}}</description></task>"),
        "<task as=\"r\"><description>d</description><inputs><input name=\"i\"><task><description>{{mail}}</description></task></input></inputs></task>".to_owned(),
    ] {
        assert_eq!(trust_findings("", &format!("{step}{}", system_step("{{r}}"))), ["CTX310 r"], "{step}");
    }
    for step in [
        format!("<task as=\"r\"><description>d</description>{alone}</task>"),
        "<task as=\"r\"><description>{{n}}</description></task>".to_owned(),
        format!("<task as=\"r\" trust=\"trusted\">{SEES}</task>"),
        format!("<task as=\"r\">{SEES}<output_format type=\"json\" schema=\"number\"/></task>"),
    ] {
        assert_eq!(
            trust_findings("", &format!("{step}{}", system_step("{{r}}"))),
            [""; 0],
            "{step}"
        );
    }
}

#[test]
fn what_a_pipeline_hands_in_is_from_outside_under_its_name() {
    for name in ["previous_output", "failure_history"] {
        let task = |mark: &str| {
            format!(
                "<task name=\"t\"><description>d</description><parameters><parameter name=\"{name}\" default=\"none\"{mark}/></parameters>\
                 <system>Before: {{{{{name}}}}}</system></task>"
            )
        };
        assert_eq!(places(&task(""), &["CTX310"]).len(), 1, "{name}");
        assert_eq!(
            places(&task(" trust=\"trusted\""), &["CTX310"]),
            [""; 0],
            "{name}"
        );
    }
}

#[test]
fn context_carries_what_it_is_made_of() {
    let inherits = |value: &str| {
        format!(
            "<context_management><inherit_context>{value}</inherit_context><accumulate_data>false</accumulate_data><fresh_context>disabled</fresh_context></context_management>"
        )
    };
    let nest = |outer: &str, inner: &str| {
        format!(
            "<task type=\"sequential\" as=\"o\">{outer}{}<steps><task as=\"r\"><description>d</description>{}</task>{}</steps></task>",
            inherits("none"),
            inherits(inner),
            system_step("{{r}}")
        )
    };
    assert_eq!(trust_findings("", &nest(SEES, "full")), ["CTX310 r"]);
    assert_eq!(trust_findings("", &nest(SEES, "subset")), ["CTX310 r"]);
    assert_eq!(trust_findings("", &nest(SEES, "none")), [""; 0]);
    assert_eq!(
        trust_findings("", &nest("<description>d</description>", "full")),
        [""; 0]
    );
    // The results of earlier steps reach the steps that see them, and no others.
    let steps = |accumulates: &str| {
        format!(
            "<task type=\"sequential\"><description>d</description><context_management><inherit_context>none</inherit_context><accumulate_data>{accumulates}</accumulate_data><accumulation_format>notes_only</accumulation_format><fresh_context>disabled</fresh_context></context_management>\
             <steps><task>{SEES}{alone}</task><task as=\"r\"><description>d</description>{alone}</task>{}</steps></task>",
            system_step("{{r}}"),
            alone = inherits("none"),
        )
    };
    assert_eq!(trust_findings("", &steps("true")), ["CTX310 r"]);
    assert_eq!(trust_findings("", &steps("false")), [""; 0]);
}

#[test]
fn the_result_of_a_reference_or_call_is_from_outside_like_its_inputs() {
    // A task that takes the mail by name.
    let q = |body: &str, tail: &str| {
        format!(
            "<task type=\"atomic\" name=\"q\">{body}<parameters><parameter name=\"mail\"/></parameters>{tail}</task>"
        )
    };
    let alone = "<context_management><inherit_context>none</inherit_context></context_management>";
    let uses = format!("<task ref=\"q\" as=\"r\"/>{}", system_step("{{r}}"));
    assert_eq!(trust_findings(&q(SEES, ""), &uses), ["CTX310 r"]);
    assert_eq!(
        trust_findings(
            &q(SEES, "").replace(" name=\"mail\"", " name=\"mail\" type=\"number\""),
            &uses
        ),
        [""; 0]
    );
    // A function of `a` and `b`; `b` is the mail in each call.
    let f = |body: &str| {
        format!(
            "<template name=\"f\" params=\"a b\"><task type=\"atomic\"><description>{{{{a}}}} {body}</description>{alone}</task></template><task name=\"z\" type=\"atomic\"><description>z</description>{alone}</task>"
        )
    };
    let call = |a: &str, tail: &str| {
        format!(
            "<call template=\"f\" as=\"r\"{tail}><arg name=\"a\">{a}</arg><arg name=\"b\" from=\"mail\"/></call>{}",
            system_step("{{r}}")
        )
    };
    assert_eq!(trust_findings(&f("{{b}}"), &call("x", "")), ["CTX310 r"]);
    assert_eq!(
        trust_findings(&f(""), &call("x {{mail}}", "")),
        ["CTX310 r"]
    );
    assert_eq!(trust_findings(&f(""), &call("x", "")), [""; 0]);
    assert_eq!(
        trust_findings(&f("{{b}}"), &call("x", " trust=\"trusted\"")),
        [""; 0]
    );
    assert_eq!(
        trust_findings(
            &f(""),
            &format!("<task ref=\"z\" as=\"r\"/>{}", system_step("{{r}}"))
        ),
        [""; 0]
    );
    // A result that is handed to a function, and its system text.
    let says_it = "<template name=\"f\" params=\"a\"><task type=\"atomic\"><description>d</description><system>Do {{a}}</system></task></template>";
    let step = format!(
        "<task as=\"r\">{SEES}</task><call template=\"f\"><arg name=\"a\">see {{{{r}}}}</arg></call>"
    );
    assert_eq!(trust_findings(says_it, &step), ["CTX310 f"]);
    // A fragment that names a value; one that is from outside.
    let fragment = "<fragment name=\"g\">{{mail}}</fragment><fragment name=\"w\" trust=\"untrusted\">x</fragment>";
    for used in ["g", "w"] {
        let step = format!(
            "<task as=\"r\"><description>d <use fragment=\"{used}\"/></description></task>{}",
            system_step("{{r}}")
        );
        assert_eq!(trust_findings(fragment, &step), ["CTX310 r"]);
    }
}

/// A reference passes on the context around it, as the parts written in its place see it.
#[test]
fn the_context_around_a_reference_reaches_what_is_behind_it() {
    let set = |inherits: &str, accumulates: &str| {
        format!(
            "<context_management><inherit_context>{inherits}</inherit_context><accumulate_data>{accumulates}</accumulate_data><accumulation_format>full_output</accumulation_format><fresh_context>disabled</fresh_context></context_management>"
        )
    };
    let inner = |head: &str, inherits: &str| {
        let steps = format!(
            "<steps><task as=\"one\"><description>d</description></task>{}</steps>",
            system_step("{{one}}")
        );
        format!(
            "<task type=\"sequential\"{head}><description>d</description>{}{steps}</task>",
            set(inherits, "false")
        )
    };
    let alone = "<context_management><inherit_context>none</inherit_context><fresh_context>disabled</fresh_context></context_management>";
    let h = format!(
        "<template name=\"h\" params=\"a\"><task type=\"atomic\"><description>{{{{a}}}}</description>{alone}</task></template>"
    );
    let outer = |what: &str, (inherits, accumulates): (&str, &str), tail: &str| {
        let (text, step) = match what {
            "text" => ("{{mail}}", String::new()),
            "call" => ("{{h(mail)}}", String::new()),
            "step" => ("d", format!("<task>{SEES}{alone}</task>")),
            _ => (
                "d",
                format!("<task><description>{{{{h(mail)}}}}</description>{alone}</task>"),
            ),
        };
        format!(
            "<task type=\"sequential\"><description>{text}</description>{}<steps>{step}{tail}</steps></task>",
            set(inherits, accumulates)
        )
    };
    for what in ["text", "call", "step", "call in a step"] {
        for around in [("full", "false"), ("none", "true")] {
            for inherits in ["full", "none"] {
                let library = format!(
                    "{h}{}<task ref=\"n\" name=\"nn\"/>",
                    inner(" name=\"n\"", inherits)
                );
                let in_place = trust_findings(&library, &outer(what, around, &inner("", inherits)));
                for name in ["n", "nn"] {
                    let behind = trust_findings(
                        &library,
                        &outer(what, around, &format!("<task ref=\"{name}\"/>")),
                    );
                    assert_eq!(
                        behind.len(),
                        in_place.len(),
                        "{what}, {around:?}, {inherits}, {name}: {behind:?}"
                    );
                }
                let reaches = if what.contains("step") {
                    around.1 == "true"
                } else {
                    inherits == "full"
                };
                assert_eq!(
                    in_place.len(),
                    usize::from(reaches),
                    "{what}, {around:?}, {inherits}"
                );
            }
        }
    }
}

/// A script is made of its command and its environment, and of nothing that agents are shown.
#[test]
fn a_script_is_made_of_what_it_is_given() {
    let script = |text: &str, command: &str| {
        let script = format!(
            "<task type=\"script\" as=\"r\"><description>{text}</description>{command}</task>"
        );
        let carries = "<context_management><inherit_context>none</inherit_context><accumulate_data>true</accumulate_data><accumulation_format>full_output</accumulation_format></context_management>";
        let alone =
            "<context_management><inherit_context>none</inherit_context></context_management>";
        let says = system_step("{{r}}").replace("</task>", &format!("{alone}</task>"));
        trust_findings(
            "",
            &format!(
                "<task type=\"sequential\"><description>d {{{{mail}}}}</description>{carries}<steps><task>{SEES}{alone}</task>{script}{says}</steps></task>"
            ),
        )
    };
    let runs = "<command><arg>ls</arg></command>";
    assert_eq!(script("d", runs), [""; 0]);
    assert_eq!(script("lists {{mail}}", runs), [""; 0]);
    assert_eq!(
        script("d", "<command><arg>ls</arg><arg>{{mail}}</arg></command>"),
        ["CTX310 r"]
    );
    assert_eq!(
        script(
            "d",
            &format!("{runs}<env inherit=\"none\"><var name=\"A\">{{{{mail}}}}</var></env>")
        ),
        ["CTX310 r"]
    );
}

#[test]
fn rounds_carry_trust_on() {
    let looped = |system: &str| {
        format!(
            "<task type=\"director_evaluator_loop\"><description>d</description><director>{SEES}</director>\
             <evaluator><description>{{{{director_result}}}}</description>{system}</evaluator></task>"
        )
    };
    assert_eq!(
        trust_findings("", &looped("<system>{{director_result}}</system>")),
        ["CTX310 director_result"]
    );
    assert_eq!(
        trust_findings("", &looped("<system>{{current_iteration}}</system>")),
        [""; 0]
    );
    let reduced = "<task type=\"reduce\"><description>d</description><inputs><input name=\"i\" from=\"mail\"/></inputs><initial_value>none</initial_value>\
         <inner_task><description>{{current_input}}</description></inner_task>\
         <reduction_task><description>{{current_result}}</description><system>{{accumulator}}</system></reduction_task></task>";
    assert_eq!(trust_findings("", reduced), ["CTX310 accumulator"]);
}

/// A value has one trust: it is from outside under its new name and under its old one, at any
/// position.
#[test]
fn a_mark_is_one_of_the_value() {
    let with = |input: &str, system: &str| {
        let marks = format!(
            "<task><description>d</description><inputs><input name=\"x\" {input}</inputs></task>"
        );
        format!(
            "<task type=\"sequential\" name=\"t\"><description>d {{{{p}}}}</description><parameters><parameter name=\"p\"/></parameters>{system}<steps>{marks}</steps></task>"
        )
    };
    let checked = "<inputs><input name=\"c\" from=\"p.id\" trust=\"trusted\"/></inputs><system>{{c}}</system>";
    for input in [
        "from=\"p.body\" trust=\"untrusted\"/>",
        "trust=\"untrusted\"> {{p.body}} </input>",
    ] {
        assert_eq!(
            places(&with(input, "<system>{{p}}</system>"), &["CTX310"]),
            ["CTX310 p"]
        );
        assert_eq!(places(&with(input, checked), &["CTX310"]), [""; 0]);
    }
    let inner = "<task type=\"sequential\" name=\"t\"><description>d</description><parameters><parameter name=\"p\"/></parameters><system>{{p}}</system>\
         <steps><task><description>{{p}}</description><parameters><parameter name=\"p\" trust=\"untrusted\"/></parameters></task></steps></task>";
    assert_eq!(places(inner, &["CTX310"]), ["CTX310 p"]);
}

#[test]
fn the_examples_are_what_they_say() {
    let rule = list::all_rules()
        .find(|rule| rule.meta.code.0 == 310)
        .unwrap();
    // Those with a project are found by its roles alone.
    for example in rule
        .meta
        .bad_examples()
        .into_iter()
        .filter(|example| example.project.is_empty())
    {
        assert_eq!(
            places(example.template, &["CTX310"]).len(),
            1,
            "{}",
            example.template
        );
    }
    for example in rule.meta.good_examples() {
        assert_eq!(
            places(example.template, &["CTX310"]),
            [""; 0],
            "{}",
            example.template
        );
    }
}

/// The first value of an accumulator is the initial one, with any form of the later ones.
#[test]
fn an_accumulator_is_its_initial_value_too() {
    let reduce = |initial: &str, answer: &str| {
        trust_findings(
            "",
            &format!(
                "<task type=\"reduce\"><description>d</description><inputs><input name=\"i\">x</input></inputs>{initial}\
                 <context_management><inherit_context>none</inherit_context><fresh_context>disabled</fresh_context></context_management>\
                 <inner_task>{SEES}</inner_task><reduction_task><description>merge {{{{current_result}}}}</description><system>So far: {{{{accumulator}}}}</system>\
                 <output_format type=\"json\" schema=\"{answer}\"/></reduction_task></task>"
            ),
        )
    };
    for initial in [
        "<initial_value>{{mail}}</initial_value>",
        "<initial_value from=\"mail\"/>",
        "<initial_value trust=\"untrusted\">x</initial_value>",
    ] {
        assert_eq!(
            reduce(initial, "number"),
            ["CTX310 accumulator"],
            "{initial}"
        );
    }
    for initial in [
        "<initial_value>0</initial_value>",
        "<initial_value from=\"n\"/>",
        "<initial_value from=\"mail\" trust=\"trusted\"/>",
    ] {
        assert_eq!(reduce(initial, "number"), [""; 0], "{initial}");
        assert_eq!(
            reduce(initial, "string[]"),
            ["CTX310 accumulator"],
            "{initial}"
        );
    }
}

/// A text without fences takes nothing from outside, on any path.
#[test]
fn the_profile_bare_takes_nothing_from_outside() {
    let others = "<fragment name=\"g\" trust=\"untrusted\">from a page</fragment><fragment name=\"h\">see {{mail}}</fragment>\
        <task type=\"atomic\" name=\"q\" profile=\"bare\"><description>sort {{mail}}</description></task>\
        <template name=\"f\" params=\"a\"><task type=\"atomic\" profile=\"bare\"><description>see {{a}}</description></task></template>";
    let bare = |steps: &str| {
        let all = format!(
            "<library>{others}<task type=\"sequential\" name=\"t\"><description>d</description>{MAIL}\
             <context_management><inherit_context>none</inherit_context></context_management><steps>{steps}</steps></task></library>"
        );
        places(&all, &["CTX310", "CTX325"])
    };
    for (step, trust_findings) in [
        (
            "<task profile=\"bare\"><description>see {{mail}}</description></task>",
            "CTX325 mail",
        ),
        (
            "<task profile=\"bare\"><description syntax=\"jinja\">{% if n %}{{ mail | upper }}{% endif %}</description></task>",
            "CTX325 mail",
        ),
        (
            "<task profile=\"bare\"><description>d</description><instructions trust=\"untrusted\">x</instructions></task>",
            "CTX325 trust=\"untrusted\"",
        ),
        (
            "<task profile=\"bare\"><description>d</description><inputs><input name=\"i\" from=\"mail\"/></inputs></task>",
            "CTX325 i",
        ),
        (
            "<task profile=\"bare\"><description>d {{i}}</description><inputs><input name=\"i\" from=\"mail\"/></inputs></task>",
            "CTX325 i",
        ),
        (
            "<task profile=\"bare\"><description>d <use fragment=\"g\"/></description></task>",
            "CTX325 g",
        ),
        (
            "<task profile=\"bare\"><description>d <use fragment=\"h\"/></description></task>",
            "CTX325 h",
        ),
        (
            "<task profile=\"bare\"><description>d</description><system>s {{mail}}</system></task>",
            "CTX310 mail",
        ),
        ("<task ref=\"q\"/>", "CTX325 q"),
        (
            "<call template=\"f\"><arg name=\"a\" from=\"mail\"/></call>",
            "CTX325 f",
        ),
        (
            "<task type=\"sequential\"><description>d {{mail}}</description><steps><task profile=\"bare\"><description>d</description></task></steps></task>",
            "CTX325 task",
        ),
        (
            "<task type=\"sequential\"><description>d</description><steps><task><description>{{mail}}</description></task>\
             <task profile=\"bare\"><description>d</description></task></steps></task>",
            "CTX325 task",
        ),
        (
            "<task profile=\"bare\"><description>d</description><context_management><inherit_context>none</inherit_context>\
             <fresh_context>enabled</fresh_context></context_management></task>",
            "CTX325 task",
        ),
        (
            "<task type=\"sequential\" profile=\"bare\"><description>d</description><steps><task><description>{{mail}}</description></task></steps></task>",
            "CTX325 mail",
        ),
    ] {
        assert_eq!(bare(step), [trust_findings], "{step}");
    }
    for step in [
        "<task><description>see {{mail}}</description></task>",
        "<task profile=\"bare\"><description>see {{n}}</description><history/></task>",
        "<task profile=\"bare\"><description>see {{i}}</description><inputs><input name=\"i\" from=\"mail\" trust=\"trusted\"/></inputs></task>",
        "<task type=\"sequential\" profile=\"bare\"><description>d</description><steps><task profile=\"markdown\"><description>{{mail}}</description></task></steps></task>",
    ] {
        assert_eq!(bare(step), [""; 0], "{step}");
    }
}

/// The profile of the task around a reference, or of a role, is that of the agents behind it that
/// name none.
#[test]
fn the_profile_bare_reaches_what_names_none_itself() {
    let set = |inherits: &str| {
        format!(
            "<context_management><inherit_context>{inherits}</inherit_context><accumulate_data>false</accumulate_data><fresh_context>disabled</fresh_context></context_management>"
        )
    };
    let (alone, full) = (set("none"), set("full"));
    let others = format!(
        "<task type=\"atomic\" name=\"q\"><description>sort {{{{mail}}}}</description></task>\
         <task type=\"atomic\" name=\"own\"><description>sort {{{{ticket}}}}</description><parameters><parameter name=\"ticket\" trust=\"untrusted\" default=\"x\"/></parameters></task>\
         <task type=\"sequential\" name=\"deep\"><description>d</description><steps><task ref=\"own\"/></steps></task>\
         <task type=\"atomic\" name=\"page\"><description>d</description><instructions trust=\"untrusted\">x</instructions>{alone}</task>\
         <task type=\"atomic\" name=\"talk\"><description>d</description><history/>{alone}</task>\
         <task type=\"atomic\" name=\"fenced\" profile=\"xml\"><description>sort {{{{mail}}}}</description>{alone}</task>\
         <task type=\"atomic\" name=\"heir\"><description>d</description>{full}</task>\
         <task type=\"atomic\" name=\"bare_heir\" profile=\"bare\"><description>d</description>{full}</task>\
         <task type=\"atomic\" name=\"orphan\"><description>d</description>{alone}</task>\
         <template name=\"f\" params=\"a\"><task type=\"atomic\"><description>see {{{{a}}}}</description>{alone}</task></template>"
    );
    let found = |profile: &str, description: &str, step: &str| {
        let all = format!(
            "<library>{others}<task type=\"sequential\" name=\"t\"{profile}><description>{description}</description>{MAIL}{alone}<steps>{step}</steps></task></library>"
        );
        places(&all, &["CTX310", "CTX325"])
    };
    let bare = " profile=\"bare\"";
    for (step, at) in [
        ("<task ref=\"q\"/>", "q"),
        ("<task ref=\"own\"/>", "own"),
        ("<task ref=\"deep\"/>", "deep"),
        ("<task ref=\"page\"/>", "page"),
        (
            "<call template=\"f\"><arg name=\"a\" from=\"mail\"/></call>",
            "f",
        ),
    ] {
        assert_eq!(found(bare, "d", step), [format!("CTX325 {at}")], "{step}");
        assert_eq!(found("", "d", step), [""; 0], "{step}");
        assert_eq!(found(" profile=\"xml\"", "d", step), [""; 0], "{step}");
    }
    for step in [
        "<task ref=\"talk\"/>",
        "<task ref=\"fenced\"/>",
        "<task ref=\"orphan\"/>",
        "<call template=\"f\"><arg name=\"a\">x</arg></call>",
    ] {
        assert_eq!(found(bare, "d", step), [""; 0], "{step}");
    }
    assert_eq!(
        found(bare, "{{mail}}", "<task ref=\"heir\"/>"),
        ["CTX325 heir"]
    );
    assert_eq!(found("", "{{mail}}", "<task ref=\"heir\"/>"), [""; 0]);
    assert_eq!(
        found("", "{{mail}}", "<task ref=\"bare_heir\"/>"),
        ["CTX325 bare_heir"]
    );
    let role = |task: &str| {
        let config = format!("[roles.r]\ntemplate = \"{task}\"\nprofile = \"bare\"\n");
        let library = format!("<library>{others}</library>");
        let built = compile_sources(&read(&config), [("a.xml", library.as_str())]);
        built
            .diagnostics
            .iter()
            .filter(|found| found.rule.code.to_string() == "CTX325")
            .map(|found| found.span.slice(&config).to_owned())
            .collect::<Vec<_>>()
    };
    for (task, places) in [
        ("own", 1),
        ("deep", 1),
        ("page", 1),
        ("q", 0),
        ("talk", 0),
        ("fenced", 0),
    ] {
        assert_eq!(role(task), vec!["\"bare\""; places], "{task}");
    }
}
