//! Fences in Jinja texts: filters and tests see the bare value, and no text derived from it leaves
//! without a fence.

use super::settings::{registry, values};
use ctxc::internals::context::assemble::assemble;
use ctxc::internals::context::context_source::{ContextSource, Match};
use ctxc::internals::context::options::Options;
use ctxc::internals::context::request::Request;
use ctxc::internals::kernel::context::Trust;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;
use std::sync::Mutex;

/// The text of every untrusted value; no filter of these tests changes it.
const EVIL: &str = "EVIL";

/// The text with `x` and `xs` from outside and `t` and `ts` trusted, its mark replaced by an N.
fn render_text(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let templates = format!(
        "<task type=\"atomic\" name=\"t\"><description syntax=\"jinja\">{text}</description><parameters>\
         <parameter name=\"x\" trust=\"untrusted\"/><parameter name=\"xs\" type=\"array\" trust=\"untrusted\"/>\
         <parameter name=\"t\"/><parameter name=\"ts\" type=\"array\"/></parameters></task>"
    );
    let inputs = values(&[
        ("x", json!("EVIL1\nEVIL2")),
        (
            "xs",
            json!([{"n": "EVIL3", "c": [{"n": "EVIL4", "c": []}]}]),
        ),
        ("t", json!("good")),
        ("ts", json!([{"n": "fine", "c": [{"n": "well", "c": []}]}])),
    ]);
    let request = Request {
        inputs: &inputs,
        ..Request::new("t")
    };
    let registry = registry(&templates);
    let assembly = assemble(&registry, &request, &Options::default())
        .unwrap_or_else(|refused| panic!("{text}: {refused}"));
    let message = assembly.messages[0]
        .as_str()
        .replace(&assembly.report.nonce, "N");
    message.strip_prefix("## Task\n\n").unwrap().to_owned()
}

/// Returns the text outside of all fences.
pub(super) fn outside(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, fenced)) = rest.split_once("<untrusted-N name=\"") {
        out.push_str(before);
        let (inner, behind) = fenced
            .split_once("\n</untrusted-N>")
            .unwrap_or_else(|| panic!("a fence without an end: {text}"));
        assert!(
            !inner.contains("<untrusted-N"),
            "a fence in a fence: {text}"
        );
        rest = behind;
    }
    assert!(
        !rest.contains("</untrusted-N>"),
        "an end without a fence: {text}"
    );
    out + rest
}

fn fenced(name: &str, text: &str) -> String {
    format!("<untrusted-N name=\"{name}\">\n{text}\n</untrusted-N>")
}

#[test]
fn filters_see_the_bare_value_and_what_they_make_is_fenced() {
    assert_eq!(render_text("{{ (x|lines)[1] }}"), fenced("x", "EVIL2"));
    assert_eq!(
        render_text("a {{- x|replace('\n', ' ')|lower -}} b"),
        format!("a{}b", fenced("x", "evil1 evil2"))
    );
    assert_eq!(
        render_text("{% if x == 'EVIL1\nEVIL2' and x|length == 11 %}yes{% endif %}"),
        "yes"
    );
    // Numbers and truth values carry no instructions.
    assert_eq!(
        render_text("{{ x|length }} {{ x is string }} {{ none if x else x }}"),
        "11 True None"
    );
    assert_eq!(
        render_text("{{ xs[0].n }}, {{ xs|map(attribute='n')|join }}"),
        format!("{0}, {0}", fenced("xs", "EVIL3"))
    );
    // One expression, one fence, whatever it mixes.
    assert_eq!(
        render_text("{{ t ~ ' ' ~ x[:5] }}"),
        fenced("x", "good EVIL1")
    );
    assert_eq!(
        render_text("{{ x[:5] ~ xs[0].n }}"),
        fenced("x, xs", "EVIL1EVIL3")
    );
    assert_eq!(
        render_text("{% autoescape true %}{{ '<' ~ x[:5] }}{% endautoescape %}"),
        fenced("x", "&lt;EVIL1")
    );
}

