//! One typo of an author, one finding: its message, and the text after its first fix.

use crate::project::reading::{check_template, read};
use ctxc::internals::base::diagnostic::Diagnostic;
use ctxc::internals::base::fix::{self, Applicability};
use ctxc::internals::base::rule_meta::Severity;
use ctxc::internals::rules::apply::{self, FixSelection};
use ctxc::internals::syntax::XmlLimits;
use pretty_assertions::assert_eq;

/// The errors and warnings of a text, `rule `place`: message`.
fn describe_findings(text: &str) -> Vec<String> {
    let line = |finding: &Diagnostic| {
        format!(
            "{} `{}`: {}",
            finding.rule.name,
            finding.span.slice(text),
            finding.message
        )
    };
    grave(text).iter().map(line).collect()
}

fn grave(text: &str) -> Vec<Diagnostic> {
    let mut found = check_template(text, &read(""));
    found.retain(|finding| finding.severity <= Severity::Warning);
    found
}

/// The text after the first fix of its only finding, and the applicability of that fix.
fn mended(text: &str) -> (String, Applicability) {
    let found = grave(text);
    let fix = &found[0].fixes[0];
    (
        fix::apply_edits(text, &fix.edits).expect("the edits fit"),
        fix.applicability,
    )
}

const REDUCE: &str = "\
<task type=\"reduce\" name=\"digest\">
  <description>digest the week</description>
  <instructions>be brief</instructions>
  <inputs>
    <input name=\"tone\">friendly</input>
  </inputs>
  <inner_task>
    <description>digest one day</description>
  </inner_task>
  <reduction_task>
    <description>merge the days</description>
    <instructions>keep what differs in {{current_result}}</instructions>
    <inputs>
      <input name=\"style\">plain</input>
    </inputs>
    <context_management>
      <inherit_context>none</inherit_context>
      <fresh_context>enabled</fresh_context>
    </context_management>
  </reduction_task>
  <context_management>
    <inherit_context>none</inherit_context>
    <fresh_context>enabled</fresh_context>
  </context_management>
</task>
";

#[test]
fn a_missing_start_tag_is_one_finding_and_not_one_for_each_child() {
    assert_eq!(describe_findings(REDUCE), [""; 0]);
    for (tag, children) in [
        ("reduction_task", "  "),
        ("inner_task", "  "),
        ("inputs", "  "),
        ("context_management", "    "),
    ] {
        let line = format!("{children}<{tag}>\n");
        let broken = REDUCE.replacen(&line, "", 1);
        assert_eq!(
            describe_findings(&broken),
            [format!(
                "mismatched-end-tag `</{tag}>`: `</{tag}>` has no start tag"
            )],
            "{broken}"
        );
        assert_eq!(
            mended(&broken),
            (REDUCE.to_owned(), Applicability::Suggested)
        );
        let windows = broken.replace('\n', "\r\n");
        assert_eq!(mended(&windows).0, REDUCE.replace('\n', "\r\n"));
    }
    // The start tag of the root, with a comment in front of its content.
    let broken = REDUCE.split_once('\n').unwrap().1;
    for text in [
        broken.to_owned(),
        format!("<!-- why -->\n{broken}"),
        format!("<!-- why -->\n  <?ctxc allow no-context reason=\"r\"?>\n{broken}"),
    ] {
        assert_eq!(
            describe_findings(&text),
            ["mismatched-end-tag `</task>`: `</task>` has no start tag"],
            "{text}"
        );
    }
    // On the line of its text.
    let broken = REDUCE.replacen("<instructions>", "", 1);
    assert_eq!(
        describe_findings(&broken),
        ["mismatched-end-tag `</instructions>`: `</instructions>` has no start tag"]
    );
    assert_eq!(mended(&broken).0, REDUCE);
}

#[test]
fn what_stands_in_and_outside_of_a_missing_element_is_still_checked() {
    let broken = REDUCE.replacen("  <reduction_task>\n", "", 1).replacen(
        "<inherit_context>none",
        "<inherit_context>some",
        3,
    );
    let broken = broken.replacen(
        "digest one day</description>",
        "digest one day</description>\n    <colour/>",
        1,
    );
    let names: Vec<_> = grave(&broken)
        .iter()
        .map(|finding| finding.rule.name)
        .collect();
    assert_eq!(
        names,
        [
            "unknown-element",
            "bad-value",
            "mismatched-end-tag",
            "bad-value"
        ]
    );
}

