//! Floor 1: text to tree. Never fails, never does I/O, contains no diagnostic texts and no elements
//! of the language.

mod attribute;
mod bindings;
mod cursor;
pub mod decode;
mod end;
pub mod fault;
mod instruction;
pub mod limits;
mod markup;
mod merge_conflict;
mod namespaces;
mod orphans;
mod pass;
pub(crate) mod placed;
mod raw;
pub mod reader;
mod recover;
mod recover_start_tag;
mod scanner;
mod tag;
mod text;
pub mod tree;
pub(crate) mod value;
mod wellformed;
pub mod write;
pub mod yaml;

pub use fault::{XmlFault, XmlFaultKind};
pub use limits::XmlLimits;
pub use reader::XmlReader;
pub use wellformed::is_ncname;
