//! `registry.json`.

use super::body;
use super::list::Draft;
use super::names::REGISTRY;
use super::shape::{
    Field, boolean, describe, empty, list, must, narrowed, object, one_of, only, or_null, part, pattern, such_as, text, where_is,
};
use super::shared::{Written, bodies, code, element, hash, name, node_id, operator, path, rule_name, settings, slot, subtype};
use super::value::Json;
use crate::registry::artifact::{EDITION, ReferenceKind};
use crate::template::elements::Kind;

pub(super) fn draft() -> Draft {
    let root = object(vec![
        must("schema", "the format", only(REGISTRY)),
        must("edition", "the edition of the language that it was compiled by", only(EDITION)),
        must("compiler", "the version of ctxc that wrote it", pattern("^[0-9]+\\.[0-9]+\\.[0-9]+([-+][0-9A-Za-z.+-]+)?$")),
        must("hash", "over the names and hashes of everything below: equal exactly when all of that is", hash()),
        must("tasks", "every task, by name", list(part("task"))),
        must("templates", "every function template, by name", list(part("template"))),
        must("fragments", "every shared text, by name", list(part("fragment"))),
    ]);
    let mut parts = vec![
        (
            "task",
            describe("a task: what an agent is asked to do, and which context it receives", object(definition(parameters()))),
        ),
        ("template", describe("a function over tasks: sees its parameters and nothing else", object(definition(params())))),
        ("fragment", describe("a shared text", object(fragment()))),
        ("source", source()),
        ("parameter", parameter()),
        ("reference", reference()),
        ("warning", warning()),
        ("node", node()),
        ("child", child()),
    ];
    parts.extend(body::parts());
    parts.extend(settings(Written::ByTemplates));
    let about = "The compiled registry: `registry.json`, as `ctxc build` writes it. Every node carries its settings, so that \
                 nothing is resolved at run time.";
    Draft { format: REGISTRY, about, root, parts }
}

/// The keys of a task or function template; `own` are those in which the two differ.
fn definition(own: Vec<Field>) -> Vec<Field> {
    let mut fields = vec![
        must("name", "its name, unique in the registry", name()),
        must("version", "the author's version of it; null where none is written", or_null(text())),
        must("operator", "its type; `ref` where it only stands for another task", operator()),
        must("subtype", "its subtype; null where it has none", subtype()),
        must("source", "where it stands", part("source")),
        must("hash", "over what it means and over everything it refers to; not over where or how it is written", hash()),
    ];
    fields.extend(own);
    fields.extend([
        must("references", "what it refers to by name", list(part("reference"))),
        must("warnings", "findings that did not fail the build", list(part("warning"))),
        must("root", "the task with everything inside it", part("node")),
    ]);
    fields
}

fn parameters() -> Vec<Field> {
    vec![must("parameters", "the variables that it takes, declared or found in its texts", list(part("parameter")))]
}

fn params() -> Vec<Field> {
    vec![
        must("returns", "the type of its result; null where none is written", or_null(text())),
        must("params", "the parameters that a call gives it, in order", list(part("parameter"))),
    ]
}

fn fragment() -> Vec<Field> {
    vec![
        must("name", "the name that `use` gives, unique in the registry", name()),
        must("source", "where it stands", part("source")),
        must("hash", "over its text and the fragments that it uses", hash()),
        must("text", "the text", part("text")),
    ]
}

fn source() -> Json {
    let fields =
        vec![must("path", "the file, relative to the project", path()), must("span", "the element in that file", part("span"))];
    describe("where a definition stands", object(fields))
}

fn parameter() -> Json {
    let types = Kind::Parameter.attribute("type").map_or_else(Vec::new, body::words_of);
    let fields = vec![
        must("name", "the variable's name", text()),
        must("type", "the type of its value; null where none is declared", or_null(such_as(types))),
        must("required", "whether a run has to give it", boolean()),
        must("default", "the value when a run gives none; null where there is none", or_null(text())),
        must("implicit", "found in a text rather than declared", boolean()),
    ];
    describe("a variable that is given from outside", object(fields))
}

fn reference() -> Json {
    let fields = vec![
        must(
            "kind",
            "`ref` to a task, `call` of a function template, `from` a variable, `use` of a fragment",
            one_of(ReferenceKind::ALL.map(ReferenceKind::word)),
        ),
        must("name", "the name that is referred to", text()),
        must("node", "the node that refers to it", node_id()),
    ];
    describe("something that a node names", object(fields))
}

fn warning() -> Json {
    let fields = vec![
        must("code", "the rule's number", code()),
        must("name", "the rule", rule_name()),
        must("span", "the place in the task's file", part("span")),
    ];
    describe("a finding that did not fail the build", object(fields))
}

fn child() -> Json {
    let fields = vec![
        must("slot", "the place it fills", slot()),
        must("as", "the name that its result gets; null where it gets none", or_null(text())),
        must("node", "the node", part("node")),
    ];
    describe("a node inside another", object(fields))
}

fn node() -> Json {
    let fields = vec![
        must("id", "its path inside the task; `/` is the task itself", node_id()),
        must("element", "the element it is written as", element()),
        must("operator", "its type; null for calls and choices, and where it only stands for another task", or_null(operator())),
        must("subtype", "its subtype or part; null where it has none", subtype()),
        must("settings", "the four settings; null where it has no context of its own", or_null(part("settings"))),
        must("body", "what it says itself, by the elements of the language", empty().with("type", "object")),
        must("children", "the nodes inside it, in document order", list(part("child"))),
    ];
    let bare = |body| {
        let null = || empty().with("type", "null");
        narrowed([("operator", null()), ("subtype", null()), ("settings", null()), ("body", part(body))])
    };
    let conditions = vec![
        where_is("element", bodies(), narrowed([("body", part("task_body"))])),
        where_is("element", [Kind::Call.tag()], bare("call_body")),
        where_is("element", [Kind::Cond.tag()], bare("cond_body")),
    ];
    describe("a task, call or choice with everything inside it", object(fields).with("allOf", conditions))
}