#[test]
fn an_end_tag_without_anything_of_its_own_closes_nothing() {
    let text =
        "<task type=\"atomic\" name=\"t\">\n  <description>d</description>\n  </inputs>\n</task>\n";
    assert_eq!(
        describe_findings(text),
        ["mismatched-end-tag `</inputs>`: `</inputs>` closes nothing"]
    );
    // Nor does an unknown element, behind any other.
    let text = "<task type=\"atomic\" name=\"t\">\n  <description>d</description>\n    <inputs/>\n  </colour>\n</task>\n";
    assert_eq!(
        describe_findings(text),
        ["mismatched-end-tag `</colour>`: `</colour>` closes nothing"]
    );
}

#[test]
fn two_ampersands_are_one_typo() {
    let with = |text: &str| {
        format!("<task type=\"atomic\" name=\"t\">\n  <description>{text}</description>\n</task>\n")
    };
    for (written, run, meant) in [
        ("a && b", "&&", "a &amp;&amp; b"),
        ("a&&b", "&&", "a&amp;&amp;b"),
        ("a &&& b", "&&&", "a &amp;&amp;&amp; b"),
        ("a &&lt; b", "&", "a &amp;&lt; b"),
    ] {
        assert_eq!(
            describe_findings(&with(written)),
            [format!("bare-ampersand `{run}`: `{run}` on its own")]
        );
        assert_eq!(mended(&with(written)), (with(meant), Applicability::Safe));
    }
    assert_eq!(describe_findings(&with("a & b & c")).len(), 2);
}

#[test]
fn of_two_names_the_unknown_one_is_the_slip() {
    let fine = "<task type=\"atomic\" name=\"t\">\n  <description>d</description>\n  <inputs>\n    <input name=\"a\">x</input>\n  </inputs>\n</task>\n";
    for (from, to, place) in [
        ("</input>", "</inputt>", "inputt"),
        ("<input ", "<inputt ", "inputt"),
        ("<inputs>", "<inpts>", "inpts"),
    ] {
        let broken = fine.replacen(from, to, 1);
        let findings = describe_findings(&broken);
        assert_eq!(findings.len(), 1, "{findings:#?}");
        assert!(
            findings[0].starts_with(&format!("mismatched-end-tag `{place}`")),
            "{findings:#?}"
        );
        assert_eq!(mended(&broken), (fine.to_owned(), Applicability::Safe));
        assert_eq!(grave(&broken)[0].fixes.len(), 1);
    }
}

#[test]
fn a_name_that_ran_into_an_attribute_is_taken_apart() {
    let library = "<library xmlns:x=\"urn:x\" x:owner=\"ops\">\n  <fragment name=\"f\">a</fragment>\n</library>\n";
    let task = "<task type=\"atomic\" name=\"t\">\n  <description>d</description>\n</task>\n";
    assert_eq!(
        (describe_findings(library), describe_findings(task)),
        (Vec::new(), Vec::new())
    );
    for (fine, joined) in [(library, "xmlns:x"), (task, "type")] {
        let broken = fine.replacen(' ', "", 1);
        let findings = describe_findings(&broken);
        assert_eq!(findings.len(), 1, "{findings:#?}");
        assert!(
            findings[0].ends_with(&format!("and its attribute `{joined}`")),
            "{findings:#?}"
        );
        assert_eq!(mended(&broken), (fine.to_owned(), Applicability::Safe));
    }
}

#[test]
fn an_element_that_is_closed_twice_keeps_its_children() {
    for tag in ["inner_task", "reduction_task", "inputs"] {
        let broken = REDUCE.replacen(&format!("<{tag}>"), &format!("<{tag}/>"), 1);
        let words = format!(
            "mismatched-end-tag `{tag}`: `<{tag}/>` is empty, and `</{tag}>` closes it once more"
        );
        assert_eq!(describe_findings(&broken), [words]);
        assert_eq!(mended(&broken), (REDUCE.to_owned(), Applicability::Safe));
    }
    // Its content is checked as usual.
    let broken = REDUCE
        .replacen("<inner_task>", "<inner_task/>", 1)
        .replacen(
            "digest one day</description>",
            "digest one day</description><colour/>",
            1,
        );
    assert_eq!(describe_findings(&broken).len(), 2);
    let inline = REDUCE.replacen(
        "<input name=\"tone\">friendly",
        "<input name=\"tone\"/>friendly",
        1,
    );
    assert_eq!(mended(&inline), (REDUCE.to_owned(), Applicability::Safe));
}

