//! Jinja text.

use ctxc::internals::jinja::environment::JinjaNameKind;
use ctxc::internals::jinja::jinja_fault::JinjaFaultKind as Kind;
use ctxc::internals::jinja::parse::analyze;
use ctxc::internals::jinja::static_limits::{MAX_BLOCK_DEPTH, MAX_COLUMNS, MAX_TEXT_BYTES};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

fn variables(text: &str) -> Vec<String> {
    let parsed = analyze(text);
    assert_eq!(parsed.faults, []);
    parsed.variables.into_iter().collect()
}

/// The first fault and the text it points at.
fn fault(text: &str) -> (Kind, &str) {
    let fault = analyze(text).faults.into_iter().next().unwrap();
    (fault.kind, fault.span.slice(text))
}

/// Every fault in a word or two, with the text it points at.
fn faults(text: &str) -> Vec<(String, &str)> {
    let word = |kind: Kind| {
        let Kind::Unknown { what, name, near } = &kind else {
            return format!("{kind:?}");
        };
        format!("{what:?} {name} {}", near.as_deref().unwrap_or_default())
    };
    analyze(text)
        .faults
        .into_iter()
        .map(|fault| (word(fault.kind), fault.span.slice(text)))
        .collect()
}

#[test]
fn filters_tests_and_functions_are_known_before_anything_is_rendered() {
    let known = "{{ a|upper|default('x') }}{% filter trim|e %}{% endfilter %}{% if a is not defined and b is in c %}{% endif %}\
        {{ range(3) }}{{ a.method() }}{% macro m(x) %}{{ caller() }}{% endmacro %}{% call m(1) %}{% endcall %}{{ m(2)|tojson }}\
        {% for x in (1, 2) if (x) %}{{ not (x) }}{% endfor %}{# |nofilter #}{% raw %}{{ a|nofilter }}{% endraw %}{{ 'a|nofilter' }}";
    assert_eq!(variables(known), ["a", "b", "c"]);
    assert_eq!(
        faults("{{ a|uper|uper }}"),
        [("Filter uper upper".to_owned(), "uper")]
    );
    assert_eq!(faults("{% filter | %}").len(), 1);
    assert_eq!(
        faults("{% filter nofilter %}{% endfilter %}"),
        [("Filter nofilter ".to_owned(), "nofilter")]
    );
    let tests = [
        ("Test defind defined".to_owned(), "defind"),
        ("Test quxotic ".to_owned(), "quxotic"),
    ];
    assert_eq!(faults("{{ a is defind or a is not quxotic }}"), tests);
    assert_eq!(
        faults("{{ rang (3) }}"),
        [("Function rang range".to_owned(), "rang")]
    );
    // A called name is none of the variables that could be declared.
    assert_eq!(
        analyze("{{ nofn(a) }}")
            .variables
            .into_iter()
            .collect::<Vec<_>>(),
        ["a"]
    );
    assert!(
        JinjaNameKind::Function
            .known_names()
            .contains(&"range".to_owned())
    );
}

#[test]
fn filters_have_as_many_arguments_as_they_take() {
    for text in [
        "{{ p|replace('a') }}",
        "{{ p|replace }}",
        "{{ p|replace('a', 'b', 'c') }}",
        "{% filter replace('a') %}p{% endfilter %}",
    ] {
        assert_eq!(
            faults(text)
                .iter()
                .map(|(_, place)| *place)
                .collect::<Vec<_>>(),
            ["replace"],
            "{text}"
        );
    }
    for (text, place) in [
        ("{{ p|upper(1) }}", "upper"),
        ("{{ p|batch }}", "batch"),
        ("{{ p|join('a', 'b', 'c') }}", "join"),
    ] {
        assert_eq!(
            faults(text)
                .iter()
                .map(|(_, place)| *place)
                .collect::<Vec<_>>(),
            [place],
            "{text}"
        );
    }
    for text in [
        "{{ p|replace('a', 'b') }}",
        "{{ p|groupby(attribute='a') }}",
        "{{ p|truncate(3, end='') }}",
        "{{ p|replace(*q) }}",
    ] {
        assert_eq!(faults(text), [], "{text}");
    }
}

#[test]
fn nothing_is_divided_by_a_zero_that_is_written() {
    for (text, zero) in [
        ("{{ 1/0 }}", "0"),
        ("{% if a // 0.0 %}{% endif %}", "0.0"),
        ("{{ [a % -0] }}", "-0"),
    ] {
        assert_eq!(faults(text), [("ByZero".to_owned(), zero)], "{text}");
    }
    assert_eq!(
        variables("{{ 0/a + 0*0 }}{{ 1/10 }}{{ a is divisibleby 2 }}"),
        ["a"]
    );
}

