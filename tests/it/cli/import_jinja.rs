//! `import` of Jinja files that include each other: blocks and imported files render as in Python's
//! Jinja2, or are reported at their place.

use super::project::Project;
use serde_json::{Value, json};

const LIB: &str = "{% set V = 'vee' %}\n{%- set W %}w{{ 1 }}{% endset %}{% macro hi(n, g=V) -%} {{ g }}, {{ n }}! {%- endmacro -%}\
                   {% macro two() %}{{ hi('x') }}{{ V }}{% endmacro %}{% set ns = namespace(n=0) %}\
                   {% macro count() %}{% set ns.n = ns.n + 1 %}{{ ns.n }}{% endmacro %}";
const OTHER: &str = "{% from 'lib.j2' import hi as greet, V %}{% import 'lib.j2' as lib %}{% set K = lib.V ~ 1 %}\
                     {% macro z() %}{{ greet('zz') }}{{ V }}{{ lib.two() }}{% endmacro %}";
const BASE: &str = "<{% block title %}T {{ x }}{% endblock %}|{{ self.title() }}|{% block body %}\n B \n{% endblock %}>";

fn project(text: &str) -> Project {
    Project::new()
        .with_file("p/main.j2", text)
        .with_file("p/lib.j2", LIB)
        .with_file("p/other.j2", OTHER)
        .with_file("p/base.j2", BASE)
        .with_file("p/uses.j2", "{{ lib.two() }}")
}

#[track_caller]
fn equal(text: &str, inputs: &Value, expected: &str) {
    let project = project(text);
    project.write_file(
        "s.jsonl",
        json!({"template": "main", "inputs": inputs, "expected": expected}).to_string(),
    );
    let run = project
        .run(&["import", "p/main.j2", "--verify", "s.jsonl"])
        .exits_with(0);
    let run = run.stdout_contains("1 sample: every message equal, byte for byte");
    assert!(!run.stdout.contains("warning"), "{}", run.stdout);
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("nothing found");
}

/// The output of Jinja2 3.1 for each.
#[test]
fn imported_text_renders_as_in_jinja2() {
    let x = || json!({"x": 1});
    equal(
        "{% extends 'base.j2' %}{% block title %}mine {{ x }}{% endblock %}",
        &x(),
        "<mine 1|mine 1|\n B \n>",
    );
    equal(
        "{% extends 'base.j2' %}{% block body %}[{{- self.title() -}}]{% endblock %}",
        &x(),
        "<T 1|T 1|[T 1]>",
    );
    equal(
        "{% extends 'base.j2' %}{% block title %}{{ super() }}{{ super() }}{% endblock %}",
        &x(),
        "<T 1T 1|T 1T 1|\n B \n>",
    );
    equal(
        "{% block a %}\n A{{ x }} \n{% endblock %} \n{{- self.a() -}} \n x",
        &x(),
        "\n A1 \n\n A1 \nx",
    );
    equal(
        "{% import 'lib.j2' as lib %}{{ lib.V|upper }} {{ lib.hi(lib.W) }}{{ lib.two() }}",
        &json!({}),
        "VEE vee, w1!vee, x!vee",
    );
    equal(
        "{% import 'lib.j2' as lib %}{{ lib.hi('you') }}{{ V }}{{ lib.count() }}{{ lib.count() }}",
        &json!({"V": "in"}),
        "vee, you!in12",
    );
    equal(
        "{% from 'lib.j2' import hi as greet, W %}{{ V }}{{ greet('a') }}{{ W }}",
        &json!({"V": "in"}),
        "invee, a!w1",
    );
    equal(
        "{% import 'other.j2' as o %}{{ o.z() }}{{ o.K }}",
        &json!({}),
        "vee, zz!veevee, x!veevee1",
    );
    equal(
        "{% import 'lib.j2' as lib %}{{ lib.V }}{% include 'uses.j2' %}",
        &json!({}),
        "veevee, x!vee",
    );
    equal(
        "A \n{% import 'lib.j2' as lib %} B{{ lib_V }}{{ lib.V }}",
        &json!({"lib_V": "own"}),
        "A \n Bownvee",
    );
}

#[test]
fn a_default_that_names_another_argument_is_refused() {
    assert_not_imported(
        "{% macro a(x, y=x|upper) %}{{ x }}{{ y }}{% endmacro %}{{ a('q') }}",
        "a default of `y` that names `x` cannot be carried over: arguments have no value yet when defaults are evaluated",
    );
    assert_not_imported(
        "{% macro m() %}{{ caller(1) }}{% endmacro %}{% call(x, y=x) m() %}{{ x }}{{ y }}{% endcall %}",
        "a default of `y` that names `x` cannot be carried over",
    );
}

#[track_caller]
fn assert_not_imported(text: &str, says: &str) {
    let run = project(text).run(&["import", "p/main.j2"]).exits_with(1);
    run.stdout_contains(&format!("error: {says}"))
        .stdout_contains("1 prompt not carried over");
}

