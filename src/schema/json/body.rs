//! The `body` of a node: a key for each element of the language by that element's row of the table.
//!
//! Nothing in it is required of an author here: a project may let through what a rule would refuse, and the registry
//! then says what is written.

use super::shape::{
    Field, boolean, describe, empty, list, list_of, may, must, number, object, one_of, only, or_null, part, such_as, text,
};
use super::shared::Part;
use super::value::Json;
use crate::template::elements::{Attr, Kind, Values};
use crate::template::parts::FileSource;

/// What an element is for.
fn doc(kind: Kind) -> &'static str {
    kind.spec().doc
}

/// What an attribute is for.
fn attribute(kind: Kind, name: &str) -> &'static str {
    kind.attribute(name).map_or("", |attribute| attribute.doc)
}

/// The words that the language knows for an attribute.
pub(super) fn words_of(attribute: &Attr) -> Vec<&'static str> {
    match attribute.values {
        Values::OneOf(words) => words.to_vec(),
        Values::Name | Values::Any | Values::Bool | Values::Count => Vec::new(),
    }
}

/// A word as written: those of the table, or another one where a project lets it through.
fn written(kind: Kind, name: &str) -> Json {
    such_as(kind.attribute(name).map_or_else(Vec::new, words_of))
}

/// A text element as a key of the same name.
fn prose(name: &'static str, kind: Kind) -> Field {
    may(name, doc(kind), part("text"))
}

fn untrusted() -> Field {
    may("trust", "there where the value comes from outside: it is fenced when rendered", only("untrusted"))
}

/// Every part that bodies are made of.
pub(super) fn parts() -> Vec<Part> {
    vec![
        ("task_body", describe("what a task says itself; what is not written is left out", object(task()))),
        ("call_body", describe("what a call says itself", object(call()))),
        ("cond_body", describe("what a choice says itself", object(cond()))),
        ("text", prose_part()),
        ("input", input()),
        ("files", files()),
        ("command", command()),
        ("env", env()),
        ("kept", kept()),
    ]
}

fn task() -> Vec<Field> {
    let mut fields = vec![
        may("ref", "the registered task that stands in this place", text()),
        may("version", attribute(Kind::Task, "version"), text()),
        prose("description", Kind::Description),
        prose("system", Kind::System),
        prose("instructions", Kind::Instructions),
        prose("criteria", Kind::Criteria),
        may("constraints", doc(Kind::Constraints), list(part("text"))),
        may("provider", doc(Kind::Provider), text()),
        may("model", "the model's name; the one that is tried first where there is a fallback", text()),
        may("fallback", doc(Kind::Fallback), text()),
        may("parameters", doc(Kind::Parameters), list(parameter())),
        may("inputs", doc(Kind::Inputs), list(part("input"))),
        may("context_relevance", doc(Kind::ContextRelevance), list(relevance())),
        may("file_paths", doc(Kind::FilePaths), part("files")),
        may("output_format", doc(Kind::OutputFormat), output()),
        may("history", doc(Kind::History), history()),
        may("examples", doc(Kind::Examples), list(example())),
        may("initial_value", doc(Kind::InitialValue), part("input")),
        may("command", doc(Kind::Command), part("command")),
        may("timeout_ms", "how long the command may take, in milliseconds", number(0)),
        may("env", doc(Kind::Env), part("env")),
        may("cwd", doc(Kind::Cwd), text()),
        may("max_iterations", "how many rounds at most; the language's default where none is written", number(0)),
        may("termination_condition", doc(Kind::TerminationCondition), text()),
    ];
    fields.push(may("deprecated", "elements of older dialects, as they are written", list(part("kept"))));
    fields.push(may("extensions", "elements of other namespaces, as they are written", list(part("kept"))));
    fields
}

fn call() -> Vec<Field> {
    vec![may("template", attribute(Kind::Call, "template"), text()), may("args", "the arguments, in order", list(part("input")))]
}

fn cond() -> Vec<Field> {
    vec![must("tests", "the condition of each case, in order; null where none is written", list(or_null(text())))]
}

