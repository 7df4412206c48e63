//! Calls of providers: the vendors' dialects of responses, and the transport.
//!
//! Builds no request: the body is already rendered. Never prints a key, and sends it only to its
//! own address.

pub mod dialect;
mod dialects;
mod draft;
#[cfg(feature = "cli")]
pub mod endpoint;
mod events;
#[cfg(feature = "cli")]
pub mod http;
pub mod limiter;
pub mod read;
pub mod refusal;
pub mod retry;
pub mod spending;
pub mod throttle;
