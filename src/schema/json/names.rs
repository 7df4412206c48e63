//! The values of the key `schema` of each artifact: its name and the version of its format.
//! Renaming or removing a key requires a new version; adding one does not.

pub use crate::registry::SCHEMA as REGISTRY;
pub use crate::registry::diff::SCHEMA as DIFF;

/// Findings of `check` and `build`.
pub const DIAGNOSTICS: &str = "ctxc/diagnostics/1";
/// `ctxc explain TASK[/NODE].SETTING`.
pub const EXPLAIN: &str = "ctxc/explain/1";
/// `ctxc explain RULE`.
pub const RULE: &str = "ctxc/rule/1";
/// `ctxc rules`.
pub const RULES: &str = "ctxc/rules/1";
/// `ctxc defaults`.
pub const DEFAULTS: &str = "ctxc/defaults/1";
/// `ctxc show`.
pub const SHOW: &str = "ctxc/show/1";
/// One line of `ctxc watch`.
pub const WATCH: &str = "ctxc/watch/1";
/// `ctxc list`.
pub const LIST: &str = "ctxc/list/1";
/// `ctxc render --json`.
pub const RENDER: &str = "ctxc/render/1";
/// `ctxc search`.
pub const SEARCH: &str = "ctxc/search/1";
/// `ctxc manifest`.
pub const MANIFEST: &str = "ctxc/manifest/1";
/// `ctxc manifest diff`.
pub const MANIFEST_DIFF: &str = "ctxc/manifest-diff/1";
/// `ctxc import`.
pub const IMPORT: &str = "ctxc/import/1";
/// A file of `baselines/`.
pub const BASELINE: &str = "ctxc/baseline/1";
/// A line of `baselines/LOG.jsonl`.
pub const BASELINE_LOG: &str = "ctxc/baseline-log/1";
/// A line of `contracts/ACCEPTED.jsonl`.
pub const CONTRACT_ACCEPTANCE: &str = "ctxc/contract-acceptance/1";
/// A line of `contracts/MATRIX.jsonl`.
pub const CONTRACT_MATRIX: &str = "ctxc/contract-matrix/1";
/// A line of a person in `labels/`.
pub const LABEL: &str = "ctxc/label/1";
/// A line of `labels/judge.jsonl`.
pub const JUDGE_SCORE: &str = "ctxc/judge-score/1";
/// `ctxc label report`.
pub const LABEL_REPORT: &str = "ctxc/label-report/1";
/// `ctxc gate`.
pub const GATE: &str = "ctxc/gate/1";
/// `ctxc eval --coverage`.
pub const COVERAGE: &str = "ctxc/coverage/1";
/// `ctxc eval --mutate`.
pub const MUTATIONS: &str = "ctxc/mutations/1";
/// `ctxc eval --plan`.
pub const PLAN: &str = "ctxc/plan/1";
/// `ctxc compare`.
pub const COMPARISON: &str = "ctxc/comparison/1";
/// `ctxc prompt-cache`.
pub const PROMPT_CACHE: &str = "ctxc/prompt-cache/1";
/// `ctxc compaction`.
pub const COMPACTION: &str = "ctxc/compaction/1";
/// `ctxc compaction probe make` and `ask`.
pub const COMPACTION_PROBES: &str = "ctxc/compaction-probes/1";
/// `ctxc compaction probe grade`.
pub const COMPACTION_GRADES: &str = "ctxc/compaction-grades/1";
/// `ctxc compaction probe compare`.
pub const COMPACTION_COMPARISON: &str = "ctxc/compaction-comparison/1";
/// `ctxc diff` of two recordings.
pub const RECORDING_DIFF: &str = "ctxc/recording-diff/1";
/// `ctxc-package.json` in the archive of a package.
pub const PACKAGE: &str = "ctxc/package/1";
/// `ctxc manifest` of requests.
pub const REQUEST_MANIFEST: &str = "ctxc/request-manifest/1";
/// A line of the trace of a run that is not a call.
pub const RUN: &str = "ctxc/run/1";
/// A recorded call.
pub const REQUEST: &str = "ctxc/request/1";
/// The stored request of a scenario.
pub const SNAPSHOT: &str = "ctxc/snapshot/1";
/// `ctxc eval`.
pub const SCORECARD: &str = "ctxc/scorecard/1";
/// `ctxc history`, and a line of its export.
pub const HISTORY: &str = "ctxc/history/1";
/// `ctxc drift`.
pub const DRIFT: &str = "ctxc/drift/1";
/// `ctxc trust`.
pub const TRUST: &str = "ctxc/trust/1";
