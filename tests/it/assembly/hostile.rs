//! Jinja texts that would use unlimited time and memory: each ends soon, with a fault at its
//! position. The instrumentation that measures a text does not change the output of honest texts.

use ctxc::Registry;
use ctxc::internals::context::{FaultKind, Inputs, Options, Refused, Request, assemble};
use pretty_assertions::assert_eq;
use serde_json::json;
use std::time::{Duration, Instant};

/// Texts that minijinja alone renders as well.
fn honest() -> Vec<&'static str> {
    vec![
        "{{ s ~ 'x' ~ s|upper }} {{ s[0] }}{{ s[1:] }} {{ list[-1] * 2 + 3 * list[0] ** 2 }} {{ 'b' in s and 'z' not in s }}",
        "{% set x = s ~ s %}{{ x }}{% set ns = namespace(n=0) %}{% for i in range(3) %}{% set ns.n = ns.n + i * 2 %}{% endfor %}{{ ns.n }}",
        "{% for k, v in {'a': 1, 'b': [1,2]}|items if k == 'b' or v == 1 %}{{ k }}={{ v }};{% else %}no{% endfor %}",
        "{% macro m(a, b='x' ~ s) %}<{{ a ~ b }}>{% endmacro %}{{ m(1) }}{{ m(2, b='q' * 3) }}",
        "{{ (s ~ 'a')[0:2] }} {{ tree.a[0].b + 1 }} {{ -list[0] * 3 }} {{ not s == 'abc' }} {{ 1 if s == 'abc' else 2 }}",
        "{{ list|map('string')|join(', ') }} {{ [3,1,2]|sort|first }} {{ s is eq 'abc' }} {{ s is defined }} {{ zz is defined }} {{ zz|default('d') }}",
        "{%- set a, b = 1, 'x' ~ 'y' -%} {{ a }}{{ b }} {% set blk %}in {{ s }}{% endset %}{{ blk }}|{% filter upper %}x{{ s }}{% endfilter %}",
        "{{ '%05d|%s'|format(3, s) }} {{ {'a': [1, 2]}|tojson(indent=2) }} {{ 'a\nb'|indent(2, true) }}",
        "{% for i in [[1,[2,[3]]]] recursive %}{{ i if i is number else loop(i) }}{% endfor %} {{ range(5)|list }} {{ (1,2) + (3,) }}",
        "{{ [1]*3 + [2] }} {{ 'ab' * 2 }} {{ 2 * 'ab' * 2 }} {{ 7 // 2 * 2 }} {{ 1.5 * 2 }} {{ 'é' ~ 'ü' }}{% if 1 < 2 <= 3 %}ok{% endif %}{% raw %}{{ x ~ y }}{% endraw %}{# ~ #}",
        "{{ list == [1,2,3] }} {{ dict(a=1)['a'] }} {{ {'x': 's' ~ 't'}['x'] }} {{ [1,2,3][1:][0] }} {{ 'x' in ['x', 'y'] }}",
        "{{ 'abcdef'[::-2] }} {{ 'abcdef'[1:5:list[1]] }} {{ list[::list[0]] }} {{ s[::-1] ~ s[::2] }}",
        "{{ list|join(d=', ') }} {{ list|select('in', [1, 3])|list }} {{ [[1], [2]]|sum(start=[])|length }} {{ '%s%s'|format(s, 3) }}",
        "{% with q = 's' ~ s, r = 2 * 3 %}{{ q }}{{ r }}{% endwith %}",
        "{% macro mm(v) %}[{{ caller(v * 2) }}]{% endmacro %}{% call(x) mm('a' ~ 'b') %}{{ x ~ '!' }}{% endcall %}",
        "{% for x in list if x in [1, 3] %}{{ loop.index ~ ':' ~ x }}{{ ', ' if not loop.last }}{% endfor %}{{ list|sum * 2 }}{{ list|length + 1 }}",
        "{{ {list[0]: 6, (4): 5, s: 1, s ~ 'x': 2, 'k': 3}|tojson }} {{ {'abc': {'d': 7}}[s]['d'] }} {{ tree[('a')][list[0] - 1]['b'] }}",
        "{% for k in ['a'] %}{{ tree[k][0].b }}{{ {k: [k, {k ~ k: k}]} }}{{ {'a': 1}[k if true else s] }}{% endfor %}",
        "{{ 4 is divisibleby(2) }} {{ 5 is divisibleby 2 }} {{ [{'a': 2}, {'a': 1}]|sort(attribute='a')|map(attribute='a')|join('-') }}",
        "{% if s|length > 2 and s|upper == 'ABC' %}y{% elif s == 'q' %}n{% endif %}{{ s|replace('a', 'b' ~ 'c') }} {{ s|default('x' ~ 'y', true) }}",
    ]
}

