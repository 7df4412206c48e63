//! What this repository's own tests, benchmarks and fuzzers look into. No part of the library: it changes without notice.

pub mod base {
    pub use crate::base::*;
}
#[cfg(feature = "cli")]
pub mod cli {
    pub use crate::cli::*;
}
#[cfg(feature = "assemble")]
pub mod context {
    pub use crate::context::*;
}
#[cfg(feature = "eval")]
pub mod eval {
    pub use crate::eval::*;
}
#[cfg(feature = "compile")]
pub mod format {
    pub use crate::format::*;
}
#[cfg(feature = "cli")]
pub mod import {
    pub use crate::import::*;
}
#[cfg(any(feature = "compile", feature = "assemble"))]
pub mod jinja {
    pub use crate::jinja::*;
}
pub mod kernel {
    pub use crate::kernel::*;
}
#[cfg(feature = "lsp")]
pub mod lsp {
    pub use crate::lsp::*;
}
#[cfg(any(feature = "compile", feature = "assemble"))]
pub mod project {
    pub use crate::project::*;
}
#[cfg(feature = "eval")]
pub mod provider {
    pub use crate::provider::*;
}
#[cfg(feature = "eval")]
pub mod record {
    pub use crate::record::*;
}
pub mod registry {
    pub use crate::registry::*;
}
#[cfg(feature = "compile")]
pub mod request {
    pub use crate::request::*;
}
#[cfg(feature = "compile")]
pub mod rules {
    pub use crate::rules::*;
}
#[cfg(feature = "eval")]
pub mod run {
    pub use crate::run::*;
}
#[cfg(feature = "compile")]
pub mod scenario {
    pub use crate::scenario::*;
}
#[cfg(feature = "compile")]
pub mod schema {
    pub use crate::schema::*;
}
pub mod settings {
    pub use crate::settings::*;
}
#[cfg(feature = "store")]
pub mod store {
    pub use crate::store::*;
}
#[cfg(feature = "compile")]
pub mod syntax {
    pub use crate::syntax::*;
}
pub mod template {
    pub use crate::template::*;
}
#[cfg(feature = "fs")]
pub mod work {
    pub use crate::work::*;
}
