//! The examples on a rule's page, in short.

use crate::base::rule_meta::Example;

/// An example without a project file.
pub(super) const fn template(template: &'static str) -> Example {
    Example { template, project: "" }
}

/// An example that is about the project file alone.
pub(super) const fn project(project: &'static str) -> Example {
    Example { template: TASK, project }
}

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n</task>\n";

/// A template that gives no finding at all.
pub(super) const FINE: &[Example] = &[template(TASK)];
