//! What became of every scenario: `ctxc eval`.

use super::list::Draft;
use super::names::SCORECARD;
use super::shape::{boolean, describe, list, must, number, object, one_of, only, or_null, part, text, word};
use super::shared::{Part, hash, name, node_id, path};

pub(super) fn draft() -> Draft {
    let parts = vec![totals(), suite(), case(), fault(), verdict(), place(), trial(), tokens()];
    let root = object(vec![
        must("schema", "the format", only(SCORECARD)),
        must("tool", "the version of ctxc", word()),
        must("mode", "how answers came about: from the scenarios alone, without any model", only("deterministic")),
        must("registry_hash", "the hash of the registry", hash()),
        must("tokenizer", "who counted the tokens where no model says who does", word()),
        must("totals", "how many scenarios", part("totals")),
        must("suites", "the suites, by their file", list(part("suite"))),
        must("cases", "the scenarios, in the order of their files", list(part("case"))),
    ]);
    let about = "What became of every scenario: `ctxc eval --json`. Two runs give the same bytes.";
    Draft { format: SCORECARD, about, root, parts }
}

fn totals() -> Part {
    let fields = vec![
        must("planned", "chosen; the others make it up", number(0)),
        must("passed", "run, and everything that was looked at holds", number(0)),
        must("failed", "run, and something does not", number(0)),
        must("errored", "not tried to an end, inconclusive ones included", number(0)),
        must("carried", "not run, since nothing that decides them moved", number(0)),
    ];
    ("totals", describe("how many scenarios", object(fields)))
}

fn suite() -> Part {
    let fields = vec![
        must("path", "its file, relative to the project", path()),
        must("id", "its id; that of the scenario where the file holds one", name()),
        must("name", "what people call it; null where it has no name", or_null(text())),
        must("version", "its version; null where it has none", or_null(text())),
    ];
    ("suite", describe("a file of scenarios", object(fields)))
}

fn case() -> Part {
    let rule = object(vec![
        must("runs", "trials at most", number(1)),
        must("pass", "trials that must pass; null for a sequential test", or_null(number(1))),
    ]);
    let fields = vec![
        must("id", "its name", name()),
        must("suite", "the id of its suite", name()),
        must("path", "its file, relative to the project", path()),
        must("line", "the line that it begins on", number(1)),
        must("tags", "its tags", list(text())),
        must("role", "the agent role; null for a task alone", or_null(name())),
        must("task", "the task; null where no such role is known", or_null(name())),
        must("node", "the agent inside the task; `/` is the task itself", node_id()),
        must("model", "the model that would be called; null where neither role nor task names one", or_null(word())),
        must("verdict", "what became of it", one_of(["pass", "fail", "inconclusive", "error"])),
        must("carried_from", "the hash of the registry that the verdict was given for; null where it was run", or_null(word())),
        must(
            "answer",
            "where the answer came from; without one the verdict is about the context alone",
            one_of(["not_recorded", "scripted", "not_judged"]),
        ),
        must("trouble", "why it could not be tried; null where it was", or_null(word())),
        must("faults", "why there is no context; none where there is one", list(part("fault"))),
        must("context", "one for each expectation on the context", list(part("verdict"))),
        must("rule", "how often it is tried, and what passes", rule),
        must("stopped_early", "whether more trials were allowed than were needed", boolean()),
        must("trials", "its trials, in order", list(part("trial"))),
        must("tokens", "tokens of the context; null where there is none", or_null(part("tokens"))),
        must("context_hash", "the hash of what decides the context; null where it could not be tried", or_null(hash())),
        must("case_key", "the hash of what the scenario says; null where it could not be tried", or_null(hash())),
    ];
    ("case", describe("one scenario", object(fields)))
}

fn fault() -> Part {
    let fields = vec![
        must("message", "what is wrong", word()),
        must("path", "the file; null where no file is meant", or_null(path())),
        must("line", "the line, from 1; null where it is not known", or_null(number(1))),
    ];
    ("fault", describe("why there is no context", object(fields)))
}

fn verdict() -> Part {
    let fields = vec![
        must("what", "the expectation in words", word()),
        must("line", "the line of the scenario that it is written on", number(1)),
        must("outcome", "what became of it; `skipped` where nobody could look", one_of(["pass", "fail", "skipped"])),
        must("gate", "whether it can fail the scenario", boolean()),
        must("expected", "what was expected", text()),
        must("found", "what was found", text()),
        must("at", "where; null where that says nothing", or_null(part("place"))),
        must("advice", "what else helps: what is there instead, the nearest name", list(word())),
    ];
    ("verdict", describe("one expectation, judged", object(fields)))
}

fn place() -> Part {
    let fields = vec![
        must("segment", "the segment; null where none is meant", or_null(word())),
        must("start", "the first byte of the segment's text, or of the message's or answer's", or_null(number(0))),
        must("end", "one past the last byte", or_null(number(0))),
        must("source", "what the text comes from, where that is no file", or_null(word())),
        must("path", "the file that it comes from, relative to the project", or_null(path())),
        must("line", "the line of that file, from 1", or_null(number(1))),
    ];
    ("place", describe("where something was found", object(fields)))
}

fn trial() -> Part {
    let fields = vec![
        must("verdict", "what became of it", one_of(["pass", "fail"])),
        must("expectations", "one for each expectation on the answer", list(part("verdict"))),
        must("provider", "who answered: the scenario's own script", only("script")),
        must("tokens_in", "tokens of the request", number(0)),
        must("tokens_out", "tokens of the answer", number(0)),
        must("output_hash", "the hash of the answer's text", hash()),
    ];
    ("trial", describe("one trial", object(fields)))
}

fn tokens() -> Part {
    let fields = vec![
        must("total", "those of every segment that stays", number(0)),
        must("prefix", "in front, what a provider's cache can reuse", number(0)),
        must("tokenizer", "who counted them", word()),
    ];
    ("tokens", describe("tokens of a context", object(fields)))
}