#[test]
fn what_is_trusted_stays_outside() {
    let text =
        "{% for i in ts %}{{ i.n }};{% endfor %}{% for i in xs %}{{ i.n }};{% endfor %}{{ t }}";
    assert_eq!(
        render_text(text),
        format!("fine;{};good", fenced("xs", "EVIL3"))
    );
    assert_eq!(
        render_text("{% macro m(x) %}[{{ x }}]{% endmacro %}{{ m(t) }}{{ m(x[:5]) }}"),
        format!("[good]{}", fenced("x", "[EVIL1]"))
    );
    assert_eq!(
        render_text(
            "{% set ns = namespace(n=0) %}{% for i in xs %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}{{ t }}"
        ),
        "1good"
    );
    assert_eq!(render_text("{% with x = t %}{{ x }}{% endwith %}"), "good");
    assert_eq!(render_text("{{ x if false else t }}"), fenced("x", "good"));
    assert_eq!(
        render_text("{{ t|title }} {{ {'x': t}.x }} {{ dict(x=t).x }} {{ 'x' }}"),
        "Good good good x"
    );
}

#[test]
fn what_is_captured_is_fenced_where_it_is_written() {
    assert_eq!(
        render_text(
            "{% set s %}a {{ x[:5] }}{% endset %}{% if s == 'a EVIL1' %}b {{ s }}{% endif %}"
        ),
        "b ".to_owned() + &fenced("x", "a EVIL1")
    );
    assert_eq!(
        render_text(
            "{% filter lower %}A {{ x[:5] }}{% endfilter %}, {% filter upper %}a{% endfilter %}"
        ),
        fenced("x", "a evil1") + ", A"
    );
    let call = "{% macro m() %}<{{ caller('a') }}>{% endmacro %}x\n{%- call(i) m() -%}\n {{ i ~ x[:5] }} {%- endcall -%}\n y";
    assert_eq!(render_text(call), format!("x{}y", fenced("x", "<aEVIL1>")));
    let tree =
        "{% for i in xs recursive %}{{ i.n }}{% if i.c %}({{ loop(i.c) }}){% endif %}{% endfor %}";
    assert_eq!(
        render_text(tree),
        format!("{}({})", fenced("xs", "EVIL3"), fenced("xs", "EVIL4"))
    );
    assert_eq!(render_text(&tree.replace("xs", "ts")), "fine(well)");
}

/// Paths of a value from `FROM` to `TO`, which is a name afterwards.
const WAYS: [&str; 22] = [
    "{% set TO = FROM %}",
    "{% set TO = FROM|string|trim %}",
    "{% set TO = [FROM, 'a'] %}{% set TO = TO[0] %}",
    "{% set TO, other = FROM, 1 %}",
    "{% set (other, TO) = (1, FROM) %}",
    "{% set TO %}{{ FROM }}{% endset %}",
    "{% set TO | trim | default('x') %}{{ FROM }}{% endset %}",
    "{% set TO | replace('a', FROM) %}a{% endset %}",
    "{% set TO = namespace() %}{% set alias = TO %}{% set alias.v = FROM %}{% set TO = TO.v %}",
    "{% set TO = namespace(v='') %}{% for one in [FROM] %}{% set TO.v = one %}{% endfor %}{% set TO = TO.v %}",
    "{% set TO = namespace(v='') %}{% macro put(n, v) %}{% set n.v = v %}{% endmacro %}{% set other = put(TO, FROM) %}{% set TO = TO.v %}",
    "{% macro say() %}{{ FROM }}{% endmacro %}{% set TO = say() %}",
    "{% macro say(a, b=FROM) %}{{ b }}{% endmacro %}{% set TO = say() %}",
    "{% macro say(a) %}{{ caller(a) }}{% endmacro %}{% set TO %}{% call(b) say(FROM) %}{{ b }}{% endcall %}{% endset %}",
    "{% macro say() %}{{ caller() }}{% endmacro %}{% set TO %}{% call say() %}{{ FROM }}{% endcall %}{% endset %}",
    "{% set TO %}{% for one in [FROM] recursive %}{{ one }}{% endfor %}{% endset %}",
    "{% set TO %}{% for one in [0] recursive %}{{ one if one else loop([FROM]) }}{% endfor %}{% endset %}",
    "{% set TO %}{% with a = FROM, b = a %}{{ b }}{% endwith %}{% endset %}",
    "{% set TO %}{% with FROM = FROM %}{{ FROM }}{% endwith %}{% endset %}",
    "{% set TO %}{% for one in [0, 1] %}{% if loop.last %}{{ loop.cycle(0, FROM) }}{% endif %}{% endfor %}{% endset %}",
    "{% set TO %}{% filter trim|replace('a', FROM) %}a{% endfilter %}{% endset %}",
    "{% if t %}{% set TO = FROM[0:] %}{% else %}{% set TO = '' %}{% endif %}",
];

