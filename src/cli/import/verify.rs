//! Samples rendered and compared, byte for byte: with the request that `ctxc render --as` prints, message by message, and where a sample is
//! a whole request, its tools and the form of its answer, too.

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

/// A sample that does not come out as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// The sample's line.
    pub(super) line: usize,
    /// What it names as its template.
    pub(super) template: String,
    pub(super) kind: DifferenceKind,
}

/// How a sample differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DifferenceKind {
    /// There is no such template, or it has no context with these inputs: why.
    Failed(Vec<String>),
    /// The messages are others: roles expected, roles rendered.
    Roles(Vec<String>, Vec<String>),
    /// Something that is no text is another.
    Field(FieldDifference),
    /// A byte of a message is another.
    Byte(Byte),
}

/// The first byte that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Byte {
    /// Which message it is.
    pub(super) message: String,
    /// The byte, from 0.
    pub(super) at: usize,
    /// Its line, from 1.
    pub(super) line: usize,
    /// Its column in characters, from 1.
    pub(super) column: usize,
    /// The line as expected.
    pub(super) expected: String,
    /// The line as rendered.
    pub(super) rendered: String,
    /// How the template's segments look, where that adds words to the prompt's own.
    pub(super) profile: Option<Profile>,
}

/// The verdict over all samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) samples: usize,
    pub(super) differences: Vec<Difference>,
    /// What was compared beside the messages.
    pub(super) compared: BTreeSet<String>,
    /// What requests have and was not compared.
    pub(super) others: BTreeSet<String>,
    /// What samples hand in and no template takes, by line.
    pub(super) unknown_inputs: Vec<(usize, String)>,
}

/// What samples are held against.
#[derive(Clone, Copy)]
pub(super) struct SampleInputs<'a> {
    /// The templates.
    pub(super) registry: Option<&'a Registry>,
    /// From what a sample may call a template to its task.
    pub(super) names: &'a BTreeMap<String, String>,
    /// The roles that a sample may name in place of a template.
    pub(super) roles: &'a BTreeMap<String, Role>,
    /// The files of the project.
    pub(super) files: &'a dyn Files,
    /// Why the registry lacks a task or file of that name, where it has errors.
    pub(super) lacking: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> SampleInputs<'a> {
    /// The task that a sample calls by a name, and the role that plays it where the sample names that.
    fn task<'n>(&self, wanted: &'n str) -> (&'n str, Option<&'a Role>)
    where
        'a: 'n,
    {
        if let Some(task) = self.names.get(wanted.trim_start_matches("./")) {
            return (task, None);
        }
        let is_task = self.registry.is_some_and(|registry| registry.task(wanted).is_ok());
        let role = self.roles.get(wanted).filter(|_| !is_task);
        (role.map_or(wanted, |role| &role.task.value), role)
    }
}

/// Renders every sample.
pub(super) fn verify(samples: &[Sample], against: SampleInputs<'_>) -> Verdict {
    let mut verdict = Verdict { samples: samples.len(), unknown_inputs: unknown_inputs(samples, against), ..Verdict::default() };
    for sample in samples {
        if let Err(kind) = compare(sample, against, &mut verdict) {
            verdict.differences.push(Difference { line: sample.line, template: sample.template.clone(), kind });
        }
    }
    verdict
}