#[test]
fn the_name_of_a_function_that_is_not_called_is_a_variable() {
    let read = |text: &str| {
        let parsed = analyze(text);
        assert_eq!(parsed.faults, [], "{text}");
        let all = |names: std::collections::BTreeSet<String>| {
            names.into_iter().collect::<Vec<_>>().join(" ")
        };
        (all(parsed.variables), all(parsed.functions))
    };
    let two = |variables: &str, functions: &str| (variables.to_owned(), functions.to_owned());
    assert_eq!(
        read("{{ range }}{{ dict.a }}{% for x in cycler %}{% endfor %}{{ a|join(joiner) }}"),
        two("a cycler dict joiner range", "")
    );
    assert_eq!(
        read("{% for x in range (3) %}{% endfor %}{% set n = namespace(a=1) %}{{ n.a }}"),
        two("", "namespace range")
    );
    assert_eq!(
        read("{{ range(3) }}{{ range }}{% set r = range %}{{ r }}"),
        two("range", "")
    );
    assert_eq!(
        read(
            "{% for range in a %}{{ range }}{% endfor %}{% set dict = 1 %}{{ dict }}{{ dict(1) }}"
        ),
        two("a", "")
    );
}

#[test]
fn what_a_macro_has_in_python_alone_is_reported_where_it_is_read() {
    let text = "{% macro a(x) %}{{ varargs|length }}{% if x %}{{ kwargs.b }}{{ o.kwargs }}{% endif %}{% endmacro %}{{ a(1) }}";
    assert_eq!(
        faults(text),
        [
            ("Variable varargs ".to_owned(), "varargs"),
            ("Variable kwargs ".to_owned(), "kwargs")
        ]
    );
    // Elsewhere they are names as others are.
    assert_eq!(
        variables(
            "{{ kwargs }}{% macro a(varargs) %}{{ varargs }}{{ caller }}{% endmacro %}{{ a(1) }}"
        ),
        ["kwargs"]
    );
}

#[test]
fn an_exponent_belongs_to_its_number() {
    assert_eq!(
        variables(
            "{{ 1.5e3 }}{{ 1e-5*a }}{{ 2E+1-e }}{{ 0x1e-e3 }}{{ 1.5e-7 if 1_0e2 else b.e3 }}"
        ),
        ["a", "b", "e", "e3"]
    );
}

#[test]
fn a_reach_for_another_template_hides_no_other_fault() {
    let text = "{{ a|uper }}\n{% include 'x' %}\n{% block b %}{{ c }}{% endblock %}{{ d e }}";
    let found = faults(text);
    let words: Vec<&str> = found.iter().map(|(_, place)| *place).collect();
    assert_eq!(
        words,
        ["uper", " include 'x' %}", " block b %}", "e"],
        "{found:?}"
    );
    let parsed = analyze("é{% include\n'é' %}{{ a }}");
    assert_eq!((parsed.variables.len(), parsed.faults.len()), (1, 1));
    // An imported name may be anything.
    let parsed = analyze("{% from 'x' import f %}{{ f(1) }}{{ g }}");
    assert_eq!((parsed.variables.len(), parsed.faults.len()), (0, 1));
}

#[test]
fn variables_are_those_that_the_text_does_not_set() {
    assert_eq!(variables("plain"), [""; 0]);
    // A name that is set from itself comes from outside, unless an earlier statement set it.
    assert_eq!(
        variables("{% set a = a or 'x' %}{% set b = c.b %}{% set d = 1 %}{% set d = d + 1 %}"),
        ["a", "c"]
    );
    assert_eq!(
        variables("{% for e in f %}{% set e = e|trim %}{{ 'g' }}{% endfor %}{% set h = 'h' ~ h %}"),
        ["f", "h"]
    );
    assert_eq!(
        variables(
            "{{ b.c }} {{ a[0]|upper }} {% for x in xs %}{{ x }}{{ loop.index }}{% endfor %}"
        ),
        ["a", "b", "xs"]
    );
    assert_eq!(
        variables("{% set y = z %}{{ y }}{% macro m(p) %}{{ p }}{{ q }}{% endmacro %}{{ m(1) }}"),
        ["q", "z"]
    );
    assert_eq!(
        variables("{% for i in range(n) %}{{ i }}{% endfor %}"),
        ["n"]
    );
    assert_eq!(
        variables("{% raw %}{{ a }}{% endraw %}{# {{ b }} #}{{ 'c' }}"),
        [""; 0]
    );
}