#[test]
fn names_that_a_typo_hides_are_not_missed_elsewhere() {
    let fine = "\
<task type=\"atomic\" name=\"t\">
  <description>sort {{ticket}} for {{team}}</description>
  <parameters>
    <parameter name=\"ticket\" required=\"true\"/>
    <parameter name=\"team\" required=\"true\"/>
  </parameters>
  <inputs>
    <input name=\"tone\">friendly</input>
  </inputs>
  <instructions>answer {{ticket}} in the tone {{tone}}</instructions>
</task>
";
    assert_eq!(describe_findings(fine), [""; 0]);
    for (from, to, rule) in [
        ("  <parameters>\n", "", "mismatched-end-tag"),
        ("<parameters>", "<parameters/>", "mismatched-end-tag"),
        ("  <inputs>\n", "", "mismatched-end-tag"),
        ("<inputs>", "<inputs/>", "mismatched-end-tag"),
        (
            "<parameter name=\"ticket\"",
            "<parameter nmae=\"ticket\"",
            "unknown-attribute",
        ),
        (
            "<parameter name=\"ticket\"",
            "<paramete name=\"ticket\"",
            "unknown-element",
        ),
        ("<input name", "<input nmae", "unknown-attribute"),
    ] {
        let broken = fine.replacen(from, to, 1);
        let rules: Vec<_> = grave(&broken)
            .iter()
            .map(|finding| finding.rule.name)
            .collect();
        assert_eq!(rules, [rule], "{broken}");
    }
}

#[test]
fn a_root_closed_too_early_lacks_nothing() {
    let broken = REDUCE.replacen("name=\"digest\">", "name=\"digest\"/>", 1);
    assert_eq!(
        describe_findings(&broken),
        [
            "content-outside-root `description`: `<description>` comes after the root element, which `/>` ends"
        ]
    );
    assert_eq!(
        mended(&broken),
        (REDUCE.to_owned(), Applicability::Suggested)
    );
    // An element that is alone does lack its parts.
    assert_eq!(
        describe_findings("<task type=\"atomic\" name=\"t\"/>\n").len(),
        1
    );
}

/// Four faults: two in `<steps>`, which alone reads `p`, one in a step, one behind.
const PLANTED: &str = "\
<task type=\"sequential\" name=\"t\">
  <parameters>
    <parameter name=\"p\" required=\"true\"/>
  </parameters>
  <description>d</description>
  <steps>
    <task type=\"atomic\">
      <description>{{p}} {{undefd}}</description>
      <context_management>
        <fresh_context>perhaps</fresh_context>
      </context_management>
    </task>
    <task type=\"atomic\">
      <descripton>x</descripton>
    </task>
  </steps>
  <instructions>{{alsobad}}</instructions>
</task>
";