/// Texts without end, by kind.
fn hostile() -> Vec<(&'static str, String)> {
    vec![
        ("double", "{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x|length }}".to_owned()),
        ("plus", "{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}{{ ns.x|length }}".to_owned()),
        ("straight", (0..30).map(|i| format!("{{% set a{} = a{i} ~ a{i} %}}", i+1)).fold("{% set a0 = 'xxxxxxxxxx' %}".to_owned(), |a,b| a+&b)),
        ("list", "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}{{ ns.x|length }}".to_owned()),
        ("nest", "{% set ns = namespace(x=[1]) %}{% for i in range(30000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}".to_owned()),
        ("nestmap", "{% set ns = namespace(x=1) %}{% for i in range(30000) %}{% set ns.x = {'a': ns.x} %}{% endfor %}x".to_owned()),
        ("nestns", "{% set ns = namespace(x=1) %}{% for i in range(30000) %}{% set ns.x = namespace(a=ns.x) %}{% endfor %}x".to_owned()),
        ("cycle", "{% set ns = namespace(x=1) %}{% set ns.x = ns %}{{ ns }}".to_owned()),
        ("dag", "{% set ns = namespace(x=[1]) %}{% for i in range(40) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}".to_owned()),
        ("lazyslice", "{% set ns = namespace(x=range(10)) %}{% for i in range(20000) %}{% set ns.x = ns.x[0:] %}{% endfor %}{{ ns.x|list }}".to_owned()),
        ("lazymul", "{% set ns = namespace(x=[1]) %}{% for i in range(20000) %}{% set ns.x = ns.x * 1 %}{% endfor %}{{ ns.x|list }}".to_owned()),
        ("repeat", "{% for i in range(10000) %}{% if s * 30000000 == '' %}{% endif %}{% endfor %}".to_owned()),
        ("repeat2", "{% set n = 10000 %}{% set m = 9000 %}{% for i in range(1000) %}{% if n * m * s == '' %}{% endif %}{% endfor %}".to_owned()),
        ("repeatlist", "{{ ([0] * 100000000)|list|length }}".to_owned()),
        ("repeatpow", "{% for i in range(1000) %}{% set q = 'x' * 10 ** 7 %}{% endfor %}".to_owned()),
        ("range", "{% for i in range(99999) %}{% for j in range(99999) %}x{% endfor %}{% endfor %}".to_owned()),
        ("hugerange", "{{ range(99999999999)|list }}".to_owned()),
        ("ranges", "{% for i in range(50000) %}{% set x = range(99999)|list %}{% endfor %}".to_owned()),
        ("compare", "{% for i in range(60000) %}{% if big == big ~ '' %}{% endif %}{% endfor %}".to_owned()),
        ("contains", "{% for i in range(60000) %}{% if 'zz' in big %}{% endif %}{% endfor %}".to_owned()),
        ("index", "{% for i in range(60000) %}{{ big[-1] }}{% endfor %}".to_owned()),
        ("slice", "{% for i in range(60000) %}{% set x = big[1:] %}{% endfor %}".to_owned()),
        ("indent", "{{ big|indent(1000000000) }}".to_owned()),
        ("indent2", "{{ 'a\nb\nc'|indent(width=1000000000) }}".to_owned()),
        ("replace", "{{ big|replace('', big) }}".to_owned()),
        ("replace2", "{{ big|replace('l', big) }}".to_owned()),
        ("join", "{{ range(99999)|join(big) }}".to_owned()),
        ("batch", "{{ [1]|batch(1000000000, 'x')|list|length }}".to_owned()),
        ("slicef", "{{ [1]|slice(1000000000)|list|length }}".to_owned()),
        ("format", "{{ '%999999999d'|format(1) }}".to_owned()),
        ("format2", "{{ '%*d'|format(999999999, 1) }}".to_owned()),
        ("tojson", "{{ [[1],[2]]|tojson(indent=1000000000) }}".to_owned()),
        ("map", "{{ range(90000)|map('string')|map('replace', '', big)|join|length }}".to_owned()),
        ("upper", "{% for i in range(60000) %}{% set x = big|upper %}{% endfor %}".to_owned()),
        ("length", "{% for i in range(60000) %}{% if big|length == 1 %}{% endif %}{% endfor %}".to_owned()),
        ("split", "{{ big|split('')|length }}".to_owned()),
        ("listf", "{{ big|list|length }}".to_owned()),
        ("sumlists", "{{ range(50000)|map('string')|map('list')|sum|length }}".to_owned()),
        ("macro", "{% macro f(n) %}{{ f(n + 1) }}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}".to_owned()),
        ("macrodouble", "{% macro f(x) %}{{ f(x ~ x) }}{% endmacro %}{{ f('ab') }}".to_owned()),
        ("capture", format!("{{% set x %}}{{% for i in range(60000) %}}{}{{% endfor %}}{{% endset %}}", "raw\n".repeat(100_000))),
        ("capture2", "{% set x %}{% for i in range(60000) %}{{ big }}{% endfor %}{% endset %}".to_owned()),
        ("capturerec", format!("{{% for x in [[[[[[]]]]]] recursive %}}{}{{% set q = loop(x) %}}{{% endfor %}}", "raw\n".repeat(100_000))),
        ("outputs", "{% for i in range(60000) %}{{ big }}{% endfor %}".to_owned()),
        ("recloop", "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}".to_owned()),
        ("changed", "{% for i in range(60000) %}{% if loop.changed(big) %}{% endif %}{% endfor %}".to_owned()),
        ("strloop", "{% for i in range(60000) %}{% for c in big %}{% endfor %}{% endfor %}".to_owned()),
        ("debug", "{% for i in range(60000) %}{% set x = debug() %}{% endfor %}".to_owned()),
        ("chain", "{% set ns = namespace(x=[1]) %}{% for i in range(20000) %}{% set ns.x = ns.x|chain([1]) %}{% endfor %}{{ ns.x|length }}".to_owned()),
        ("zip", "{% set ns = namespace(x=[1]) %}{% for i in range(20000) %}{% set ns.x = ns.x|zip(ns.x) %}{% endfor %}{{ ns.x|length }}".to_owned()),
        ("groupby", "{% for i in range(5000) %}{% set x = range(9999)|groupby('a') %}{% endfor %}".to_owned()),
        ("long", format!("{{{{ {} }}}}", vec!["big"; 40].join(" ~ "))),
    ]
}

