//! `ctxc check @NAME|FILE`: what providers would refuse of requests that were sent, and what misleads.

use super::load;
use crate::base::diagnostic::{self, Diagnostic};
use crate::cli::args::{FindingFormat, OutputArgs};
use crate::cli::cx::Cx;
use crate::cli::error::Result;
use crate::cli::exit::Exit;
use crate::cli::findings;
use crate::cli::project::Project;
use crate::cli::render::report::Report;
use crate::cli::render::summary::plural;
use crate::cli::rule_filter::RuleFilter;
use crate::project::config::Config;
use crate::record::recording::{AnsweredBy, Recording};
use crate::request::model::Request;
use crate::rules::request::check;
use crate::rules::request::cx::RequestCx;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Checks requests and prints what was found.
pub(crate) fn run(subjects: &[String], filter: &RuleFilter, output: &OutputArgs<FindingFormat>, cx: &mut Cx) -> Result<Exit> {
    let project = Project::load(&cx.options)?;
    let mut bodies = Vec::new();
    for subject in subjects {
        bodies.extend(load::bodies(subject, &project.root)?);
    }
    let (mut report, texts) = found(bodies.into_iter(), &project.config);
    report.add(&project.findings);
    diagnostic::sort(&mut report.diagnostics);
    let left_out = filter.apply(&mut report);
    let mut sources = project.sources().with_texts(&texts);
    cx.emit(output, |format, cx| findings::print(cx, &report, format, &project.root, &mut sources))?;
    if left_out > 0 {
        cx.note(&format!("{} of other rules not reported", plural(left_out, "finding")));
    }
    Ok(findings::verdict(&report))
}

/// What is found in some requests, and the texts of those in which something is.
pub(super) fn found(bodies: impl Iterator<Item = load::Body>, config: &Config) -> (Report, BTreeMap<String, String>) {
    let mut report = Report { unit: Some("request"), ..Report::default() };
    let mut texts = BTreeMap::new();
    for load::Body { name, text, call } in bodies {
        report.files += 1;
        let (text, found) = of_one(&Arc::from(name.as_str()), text, call.as_ref(), config);
        if !found.is_empty() {
            report.diagnostics.extend(found);
            texts.insert(name, text);
        }
    }
    (report, texts)
}

/// The findings of one request, and the text that they stand in: of a recorded one the body with its line breaks.
fn of_one(name: &Arc<str>, text: String, call: Option<&Recording>, config: &Config) -> (String, Vec<Diagnostic>) {
    let request = match Request::read(&text, call.map(|call| call.endpoint.as_str())) {
        Ok(request) => request,
        Err(why) => {
            let found = check::unreadable(name, (&text, 0), &why, config);
            return (text, found);
        }
    };
    let found = |text: &str| {
        let cx = RequestCx {
            input_tokens: call.and_then(|call| call.usage.input),
            was_answered: call.is_some_and(|call| call.answered_by == AnsweredBy::Upstream && call.is_answered()),
            ..RequestCx::new(name, text, &request, config)
        };
        check::request(&cx, config)
    };
    let first = found(&text);
    if call.is_none() || first.is_empty() {
        return (text, first);
    }
    let shown = serde_json::from_str::<Value>(&text).and_then(|body| serde_json::to_string_pretty(&body)).unwrap_or(text);
    let found = found(&shown);
    (shown, found)
}
