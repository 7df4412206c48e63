//! What a lookup finds.

use super::list::Draft;
use super::names::SEARCH;
use super::shape::{describe, list, must, number, object, only, part, text, word};
use super::shared::path;
use super::value::Json;

pub(super) fn draft() -> Draft {
    let score = Json::Object(vec![("type".into(), "number".into()), ("minimum".into(), Json::from(0_u64))]);
    let passage = object(vec![
        must("id", "names it: the path, and the lines where it is not the whole file, such as `docs/runbook.md:12-40`", word()),
        must("path", "its file", path()),
        must("first", "its first line", number(1)),
        must("last", "its last line that is not blank", number(1)),
        must("score", "how well it answers; the best comes first, and ties go by path and line", score),
        must("words", "the words of the query that it holds", list(word())),
        must("text", "its text", text()),
    ]);
    let left = object(vec![
        must("path", "the file, or the pattern of documents that none matches", path()),
        must("why", "why it is left out", word()),
    ]);
    let root = object(vec![
        must("schema", "the format", only(SEARCH)),
        must("query", "what was looked up", text()),
        must("words", "the words of it that are looked for: those that tell passages apart", list(word())),
        must("matches", "the passages that answer, best first", list(part("passage"))),
        must("files", "the number of files that can be looked up", number(0)),
        must("passages", "the number of their passages", number(0)),
        must("skipped", "files that cannot be looked up, by path", list(part("left"))),
    ]);
    let parts =
        vec![("passage", describe("a passage that answers", passage)), ("left", describe("a file that is left out", left))];
    Draft { format: SEARCH, about: "What a lookup of fresh context finds: `ctxc search QUERY --json`.", root, parts }
}
