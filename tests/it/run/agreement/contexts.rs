//! The content and trust that reach an agent: `check` and a run agree about them.

use super::generator::Drawn;
use super::probe::{Verdict, probe};

fn verdict(templates: &str) -> Verdict {
    probe(&Drawn {
        templates: templates.to_owned(),
        ..Drawn::default()
    })
}

fn is_sound(templates: &str) {
    let verdict = verdict(templates);
    assert!(
        matches!(verdict, Verdict::Sound(_)),
        "{templates}\n{verdict:?}"
    );
}

fn is_refused(templates: &str, rule: &str) {
    let verdict = verdict(templates);
    assert!(
        matches!(&verdict, Verdict::Refused(errors) if errors.len() == 1 && errors[0].starts_with(rule)),
        "{templates}\n{verdict:?}"
    );
}

/// A script after a step with an untrusted answer, and a template with a text that calls a
/// function.
fn behind_a_letter(script: &str, function: &str) -> String {
    format!(
        "<library><task name='t' type='sequential'><description>d</description><parameters><parameter name='m' required='true' trust='untrusted'/>\
         </parameters><steps><task as='a'><description>Read {{{{m}}}}.</description></task>{script}</steps></task>\
         <template name='f' params='x'><task>{function}<description>Look at {{{{x}}}}.</description></task></template></library>"
    )
}

/// The same templates without the step.
fn marked_alone(script: &str) -> String {
    behind_a_letter(script, "").replace(
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
    is_refused(&behind_a_letter(&bare, ""), "untrusted-in-bare");
    is_sound(&behind_a_letter(
        &bare,
        "<context_management><inherit_context>none</inherit_context><fresh_context>disabled</fresh_context></context_management>",
    ));
    is_sound(&behind_a_letter(&script("", call), ""));
    is_sound(&behind_a_letter(
        &script(" profile='bare'", "<description>d</description>"),
        "",
    ));
    let marked = bare.replace("<description>", "<description trust='untrusted'>");
    is_refused(&marked_alone(&marked), "untrusted-in-bare");
}

#[test]
fn a_shell_is_given_no_answer_of_an_agent_that_inherits_what_is_from_outside() {
    let script = "<task type='script'><description>d</description><command shell='sh'>echo {{f('it')}}</command></task>";
    let verdict = verdict(&behind_a_letter(script, ""));
    assert!(matches!(verdict, Verdict::Refused(_)), "{verdict:?}");
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
    is_sound(&format!(
        "<task name='t'><description>d</description>{parameters}<inputs><input name='i'>{}</input></inputs><system>It is {{{{i}}}}.</system></task>",
        chain("")
    ));
    is_sound(&format!(
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
    is_sound(
        "<library><task name='t'><description>d</description><inputs><input name='a'><task><description>x</description></task></input>\
         <input name='b'><task><description>See {{c}}.</description><inputs><input name='c'><task ref='q'/></input><input name='d'><task>\
         <description>y</description><criteria>See {{a}}.</criteria></task></input></inputs></task></input></inputs></task>\
         <task name='q'><description>q</description></task></library>",
    );
}

#[test]
fn the_first_round_is_looked_up_as_it_is_run() {
    is_sound(
        "<task type='reduce' name='t'><description>d</description><inputs><input name='x'>words of the input</input></inputs><initial_value>none</initial_value>\
         <inner_task><parameters><parameter name='current_input' type='string' required='true'/></parameters><description>i</description>\
         <context_management><inherit_context>subset</inherit_context></context_management><instructions>no words</instructions></inner_task>\
         <reduction_task><description>r {{current_result}} {{accumulator}}</description></reduction_task></task>",
    );
}
