//! Imports of the rules on scenarios.

pub(super) use super::cx::{CaseCx, ScenarioCx, SuitesCx};
pub(super) use super::words::{list_some, shorten};
pub(super) use crate::rules::prelude::*;
pub(super) use crate::scenario::model::{CaseSubject, FrozenValue, ScenarioCase};
pub(super) use crate::scenario::{ScenarioFault, ScenarioFaultKind};
