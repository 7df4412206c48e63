//! The corpora of the fuzzers, replayed: fixed bugs stay fixed.

#[path = "../../../fuzz/checks/assembler.rs"]
mod assembler;
#[path = "../../../fuzz/checks/lsp.rs"]
mod lsp;
#[path = "../../../fuzz/checks/pipeline.rs"]
pub(crate) mod pipeline;
#[path = "../../../fuzz/checks/project.rs"]
mod project;
#[path = "../../../fuzz/checks/proxy.rs"]
mod proxy;
#[path = "../../../fuzz/checks/reader.rs"]
mod reader;
#[path = "../../../fuzz/checks/recordings.rs"]
mod recordings;
#[path = "../../../fuzz/checks/registry.rs"]
mod registry;
mod replay;
#[path = "../../../fuzz/checks/requests.rs"]
mod requests;
#[path = "../../../fuzz/checks/scenario.rs"]
mod scenario;
#[path = "../../../fuzz/checks/texts.rs"]
mod texts;
