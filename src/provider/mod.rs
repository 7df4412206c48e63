//! Who is asked for answers: the vendors' forms of responses, and the way to them.
//!
//! Builds no request: the body was rendered before. No key is ever shown, and none goes to an address but the one it is for.

pub mod clock;
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
pub mod retry_after;
#[cfg(feature = "cli")]
pub mod secret;
pub mod spending;
pub mod throttle;
