//! The facts of a file for the index of all files.

use ctxc::internals::syntax::{XmlLimits, XmlReader};
use ctxc::internals::template::facts::collect;
use ctxc::internals::template::names::{FileFacts, LinkedFileKind};
use pretty_assertions::assert_eq;

fn facts(text: &str) -> FileFacts {
    let mut reader = XmlReader::new();
    reader.read(text, &XmlLimits::default());
    collect(
        &ctxc::internals::template::lower_document(reader.document(text)),
        "stem",
    )
}

/// References as `kind name at node (args)`, each checked to stand at its span.
fn references(text: &str) -> Vec<String> {
    let line = |reference: &ctxc::internals::template::names::ReferenceFacts| {
        assert_eq!(reference.span.slice(text), &*reference.name);
        let args: Vec<&str> = reference
            .args
            .iter()
            .map(|arg| arg.name.as_deref().unwrap_or("_"))
            .collect();
        format!(
            "{} {} at {} ({})",
            reference.kind.word(),
            reference.name,
            reference.node,
            args.join(" ")
        )
    };
    facts(text).references.iter().map(line).collect()
}

#[test]
fn every_way_to_point_at_a_definition() {
    let text = r#"<task type="sequential">
  <description>d <use fragment="tone"/></description>
  <instructions>{{shorten(report, words=count(report))}} \{{not(it)}}</instructions>
  <system verbatim="true">{{nor(this)}}</system>
  <criteria>{{shorten(report, words = count(report))}}</criteria>
  <inputs><input name="i"><call template="f"><arg>1</arg></call></input></inputs>
  <steps><task ref="other"/><call template="h"><arg name="x">1</arg></call></steps>
</task>"#;
    assert_eq!(
        references(text),
        [
            "use tone at / ()",
            "call shorten at / (_ words)",
            "call count at /args/1 (_)",
            "call f at /inputs/0 (_)",
            "call shorten at /calls/0 (_ words)",
            "call count at /calls/0/args/1 (_)",
            "ref other at /steps/0 ()",
            "call h at /steps/1 (x)",
        ]
    );
}

#[test]
fn what_a_fragment_and_a_system_text_say_of_trust() {
    let text = r#"<library>
  <fragment name="g" trust="untrusted">x</fragment><fragment name="h" trust="trusted"><use fragment="g"/></fragment>
  <task name="t"><description>d <use fragment="g"/></description><system>s <use fragment="h"/></system></task>
</library>"#;
    let found = facts(text);
    let marked: Vec<_> = found
        .definitions
        .iter()
        .map(|one| one.untrusted.map(|span| span.slice(text)))
        .collect();
    assert_eq!(marked, [Some("trust=\"untrusted\""), None, None]);
}

#[test]
fn definitions_and_sources_of_a_library() {
    let text = r#"<library>
  <fragment name="tone" src="tone.md"/>
  <template name="f" params="a, b" returns="number"><task type="atomic"><description>{{a}}{{b}}</description>
    <parameters><parameter name="b" default="1"/></parameters></task></template>
  <task><description src="d.md"/></task>
</library>"#;
    let found = facts(text);
    let names: Vec<_> = found
        .definitions
        .iter()
        .map(|one| (one.kind.word(), &*one.name, one.returns.as_deref()))
        .collect();
    assert_eq!(
        names,
        [
            ("fragment", "tone", None),
            ("template", "f", Some("number")),
            ("task", "stem", None)
        ]
    );
    let params: Vec<_> = found.definitions[1]
        .params
        .iter()
        .map(|param| (&*param.name, param.required))
        .collect();
    assert_eq!(params, [("a", true), ("b", false)]);
    let sources: Vec<_> = found
        .sources
        .iter()
        .map(|source| (&*source.path, source.owner, source.span.slice(text)))
        .collect();
    assert_eq!(sources, [("tone.md", 0, "tone.md"), ("d.md", 2, "d.md")]);
}

#[test]
fn the_schemas_of_answers_are_pulled_in() {
    let text = r#"<library>
  <template name="f" params="" returns="f.json"><task><description>d</description><output_format type="json" schema="f.json"/></task></template>
  <template name="g" params="" returns="g.json"><task><description>d</description><output_format type="json" schema="object"/></task></template>
  <task name="t"><description>d</description><output_format type="json" schema="./t"/></task>
</library>"#;
    let found = facts(text);
    let sources: Vec<_> = found
        .sources
        .iter()
        .map(|source| (source.kind, &*source.path, source.owner))
        .collect();
    assert_eq!(
        sources,
        [
            (LinkedFileKind::Schema, "f.json", 0),
            (LinkedFileKind::Schema, "g.json", 1),
            (LinkedFileKind::Schema, "./t", 2)
        ]
    );
}

#[test]
fn a_call_for_a_typed_parameter_must_return_that_type() {
    let text = r#"<task type="atomic" name="t">
  <description>d</description>
  <parameters><parameter name="i" type="number"/><parameter name="j"/></parameters>
  <inputs>
    <input name="i"><call template="f"><arg><call template="g"/></arg></call></input>
    <input name="j"><call template="h"/></input>
  </inputs>
</task>"#;
    let found = facts(text);
    let expected: Vec<_> = found
        .references
        .iter()
        .map(|one| (&*one.name, one.expects.as_deref()))
        .collect();
    assert_eq!(expected, [("f", Some("number")), ("g", None), ("h", None)]);
}