/// The same, by keys that are compared and paths that are read again and again.
fn hostile_by_names() -> Vec<(&'static str, String)> {
    vec![
        ("mapkey", "{% for i in range(60000) %}{% if {big: 1, big ~ '': 2} %}{% endif %}{% endfor %}".to_owned()),
        ("mapkeys", "{% for i in range(60000) %}{% if {big: 1, big: 2} %}{% endif %}{% endfor %}".to_owned()),
        ("mapkeyif", "{% for i in range(60000) %}{% if {(big if true else s): 1, big: 2} %}{% endif %}{% endfor %}".to_owned()),
        ("mapinner", "{% for i in range(60000) %}{% if [[{'k': {big: 1, big: 2}}]] %}{% endif %}{% endfor %}".to_owned()),
        ("mapof", "{% for i in range(60000) %}{% if {'a': 1}[big] is defined %}{% endif %}{% endfor %}".to_owned()),
        ("lookup", "{% set m = {big: 1, big ~ 'a': 2} %}{% for i in range(60000) %}{% if m[big] %}{% endif %}{% endfor %}".to_owned()),
        ("lookups", "{% set m = {big: {big: 1}} %}{% for i in range(60000) %}{% if m[big][big] %}{% endif %}{% endfor %}".to_owned()),
        ("attrgroup", "{% if range(90000)|groupby(big)|length %}{% endif %}".to_owned()),
        ("attrgroupname", "{% if range(90000)|groupby(attribute='a.' * 400000)|length %}{% endif %}".to_owned()),
        ("attrsort", "{% if range(90000)|sort(attribute='a.' * 9000)|length %}{% endif %}".to_owned()),
        ("attrmap", "{% if range(90000)|map(attribute='a.' * 9000)|list|length %}{% endif %}".to_owned()),
        ("attrunique", "{% if range(90000)|unique(attribute='a.' * 9000)|list|length %}{% endif %}".to_owned()),
        ("attrmax", "{% if range(90000)|max(attribute='a.' * 9000) %}{% endif %}{% if range(90000)|min(attribute='a.' * 9000) %}{% endif %}".to_owned()),
        ("attrsum", "{% if range(90000)|sum(attribute='a.' * 9000) %}{% endif %}".to_owned()),
        ("attrjoin", "{% if range(90000)|join(attribute='a.' * 9000) %}{% endif %}".to_owned()),
        ("attrselect", "{% if range(90000)|selectattr('a.' * 9000)|list|length %}{% endif %}".to_owned()),
        ("attrtext", "{% if big|sort(attribute='a.' * 9000)|list|length %}{% endif %}{% if big|unique(attribute='a.' * 9000)|list %}{% endif %}".to_owned()),
        ("sortcopies", "{% for i in range(999) %}{% if ([big] * 9)|sort|length %}{% endif %}{% endfor %}".to_owned()),
        ("dictsorts", "{% for i in range(9999) %}{% if {'a': big, 'b': big}|dictsort(by='value') %}{% endif %}{% endfor %}".to_owned()),
    ]
}

