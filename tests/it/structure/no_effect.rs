//! Templates that were accepted and have no effect, contradict themselves or can never run
//! (findings L7, L8, L22).

use ctxc::{Config, compile_sources};
use pretty_assertions::assert_eq;

/// The errors of a file: code, place and message.
fn errors(template: &str) -> Vec<String> {
    let built = compile_sources(&Config::default(), [("t.xml", template)]);
    let of = built
        .diagnostics
        .iter()
        .filter(|found| found.severity == ctxc::Severity::Error);
    of.map(|found| {
        format!(
            "{} {}: {}",
            found.rule.code,
            found.span.slice(template),
            found.message
        )
    })
    .collect()
}

/// The same with its warnings.
fn warnings(template: &str) -> Vec<String> {
    let files = [
        ("t.xml", template),
        ("blank.txt", " \n"),
        ("words.txt", "be kind"),
    ];
    let built = compile_sources(&Config::default(), files);
    let of = built
        .diagnostics
        .iter()
        .filter(|found| found.severity <= ctxc::Severity::Warning);
    of.map(|found| {
        format!(
            "{:?} {} {}: {}",
            found.severity,
            found.rule.code,
            found.span.slice(template),
            found.message
        )
    })
    .collect()
}

/// The errors of an atomic task.
fn atomic(inside: &str) -> Vec<String> {
    errors(&format!(
        "<task type=\"atomic\" name=\"a\"><description>d</description>{inside}</task>"
    ))
}

/// The errors of a script.
fn script(inside: &str) -> Vec<String> {
    errors(&format!(
        "<task type=\"script\" name=\"s\"><description>d</description>{inside}</task>"
    ))
}

/// The errors of a sequential task in a library with others.
fn steps(inside: &str) -> Vec<String> {
    errors(&format!(
        "<library><task type=\"atomic\" name=\"q\"><description>d</description></task>\
         <template name=\"f\"><task type=\"atomic\"><description>d</description></task></template>\
         <task type=\"sequential\" name=\"o\"><description>d</description><steps>{inside}</steps></task></library>"
    ))
}

const NOTHING: [&str; 0] = [];
const TASK: &str = "<task><description>d</description></task>";

#[test]
fn a_list_of_files_has_one_source() {
    let found = atomic(
        "<file_paths><path>f.txt</path><command>ls</command><description>{{z}}</description></file_paths>",
    );
    let message = "CTX116 file_paths: `<file_paths>` has `<path>` and `<command>` and `<description>`, and can have one of them";
    assert_eq!(found, [message]);
    let found = atomic(
        "<file_paths source=\"command\"><path>f.txt</path><command>ls</command></file_paths>",
    );
    assert_eq!(
        found,
        [
            "CTX116 file_paths: `<file_paths>` has `<path>` and `<command>`, and can have one of them"
        ]
    );
    assert_eq!(
        atomic("<file_paths source=\"command\"><command>ls</command></file_paths>"),
        NOTHING
    );
}

#[test]
fn a_script_has_no_words_for_an_agent() {
    let found = script(
        "<system>s</system><constraints><constraint>c</constraint></constraints><command>ls</command>",
    );
    assert_eq!(
        found,
        ["CTX105 system: `<system>` is for an agent, but a script calls none: nobody reads it"]
    );
    assert_eq!(
        script(
            "<inputs><input name=\"i\">x</input></inputs><command>ls</command><output_format type=\"text\"/>"
        ),
        NOTHING
    );
    let inside = steps(
        "<task type=\"script\"><description>d</description><command>ls</command><model>m</model></task>",
    );
    assert_eq!(
        inside,
        ["CTX105 model: `<model>` is for an agent, but a script calls none: nobody reads it"]
    );
}

#[test]
fn a_text_has_no_schema() {
    let found = atomic("<output_format type=\"text\" schema=\"object\"/>");
    assert_eq!(
        found,
        ["CTX116 output_format: `type` asks for text, but a `schema` describes JSON"]
    );
    assert_eq!(
        atomic("<output_format type=\"json\" schema=\"object\"/>"),
        NOTHING
    );
    assert_eq!(atomic("<output_format schema=\"object\"/>"), NOTHING);
}

#[test]
fn an_input_drives_the_looking_up_or_does_not() {
    let found = atomic(
        "<inputs><input name=\"x\">1</input></inputs><context_relevance><input name=\"x\" include=\"true\"/>\
         <input name=\"x\" include=\"false\"/></context_relevance>",
    );
    assert_eq!(found, ["CTX118 x: a second input named `x`"]);
}

