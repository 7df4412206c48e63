//! Parts of values: a part that no value can have is an error at compile time (findings L2, L8,
//! L19, N25).

use ctxc::{Config, compile_sources};
use pretty_assertions::assert_eq;

const RISK: &str = r##"{"type": "object", "additionalProperties": false, "required": ["risk_level"],
    "properties": {"risk_level": {"type": "string"}, "notes": {"type": "array", "items": {"$ref": "#/properties/risk_level"}}, "score": {"type": ["integer", "null"]}}}"##;

/// Each finding of a library: its code, its severity unless it is an error, its place and its
/// message.
fn all_findings(library: &str) -> Vec<String> {
    let open = RISK.replace("\"additionalProperties\": false, ", "");
    let free = RISK.replace("false", "true");
    let files = [
        ("lib.xml", library),
        ("schemas/risk.json", RISK),
        ("schemas/open.json", &open),
        ("schemas/free.json", &free),
    ];
    let built = compile_sources(
        &Config::default(),
        files.into_iter().chain([("guide.md", "read\n{{tone.x}}")]),
    );
    let of = built
        .diagnostics
        .iter()
        .filter(|found| ["CTX305", "CTX311", "CTX323"].contains(&&*found.rule.code.to_string()));
    of.map(|found| {
        format!(
            "{} {}: {}",
            found.rule.code,
            found.span.slice(library),
            found.message
        )
    })
    .collect()
}

/// The findings of a task with some parameters, inputs and more.
fn task(body: &str) -> Vec<String> {
    all_findings(&format!(
        "<library>{PRODUCERS}<task type=\"sequential\" name=\"o\"><description>{body}</task></library>"
    ))
}

const PRODUCERS: &str = "<task type=\"atomic\" name=\"risk\"><description>d</description><output_format type=\"json\" schema=\"schemas/risk.json\"/></task>\
    <task type=\"atomic\" name=\"open\"><description>d</description><output_format type=\"json\" schema=\"schemas/open.json\"/></task>\
    <task type=\"atomic\" name=\"free\"><description>d</description><output_format type=\"json\" schema=\"schemas/free.json\"/></task>\
    <task type=\"atomic\" name=\"words\"><description>d</description><output_format type=\"text\"/></task>\
    <task type=\"atomic\" name=\"any\"><description>d</description></task>\
    <template name=\"F\" params=\"v\" returns=\"number\"><task type=\"atomic\"><description>{{v}}</description><output_format type=\"json\" schema=\"number\"/></task></template>";

const STEPS: &str = "<steps><task><description>s</description></task></steps>";

#[test]
fn a_text_and_a_scalar_have_no_parts() {
    let found = task(&format!(
        "t {{{{tone.x}}}} {{{{p.y}}}} {{{{n[0]}}}} {{{{list.x}}}} {{{{list[0]}}}} {{{{o[0]}}}} {{{{o.a.b}}}} {{{{strings[0].x}}}} {{{{u.x}}}}</description>\
         <parameters><parameter name=\"p\" type=\"string\"/><parameter name=\"n\" type=\"number\"/><parameter name=\"list\" type=\"array\"/>\
         <parameter name=\"o\" type=\"object\"/><parameter name=\"strings\" type=\"string[]\"/><parameter name=\"u\"/></parameters>\
         <inputs><input name=\"tone\">friendly</input><input name=\"j\" from=\"tone.z\"/><input name=\"k\" from=\"o\"/></inputs>\
         <instructions>{{{{j.more}}}} {{{{k[1]}}}}</instructions>{STEPS}"
    ));
    let expected = [
        "CTX323 tone.x: `tone.x` leads nowhere: `tone` is a text, which has no parts",
        "CTX323 p.y: `p.y` leads nowhere: `p` is a string, which has no parts",
        "CTX323 n[0]: `n[0]` leads nowhere: `n` is a number, which has no parts",
        "CTX323 list.x: `list.x` leads nowhere: `list` is an array, which has entries, such as `[0]`, and no fields",
        "CTX323 o[0]: `o[0]` leads nowhere: `o` is an object, which has fields and no entries",
        "CTX323 strings[0].x: `strings[0].x` leads nowhere: `strings[0]` is a string, which has no parts",
        "CTX323 tone.z: `tone.z` leads nowhere: `tone` is a text, which has no parts",
        "CTX323 k[1]: `k[1]` leads nowhere: `k` is an object, which has fields and no entries",
    ];
    assert_eq!(found, expected);
    // In a text of its own, where it stands in it.
    let found = task(&format!(
        "t</description><inputs><input name=\"tone\">friendly</input></inputs><instructions src=\"guide.md\"/>{STEPS}"
    ));
    assert_eq!(
        found,
        [
            "CTX323 guide.md: in guide.md:2:3: `tone.x` leads nowhere: `tone` is a text, which has no parts"
        ]
    );
}

