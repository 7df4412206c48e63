//! `survives`: the facts of a session that a compaction must keep.

use crate::scenario::table::{
    KeyGroup, ScenarioKey, ScenarioShape, ScenarioTable, key_names, optional_key,
};
use crate::scenario::values::{MAX_EXACT_NUMBER, read_number, read_whole};
use crate::syntax::yaml::YamlNode;
use serde::Serialize;

/// The word for all facts of a class.
pub const ALL_FACTS: &str = "all";
/// The key of the limit of facts that were used later.
const NEEDED_AGAIN: &str = "needed_again";

/// `survives`.
pub(super) static SURVIVAL_TABLE: ScenarioTable = ScenarioTable {
    what: "`survives`",
    keys: &SURVIVAL_KEYS,
    groups: &[KeyGroup::AtLeastOne(&SURVIVAL_NAMES)],
};

static SURVIVAL_KEYS: [ScenarioKey; 12] = [
    optional_key(
        "instruction",
        ScenarioShape::Share,
        "rules that the agent was given",
    ),
    optional_key(
        "file",
        ScenarioShape::Share,
        "files, whatever the agent did with them",
    ),
    optional_key(
        "file.created",
        ScenarioShape::Share,
        "files that it created",
    ),
    optional_key(
        "file.modified",
        ScenarioShape::Share,
        "files that it changed",
    ),
    optional_key("file.read", ScenarioShape::Share, "files that it read"),
    optional_key("file.seen", ScenarioShape::Share, "files that a call named"),
    optional_key("error", ScenarioShape::Share, "errors of its tools"),
    optional_key("todo", ScenarioShape::Share, "tasks that are not done"),
    optional_key(
        "decision",
        ScenarioShape::Share,
        "decisions with their reasons",
    ),
    optional_key("command", ScenarioShape::Share, "commands that it ran"),
    optional_key(
        "value",
        ScenarioShape::Share,
        "versions, commits, addresses, ports and quantities",
    ),
    optional_key(
        NEEDED_AGAIN,
        ScenarioShape::Whole(0, MAX_EXACT_NUMBER),
        "the maximum number of facts that are dropped although the agent used them later",
    ),
];
static SURVIVAL_NAMES: [&str; 12] = key_names(&SURVIVAL_KEYS);

/// The facts that a compaction must keep.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SurvivalTest {
    /// The minimum share of each class, in the order of the file.
    pub shares: Vec<ClassShare>,
    /// The maximum number of dropped facts that were used later.
    pub needed_again: Option<u64>,
}

/// The minimum share of a class of facts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassShare {
    /// The class: `error`, `file`, `file.modified`.
    pub class: String,
    /// The share from 0 to 1.
    pub min: f64,
}

impl ClassShare {
    /// Describes the share as it is written.
    pub fn describe(&self) -> String {
        let Self { class, min } = self;
        if *min >= 1.0 {
            format!("{class} {ALL_FACTS}")
        } else {
            format!("{class} {min}")
        }
    }
}

impl SurvivalTest {
    pub(super) fn read(node: &YamlNode<'_>) -> Self {
        let mut out = Self::default();
        for entry in node.entries().unwrap_or_default() {
            let value = &entry.value;
            match &*entry.key.value {
                NEEDED_AGAIN => out.needed_again = read_whole(value),
                class => {
                    let is_all = value.text() == Some(ALL_FACTS);
                    let min = if is_all {
                        Some(1.0)
                    } else {
                        read_number(value)
                    };
                    out.shares.extend(min.map(|min| ClassShare {
                        class: class.to_owned(),
                        min,
                    }));
                }
            }
        }
        out
    }

    /// Describes the test as reports print it.
    pub fn describe(&self) -> String {
        let needed = self.needed_again;
        let needed = needed.map(|most| format!("needed again at most {most}"));
        let shares = self.shares.iter().map(ClassShare::describe);
        let parts: Vec<String> = shares.chain(needed).collect();
        format!("survives: {}", parts.join(", "))
    }
}