/// Expressions that print the value of `FROM`.
const WRITTEN: [&str; 14] = [
    "{{ FROM }}",
    "{{ t ~ FROM if t else '' }}",
    "{% if t %}{{- FROM -}}{% endif %}",
    "{% for one in [FROM] %}{{ loop.previtem if loop.previtem is defined else one }}{% endfor %}",
    "{% for one in [FROM] if one %}{{ one }}{% else %}{% endfor %}",
    "{% for one in [FROM] recursive %}{{ one }}{% endfor %}",
    "{% for key, value in {FROM: 1}|items %}{{ key }}{% endfor %}",
    "{% filter trim %}{{ FROM }}{% endfilter %}",
    "{%- filter replace('a', FROM) -%} a {%+ endfilter +%}",
    "{% macro out(a) %}{{ a }}{% endmacro %}{{ out(FROM) }}{{ out(a=FROM) }}",
    "{% macro out(a) %}{{ caller(a) }}{% endmacro %}{% call(b) out(FROM) %}{{ b }}{% endcall %}",
    "{% with one = FROM %}{{ one[0:] }}{% endwith %}",
    "{% autoescape t is string %}{{ FROM }}{% endautoescape %}",
    "{{ {'a': [FROM]} }}{{ [FROM]|tojson }}{{ 'a'|replace('a', FROM) }}{{ '%s'|format(FROM) }}{{ (FROM, 1)[0] }}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn nothing_from_outside_leaves_without_a_fence(
        ways in prop::collection::vec(prop::sample::select(WAYS.to_vec()), 0..4),
        written in prop::collection::vec(prop::sample::select(WRITTEN.to_vec()), 1..4),
        late in 0_usize..2,
    ) {
        let names = ["x", "v1", "v2", "v3"];
        let mut text = String::new();
        for (at, way) in ways.iter().enumerate() {
            text.push_str(&way.replace("FROM", names[at]).replace("TO", names[at + 1]));
        }
        for way in &written {
            text.push_str(&way.replace("FROM", names[ways.len()]));
        }
        // A value set in one round of a loop is written by the next round.
        if late == 1 && ways.is_empty() {
            let writes = written.concat().replace("FROM", "late");
            text = format!("{{% set late = '' %}}{{% for round in [1, 2] %}}{writes}{{% set late = x %}}{{{{ late }}}}{{% endfor %}}");
        }
        let rendered = render_text(&text);
        let outside = outside(&rendered);
        prop_assert!(!outside.contains(EVIL), "{text}\n{rendered}");
        prop_assert!(rendered.contains(EVIL), "{text}\n{rendered}");
    }
}

#[test]
fn a_text_of_many_statements_is_followed_in_time() {
    // Each name passes on the value of the name set after it, so that one pass in order is not
    // enough.
    let all = |one: &dyn Fn(usize) -> String| (0..3_999).map(one).collect::<Vec<_>>().concat();
    let first = all(&|at| format!("{{% set a{} = '' -%}}\n", at + 1));
    let chain = all(&|at| format!("{{% set a{at} = a{} -%}}\n", at + 1));
    let started = std::time::Instant::now();
    let rendered = render_text(&format!(
        "{first}{chain}{{% set a3999 = x[:5] %}}{{{{ a0 }}}}{{{{ a3999 }}}}"
    ));
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    assert_eq!(rendered, fenced("x", "") + &fenced("x", "EVIL1"));
}

#[test]
fn no_filter_of_ours_is_anybodys_to_call() {
    let templates = "<task type=\"atomic\" name=\"t\"><description syntax=\"jinja\">{% for a in [0]|map(x) %}{{ a }}{% endfor %}</description>\
        <parameters><parameter name=\"x\" trust=\"untrusted\"/></parameters></task>";
    let registry = registry(templates);
    for name in ["_c", "_o", "_f"] {
        let refused = registry
            .task("t")
            .unwrap()
            .assemble([("x", name)], &[], None)
            .unwrap_err();
        assert!(refused.to_string().contains("unknown filter"), "{refused}");
    }
}

/// The messages of a task with these inputs, the mark replaced by an N.
fn task(templates: &str, inputs: &[(&str, serde_json::Value)]) -> Result<Vec<String>, String> {
    let inputs = values(inputs);
    let request = Request {
        inputs: &inputs,
        ..Request::new("t")
    };
    let assembly = assemble(&registry(templates), &request, &Options::default())
        .map_err(|refused| refused.to_string())?;
    Ok(assembly
        .messages
        .iter()
        .map(|message| message.as_str().replace(&assembly.report.nonce, "N"))
        .collect())
}