/// The same texts in the syntax of Python.
fn hostile_to_python() -> Vec<(&'static str, String)> {
    vec![
        ("center", "{{ 'a'|center(1000000000) }}".to_owned()),
        ("center2", "{{ 'a'|center(width=1000000000) }}".to_owned()),
        ("indenttext", "{{ big|replace(' ', '\n')|indent(big) }}".to_owned()),
        ("indentkeyword", "{{ big|replace(' ', '\n')|indent(width=big) }}".to_owned()),
        ("wordwrap", "{{ big|wordwrap(1, wrapstring=big) }}".to_owned()),
        ("wordwrap2", "{{ big|wordwrap(1, false, big) }}".to_owned()),
        ("wordwraps", "{% for i in range(60000) %}{% set x = big|wordwrap(1) %}{% endfor %}".to_owned()),
        ("hyphens", "{{ ('-' * 900000)|wordwrap(900) }}{{ ('a-' * 300000)|wordwrap(2) }}".to_owned()),
        ("truncate", "{% for i in range(60000) %}{% set x = big|truncate(9) %}{% endfor %}".to_owned()),
        ("striptags", "{{ ('<!--' * 90000)|striptags }}{{ ('<' * 300000)|striptags }}{{ ('&' * 300000)|striptags }}".to_owned()),
        (
            "cyclers",
            "{% set ns = namespace(x=1) %}{% for i in range(30000) %}{% set ns.x = cycler(ns.x) %}{% endfor %}x".to_owned(),
        ),
        (
            "joiners",
            "{% set ns = namespace(x=1) %}{% for i in range(30000) %}{% set ns.x = joiner(ns.x) %}{% endfor %}x".to_owned(),
        ),
        // The largest number, as an argument of every function.
        ("greatcenter", "{{ 'a'|center(18446744073709551615) }}".to_owned()),
        ("greatbatch", "{{ [1]|batch(18446744073709551615, 1)|list }}".to_owned()),
        ("greatslice", "{{ [1]|slice(9223372036854775808, 1)|list }}".to_owned()),
        ("greatjson", "{{ [1, 2]|tojson(9223372036854775808) }}".to_owned()),
        ("deepjson", "{{ [[[range(9000)|list]]]|tojson(indent=1000) }}".to_owned()),
        ("greatindent", "{{ 'a'|indent(18446744073709551615) }}".to_owned()),
        ("greatrange", "{{ range(18446744073709551615)|list }}".to_owned()),
        ("greatproduct", "{{ 'a' * 18446744073709551615 }}".to_owned()),
        ("greatfloat", "{{ 'a'|center(1e300) }}{{ 'a' * 1e300 }}".to_owned()),
        ("leaststep", "{{ 'abc'[::-9223372036854775808] }}{{ list[::(0 - 9223372036854775807 - 1)] }}".to_owned()),
        // Values that are no texts, and texts that are given by their names.
        ("replacelist", "{{ [big]|replace('', big)|length }}{{ {'a': big}|replace('', big)|length }}".to_owned()),
        ("replacename", "{{ big|replace(old='', new=big)|length }}".to_owned()),
        ("replacenew", "{{ big|replace('o', new=[big])|length }}".to_owned()),
        ("joinname", "{{ range(20000)|join(d=big)|length }}".to_owned()),
        ("wraplist", "{{ ('a b c d ' * 4000)|wordwrap(1, true, [big])|length }}".to_owned()),
        ("formats", "{{ ('%s' * 1000)|format(*([big] * 1)) }}{{ ('%(a)s' * 9000)|format(a=big) }}".to_owned()),
        ("sumtexts", "{{ (['abcdefgh' * 900] * 900)|sum(start='')|length }}".to_owned()),
        ("selectin", "{{ range(20000)|map('string')|select('in', big)|list|length }}".to_owned()),
        ("cycled", "{% set c = cycler(big) %}{% for i in range(60000) %}{% set x = c.next() %}{% endfor %}".to_owned()),
        ("cycledlist", "{% for i in range(60000) %}{% set x = [cycler(big), cycler(big)] %}{% endfor %}".to_owned()),
    ]
}

