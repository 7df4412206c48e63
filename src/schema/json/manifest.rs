//! `ctxc manifest --json`.
//!
//! The words of segments stand in `kernel`, which a library without contexts lacks; tests over real manifests hold that these are they.

use super::list::Draft;
use super::names::MANIFEST;
use super::shape::{amount, boolean, describe, list, may, must, number, object, one_of, only, or_null, part, text, word};
use super::shared::{Part, Written, hash, name, node_id, path, settings};
use crate::kernel::context::Kind;
use crate::project::roles::{PROFILES, Tier};

/// What a segment is. What only runs bring (failed attempts, the stage before) is in no manifest.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    let is_known = |kind: &Kind| !matches!(kind, Kind::PreviousOutput | Kind::FailureHistory);
    Kind::ALL.into_iter().filter(is_known).map(Kind::word)
}

const STABILITIES: [&str; 4] = ["fixed", "project", "session", "call"];

pub(super) const SOURCES: [&str; 6] = ["template", "fragment", "file", "schema", "input", "result"];

pub(super) fn draft() -> Draft {
    let mut parts = vec![entry(), routing(), tool_policy(), cost(), segment(), source()];
    parts.extend(settings(Written::Placeless));
    let root = object(vec![
        must("schema", "the format", only(MANIFEST)),
        must("registry_hash", "the hash of the registry that it was made from", hash()),
        must(
            "entries",
            "one for each agent: those of roles by role, then those of tasks that no role plays by task; in document order within each",
            list(part("entry")),
        ),
    ]);
    let about = "What every agent of a project would receive, told before any run: `ctxc manifest --json`.";
    Draft { format: MANIFEST, about, root, parts }
}

fn entry() -> Part {
    let tokenizer = object(vec![
        must("name", "its name", word()),
        must("exact", "whether its figures are those of the vendor's own tokenizer", boolean()),
    ]);
    let budget = object(vec![
        must("tokens", "tokens of its context; null for no limit", or_null(number(0))),
        must("usd", "US$ a call; null for no limit", or_null(amount())),
    ]);
    let total = object(vec![
        must("least", "the least tokens of any run", number(0)),
        must("fixed", "tokens of what is known, where nothing has to go for what is not", number(0)),
        must("bound", "the most tokens of any run; null where nothing bounds them", or_null(number(0))),
    ]);
    let fields = vec![
        must("role", "the agent role; null for a task alone", or_null(word())),
        must("task", "the task", name()),
        must("node", "the agent inside it, through references where it uses others; `/` is the task itself", node_id()),
        must("condition", "when the agent is called at all; null where that depends on nothing", or_null(word())),
        must("model", "the model, by the project's own name; null where it has none for this agent", or_null(word())),
        must("routing", "how it came to the model; null where there is none", or_null(part("routing"))),
        must("profile", "how its segments look", one_of(PROFILES)),
        must("tokenizer", "who counted the tokens", tokenizer),
        must("segments", "what the agent would receive, in the order of the sources", list(part("segment"))),
        may(
            "late",
            "what of the context around it cannot be known before it has run, and is no segment of it",
            list(object(vec![
                must("id", "the id that it would have", word()),
                must("needs", "the inputs that it needs", list(word())),
            ])),
        ),
        must("settings", "the settings that decided it", part("settings")),
        must("tool_policy", "which tools it may use; null where no role says", or_null(part("tool_policy"))),
        must("protected_paths", "patterns of paths that its tools may not touch", list(word())),
        must("budget", "what it may use up", budget),
        must("cost", "US$ for what is sent in one call; null where no price is known", or_null(part("cost"))),
        must("prefix_tokens", "tokens in front that a provider's cache can reuse from call to call", number(0)),
        must("total", "tokens in all", total),
    ];
    ("entry", describe("what one agent would receive", object(fields)))
}

fn routing() -> Part {
    let fields = vec![
        must("reason", "why it is this model, in words", word()),
        must("id", "what its provider calls it", text()),
        must("provider", "the provider", word()),
        must("tier", "how able it is, in the project's judgement", one_of(Tier::WORDS)),
        must("fallback", "the models behind it, in order, for when its provider fails", list(word())),
    ];
    ("routing", describe("how an agent came to its model", object(fields)))
}

fn tool_policy() -> Part {
    let fields = vec![
        must("allowed", "tools that it may use: names, or how names begin with `*` behind", list(word())),
        must("blocked", "tools that it may not use although they are allowed", list(word())),
    ];
    ("tool_policy", describe("which tools an agent may use", object(fields)))
}

pub(super) fn cost() -> Part {
    let fields = vec![
        must("first", "for what is known, when nothing was sent before", amount()),
        must("again", "for what is known, when the provider's cache still has the reusable prefix", amount()),
        must("most", "at the most that the context can have; null where nothing bounds it", or_null(amount())),
    ];
    ("cost", describe("US$ for what is sent in one call; what is answered costs more", object(fields)))
}

fn segment() -> Part {
    let fields = vec![
        must("id", "names it within its entry, such as `system` or `file:docs/runbook.md`", word()),
        must("kind", "what it is", one_of(kinds())),
        must(
            "priority",
            "whose turn it is when room runs out: the greatest is cut or dropped first; 0 and 1 never",
            number(0).with("maximum", 5),
        ),
        must("position", "where it stands, from 0; null where the budget leaves no room for it", or_null(number(0))),
        must("stability", "how long it stays the same from call to call", one_of(STABILITIES)),
        must("source", "where what is known of its text comes from, each source once", list(part("source"))),
        must("condition", "when it is there at all; null where that depends on nothing", or_null(word())),
        must("variable", "values and results that it waits for; none where its text is known", list(word())),
        must("tokens", "tokens of what is known of it, its heading and fences included", number(0)),
        must(
            "least",
            "the least tokens of any run: none where it may not be there, or may have to go for what is not known",
            number(0),
        ),
        must("bound", "the most tokens of any run; null where nothing bounds it", or_null(number(0))),
        must("hash", "the hash of what is known of its text", hash()),
    ];
    ("segment", describe("a block of context", object(fields)))
}

fn source() -> Part {
    let fields = vec![
        must("kind", "what it is", one_of(SOURCES)),
        must("name", "the name of the definition, value or step, or the file's path", name()),
        must("path", "the file, relative to the project; null for values and results", or_null(path())),
        must("hash", "the hash of what is of it in the segment", hash()),
    ];
    ("source", describe("where text comes from", object(fields)))
}
