//! The bound names at each place.

use ctxc::internals::syntax::{XmlLimits, XmlReader};
use ctxc::internals::template::scope::{
    ContextReach, LinkDetail, ScopeFault, ScopeFaultKind, Scopes, resolve_names,
};
use pretty_assertions::assert_eq;
use std::fmt::Write as _;
use std::sync::Arc;

fn scopes<R>(text: &str, sources: &[(&str, &str)], look: impl FnOnce(&Scopes<'_>) -> R) -> R {
    let mut reader = XmlReader::new();
    reader.read(text, &XmlLimits::default());
    let file = ctxc::internals::template::lower_document(reader.document(text));
    let find = |path: &str| {
        sources
            .iter()
            .find(|(own, _)| *own == path)
            .map(|(_, text)| Arc::from(*text))
    };
    look(&resolve_names(
        &file,
        &find,
        &|_| ContextReach::default(),
        LinkDetail::Findings,
    ))
}

/// Implicit parameters, then faults, each as `kind name at “text”`, sorted by place.
fn shown_with(text: &str, sources: &[(&str, &str)]) -> Vec<String> {
    scopes(text, sources, |scopes| {
        let implicit = scopes
            .implicit
            .iter()
            .map(|one| (one.name.span, format!("implicit {}", one.name.value)));
        let faults = scopes.faults.iter().map(|fault| {
            let words = match &fault.kind {
                ScopeFaultKind::Undeclared { name, near, .. } => {
                    format!(
                        "undeclared {name}, near {}",
                        near.as_deref().unwrap_or("none")
                    )
                }
                ScopeFaultKind::NotYet { name, result } => {
                    format!("not yet {name} of `{}`", result.slice(text))
                }
                ScopeFaultKind::Unused { name, .. } => format!("unused {name}"),
                ScopeFaultKind::FromOutside(_) => "untrusted text".to_owned(),
                ScopeFaultKind::Expression { fault, .. } => format!("{:?}", fault.kind),
                ScopeFaultKind::Condition(fault) => format!("expected {:?}", fault.expected),
                ScopeFaultKind::Jinja { .. } => "jinja".to_owned(),
                ScopeFaultKind::BadFrom { meant } => {
                    format!("from, meant {}", meant.as_deref().unwrap_or("none"))
                }
                ScopeFaultKind::UnknownInput { name, .. } => format!("no input {name}"),
                ScopeFaultKind::NoDefault { .. } | _ => "other".to_owned(),
            };
            (
                fault.span,
                format!("{words} at `{}`", fault.span.slice(text)),
            )
        });
        let mut all: Vec<_> = implicit.chain(faults).collect();
        all.sort();
        all.into_iter().map(|(_, words)| words).collect()
    })
}

fn describe_faults(text: &str) -> Vec<String> {
    shown_with(text, &[])
}

const NOTHING: [&str; 0] = [];

#[test]
fn free_variables_of_a_task_that_declares_none_are_implicit_parameters() {
    let text = r#"<task type="sequential" name="t">
  <description>sort {{ticket.text[0]}} for {{ customer }}</description>
  <inputs><input name="tone" from="house.tone"/></inputs>
  <steps>
    <task as="verdict"><description>judge {{ticket}} in {{tone}}</description></task>
    <cond><case test="verdict.severity ge 2 and region == 'eu'"><task><description>{{shorten(verdict, words=limit)}}</description></task></case></cond>
  </steps>
</task>"#;
    let names =
        ["ticket", "customer", "house", "region", "limit"].map(|name| format!("implicit {name}"));
    assert_eq!(describe_faults(text), names);
}

#[test]
fn what_is_no_variable() {
    let text = r#"<task type="atomic" name="t">
  <description>write \{{name}} and <![CDATA[ \{{this}} ]]> { {not} }</description>
  <instructions verbatim="true">{{count}} {{</instructions>
  <system syntax="jinja">{% for part in [1, 2] %}{{ part }} {{ loop.index }}{% endfor %}{% set a = 1 %}{{ a }}</system>
</task>"#;
    assert_eq!(describe_faults(text), NOTHING);
}

#[test]
fn a_task_that_declares_parameters_is_held_to_them() {
    let text = r#"<task type="atomic" name="t">
  <description>sort {{ticket}} by {{custmer}} and {{other}}</description>
  <parameters><parameter name="ticket"/><parameter name="customer"/></parameters>
  <inputs><input name="a" from="tickets.first"/></inputs>
</task>"#;
    assert_eq!(
        describe_faults(text),
        [
            "undeclared custmer, near customer at `custmer`",
            "undeclared other, near none at `other`",
            "unused customer at `customer`",
            "undeclared tickets, near ticket at `tickets`",
        ]
    );
    // An empty list is a declaration too.
    let empty =
        "<task type=\"atomic\" name=\"t\"><description>{{a}}</description><parameters/></task>";
    assert_eq!(describe_faults(empty), ["undeclared a, near none at `a`"]);
}

#[test]
fn a_task_that_makes_an_input_sees_the_inputs_before_it_and_neither_itself_nor_later_ones() {
    let text = r#"<task type="atomic" name="t">
  <description>d</description>
  <parameters><parameter name="p"/></parameters>
  <inputs>
    <input name="one"><task type="atomic"><description>{{p}} {{one}} {{two}}</description></task></input>
    <input name="said">{{one}} {{two}}</input>
    <input name="two"><call template="f"><arg name="x" from="one"/><arg name="y" from="two"/></call></input>
    <input name="p"><task type="atomic"><description>{{p}} {{said}}</description></task></input>
  </inputs>
  <instructions>{{one}} {{two}} {{p}}</instructions>
</task>"#;
    let late = [
        "one of `one` at `one`",
        "two of `two` at `two`",
        "two of `two` at `two`",
        "two of `two` at `two`",
    ];
    assert_eq!(
        describe_faults(text),
        late.map(|words| format!("not yet {words}"))
    );
    // Without parameters, too: a run could not give it under a name that is bound to something
    // else.
    let free = r#"<task type="atomic" name="t"><description>d</description>
  <inputs><input name="one"><task type="atomic"><description>{{one}} {{other}}</description></task></input></inputs></task>"#;
    assert_eq!(
        describe_faults(free),
        ["not yet one of `one` at `one`", "implicit other"]
    );
}

#[test]
fn a_step_sees_what_is_around_it_and_the_results_before_it() {
    let text = r#"<task type="sequential" name="t">
  <description>d</description>
  <parameters><parameter name="p"/></parameters>
  <inputs><input name="i" from="p"/></inputs>
  <steps>
    <task as="one"><description>{{p}} {{i}} {{two}}</description></task>
    <call template="f" as="two"><arg name="x" from="one"/><arg name="y">{{p}} {{two}}</arg></call>
    <task><description>{{one}} {{two}}</description></task>
  </steps>
</task>"#;
    assert_eq!(
        describe_faults(text),
        [
            "not yet two of `two` at `two`",
            "not yet two of `two` at `two`"
        ]
    );
}

#[test]
fn inputs_of_one_task_are_not_those_of_its_neighbour() {
    let text = r#"<task type="sequential" name="t">
  <description>d</description>
  <parameters/>
  <steps>
    <task><description>{{i}}</description><inputs><input name="i">x</input></inputs></task>
    <task><description>{{i}}</description></task>
  </steps>
</task>"#;
    assert_eq!(describe_faults(text), ["undeclared i, near none at `i`"]);
}

#[test]
fn the_variables_of_reduce_and_loop() {
    let reduce = r#"<task type="reduce" name="t">
  <description>d {{current_input}}</description>
  <parameters><parameter name="p"/></parameters>
  <initial_value from="p"/>
  <inner_task><description>{{current_input}} {{accumulator}}</description></inner_task>
  <reduction_task><description>{{current_input}} {{current_result}} {{accumulator}}</description></reduction_task>
</task>"#;
    assert_eq!(
        describe_faults(reduce),
        [
            "undeclared current_input, near none at `current_input`",
            "undeclared accumulator, near none at `accumulator`",
        ]
    );
    let cycle = r#"<task type="director_evaluator_loop" name="t">
  <description>d</description>
  <parameters/>
  <director><description>{{current_iteration}} {{evaluation_feedback}} {{director_result}}</description></director>
  <script_execution><command>check {{director_result}}</command></script_execution>
  <evaluator><description>{{director_result}} {{script_result}} {{evaluation}}</description></evaluator>
  <termination_condition><condition>evaluation.success == true or current_iteration gt 3</condition></termination_condition>
</task>"#;
    assert_eq!(
        describe_faults(cycle),
        [
            "undeclared director_result, near none at `director_result`",
            "undeclared evaluation, near none at `evaluation`",
        ]
    );
}

#[test]
fn a_function_sees_its_parameters_and_nothing_else() {
    let text = r#"<library>
  <template name="f" params="text, words, tone">
    <description>cuts {{text}}</description>
    <task type="atomic">
      <description>{{words}} {{ticket}}</description>
      <parameters><parameter name="words" default="80"/></parameters>
    </task>
  </template>
</library>"#;
    assert_eq!(
        describe_faults(text),
        [
            "unused tone at `tone`",
            "undeclared ticket, near none at `ticket`"
        ]
    );
}

#[test]
fn values_that_may_be_read_elsewhere_are_not_reported_as_unused() {
    let of = |body: &str| {
        let head =
            "<task type=\"sequential\" name=\"t\"><parameters><parameter name=\"p\"/></parameters>";
        describe_faults(&format!(
            "{head}<description>d</description>{body}<steps><task><description>d</description></task></steps></task>"
        ))
    };
    assert_eq!(of(""), ["unused p at `p`"]);
    assert_eq!(
        of("<instructions>a <use fragment=\"f\"/></instructions>"),
        NOTHING
    );
    assert_eq!(of("<instructions src=\"a.md\"/>"), NOTHING);
    assert_eq!(
        of("<file_paths><path>{{p}}/a.rs</path></file_paths>"),
        NOTHING
    );
    let reference = "<task type=\"sequential\" name=\"t\"><description>d</description><parameters><parameter name=\"p\"/></parameters><steps><task ref=\"a\"/></steps></task>";
    assert_eq!(describe_faults(reference), NOTHING);
}

#[test]
fn a_text_in_a_file_of_its_own_is_held_to_the_same() {
    let text = r#"<task type="atomic" name="t">
  <description src="plain.md"/>
  <instructions src="rules.jinja" syntax="jinja"/>
  <parameters><parameter name="a"/><parameter name="b"/></parameters>
</task>"#;
    let clean = [
        ("plain.md", "{{a}} \\{{x}}"),
        ("rules.jinja", "{% if b %}now{% endif %}"),
    ];
    assert_eq!(shown_with(text, &clean), NOTHING);
    let bad = [("plain.md", "{{c}} {{ }}"), ("rules.jinja", "{% if d %}")];
    assert_eq!(
        shown_with(text, &bad),
        [
            "Empty at `plain.md`",
            "undeclared c, near none at `plain.md`",
            "jinja at `rules.jinja`"
        ]
    );
    let far = [
        ("plain.md", "c\nc {{a}}\n  {{c.d}} {{ }}"),
        ("rules.jinja", "dd\n{% if d %}{{ b|nope }}{% endif %}"),
    ];
    let mut inside = scopes(text, &far, |scopes| {
        let one = |fault: &ScopeFault<'_>| {
            let inside = fault.inside.clone().unwrap();
            let text = far
                .iter()
                .find(|(path, _)| **path == *inside.written)
                .unwrap()
                .1;
            format!(
                "{}:{}:{} `{}`",
                inside.written,
                inside.start.line,
                inside.start.column,
                inside.span.slice(text)
            )
        };
        scopes.faults.iter().map(one).collect::<Vec<_>>()
    });
    inside.sort();
    assert_eq!(
        inside,
        [
            "plain.md:3:11 `{{ }}`",
            "plain.md:3:5 `c`",
            "rules.jinja:2:16 `nope`",
            "rules.jinja:2:7 `d`"
        ]
    );
}

#[test]
fn relevance_is_held_to_the_inputs() {
    let text = r#"<task type="atomic" name="t"><description>d</description>
  <inputs><input name="a">x</input></inputs>
  <context_relevance><input name="a"/><input name="b"/></context_relevance></task>"#;
    assert_eq!(describe_faults(text), ["no input b at `b`"]);
}

#[test]
fn damage_hides_what_is_declared() {
    let text = "<task type=\"atomic\" name=\"t\"><parameters><parameter name=\"a></parameters><description>{{a}} {{b}}</description></task>";
    let found: Vec<String> = describe_faults(text)
        .into_iter()
        .filter(|fault| fault.starts_with("undeclared"))
        .collect();
    assert_eq!(found, NOTHING);
}

#[test]
fn many_names_cost_no_more_each() {
    let mut text =
        String::from("<task type=\"atomic\" name=\"t\"><description>d</description><parameters>");
    for n in 0..4_000 {
        let _ = write!(text, "<parameter name=\"p{n}\"/>");
    }
    text.push_str("</parameters><instructions>");
    for n in 0..4_000 {
        let _ = write!(text, "{{{{p{n}}}}} {{{{q{n}}}}} ");
    }
    text.push_str("</instructions></task>");
    let start = std::time::Instant::now();
    let undeclared = scopes(&text, &[], |scopes| {
        scopes.faults.len() + scopes.left_out as usize
    });
    assert_eq!(undeclared, 4_000);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn the_result_of_a_step_is_bound_behind_it_alone() {
    let steps = r#"<steps>
    <task as="one"><description>a {{one}} {{two}} {{three}}</description></task>
    <call template="f" as="two"><arg from="one"/><arg from="two"/></call>
    <cond as="three"><case test="two == three"><task><description>b {{one}}</description></task></case></cond>
    <task type="sequential">
      <description>c {{three}} {{four}}</description>
      <steps><task as="four"><description>d</description></task><task><description>{{four}}</description></task></steps>
    </task>
  </steps>"#;
    let expected = [
        "one of `one`",
        "two of `two`",
        "three of `three`",
        "two of `two`",
        "three of `three`",
        "four of `four`",
    ];
    let expected = expected.map(|name| {
        let (own, _) = name.split_once(' ').unwrap();
        format!("not yet {name} at `{own}`")
    });
    assert_eq!(
        describe_faults(&format!(
            "<task type=\"sequential\" name=\"t\"><description>x</description>{steps}</task>"
        )),
        expected
    );
    // The same where parameters are declared; one of the name of a result comes before it.
    let declared = "<parameters><parameter name=\"three\"/><parameter name=\"four\"/></parameters>";
    let text = format!(
        "<task type=\"sequential\" name=\"t\"><description>x</description>{declared}{steps}</task>"
    );
    assert_eq!(
        describe_faults(&text),
        [expected[0].as_str(), &expected[1], &expected[3]]
    );
    // The surrounding task has no result before its steps, and none of them remains behind.
    let text = "<task type=\"sequential\" name=\"t\"><description>{{one}}</description><inputs><input name=\"i\" from=\"one\"/></inputs><steps><task as=\"one\"><description>d</description></task></steps></task>";
    assert_eq!(
        describe_faults(text),
        [
            "not yet one of `one` at `one`",
            "not yet one of `one` at `one`"
        ]
    );
    let library = format!(
        "<library>{text}<task name=\"u\"><description>{{{{one}}}}</description></task></library>"
    );
    assert_eq!(describe_faults(&library).last().unwrap(), "implicit one");
}
