//! Floor 11: packages: the files of a project with the proof that they work.
//!
//! No terminal, no network, and no file is written here.

mod archive;
mod file_choice;
pub mod surface;
pub mod surface_diff;

pub use archive::{PACKAGE_FILE, PackedFile, write_archive};
pub use file_choice::select_files;
