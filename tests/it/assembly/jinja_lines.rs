//! Jinja texts line by line: who says what they become, and what is known of them before their values are.

use super::settings::{registry, values};
use ctxc::context::assemble::{Options, assemble};
use ctxc::context::manifest::{Dry, Part, of_task};
use ctxc::context::request::Request;
use ctxc::kernel::context::Origin;
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
         <parameter name=\"ticket\" trust=\"untrusted\"/><parameter name=\"docs\" type=\"object\"/><parameter name=\"tone\"/>\
         </parameters></task>"
    )
}

#[test]
fn every_stretch_is_from_its_line_or_its_value() {
    let inputs = values(&[
        ("ticket", json!("late\nand wet")),
        ("tone", json!("kind")),
        ("docs", json!([{"title": "a", "text": "one\ntwo"}, {"title": "b", "text": "x"}])),
    ]);
    let request = Request { inputs: &inputs, ..Request::new("t") };
    let registry = registry(&task(LINES));
    let assembly = assemble(&registry, &request, &Options::default()).unwrap();
    let text = &assembly.report.segments[0].segment.text;
    let origin = |origin: &Origin| {
        if let Origin::Template { line, .. } = origin {
            return (line + 1).to_string();
        }
        if let Origin::Input { name } = origin { name.clone() } else { format!("{origin:?}") }
    };
    let said = text.stretches().iter().map(|stretch| {
        let words = text.text()[stretch.range.clone()].replace(&assembly.report.nonce, "N");
        format!("{}: {words:?}", origin(&stretch.origin))
    });
    insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"), @r#"
    2: "\nTicket: "
    Frame: "<untrusted-N name=\"ticket\">\n"
    ticket: "late\nand wet"
    Frame: "\n</untrusted-N>"
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
    14: "\n"
    14: "kept kind\n"
    14: "\n"
    15: "{{ raw }}"
    15: "\nEnd "
    16: "1"
    "#);
}

fn description(text: &str) -> Part {
    let (registry, request) = (registry(&task(text)), Request::new("t"));
    let how = Dry { options: Options::default(), files: &() };
    let mut entry = of_task(&registry, &request, None, &how).unwrap().entries.remove(0);
    assert_eq!(entry.total.bound, None);
    entry.segments.remove(0)
}

#[test]
fn what_waits_for_a_value_counts_what_is_said_in_any_case_and_notices_every_change() {
    let text = "Never promise a refund.{# note #} {% if tone %}Be {{ tone }}.{% endif %} {{ ticket }}";
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
