//! Renders samples and compares them byte for byte with the request that `ctxc render --as` prints:
//! message by message, and for a sample with a whole request also its tools and response format.

use super::request::{self, FieldDifference};
use super::samples::{ExpectedResult, ImportSample};
use crate::base::suggest;
use crate::context::assemble::assemble;
use crate::context::fault::Fault;
use crate::context::options::Options;
use crate::context::render::call::CallParams;
use crate::context::request::{Files, Request};
use crate::context::{TaskGraph, role};
use crate::kernel::profile::Profile;
use crate::project::roles::Role;
use crate::registry::Registry;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A sample whose result is not the expected one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FailedSample {
    pub(super) line: usize,
    /// The template, as the sample names it.
    pub(super) template: String,
    pub(super) kind: SampleDifferenceKind,
}

/// The kind of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SampleDifferenceKind {
    /// The template does not exist, or has no context with these inputs; with the reasons.
    Failed(Vec<String>),
    /// The roles of the messages differ: expected, rendered.
    Roles(Vec<String>, Vec<String>),
    /// A field or a content that is no text differs.
    Field(FieldDifference),
    /// A byte of a message differs.
    Byte(ByteDifference),
}

/// The first byte that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ByteDifference {
    /// The message, for people.
    pub(super) message: String,
    /// The offset of the byte in the message, from 0.
    pub(super) at: usize,
    /// Its line, from 1.
    pub(super) line: usize,
    /// Its column in characters, from 1.
    pub(super) column: usize,
    /// The line as expected.
    pub(super) expected: String,
    /// The line as rendered.
    pub(super) rendered: String,
    /// The profile of the template, if it adds text to the prompt's own.
    pub(super) profile: Option<Profile>,
}

/// The result of all samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SampleVerdict {
    pub(super) samples: usize,
    pub(super) differences: Vec<FailedSample>,
    /// The compared fields besides the messages.
    pub(super) compared: BTreeSet<String>,
    /// The fields of requests that were not compared.
    pub(super) others: BTreeSet<String>,
    /// Inputs of samples that no template accepts, each with the line of the sample.
    pub(super) unknown_inputs: Vec<(usize, String)>,
}

/// The environment in which samples are verified.
#[derive(Clone, Copy)]
pub(super) struct SampleEnvironment<'a> {
    pub(super) registry: Option<&'a Registry>,
    /// The task for each name by which samples may refer to it.
    pub(super) names: &'a BTreeMap<String, String>,
    /// The roles that a sample may name instead of a template.
    pub(super) roles: &'a BTreeMap<String, Role>,
    pub(super) files: &'a dyn Files,
    /// Returns the reason why the registry lacks a task or file, if it has errors.
    pub(super) lacking: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> SampleEnvironment<'a> {
    /// Returns the task for the name in a sample, and the role if the name is that of a role.
    fn resolve_task<'n>(&self, wanted: &'n str) -> (&'n str, Option<&'a Role>)
    where
        'a: 'n,
    {
        if let Some(task) = self.names.get(wanted.trim_start_matches("./")) {
            return (task, None);
        }
        let is_task = self
            .registry
            .is_some_and(|registry| registry.task(wanted).is_ok());
        let role = self.roles.get(wanted).filter(|_| !is_task);
        (role.map_or(wanted, |role| &role.task.value), role)
    }
}

/// Renders and compares every sample.
pub(super) fn verify_samples(
    samples: &[ImportSample],
    against: SampleEnvironment<'_>,
) -> SampleVerdict {
    let mut verdict = SampleVerdict {
        samples: samples.len(),
        unknown_inputs: find_unknown_inputs(samples, against),
        ..SampleVerdict::default()
    };
    for sample in samples {
        if let Err(kind) = compare_sample(sample, against, &mut verdict) {
            verdict.differences.push(FailedSample {
                line: sample.line,
                template: sample.template.clone(),
                kind,
            });
        }
    }
    verdict
}

