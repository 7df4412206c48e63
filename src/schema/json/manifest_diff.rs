//! `ctxc manifest diff OLD [NEW] --json`.

use super::list::Draft;
use super::manifest::{SOURCES, cost, kinds};
use super::names::MANIFEST_DIFF;
use super::shape::{boolean, describe, list, must, narrowed, number, object, one_of, only, or_null, part, word};
use super::shared::{Part, any_value, by_setting, hash, name, node_id, path, setting_name, values};
use crate::settings::provenance::Layer;

pub(super) fn draft() -> Draft {
    let mut parts: Vec<Part> = values().collect();
    parts.extend([side(), moved(), agent(), change(), cost(), paid(), segment(), cause(), setting(), place()]);
    let root = object(vec![
        must("schema", "the format", only(MANIFEST_DIFF)),
        must("old", "what there was before", part("side")),
        must("new", "what there is after", part("side")),
        must("total", "tokens of what is known before a run, over all agents", part("moved")),
        must("added", "agents that only the new side has", list(part("agent"))),
        must("removed", "agents that only the old side has", list(part("agent"))),
        must("changed", "agents that receive something else", list(part("change"))),
    ]);
    let about = "What each agent receives that it did not before, and what moved it: `ctxc manifest diff OLD [NEW] --json`.";
    Draft { format: MANIFEST_DIFF, about, root, parts }
}

fn side() -> Part {
    let fields = vec![
        must("name", "what was named: a file, a folder, a git revision; `work tree` where nothing was", word()),
        must("registry_hash", "the hash of its registry", hash()),
    ];
    ("side", describe("one side of the comparison", object(fields)))
}

fn moved() -> Part {
    let fields = vec![must("from", "tokens before", number(0)), must("to", "tokens after", number(0))];
    ("moved", describe("a number of tokens before and after", object(fields)))
}

fn who() -> Vec<super::shape::Field> {
    vec![
        must("agent", "what people call it", word()),
        must("role", "the agent role; null for a task alone", or_null(name())),
        must("task", "the task", name()),
        must("node", "the agent inside it; `/` is the task itself", node_id()),
    ]
}

fn agent() -> Part {
    let mut fields = who();
    fields.push(must("tokens", "tokens of what is known before a run", number(0)));
    fields.push(must("cost", "US$ for what is sent in one call; null where no price is known", or_null(part("cost"))));
    ("agent", describe("an agent that came or went", object(fields)))
}

fn change() -> Part {
    let mut fields = who();
    fields.extend([
        must("total", "tokens of what is known before a run", part("moved")),
        must("prefix", "tokens in front that a provider's cache can reuse", part("moved")),
        must("cost", "US$ for what is sent in one call", part("paid")),
        must("segments", "segments that changed, in the order of the new side; those that are gone last", list(part("segment"))),
        must("settings", "settings that changed", list(part("setting"))),
        must("other", "what else changed, in words", list(word())),
    ]);
    ("change", describe("an agent that receives something else", object(fields)))
}

fn paid() -> Part {
    let fields = vec![
        must("from", "before; null where no price was known", or_null(part("cost"))),
        must("to", "after; null where no price is known", or_null(part("cost"))),
    ];
    ("paid", describe("what a call costs before and after", object(fields)))
}

fn segment() -> Part {
    let fields = vec![
        must("id", "names it within its agent, such as `system` or `file:docs/runbook.md`", word()),
        must("kind", "what it is", one_of(kinds())),
        must("change", "what became of it", one_of(["added", "removed", "changed"])),
        must("tokens", "tokens of what is known of it; 0 on the side that does not have it", part("moved")),
        must("moved_by", "what moved it, each once", list(part("cause"))),
        must("words", "what there is to say beside its tokens", list(word())),
    ];
    ("segment", describe("a block of context that changed", object(fields)))
}

fn cause() -> Part {
    let fields = vec![
        must("what", "a setting, or what its text comes from", one_of(["setting"].into_iter().chain(SOURCES))),
        must("name", "the name of the setting, definition, value or step, or the file's path", name()),
        must("path", "the file, relative to the project; null where there is none", or_null(path())),
        must("line", "the line there, from 1; null where it is not known", or_null(number(1))),
    ];
    ("cause", describe("what moved a segment", object(fields)))
}

fn setting() -> Part {
    let fields = vec![
        must("setting", "its name", setting_name()),
        must("of", "the node around the agent that it is set for; null for the agent's own", or_null(word())),
        must("from", "its value before; null for “does not apply”", any_value()),
        must("to", "its value now; null for “does not apply”", any_value()),
        must("applies", "whether it has any effect now", boolean()),
        must("origin", "where the new value comes from", part("place")),
        must("origin_before", "where the old value came from", part("place")),
    ];
    let conditions = by_setting(|value| narrowed([("from", value.clone()), ("to", value)]));
    ("setting", describe("a setting with another value or origin", object(fields).with("allOf", conditions)))
}

fn place() -> Part {
    // No artifact holds a request yet.
    let layers = Layer::ALL.into_iter().filter(|layer| *layer != Layer::Request).map(Layer::as_str);
    let fields = vec![
        must("layer", "the layer that set it", one_of(layers)),
        must("row", "the type that the layer speaks about, such as `atomic` or `atomic.subtask`", word()),
        must("path", "the file, relative to the project; null for the language's own table", or_null(path())),
        must("line", "the line there, from 1; null where it is not known: a manifest holds none", or_null(number(1))),
    ];
    ("place", describe("where a setting's value comes from", object(fields)))
}
