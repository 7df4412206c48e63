//! A proxy on loopback: takes the calls of other programs, has them answered (by their provider, from an earlier recording, by a script), and keeps them.
//!
//! The one place with an async runtime. Listens on loopback alone, answers nothing without the token of its run, and connects to no address but the
//! one that a call is for.

mod body;
mod errors;
mod exchange;
mod forward;
pub mod keeper;
pub mod replay;
mod request;
pub mod server;
mod streams;
pub mod strict;
pub mod vendor;
