//! Which variables a file uses, what binds each, and what nothing binds. Faults come back as data.
//!
//! Names are bound by parameters, inputs, the results of earlier steps and the variables of a loop, each for the body
//! it stands in and the bodies inside that. A function template sees its parameters and nothing else. One walk over the
//! model; text without `{{` costs one search. Looks into no other file: a text kept elsewhere is handed in.

#[cfg(feature = "assemble")]
mod default_trial;
mod env;
mod fault;
mod flow;
mod record;
mod rounds;
mod state;
mod steps;
mod texts;
mod trace;
mod unread;
mod used;
mod walk;

pub use fault::{Fault, FaultKind, Inside, Origin, Unread};
pub use flow::Purpose;
pub(crate) use flow::{MOST_PARTS, chain};
pub use state::{Implicit, Reach, Scopes, Sources};
pub use trace::{Bound, BoundKind, How, Target, Trace, TracedUse};
pub use walk::{resolve, trace};
