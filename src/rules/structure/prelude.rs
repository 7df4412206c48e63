//! Imports of the rules on the structure of templates.

pub(super) use super::family::{children, either, finding, shown, tags, trimmed, words};
pub(super) use crate::rules::prelude::*;
pub(super) use crate::syntax::tree::Element;
pub(super) use crate::template::elements::Kind;
pub(super) use crate::template::fault::{Fault, FaultKind};
