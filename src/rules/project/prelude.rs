//! Imports of the rules on the project file.

pub(super) use super::words::{NameForm, fault_line, fault_text, suggest_name};
pub(super) use crate::base::quoted::name_list;
pub(super) use crate::project::project_fault::{ProjectFault, ProjectFaultKind};
pub(super) use crate::rules::prelude::*;
