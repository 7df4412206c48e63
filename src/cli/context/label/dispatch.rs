//! Runs `ctxc label`.

use super::command_line::{LabelArgs, LabelVerb};
use super::{ask, report};
use crate::cli::prelude::*;

/// Runs the verb.
pub(crate) fn run_label(args: &LabelArgs, cx: &mut Cx) -> Result<Exit> {
    match &args.verb {
        Some(LabelVerb::Report(args)) => report::report_agreement(args, cx),
        None => ask::collect_labels(&args.ask, cx),
    }
}
