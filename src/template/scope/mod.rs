//! Resolves the variables of a file to their bindings and finds unbound ones. Faults are returned
//! as data.
//!
//! Names are bound by parameters, inputs, the results of earlier steps and the variables of a loop,
//! each for its body and the bodies inside that. A function template sees only its parameters. One
//! walk over the model; a text without `{{` costs one search. Never reads another file: the content
//! of a separate text file is passed in.

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