/// A slip: the replaced text, its replacement, and the rule that reports it beside the four. `-`
/// before a rule: one of the four that is lost.
const SLIPS: &[(&str, &str, &[&str])] = &[
    ("", "", &[]),
    // A container with a slip in its name stands for the container.
    ("steps>", "step>", &["unknown-element"]),
    ("steps>", "Steps>", &["unknown-element"]),
    ("steps>", "teps>", &["unknown-element"]),
    ("steps>", "x:steps>", &["undeclared-prefix"]),
    ("<steps>", "<teps>", &["mismatched-end-tag"]),
    ("<steps>", "<Steps>", &["mismatched-end-tag"]),
    ("</steps>", "</stepps>", &["mismatched-end-tag"]),
    // An unknown name that contains such elements is the container.
    ("steps>", "stages>", &["unknown-element"]),
    // Missing, stray and damaged tags.
    ("  <steps>\n", "", &["mismatched-end-tag"]),
    ("  </steps>\n", "", &["unclosed-element"]),
    ("<steps>", "< steps>", &["mismatched-end-tag"]),
    ("<steps>", "steps>", &["mismatched-end-tag"]),
    ("<steps>", "</steps>", &["mismatched-end-tag"]),
    ("<steps>", "</b>", &["mismatched-end-tag"]),
    ("<steps>", "<steps></steps>", &["mismatched-end-tag"]),
    ("<steps>", "<steps>\n  </steps>", &["mismatched-end-tag"]),
    ("<steps>", "<steps>\n  </b>", &["mismatched-end-tag"]),
    ("<steps>", "<steps>\n    </b>", &["mismatched-end-tag"]),
    ("<steps>", "<steps/>", &["mismatched-end-tag"]),
    ("<steps>", "<steps>\n  </task>", &["mismatched-end-tag"]),
    ("<steps>", "<steps>\n    </task>", &["mismatched-end-tag"]),
    ("  </steps>", "  </task>", &["mismatched-end-tag"]),
    // The root is closed too early.
    (
        "  <parameters>",
        "</task>\n  <parameters>",
        &["mismatched-end-tag"],
    ),
    ("  <steps>", "</task>\n  <steps>", &["mismatched-end-tag"]),
    ("  <steps>", "  </task>\n  <steps>", &["mismatched-end-tag"]),
    (
        "  <steps>",
        "</task>\nwords\n  <steps>",
        &["mismatched-end-tag", "misplaced-text"],
    ),
    ("  </steps>", "  </steps></task>", &["mismatched-end-tag"]),
    (
        "  <instructions>",
        "</task>\n  <instructions>",
        &["mismatched-end-tag"],
    ),
    ("<steps>", "</task><steps>", &["mismatched-end-tag"]),
    // A step is.
    (
        "<task type=\"atomic\">",
        "</task>\n    <task type=\"atomic\">",
        &["mismatched-end-tag"],
    ),
    (
        "    <task type=\"atomic\">\n      <descripton>",
        "  </task>\n    <task type=\"atomic\">\n      <descripton>",
        &["mismatched-end-tag"],
    ),
    (
        "    <task type=\"atomic\">\n      <descripton>",
        "    </task>\n    <task type=\"atomic\">\n      <descripton>",
        &["mismatched-end-tag"],
    ),
    (
        "      <context_management>",
        "    </task>\n      <context_management>",
        &["mismatched-end-tag"],
    ),
    (
        "      <context_management>",
        "      </task>\n      <context_management>",
        &["mismatched-end-tag"],
    ),
    ("name=\"t\">", "name=\"t\"/>", &["content-outside-root"]),
    ("<description>d<", "d<", &["mismatched-end-tag"]),
    // Text between elements.
    ("<steps>", "<steps>\n    &", &["bare-ampersand"]),
    ("<steps>", "<steps>\n    &foo;", &["broken-reference"]),
    ("<steps>", "<steps>\n    ]]>", &["malformed-cdata"]),
    ("<steps>", "<steps>\n    \u{1}", &["illegal-character"]),
    ("<steps>", "<steps>\n    words", &["misplaced-text"]),
    ("<steps>", "<steps a=\"1\">", &["unknown-attribute"]),
    // Markup in a value; `a` is no attribute besides.
    (
        "<steps>",
        "<steps a=\"<b>\">",
        &["bare-less-than", "unknown-attribute"],
    ),
    (
        "<parameter name=\"p\" required=\"true\"/>",
        "<parameter name=\"p\" default=\"the <b>\"/>",
        &["bare-less-than"],
    ),
    (
        "<parameter name=\"p\" required=\"true\"/>",
        "<parameter default=\"<b/>, or so\" name=\"p\"/>",
        &["bare-less-than"],
    ),
    // A value without its closing quote is none such.
    ("name=\"t\">", "name=\"t>", &["malformed-attribute"]),
    // A document type hides nothing.
    (
        "<task type=\"sequential\"",
        "<!DOCTYPE task>\n<task type=\"sequential\"",
        &["document-type"],
    ),
    (
        "<task type=\"sequential\"",
        "<!DOCTYPE task [<!ENTITY a \"b\">]>\n<task type=\"sequential\"",
        &["document-type"],
    ),
];

