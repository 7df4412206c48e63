//! Floor 11: packages: the files of a project with the proof that they work.
//!
//! No terminal. `git` alone fetches, and `store` alone writes, into the user's cache folder; nothing
//! does either unless a command of the user asks for it.

mod archive;
pub mod contract;
mod document;
mod file_choice;
mod file_name;
pub mod git;
pub mod matrix;
pub mod release;
pub mod resolve;
pub mod store;
pub mod surface;
pub mod surface_diff;
mod unpack;
mod version_step;

pub use archive::{PACKAGE_FILE, PackedFile, write_archive};
pub use document::PackageDocument;
pub use file_choice::{is_recording, select_files};
pub use unpack::{UnpackedPackage, read_package};
pub use version_step::VersionStep;
