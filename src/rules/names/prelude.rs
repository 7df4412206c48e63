//! Imports of the rules on names.

pub(super) use crate::rules::prelude::*;
pub(super) use crate::rules::structure::family::{file_finding, short_excerpt};
pub(super) use crate::syntax::tree::Element;
pub(super) use crate::syntax::write::set_attribute;
pub(super) use crate::template::elements::ElementKind;
pub(super) use crate::template::scope::{ScopeFault, ScopeFaultKind};
