//! `render`: the line that each line of a text is written on, and the line that each fault is in.

use super::project::Project;
use pretty_assertions::assert_eq;

const PLAIN: &str = "<task type=\"atomic\" name=\"x\"><description>D</description>
  <parameters><parameter name=\"a\" default=\"dflt\"/></parameters>
  <instructions>
    line 4
    <!-- a
    b
    --> line 7 <!--
    --> still 7
    line 9&#10;new of 9
    <![CDATA[line 10
    line 11 &]]>
    line 12 &amp; &#x41;
    {{a}} <use fragment=\"fr\"/>
    line 14
  </instructions>
  <criteria xml:space=\"preserve\">
  line 17 <!--
  -->
  line 19</criteria>
  <constraints>
    <constraint>one <!--
    --> two</constraint>
    <constraint>

      line 25</constraint>
    <constraint src=\"s.md\"/>
  </constraints>
</task>
";

const JINJA: &str = "<task type=\"atomic\" name=\"x\"><description>D</description>
  <parameters><parameter name=\"a\" default=\"dflt\"/></parameters>
  <instructions syntax=\"jinja\">

    <!-- a
    b
    -->
    line 8
    <!-- a
    b
    --> {{ a }} 11
    {%- macro m() %}[{{ caller() }}]{% endmacro %}
    {%- set q = 1 -%}
    {#-

    c -#}
    {% filter upper %}hello 17

    there{% endfilter %}
    {% for i in [1, 2] %}
    {%- call m() -%} in call 21 {%- endcall %}
    {% filter upper %}b 22{% endfilter %}
    {% endfor %}
    {{ m }}
    line 25
  </instructions>
</task>
";

/// A text that Jinja captures before it is written.
const CAPTURED: &str = "<task type=\"atomic\" name=\"x\"><description>D</description>
  <parameters><parameter name=\"a\"/><parameter name=\"b\" type=\"array\"/></parameters>
  <instructions syntax=\"jinja\">
{% macro each(items) -%}
{% for i in items %}
{{ loop.index }}. {{ i }}
{%- endfor %}
{%- endmacro %}
{% macro field(name, value) %}
  **{{ name }}**: {{ value or 'n/a' }}

  {{ each(value) }}
{%- endmacro %}
{% macro rows(l) %}{% for x in l %}{{ caller(x) }}
{% endfor %}{% endmacro %}{% set block %}
  block 15 {% raw %}{{ raw }}
  {{ raw }} 16{% endraw %}

  block 18
{% endset %}
{{ field('Options', b) }}
{{ block|trim }}
{{ block|trim|length }} of 22
{{ block|replace('block', 'line')|indent(4) }}
{{ block|truncate(30) }}
{% if block %}{{ block }}{% endif %}
{% call(x) rows([a]) %}- {{ x }} 26{% endcall %}
{% filter upper %}one 27
two 28

  four 30{% endfilter %} tail 30
{{ a }} tail 31
{% set q = block %}{% for l in q|lines %}{{ l }}|{% endfor %}
  </instructions>
</task>
";

/// The lines of a render, each with its source where one is named.
fn rendered_lines(task: &str, line_end: &str) -> String {
    rendered_lines_with(task, line_end, &[])
}

fn rendered_lines_with(task: &str, line_end: &str, given: &[&str]) -> String {
    let file = |text: &str| text.replace('\n', line_end);
    let library =
        "<library>\n<fragment name=\"fr\">\n  <!--\n  -->\n  of line 5\n</fragment></library>";
    let project = Project::new()
        .with_file("templates/x.xml", file(task))
        .with_file("templates/l.xml", file(library))
        .with_file("templates/s.md", file("\n  \n  of line 3\n\n  of line 5"));
    let run = project
        .run(&[&["render", "x"], given].concat())
        .exits_with(0);
    let body = |line: &str| {
        line.split_once('│')
            .map_or("", |(_, line)| line.trim())
            .replace("                    ", "")
    };
    let lines: Vec<String> = run
        .stdout
        .lines()
        .map(body)
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("\n")
}

#[test]
fn each_line_is_from_where_it_is_written() {
    let plain = rendered_lines(PLAIN, "\n");
    insta::assert_snapshot!(plain, @r"
    ## Criteria
    templates/x.xml:16
    line 17               templates/x.xml:17
    line 19               templates/x.xml:19
    ## Constraints
    - one  two              templates/x.xml:21
    - line 25               templates/x.xml:25
    - of line 3             templates/s.md:3
    of line 5             templates/s.md:5
    ## Task
    D   templates/x.xml:1
    ## Instructions
    line 4              templates/x.xml:4
    line 7  still 7    templates/x.xml:7
    line 9              templates/x.xml:9
    new of 9                templates/x.xml:9
    line 10             templates/x.xml:10
    line 11 &           templates/x.xml:11
    line 12 & A         templates/x.xml:12
    dflt of line 5      templates/x.xml:13
    line 14             templates/x.xml:14
    ");
    let jinja = rendered_lines(JINJA, "\n");
    insta::assert_snapshot!(jinja, @r"
    ## Task
    D   templates/x.xml:1
    ## Instructions
    line 8                  templates/x.xml:8
    dflt 11HELLO 17        templates/x.xml:11
    templates/x.xml:17
    THERE                   templates/x.xml:17
    [in call 21]            templates/x.xml:12
    B 22templates/x.xml:22
    [in call 21]            templates/x.xml:12
    B 22templates/x.xml:22
    templates/x.xml:23
    <macro m>               templates/x.xml:24
    line 25                 templates/x.xml:25
    ");
    for line_end in ["\r\n", "\r"] {
        assert_eq!(rendered_lines(PLAIN, line_end), plain, "{line_end:?}");
        assert_eq!(rendered_lines(JINJA, line_end), jinja, "{line_end:?}");
    }
}

#[test]
fn what_is_kept_before_it_is_written_is_from_its_own_lines() {
    let given = ["-i", "a=one\ntwo", "-i", "b=[\"x\", \"y\\nz\"]"];
    let lines = rendered_lines_with(CAPTURED, "\n", &given);
    insta::assert_snapshot!(lines, @r"
    ## Task
    D   templates/x.xml:1
    ## Instructions
    templates/x.xml:8
    templates/x.xml:13
    templates/x.xml:20
    templates/x.xml:9
    **Options**: ['x', 'y\nz']                templates/x.xml:10
    templates/x.xml:11
    templates/x.xml:12
    1. xtemplates/x.xml:6
    2. ytemplates/x.xml:6
    z   templates/x.xml:6
    block 15 {{ raw }}      templates/x.xml:16
    {{ raw }} 16          templates/x.xml:17
    templates/x.xml:18
    block 18              templates/x.xml:19
    45 of 22                templates/x.xml:23
    templates/x.xml:24
    line 15 {{ raw }} templates/x.xml:24
    {{ raw }} 16      templates/x.xml:24
    templates/x.xml:24
    line 18           templates/x.xml:24
    templates/x.xml:25
    block 15 {{ raw }}    templates/x.xml:25
    {{...                 templates/x.xml:25
    templates/x.xml:15
    block 15 {{ raw }}    templates/x.xml:16
    {{ raw }} 16          templates/x.xml:17
    templates/x.xml:18
    block 18              templates/x.xml:19
    templates/x.xml:26
    - one                   templates/x.xml:27
    two 26                  templates/x.xml:27
    templates/x.xml:27
    ONE 27                  templates/x.xml:28
    TWO 28                  templates/x.xml:28
    templates/x.xml:28
    FOUR 30 tail 30       templates/x.xml:28
    one input `a`
    two tail 31             templates/x.xml:32
    |  block 15 {{ raw }}|  {{ raw }} 16||  block 18|               templates/x.xml:33
    ");
    assert_eq!(rendered_lines_with(CAPTURED, "\r\n", &given), lines);
}

const FAULTY: &str = "<library>
<fragment name=\"fr\">A fragment
  of {{ d }} lines</fragment>
<task type=\"atomic\" name=\"z\"><description syntax=\"jinja\"><!--
    --> of {% if c %}{{ a.b.c }}{% endif %}
  </description>
  <parameters><parameter name=\"a\" type=\"object\"/><parameter name=\"b\"/><parameter name=\"c\"/><parameter name=\"d\"/></parameters>
  <instructions src=\"z.md\" syntax=\"jinja\"/>
  <criteria>Words of b
    {{b}} and
    {{b}} <use fragment=\"fr\"/></criteria>
  <inputs>
    <input name=\"q\"
      from=\"c\"/>
    <input name=\"c\" from=\"a.zz\"/>
  </inputs>
</task></library>
";

#[test]
fn each_fault_is_reported_at_its_line() {
    let text = "\n\nc is {% if c %}\n  {{ b }}{% endif %}\n{% for x in a.n %}{% endfor %}\n";
    let project = Project::new()
        .with_file("templates/z.xml", FAULTY)
        .with_file("templates/z.md", text);
    let render = |given: &[&str], code: i32| {
        project
            .run(&[&["render", "z"], given].concat())
            .exits_with(code)
            .stderr
    };
    insta::assert_snapshot!(render(&[], 2), @r"
    error: templates/z.md:4:6: `b` has no value
    error: templates/z.md:5:13: `a` has no value
    error: templates/z.xml:3:9: `d` has no value
    error: templates/z.xml:5:25: `a` has no value
    error: templates/z.xml:10:7: `b` has no value
    error: templates/z.xml:14:13: `c` has no value
      hint: give them: --input a=VALUE --input b=VALUE --input c=VALUE --input d=VALUE; use @FILE for VALUE to take the content of a file
    ");
    insta::assert_snapshot!(render(&["-i", r#"a={"b":1,"n":5,"zz":1}"#, "-i", "b=1", "-i", "c=3", "-i", "d=3"], 1), @r"
    error: templates/z.md:5:4: the Jinja text cannot be rendered: number is not iterable
    error: templates/z.xml:5:25: the Jinja text cannot be rendered: `a.b.c` is undefined
    ");
    let short = "<task type=\"atomic\" name=\"z\"><description>a.b of z.a {{a}}</description><instructions syntax=\"jinja\">\
                 Do {% filter upper %}{{ a }}{% endfilter %}, {{ a }}{% if a.b.c &lt; 3 %}x{% endif %}</instructions>\
                 <parameters><parameter name=\"a\" type=\"object\" trust=\"untrusted\"/></parameters></task>";
    let project = Project::new().with_file("templates/z.xml", short);
    let found = project
        .run(&["render", "z", "-i", "a={}"])
        .exits_with(1)
        .stderr;
    let column = short.find("if a.b").unwrap() + 1;
    assert_eq!(
        found,
        format!(
            "error: templates/z.xml:1:{column}: the Jinja text cannot be rendered: `a.b` is undefined\n"
        )
    );
    insta::assert_snapshot!(render(&["-i", r#"a={"b":{"c":1},"n":[]}"#, "-i", "b=1", "-i", "c=3"], 1), @r"
    error: templates/z.xml:3:9: `d` has no value
    error: templates/z.xml:15:27: `a.zz` leads nowhere: the value of `a` is an object that has no such field
      hint: give it: --input d=VALUE, or --input d=@FILE
    ");
}

#[test]
fn a_text_of_a_task_leads_to_the_task() {
    let task = "<task type=\"atomic\" name=\"s\"><description src=\"../prompts/s.md\"/></task>";
    let project = Project::new()
        .with_file("templates/s.xml", task)
        .with_file("prompts/s.md", "Sort it.");
    let run = project
        .run(&["render", "prompts/s.md"])
        .exits_with(2)
        .stdout_is_empty();
    run.stderr_contains("there is no task `prompts/s.md`")
        .stderr_contains("prompts/s.md is only a text of `s`: name the task");
}

#[test]
fn a_value_that_is_too_large_is_reported_with_its_size_and_the_limit() {
    let task = "<task type=\"atomic\" name=\"s\"><description>{{a}}</description><parameters><parameter name=\"a\"/></parameters><history/></task>";
    let project = Project::new()
        .with_file("templates/s.xml", task)
        .with_file("big.txt", "a".repeat((10 << 20) + 1));
    for given in [
        &["-i", "a=@big.txt"][..],
        &["-i", "a=1", "--history", "big.txt"],
    ] {
        let run = project
            .run(&[&["render", "s"], given].concat())
            .exits_with(2)
            .stdout_is_empty();
        run.stderr_contains("it is larger than 10 MiB, the limit: 10,485,761 bytes");
    }
}

#[test]
fn a_conversation_that_is_one_list_is_reported_as_such() {
    let task = "<task type=\"atomic\" name=\"s\"><description>D</description><history/></task>";
    let message = "{\"role\": \"user\", \"content\": \"hello\"}";
    let project = Project::new()
        .with_file("templates/s.xml", task)
        .with_file("one.json", format!("[{message}]"))
        .with_file("many.json", format!("\n[\n  {message}\n]\n"));
    let history_error = |name: &str| {
        project
            .run(&["render", "s", "--history", name])
            .exits_with(2)
    };
    history_error("one.json").stderr_contains(
        "--history one.json: line 1: expected one message a line, found a list of them",
    );
    history_error("many.json").stderr_contains(
        "--history many.json: line 2: expected one message a line, found a list of them",
    );
}