#[test]
fn what_is_untrusted_under_one_name_is_so_under_the_other() {
    let of = |text: &str| {
        format!(
            "<task type=\"atomic\" name=\"t\"><parameters><parameter name=\"mail\"/></parameters>\
             <inputs><input name=\"letter\" from=\"mail\" trust=\"untrusted\"/></inputs>{text}</task>"
        )
    };
    let rendered = task(
        &of("<description>{{mail}} {{letter}}</description>"),
        &[("mail", json!("EVIL"))],
    )
    .unwrap();
    assert_eq!(
        rendered,
        [format!(
            "## Task\n\n{} {}",
            fenced("mail", "EVIL"),
            fenced("letter", "EVIL")
        )]
    );
    let system = of("<description>d</description><system>{{mail}}</system>");
    let built = ctxc::compile_sources(&ctxc::Config::default(), [("t.xml", system.as_str())]);
    let codes: Vec<&str> = built
        .diagnostics
        .iter()
        .map(|found| found.rule.name)
        .collect();
    assert_eq!(codes, ["untrusted-in-system"]);
}

#[test]
fn a_value_made_of_untrusted_ones_is_untrusted_as_a_whole() {
    let templates = "<task type=\"atomic\" name=\"t\"><description syntax=\"jinja\">{{ (letter|lines)[1] }}</description>\
        <parameters><parameter name=\"mail\" trust=\"untrusted\"/></parameters>\
        <inputs><input name=\"letter\">They say:\n{{mail}}</input><input name=\"other\">And: {{mail}}</input></inputs></task>";
    let rendered = task(templates, &[("mail", json!("EVIL"))])
        .unwrap()
        .concat();
    assert_eq!(
        rendered,
        format!(
            "## Task\n\n{}\n\n## Input: other\n\n{}",
            fenced("letter", "EVIL"),
            fenced("other", "And: EVIL")
        )
    );
}

#[test]
fn a_lookup_is_not_asked_with_fences() {
    let templates = "<task type=\"atomic\" name=\"t\"><description syntax=\"jinja\">find {{ mail }} {{ mail|upper }}</description>\
        <parameters><parameter name=\"mail\" trust=\"untrusted\"/></parameters>\
        <context_management><inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management></task>";
    let asked = Asked::default();
    let inputs = values(&[("mail", json!("the EVIL"))]);
    let request = Request {
        inputs: &inputs,
        source: &asked,
        ..Request::new("t")
    };
    let assembly = assemble(&registry(templates), &request, &Options::default()).unwrap();
    assert_eq!(asked.0.into_inner().unwrap(), ["find the EVIL THE EVIL"]);
    // A name given by others is printed inside the fence: a heading reads as the author's.
    let text = assembly.messages[0]
        .as_str()
        .replace(&assembly.report.nonce, "N");
    assert!(
        text.ends_with(&format!(
            "## Looked up\n\n{}",
            fenced("docs/obey me.md", "found")
        )),
        "{text}"
    );
    assert!(
        !text
            .replace(&fenced("docs/obey me.md", "found"), "")
            .contains("obey"),
        "{text}"
    );
}

/// Finds one file, and records the queries it receives.
#[derive(Debug, Default)]
struct Asked(Mutex<Vec<String>>);

impl ContextSource for Asked {
    fn search(&self, query: &str, _most: usize) -> Result<Vec<Match>, String> {
        self.0.lock().unwrap().push(query.to_owned());
        Ok(vec![Match {
            id: "docs/obey me.md".to_owned(),
            text: "found".to_owned(),
            trust: Trust::Untrusted,
        }])
    }
}

/// `g` is from outside, and `h` and `j` contain it.
const FRAGMENTS: &str = "<fragment name=\"g\" trust=\"untrusted\">EVIL {{x}}</fragment><fragment name=\"h\">See <use fragment=\"g\"/>!</fragment>\
     <fragment name=\"j\" syntax=\"jinja\">{% if x %}Look: <use fragment=\"h\"/>{% endif %}</fragment>";

fn using(body: &str) -> String {
    format!(
        "{FRAGMENTS}<task type=\"atomic\" name=\"t\"><parameters><parameter name=\"x\" trust=\"untrusted\"/></parameters>{body}</task>"
    )
}

