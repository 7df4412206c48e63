//! A proxy on loopback: receives the calls of other programs, has them answered (by their provider,
//! an earlier recording or a script), and records them.
//!
//! The only module with an async runtime. Listens on loopback only, answers nothing without the
//! token of its run, and connects to no address except that of a call.

mod body;
pub mod call_recorder;
mod exchange;
mod forward;
pub mod replay;
pub mod request;
pub mod server;
mod streams;
pub mod vendor;