#[test]
fn what_is_not_taken_in_is_reported_at_its_place_with_what_to_write() {
    let x = "{% block a %}A{{ i }}{% endblock %}\n";
    assert_not_imported(
        &format!("{x}{{% if self.a() == 'A' %}}y{{% endif %}}"),
        "`self.a()` in a macro or an expression cannot be carried over: it can only be used alone",
    );
    assert_not_imported(
        &format!("{x}{{{{ self.b() }}}}"),
        "`self.b()` cannot be carried over: there is no block `b`",
    );
    assert_not_imported(
        "{% if x %}{% extends 'base.j2' %}{% endif %}",
        "`extends` in a condition cannot be carried over: put it first",
    );
    let import = "{% import 'lib.j2' as lib %}\n";
    assert_not_imported(
        &format!("{import}{{{{ lib.nope }}}}"),
        "`lib.nope` cannot be carried over: p/lib.j2 does not set this name in every case outside of loops",
    );
    assert_not_imported(
        "{% macro a(x=y, y=2) %}{{ x }}{% endmacro %}{{ a() }}",
        "a default of `x` that names `y` cannot be carried over: arguments have no value yet",
    );
    let project = project("{% import 'if.j2' as l %}{{ l.A }}")
        .with_file("p/if.j2", "{% if true %}{% set A = 5 %}{% endif %}");
    project
        .run(&["import", "p/main.j2"])
        .exits_with(1)
        .stdout_contains("p/main.j2:1: error: `l.A` cannot be carried over: p/if.j2 does not set this name in every case outside of loops");
    let project = project
        .with_file("p/if.j2", "\n{% macro m() %}\n{{ x }}{% endmacro %}")
        .with_file("p/main.j2", "{% import 'if.j2' as l %}{{ l.m() }}");
    project
        .run(&["import", "p/main.j2"])
        .exits_with(0)
        .stdout_contains("p/if.j2:3: warning: `x`: Jinja2 shows a file that is imported no inputs");
}

#[test]
fn a_text_is_checked_for_what_it_cannot_say_of_itself() {
    let task = |text: &str| {
        let text = format!(
            "<task type=\"atomic\" name=\"t\" profile=\"bare\"><description syntax=\"jinja\">{text}</description></task>"
        );
        Project::new()
            .with_file("templates/t.xml", text)
            .run(&["check"])
            .exits_with(1)
    };
    task("{{ self.title() }}")
        .stdout_contains(
            "Jinja's name `self` is not supported: a text here has no blocks to refer to",
        )
        .stdout_contains("{% set title %}…{% endset %}");
    let run = task("{% macro a(x=y, y=1) %}{{ x }}{% endmacro %}");
    run.stdout_contains("the default of `x` names `y`, which has no value yet")
        .stdout_contains("set `x` inside of the macro, where `y` has its value");
}

#[test]
fn a_name_that_an_if_alone_sets_is_an_input_and_that_is_reported() {
    let of = |text: &str| Project::new().with_file("p/a.j2", text);
    let run = of("Hi.\n{% if xs %}{% set first = xs[0] %}{% endif %}[{{ first }}]")
        .run(&["import", "p"])
        .exits_with(0);
    run.stdout_contains("inputs: xs (array, default []), first (any)\n")
        .stdout_contains("p/a.j2:2: warning: `first`: a `{% set %}` above sets it only in some cases; in the others it is an input here");
    // A name that is read before it is set is an input like any other.
    let both = "{% if not tone %}{% set tone = 'kind' %}{% endif %}{{ tone }}{% if x %}{% set s = 1 %}{% else %}{{ s }}{% endif %}";
    let run = of(both).run(&["import", "p"]).exits_with(0);
    let printed = run.stdout.clone();
    run.stdout_contains("inputs: tone (any, default \"\"), x (any, default \"\"), s (any)\n");
    assert!(!printed.contains("warning: `tone`"), "{printed}");
}

#[test]
fn a_default_that_the_import_writes_gives_no_finding() {
    let project = Project::new()
        .with_file(
            "p/a.j2",
            "{% if mode == \"x\" %}{{ h.name }}{% endif %}{% if h %}{{ h.name }}{% endif %}{% if o %}{{ o.x }}{% endif %}\n",
        )
        .with_file(
            "p/b.prompt",
            "---\ninput:\n  schema:\n    user?(object):\n      name?: string\n---\nTo {{user.name}}.\n",
        )
        .with_file(
            "p/promptfooconfig.yaml",
            "prompts: ['Hi {% if org %}{{ org.title }}{% endif %}{% if n %}{{ n + 1 }}{% endif %}']\ntests: [{vars: {org: {title: a}}}, {vars: {n: 1}}]\n",
        );
    project.run(&["import", "p"]).exits_with(0);
    for (path, parameter) in [
        ("templates/a.xml", "name=\"h\" type=\"object\" required"),
        (
            "templates/a.xml",
            "name=\"o\" type=\"object\" default=\"{}\"",
        ),
        ("templates/b.xml", "name=\"user\" type=\"object\" required"),
        (
            "templates/prompt.xml",
            "name=\"org\" type=\"object\" default=\"{}\"",
        ),
        ("templates/prompt.xml", "name=\"n\" default=\"\""),
    ] {
        let text = project.read_file(path);
        assert!(text.contains(parameter), "{text}");
    }
    project
        .run(&["check", "--verbose"])
        .exits_with(0)
        .output_lacks("unknown-field");
}

#[test]
fn a_tuple_without_parentheses_is_called_one() {
    let project = Project::new().with_file("p/a.j2", "{% for k in 1, 2 %}{{ k }}{% endfor %}\n");
    project
        .run(&["import", "p"])
        .exits_with(1)
        .stdout_contains("a tuple without parentheses")
        .output_lacks("not valid Jinja");
}