#[test]
fn a_reference_has_no_type_of_its_own() {
    let why = "has no effect here: the task that `ref` names is used as it is registered";
    let found = steps("<task ref=\"q\" type=\"script\" subtype=\"subtask\"/>");
    assert_eq!(
        found,
        [
            format!("CTX107 type=\"script\": `type` {why}"),
            format!("CTX107 subtype=\"subtask\": `subtype` {why}")
        ]
    );
    assert_eq!(steps("<task ref=\"q\" as=\"r\"/>"), NOTHING);
}

#[test]
fn only_a_step_leaves_a_result() {
    let one = "CTX107 as=\"r\": `as` has no effect here: only a step leaves its result to others under a name";
    assert_eq!(
        errors("<task type=\"atomic\" name=\"a\" as=\"r\"><description>d</description></task>"),
        [one]
    );
    let named = TASK.replace("<task", "<task as=\"r\"");
    let call = "<call template=\"f\" as=\"r\"/>";
    for inner in [&*named, call] {
        let input = format!("<inputs><input name=\"i\">{inner}</input></inputs>");
        assert_eq!(
            steps(&TASK.replace("</task>", &format!("{input}</task>"))),
            [one],
            "{inner}"
        );
        assert_eq!(
            steps(&format!(
                "<cond as=\"s\"><case test=\"p == 1\">{inner}</case></cond>"
            )),
            [one],
            "{inner}"
        );
        assert_eq!(steps(inner), NOTHING, "{inner}");
    }
}

#[test]
fn a_parameter_can_be_named() {
    let expected = "expected a letter or `_`, then letters, digits, `_` and `-`";
    for name in ["x y", "x.y", "1x"] {
        let found = atomic(&format!(
            "<parameters><parameter name=\"{name}\"/></parameters>"
        ));
        assert_eq!(
            found,
            [format!(
                "CTX111 {name}: `name` cannot be `{name}`; {expected}"
            )]
        );
    }
    let found = errors(
        "<template name=\"f\" params=\"a 1x\"><task type=\"atomic\"><description>{{a}}</description></task></template>",
    );
    assert_eq!(
        found,
        [format!("CTX111 1x: `name` cannot be `1x`; {expected}")]
    );
    assert_eq!(
        atomic("<parameters><parameter name=\"ü-1_\"/></parameters>"),
        NOTHING
    );
}

#[test]
fn a_blank_fragment_has_no_effect() {
    let used = |fragment: &str| {
        errors(&format!(
            "<library>{fragment}<task type=\"atomic\" name=\"a\"><description><use fragment=\"g\"/></description></task></library>"
        ))
    };
    for fragment in [
        "<fragment name=\"g\"></fragment>",
        "<fragment name=\"g\"> <!-- x --> </fragment>",
    ] {
        assert_eq!(
            used(fragment),
            [format!("CTX114 {fragment}: `<fragment>` is empty")]
        );
    }
    assert_eq!(used("<fragment name=\"g\">x</fragment>"), NOTHING);
}

#[test]
fn an_argument_has_a_value() {
    let library = |arg: &str| {
        errors(&format!(
            "<library><template name=\"g\" params=\"x\"><task type=\"atomic\"><description>{{{{x}}}}</description></task></template>\
             <task type=\"sequential\" name=\"o\"><description>d</description><steps><call template=\"g\">{arg}</call></steps></task></library>"
        ))
    };
    for arg in [
        "<arg name=\"x\"/>",
        "<arg name=\"x\"></arg>",
        "<arg name=\"x\"> <!-- x --> </arg>",
    ] {
        assert_eq!(
            library(arg),
            ["CTX117 arg: the argument `x` has no value"],
            "{arg}"
        );
    }
    assert_eq!(library("<arg/>"), ["CTX117 arg: `<arg>` has no value"]);
    assert_eq!(library("<arg name=\"x\">1</arg>"), NOTHING);
}

