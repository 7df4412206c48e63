//! The formatter changes white space and nothing that anybody reads: twice is once, hashes stay, texts stay.

use ctxc::format::{Broken, Options, format};
use ctxc::syntax::limits::Limits;
use ctxc::{Config, compile_sources};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

fn formatted(text: &str) -> String {
    format(text, &Limits::default(), Options::default()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Names and hashes of everything that a text defines; `None` where it has errors.
fn hashes(text: &str) -> Option<Vec<(String, String)>> {
    let registry = compile_sources(&Config::default(), [("a.xml", text)]).registry?;
    let tasks = registry.tasks().map(|task| (task.name().to_owned(), task.hash().to_string()));
    let fragments = registry.fragments().map(|fragment| (fragment.name().to_owned(), fragment.hash().to_string()));
    Some(tasks.chain(fragments).collect())
}

/// All that is not white space between elements or inside of tags, in order but for settings.
fn holds(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = text
        .split(['<', '>'])
        .map(|part| {
            part.split_whitespace().collect::<Vec<_>>().join(" ").replace(" =", "=").replace("= ", "=").replace(" /", "/")
        })
        .collect();
    parts.retain(|part| !part.is_empty());
    parts.sort();
    parts
}

fn is_kept(text: &str) {
    let once = formatted(text);
    assert_eq!(formatted(&once), once, "twice is not once for {text}");
    assert_eq!(hashes(&once), hashes(text), "{text}\n{once}");
    assert_eq!(holds(&once), holds(text), "{text}\n{once}");
}

#[test]
fn a_template_is_laid_out() {
    let text = "<?xml version=\"1.0\"?>\n<!-- kind -->\n<task   type = \"sequential\"\n name='review' ><description>a\n   b</description>\n\n\n<context_management><!-- none of it --><fresh_context>enabled</fresh_context> <!-- why -->\n<inherit_context> none </inherit_context></context_management><steps>\n<task ref=\"a\" />\n<?ctxc fmt off?><task   ref=\"b\"/><task\nref=\"c\"/><?ctxc fmt on?><task   ref=\"d\"/></steps></task   >";
    assert_eq!(
        formatted(text),
        "<?xml version=\"1.0\"?>\n<!-- kind -->\n<task type=\"sequential\" name='review'>\n  <description>a\n   b</description>\n\n  <context_management>\n    <inherit_context> none </inherit_context>\n    <!-- none of it -->\n    <fresh_context>enabled</fresh_context> <!-- why -->\n  </context_management>\n  <steps>\n    <task ref=\"a\"/>\n    <?ctxc fmt off?><task   ref=\"b\"/><task\nref=\"c\"/><?ctxc fmt on?>\n    <task ref=\"d\"/>\n  </steps>\n</task>\n"
    );
    is_kept(text);
}

#[test]
fn long_tags_are_wrapped_at_the_width() {
    let text = "<task type=\"atomic\" name=\"a-name-of-some-length\" version=\"1.2.3\"><description>d</description></task>";
    let narrow = Options { width: 40, indent: 4 };
    let out = format(text, &Limits::default(), narrow).unwrap();
    assert_eq!(
        out,
        "<task\n        type=\"atomic\"\n        name=\"a-name-of-some-length\"\n        version=\"1.2.3\">\n    <description>d</description>\n</task>\n"
    );
    assert_eq!(format(&out, &Limits::default(), narrow).unwrap(), out);
}

#[test]
fn line_ends_and_what_is_not_ours_stay() {
    let text = "<task name=\"a\"\r\n type=\"atomic\">\r\n<description>d\r\ne</description></task>\r\n";
    assert_eq!(formatted(text), "<task name=\"a\" type=\"atomic\">\r\n  <description>d\r\ne</description>\r\n</task>\r\n");
    let foreign =
        "<task name=\"a\" type=\"atomic\" xmlns:x=\"urn:x\"><description>d</description><x:any   a=\"b\">  <y/>  </x:any></task>";
    assert!(formatted(foreign).contains("<x:any   a=\"b\">  <y/>  </x:any>"));
    is_kept(foreign);
    let older = "<task name=\"a\" type=\"atomic\"><description>d</description><validation_rules   a = 'b'> <c/> </validation_rules></task>";
    assert!(formatted(older).contains("<validation_rules   a = 'b'> <c/> </validation_rules>"));
    is_kept(older);
}

#[test]
fn what_is_broken_or_foreign_is_left_alone() {
    let broken = |text: &str| format(text, &Limits::default(), Options::default()).unwrap_err();
    assert!(matches!(broken("<task><description>a & b</description></task>"), Broken::Syntax(span) if span.start == 21));
    assert!(matches!(broken("<task>"), Broken::Syntax(_)));
    assert_eq!(broken("<project/>"), Broken::Foreign);
}

#[test]
fn shipped_templates_and_examples_of_rules_are_kept() {
    let mut seen = 0;
    for entry in ignore::Walk::new("templates").filter_map(Result::ok) {
        if entry.path().extension().is_some_and(|ending| ending == "xml") {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            is_kept(&text);
            assert_eq!(formatted(&text), text, "{} is laid out", entry.path().display());
            seen += 1;
        }
    }
    for rule in ctxc::rules::list::all() {
        for example in rule.meta.good.iter().chain(rule.meta.bad) {
            if format(example.template, &Limits::default(), Options::default()).is_ok() {
                is_kept(example.template);
                seen += 1;
            }
        }
    }
    assert!(seen > 150, "{seen}");
}

/// A template with white space, comments, attributes and settings in any arrangement.
fn template() -> impl Strategy<Value = String> {
    let gap = prop_oneof![
        Just(""),
        Just(" "),
        Just("\n"),
        Just("\n\n\n"),
        Just("\n      "),
        Just("<!-- c -->"),
        Just(" <!-- c -->\n"),
        Just("\n<!--\n c -->")
    ];
    let setting = prop_oneof![
        Just("<inherit_context>none</inherit_context>"),
        Just("<accumulate_data>true</accumulate_data>"),
        Just("<fresh_context>enabled</fresh_context>"),
        Just("<inherit_context>full</inherit_context>"),
    ];
    let settings = proptest::collection::vec((gap.clone(), setting), 0..4)
        .prop_map(|parts| parts.into_iter().map(|(gap, setting)| [gap, setting].concat()).collect::<Vec<_>>().concat());
    let step = (gap.clone(), 0..4_u8, "[a-z]{1,3}").prop_map(|(gap, kind, name)| {
        let step = match kind {
            0 => format!("<task   type=\"atomic\" as='{name}'>{gap}<description>  do\n {name} </description>{gap}</task>"),
            1 => format!("<task type=\"atomic\"><description>{name}</description><instructions><![CDATA[ <{name}> ]]></instructions></task>"),
            2 => "<?ctxc fmt off?>".to_owned(),
            _ => "<?ctxc fmt on?>".to_owned(),
        };
        format!("{gap}{step}")
    });
    (gap.clone(), gap, settings, proptest::collection::vec(step, 0..5)).prop_map(|(one, other, settings, steps)| {
        format!(
            "{one}<task{} type=\"sequential\"\n\tname=\"t\">{other}<description>d</description>{one}<context_management>{settings}{other}</context_management>{other}<steps>{}{one}</steps>{other}</task>{one}",
            if one.contains('<') { "" } else { one },
            steps.concat()
        )
    })
}

proptest! {
    #[test]
    fn any_arrangement_is_kept(text in template()) {
        if format(&text, &Limits::default(), Options::default()).is_ok() {
            is_kept(&text);
        }
    }
}