#[test]
fn one_typo_is_one_finding_and_hides_no_other() {
    let counted = |text: &str| {
        let mut names: Vec<&str> = grave(text)
            .iter()
            .map(|finding| finding.rule.name)
            .collect();
        names.sort_unstable();
        names
    };
    let mut wrong = Vec::new();
    for (from, to, rules) in SLIPS {
        let text = PLANTED.replace(from, to);
        let text = if from.trim_start().starts_with('<') || from.ends_with('\n') || from.is_empty()
        {
            PLANTED.replacen(from, to, 1)
        } else {
            text
        };
        let mut expected = vec![
            "bad-value",
            "undeclared-variable",
            "undeclared-variable",
            "unknown-element",
        ];
        for rule in *rules {
            match rule.strip_prefix('-') {
                Some(lost) => {
                    let at = expected.iter().rposition(|known| *known == lost).unwrap();
                    expected.remove(at);
                }
                None => expected.push(rule),
            }
        }
        expected.sort_unstable();
        let found = counted(&text);
        if found != expected {
            wrong.push(format!(
                "{from:?} -> {to:?}:\n  {found:?}\n  {expected:?}\n  {:#?}",
                describe_findings(&text)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_end_tag_that_comes_too_early_is_taken_out() {
    for (from, to) in [
        ("  <steps>", "</task>  <steps>"),
        (
            "    </task>\n    <task",
            "    </task>\n  </task>\n    <task",
        ),
    ] {
        let broken = PLANTED.replacen(from, to, 1);
        let finding = grave(&broken)
            .into_iter()
            .find(|finding| finding.rule.name == "mismatched-end-tag")
            .unwrap();
        assert_eq!(finding.message, "`</task>` ends its element too early");
        let fixed = fix::apply_edits(&broken, &finding.fixes[0].edits).unwrap();
        assert_eq!(fixed.replace("\n  \n", "\n"), PLANTED);
    }
    // Two tasks, and an end tag too many.
    let task = "<task type=\"atomic\" name=\"a\"><description>d</description></task>\n";
    let rules: Vec<_> = grave(&format!("{task}{task}</task>\n"))
        .iter()
        .map(|finding| finding.rule.name)
        .collect();
    assert_eq!(rules, ["content-outside-root"]);
}

#[test]
fn a_container_is_known_by_what_it_holds() {
    let with = |kind: &str, inside: &str| {
        format!(
            "<task type=\"{kind}\" name=\"a\">\n<description>d {{{{p}}}}</description>\n{inside}\n</task>\n"
        )
    };
    let p = "<parameter name=\"p\"/>";
    let read = format!("<parameters>{p}</parameters>");
    for (kind, inside, meant) in [
        (
            "atomic",
            format!("<parameter>{p}</parameter>"),
            "parameters",
        ),
        ("atomic", format!("<params>{p}</params>"), "parameters"),
        (
            "atomic",
            "<inputt><input name=\"p\">x</input></inputt>".to_owned(),
            "inputs",
        ),
        (
            "atomic",
            "<input><input name=\"p\">x</input></input>".to_owned(),
            "inputs",
        ),
        (
            "atomic",
            format!("{read}<constraint><constraint>c</constraint></constraint>"),
            "constraints",
        ),
        (
            "atomic",
            format!("{read}<path><path>a.md</path></path>"),
            "file_paths",
        ),
        (
            "atomic",
            format!("{read}<shots><example><input>i</input><output>o</output></example></shots>"),
            "examples",
        ),
        (
            "script",
            format!("{read}<command>ls</command><vars><var name=\"A\">1</var></vars>"),
            "env",
        ),
        (
            "sequential",
            format!(
                "{read}<stages><task type=\"atomic\"><description>e</description></task></stages>"
            ),
            "steps",
        ),
        (
            "map",
            format!("{read}<steps><task><description>e</description></task></steps>"),
            "",
        ),
    ] {
        let text = with(kind, &inside);
        let found = grave(&text);
        assert_eq!(found.len(), 1, "{text} {found:#?}");
        assert!(
            meant.is_empty() || found[0].fixes[0].title == format!("write <{meant}>"),
            "{text} {found:#?}"
        );
        assert_eq!(describe_findings(&mended(&text).0), [""; 0], "{text}");
    }
    // Steps by another name, in a container by another name.
    let text = with(
        "sequential",
        &format!("{read}<stages><stage><description>e</description><colour/></stage></stages>"),
    );
    let titles: Vec<_> = grave(&text)
        .into_iter()
        .flat_map(|found| found.fixes)
        .map(|fix| fix.title)
        .collect();
    assert_eq!(titles, ["write <steps>", "write <task>"]);
    assert_eq!(describe_findings(&text).len(), 3);
    // Elements that could stand there themselves are grouped, and if two containers accept them the
    // intended one is unknown.
    for inside in [
        "<group><instructions>{{zz}}</instructions></group>",
        "<group><input name=\"a\">{{zz}}</input></group>",
    ] {
        let text = with("atomic", &format!("{read}{inside}"));
        assert_eq!(
            describe_findings(&text),
            ["unknown-element `group`: `<task>` has no element `<group>`"]
        );
    }
}

#[test]
fn what_is_left_unread_hides_the_names_that_it_binds() {
    let task = |kind: &str, inside: &str| {
        format!(
            "<task type=\"{kind}\" name=\"a\">\n<description>d {{{{q}}}}</description>\n<parameters><parameter name=\"q\"/></parameters>\n{inside}\n</task>\n"
        )
    };
    let step = "<task type=\"atomic\"><description>s {{r}}</description></task>";
    for (kind, inside, rule) in [
        ("atomic", "<input name=\"tone\">x</input><instructions>{{tone}}</instructions>".to_owned(), "misplaced-element"),
        ("atomic", "<parameter name=\"tone\"/><instructions>{{tone}}</instructions>".to_owned(), "misplaced-element"),
        (
            "atomic",
            "<group><input name=\"tone\">x</input></group><instructions>{{tone}}</instructions>".to_owned(),
            "unknown-element",
        ),
        (
            "atomic",
            "<inputs><value name=\"tone\">x</value></inputs><instructions>{{tone}}</instructions>".to_owned(),
            "unknown-element",
        ),
        (
            "atomic",
            "<parameters><parameter name=\"tone\"/></parameters><instructions>{{tone}}</instructions>".to_owned(),
            "repeated-element",
        ),
        ("sequential", format!("<steps><agent as=\"r\">x</agent>{step}</steps>"), "unknown-element"),
        ("sequential", format!("<input name=\"r\">x</input><steps>{step}</steps>"), "misplaced-element"),
    ] {
        let text = task(kind, &inside);
        let rules: Vec<_> = grave(&text).iter().map(|finding| finding.rule.name).collect();
        assert_eq!(rules, [rule], "{text}");
        // A name that it does not bind is still reported.
        let text = text.replace("d {{q}}", "{{q}} {{zz}}");
        assert_eq!(describe_findings(&text).len(), 2, "{text} {:#?}", describe_findings(&text));
    }
}

#[test]
fn an_expression_without_its_end_is_closed() {
    let with = |inside: &str| {
        format!(
            "<task type=\"atomic\" name=\"a\">\n<description>d {inside}</description>\n<parameters><parameter name=\"q\"/></parameters>\n</task>\n"
        )
    };
    for (inside, after) in [
        ("{{q}", "{{q}}"),
        ("{{q} and {{q}}", "{{q}} and {{q}}"),
        ("{{ q.a[0] }", "{{ q.a[0] }}"),
        ("{{q", "{{q}}"),
        ("{{q. And", "{{q}}. And"),
        // Braces around an undeclared name are text.
        ("{{z}", "\\{{z}"),
    ] {
        let mut check = |text: &str| check_template(text, &read(""));
        let fixed = apply::fix_text(
            &with(inside),
            FixSelection::Suggested,
            &XmlLimits::default(),
            &|_| true,
            &mut check,
        );
        // The parameter stays, though nothing reads it now.
        assert_eq!(fixed.text, with(after));
    }
}

#[test]
fn an_attribute_by_another_name_keeps_its_value() {
    for (written, meant) in [
        ("<call name=\"f\"/>", "template"),
        ("<call function=\"f\" as=\"r\"/>", "template"),
        ("<call template=\"f\" name=\"r\"/>", "as"),
        ("<task use=\"f\"/>", "ref"),
        (
            "<cond><case when=\"a\"><task ref=\"f\"/></case></cond>",
            "test",
        ),
        (
            "<task type=\"atomic\"><description><use name=\"f\"/></description></task>",
            "fragment",
        ),
        (
            "<task type=\"atomic\"><description file=\"f.md\"/></task>",
            "src",
        ),
        (
            "<task type=\"atomic\"><description>{{f}}</description><parameters><parameter name=\"f\" value=\"1\"/></parameters></task>",
            "default",
        ),
        (
            "<task type=\"atomic\"><description>d</description><inputs><input id=\"f\">x</input></inputs></task>",
            "name",
        ),
    ] {
        let text = format!(
            "<task type=\"sequential\" name=\"a\"><description>d</description><steps>{written}</steps></task>\n"
        );
        let found = grave(&text);
        let unknown: Vec<_> = found
            .iter()
            .filter(|finding| finding.rule.name == "unknown-attribute")
            .collect();
        assert_eq!(unknown.len(), 1, "{text} {found:#?}");
        assert_eq!(unknown[0].fixes[0].title, format!("write `{meant}`"));
        assert!(
            found
                .iter()
                .all(|finding| finding.rule.name != "missing-attribute"),
            "{text} {found:#?}"
        );
    }
}

#[test]
fn a_document_type_is_taken_out_together_with_what_else_is_wrong() {
    let text = "<!DOCTYPE task>\n<task type=\"atomic\" name=\"a\">\n  <description>a & b</description>\n</task>\n";
    let names: Vec<&str> = grave(text)
        .iter()
        .map(|finding| finding.rule.name)
        .collect();
    assert_eq!(names, ["document-type", "bare-ampersand"]);
    let mut check = |text: &str| grave(text);
    let fixed = apply::fix_text(
        text,
        FixSelection::Safe,
        &XmlLimits::default(),
        &|_| true,
        &mut check,
    );
    assert_eq!(
        fixed.text.trim_start(),
        "<task type=\"atomic\" name=\"a\">\n  <description>a &amp; b</description>\n</task>\n"
    );
}

#[test]
fn a_document_type_has_a_fix_only_where_it_can_go() {
    let with = |doctype: &str, text: &str| {
        format!(
            "{doctype}\n<task type=\"atomic\" name=\"a\">\n  <description>{text}</description>\n</task>\n"
        )
    };
    let entity = "<!DOCTYPE task [<!ENTITY co \"Acme\">]>";
    let external = "<!DOCTYPE task SYSTEM \"a.dtd\">";
    for (doctype, text, fixed) in [
        (entity, "at &co; now", 0),
        (external, "at &co; now", 0),
        // The declared text is the author's.
        (entity, "at Acme now", 0),
        (external, "at Acme now", 1),
        ("<!DOCTYPE task>", "at Acme now", 1),
        // An undeclared entity is reported beside it, and fixed.
        ("<!DOCTYPE task>", "at&nbsp;Acme", 2),
    ] {
        let text = with(doctype, text);
        let offered = grave(&text)
            .iter()
            .filter(|finding| finding.is_fixable())
            .count();
        let mut check = |text: &str| grave(text);
        let made = apply::fix_text(
            &text,
            FixSelection::Suggested,
            &XmlLimits::default(),
            &|_| true,
            &mut check,
        )
        .fixed;
        assert_eq!((offered, made), (fixed, fixed), "{text}");
    }
}

#[test]
fn a_safe_fix_that_only_uncovers_is_made() {
    let with = |inside: &str| format!("<task type=\"atomic\" name=\"a\">\n  {inside}\n</task>\n");
    for (text, after) in [
        (
            "<description>d</description>\n  <context_management>\n    <inherit_context>full</inherit_context>\n    <fresh_context>Enabled</fresh_context>\n  </context_management>",
            "<fresh_context>enabled</fresh_context>",
        ),
        ("<description>&nbsp;</description>", "&#160;"),
    ] {
        let mut check = |text: &str| grave(text);
        let fixed = apply::fix_text(
            &with(text),
            FixSelection::Safe,
            &XmlLimits::default(),
            &|_| true,
            &mut check,
        );
        assert!(
            fixed.text.contains(after),
            "{} {:?}",
            fixed.text,
            fixed.remaining
        );
        assert!(
            fixed
                .remaining
                .iter()
                .all(|finding| apply::eligible_fix(finding, FixSelection::Safe).is_none())
        );
    }
}

#[test]
fn fixes_keep_what_the_author_wrote() {
    let with = |inside: &str| format!("<task type=\"atomic\" name=\"a\">\n{inside}</task>\n");
    for (text, after) in [
        // Elements with different texts stay, both of them.
        (
            "  <description>d</description>\n  <description>e</description>\n",
            "  <description>d</description>\n  <description>e</description>\n",
        ),
        (
            "  <description>d</description>\n  <inputs>\n    <input name=\"x\">a</input>\n    <input name=\"x\">b</input>\n  </inputs>\n",
            "  <description>d</description>\n  <inputs>\n    <input name=\"x\">a</input>\n    <input name=\"x\">b</input>\n  </inputs>\n",
        ),
        (
            "  <description>d</description>\n  <context_management>\n    <inherit_context>none</inherit_context>\n    <fresh_context>disabled</fresh_context>\n  </context_management>\n",
            "  <description>d</description>\n  <context_management>\n    <inherit_context>none</inherit_context>\n    <fresh_context>disabled</fresh_context>\n  </context_management>\n",
        ),
        (
            "  <description>d</description>\n  <instructions src=\"a.md\">words</instructions>\n",
            "  <description>d</description>\n  <instructions src=\"a.md\">words</instructions>\n",
        ),
    ] {
        let mut check = |text: &str| check_template(text, &read(""));
        let fixed = apply::fix_text(
            &with(text),
            FixSelection::Suggested,
            &XmlLimits::default(),
            &|_| true,
            &mut check,
        );
        assert_eq!(fixed.text, with(after));
    }
}

/// The names of the rules that find something.
fn rules(text: &str) -> Vec<&'static str> {
    grave(text)
        .iter()
        .map(|finding| finding.rule.name)
        .collect()
}

#[test]
fn a_start_tag_with_two_letters_exchanged_is_one_finding() {
    for body in [
        "<steps><taks><description>x</description></task></steps>",
        "<steps><taks><description>x</description></task><task><description>y</description></task></steps>",
    ] {
        let text = format!(
            "<task type=\"sequential\" name=\"a\"><description>x</description>{body}</task>"
        );
        assert_eq!(
            rules(&text),
            ["mismatched-end-tag"],
            "{:?}",
            describe_findings(&text)
        );
    }
    let text = "<task name=\"a\"><description>x</description><inputs><inptu name=\"i\">x</input></inputs></task>";
    assert_eq!(
        rules(text),
        ["mismatched-end-tag"],
        "{:?}",
        describe_findings(text)
    );
    // The end tag that an inner element lost is still reported as missing.
    let text =
        "<task name=\"a\"><description>x</description><inputs><input name=\"i\">x</inputs></task>";
    assert_eq!(
        rules(text),
        ["unclosed-element"],
        "{:?}",
        describe_findings(text)
    );
}

#[test]
fn a_value_in_curly_quotes_is_one_finding_and_read() {
    let steps = "<steps><task as=“team”><description>x</description></task><task><description>{{team}} {{p}}</description></task></steps>";
    let head = "<description>x</description><parameters><parameter name=\"p\"/></parameters>";
    let text = format!("<task type=“sequential” name=\"a\">{head}{steps}</task>");
    assert_eq!(
        rules(&text),
        ["malformed-attribute"; 2],
        "{:?}",
        describe_findings(&text)
    );
    let case = "<steps><cond><case test=“p == 1 and p != 2”><task><description>x</description></task></case></cond></steps>";
    let text = format!("<task type=\"sequential\" name=\"a\">{head}{case}</task>");
    assert_eq!(
        rules(&text),
        ["malformed-attribute"],
        "{:?}",
        describe_findings(&text)
    );
    assert!(mended(&text).0.contains("test=\"p == 1 and p != 2\""));
}

#[test]
fn a_step_whose_name_is_lost_is_one_finding() {
    for (slip, rule) in [
        ("sa=\"team\"", "unknown-attribute"),
        ("as=\"\"", "empty-value"),
    ] {
        let steps = format!(
            "<steps><task {slip}><description>x</description></task><task><description>{{{{team}}}} {{{{team}}}} {{{{p}}}}</description></task></steps>"
        );
        let head = "<description>x</description><parameters><parameter name=\"p\"/></parameters>";
        let text = format!("<task type=\"sequential\" name=\"a\">{head}{steps}</task>");
        assert_eq!(rules(&text), [rule], "{:?}", describe_findings(&text));
    }
}

#[test]
fn a_text_of_nothing_that_is_seen_is_empty() {
    // One finding for the empty text, one for the character.
    assert_eq!(
        rules("<task name=\"a\"><description>\u{200b}</description></task>").len(),
        2
    );
}

#[test]
fn a_parameter_in_braces_that_fill_nothing_in_is_found() {
    let task = |words: &str| {
        format!(
            "<task name=\"a\"><description>{words}</description><parameters><parameter name=\"ticket\"/></parameters></task>"
        )
    };
    let text = task("Sort {{ticket}}. Close {ticket}} and {ticket}.");
    assert_eq!(
        rules(&text),
        ["single-braces"; 2],
        "{:?}",
        describe_findings(&text)
    );
    assert!(mended(&text).0.contains("Close {{ticket}} and {ticket}."));
    assert_eq!(rules(&task("Sort {{ticket}} as {other}.")), [""; 0]);
    assert_eq!(rules(&task("Sort {ticket}.")), ["unused-parameter"]);
}
