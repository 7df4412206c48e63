//! Maps an error of the operating system to the rule that reports it.

use super::{file_too_large, unreadable_file};
pub use crate::base::contained_path::describe_io_error;
use crate::rules::prelude::*;
use std::io;
use std::sync::Arc;

/// The finding for an input that could not be read. `limit` is the maximum size of a file in bytes.
pub fn report(path: &Arc<str>, err: &io::Error, limit: u64) -> Diagnostic {
    if err.kind() == io::ErrorKind::FileTooLarge {
        return file_too_large::report(path, limit);
    }
    unreadable_file::report(path, err)
}