/// The text as a task; `None` if the compiler refuses it already, with a finding at its place.
fn compiled(text: &str) -> Option<Registry> {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let task = format!(
        "<task type=\"atomic\" name=\"t\"><description syntax=\"jinja\">{text}</description><parameters>\
         <parameter name=\"big\"/><parameter name=\"list\" type=\"array\"/><parameter name=\"s\"/>\
         <parameter name=\"tree\" type=\"object\"/><parameter name=\"zz\"/></parameters></task>"
    );
    let built = ctxc::compile_sources(&ctxc::Config::default(), [("t.xml", task.as_str())]);
    let found = built
        .diagnostics
        .iter()
        .any(|finding| finding.rule.name.contains("jinja"));
    assert!(built.registry.is_some() || found, "{:?}", built.diagnostics);
    built.registry
}

fn inputs() -> Inputs {
    let big = "lorem ipsum ".repeat(80_000);
    Inputs::new()
        .with("big", big)
        .with("list", json!([1, 2, 3]))
        .with("s", "abc")
        .with("tree", json!({"a": [{"b": 1}]}))
}

fn rendered(registry: &Registry, inputs: &Inputs) -> Result<String, Refused> {
    let request = Request {
        inputs,
        ..Request::new("t")
    };
    let assembly = assemble(registry, &request, &Options::default())?;
    Ok(assembly.messages[0]
        .as_str()
        .strip_prefix("## Task\n\n")
        .unwrap()
        .to_owned())
}