#[test]
fn each_input_of_a_reduce_is_the_one_at_hand() {
    let of = |inputs: &str, used: &str| {
        all_findings(&format!(
            "<library>{PRODUCERS}<task type=\"reduce\" name=\"o\"><description>d</description><parameters><parameter name=\"p\" type=\"object\"/></parameters>\
             <inputs>{inputs}</inputs><initial_value>none yet</initial_value><inner_task><description>{{{{{used}}}}}</description></inner_task>\
             <reduction_task><description>{{{{accumulator}}}} {{{{{used}}}}}</description></reduction_task></task></library>"
        ))
    };
    let text = "<input name=\"a\">text</input>";
    let found = of(text, "current_input.foo");
    let one = "CTX323 current_input.foo: `current_input.foo` leads nowhere: `current_input` is a text, which has no parts";
    assert_eq!(found, [one, one]);
    // Of several sources one is enough, and one finding is enough.
    let others = "<input name=\"b\" from=\"p\"/><input name=\"c\"><task ref=\"risk\"/></input>";
    assert_eq!(
        of(
            &format!("{text}{others}<input name=\"z\">more</input>"),
            "current_input.foo"
        ),
        [one, one]
    );
    assert_eq!(of(others, "current_input.risk_level"), [""; 0]);
    assert_eq!(
        of("<input name=\"b\" from=\"p\"/>", "current_input[0]").len(),
        2
    );
    assert_eq!(
        of(
            &format!("<input name=\"b\" from=\"p\"/>{text}"),
            "current_input"
        ),
        [""; 0]
    );
    let found = of("<input name=\"b\" from=\"p\"/>", "accumulator.x");
    assert_eq!(
        found,
        [
            "CTX323 accumulator.x: `accumulator.x` leads nowhere: `accumulator` is a text, which has no parts"
        ]
    );
    // The fields that a referenced task uses of the current value.
    let library = "<library><task type=\"atomic\" name=\"q\"><description>{{current_input.x}}</description><parameters><parameter name=\"current_input\"/></parameters></task>\
        <task type=\"reduce\" name=\"o\"><description>d</description><inputs><input name=\"a\">text</input></inputs>\
        <inner_task><description>d</description><inputs><input name=\"i\"><task ref=\"q\"/></input></inputs></inner_task>\
        <reduction_task><description>{{current_result}} {{accumulator}}</description></reduction_task></task></library>";
    assert_eq!(
        all_findings(library).len(),
        1,
        "{:?}",
        all_findings(library)
    );
    // Before the first round of a loop the feedback is a text without fields.
    let cycle = "<task type=\"director_evaluator_loop\" name=\"l\"><description>t</description><director><description>{{evaluation_feedback.x}}</description></director>\
        <evaluator><description>e</description></evaluator></task>";
    assert_eq!(all_findings(cycle).len(), 1);
}

