//! Jinja texts line by line: the trust of each output line, and the facts known of it before its
//! values are.

use super::settings::{registry, values};
use ctxc::internals::context::assemble::assemble;
use ctxc::internals::context::manifest::{ManifestOptions, Part, task_manifest};
use ctxc::internals::context::options::Options;
use ctxc::internals::context::request::Request;
use ctxc::internals::kernel::context::Origin;
use pretty_assertions::{assert_eq, assert_ne};
use serde_json::json;

const LINES: &str = "
{# a comment
   of two lines #}
Ticket: {{ ticket }}
{% if tone == 'kind' %}
Be kind.
{% endif %}
{% for doc in docs -%}
- {{ doc.title|upper }} and
  {{ doc.text }} ({{ loop.index }}, {{ tone ~ doc.title }})
{% endfor %}
{%- set kept %}
kept {{ tone }}
{% endset %}
{{ kept }}
{% raw %}{{ raw }}{% endraw %}
End {{ '1' }}";

fn task(text: &str) -> String {
    format!(
        "<task type=\"atomic\" name=\"t\"><description syntax=\"jinja\">{text}</description><parameters>\
         <parameter name=\"ticket\" trust=\"untrusted\"/><parameter name=\"docs\"/><parameter name=\"tone\"/>\
         </parameters></task>"
    )
}

#[test]
fn every_stretch_is_from_its_line_or_its_value() {
    let inputs = values(&[
        ("ticket", json!("late\nand wet")),
        ("tone", json!("kind")),
        (
            "docs",
            json!([{"title": "a", "text": "one\ntwo"}, {"title": "b", "text": "x"}]),
        ),
    ]);
    let request = Request {
        inputs: &inputs,
        ..Request::new("t")
    };
    let registry = registry(&task(LINES));
    let assembly = assemble(&registry, &request, &Options::default()).unwrap();
    let text = &assembly.report.segments[0].segment.text;
    let origin = |origin: &Origin| {
        if let Origin::Template { line, .. } = origin {
            return (line + 1).to_string();
        }
        if let Origin::Input { name } = origin {
            name.clone()
        } else {
            format!("{origin:?}")
        }
    };
    let described = text.stretches().iter().map(|stretch| {
        let words = text.text()[stretch.range.clone()].replace(&assembly.report.nonce, "N");
        format!("{}: {words:?}", origin(&stretch.origin))
    });
    insta::assert_snapshot!(described.collect::<Vec<_>>().join("\n"), @r#"
    2: "\nTicket: "
    Generated: "<untrusted-N name=\"ticket\">\n"
    ticket: "late\nand wet"
    Generated: "\n</untrusted-N>"
    3: "\n"
    4: "\nBe kind.\n"
    6: "\n"
    8: "- "
    docs: "A"
    8: " and\n  "
    docs: "one\ntwo"
    9: " ("
    9: "1"
    9: ", "
    9: "kinda"
    9: ")\n"
    8: "- "
    docs: "B"
    8: " and\n  "
    docs: "x"
    9: " ("
    9: "2"
    9: ", "
    9: "kindb"
    9: ")\n"
    13: "\n"
    11: "\nkept "
    12: "kind"
    12: "\n"
    14: "\n"
    15: "{{ raw }}"
    15: "\nEnd "
    16: "1"
    "#);
}

#[test]
fn a_kept_text_equals_that_of_minijinja_and_has_known_lines() {
    let inputs = [
        ("ticket", json!("x\ny")),
        ("tone", json!("kind")),
        ("docs", json!(["\u{F0018}k", "2"])),
    ];
    let rendered = |text: &str| {
        let registry = registry(&task(text).replace(" trust=\"untrusted\"", ""));
        let inputs = values(&inputs);
        let request = Request {
            inputs: &inputs,
            ..Request::new("t")
        };
        let assembly = assemble(&registry, &request, &Options::default())
            .unwrap_or_else(|refused| panic!("{text}: {refused}"));
        let traced = &assembly.report.segments[0].segment.text;
        let mut lines: Vec<u32> = Vec::new();
        let (mut at, stretches) = (0, traced.stretches());
        for line in traced.text().lines() {
            let stretch = stretches
                .iter()
                .rfind(|stretch| stretch.range.start <= at)
                .unwrap();
            let Origin::Template { line: above, .. } = &stretch.origin else {
                panic!("{text}: {:?}", stretch.origin)
            };
            lines.push(
                above + 1 + traced.text()[stretch.range.start..at].matches('\n').count() as u32,
            );
            at += line.len() + 1;
        }
        (traced.text().to_owned(), lines)
    };
    let two = "{% set s %}one\ntwo{% endset %}";
    for (text, lines) in [
        (
            "{% set s %}\none\n\ntwo\n{% endset %}\n{{ s|trim }}\n{{ s|length }}",
            &[5, 2, 3, 4, 7][..],
        ),
        (
            "{% macro m(a) %}- {{ a }}\n  b\n{% endmacro %}\n{{ m(ticket) }}{{ m(1) }}",
            &[3, 1, 1, 2, 1, 2],
        ),
        (
            "{% macro m() %}[\n{{ caller() }}]{% endmacro %}\n{% call m() %}a\nb{% endcall %}",
            &[2, 1, 3, 4],
        ),
        (
            "{% filter upper|indent(2) %}a\nb{% raw %}\n{{c{% endraw %}{% endfilter %}",
            &[1, 1, 1],
        ),
        ("{% for x in docs recursive %}a\nb{% endfor %}", &[1, 2, 2]),
        (
            &format!("{two}{{{{ s|replace('o', '0') }}}} {{{{ s ~ '!' }}}}"),
            &[2, 2, 2],
        ),
        // The output of a filter has the line of its tag.
        (&format!("{two}{{{{ s|capitalize }}}}"), &[2, 2]),
        (
            &format!("{two}\n{{{{ s|truncate(5, true, '', 0) }}}}\n{{{{ s }}}}"),
            &[2, 3, 3, 1, 2],
        ),
        (
            &format!("{two}{{% if s == 'one\ntwo' %}}\n{{{{ s }}}}{{% endif %}}"),
            &[3, 1, 2],
        ),
        (
            &format!("{two}{{% for c in s %}}{{{{ c }}}}\n{{% endfor %}}"),
            &[2, 2, 2, 2, 2, 2, 2, 2],
        ),
        ("{% macro m() %}\nx\n{% endmacro %}{{ m()[1] }}", &[2]),
        (
            "{% set s %}{% if false %}x{% endif %}{{ '' }}{% endset %}{% if s %}a{% else %}b{% endif %}",
            &[1],
        ),
        ("{% set s %}a\n{{ docs[0] }}{% endset %}{{ s }}", &[1, 2]),
    ] {
        let context = minijinja::Value::from_pairs([
            ("ticket", minijinja::Value::from("x\ny")),
            ("docs", vec!["\u{F0018}k", "2"].into()),
        ]);
        let mut plain = minijinja::Environment::new();
        plain.add_filter(
            "truncate",
            |text: String, length: usize, _: bool, _: String, _: usize| {
                text.chars().take(length).collect::<String>()
            },
        );
        let plain = plain
            .template_from_str(text)
            .unwrap()
            .render(context)
            .unwrap();
        assert_eq!(rendered(text), (plain, lines.to_vec()), "{text}");
    }
}

fn description(text: &str) -> Part {
    let (registry, request) = (registry(&task(text)), Request::new("t"));
    let how = ManifestOptions {
        options: Options::default(),
        files: &(),
    };
    let mut entry = task_manifest(&registry, &request, None, &how)
        .unwrap()
        .entries
        .remove(0);
    assert_eq!(entry.total.bound, None);
    entry.segments.remove(0)
}

#[test]
fn a_text_with_open_values_counts_its_fixed_part_and_notices_every_change() {
    let text =
        "Never promise a refund.{# note #} {% if tone %}Be {{ tone }}.{% endif %} {{ ticket }}";
    let part = description(text);
    let bare = "Never promise a refund.  ";
    let heading = "## Task\n\n".len();
    assert_eq!(part.tokens, heading + bare.len(), "a token is a byte here");
    let moved = |text: &str| {
        let other = description(text);
        assert_ne!(other.hash, part.hash, "{text}");
        assert_ne!(other.source, part.source, "{text}");
    };
    moved(&text.replace("Be", "Stay"));
    moved(&text.replace("Never", "Always"));
    moved(&text.replace("{% if tone %}", "{% if not tone %}"));
    assert_eq!(description(text), part);
}

#[test]
fn space_that_tags_take_away_is_not_counted() {
    let heading = "## Task\n\n".len();
    for (text, certain) in [
        ("one \n {{- ticket -}} \n two", "onetwo"),
        ("one {%- if tone %} a {% endif -%} two", "onetwo"),
        ("one {#- c -#} two {{ ticket }}", "onetwo "),
        ("one {{ ticket }}\n", "one "),
        ("{% raw %}x{% endraw %}one {{ ticket }}", "xone "),
    ] {
        assert_eq!(
            description(text).tokens,
            heading + certain.len(),
            "{text:?}"
        );
    }
}

#[test]
fn where_a_value_stands_and_what_of_it_is_a_part_of_a_text() {
    let plain = |text: &str| description(text).hash;
    let of = |text: &str| {
        let task = task(text).replace(" syntax=\"jinja\"", "");
        let (registry, request) = (registry(&task), Request::new("t"));
        let how = ManifestOptions {
            options: Options::default(),
            files: &(),
        };
        task_manifest(&registry, &request, None, &how)
            .unwrap()
            .entries
            .remove(0)
            .segments
            .remove(0)
    };
    let one = of("From {{tone}} to {{ticket}}");
    let other = of("From {{ticket}} to {{tone}}");
    assert!(one.hash != other.hash && one.source != other.source && one.tokens == other.tokens);
    assert_ne!(of("{{docs.a}}").hash, of("{{docs.b}}").hash);
    assert_ne!(plain("{{ docs.a }}"), plain("{{ docs.b }}"));
    let input = |from: &str, text: &str| {
        let inputs =
            format!("{text}</description><inputs><input name=\"z\" from=\"{from}\"/></inputs>");
        let task = task(&inputs)
            .replacen("</description><parameters>", "<parameters>", 1)
            .replace(" syntax=\"jinja\"", "");
        let (registry, request) = (registry(&task), Request::new("t"));
        let how = ManifestOptions {
            options: Options::default(),
            files: &(),
        };
        let entry = task_manifest(&registry, &request, None, &how)
            .unwrap()
            .entries
            .remove(0);
        entry
            .segments
            .into_iter()
            .map(|part| part.hash)
            .collect::<Vec<_>>()
    };
    assert_ne!(input("docs.a", "d"), input("docs.b", "d"));
    assert_ne!(input("ticket", "d {{z}}"), input("tone", "d {{z}}"));
}

#[test]
fn fragments_stand_where_they_are_written() {
    let render_with = |text: &str, fragment: &str| {
        let library = format!("<library><fragment name=\"rules\">{fragment}</fragment></library>");
        let sources = [("t.xml", task(text)), ("l.xml", library)];
        let built = ctxc::compile_sources(
            &ctxc::Config::default(),
            sources.iter().map(|(path, text)| (*path, text.as_str())),
        );
        let registry = built
            .registry
            .unwrap_or_else(|| panic!("{:?}", built.diagnostics));
        let inputs = values(&[
            ("ticket", json!("fire\nnow")),
            ("tone", json!("kind")),
            ("docs", json!([1, 2])),
        ]);
        let request = Request {
            inputs: &inputs,
            ..Request::new("t")
        };
        let assembly = assemble(&registry, &request, &Options::default())
            .unwrap_or_else(|refused| panic!("{refused}"));
        let message = assembly.messages[0]
            .as_str()
            .replace(&assembly.report.nonce, "N");
        message.strip_prefix("## Task\n\n").unwrap().to_owned()
    };
    let rules = "<use fragment=\"rules\"/>";
    assert_eq!(
        render_with(
            &format!("Rules for {{{{ tone }}}}:\n{rules}\nEnd"),
            "be brief"
        ),
        "Rules for kind:\nbe brief\nEnd"
    );
    assert_eq!(
        render_with(
            &format!("{{% if tone %}}{rules}{{% endif %}}!"),
            "be {{tone}}"
        ),
        "be kind!"
    );
    assert_eq!(
        render_with(&format!("{{% for d in docs %}}{rules};{{% endfor %}}"), "a"),
        "a;a;"
    );
    assert_eq!(
        render_with(
            &format!("{{% set kept %}}{rules}{{% endset %}}{{{{ kept }}}}"),
            "a"
        ),
        "a"
    );
    let fire = "<untrusted-N name=\"ticket\">\nfire\nnow\n</untrusted-N>";
    assert_eq!(
        render_with(&format!("{{{{ tone }}}} {rules}"), "on {{ticket}}"),
        format!("kind on {fire}")
    );
    // The output of a filter on a fragment is fenced as a whole: the filter never sees a fence.
    let loud = render_with(
        &format!("{{% filter upper %}}{rules}{{% endfilter %}}"),
        "on {{ticket}}",
    );
    assert_eq!(
        loud,
        "<untrusted-N name=\"fragment_rules\">\nON FIRE\nNOW\n</untrusted-N>"
    );
}

#[test]
fn tests_bind_closer_than_a_product() {
    let origins = |text: &str| {
        let inputs = values(&[
            ("ticket", json!("x")),
            ("tone", json!(3)),
            ("docs", json!(2)),
        ]);
        let request = Request {
            inputs: &inputs,
            ..Request::new("t")
        };
        let assembly = assemble(&registry(&task(text)), &request, &Options::default()).unwrap();
        assembly.messages[0]
            .as_str()
            .strip_prefix("## Task\n\n")
            .unwrap()
            .to_owned()
    };
    for text in [
        "{{ tone * docs is even }}",
        "{{ tone * docs is not even }}",
        "{{ docs is even * tone }}",
        "{{ tone * 9 is divisibleby 3 }}",
        "{{ tone + docs is odd }}",
        "{{ tone == docs is odd }}",
        "{{ docs * tone is sameas(tone) }}",
    ] {
        let plain = minijinja::Environment::new();
        let plain = plain
            .template_from_str(text)
            .unwrap()
            .render(minijinja::Value::from_pairs([("tone", 3), ("docs", 2)]));
        match plain {
            Ok(plain) => assert_eq!(origins(text), plain, "{text}"),
            Err(error) => panic!("{text}: {error}"),
        }
    }
}

#[test]
fn what_a_text_puts_together_is_the_value_of_none() {
    let origin = |text: &str| {
        let inputs = values(&[
            ("ticket", json!("x")),
            ("tone", json!("kind")),
            ("docs", json!([{"n": "a"}])),
        ]);
        let request = Request {
            inputs: &inputs,
            ..Request::new("t")
        };
        let registry = registry(&task(text));
        let assembly = assemble(&registry, &request, &Options::default()).unwrap();
        let text = &assembly.report.segments[0].segment.text;
        let stretch = text
            .stretches()
            .iter()
            .find(|stretch| stretch.origin != Origin::Generated)
            .unwrap();
        if let Origin::Input { name } = &stretch.origin {
            name.clone()
        } else {
            "the author".to_owned()
        }
    };
    for part in [
        "{{ tone }}",
        "{{ tone|upper }}",
        "{{ tone[-2:] }}",
        "{{ docs[0].n }}",
        "{% for doc in docs %}{{ doc.n }}{% endfor %}",
    ] {
        assert_ne!(origin(part), "the author", "{part}");
    }
    for whole in [
        "{{ tone ~ '!' }}",
        "{{ tone or 'none' }}",
        "{{ tone if tone else 'x' }}",
        "{{ 'a' }}",
        "{% set a = tone %}{{ a }}",
    ] {
        assert_eq!(origin(whole), "the author", "{whole}");
    }
}
