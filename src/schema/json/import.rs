//! What `ctxc import` found, made, and could not carry over.

use super::list::Draft;
use super::names::IMPORT;
use super::shape::{describe, list, must, number, object, one_of, only, or_null, part, text, word};
use super::shared::path;

/// Formats, as they are named here.
const FORMATS: [&str; 5] = ["jinja", "dotprompt", "prompty", "langchain", "markdown"];

pub(super) fn draft() -> Draft {
    let states = ["written", "dry", "there", "same", "refused"];
    let prompt = vec![
        must("files", "the file of the prompt; of one in two halves both, the system's first", list(path())),
        must("format", "its format", one_of(FORMATS)),
        must(
            "state",
            "what became of it: its template was written, or would be (dry); a file of that name is there and was left alone, or is \
             the same; it is not carried over, and its notes say why",
            one_of(states),
        ),
        must("task", "the task that it is; null where it is not carried over", or_null(word())),
        must("template", "the template's file; null where it is not carried over", or_null(path())),
        must("parts", "other files whose text the template holds now", list(path())),
        must("notes", "what is to be known about it", list(part("note"))),
    ];
    let note = vec![
        must("path", "the file", path()),
        must("line", "the line from 1; 0: the file as a whole", number(0)),
        must("severity", "error: the prompt is not carried over because of it", one_of(["info", "warning", "error"])),
        must("message", "what it is", word()),
    ];
    let taken = vec![must("path", "the file", path()), must("whole", "a prompt that takes it in", path())];
    let unread = vec![must("path", "the file", path()), must("reason", "why it cannot be read", word())];
    let difference = vec![
        must("line", "the line in the file of samples, from 1", number(1)),
        must("template", "what the sample names", text()),
        must("message", "what is different, with both lines where a byte is", word()),
    ];
    let samples = vec![
        must("total", "the number of samples", number(1)),
        must("equal", "how many came out as expected, byte for byte", number(0)),
        must("differences", "the others", list(part("difference"))),
    ];
    let fields = vec![
        must("schema", "the format", only(IMPORT)),
        must("prompts", "every prompt", list(part("prompt"))),
        must("parts", "files that only others take in, which are no tasks of their own", list(part("taken"))),
        must("unreadable", "files that look like prompts and cannot be read", list(part("unread"))),
        must("plain", "pages in which nothing stands for a value; they were passed over", list(path())),
        must("samples", "what --verify says; null without it", or_null(part("samples"))),
        must(
            "suggestion",
            "what model settings of the prompts may become in ctxc.toml; null where there are none",
            or_null(word()),
        ),
    ];
    let parts = vec![
        ("prompt", describe("a prompt and what became of it", object(prompt))),
        ("note", describe("something to know", object(note))),
        ("taken", describe("a part of others", object(taken))),
        ("unread", describe("a file that cannot be read", object(unread))),
        ("difference", describe("a sample that differs", object(difference))),
        ("samples", describe("the verdict over all samples", object(samples))),
    ];
    let about = "What `ctxc import` found, what it made of it, and what it could not carry over.";
    Draft { format: IMPORT, about, root: object(fields), parts }
}