#[test]
fn a_reduce_has_something_to_merge() {
    let reduce = |inside: &str| {
        errors(&format!(
            "<task type=\"reduce\" name=\"r\"><description>d</description>{inside}\
             <inner_task><description>{{{{current_input}}}}</description></inner_task><reduction_task><description>{{{{accumulator}}}} {{{{current_result}}}}</description></reduction_task></task>"
        ))
    };
    let initial = "<initial_value>none</initial_value>";
    assert_eq!(
        reduce(initial),
        ["CTX109 task: a task of type reduce has no `<inputs>`"]
    );
    assert_eq!(
        reduce(&format!("<inputs/>{initial}")),
        ["CTX109 inputs: `<inputs>` has no `<input>`"]
    );
    assert_eq!(
        reduce(&format!(
            "<inputs><input name=\"a\">x</input></inputs>{initial}"
        )),
        NOTHING
    );
    let start = "<inputs><input name=\"a\">x</input></inputs><initial_value></initial_value>";
    assert_eq!(
        reduce(start),
        ["CTX117 initial_value: `<initial_value>` has no value"]
    );
}

#[test]
fn blank_texts_have_no_effect() {
    let of = |inside: &str| {
        warnings(&format!(
            "<task type=\"atomic\" name=\"a\"><description>d</description>{inside}</task>"
        ))
    };
    let blanks = [
        "<instructions></instructions>",
        "<system/>",
        "<criteria> </criteria>",
        "<instructions syntax=\"jinja\"><!-- later --></instructions>",
        "<constraints/>",
        "<examples></examples>",
        "<context_relevance/>",
        "<output_format/>",
        "<sampling/>",
    ];
    for blank in blanks {
        let tag = blank
            .trim_start_matches('<')
            .split(['>', '/', ' '])
            .next()
            .unwrap();
        assert_eq!(
            of(blank),
            [format!("Warning CTX114 {blank}: `<{tag}>` is empty")]
        );
    }
    let found = of("<constraints><constraint/><constraint>b</constraint></constraints>");
    assert_eq!(
        found,
        ["Warning CTX114 <constraint/>: `<constraint>` is empty"]
    );
    let found = of(
        "<examples><example><input/><output>b</output></example><example><input>a</input><output></output></example></examples>",
    );
    assert_eq!(
        found,
        [
            "Warning CTX114 <input/>: `<input>` is empty",
            "Warning CTX114 <output></output>: `<output>` is empty"
        ]
    );
    let full = [
        "<instructions><use fragment=\"g\"/></instructions>",
        "<parameters/>",
        "<history/>",
        "<output_format type=\"json\"/>",
        "<sampling temperature=\"1\"/>",
        "<instructions src=\"words.txt\"/>",
    ];
    for full in full {
        assert!(
            !of(full).iter().any(|found| found.contains("CTX114")),
            "{full}"
        );
    }
    // In a file of its own.
    assert_eq!(
        of("<instructions src=\"blank.txt\"/>"),
        ["Warning CTX114 blank.txt: `blank.txt` holds no words"]
    );
    let library = "<library><fragment name=\"g\" src=\"blank.txt\"/><task type=\"atomic\" name=\"a\"><description><use fragment=\"g\"/></description></task></library>";
    assert_eq!(
        warnings(library),
        ["Error CTX114 blank.txt: `blank.txt` holds no words"]
    );
    // One slip is one finding.
    assert_eq!(of("<instructions scr=\"words.txt\"/>").len(), 1);
    assert_eq!(of("<description/>").len(), 1);
    assert_eq!(of("<model preferred=\"a\" fallback=\"b\"/>").len(), 2);
    assert_eq!(
        of("<inputs><input name=\"x\" from=\"\"/></inputs>").len(),
        1
    );
    assert_eq!(
        of("<inputs><input name=\"x\"><description>p</description></input></inputs>").len(),
        1
    );
}

#[test]
fn what_goes_by_a_name_can_be_named() {
    let words = |found: Vec<String>| {
        found
            .into_iter()
            .filter(|found| found.contains("CTX111"))
            .collect::<Vec<_>>()
    };
    let of = |name: &str, what: &str| {
        format!("Warning CTX111 {name}: `{what}` is `{name}`, which no expression can read")
    };
    for name in ["x y", "1x", "a.b"] {
        let input = format!(
            "<task type=\"atomic\" name=\"a\"><description>d</description><inputs><input name=\"{name}\">1</input></inputs></task>"
        );
        assert_eq!(words(warnings(&input)), [of(name, "name")]);
        let task = TASK.replace("<task", &format!("<task as=\"{name}\""));
        let cond = format!("<cond as=\"{name}\"><case test=\"1 == 1\">{TASK}</case></cond>");
        for step in [task, cond, format!("<call template=\"f\" as=\"{name}\"/>")] {
            let library = format!(
                "<library><template name=\"f\"><task type=\"atomic\"><description>d</description></task></template>\
                 <task type=\"sequential\" name=\"o\"><description>d</description><steps>{step}</steps></task></library>"
            );
            assert_eq!(words(warnings(&library)), [of(name, "as")], "{step}");
        }
    }
    assert_eq!(
        words(warnings(
            "<task type=\"atomic\" name=\"a b\"><description>d</description></task>"
        )),
        NOTHING
    );
}

