//! Renders samples and compares them byte for byte with the request that `ctxc render --as` prints:
//! message by message, and for a sample with a whole request also its tools and response format.

use super::request::{self, FieldDifference};
use super::samples::{Expected, Sample};
use crate::base::suggest;
use crate::context::assemble::assemble;
use crate::context::fault::Fault;
use crate::context::options::Options;
use crate::context::render::call::Call;
use crate::context::request::{Files, Request};
use crate::context::{TaskGraph, role};
use crate::kernel::profile::Profile;
use crate::project::roles::Role;
use crate::registry::Registry;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A sample whose result is not the expected one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) line: usize,
    /// The template, as the sample names it.
    pub(super) template: String,
    pub(super) kind: DifferenceKind,
}

/// The kind of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DifferenceKind {
    /// The template does not exist, or has no context with these inputs; with the reasons.
    Failed(Vec<String>),
    /// The roles of the messages differ: expected, rendered.
    Roles(Vec<String>, Vec<String>),
    /// A field or a content that is no text differs.
    Field(FieldDifference),
    /// A byte of a message differs.
    Byte(Byte),
}

/// The first byte that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Byte {
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
pub(super) struct Verdict {
    pub(super) samples: usize,
    pub(super) differences: Vec<Difference>,
    /// The compared fields besides the messages.
    pub(super) compared: BTreeSet<String>,
    /// The fields of requests that were not compared.
    pub(super) others: BTreeSet<String>,
    /// Inputs of samples that no template accepts, each with the line of the sample.
    pub(super) unknown_inputs: Vec<(usize, String)>,
}

/// The environment in which samples are verified.
#[derive(Clone, Copy)]
pub(super) struct SampleInputs<'a> {
    pub(super) registry: Option<&'a Registry>,
    /// The task for each name by which samples may refer to it.
    pub(super) names: &'a BTreeMap<String, String>,
    /// The roles that a sample may name instead of a template.
    pub(super) roles: &'a BTreeMap<String, Role>,
    pub(super) files: &'a dyn Files,
    /// Returns the reason why the registry lacks a task or file, if it has errors.
    pub(super) lacking: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> SampleInputs<'a> {
    /// Returns the task for the name in a sample, and the role if the name is that of a role.
    fn task<'n>(&self, wanted: &'n str) -> (&'n str, Option<&'a Role>)
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
pub(super) fn verify(samples: &[Sample], against: SampleInputs<'_>) -> Verdict {
    let mut verdict = Verdict {
        samples: samples.len(),
        unknown_inputs: unknown_inputs(samples, against),
        ..Verdict::default()
    };
    for sample in samples {
        if let Err(kind) = compare(sample, against, &mut verdict) {
            verdict.differences.push(Difference {
                line: sample.line,
                template: sample.template.clone(),
                kind,
            });
        }
    }
    verdict
}

fn compare(
    sample: &Sample,
    against: SampleInputs<'_>,
    verdict: &mut Verdict,
) -> Result<(), DifferenceKind> {
    let (body, profile) = rendered(sample, against)?;
    let profile = Some(profile).filter(|profile| *profile != Profile::Bare);
    let rendered = request::messages(&body);
    let (expected, fields) = match &sample.expected {
        Expected::Messages(messages) => (messages.clone(), None),
        Expected::Text(text) => match rendered.as_slice() {
            [one] => (
                vec![json!({"role": request::role(one), "content": text})],
                None,
            ),
            _ => (vec![json!({"role": "one message", "content": text})], None),
        },
        Expected::Request(expected) => {
            verdict.others.extend(request::others(expected));
            let (compared, difference) = request::fields(expected, &body);
            verdict.compared.extend(compared);
            (request::messages(expected), difference)
        }
    };
    let roles = |messages: &[Value]| {
        messages
            .iter()
            .map(|message| request::role(message).to_owned())
            .collect::<Vec<_>>()
    };
    let (expected_roles, rendered_roles) = (roles(&expected), roles(&rendered));
    if expected_roles != rendered_roles {
        return Err(DifferenceKind::Roles(expected_roles, rendered_roles));
    }
    let mut differing = expected
        .iter()
        .zip(&rendered)
        .enumerate()
        .filter(|(_, (one, other))| one != other);
    if let Some((number, (expected, rendered))) = differing.next() {
        let role = request::role(rendered);
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
            .and_then(|(expected, rendered)| differs(&expected, &rendered));
        return Err(match byte {
            Some(byte) => DifferenceKind::Byte(Byte {
                message,
                profile,
                ..byte
            }),
            None => DifferenceKind::Field((
                message,
                request::shown(Some(expected)),
                request::shown(Some(rendered)),
            )),
        });
    }
    fields.map_or(Ok(()), |difference| Err(DifferenceKind::Field(difference)))
}

/// Returns the request that a sample's template produces, and its profile.
fn rendered(
    sample: &Sample,
    against: SampleInputs<'_>,
) -> Result<(Value, Profile), DifferenceKind> {
    let SampleInputs {
        registry,
        files,
        lacking,
        ..
    } = against;
    let (task, role) = against.task(&sample.template);
    let failed = |why: String| DifferenceKind::Failed(vec![why]);
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
    let refused =
        |faults: &[Fault]| DifferenceKind::Failed(faults.iter().map(ToString::to_string).collect());
    let assembly = assemble(registry, &request, &options).map_err(|faults| refused(&faults))?;
    let call = Call::of(registry, &request).map_err(|fault| refused(&[fault]))?;
    let body = sample
        .target
        .body(&assembly.messages, &call)
        .map_err(|none| failed(none.to_string()))?;
    let body = serde_json::from_str(&body).map_err(|error| failed(error.to_string()))?;
    let graph = TaskGraph::load(registry, task).ok().flatten();
    let routed = graph.and_then(|graph| {
        role::route(&graph, &request, &options)
            .map(|routed| routed.options.profile)
            .ok()
    });
    Ok((body, routed.unwrap_or_default()))
}

/// Returns the inputs of samples that their templates do not accept, each once with its first line.
/// With a misspelt name, a template is rendered without the value.
fn unknown_inputs(samples: &[Sample], against: SampleInputs<'_>) -> Vec<(usize, String)> {
    let mut seen = BTreeSet::new();
    let mut told = Vec::new();
    for sample in samples {
        let (task, _) = against.task(&sample.template);
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
                let near = suggest::nearest(name, names())
                    .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                told.push((
                    sample.line,
                    format!("{} takes no input `{name}`{near}", sample.template),
                ));
            }
        }
    }
    told
}

/// Returns the first byte in which two texts differ.
fn differs(expected: &str, rendered: &str) -> Option<Byte> {
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
    Some(Byte {
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