/// Renders a text with minijinja alone.
fn plain(text: &str, inputs: &Inputs) -> String {
    let mut environment = minijinja::Environment::new();
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::SemiStrict);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    let tree = minijinja::context! { a => vec![minijinja::context! { b => 1 }] };
    let values = minijinja::context! { big => inputs["big"].as_str(), list => vec![1, 2, 3], s => "abc", tree, zz => "z" };
    environment
        .template_from_str(text)
        .unwrap()
        .render(values)
        .unwrap()
}

#[test]
fn measuring_does_not_change_the_rendered_text() {
    let inputs = inputs().with("zz", "z");
    for text in honest() {
        let rendered_text = rendered(&compiled(text).unwrap(), &inputs)
            .unwrap_or_else(|refused| panic!("{text}: {refused}"));
        assert_eq!(rendered_text.trim(), plain(text, &inputs).trim(), "{text}");
    }
}

#[test]
fn no_text_takes_more_than_its_time_and_its_bytes() {
    let inputs = inputs();
    // A build without optimisations on a busy machine seldom exceeds it.
    let limit = Duration::from_millis(if cfg!(debug_assertions) { 15_000 } else { 100 });
    let mut wrong = Vec::new();
    for (name, text) in hostile()
        .into_iter()
        .chain(hostile_by_names())
        .chain(hostile_to_python())
    {
        let Some(registry) = compiled(&text) else {
            continue;
        };
        let started = Instant::now();
        let result = rendered(&registry, &inputs);
        let took = started.elapsed();
        let refused = match result {
            Ok(result) if result.len() <= 1_000_000 => None,
            Ok(result) => Some(format!("{} bytes", result.len())),
            Err(refused) => {
                let place = refused[0]
                    .place
                    .as_ref()
                    .map(|place| (place.definition.as_str(), place.field.as_str()));
                let known = matches!(
                    &*refused[0].kind,
                    FaultKind::TooCostly { .. }
                        | FaultKind::TooLong { .. }
                        | FaultKind::TooLarge { .. }
                        | FaultKind::Jinja { .. }
                );
                (!known || place != Some(("t", "description"))).then(|| format!("{refused}"))
            }
        };
        if took > limit || refused.is_some() {
            wrong.push(format!("{name}: {took:?} {refused:?}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_text_that_costs_too_much_is_reported() {
    let text = "{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}";
    let refused = rendered(&compiled(text).unwrap(), &inputs())
        .unwrap_err()
        .to_string();
    assert!(
        refused
            .starts_with("t, description: the Jinja text handles more than 8388608 bytes in all"),
        "{refused}"
    );
}

#[test]
fn nothing_is_divided_by_nothing() {
    // A text that needs no value is tried at compile time.
    for text in [
        "{% if 4 is divisibleby(0) %}x{% endif %}",
        "{{ 4 // (1 - 1) }}",
        "{{ 4 % (1 - 1) }}",
    ] {
        assert!(compiled(text).is_none(), "{text}");
    }
    for text in [
        "{% if list|length is divisibleby(0) %}x{% endif %}",
        "{% if list|length is divisibleby 0.0 %}x{% endif %}",
        "{{ list|select('divisibleby', 0)|list }}",
        "{{ list|length // (1 - 1) }}",
        "{{ list|length % (1 - 1) }}",
    ] {
        let refused = rendered(&compiled(text).unwrap(), &inputs()).unwrap_err();
        assert!(
            matches!(&*refused[0].kind, FaultKind::Jinja { .. }),
            "{text}: {refused}"
        );
    }
    let least = "{{ (0 - 9223372036854775807 - 1) is divisibleby(-1) }} {{ list|select('divisibleby', 3)|list }} {{ 4.5 is divisibleby(1.5) }}";
    assert_eq!(
        rendered(&compiled(least).unwrap(), &inputs())
            .unwrap()
            .trim(),
        "True [3] True"
    );
}
