//! Imports of the rules on the project file.

pub(super) use super::words::{Form, line, meant, slice};
pub(super) use crate::base::quoted::list;
pub(super) use crate::project::fault::{Fault, FaultKind};
pub(super) use crate::rules::prelude::*;
