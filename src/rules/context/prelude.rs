//! Imports of the rules on context settings.

pub(super) use super::words::{
    add_provenance, has_known_defaults, is_readable, is_undamaged, setting_span, task_facts,
};
pub(super) use crate::rules::prelude::*;
pub(super) use crate::rules::setting_fixes::setting_fix;
pub(super) use crate::settings::conflict::check_exclusivity;