#[test]
fn a_part_that_a_default_lacks_is_refused() {
    let of = |parameter: &str, used: &str| {
        let built = task(&format!(
            "t {{{{{used}}}}}</description><parameters><parameter name=\"o\" {parameter}/></parameters>{STEPS}"
        ));
        built
            .into_iter()
            .map(|found| found.replace("CTX323 ", ""))
            .collect::<Vec<_>>()
    };
    let object = "type=\"object\" default='{\"a\": 1, \"l\": [{\"x\": \"y\"}]}'";
    assert_eq!(
        of(object, "o.a.b"),
        ["o.a.b: `o.a.b` leads nowhere with the default: `o.a` has no `b` in it"]
    );
    assert_eq!(
        of(object, "o.zz"),
        ["o.zz: `o.zz` leads nowhere with the default: `o` has no `zz` in it"]
    );
    assert_eq!(
        of(object, "o.l[1].x"),
        ["o.l[1].x: `o.l[1].x` leads nowhere with the default: `o.l` has no `[1]` in it"]
    );
    for good in ["o", "o.a", "o.l", "o.l[0].x"] {
        assert_eq!(of(object, good), [""; 0], "{good}");
    }
    assert_eq!(
        of("type=\"array\" default='[]'", "o[3]"),
        ["o[3]: `o[3]` leads nowhere with the default: `o` has no `[3]` in it"]
    );
    // A field that no value of the type can have is a certain finding.
    let certain = [
        "o.x: `o.x` leads nowhere: `o` is an array, which has entries, such as `[0]`, and no fields",
    ];
    assert_eq!(of("type=\"array\" default='[]'", "o.x"), certain);
    assert_eq!(of("type=\"object\"", "o.a.b"), [""; 0]);
    assert_eq!(of("type=\"object\" default=\"null\"", "o.a").len(), 1);
    let warned = |library: &str| {
        let built = compile_sources(&Config::default(), [("t.xml", library)]);
        let of = built
            .diagnostics
            .iter()
            .filter(|found| found.rule.code.to_string() == "CTX323");
        of.map(|found| format!("{:?} {}", found.severity, found.span.slice(library)))
            .collect::<Vec<_>>()
    };
    let o = format!("<parameters><parameter name=\"o\" {object}/></parameters>");
    // By another name, in a condition, in a function, in a body inside, and by way of a registered
    // task.
    let by_name = format!(
        "<task type=\"atomic\" name=\"t\"><description>{{{{x.b}}}}</description>{o}<inputs><input name=\"x\" from=\"o.zz\"/></inputs></task>"
    );
    assert_eq!(warned(&by_name), ["Error o.zz"]);
    let by_case = format!(
        "<task type=\"sequential\" name=\"t\"><description>d</description>{o}<steps><cond><case test=\"o.zz == 1\"><task><description>d</description></task></case></cond></steps></task>"
    );
    assert_eq!(warned(&by_case), ["Error o.zz"]);
    let by_function = format!(
        "<template name=\"f\" params=\"o\"><task type=\"atomic\"><description>{{{{o.zz}}}}</description>{o}</task></template>"
    );
    assert_eq!(warned(&by_function), ["Error o.zz"]);
    let inside = format!(
        "<task type=\"sequential\" name=\"t\"><description>d</description><steps><task><description>{{{{o.zz}}}}</description>{o}</task></steps></task>"
    );
    assert_eq!(warned(&inside), ["Error o.zz"]);
    let by_ref = format!(
        "<library><task type=\"atomic\" name=\"q\"><description>{{{{o.zz}}}}</description><parameters><parameter name=\"o\" type=\"object\"/></parameters></task>\
        <task type=\"sequential\" name=\"t\"><description>d</description>{o}<steps><task ref=\"q\"/></steps></task></library>"
    );
    assert_eq!(warned(&by_ref), ["Error q"]);
    // If another value is in scope, the default is not used.
    let around = format!(
        "<task type=\"sequential\" name=\"t\"><description>d</description><parameters><parameter name=\"o\" type=\"object\"/></parameters><steps><task><description>{{{{o.zz}}}}</description>{o}</task></steps></task>"
    );
    assert_eq!(warned(&around), [""; 0]);
}

#[test]
fn a_field_that_no_schema_names_is_found_across_tasks() {
    let after = |step: &str, used: &str| {
        task(&format!(
            "d</description><steps>{step}<cond><case test=\"{used} == 1\"><task><description>{{{{{used}}}}}</description></task></case></cond></steps>"
        ))
    };
    let twice = |field: &str, message: &str| {
        [
            format!("CTX323 {field}: {message}"),
            format!("CTX323 {field}: {message}"),
        ]
    };
    let named = "the schema of `r` names no field `risk_levl`";
    for step in [
        "<task ref=\"risk\" as=\"r\"/>",
        "<task ref=\"open\" as=\"r\"/>",
        "<task as=\"r\"><description>d</description><output_format type=\"json\" schema=\"schemas/risk.json\"/></task>",
    ] {
        let expected = twice(
            "r.risk_levl",
            &format!("`r.risk_levl` leads nowhere: {named}"),
        );
        assert_eq!(after(step, "r.risk_levl"), expected, "{step}");
        for good in ["r.risk_level", "r.notes[3].any", "r.score", "r"] {
            assert_eq!(after(step, good), [""; 0], "{step} {good}");
        }
        assert_eq!(after(step, "r.score.x").len(), 2, "{step}");
    }
    for (step, bad) in [
        ("<task ref=\"words\" as=\"r\"/>", 2),
        (
            "<call template=\"F\" as=\"r\"><arg name=\"v\">1</arg></call>",
            2,
        ),
        ("<task ref=\"free\" as=\"r\"/>", 0),
        ("<task ref=\"any\" as=\"r\"/>", 0),
    ] {
        assert_eq!(after(step, "r.risk_levl").len(), bad, "{step}");
    }
    // The result of an evaluator that writes words has no fields.
    let cycle = |output: &str| {
        all_findings(&format!(
            "<task type=\"director_evaluator_loop\" name=\"l\"><description>t</description><director><description>d</description></director>\
             <evaluator><description>e {{{{director_result.x}}}}</description>{output}</evaluator>\
             <termination_condition><condition>evaluation.success == true</condition></termination_condition></task>"
        ))
        .len()
    };
    assert_eq!(
        (
            cycle("<output_format type=\"text\"/>"),
            cycle("<output_format type=\"json\"/>"),
            cycle("")
        ),
        (1, 0, 0)
    );
}

