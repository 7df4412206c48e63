//! Each of thousands of faults of one kind costs no more than a single one.

use crate::project::reading::{check_template, read};
use std::time::Instant;

const MANY: usize = 6_000;

/// A filling of a file: the text before it, the repeated text, the text behind it.
const FILLS: &[(&str, &str, &str)] = &[
    ("<task>", "<foo/>\n", "</task>"),
    ("<task>", "<descripton>a</descripton>\n", "</task>"),
    ("<task>", "<input name=\"a\">x</input>\n", "</task>"),
    (
        "<task>",
        "<inputs/><input name=\"a\">x</input>\n",
        "</task>",
    ),
    (
        "<task>",
        "<inherit_context>none</inherit_context>\n",
        "</task>",
    ),
    (
        "<task><context_management/>",
        "<fresh_context>enabled</fresh_context>\n",
        "</task>",
    ),
    ("<task>", "<description/>\n", "</task>"),
    (
        "<task><inputs>",
        "<input name=\"a\"/>\n",
        "</inputs></task>",
    ),
    (
        "<task><inputs>",
        "<input nme=\"a\">x</input>\n",
        "</inputs></task>",
    ),
    (
        "<task><parameters>",
        "<parameter name=\"a\" required=\"yes\"/>\n",
        "</parameters></task>",
    ),
    (
        "<task type=\"sequential\"><steps>",
        "<task type=\"map\"/>\n",
        "</steps></task>",
    ),
    (
        "<task type=\"sequential\"><steps>",
        "<task><output_slot>a</output_slot></task>\n",
        "</steps></task>",
    ),
    (
        "<task type=\"sequential\"><steps>",
        "<tsk/>\n",
        "</steps></task>",
    ),
    (
        "<library>",
        "<task><description>{{a}}</description></task>\n",
        "</library>",
    ),
    (
        "<task><parameters/><description>",
        "{{a}} \n",
        "</description></task>",
    ),
    (
        "<task><description>",
        "{{a b}} {{ \n",
        "</description></task>",
    ),
    ("<task><description>", "<b>x</b>\n", "</description></task>"),
    (
        "<task><description>d</description>",
        "text <manual_xml/>\n",
        "</task>",
    ),
    (
        "<template name=\"f\" params=\"",
        "a ",
        "\"><task/></template>",
    ),
    (
        "<template name=\"f\" params=\"",
        "# ",
        "\"><task/></template>",
    ),
    (
        "<task><inputs>",
        "<input name=\"#\">x</input>\n",
        "</inputs></task>",
    ),
    (
        "<task><context_relevance>",
        "<input name=\"#\"/>\n",
        "</context_relevance></task>",
    ),
    (
        "<task><parameters/><instructions>",
        "{{n#}} \n",
        "</instructions></task>",
    ),
    (
        "<task><instructions>",
        "{{n#}} \n",
        "</instructions></task>",
    ),
];

#[test]
fn many_faults_of_any_kind_stay_linear() {
    let config = read("");
    let time = |count: usize, (head, fill, tail): (&str, &str, &str)| {
        // Each `#` is another number.
        let fill: String = (0..count)
            .map(|number| fill.replace('#', &number.to_string()))
            .collect();
        let text = format!("{head}{fill}{tail}");
        let start = Instant::now();
        let found = check_template(&text, &config);
        assert!(
            found.len() <= config.limits.diagnostics as usize && !found.is_empty(),
            "{head}{fill}"
        );
        start.elapsed()
    };
    for fill in FILLS {
        // Ten times as many may cost thirty times as much on a busy machine; quadratic is a
        // hundred, at every try.
        let fine = (0..6)
            .any(|_| time(MANY, *fill).as_millis() < 200 + 30 * time(MANY / 10, *fill).as_millis());
        assert!(
            fine,
            "{}: ten times as many take more than thirty times as long",
            fill.1
        );
    }
}
