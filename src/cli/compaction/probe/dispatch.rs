//! Runs the steps of `ctxc compaction probe`.

use super::answer_probes::ask_probes;
use super::command_line::{ProbeArgs, ProbeVerb};
use super::compare_methods::compare_methods;
use super::grade_answers::grade_answers;
use super::make_probes::make_probes;
use crate::cli::prelude::*;

/// Runs a step.
pub(in crate::cli::compaction) fn run_probe(args: &ProbeArgs, cx: &mut Cx) -> Result<Exit> {
    match &args.verb {
        ProbeVerb::Make(args) => make_probes(args, cx),
        ProbeVerb::Ask(args) => ask_probes(args, cx),
        ProbeVerb::Grade(args) => grade_answers(args, cx),
        ProbeVerb::Compare(args) => compare_methods(args, cx),
    }
}