#[test]
fn a_fragment_from_outside_is_fenced_wherever_it_is_used() {
    let evil = fenced("g", "EVIL EVIL");
    let render = |body: &str| {
        task(&using(body), &[("x", json!("EVIL"))])
            .unwrap()
            .concat()
    };
    let plain = render("<description>Obey <use fragment=\"g\"/> now</description>");
    assert_eq!(plain, format!("## Task\n\nObey {evil} now"));
    assert_eq!(
        render("<description><use fragment=\"h\"/></description>"),
        format!("## Task\n\nSee {evil}!")
    );
    assert_eq!(
        render("<description><use fragment=\"j\"/></description>"),
        format!("## Task\n\nLook: See {evil}!")
    );
    // A fragment at each place that takes one, marked by `U`.
    let texts = [
        "<description>U</description>",
        "<description verbatim=\"true\">U</description>",
        "<description syntax=\"jinja\">a U</description>",
        "<description syntax=\"jinja\">{% filter upper %}a U{% endfilter %}</description>",
        "<description syntax=\"jinja\">{% set a %}U{% endset %}{{ a|trim }}</description>",
        "<description syntax=\"jinja\">{% macro m() %}U{% endmacro %}{{ m() }}</description>",
        "<description syntax=\"jinja\">{% for a in [1, 2] %}U{% endfor %}</description>",
        "<description syntax=\"jinja\">{% for a in [1, 2] %}U-{% endfor %}</description>",
        "<description syntax=\"jinja\">{% for a in [[1]] recursive %}U{% if a is iterable %}{{ loop(a) }}{% endif %}{% endfor %}</description>",
        "<description syntax=\"jinja\">{% autoescape true %}U U{% endautoescape %}</description>",
        "<description syntax=\"jinja\">{% with b = 1 %}{% if b %}U{% endif %}{% endwith %}</description>",
        "<description>d</description><instructions>U</instructions>",
        "<description>d</description><criteria>U</criteria>",
        "<description>d</description><constraints><constraint>a</constraint><constraint>U</constraint></constraints>",
        "<description>d</description><constraints><constraint trust=\"untrusted\">EVIL {{x}}</constraint></constraints>",
        "<description>d</description><examples><example><input>U</input><output>U</output></example></examples>",
        "<description>d</description><examples><example><input trust=\"untrusted\">EVIL</input><output>a</output></example></examples>",
        "<description>d</description><inputs><input name=\"i\">U</input></inputs>",
        "<description>d {{i}}</description><inputs><input name=\"i\">U</input></inputs>",
    ];
    for (text, name) in texts
        .iter()
        .flat_map(|text| ["g", "h", "j"].map(|name| (text, name)))
    {
        let text = text.replace('U', &format!("<use fragment=\"{name}\"/>"));
        // Text under a bullet is indented.
        let rendered = render(&text).replace("\n  ", "\n");
        assert!(
            rendered.to_uppercase().contains(EVIL)
                && !outside(&rendered).to_uppercase().contains(EVIL),
            "{text}\n{rendered}"
        );
    }
}

/// A fragment of the author's with a value from outside, where a loop or an escape would change its
/// fence: the search for a mark ends.
#[test]
fn a_fence_in_a_fragment_is_known_in_loops_and_escapes() {
    for text in [
        "{% for a in [1, 2] %}U{% endfor %}",
        "{% for a in [1] recursive %}U{% endfor %}",
        "{% autoescape true %}U{% endautoescape %}",
    ] {
        let body = format!(
            "<description syntax=\"jinja\">{}</description>",
            text.replace('U', "<use fragment=\"k\"/>")
        );
        let templates = format!(
            "<fragment name=\"k\">Mail: {{{{x}}}}</fragment>{}",
            using(&body)
        );
        let rendered = task(&templates, &[("x", json!("EVIL"))]).unwrap().concat();
        assert!(
            rendered.contains(EVIL) && !outside(&rendered).contains(EVIL),
            "{rendered}"
        );
    }
}

/// The places of `untrusted-in-system` in files `0.xml`, `1.xml`, ….
fn in_system(files: &[&str]) -> Vec<String> {
    let names: Vec<String> = (0..files.len()).map(|at| format!("{at}.xml")).collect();
    let built = ctxc::compile_sources(
        &ctxc::Config::default(),
        names.iter().map(String::as_str).zip(files.iter().copied()),
    );
    assert!(
        built
            .diagnostics
            .iter()
            .all(|found| found.rule.name == "untrusted-in-system"),
        "{:#?}",
        built.diagnostics
    );
    built
        .diagnostics
        .iter()
        .map(|found| format!("{}:{}:{}", found.path, found.start.line, found.start.column))
        .collect()
}

