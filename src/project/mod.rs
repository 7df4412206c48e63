//! Floor 4: the project around the templates. Reads `ctxc.toml` from text it is handed; everything has a default,
//! so that nothing needs the file. Faults come back as data; only rules word them.

pub mod config;
pub mod eval;
pub mod fault;
pub mod glob;
pub mod index;
pub mod keys;
pub mod lints;
pub mod models;
pub mod places;
mod read;
pub mod require;
pub mod roles;
pub mod routing;
pub mod row;
pub mod suppressions;
pub mod table;
pub mod unfit;