#[test]
fn what_a_definition_uses_of_a_value_is_held_where_it_is_used() {
    let q = "<task type=\"atomic\" name=\"q\"><description>{{n.x}}</description><parameters><parameter name=\"n\"/></parameters></task>\
        <task type=\"sequential\" name=\"by\"><description>d</description><inputs><input name=\"n\" from=\"m.deep\"/></inputs><steps><task ref=\"q\"/></steps></task>\
        <template name=\"G\" params=\"m\"><task type=\"atomic\"><description>{{m[0]}}</description></task></template>\
        <fragment name=\"g\">{{n.x}} {{n.y}}</fragment>";
    let of = |body: &str| {
        all_findings(&format!(
            "<library>{PRODUCERS}{q}<task type=\"sequential\" name=\"o\"><description>d</description>{body}</task></library>"
        ))
    };
    let text = "<inputs><input name=\"n\">words</input></inputs>";
    let found = of(&format!("{text}<steps><task ref=\"q\"/></steps>"));
    assert_eq!(
        found,
        ["CTX323 q: the task `q` uses `n.x`, but here `n` is a text, which has no parts"]
    );
    let found = of(&format!(
        "{text}<instructions><use fragment=\"g\"/></instructions>{STEPS}"
    ));
    assert_eq!(
        found,
        ["CTX323 g: the fragment `g` uses `n.x`, but here `n` is a text, which has no parts"]
    );
    let found = of("<steps><call template=\"G\"><arg name=\"m\">words</arg></call></steps>");
    assert_eq!(
        found,
        ["CTX323 G: the template `G` uses `m[0]`, but here `m` is a text, which has no parts"]
    );
    let found = of("<steps><task ref=\"risk\" as=\"m\"/><task ref=\"by\"/></steps>");
    assert_eq!(
        found,
        [
            "CTX323 by: the task `by` uses `m.deep`, but here the schema of `m` names no field `deep`"
        ]
    );
    assert_eq!(
        of("<steps><task ref=\"any\" as=\"m\"/><task ref=\"by\"/></steps>"),
        [""; 0]
    );
}

/// The types of own parameters and of results (the rest of L19).
#[test]
fn types_are_held_across_results_and_own_parameters() {
    let q = "<task type=\"atomic\" name=\"q\"><description>{{n}}</description><parameters><parameter name=\"n\" type=\"number\"/></parameters></task>";
    let of = |body: &str| {
        all_findings(&format!(
            "<library>{PRODUCERS}{q}<task type=\"sequential\" name=\"o\"><description>d</description>{body}</task></library>"
        ))
    };
    let wrong = "the task `q` takes `n` as number, but `n` is";
    let by = |step: &str| of(&format!("<steps>{step}<task ref=\"q\"/></steps>"));
    assert_eq!(
        by("<task ref=\"words\" as=\"n\"/>"),
        [format!("CTX305 q: {wrong} string here")]
    );
    assert_eq!(
        by("<task ref=\"risk\" as=\"n\"/>"),
        [format!("CTX305 q: {wrong} object here")]
    );
    for good in [
        "<call template=\"F\" as=\"n\"><arg name=\"v\">1</arg></call>",
        "<task ref=\"any\" as=\"n\"/>",
    ] {
        assert_eq!(by(good), [""; 0], "{good}");
    }
    let own = "<task><description>{{n}}</description><parameters><parameter name=\"n\" type=\"number\"/></parameters></task>";
    let found = of(&format!(
        "<parameters><parameter name=\"n\" type=\"object\"/></parameters><steps>{own}</steps>"
    ));
    assert_eq!(
        found,
        ["CTX305 n: `n` is declared as number, but its value is object"]
    );
    let found = of(&format!(
        "<steps><task ref=\"risk\" as=\"r\"/>{}</steps>",
        own.replace(
            "</parameters>",
            "</parameters><inputs><input name=\"n\" from=\"r.risk_level\"/></inputs>"
        )
    ));
    assert_eq!(
        found,
        ["CTX305 n: `n` is declared as number, but its value is string"]
    );
    let found = of(&format!(
        "<steps><task ref=\"risk\" as=\"r\"/>{}</steps>",
        own.replace(
            "</parameters>",
            "</parameters><inputs><input name=\"n\" from=\"r.score\"/></inputs>"
        )
    ));
    assert_eq!(found, [""; 0]);
}

