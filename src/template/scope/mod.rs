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

pub use fault::{ParameterOrigin, ScopeFault, ScopeFaultKind, TextFileSpan, UnreadValue};
pub use flow::LinkDetail;
pub(crate) use flow::{MAX_PARTS, value_aliases};
pub use state::{ContextReach, ImplicitParameter, Scopes, TextSources};
pub use trace::{NameTrace, TracedBinding, TracedBindingKind, TracedUse, UseForm, UseTarget};
pub use walk::{resolve_names, trace_names};
