//! `workspace = true` in a section: it is taken over from the workspace of the project.

use super::value::{FaultSink, TomlKey, TomlValue, read_boolean};
use crate::base::span::Span;
use toml::de::DeValue;

/// The key of a member's section that takes over the section of its workspace.
pub(super) const INHERIT_KEY: &str = "workspace";

/// A section that a member takes over from its workspace.
#[derive(Clone, Copy, Debug)]
pub(super) struct InheritedSection {
    pub(super) name: &'static str,
    /// The span of `true`.
    pub(super) span: Span,
}

/// Reads `workspace = true` of a member's section. Returns false for any other key.
pub(super) fn read_inheritance(
    sink: &mut FaultSink,
    name: &'static str,
    key: &TomlKey<'_>,
    value: &TomlValue<'_>,
    inherited: &mut Vec<InheritedSection>,
) -> bool {
    if key.get_ref() != INHERIT_KEY || matches!(value.get_ref(), DeValue::Table(_)) {
        return false;
    }
    let found = read_boolean(sink, &format!("{name}.{INHERIT_KEY}"), value);
    inherited.extend(
        found
            .filter(|found| found.value)
            .map(|found| InheritedSection {
                name,
                span: found.span,
            }),
    );
    true
}
