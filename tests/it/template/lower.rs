//! From tree to model: the parts that each operator keeps, the faults, and that no input makes it
//! panic.

use ctxc::internals::syntax::{XmlLimits, XmlReader};
use ctxc::internals::template::fault::TemplateFaultKind;
use ctxc::internals::template::keywords::{TextSyntax, Trust};
use ctxc::internals::template::model::{
    BodySlot, Definition, TaskBody, TaskInputValue, TaskStep, TemplateFile,
};
use ctxc::internals::template::parts::Substitution;
use ctxc::internals::template::{self, nodes};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

fn with<R>(text: &str, look: impl FnOnce(&TemplateFile<'_>) -> R) -> R {
    let mut reader = XmlReader::new();
    reader.read(text, &XmlLimits::default());
    look(&template::lower_document(reader.document(text)))
}

/// Looks at the one task of a clean file.
fn task<R>(text: &str, look: impl FnOnce(&TaskBody<'_>) -> R) -> R {
    with(text, |file| {
        assert!(file.faults.is_empty(), "{:#?}", file.faults);
        let [Definition::Task(task)] = file.definitions.as_slice() else {
            panic!("one task")
        };
        look(task)
    })
}

/// The faults of a file: kind, then the text at the span.
fn faults(text: &str) -> Vec<String> {
    let name = |kind: &TemplateFaultKind<'_>| {
        format!("{kind:?}")
            .split([' ', '(', '{'])
            .next()
            .unwrap_or("")
            .to_owned()
    };
    with(text, |file| {
        file.faults
            .iter()
            .map(|fault| format!("{} `{}`", name(&fault.kind), fault.span.slice(text)))
            .collect()
    })
}

#[test]
fn an_atomic_task_keeps_everything_with_its_place() {
    let text = r#"<task type="atomic" subtype="subtask" name="t" version="2">
  <description trust="untrusted" verbatim="true">sort</description>
  <instructions src="rules.md"/>
  <system syntax="jinja">be {{ kind }}</system>
  <constraints><constraint>a</constraint><constraint>b</constraint></constraints>
  <provider> local </provider>
  <model><preferred>large</preferred><fallback>small</fallback></model>
  <parameters>
    <parameter name="kind" type="string" required="false"/>
    <parameter name="tone" default="warm"/>
  </parameters>
  <inputs>
    <input name="a" from="kind"/>
    <input name="b">text</input>
    <input name="c"><task><description>look</description></task></input>
    <input name="d"><call template="f"><arg name="x" from="kind"/></call></input>
  </inputs>
  <context_management><fresh_context> disabled </fresh_context></context_management>
  <context_relevance><input name="a" include="false"/></context_relevance>
  <file_paths><path>a.rs</path><path>b.rs</path></file_paths>
  <output_format type="json" schema="string[]"/>
  <examples><example><input>i</input><output>o</output></example></examples>
</task>"#;
    task(text, |task| {
        let at = |word: &Option<template::parts::Str<'_>>| {
            word.as_ref().map(|word| word.span.slice(text).to_owned())
        };
        assert_eq!(at(&task.operator).as_deref(), Some("atomic"));
        assert_eq!(at(&task.subtype).as_deref(), Some("subtask"));
        assert_eq!(at(&task.name).as_deref(), Some("t"));
        assert_eq!(at(&task.version).as_deref(), Some("2"));
        assert_eq!(at(&task.provider).as_deref(), Some("local"));
        assert_eq!(at(&task.model).as_deref(), Some("large"));
        assert_eq!(at(&task.fallback).as_deref(), Some("small"));
        let description = task.description.as_ref().unwrap();
        assert_eq!(
            (description.trust, description.substitution),
            (Trust::Untrusted, Substitution::Off)
        );
        assert_eq!(
            at(&task.instructions.as_ref().unwrap().src).as_deref(),
            Some("rules.md")
        );
        assert_eq!(task.system.as_ref().unwrap().syntax, TextSyntax::Jinja);
        assert_eq!(task.constraints.len(), 2);
        let required: Vec<bool> = task
            .parameters
            .iter()
            .map(template::parts::TaskParameter::is_required)
            .collect();
        assert_eq!(required, [false, false]);
        let values: Vec<&str> = task.inputs.iter().map(|input| kind(&input.value)).collect();
        assert_eq!(values, ["from", "text", "task", "call"]);
        assert_eq!(
            task.written_settings()
                .fresh_context
                .unwrap()
                .span
                .slice(text),
            "disabled"
        );
        assert!(!task.relevance[0].include);
        assert_eq!(task.files.as_ref().unwrap().paths.len(), 2);
        assert_eq!(
            at(&task.output.as_ref().unwrap().schema).as_deref(),
            Some("string[]")
        );
        assert!(task.examples[0].input.is_some() && task.examples[0].output.is_some());
    });
}