fn compare_sample(
    sample: &ImportSample,
    against: SampleEnvironment<'_>,
    verdict: &mut SampleVerdict,
) -> Result<(), SampleDifferenceKind> {
    let (body, profile) = render_sample(sample, against)?;
    let profile = Some(profile).filter(|profile| *profile != Profile::Bare);
    let rendered = request::comparable_messages(&body);
    let (expected, fields) = match &sample.expected {
        ExpectedResult::Messages(messages) => (messages.clone(), None),
        ExpectedResult::Text(text) => match rendered.as_slice() {
            [one] => (
                vec![json!({"role": request::message_role(one), "content": text})],
                None,
            ),
            _ => (vec![json!({"role": "one message", "content": text})], None),
        },
        ExpectedResult::Request(expected) => {
            verdict.others.extend(request::uncompared_fields(expected));
            let (compared, difference) = request::compare_fields(expected, &body);
            verdict.compared.extend(compared);
            (request::comparable_messages(expected), difference)
        }
    };
    let roles = |messages: &[Value]| {
        messages
            .iter()
            .map(|message| request::message_role(message).to_owned())
            .collect::<Vec<_>>()
    };
    let (expected_roles, rendered_roles) = (roles(&expected), roles(&rendered));
    if expected_roles != rendered_roles {
        return Err(SampleDifferenceKind::Roles(expected_roles, rendered_roles));
    }
    let mut differing = expected
        .iter()
        .zip(&rendered)
        .enumerate()
        .filter(|(_, (one, other))| one != other);
    if let Some((number, (expected, rendered))) = differing.next() {
        let role = request::message_role(rendered);
        let is_only = rendered_roles.iter().filter(|other| *other == role).count() == 1;
        let message = if is_only {
            format!("{role} message")
        } else {
            format!(
                "{role} message ({} of {})",
                number + 1,
                rendered_roles.len()
            )
        };
        let text = |message: &Value| {
            message
                .get("content")
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let byte = text(expected)
            .zip(text(rendered))
            .and_then(|(expected, rendered)| first_difference(&expected, &rendered));
        return Err(match byte {
            Some(byte) => SampleDifferenceKind::Byte(ByteDifference {
                message,
                profile,
                ..byte
            }),
            None => SampleDifferenceKind::Field((
                message,
                request::to_pretty_json(Some(expected)),
                request::to_pretty_json(Some(rendered)),
            )),
        });
    }
    fields.map_or(Ok(()), |difference| {
        Err(SampleDifferenceKind::Field(difference))
    })
}

/// Returns the request that a sample's template produces, and its profile.
fn render_sample(
    sample: &ImportSample,
    against: SampleEnvironment<'_>,
) -> Result<(Value, Profile), SampleDifferenceKind> {
    let SampleEnvironment {
        registry,
        files,
        lacking,
        ..
    } = against;
    let (task, role) = against.resolve_task(&sample.template);
    let failed = |why: String| SampleDifferenceKind::Failed(vec![why]);
    let Some(registry) = registry.filter(|registry| registry.task(task).is_ok()) else {
        return Err(failed(lacking(task).unwrap_or_else(|| {
            format!("there is no template `{}`", sample.template)
        })));
    };
    let request = Request {
        inputs: &sample.inputs,
        history: &sample.history,
        files,
        role,
        ..Request::new(task)
    };
    let options = Options {
        target: Some(sample.target),
        ..Options::default()
    };
    let refused = |faults: &[Fault]| {
        SampleDifferenceKind::Failed(faults.iter().map(ToString::to_string).collect())
    };
    let assembly = assemble(registry, &request, &options).map_err(|faults| refused(&faults))?;
    let call = CallParams::from_registry(registry, &request).map_err(|fault| refused(&[fault]))?;
    let body = sample
        .target
        .render_body(&assembly.messages, &call)
        .map_err(|none| failed(none.to_string()))?;
    let body = serde_json::from_str(&body).map_err(|error| failed(error.to_string()))?;
    let graph = TaskGraph::load(registry, task).ok().flatten();
    let routed = graph.and_then(|graph| {
        role::route_model(&graph, &request, &options)
            .map(|routed| routed.options.profile)
            .ok()
    });
    Ok((body, routed.unwrap_or_default()))
}

/// Returns the inputs of samples that their templates do not accept, each once with its first line.
/// With a misspelt name, a template is rendered without the value.
fn find_unknown_inputs(
    samples: &[ImportSample],
    against: SampleEnvironment<'_>,
) -> Vec<(usize, String)> {
    let mut seen = BTreeSet::new();
    let mut issues = Vec::new();
    for sample in samples {
        let (task, _) = against.resolve_task(&sample.template);
        let Some(parameters) = against
            .registry
            .and_then(|registry| registry.find(task)?.parameters().ok())
        else {
            continue;
        };
        let names = || parameters.iter().map(|parameter| parameter.name.as_str());
        for name in sample
            .inputs
            .keys()
            .filter(|name| !names().any(|known| known == *name))
        {
            if seen.insert((task, name)) {
                let near = suggest::nearest_candidate(name, names())
                    .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                issues.push((
                    sample.line,
                    format!("{} takes no input `{name}`{near}", sample.template),
                ));
            }
        }
    }
    issues
}

/// Returns the first byte in which two texts differ.
fn first_difference(expected: &str, rendered: &str) -> Option<ByteDifference> {
    let same = expected
        .bytes()
        .zip(rendered.bytes())
        .take_while(|(expected, rendered)| expected == rendered)
        .count();
    if same == expected.len() && same == rendered.len() {
        return None;
    }
    let start = rendered
        .floor_char_boundary(same)
        .min(expected.floor_char_boundary(same));
    let before = rendered.get(..start).unwrap_or("");
    let begin = before.rfind('\n').map_or(0, |at| at + 1);
    let of = |text: &str| {
        text.get(begin..)
            .unwrap_or("")
            .split_inclusive('\n')
            .next()
            .unwrap_or("")
            .to_owned()
    };
    Some(ByteDifference {
        message: String::new(),
        at: same,
        line: 1 + before.matches('\n').count(),
        column: 1 + before.get(begin..).unwrap_or("").chars().count(),
        expected: of(expected),
        rendered: of(rendered),
        profile: None,
    })
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/import/verify.rs"]
mod tests;
