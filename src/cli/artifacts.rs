//! The JSON artifacts that the program writes, a line each: the type and the name of its format.

use super::context::eval::{coverage, plan};
use super::context::{list, render_report, search, trust};
use super::render::{json, jsonl};
use super::request::{manifest, prompt_cache, recording_diff};
use super::verbs::{defaults, explain, explain_setting, rules, show};
use super::{history, import, watch};
use crate::context::manifest::{Difference, Manifest};
use crate::eval::context as stored;
use crate::eval::gate::{Baseline, Decision, LogLine};
use crate::eval::mutate;
use crate::eval::scorecard::Scorecard;
use crate::record::recording::Recording;
use crate::registry::diff::Diff;
use crate::registry::read::Document1;
use crate::run::trace::TraceLine;
use crate::schema::json::{Schema, names};

/// Returns the schema of every artifact, by name.
pub fn all() -> Vec<Schema> {
    vec![
        Schema::of::<Baseline>(names::BASELINE),
        Schema::of::<LogLine>(names::BASELINE_LOG),
        Schema::of::<coverage::Document>(names::COVERAGE),
        Schema::of::<defaults::Document<'_>>(names::DEFAULTS),
        Schema::with_lines::<json::Document<'_>, jsonl::Line<'_>>(names::DIAGNOSTICS),
        Schema::of::<Diff>(names::DIFF),
        Schema::of::<history::DriftDocument>(names::DRIFT),
        Schema::of::<explain_setting::Document<'_>>(names::EXPLAIN),
        Schema::of::<Decision>(names::GATE),
        Schema::of::<history::Document>(names::HISTORY),
        Schema::of::<import::Document<'_>>(names::IMPORT),
        Schema::of::<list::Document>(names::LIST),
        Schema::of::<Manifest>(names::MANIFEST),
        Schema::of::<Difference>(names::MANIFEST_DIFF),
        Schema::of::<mutate::Document<'_>>(names::MUTATIONS),
        Schema::of::<plan::Document>(names::PLAN),
        Schema::of::<prompt_cache::Document<'_>>(names::PROMPT_CACHE),
        Schema::of::<recording_diff::Document>(names::RECORDING_DIFF),
        Schema::of::<Document1<'_>>(names::REGISTRY),
        Schema::of::<render_report::Document<'_>>(names::RENDER),
        Schema::of::<Recording>(names::REQUEST),
        Schema::of::<manifest::Document>(names::REQUEST_MANIFEST),
        Schema::of::<explain::RulePage<'_>>(names::RULE),
        Schema::of::<rules::Document<'_>>(names::RULES),
        Schema::of::<TraceLine>(names::RUN),
        Schema::of::<Scorecard>(names::SCORECARD),
        Schema::of::<search::Document<'_>>(names::SEARCH),
        Schema::of::<show::Document<'_>>(names::SHOW),
        Schema::of::<stored::Document<'_>>(names::SNAPSHOT),
        Schema::of::<trust::Document<'_>>(names::TRUST),
        Schema::of::<watch::Line<'_>>(names::WATCH),
    ]
}