fn compare(sample: &Sample, against: SampleInputs<'_>, verdict: &mut Verdict) -> Result<(), DifferenceKind> {
    let (body, profile) = rendered(sample, against)?;
    let profile = Some(profile).filter(|profile| *profile != Profile::Bare);
    let rendered = request::messages(&body);
    let (expected, fields) = match &sample.expected {
        Expected::Messages(messages) => (messages.clone(), None),
        Expected::Text(text) => match rendered.as_slice() {
            [one] => (vec![json!({"role": request::role(one), "content": text})], None),
            _ => (vec![json!({"role": "one message", "content": text})], None),
        },
        Expected::Request(expected) => {
            verdict.others.extend(request::others(expected));
            let (compared, difference) = request::fields(expected, &body);
            verdict.compared.extend(compared);
            (request::messages(expected), difference)
        }
    };
    let roles = |messages: &[Value]| messages.iter().map(|message| request::role(message).to_owned()).collect::<Vec<_>>();
    let (expected_roles, rendered_roles) = (roles(&expected), roles(&rendered));
    if expected_roles != rendered_roles {
        return Err(DifferenceKind::Roles(expected_roles, rendered_roles));
    }
    let mut differing = expected.iter().zip(&rendered).enumerate().filter(|(_, (one, other))| one != other);
    if let Some((number, (expected, rendered))) = differing.next() {
        let role = request::role(rendered);
        let is_only = rendered_roles.iter().filter(|other| *other == role).count() == 1;
        let message = if is_only {
            format!("{role} message")
        } else {
            format!("{role} message ({} of {})", number + 1, rendered_roles.len())
        };
        let text = |message: &Value| message.get("content").and_then(Value::as_str).map(str::to_owned);
        let byte = text(expected).zip(text(rendered)).and_then(|(expected, rendered)| differs(&expected, &rendered));
        return Err(match byte {
            Some(byte) => DifferenceKind::Byte(Byte { message, profile, ..byte }),
            None => DifferenceKind::Field((message, request::shown(Some(expected)), request::shown(Some(rendered)))),
        });
    }
    fields.map_or(Ok(()), |difference| Err(DifferenceKind::Field(difference)))
}

/// The request that a sample's template makes, and how its segments look.
fn rendered(sample: &Sample, against: SampleInputs<'_>) -> Result<(Value, Profile), DifferenceKind> {
    let SampleInputs { registry, files, lacking, .. } = against;
    let (task, role) = against.task(&sample.template);
    let failed = |why: String| DifferenceKind::Failed(vec![why]);
    let Some(registry) = registry.filter(|registry| registry.task(task).is_ok()) else {
        return Err(failed(lacking(task).unwrap_or_else(|| format!("there is no template `{}`", sample.template))));
    };
    let request = Request { inputs: &sample.inputs, history: &sample.history, files, role, ..Request::new(task) };
    let options = Options { target: Some(sample.target), ..Options::default() };
    let refused = |faults: &[Fault]| DifferenceKind::Failed(faults.iter().map(ToString::to_string).collect());
    let assembly = assemble(registry, &request, &options).map_err(|faults| refused(&faults))?;
    let call = Call::of(registry, &request).map_err(|fault| refused(&[fault]))?;
    let body = sample.target.body(&assembly.messages, &call).map_err(|none| failed(none.to_string()))?;
    let body = serde_json::from_str(&body).map_err(|error| failed(error.to_string()))?;
    let graph = TaskGraph::load(registry, task).ok().flatten();
    let routed = graph.and_then(|graph| role::route(&graph, &request, &options).map(|routed| routed.options.profile).ok());
    Ok((body, routed.unwrap_or_default()))
}

/// The inputs of samples that their templates do not take, each once with the first line that has it: with a slip in a name a template is
/// rendered without that value.
fn unknown_inputs(samples: &[Sample], against: SampleInputs<'_>) -> Vec<(usize, String)> {
    let mut seen = BTreeSet::new();
    let mut told = Vec::new();
    for sample in samples {
        let (task, _) = against.task(&sample.template);
        let Some(parameters) = against.registry.and_then(|registry| registry.find(task)?.parameters().ok()) else { continue };
        let names = || parameters.iter().map(|parameter| parameter.name.as_str());
        for name in sample.inputs.keys().filter(|name| !names().any(|known| known == *name)) {
            if seen.insert((task, name)) {
                let near = suggest::nearest(name, names()).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                told.push((sample.line, format!("{} takes no input `{name}`{near}", sample.template)));
            }
        }
    }
    told
}

/// The first byte in which two texts differ.
fn differs(expected: &str, rendered: &str) -> Option<Byte> {
    let same = expected.bytes().zip(rendered.bytes()).take_while(|(expected, rendered)| expected == rendered).count();
    if same == expected.len() && same == rendered.len() {
        return None;
    }
    let start = rendered.floor_char_boundary(same).min(expected.floor_char_boundary(same));
    let before = rendered.get(..start).unwrap_or("");
    let begin = before.rfind('\n').map_or(0, |at| at + 1);
    let of = |text: &str| text.get(begin..).unwrap_or("").split_inclusive('\n').next().unwrap_or("").to_owned();
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
