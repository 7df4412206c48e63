//! Markers of a merge conflict: one finding with its own code at any place, and no cascade.

use ctxc::internals::base::fix;
use pretty_assertions::assert_eq;

fn findings(text: &str) -> Vec<ctxc::Diagnostic> {
    ctxc::compile_sources(&ctxc::Config::default(), [("a.xml", text)]).diagnostics
}

/// A conflict as a version control system writes it.
fn conflict(ours: &str, theirs: &str) -> String {
    format!("<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> topic\n")
}

fn task(inside: &str) -> String {
    format!("<task type=\"atomic\" name=\"a\">\n{inside}</task>\n")
}

#[test]
fn a_conflict_is_one_finding_wherever_it_stands() {
    let description = "  <description>d</description>\n";
    let texts = [
        task(&conflict(
            "  <description>sort it</description>",
            "  <description>sort them</description>",
        )),
        // Cut through elements, and around the root's own tag.
        task(
            &conflict("  <description>sort it", "  <description>sort them")
                .replace("topic\n", "topic\n  now</description>\n"),
        ),
        format!(
            "{}{description}</task>\n",
            conflict(
                "<task type=\"atomic\" name=\"a\">",
                "<task type=\"atomic\" name=\"b\">"
            )
        ),
        format!("{}\n", conflict(&task(description), &task(description))),
        // In a tag.
        format!(
            "<task\n{}  type=\"atomic\">\n{description}</task>\n",
            conflict("  name=\"a\"", "  name=\"b\"")
        ),
        // In the value of an attribute, which both sides may end.
        task(&format!(
            "{description}  <parameters><parameter name=\"x\" default=\"one\n{}  four\"/></parameters>\n  <instructions>{{{{x}}}}</instructions>\n",
            conflict("  two", "  three")
        )),
        task(&format!(
            "{description}  <parameters><parameter name=\"x\" default=\"one\n{}  </parameters>\n  <instructions>{{{{x}}}}</instructions>\n",
            conflict("  two\"/>", "  three\"/>")
        )),
        // In the text of an element.
        task(&format!(
            "  <description>\none\n{}two\n  </description>\n",
            conflict("sort it", "sort them & go")
        )),
        // In places that are valid XML.
        task(&format!(
            "  <description><![CDATA[one\n{}two]]></description>\n",
            conflict("sort it", "sort them")
        )),
        task(&format!(
            "{description}<!-- one\n{}two -->\n",
            conflict("sort it", "sort them")
        )),
        // With the common ancestor, and with the line ends of another system.
        task(&conflict(
            "  <description>b</description>\n||||||| base\n  <description>o</description>",
            description,
        )),
        task(&conflict(
            "  <description>sort it</description>",
            description,
        ))
        .replace('\n', "\r\n"),
        // A first marker that lost the others.
        task(&format!("<<<<<<< HEAD\n{description}")),
        format!("<task type=\"atomic\"\n<<<<<<< HEAD\n  name=\"a\">\n{description}</task>\n"),
        task("  <description>\n<<<<<<< HEAD\n  d</description>\n"),
    ];
    for text in texts {
        let found = findings(&text);
        let codes: Vec<String> = found
            .iter()
            .map(|finding| finding.rule.code.to_string())
            .collect();
        assert_eq!(codes, ["CTX017"], "{text}\n{found:#?}");
        assert!(found[0].span.slice(&text).starts_with("<<<<<<<"), "{text}");
        // Each of two versions belongs to an author: nothing takes one away.
        assert!(
            found[0].help.is_some() && found[0].fixes.is_empty() == text.contains("======="),
            "{text}"
        );
        for fix in &found[0].fixes {
            let after = fix::apply_edits(&text, &fix.edits).unwrap();
            let left = self::findings(&after);
            assert!(
                left.iter().all(|finding| finding.rule.code.0 != 17),
                "{} gives {after}",
                fix.title
            );
        }
    }
}

#[test]
fn every_conflict_of_a_file_is_found() {
    let one = conflict(
        "  <instructions>b</instructions>",
        "  <instructions>c</instructions>",
    );
    let two = conflict("  <criteria>b</criteria>", "  <criteria>c</criteria>");
    let text = task(&format!("  <description>d</description>\n{one}{two}"));
    let codes: Vec<u16> = findings(&text)
        .iter()
        .map(|finding| finding.rule.code.0)
        .collect();
    assert_eq!(codes, [17, 17]);
}

#[test]
fn lines_that_only_look_like_markers_are_text() {
    for inside in [
        "one\n=======\ntwo",
        "one\n>>>>>>> two",
        "a <![CDATA[<<<<<<< b]]>",
        "<![CDATA[\n<<<<<<< only one\n]]>",
    ] {
        let text = task(&format!("  <description>{inside}</description>\n"));
        assert!(findings(&text).is_empty(), "{inside}");
    }
}