/// A printed value of a Jinja text is checked as in any other text; a value in a condition is not.
#[test]
fn parts_in_a_jinja_text() {
    let of = |text: &str| {
        all_findings(&format!(
            "<library>{PRODUCERS}<task type=\"sequential\" name=\"o\"><description>d</description><parameters><parameter name=\"p\" type=\"string\"/><parameter name=\"o\" type=\"object\"/></parameters>\
             <steps><task ref=\"risk\" as=\"r\"/><task><description syntax=\"jinja\">{text} {{{{ p }}}} {{{{ o }}}} {{{{ r }}}}</description></task></steps></task></library>"
        ))
    };
    assert_eq!(
        of("{% if o.a %}{{ p.y }}{% endif %}"),
        ["CTX323 p.y: `p.y` leads nowhere: `p` is a string, which has no parts"]
    );
    assert_eq!(of("{{ r.nothing.more }}").len(), 1);
    for fine in [
        "{{ o.a.b }} {{ r.risk_level }} {{ r.notes }}",
        "{% if p.y %}{% endif %}{{ p.y | default('n') }}{{ p.y is defined }}{{ p.upper() }}{{ p[0] }}",
        "{% for p in r.notes %}{{ p.y }}{% endfor %}",
        "{% set p = o %}{{ p.y }}",
        "{% macro m(p) %}{{ p.y }}{% endmacro %}",
    ] {
        assert_eq!(of(fine), [""; 0], "{fine}");
    }
}

/// A name without a declaration has one type for all its users.
#[test]
fn two_references_take_one_name_in_one_form() {
    let of = |one: &str, two: &str| {
        let task = |name: &str, kind: &str| {
            format!(
                "<task type=\"atomic\" name=\"{name}\"><description>{{{{x}}}}</description><parameters><parameter name=\"x\" {kind}/></parameters></task>"
            )
        };
        all_findings(&format!(
            "<library>{}{}<task type=\"sequential\" name=\"t\"><description>d</description><steps><task ref=\"a\"/><task ref=\"b\"/></steps></task></library>",
            task("a", one),
            task("b", two)
        ))
    };
    let message = "CTX305 b: the task `b` takes `x` as string, but `x` is array here";
    assert_eq!(of("type=\"array\"", "type=\"string\""), [message]);
    assert_eq!(of("type=\"array\"", "type=\"string[]\""), [""; 0]);
    assert_eq!(of("type=\"array\"", ""), [""; 0]);
}

#[test]
fn what_a_choice_or_a_whole_task_answers_is_known() {
    let number = "<output_format type=\"json\" schema=\"number\"/>";
    let agent = format!("<task><description>x</description>{number}</task>");
    let of = |step: &str| {
        all_findings(&format!(
            "<library><task type=\"sequential\" name=\"t\"><description>d</description><steps>{step}<task><description>{{{{r.q}}}}</description></task></steps></task></library>"
        ))
    };
    let case = |answer: &str| format!("<case test=\"1 == 1\">{answer}</case>");
    let words = "<task><description>x</description></task>";
    for step in [
        format!("<cond as=\"r\">{}</cond>", case(&agent)),
        format!("<cond as=\"r\">{}{}</cond>", case(&agent), case(&agent)),
        format!(
            "<task type=\"sequential\" as=\"r\"><description>d</description><steps>{words}{agent}</steps></task>"
        ),
        format!(
            "<task type=\"reduce\" as=\"r\"><description>d</description><inputs><input name=\"i\">x</input></inputs><inner_task><description>x</description></inner_task><reduction_task><description>x</description>{number}</reduction_task></task>"
        ),
    ] {
        let found = of(&step);
        assert!(
            found.len() == 1 && found[0].contains("`r` is a number, which has no parts"),
            "{found:?}"
        );
    }
    assert_eq!(
        of(&format!(
            "<cond as=\"r\">{}{}</cond>",
            case(&agent),
            case(words)
        )),
        [""; 0]
    );
}