#[test]
fn a_fault_stands_where_it_is() {
    let (kind, place) = fault("one\n{{ a b }}");
    assert!(
        matches!(&kind, Kind::Syntax(words) if words.contains("unexpected identifier")),
        "{kind:?}"
    );
    assert_eq!(place, "b");
    let (kind, place) = fault("é {% nope %}");
    assert_eq!(
        (kind, place),
        (Kind::Syntax("unknown statement nope".to_owned()), "nope")
    );
    let (kind, _) = fault("{% if a %}");
    assert!(matches!(kind, Kind::Syntax(_)));
    assert!(matches!(fault("{{ 'a }}").0, Kind::Syntax(_)));
    assert!(matches!(fault("{# a").0, Kind::Syntax(_)));
}

#[test]
fn other_templates_are_out_of_reach() {
    for (text, word) in [
        ("{% include 'a' %}", "include"),
        ("{%- extends 'a' %}", "extends"),
        ("{% import 'a' as b %}", "import"),
        ("x{%+from 'a' import b%}", "from"),
        ("{% block a %}{% endblock %}", "block"),
    ] {
        let (kind, place) = fault(text);
        assert_eq!(kind, Kind::OtherTemplate(word));
        assert!(place.contains(word), "{place}");
    }
    assert_eq!(
        variables("{# {% include 'a' %} #}{% raw %}{% include 'a' %}{% endraw %}{{ include }}"),
        ["include"]
    );
}

#[test]
fn size_has_a_limit() {
    assert_eq!(analyze(&"a".repeat(MAX_TEXT_BYTES)).faults, []);
    assert_eq!(
        fault(&"a".repeat(MAX_TEXT_BYTES + 1)),
        (Kind::TooLarge, "a")
    );
}

/// Texts of so many levels, one for each way to nest.
fn nested(levels: usize) -> Vec<String> {
    let around = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
    };
    let chain = |start: &str, part: &str, end: &str| format!("{start}{}{end}", part.repeat(levels));
    vec![
        around("{%if a%}", "", "{%endif%}"),
        chain("{% if a %}", "{%elif a%}", "{% endif %}"),
        around("{%set a%}", "", "{%endset%}"),
        around("{%for a in b%}", "", "{%endfor%}"),
        format!("{{{{ {} }}}}", around("(", "a", ")")),
        format!("{{{{ {} }}}}", around("[", "a", "]")),
        format!("{{{{ {} }}}}", around("{1:", "a", "}")),
        format!("{{{{ {} }}}}", around("a[", "a", "]")),
        format!("{{{{ {} }}}}", around("range(", "a", ")")),
        chain("{{ a", ".a", " }}"),
        chain("{{ a", "[0]", " }}"),
        chain("{{ a", "|e", " }}"),
        chain("{{ a.b", "()", " }}"),
        chain("{{ a", " is odd", " }}"),
        chain("{{ a", " + a", " }}"),
        chain("{{ a", " ~ 1", " }}"),
        chain("{{ a", " and a", " }}"),
        chain("{{ 1", "if 1", " }}"),
        chain("{{ a", " if a else a", " }}"),
        chain("{{ ", "-", "a }}"),
        chain("{{ ", "not ", "a }}"),
        chain("{% set a", ".a", " = 1 %}"),
        chain("{% filter e", "|e", " %}{% endfilter %}"),
    ]
}

#[test]
fn no_depth_overflows_the_stack() {
    // Half the stack of a build thread; the parser need not be optimised.
    let small = std::thread::Builder::new().stack_size(1 << 20);
    let run = small.spawn(|| {
        for text in nested(100_000) {
            let kind = fault(&text).0;
            assert!(
                matches!(kind, Kind::TooDeep | Kind::TooLarge | Kind::LineTooLong),
                "{kind:?} for {}",
                &text[..40]
            );
        }
        for text in nested(30_000) {
            let kind = fault(&text).0;
            assert!(
                matches!(kind, Kind::TooDeep | Kind::LineTooLong),
                "{kind:?} for {}",
                &text[..40]
            );
        }
        // Every text that the guard accepts must be safe for minijinja.
        for levels in (8..100).step_by(4).chain([23, 47, 95]) {
            for text in nested(levels) {
                let _ = analyze(&text);
                let inside = format!(
                    "{}{text}{}",
                    "{%for a in b%}".repeat(MAX_BLOCK_DEPTH as usize),
                    "{%endfor%}".repeat(MAX_BLOCK_DEPTH as usize)
                );
                let _ = analyze(&inside);
            }
        }
    });
    run.unwrap().join().unwrap();
}

