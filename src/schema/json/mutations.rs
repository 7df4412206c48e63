//! What no scenario would notice: `ctxc eval --mutate`.

use super::list::Draft;
use super::names::MUTATIONS;
use super::shape::{describe, list, may, must, number, object, one_of, only, part, word};
use super::shared::{name, node_id};

/// The kinds of changes, as they are written.
pub const CHANGES: [&str; 6] = ["segment_dropped", "segment_halved", "setting", "tool", "protected_path", "model"];

pub(super) fn draft() -> Draft {
    let change = object(vec![
        must("change", "what could change by mistake", one_of(CHANGES)),
        may(
            "name",
            "the segment by its id, the setting, the tool that is taken away (with `!` one that is blocked), or the path",
            word(),
        ),
        may("value", "what the setting resolves to instead", word()),
    ]);
    let agent = object(vec![
        must("subject", "the agent role, else the task", name()),
        must("node", "the agent inside the task", node_id()),
        must("scenarios", "how many scenarios pass, and so were asked", number(1)),
        must("tried", "how many changes were tried", number(0)),
        must("noticed", "how many of them some scenario notices", number(0)),
        must("unnoticed", "the others", list(part("change"))),
    ]);
    let root = object(vec![
        must("schema", "the format", only(MUTATIONS)),
        must("agents", "whom scenarios test, by subject and node", list(part("agent"))),
        must("not_asked", "the scenarios that do not pass as it is, and the files of which nothing is run", list(word())),
    ]);
    let parts = vec![("agent", describe("an agent", agent)), ("change", describe("a change", change))];
    let about = "The changes that no scenario would notice: `ctxc eval --mutate --json`.";
    Draft { format: MUTATIONS, about, root, parts }
}
