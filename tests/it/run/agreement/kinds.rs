//! One project for each kind of failure that the random projects once revealed, and the names of
//! rounds in `check` and in a run.

use super::generator::DrawnProject;
use super::probe::{ProjectVerdict, probe_project};
use ctxc::internals::template::round_names::{CONDITION, ROUND_NAMES};
use std::collections::BTreeMap;

fn probe_templates(templates: &str) -> ProjectVerdict {
    let files = BTreeMap::from([("guide.md".to_owned(), "Be kind.".to_owned())]);
    probe_project(&DrawnProject {
        templates: templates.to_owned(),
        files,
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
        matches!(&verdict, ProjectVerdict::Refused(errors) if errors.iter().all(|error| error.starts_with(rule))),
        "{templates}\n{verdict:?}"
    );
}

fn reduce_task(initial: &str, inner: &str, reduction: &str) -> String {
    format!(
        "<task type='reduce' name='t'><description>merge</description><inputs><input name='x'>one</input><input name='y'>two</input></inputs>\
         {initial}<inner_task>{inner}</inner_task><reduction_task>{reduction}</reduction_task></task>"
    )
}

#[test]
fn a_part_runs_as_the_task_that_is_wrapped_in_it() {
    let bodies = [
        "<task><description>x</description></task>",
        "<task type='sequential'><description>x</description><steps><task><description>s {{current_input}}</description></task></steps></task>",
        "<task type='script'><description>x</description><command>true</command></task>",
        "<task type='reduce'><description>x</description><inputs><input name='q' from='current_input'/></inputs>\
         <inner_task><description>i</description></inner_task><reduction_task><description>i</description></reduction_task></task>",
        "<task type='director_evaluator_loop'><description>x</description><director><description>i</description></director>\
         <evaluator><description>i</description></evaluator></task>",
    ];
    for body in bodies {
        assert_sound(&reduce_task(
            "",
            body,
            "<description>o {{current_result}}</description>",
        ));
        assert_sound(&reduce_task(
            "",
            "<description>o {{current_input}}</description>",
            body,
        ));
    }
}

#[test]
fn the_parts_of_a_wrapped_task_have_the_rows_of_its_type() {
    let inner = "<task type='director_evaluator_loop'><description>x</description><director><description>i</description></director>\
                 <evaluator><description>i</description></evaluator></task>";
    let config = crate::project::reading::read(
        "edition = \"2026\"\n[defaults.director_evaluator_loop.director]\ninherit_context = \"none\"\nfresh_context = \"enabled\"\n",
    );
    let text = reduce_task("", inner, "<description>o</description>");
    let registry = ctxc::compile_sources(&config, [("t.xml", &*text)])
        .registry
        .unwrap();
    let root = registry.find("t").unwrap().root().unwrap();
    let director = &root.children[0].node.children[0].node;
    assert_eq!(
        (director.operator.as_deref(), director.subtype.as_deref()),
        (Some("director_evaluator_loop"), Some("director"))
    );
}

#[test]
fn an_accumulator_needs_an_initial_value() {
    let uses = [
        "<description>merge {{current_result}} into {{accumulator}}</description>",
        "<description>merge</description><inputs><input name='so_far' from='accumulator'/></inputs>",
        "<description>merge</description><instructions syntax='jinja'>{% if accumulator is defined %}x{% endif %}</instructions>",
        "<description>merge</description><instructions syntax='jinja'>{% if accumulator %}x{% endif %}</instructions>",
    ];
    for used in uses {
        assert_refused(
            &reduce_task(
                "",
                "<description>look at {{current_input}}</description>",
                used,
            ),
            "undeclared-variable",
        );
        assert_sound(&reduce_task(
            "<initial_value>none</initial_value>",
            "<description>look at {{current_input}}</description>",
            used,
        ));
    }
    // The initial value of a nested reduce belongs to the nested reduce.
    let nested = "<task type='reduce'><description>x</description><inputs><input name='q' from='current_result'/></inputs>\
                  <initial_value from='accumulator'/><inner_task><description>i {{current_input}}</description></inner_task>\
                  <reduction_task><description>into {{accumulator}}</description></reduction_task></task>";
    assert_sound(&reduce_task(
        "<initial_value>none</initial_value>",
        "<description>look</description>",
        nested,
    ));
}

#[test]
fn the_first_round_is_shown_as_it_is_run() {
    assert_sound(&reduce_task(
        "<initial_value>none</initial_value>",
        "<description>look</description><criteria>short: {{current_input}}</criteria>",
        "<description>merge {{current_result}}</description><criteria>into {{accumulator}}</criteria>",
    ));
    assert_sound(
        "<task type='reduce' name='t'><description>merge</description><parameters><parameter name='mail' required='true' trust='untrusted'/>\
         </parameters><inputs><input name='x'>one</input><input name='y' from='mail'/></inputs><initial_value>none</initial_value>\
         <inner_task><description>look</description><criteria>short: {{current_input}}</criteria></inner_task>\
         <reduction_task><description>merge {{current_result}}</description><criteria>into {{accumulator}}</criteria></reduction_task></task>",
    );
}

#[test]
fn an_input_waits_for_those_that_it_reads_in_any_form() {
    let forms = [
        "{% if ia %}so{% endif %}",
        "{% if false %}a{% elif ia %}b{% endif %}",
        "{% for c in [ia] %}.{% endfor %}",
        "{{ ia|upper }}",
        "{{ ia|length }}",
        "{{ 'a' if ia else 'b' }}",
        "{{ ia is defined }}",
        "{{ ia == 'a' }}",
        "{% if ia is eq('a') %}x{% endif %}",
        "{% set v = ia %}{{ v }}",
        "{% with v = ia %}{{ v }}{% endwith %}",
        "{% filter upper %}{{ ia }}{% endfilter %}",
        "{% macro m(p) %}{{ p }}{% endmacro %}{{ m(ia) }}",
        "{{ ia|default('d') }}",
    ];
    let task = |second: &str| {
        format!(
            "<task name='t'><description>top</description><inputs><input name='ia'><task><description>first</description></task></input>\
             <input name='ib'>{second}</input></inputs></task>"
        )
    };
    for form in forms {
        let own = |element: &str| format!("<{element} syntax='jinja'>{form}</{element}>");
        let described = own("description");
        assert_sound(&task(&format!("<task>{described}</task>")));
        assert_sound(&task(&format!(
            "<task><description>d</description><constraints>{}</constraints></task>",
            own("constraint")
        )));
        assert_sound(&task(&format!(
            "<task><description>d</description><inputs><input name='k' syntax='jinja'>{form}</input></inputs></task>"
        )));
        assert_sound(&task(&format!(
            "<task type='sequential'><description>d</description><steps><task>{described}</task></steps></task>"
        )));
        assert_sound(&task(&format!(
            "<task type='script'><description>d</description><command><arg syntax='jinja'>{form}</arg></command></task>"
        )));
    }
    assert_sound(&task(
        "<task type='sequential'><description>d</description><steps><cond><case test=\"ia == 'x'\"><task><description>a</description></task></case></cond></steps></task>",
    ));
    assert_sound(&task(
        "<task type='reduce'><description>d</description><inputs><input name='k' from='ia'/></inputs><inner_task><description>i {{current_input}}</description></inner_task><reduction_task><description>r</description></reduction_task></task>",
    ));
    // Inherited inputs are available before the task's own inputs are computed.
    assert_sound(&task(
        "<task><description>second, which inherits</description><inputs><input name='k'><task subtype='subtask'><description>looks up</description></task></input></inputs></task>",
    ));
}

#[test]
fn check_and_a_run_have_the_same_names_of_rounds() {
    let slots = [
        "inner_task",
        "reduction_task",
        "director",
        "script_execution",
        "evaluator",
        CONDITION,
    ];
    for slot in slots {
        for row in &ROUND_NAMES {
            let name = row.name;
            let text = |own: &str| {
                if own == slot {
                    format!("{{{{{name}}}}}")
                } else {
                    "x".to_owned()
                }
            };
            let part =
                |own: &str| format!("<{own}><description>d {}</description></{own}>", text(own));
            let head = "<description>d</description><parameters><parameter name='p' default='v'/></parameters><criteria>{{p}}</criteria>";
            let templates = if slot.ends_with("_task") {
                format!(
                    "<task type='reduce' name='t'>{head}<inputs><input name='x'>one</input></inputs><initial_value>i</initial_value>{}{}</task>",
                    part("inner_task"),
                    part("reduction_task")
                )
            } else {
                let condition = if slot == CONDITION {
                    format!("{name} != 'x'")
                } else {
                    "p == 'v'".to_owned()
                };
                format!(
                    "<task type='director_evaluator_loop' name='t'>{head}{}<script_execution><command><arg>{}</arg></command></script_execution>{}\
                     <termination_condition><condition>{condition}</condition></termination_condition></task>",
                    part("director"),
                    text("script_execution"),
                    part("evaluator")
                )
            };
            if row.seen_by.contains(&slot) {
                assert_sound(&templates);
            } else {
                assert_refused(&templates, "undeclared-variable");
            }
        }
    }
    // A script result of the outer loop, read inside an inner loop without a script.
    let inner = "<task type='director_evaluator_loop'><description>x</description><director><description>i</description></director>\
                 <evaluator><description>{{script_result}}</description></evaluator></task>";
    assert_sound(&format!(
        "<task type='director_evaluator_loop' name='t'><description>d</description><director><description>d</description></director>\
         <script_execution><command>true</command></script_execution><evaluator>{inner}</evaluator></task>"
    ));
}

#[test]
fn the_number_of_a_round_stays_one_whatever_is_made_of_it() {
    assert_sound(
        "<task type='director_evaluator_loop' name='t'><description>d</description><director><inputs><input name='i' from='current_iteration'/>\
         <input name='j'><task><description>d {{k}}</description><inputs><input name='k' from='i' trust='untrusted'/></inputs></task></input></inputs>\
         <description>{{j}}</description><system>Round {{current_iteration}}.</system></director>\
         <evaluator><description>e</description></evaluator></task>",
    );
}

#[test]
fn a_choice_that_takes_nothing_ends_a_task() {
    assert_sound(
        "<task type='sequential' name='t'><description>d</description><parameters><parameter name='p' default='v'/></parameters>\
         <steps><cond><case test=\"p == 'other'\"><task><description>x</description></task></case></cond></steps></task>",
    );
}

#[test]
fn a_condition_takes_a_value_for_what_its_type_is() {
    let task = |test: &str| {
        format!(
            "<task type='sequential' name='t'><description>d</description><parameters><parameter name='s' type='string' required='true'/>\
             <parameter name='n' type='number' required='true'/><parameter name='b' type='boolean' required='true'/>\
             <parameter name='o' type='object' required='true'/></parameters><inputs><input name='i' from='n'/><input name='w'>words</input></inputs>\
             <criteria>{{{{s}}}} {{{{n}}}} {{{{b}}}} {{{{o}}}} {{{{i}}}} {{{{w}}}}</criteria><steps><task as='r'><description>a</description></task>\
             <cond><case test=\"{test}\"><task><description>x</description></task></case></cond></steps></task>"
        )
    };
    for test in [
        "s lt 3",
        "3 ge s",
        "n lt 'x'",
        "i lt 'x'",
        "w gt 2",
        "s",
        "not n",
        "b lt 3",
        "o gt n",
        "s lt b",
        "s == 'x' and n",
    ] {
        assert_refused(&task(test), "bad-condition");
    }
    for test in [
        "s lt 'x'",
        "n lt 3",
        "i ge 3",
        "b",
        "not b",
        "s == 3",
        "o != 'x'",
        "r == 'x'",
        "n lt i",
        "b == true",
        "o.v == 'x'",
    ] {
        assert_sound(&task(test));
    }
}

#[test]
fn an_implicit_parameter_has_the_type_that_a_body_inside_declares() {
    let text = "<task type='sequential' name='t'><description>outer</description><steps><task><description>Add {{n}} {{pe.b}}</description>\
                <instructions syntax='jinja'>{{ n + 1 }} {% for x in xs %}{{ x }}{% endfor %}</instructions><parameters>\
                <parameter name='n' type='number' required='true'/><parameter name='xs' type='string[]' required='true'/>\
                <parameter name='pe' type='object' required='true'/></parameters></task></steps></task>";
    let registry = ctxc::compile_sources(
        &crate::project::reading::read("edition = \"2026\"\n"),
        [("t.xml", text)],
    )
    .registry
    .unwrap();
    let parameters = registry.find("t").unwrap().parameters().unwrap();
    let kinds: BTreeMap<&str, Option<&str>> = parameters
        .iter()
        .map(|own| (own.name.as_str(), own.kind.as_deref()))
        .collect();
    assert_eq!(
        kinds,
        BTreeMap::from([
            ("n", Some("number")),
            ("xs", Some("string[]")),
            ("pe", Some("object"))
        ])
    );
    assert_sound(&text.replace("pe.b", "pe.v"));
}

#[test]
fn a_default_without_a_field_is_refused_wherever_it_is_read() {
    let object = "<parameter name='u' type='object' default='{}'/>";
    for (parameter, body) in [
        (object, "<description>Say {{u.name}}</description>"),
        (
            "<parameter name='u' type='string[]' default='[\"one\"]'/>",
            "<description>Say {{u[1]}}</description>",
        ),
        (
            object,
            "<inputs><input name='i' from='u.name'/></inputs><description>Say {{i}}</description>",
        ),
        (
            object,
            "<inputs><input name='i' from='u'/></inputs><description syntax='jinja'>Say {{ i.name|upper }}</description>",
        ),
        (
            object,
            "<description>d</description><constraints><constraint>{{f(u)}}</constraint></constraints>",
        ),
    ] {
        let function = "<template name='f' params='x'><task><description>Look at {{x.name}}</description></task></template>";
        assert_refused(
            &format!(
                "<library><task name='t'><parameters>{parameter}</parameters>{body}</task>{function}</library>"
            ),
            "unknown-field",
        );
    }
}

/// Returns a task whose Jinja text reads `u` and `n`, which have defaults, and `c` and `xs`, which
/// have none.
fn task_with_default(default: &str, text: &str) -> String {
    let reads = "{% if c or xs or u or n %}{% endif %}";
    format!(
        "<task type='atomic' name='t'><description syntax='jinja'>Say {text}{reads}</description><parameters><parameter name='u' type='object' default='{default}'/>\
         <parameter name='n' default='few'/><parameter name='c' type='boolean' required='true'/><parameter name='xs' type='string[]' required='true'/>\
         </parameters></task>"
    )
}

#[test]
fn a_default_that_lacks_what_a_text_needs_is_refused() {
    let texts = [
        "{{ u.v }}",
        "{{ u.v|upper }}",
        "{{ u['v'] }}",
        "{{ u.v.w|default('d') }}",
        "{{ u.v|replace('a', 'b') }}",
        "{% for a in u.v %}{{ a }}{% endfor %}",
        "{% set w = u.v %}{{ w }}",
        "{% with w = u %}{{ w.v }}{% endwith %}",
        "{% if u %}{{ u.v }}{% endif %}",
        "{% if not u.v %}{{ u.v }}{% endif %}",
        "{% if u.v %}x{% else %}{{ u.v }}{% endif %}",
        "{% macro m(p) %}{{ p.v }}{% endmacro %}{{ m(u) }}",
        "{% filter upper %}{{ u.v }}{{ c }}{% endfilter %}",
        "{% with w = c %}{{ u.v }}{{ w }}{% endwith %}",
        "{{ 'a' if u.k == 2 else 'b' }}{{ u.v if u.k == 2 else 'b' }}",
        "{{ u.v == c }}",
        "{{ u.v ~ c }}",
        "{{ n + 1 }}",
        "{{ n.v }}",
    ];
    for text in texts {
        let verdict = probe_templates(&task_with_default(r#"{"k": 2}"#, text));
        let is_of = |error: &String| {
            error.starts_with("unknown-field: ")
                || error.starts_with("bad-jinja: this fails with the default")
        };
        assert!(
            matches!(&verdict, ProjectVerdict::Refused(errors) if errors.len() == 1 && is_of(&errors[0])),
            "{text}\n{verdict:?}"
        );
    }
}

#[test]
fn a_text_that_asks_for_what_a_default_lacks_is_sound() {
    let texts = [
        "{{ u.v|default('d') }}",
        "{{ u.v is defined }}",
        "{% if u.v %}{{ u.v }}{% endif %}",
        "{% if u.v is defined and u.v.w %}{{ u.v.w }}{% endif %}",
        "{% if u.v and c %}{{ u.v.w }}{% endif %}",
        "{% if c and u.v %}{{ u.v.w }}{% endif %}",
        "{% if u.k == 3 %}{{ u.v }}{% endif %}",
        "{% if u.k != 2 %}{{ u.v }}{% else %}{{ u.k }}{% endif %}",
        "{% if 'v' in u %}{{ u.v }}{% endif %}",
        "{{ u.v if u.v else 'none' }}",
        "{{ (u.v and u.v.w) or 'x' }}{{ u.get('v', 'd') }}",
        "{% for k, v in u|items %}{{ k }}: {{ v }}{% endfor %}",
        "{% for u in [{'v': 1}] %}{{ u.v }}{{ c }}{% endfor %}",
        "{% if u.v %}{% set c = 1 %}{% endif %}{{ c }}",
        "{% set u = {'v': 1} %}{{ u.v }}",
        "{% set w = u.v|default([]) %}{% for a in w %}{{ a.b }}{% endfor %}",
        "{% macro m(u) %}{{ u.v }}{% endmacro %}{{ m({'v': 1}) }}",
        "{% if not u.v %}none{% else %}{{ u.v }}{% endif %}",
        "{% if c %}{% if u.v %}{{ u.v }}{% endif %}{% endif %}",
        "{% for x in xs %}{% if u.v %}{{ u.v }}{{ x }}{% endif %}{% endfor %}",
        "{{ n|upper }} {{ n ~ 1 }}",
    ];
    for text in texts {
        assert_sound(&task_with_default(r#"{"k": 2}"#, text));
    }
    assert_sound(&task_with_default(
        "{}",
        "{% if u %}{{ u.v }}{% endif %}{% for k in u %}{{ u.v }}{% endfor %}",
    ));
}

#[test]
fn a_text_that_asks_a_value_for_what_its_type_lacks_is_refused() {
    let texts = [
        "{% for a in t.items %}{{ a }}{% endfor %}",
        "{{ t['style'] }}",
        "{{ t.items() }}",
        "{% if t %}{{ t.style|upper }}{% endif %}",
    ];
    for text in texts {
        let task = |input: &str, parameter: &str| {
            format!(
                "<task type='atomic' name='t'><description syntax='jinja'>Say {text}</description>{input}{parameter}</task>"
            )
        };
        for templates in [
            task("<inputs><input name='t'>friendly</input></inputs>", ""),
            task(
                "",
                "<parameters><parameter name='t' type='string' required='true'/></parameters>",
            ),
        ] {
            let verdict = probe_templates(&templates);
            let is_of = |error: &String| {
                error.starts_with("unknown-field: ")
                    || error.starts_with("bad-jinja: this fails in every run: ")
            };
            assert!(
                matches!(&verdict, ProjectVerdict::Refused(errors) if errors.len() == 1 && is_of(&errors[0])),
                "{templates}\n{verdict:?}"
            );
        }
    }
    for text in [
        "{{ t.upper() }}",
        "{{ t[1] }}",
        "{{ t.style|default('d') }}",
        "{% if t.style %}{{ t }}{% endif %}",
        "{% set n = t.split(',') %}{{ n[0] }}",
    ] {
        assert_sound(&format!(
            "<task type='atomic' name='t'><description syntax='jinja'>Say {text}</description><inputs><input name='t'>friendly</input></inputs></task>"
        ));
    }
}

#[test]
fn a_default_that_another_value_guards_is_a_doubt() {
    let text = task_with_default(
        "{}",
        "{% if c == \"vip\" %}{{ u.v }}{% endif %}{% for x in xs %}{{ u.w|upper }}{% endfor %}",
    );
    let built = ctxc::compile_sources(
        &crate::project::reading::read("edition = \"2026\"\n"),
        [("t.xml", &*text)],
    );
    let found: Vec<String> = built
        .diagnostics
        .iter()
        .map(|one| format!("{:?} {}", one.severity, one.message))
        .collect();
    assert_eq!(
        found,
        ["v", "w"].map(|field| format!(
            "Warning `u.{field}` leads nowhere with the default: `u` has no `{field}` in it"
        ))
    );
}

#[test]
fn an_example_that_waits_for_a_result_is_never_left_out_in_silence() {
    let examples = |output: &str| {
        reduce_task(
            "",
            "<description>look</description>",
            &format!(
                "<description>merge</description><examples as='turns'><example><input>in</input>\
                 <output syntax='jinja'>{output}</output></example></examples>"
            ),
        )
    };
    assert_sound(&examples("{{ current_result }}"));
    assert_sound(&examples("{% if current_result %}b{% endif %}"));
    let built = ctxc::compile_sources(
        &crate::project::reading::read("edition = \"2026\"\n"),
        [("t.xml", &*examples("{{ current_result }}"))],
    );
    let request = ctxc::Request {
        node: "/reduction_task",
        ..ctxc::Request::new("t")
    };
    let refused = ctxc::assemble(
        &built.registry.unwrap(),
        &request,
        &ctxc::Options::default(),
    )
    .unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("examples/0/output: `current_result` has no value"),
        "{refused}"
    );
}

#[test]
fn an_input_that_cannot_give_orders_stays_one_in_each_round() {
    assert_sound(
        "<task type='reduce' name='t'><description>d</description><parameters><parameter name='c' type='boolean' required='true'/></parameters>\
         <inputs><input name='x' from='c'/></inputs><inner_task><inputs><input name='i' from='current_input' trust='untrusted'/></inputs>\
         <description>Look at {{i}}.</description><system>It is {{current_input}}.</system></inner_task>\
         <reduction_task><description>d</description></reduction_task></task>",
    );
}