#[test]
fn an_allowed_depth_is_read() {
    for text in nested(20) {
        assert_eq!(analyze(&text).faults, [], "{text}");
    }
    let wide = format!("{{{{ [{}] }}}}", "a.b.c, -1, range(x),\n".repeat(10_000));
    assert_eq!(analyze(&wide).faults, []);
    let many = "{% if a %}{{ a.b }}{% elif b %}{% set x = 1 %}{% endif %}\n".repeat(5_000);
    assert_eq!(analyze(&many).faults, []);
}

#[test]
fn literals_are_not_unfolded_without_end() {
    assert_eq!(variables(r#"{{ "=" * 40 }}{{ a * 1000000 }}"#), ["a"]);
    for text in [
        "{{ 'x' * 99999999 }}",
        "{{ 'x' * 10 ** 7 }}",
        "{{ 'x' * 1_0_0_0_0_0_0_0 }}",
        "{{ (1, 2) * 9999999 }}",
    ] {
        assert_eq!(fault(text).0, Kind::TooMuchRepeated, "{text}");
    }
    assert_eq!(fault(&"{{'x'*9999}}".repeat(1000)).0, Kind::TooMuchRepeated);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(
        parts in proptest::collection::vec(
            prop::sample::select(vec![
                "{{", "}}", "{%", "%}", "{#", "#}", "-", "+", "raw", "endraw", " if ", " endif ", " set ", " for ", " in ", "a", "é", "'", "\"",
                "\\", "(", ")", "[", "]", "{", "}", ",", "|", ".", "=", "*", "1", "\n", " ",
            ]),
            0..30,
        ),
    ) {
        let text = parts.concat();
        for fault in analyze(&text).faults {
            prop_assert!(fault.span.end as usize <= text.len());
            prop_assert!(fault.span.is_empty() || !fault.span.slice(&text).is_empty());
        }
    }
}

#[test]
fn a_variable_is_seen_wherever_it_is_read() {
    assert_eq!(
        variables("{{ s[0:3] }}{{ t[a:b:c] }}{{ u[:d] }}"),
        ["a", "b", "c", "d", "s", "t", "u"]
    );
    assert_eq!(
        variables(
            "{% filter replace('a', b)|default(c) %}{% endfilter %}{% set s | default(d) %}{% endset %}"
        ),
        ["b", "c", "d"]
    );
    assert_eq!(
        variables(
            "{{ 1|default(a, boolean=b) }}{{ 1 is divisibleby(c) }}{{ 1 is divisibleby d }}{{ range(*e) }}{{ dict(**f) }}"
        ),
        ["a", "b", "c", "d", "e", "f"]
    );
    assert_eq!(
        variables("{{ a if b else c }}{{ {d: e, 'f': g} }}{{ (h, -i, not j) }}{{ k.l[m].n }}"),
        ["a", "b", "c", "d", "e", "g", "h", "i", "j", "k", "m"]
    );
    assert_eq!(
        variables(
            "{% for a in (b if c else d) if a.e == f recursive %}{{ loop(a.g[h:]) }}{% else %}{{ a }}{% endfor %}"
        ),
        ["a", "b", "c", "d", "f", "h"]
    );
    assert_eq!(
        variables(
            "{% macro m(a, b=c) %}{{ a ~ b ~ d }}{% endmacro %}{% call(e, f=g) m(h, b=i) %}{{ e ~ f ~ j }}{% endcall %}"
        ),
        ["c", "d", "g", "h", "i", "j"]
    );
    assert_eq!(
        variables(
            "{% with a = a, b = a %}{{ a ~ b }}{% endwith %}{{ b }}{% autoescape c %}{% endautoescape %}"
        ),
        ["a", "b", "c"]
    );
    assert_eq!(
        variables(
            "{% set s %}{{ s }}{% endset %}{{ s }}{% set ns.a = b %}{% set c, (d, e) = f %}{{ c ~ d ~ e }}"
        ),
        ["b", "f", "ns", "s"]
    );
    assert_eq!(
        variables(
            "{% for x in xs %}{% endfor %}{{ x }}{{ loop }}{% for recursive in recursive %}{% endfor %}"
        ),
        ["loop", "recursive", "x", "xs"]
    );
    assert_eq!(
        variables("{{ a is not in b }}{{ a not in c }}{{ d is defined and e is none or f }}"),
        ["a", "b", "c", "d", "e", "f"]
    );
}

#[test]
fn what_every_branch_sets_is_set() {
    assert_eq!(
        variables(
            "{% if a %}{% set b = 1 %}{% elif c %}{% set b = 2 %}{% else %}{% set b = 3 %}{% endif %}{{ b }}"
        ),
        ["a", "c"]
    );
    assert_eq!(
        variables("{% if a %}{% set b = 1 %}{% elif c %}{% set b = 2 %}{% endif %}{{ b }}"),
        ["a", "b", "c"]
    );
    assert_eq!(
        variables("{% if a %}{% set b = 1 %}{% else %}{% endif %}{{ b }}"),
        ["a", "b"]
    );
}

#[test]
fn nothing_shows_more_than_a_text_is_given() {
    assert_eq!(
        faults("{{ debug() }}"),
        [("Function debug ".to_owned(), "debug")]
    );
    assert_eq!(variables("{{ debug }}"), ["debug"]);
}

#[test]
fn lines_longer_than_minijinja_counts_are_refused() {
    // A build with checks would end in minijinja at each of these.
    for open in ["{{ \"", "{#", "{% raw %}", "{{ a"] {
        for long in ["x".repeat(70_000), "é".repeat(70_000)] {
            assert_eq!(
                fault(&format!("a\n{open}{long}")).0,
                Kind::LineTooLong,
                "{open}"
            );
        }
    }
    let line = "é".repeat(MAX_COLUMNS);
    assert_eq!(
        analyze(&format!("{line}xyz\n{line}\n{{{{ a }}}}")).faults,
        [],
        "plain text may be of any length"
    );
    assert_eq!(
        fault(&format!("a\n{line}x{{{{ a }}}}\nx")),
        (Kind::LineTooLong, "x{{ a }}")
    );
    let unclosed = format!("{{#{}", "x".repeat(MAX_COLUMNS - 2));
    assert!(matches!(fault(&unclosed).0, Kind::Syntax(_)));
}

/// A text that needs no value of a run is tried at compile time.
#[test]
fn what_fails_in_every_run_is_found() {
    let fails = |text: &str| {
        let found = ctxc::internals::jinja::trial::analyze_with_trials(text)
            .faults
            .into_iter();
        found
            .map(|fault| {
                (
                    format!("{:?}", fault.kind),
                    fault.span.slice(text).to_owned(),
                )
            })
            .collect::<Vec<_>>()
    };
    let greets = "{% macro greet(name) %}Hello {{ name }}{% endmacro %}";
    for (text, place) in [
        ("{{ a }}{{ \"abc\"|int }}{{ b }}", "{{ \"abc\"|int }}"),
        ("{{ \"abc\"|sum }}", "{{ \"abc\"|sum }}"),
        (
            "{% set n = \"abc\"|int %}{{ n }}",
            "{% set n = \"abc\"|int %}",
        ),
        ("{% set n = \"abc\" %}{{ a }}{{ n|int }}", "{{ n|int }}"),
        (
            &format!("{greets}{{{{ greet(a) }}}}{{{{ greet() }}}}"),
            "{{ greet() }}",
        ),
        (
            &format!("{greets}{{% if true %}}{{{{ greet() }}}}{{% endif %}}"),
            "{% if true %}",
        ),
        (
            "{% for i in range(3) %}{{ i.x }}{% endfor %}",
            "{% for i in range(3) %}",
        ),
    ] {
        let found = fails(text);
        assert_eq!(
            found.iter().map(|(_, place)| &**place).collect::<Vec<_>>(),
            [place],
            "{found:?}"
        );
        assert!(found[0].0.starts_with("Fails"), "{found:?}");
    }
    for text in [
        "{{ a|int }}{{ \"4\"|int }}",
        "{% if false %}{{ \"abc\"|int }}{% endif %}",
        "{% macro greet(name) %}{{ name|default('you') }}{% endmacro %}{{ greet() }}",
        "{% set n = \"abc\" %}{% if a %}{% set n = \"4\" %}{% endif %}{{ n|int }}",
        "{% set ns = namespace(n=\"abc\") %}{% for i in a %}{% set ns.n = 4 %}{% endfor %}{{ ns.n|int }}",
        "{% macro m(b) %}{{ a }}{{ b }}{% endmacro %}{{ m() }}",
        // A text that takes long is left to a run.
        "{% for i in range(100000) %}{% for k in range(100000) %}{{ i }}{% endfor %}{% endfor %}{{ i.x }}",
        "{% raw %}{{ \"abc\"|int }}{% endraw %}{# {{ 1/0 }} #}",
        "{% set t %}x{% endset %}{{ t|upper }}{% call(x) dict %}{% endcall %}",
    ] {
        assert!(
            fails(text)
                .iter()
                .all(|(kind, _)| !kind.starts_with("Fails")),
            "{text}: {:?}",
            fails(text)
        );
    }
}
