//! Imports of the rules on requests.

pub(super) use super::cx::{RequestCx, short, texts};
pub(super) use super::pairs::called;
pub(super) use crate::kernel::conversation::{Part, Speaker};
pub(super) use crate::request::dialect::Dialect;
pub(super) use crate::request::model::{CacheMark, Message, Placed};
pub(super) use crate::request::public_models::CACHE_FLOOR;
pub(super) use crate::request::segments::segments;
pub(super) use crate::rules::prelude::*;
pub(super) use serde_json::Value;
pub(super) use std::collections::BTreeSet;