fn kind(value: &TaskInputValue<'_>) -> &'static str {
    match value {
        TaskInputValue::Missing => "missing",
        TaskInputValue::From(_) => "from",
        TaskInputValue::Text => "text",
        TaskInputValue::Literal(_) => "literal",
        TaskInputValue::Task(_) => "task",
        TaskInputValue::Call(_) => "call",
    }
}

#[test]
fn steps_of_all_three_kinds() {
    let text = r#"<task type="sequential" name="t"><description>d</description><steps>
  <task as="one"><description>d</description></task>
  <call template="f" as="two"><arg>x</arg></call>
  <cond as="three"><case test="one == 1"><task><description>d</description></task></case><case test="not one"><call template="g"/></case></cond>
</steps></task>"#;
    task(text, |task| {
        let [
            TaskStep::Task(one),
            TaskStep::Call(two),
            TaskStep::Cond(three),
        ] = task.steps.as_slice()
        else {
            panic!("{:?}", task.steps)
        };
        assert_eq!(
            (one.slot, &*one.result.as_ref().unwrap().value),
            (BodySlot::Step(0), "one")
        );
        assert_eq!(
            (two.args.len(), &*two.result.as_ref().unwrap().value),
            (1, "two")
        );
        assert_eq!(three.cases.len(), 2);
        assert_eq!(
            three.cases[1].test.as_ref().unwrap().span.slice(text),
            "not one"
        );
        let mut paths = Vec::new();
        nodes::visit_nodes(task, &mut |_, path| paths.push(path.to_owned()));
        assert_eq!(
            paths,
            [
                "/",
                "/steps/0",
                "/steps/1",
                "/steps/2",
                "/steps/2/cases/0",
                "/steps/2/cases/1"
            ]
        );
    });
}

#[test]
fn the_parts_of_reduce_script_and_loop() {
    let body = "<description>d</description>";
    let text = format!(
        "<task type=\"reduce\" name=\"t\">{body}<initial_value>none</initial_value><inner_task>{body}</inner_task><reduction_task>{body}</reduction_task></task>"
    );
    task(&text, |task| {
        let reduce = task.reduce.as_ref().unwrap();
        assert_eq!(kind(&reduce.initial.as_ref().unwrap().value), "text");
        assert_eq!(reduce.inner.as_ref().unwrap().slot, BodySlot::InnerTask);
        assert_eq!(
            reduce.reduction.as_ref().unwrap().slot,
            BodySlot::ReductionTask
        );
    });
    let text = format!(
        "<task type=\"script\" name=\"t\">{body}<command><arg>wc</arg><arg>-l</arg></command><timeout unit=\"ms\">500</timeout>\
         <env inherit=\"all\"><var name=\"A\">b</var></env><cwd>src</cwd></task>"
    );
    task(&text, |task| {
        let script = task.script.as_ref().unwrap();
        assert_eq!(script.command.as_ref().unwrap().args.len(), 2);
        assert_eq!(script.timeout_ms.unwrap().value, 500);
        assert_eq!(script.env.as_ref().unwrap().vars.len(), 1);
        assert_eq!(&*script.cwd.as_ref().unwrap().value, "src");
    });
    let text = format!(
        "<task type=\"director_evaluator_loop\" name=\"t\">{body}<director>{body}</director><evaluator>{body}</evaluator>\
         <script_execution><command>make test</command><timeout>2</timeout></script_execution><max_iterations>7</max_iterations>\
         <termination_condition><condition>success == true</condition></termination_condition></task>"
    );
    task(&text, |task| {
        let cycle = task.cycle.as_ref().unwrap();
        assert!(cycle.director.is_some() && cycle.evaluator.is_some());
        assert_eq!(cycle.max_iterations.unwrap().value, 7);
        assert_eq!(
            cycle.condition.as_ref().unwrap().span.slice(&text),
            "success == true"
        );
        let script = cycle.script.as_ref().unwrap();
        assert_eq!(script.operator.as_ref().unwrap().value, "script");
        assert_eq!(
            script.script.as_ref().unwrap().timeout_ms.unwrap().value,
            2_000
        );
    });
}

#[test]
fn a_library_holds_many_of_each() {
    let text = r#"<library name="l">
  <fragment name="tone">friendly <use fragment="other"/></fragment>
  <template name="f" params="a, b" returns="number"><task type="atomic"><description>{{a}}</description></task></template>
  <task name="t"><description>d</description></task>
</library>"#;
    with(text, |file| {
        assert!(file.faults.is_empty(), "{:?}", file.faults);
        let names: Vec<_> = file
            .definitions
            .iter()
            .map(|one| (one.kind().word(), one.name().unwrap().span.slice(text)))
            .collect();
        assert_eq!(
            names,
            [("fragment", "tone"), ("template", "f"), ("task", "t")]
        );
        let Definition::Template(template) = &file.definitions[1] else {
            panic!("a template")
        };
        let params: Vec<_> = template
            .params
            .iter()
            .map(|param| param.span.slice(text))
            .collect();
        assert_eq!(params, ["a", "b"]);
        assert_eq!(file.bodies, 2);
    });
}

#[test]
fn each_fault_stands_at_its_place() {
    let body = |inside: &str| {
        faults(&format!(
            "<task type=\"atomic\" name=\"t\"><description>d</description>{inside}</task>"
        ))
    };
    assert_eq!(faults("<other/>"), ["WrongRoot `other`"]);
    assert_eq!(body("<foo/>"), ["UnknownElement `foo`"]);
    assert_eq!(
        body("<fresh_context>enabled</fresh_context>"),
        ["MisplacedSetting `fresh_context`"]
    );
    assert_eq!(body("<steps><task/></steps>"), ["WrongType `steps`"]);
    assert_eq!(
        body("<description>e</description>"),
        ["Repeated `description`"]
    );
    assert_eq!(
        body("<system lang=\"x\">s</system>"),
        ["UnknownAttribute `lang`"]
    );
    assert_eq!(
        body("<inputs><input>x</input></inputs>"),
        ["MissingAttribute `input`"]
    );
    assert_eq!(body("<file_paths/>"), ["MissingChild `file_paths`"]);
    assert_eq!(
        body("<file_paths source=\"list\"/>"),
        ["BadValue `list`", "MissingChild `file_paths`"]
    );
    assert_eq!(
        body("<system verbatim=\"yes\">s</system>"),
        ["BadBoolean `yes`"]
    );
    assert_eq!(body("<model> </model>"), ["Empty `<model> </model>`"]);
    assert_eq!(body("words"), ["MisplacedText `words`"]);
    assert_eq!(body("<provider><b/></provider>"), ["MisplacedElement `b`"]);
    assert_eq!(
        body("<inputs><input name=\"a\" from=\"b\">c</input></inputs>"),
        ["TwoContents `input`"]
    );
    assert_eq!(
        body("<inputs><input name=\"a\"/></inputs>"),
        ["NoContent `input`"]
    );
    assert_eq!(
        body("<inputs><input name=\"a\">x</input><input name=\"a\">y</input></inputs>"),
        ["RepeatedName `a`"]
    );
    assert_eq!(
        body("<manual_xml><any/>thing</manual_xml>"),
        ["Deprecated `manual_xml`"]
    );
    let legacy = "<context_management><inherit_context>true</inherit_context></context_management>";
    assert_eq!(body(legacy), ["LegacyValue `true`"]);
    assert_eq!(
        faults("<task type=\"map\" name=\"t\"/>"),
        ["LegacyType `map`"]
    );
    assert_eq!(
        faults("<task ref=\"a\"><description>d</description></task>"),
        ["RefWithBody `description`"]
    );
    let nested = "<task type=\"reduce\"><inner_task><task><description>d</description></task></inner_task></task>";
    assert_eq!(faults(nested), ["NestedBody `task`"]);
    let number = "<task type=\"script\"><command>a</command><timeout>soon</timeout></task>";
    assert_eq!(faults(number), ["BadNumber `soon`"]);
    let default = |kind: &str, default: &str| {
        body(&format!(
            "<parameters><parameter name=\"p\" default='{default}' type=\"{kind}\"/></parameters>"
        ))
        .join(" ")
    };
    assert_eq!(default("boolean", "no"), "BadBoolean `no`");
    assert_eq!(default("boolean", "maybe"), "BadValue `maybe`");
    assert_eq!(default("integer", "2.5"), "BadNumber `2.5`");
    assert_eq!(default("object", "[1]"), "BadText `[1]`");
    assert_eq!(default("string[]", "[1]"), "BadText `[1]`");
    assert_eq!(
        (
            default("array", "[1]"),
            default("number", "1e3"),
            default("string", "")
        ),
        Default::default()
    );
}

#[test]
fn a_second_attribute_of_one_name_does_not_count() {
    with(
        "<task type=\"atomic\" type=\"sequential\" name=\"t\"><description>d</description></task>",
        |file| {
            let Definition::Task(task) = &file.definitions[0] else {
                panic!("a task")
            };
            assert_eq!(task.operator.as_ref().unwrap().value, "atomic");
        },
    );
}

#[test]
fn damaged_elements_have_no_faults_of_their_own() {
    let found = faults("<task type=\"atomic\" name=\"t\"><inputs><input>a</inputs></task>");
    assert_eq!(found, [""; 0]);
}

/// Tags and attributes of the language, and some that are not, in any nesting.
fn trees() -> impl Strategy<Value = String> {
    let tags: Vec<&'static str> = template::element_specs::table_rows()
        .iter()
        .map(|spec| spec.tag)
        .chain(["foo", "x:y"])
        .collect();
    let names = [
        "type", "name", "from", "src", "ref", "as", "test", "params", "template", "fragment",
        "unit", "nope",
    ];
    let values = [
        "atomic",
        "sequential",
        "reduce",
        "script",
        "director_evaluator_loop",
        "map",
        "",
        "a b,c",
        "true",
        "yes",
        "&lt;",
        "7",
    ];
    let attribute = (
        prop::sample::select(names.to_vec()),
        prop::sample::select(values.to_vec()),
    );
    let open = (
        prop::sample::select(tags),
        prop::collection::vec(attribute, 0..3),
    );
    let open = open.prop_map(|(tag, attributes)| {
        let written: Vec<String> = attributes
            .iter()
            .map(|(name, value)| format!(" {name}=\"{value}\""))
            .collect();
        (tag, written.concat())
    });
    let words = [
        "",
        " ",
        "text",
        "true",
        "none",
        "{{a}}",
        "<![CDATA[x]]>",
        "<!-- c -->",
        "<?p q?>",
        "<broken",
        "</task>",
        "12",
    ];
    let leaf = prop::sample::select(words.to_vec()).prop_map(str::to_owned);
    leaf.prop_recursive(5, 60, 6, move |inner| {
        (open.clone(), prop::collection::vec(inner, 0..6)).prop_map(
            |((tag, attributes), inside)| format!("<{tag}{attributes}>{}</{tag}>", inside.concat()),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_tree_makes_lowering_panic_or_point_outside(inside in trees(), kind in prop::sample::select(vec!["task", "library", "template"])) {
        let text = format!("<{kind}>{inside}</{kind}>");
        with(&text, |file| {
            for fault in &file.faults {
                prop_assert!(text.get(fault.span.start as usize..fault.span.end as usize).is_some(), "{:?}", fault);
                prop_assert!(!fault.element.has_damaged_tag());
            }
            // Every body has a number of its own, below the count.
            let mut seen = vec![false; file.bodies as usize];
            let mut twice = false;
            nodes::visit_bodies(file, |task, _| twice |= std::mem::replace(&mut seen[task.body as usize], true));
            prop_assert!(!twice);
            template::facts::collect(file, "stem");
            Ok(())
        })?;
    }
}

#[test]
fn a_million_bad_elements_are_counted_and_not_kept() {
    let most = template::model::MAX_FAULTS as usize;
    let text = format!(
        "<task type=\"map\" name=\"t\">{}{}</task>",
        "<foo/>".repeat(most + 5),
        "<manual_xml/>".repeat(3)
    );
    with(&text, |file| {
        // The older forms are kept whatever the errors are: of a type, one element that may stand
        // once, and two more.
        let old = file
            .faults
            .iter()
            .filter(|fault| fault.kind.is_accepted())
            .count();
        assert_eq!((old, file.faults.len(), file.left_out), (2, most + 2, 7));
    });
}
