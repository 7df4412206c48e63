//! From the operating system's answer to the rule that words it.

use super::{file_too_large, unreadable_file};
pub use crate::base::contained_path::reason;
use crate::rules::prelude::*;
use std::io;
use std::sync::Arc;

/// The finding for an input that could not be read. `limit` is the size in bytes above which files are refused.
pub fn word(path: &Arc<str>, err: &io::Error, limit: u64) -> Diagnostic {
    if err.kind() == io::ErrorKind::FileTooLarge {
        return file_too_large::word(path, limit);
    }
    unreadable_file::word(path, err)
}
