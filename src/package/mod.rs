//! Floor 11: packages: the files of a project with the proof that they work.
//!
//! No terminal. `git` alone fetches, and `store` alone writes, into the user's cache folder; nothing
//! does either unless a command of the user asks for it.

mod archive;
mod file_choice;
pub mod git;
pub mod release;
pub mod resolve;
pub mod store;
pub mod surface;
pub mod surface_diff;

pub use archive::{PACKAGE_FILE, PackedFile, write_archive};
pub use file_choice::select_files;
