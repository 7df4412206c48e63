//! Imports of the rules on context settings.

pub(super) use super::words::{facts, is_readable, is_whole, knows_defaults, place, provenance};
pub(super) use crate::rules::prelude::*;
pub(super) use crate::rules::setting_fixes::set;
pub(super) use crate::settings::conflict::exclusivity;
