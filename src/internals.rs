//! The rooms of the crate, open to this repository's own tests, benchmarks and fuzzers. Not part of
//! the library: it changes without notice.

macro_rules! rooms {
    ($($(#[$needs:meta])? $room:ident)*) => {
        $($(#[$needs])? pub mod $room { pub use crate::$room::*; })*
    };
}

rooms! {
    base
    #[cfg(feature = "cli")] cli
    #[cfg(feature = "assemble")] context
    #[cfg(feature = "eval")] eval
    #[cfg(feature = "compile")] format
    #[cfg(feature = "cli")] import
    #[cfg(any(feature = "compile", feature = "assemble"))] jinja
    kernel
    #[cfg(feature = "lsp")] lsp
    #[cfg(feature = "cli")] package
    #[cfg(any(feature = "compile", feature = "assemble"))] project
    #[cfg(feature = "eval")] provider
    #[cfg(feature = "eval")] record
    registry
    #[cfg(feature = "compile")] request
    #[cfg(feature = "compile")] rules
    #[cfg(feature = "eval")] run
    #[cfg(feature = "compile")] scenario
    #[cfg(feature = "compile")] schema
    #[cfg(feature = "eval")] session
    settings
    #[cfg(feature = "store")] store
    #[cfg(feature = "compile")] syntax
    template
    #[cfg(feature = "fs")] work
}