#[test]
fn no_fragment_from_outside_reaches_the_system() {
    let fragments = "<library><fragment name=\"g\" trust=\"untrusted\">EVIL</fragment>\n<fragment name=\"h\">See <use fragment=\"g\"/></fragment>\n\
         <fragment name=\"k\"><use fragment=\"h\"/></fragment><fragment name=\"good\">Fine</fragment></library>";
    let body = |text: &str| format!("<description>d</description>\n{text}");
    let of = |text: &str| format!("<task type=\"atomic\" name=\"t\">{}</task>", body(text));
    let places = |text: &str| in_system(&[fragments, &of(text)]);
    assert_eq!(
        places("<system>S <use fragment=\"g\"/></system>"),
        ["1.xml:2:26"]
    );
    assert_eq!(
        places(
            "<system>S <use fragment=\"k\"/> <use fragment=\"good\"/> <use fragment=\"h\"/></system>"
        ),
        ["1.xml:2:26", "1.xml:2:69"]
    );
    assert_eq!(
        places("<system syntax=\"jinja\">{% if true %}<use fragment=\"k\"/>{% endif %}</system>"),
        ["1.xml:2:52"]
    );
    assert_eq!(
        places(
            "<system><use fragment=\"good\"/></system><instructions><use fragment=\"k\"/></instructions>"
        ),
        [""; 0]
    );
    // Steps, functions, one file.
    let step = format!(
        "<task type=\"sequential\" name=\"t\"><description>d</description><steps><task type=\"atomic\">{}</task></steps></task>",
        body("<system><use fragment=\"h\"/></system>")
    );
    assert_eq!(in_system(&[fragments, &step]), ["1.xml:2:24"]);
    let function = format!(
        "<template name=\"f\" params=\"\"><task type=\"atomic\">{}</task></template>",
        body("<system><use fragment=\"g\"/></system>")
    );
    assert_eq!(in_system(&[fragments, &function]), ["1.xml:2:24"]);
    let one = fragments.replace(
        "</library>",
        &format!("{}</library>", of("<system><use fragment=\"k\"/></system>")),
    );
    assert_eq!(in_system(&[&one]), ["0.xml:4:24"]);
    // A circle of fragments ends.
    let circle = "<library><fragment name=\"a\" trust=\"untrusted\"><use fragment=\"b\"/></fragment><fragment name=\"b\"><use fragment=\"a\"/></fragment></library>";
    let built = ctxc::compile_sources(
        &ctxc::Config::default(),
        [
            ("0.xml", circle),
            ("1.xml", &of("<system><use fragment=\"b\"/></system>")),
        ],
    );
    assert_eq!(
        built
            .diagnostics
            .iter()
            .filter(|found| found.rule.name == "untrusted-in-system")
            .count(),
        1
    );
}

/// The run would refuse it, so no project can turn the rule off.
#[test]
fn a_fragment_from_outside_in_the_system_stays_an_error() {
    let config = "[lints]\nuntrusted-in-system = \"off\"\n";
    for name in ["g", "h"] {
        let text = format!(
            "<library><fragment name=\"g\" trust=\"untrusted\">EVIL</fragment><fragment name=\"h\">See <use fragment=\"g\"/></fragment>\
             <task type=\"atomic\" name=\"t\"><description>d</description><system><use fragment=\"{name}\"/></system></task></library>"
        );
        let built = ctxc::compile_sources(
            &crate::project::reading::read(config),
            [("lib.xml", text.as_str())],
        );
        let found: Vec<&str> = built
            .diagnostics
            .iter()
            .filter(|one| one.severity == ctxc::Severity::Error)
            .map(|one| one.rule.name)
            .collect();
        assert!(
            built.registry.is_none() && found.contains(&"untrusted-in-system"),
            "{found:?}"
        );
    }
}

#[test]
fn the_mark_on_a_fragment_counts_in_the_hashes_of_what_uses_it() {
    let hash = |mark: &str| {
        let templates = format!(
            "<fragment name=\"g\"{mark}>EVIL</fragment><fragment name=\"h\"><use fragment=\"g\"/></fragment>\
             <task type=\"atomic\" name=\"t\"><description><use fragment=\"h\"/></description></task>"
        );
        registry(&templates).find("t").unwrap().hash()
    };
    assert_ne!(hash(""), hash(" trust=\"untrusted\""));
    assert_eq!(hash(""), hash(" trust=\"trusted\""));
}