#[test]
fn a_reference_has_no_name_of_its_own() {
    let why = "has no effect here: the task that `ref` names is used as it is registered";
    let found = steps("<task ref=\"q\" name=\"z\" version=\"2\"/>");
    assert_eq!(
        found,
        [
            format!("CTX107 name=\"z\": `name` {why}"),
            format!("CTX107 version=\"2\": `version` {why}")
        ]
    );
    // A definition is another name for a registered task.
    let library = "<library><task type=\"atomic\" name=\"q\"><description>d</description></task><task ref=\"q\" name=\"z\"/></library>";
    assert_eq!(errors(library), NOTHING);
}

#[test]
fn a_task_in_a_task_is_no_second_one() {
    let found = errors(&format!(
        "<task type=\"atomic\" name=\"a\"><description>d</description>{TASK}{TASK}</task>"
    ));
    assert!(
        found.iter().all(|found| found.starts_with("CTX103 task: ")),
        "{found:?}"
    );
    let stray = errors(&format!(
        "<task type=\"sequential\" name=\"a\"><description>d</description>{TASK}{TASK}</steps></task>"
    ));
    assert_eq!(stray.len(), 1, "{stray:?}");
}

#[test]
fn a_script_can_start() {
    let run = "<command>ls</command>";
    let var = |name: &str| format!("<var name=\"{name}\">1</var>");
    let found = script(&format!("{run}<env>{}{}</env>", var("A"), var("A")));
    assert_eq!(found, ["CTX118 A: a second var named `A`"]);
    assert_eq!(
        script(&format!("{run}<env>{}</env>", var("A=B"))),
        ["CTX111 A=B: `name` cannot be `A=B`; expected a name without `=` and blanks"]
    );
    assert_eq!(script(&format!("{run}<env>{}</env>", var("A B"))).len(), 1);
    assert_eq!(
        script("<command>\"\"</command>"),
        ["CTX125 \"\": the command names no program: its first word is empty"]
    );
    let found = script(&format!("{run}<cwd>/etc</cwd>"));
    assert_eq!(
        found,
        ["CTX111 /etc: `cwd` cannot be `/etc`; expected a folder relative to the project"]
    );
    assert_eq!(
        script("<command><arg></arg><arg>a</arg></command>"),
        ["CTX114 <arg></arg>: `<arg>` is empty"]
    );
    assert_eq!(
        script(&format!(
            "<command><arg>a</arg><arg></arg></command><env>{}{}</env><cwd>sub</cwd>",
            var("A"),
            var("B")
        )),
        NOTHING
    );
}

#[test]
fn a_case_compares_a_text_with_a_text() {
    let case = |test: &str| {
        errors(&format!(
            "<task type=\"sequential\" name=\"o\"><description>d</description><parameters><parameter name=\"p\" type=\"string\"/></parameters>\
             <steps><cond><case test='{test}'>{TASK}</case></cond></steps></task>"
        ))
    };
    assert_eq!(case("p == \"1\""), NOTHING);
    let found = case("p.x == 1");
    assert_eq!(
        found,
        ["CTX323 p.x: `p.x` leads nowhere: `p` is a string, which has no parts"]
    );
}

#[test]
fn a_name_is_no_value_of_its_own() {
    let message = |attribute: &str, name: &str| {
        format!(
            "CTX111 {name}: `{attribute}` cannot be `{name}`; expected a name that is no value of its own, as `true`, `false` and `none` are"
        )
    };
    for name in ["true", "none", "None"] {
        assert_eq!(
            atomic(&format!(
                "<parameters><parameter name=\"{name}\"/></parameters>"
            )),
            [message("name", name)]
        );
        assert_eq!(
            atomic(&format!(
                "<inputs><input name=\"{name}\">x</input></inputs>"
            )),
            [message("name", name)]
        );
        let function = format!(
            "<template name=\"f\" params=\"{name}\"><task type=\"atomic\"><description>x</description></task></template>"
        );
        assert_eq!(errors(&function), [message("name", name)]);
    }
    assert_eq!(
        atomic("<parameters><parameter name=\"truth\"/></parameters>"),
        NOTHING
    );
}
