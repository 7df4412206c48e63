//! The content and trust that reach an agent: `check` and a run agree about them.

use super::generator::DrawnProject;
use super::probe::{ProjectVerdict, probe_project};

fn probe_templates(templates: &str) -> ProjectVerdict {
    probe_project(&DrawnProject {
        templates: templates.to_owned(),
        ..DrawnProject::default()
    })
}

fn assert_sound(templates: &str) {
    let verdict = probe_templates(templates);
    assert!(
        matches!(verdict, ProjectVerdict::Sound(_)),
        "{templates}\n{verdict:?}"
    );
}

fn assert_refused(templates: &str, rule: &str) {
    let verdict = probe_templates(templates);
    assert!(
        matches!(&verdict, ProjectVerdict::Refused(errors) if errors.len() == 1 && errors[0].starts_with(rule)),
        "{templates}\n{verdict:?}"
    );
}

/// A script after a step with an untrusted answer, and a template with a text that calls a
/// function.
fn script_after_untrusted_step(script: &str, function: &str) -> String {
    format!(
        "<library><task name='t' type='sequential'><description>d</description><parameters><parameter name='m' required='true' trust='untrusted'/>\
         </parameters><steps><task as='a'><description>Read {{{{m}}}}.</description></task>{script}</steps></task>\
         <template name='f' params='x'><task>{function}<description>Look at {{{{x}}}}.</description></task></template></library>"
    )
}

/// The same templates without the step.
fn script_alone(script: &str) -> String {
    script_after_untrusted_step(script, "").replace(
        "<task as='a'><description>Read {{m}}.</description></task>",
        "",
    )
}

#[test]
fn an_agent_that_a_text_of_a_script_calls_is_shown_what_is_there_before_the_script() {
    let script = |profile: &str, text: &str| {
        format!(
            "<task type='script'{profile}>{text}<command><arg>echo</arg><arg>x</arg></command></task>"
        )
    };
    let call = "<description>Of {{f('it')}}.</description>";
    let bare = script(" profile='bare'", call);
    assert_refused(&script_after_untrusted_step(&bare, ""), "untrusted-in-bare");
    assert_sound(&script_after_untrusted_step(
        &bare,
        "<context_management><inherit_context>none</inherit_context><fresh_context>disabled</fresh_context></context_management>",
    ));
    assert_sound(&script_after_untrusted_step(&script("", call), ""));
    assert_sound(&script_after_untrusted_step(
        &script(" profile='bare'", "<description>d</description>"),
        "",
    ));
    let marked = bare.replace("<description>", "<description trust='untrusted'>");
    assert_refused(&script_alone(&marked), "untrusted-in-bare");
}

#[test]
fn a_shell_is_given_no_answer_of_an_agent_that_inherits_what_is_from_outside() {
    let script = "<task type='script'><description>d</description><command shell='sh'>echo {{f('it')}}</command></task>";
    let verdict = probe_templates(&script_after_untrusted_step(script, ""));
    assert!(matches!(verdict, ProjectVerdict::Refused(_)), "{verdict:?}");
}

#[test]
fn the_form_of_an_answer_is_that_of_the_last_agent_in_it() {
    let boolean = "<output_format type='json' schema='boolean'/>";
    let chain = |last: &str| {
        format!(
            "<task type='sequential'><description>x</description><steps><task as='a'><description>a {{{{m}}}}</description></task>\
             <task><description>b {{{{a}}}}</description>{last}{boolean}</task></steps></task>"
        )
    };
    let parameters =
        "<parameters><parameter name='m' required='true' trust='untrusted'/></parameters>";
    assert_sound(&format!(
        "<task name='t'><description>d</description>{parameters}<inputs><input name='i'>{}</input></inputs><system>It is {{{{i}}}}.</system></task>",
        chain("")
    ));
    assert_sound(&format!(
        "<task type='reduce' name='t'><description>d</description>{parameters}<inputs><input name='x' from='m'/><input name='y' from='m'/></inputs>\
         <initial_value>none</initial_value><inner_task><description>i {{{{current_input}}}}</description></inner_task>\
         <reduction_task>{}</reduction_task></task>",
        chain(
            "<instructions>{{current_result}}</instructions><system>So far {{accumulator}}.</system>"
        )
    ));
}

#[test]
fn an_input_waits_for_a_text_that_it_inherits_whatever_else_it_lacks() {
    assert_sound(
        "<library><task name='t'><description>d</description><inputs><input name='a'><task><description>x</description></task></input>\
         <input name='b'><task><description>See {{c}}.</description><inputs><input name='c'><task ref='q'/></input><input name='d'><task>\
         <description>y</description><criteria>See {{a}}.</criteria></task></input></inputs></task></input></inputs></task>\
         <task name='q'><description>q</description></task></library>",
    );
}

#[test]
fn the_first_round_is_looked_up_as_it_is_run() {
    assert_sound(
        "<task type='reduce' name='t'><description>d</description><inputs><input name='x'>words of the input</input></inputs><initial_value>none</initial_value>\
         <inner_task><parameters><parameter name='current_input' type='string' required='true'/></parameters><description>i</description>\
         <context_management><inherit_context>subset</inherit_context></context_management><instructions>no words</instructions></inner_task>\
         <reduction_task><description>r {{current_result}} {{accumulator}}</description></reduction_task></task>",
    );
}