fn prose_part() -> Json {
    let words = vec![must("text", "words for the agent", text())];
    let used = vec![must("use", "the fragment whose text stands here", text())];
    let pieces = list(empty().with("anyOf", vec![object(words), object(used)]));
    let fields = vec![
        may("text", "the words, `{{…}}` included, without the indentation of the file", text()),
        may("parts", "the words in pieces, with fragments between them", pieces),
        may("src", "the file that the words come from, as written", text()),
        may("syntax", "there where the text is a template of Jinja", only("jinja")),
        may("verbatim", "there where `{{…}}` is not substituted", empty().with("const", true)),
        untrusted(),
    ];
    let either = ["text", "parts"].map(|key| empty().with("required", list_of([key])));
    describe("a text for the agent", object(fields).with("oneOf", Vec::from(either)))
}

fn parameter() -> Json {
    object(vec![
        may("name", attribute(Kind::Parameter, "name"), text()),
        may("type", attribute(Kind::Parameter, "type"), written(Kind::Parameter, "type")),
        must("required", "whether a run has to give it", boolean()),
        may("default", attribute(Kind::Parameter, "default"), text()),
        untrusted(),
    ])
}

fn input() -> Json {
    let value = empty().with("anyOf", vec![part("text"), one_of(["task", "call"])]);
    let fields = vec![
        may("name", attribute(Kind::Input, "name"), text()),
        may("from", attribute(Kind::Input, "from"), text()),
        may("value", "a text; or `task` or `call` where it is the result of the child in the slot of the same number", value),
        untrusted(),
    ];
    let both = empty().with("required", list_of(["from", "value"]));
    describe("a named value", object(fields).with("not", both))
}

fn relevance() -> Json {
    object(vec![may("name", attribute(Kind::RelevanceInput, "name"), text()), must("include", "whether it counts", boolean())])
}

fn files() -> Json {
    let fields = vec![
        must("source", "where the list comes from", one_of(FileSource::ALL.map(FileSource::word))),
        may("paths", "files and patterns, relative to the project", list(text())),
        may("command", doc(Kind::FilesCommand), text()),
        may("description", doc(Kind::FilesDescription), part("text")),
    ];
    describe(doc(Kind::FilePaths), object(fields))
}

fn output() -> Json {
    // What stands in it is for the draft that it names: nothing here holds it to more than that.
    let content = empty().with("type", list_of(["object", "boolean"]));
    object(vec![
        may("type", attribute(Kind::OutputFormat, "type"), written(Kind::OutputFormat, "type")),
        may("schema", attribute(Kind::OutputFormat, "schema"), text()),
        may("content", "the JSON Schema in the file that `schema` names, its members in the order of that file", content),
    ])
}

fn history() -> Json {
    object(vec![
        may("turns", attribute(Kind::History, "turns"), number(1)),
        may("tokens", attribute(Kind::History, "tokens"), number(1)),
        may("compacted", "there where results of tools before the last turn are left out", empty().with("const", true)),
    ])
}

fn example() -> Json {
    object(vec![prose("input", Kind::ExampleInput), prose("output", Kind::ExampleOutput)])
}

fn command() -> Json {
    let fields = vec![
        may("line", "the command in one line", part("text")),
        may("args", "the program and its arguments, each taken as it is", list(part("text"))),
        may("shell", attribute(Kind::Command, "shell"), written(Kind::Command, "shell")),
    ];
    let either = ["line", "args"].map(|key| empty().with("required", list_of([key])));
    describe(doc(Kind::Command), object(fields).with("oneOf", Vec::from(either)))
}

fn env() -> Json {
    let var = object(vec![may("name", attribute(Kind::Var, "name"), text()), must("value", "its value", part("text"))]);
    let fields = vec![
        must("inherit", "what of our own environment it sees", written(Kind::Env, "inherit")),
        must("vars", "variables of its own, in order", list(var)),
    ];
    describe(doc(Kind::Env), object(fields))
}

fn kept() -> Json {
    let fields = vec![must("element", "its name", text()), must("xml", "the whole element as it is written", text())];
    describe("an element that is kept as it is written", object(fields))
}
