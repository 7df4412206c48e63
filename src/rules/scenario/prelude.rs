//! Imports of the rules on scenarios.

pub(super) use super::cx::{CaseCx, ScenarioCx, SuitesCx};
pub(super) use super::words::{short, some};
pub(super) use crate::rules::prelude::*;
pub(super) use crate::scenario::model::{Case, Frozen, Subject};
pub(super) use crate::scenario::{Fault, FaultKind};
