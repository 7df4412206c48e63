//! Imports of the rules on requests.

pub(super) use super::cx::{RequestCx, part_texts, shorten};
pub(super) use super::pairs::called_tool;
pub(super) use crate::kernel::conversation::{Part, Speaker};
pub(super) use crate::request::dialect::Dialect;
pub(super) use crate::request::model::{CacheMark, RequestMessage, RequestPart};
pub(super) use crate::request::public_models::DEFAULT_CACHE_FLOOR;
pub(super) use crate::request::segments::build_segments;
pub(super) use crate::rules::prelude::*;
pub(super) use serde_json::Value;
pub(super) use std::collections::BTreeSet;
