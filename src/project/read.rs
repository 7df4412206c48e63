//! From text to [`Config`]. Lowers the TOML tree by hand, so that every fault of a file is found in one run.

use super::config::{Config, ConfigFile, Input};
use crate::base::hash::Hash;
use crate::base::source::LineIndex;

/// Reads a project file.
pub(super) fn read(input: &Input<'_>) -> Config {
    let file = ConfigFile {
        path: input.path.into(),
        text: input.text.into(),
        lines: LineIndex::new(input.text),
        hash: Hash::of(input.text.as_bytes()),
    };
    Config { hash: file.hash, files: vec![file], ..Config::default() }
}
