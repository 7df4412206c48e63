//! The JSON artifacts that the program writes, a line each: the type and the name of its format.

use super::compaction::{CompactionReport, GradeReport, ProbeComparison};
use super::context::eval::{coverage, plan};
use super::context::{label, list, render_report, search, trust};
use super::render::{json, jsonl};
use super::request::{manifest, prompt_cache, recording_diff};
use super::verbs::{defaults, explain, explain_setting, rules, show};
use super::{history, import, watch};
use crate::context::manifest::{Difference, Manifest};
use crate::eval::comparison::Comparison;
use crate::eval::gate::{ApprovalEntry, Baseline, GateDecision};
use crate::eval::judge::labels::{JudgeScore, Label};
use crate::eval::scorecard::Scorecard;
use crate::eval::{context as stored, mutate};
use crate::package::PackageDocument;
use crate::package::matrix::{AcceptedBreak, MatrixRow};
use crate::record::recording::Recording;
use crate::registry::diff::Diff;
use crate::registry::read::RegistryV1;
use crate::run::trace::TraceLine;
use crate::schema::json::{ArtifactSchema, names};
use crate::session::probe::document::ProbeDocument;

/// Returns the schema of every artifact, by name.
pub fn artifact_schemas() -> Vec<ArtifactSchema> {
    vec![
        ArtifactSchema::for_type::<Baseline>(names::BASELINE),
        ArtifactSchema::for_type::<ApprovalEntry>(names::BASELINE_LOG),
        ArtifactSchema::for_type::<CompactionReport>(names::COMPACTION),
        ArtifactSchema::for_type::<ProbeComparison>(names::COMPACTION_COMPARISON),
        ArtifactSchema::for_type::<GradeReport>(names::COMPACTION_GRADES),
        ArtifactSchema::for_type::<ProbeDocument>(names::COMPACTION_PROBES),
        ArtifactSchema::for_type::<Comparison>(names::COMPARISON),
        ArtifactSchema::for_type::<AcceptedBreak>(names::CONTRACT_ACCEPTANCE),
        ArtifactSchema::for_type::<MatrixRow>(names::CONTRACT_MATRIX),
        ArtifactSchema::for_type::<coverage::CoverageReport>(names::COVERAGE),
        ArtifactSchema::for_type::<defaults::DefaultsDocument<'_>>(names::DEFAULTS),
        ArtifactSchema::with_lines::<json::DiagnosticsDocument<'_>, jsonl::JsonLine<'_>>(
            names::DIAGNOSTICS,
        ),
        ArtifactSchema::for_type::<Diff>(names::DIFF),
        ArtifactSchema::for_type::<history::DriftDocument>(names::DRIFT),
        ArtifactSchema::for_type::<explain_setting::SettingDocument<'_>>(names::EXPLAIN),
        ArtifactSchema::for_type::<GateDecision>(names::GATE),
        ArtifactSchema::for_type::<history::HistoryDocument>(names::HISTORY),
        ArtifactSchema::for_type::<import::ImportDocument<'_>>(names::IMPORT),
        ArtifactSchema::for_type::<JudgeScore>(names::JUDGE_SCORE),
        ArtifactSchema::for_type::<Label>(names::LABEL),
        ArtifactSchema::for_type::<label::LabelReport>(names::LABEL_REPORT),
        ArtifactSchema::for_type::<list::ListReport>(names::LIST),
        ArtifactSchema::for_type::<Manifest>(names::MANIFEST),
        ArtifactSchema::for_type::<Difference>(names::MANIFEST_DIFF),
        ArtifactSchema::for_type::<mutate::MutationReport<'_>>(names::MUTATIONS),
        ArtifactSchema::for_type::<PackageDocument>(names::PACKAGE),
        ArtifactSchema::for_type::<plan::EvalPlan>(names::PLAN),
        ArtifactSchema::for_type::<prompt_cache::PromptCacheReport<'_>>(names::PROMPT_CACHE),
        ArtifactSchema::for_type::<recording_diff::RecordingDiff>(names::RECORDING_DIFF),
        ArtifactSchema::for_type::<RegistryV1<'_>>(names::REGISTRY),
        ArtifactSchema::for_type::<render_report::RenderReport<'_>>(names::RENDER),
        ArtifactSchema::for_type::<Recording>(names::REQUEST),
        ArtifactSchema::for_type::<manifest::RequestManifest>(names::REQUEST_MANIFEST),
        ArtifactSchema::for_type::<explain::RulePage<'_>>(names::RULE),
        ArtifactSchema::for_type::<rules::RulesDocument<'_>>(names::RULES),
        ArtifactSchema::for_type::<TraceLine>(names::RUN),
        ArtifactSchema::for_type::<Scorecard>(names::SCORECARD),
        ArtifactSchema::for_type::<search::SearchReport<'_>>(names::SEARCH),
        ArtifactSchema::for_type::<show::ShowDocument<'_>>(names::SHOW),
        ArtifactSchema::for_type::<stored::SnapshotRequest<'_>>(names::SNAPSHOT),
        ArtifactSchema::for_type::<trust::TrustReport<'_>>(names::TRUST),
        ArtifactSchema::for_type::<watch::WatchLine<'_>>(names::WATCH),
    ]
}
