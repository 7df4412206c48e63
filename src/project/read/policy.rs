//! Reads `[policy]` and `[mcp.NAME]`: the restrictions on a run's permissions, and the tool servers
//! that it starts.

use super::row::{
    KeyReader, KeyValue, optional_row, read_rows, required_row, row_keys, with_names,
};
use super::value::{FaultSink, TomlValue, check_name, read_table, report_missing_keys};
use crate::base::span::Spanned;
use crate::project::config::{McpServerConfig, Policy};
use crate::project::table::{ConfigShape, ConfigTable, key_table as of};
use crate::scenario::table::NamedThingKind;
use std::collections::BTreeMap;
use toml::de::DeValue;

/// `[policy]`.
pub(super) static POLICY: ConfigTable = of(
    "limits on the permissions that a user grants to runs; it grants nothing by itself",
    &row_keys::<_, { POLICY_ROWS.len() }>(POLICY_ROWS),
);

pub(super) const POLICY_ROWS: &[KeyReader<Policy>] = &[
    with_names(
        NamedThingKind::Argument,
        &optional_row(
            "commands",
            ConfigShape::Texts,
            "prefixes of command lines that may run; default: every one that the user permits",
            |at, policy| {
                policy.commands = Some(at.read_texts().into_iter().map(|one| one.value).collect());
            },
        ),
    ),
    optional_row(
        "blocked",
        ConfigShape::Texts,
        "texts that no command line may contain",
        |at, policy| {
            policy.blocked = at.read_texts().into_iter().map(|one| one.value).collect();
        },
    ),
    optional_row(
        "env",
        ConfigShape::Texts,
        "variables that commands see besides the usual ones, such as PATH and HOME",
        |at, policy| {
            policy.env = read_variables(at);
        },
    ),
];

/// `[mcp.NAME]`.
pub(super) static SERVER: ConfigTable = of(
    "a server of tools",
    &row_keys::<_, { SERVER_ROWS.len() }>(SERVER_ROWS),
);

const SERVER_ROWS: &[KeyReader<McpServerConfig>] = &[
    with_names(
        NamedThingKind::Argument,
        &required_row(
            "command",
            ConfigShape::Texts,
            "the program that speaks MCP on its standard input and output, and its arguments",
            |at, server| {
                server.command = at.read_texts().into_iter().map(|one| one.value).collect();
            },
        ),
    ),
    optional_row(
        "env",
        ConfigShape::Texts,
        "variables that it sees besides the usual ones",
        |at, server| server.env = read_variables(at),
    ),
];

pub(super) fn read_servers(
    sink: &mut FaultSink,
    value: &TomlValue<'_>,
) -> BTreeMap<String, McpServerConfig> {
    let mut found = BTreeMap::new();
    for (key, value) in read_table(sink, "mcp", value).into_iter().flatten() {
        let Some(name) = check_name(sink, "mcp", key) else {
            continue;
        };
        let mut server = McpServerConfig::default();
        let path = format!("mcp.{}", name.value);
        read_rows(sink, &path, value, SERVER_ROWS, &mut server);
        if let DeValue::Table(own) = value.get_ref() {
            report_missing_keys(sink, Spanned::new(&path, name.span), own, &SERVER);
        }
        if !server.command.is_empty() {
            found.insert(name.value, server);
        }
    }
    found
}

/// Reads the names of environment variables.
pub(super) fn read_variables(at: &mut KeyValue<'_, '_>) -> Vec<String> {
    let mut names = Vec::new();
    for name in at.read_texts() {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.value.is_empty() || !name.value.chars().all(is_name) {
            at.report_bad_value(&name, "the name of an environment variable");
        } else {
            names.push(name.value);
        }
    }
    names
}
