//! Reads `[policy]` and `[mcp.NAME]`: the restrictions on a run's permissions, and the tool servers
//! that it starts.

use super::row::{At, Row, keys, naming, needed, row, rows};
use super::value::{Sink, Value, named, needs, table};
use crate::project::config::{Policy, Server};
use crate::project::table::{Shape, Table, table as of};
use crate::scenario::table::Thing;
use std::collections::BTreeMap;
use toml::de::DeValue;

/// `[policy]`.
pub(super) static POLICY: Table = of(
    "what runs may do of what their user permits; it permits nothing by itself",
    &keys::<_, { POLICY_ROWS.len() }>(POLICY_ROWS),
);

pub(super) const POLICY_ROWS: &[Row<Policy>] = &[
    naming(
        Thing::Argument,
        &row(
            "commands",
            Shape::Texts,
            "how the lines of commands begin that may run; every one that the user permits where it is left out",
            |at, policy| {
                policy.commands = Some(at.texts().into_iter().map(|one| one.value).collect());
            },
        ),
    ),
    row(
        "blocked",
        Shape::Texts,
        "what no line of a command may have in it",
        |at, policy| {
            policy.blocked = at.texts().into_iter().map(|one| one.value).collect();
        },
    ),
    row(
        "env",
        Shape::Texts,
        "variables that commands see besides the usual ones, such as PATH and HOME",
        |at, policy| {
            policy.env = variables(at);
        },
    ),
];

/// `[mcp.NAME]`.
pub(super) static SERVER: Table = of(
    "a server of tools",
    &keys::<_, { SERVER_ROWS.len() }>(SERVER_ROWS),
);

const SERVER_ROWS: &[Row<Server>] = &[
    naming(
        Thing::Argument,
        &needed(
            "command",
            Shape::Texts,
            "the program that speaks MCP on its standard input and output, and its arguments",
            |at, server| {
                server.command = at.texts().into_iter().map(|one| one.value).collect();
            },
        ),
    ),
    row(
        "env",
        Shape::Texts,
        "variables that it sees besides the usual ones",
        |at, server| server.env = variables(at),
    ),
];

pub(super) fn servers(sink: &mut Sink, value: &Value<'_>) -> BTreeMap<String, Server> {
    let mut found = BTreeMap::new();
    for (key, value) in table(sink, "mcp", value).into_iter().flatten() {
        let Some(name) = named(sink, "mcp", key) else {
            continue;
        };
        let mut server = Server::default();
        let path = format!("mcp.{}", name.value);
        rows(sink, &path, value, SERVER_ROWS, &mut server);
        if let DeValue::Table(own) = value.get_ref() {
            needs(sink, (&path, name.span), own, &SERVER);
        }
        if !server.command.is_empty() {
            found.insert(name.value, server);
        }
    }
    found
}

/// Reads the names of environment variables.
pub(super) fn variables(at: &mut At<'_, '_>) -> Vec<String> {
    let mut names = Vec::new();
    for name in at.texts() {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.value.is_empty() || !name.value.chars().all(is_name) {
            at.bad(&name, "the name of an environment variable");
        } else {
            names.push(name.value);
        }
    }
    names
}
