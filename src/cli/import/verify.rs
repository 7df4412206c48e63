//! Samples rendered and compared, byte for byte.
//!
//! What is compared is what the prompt itself says, message by message, without the headings of a profile and without what a
//! template adds to it: an output format is no part of a prompt's text.

use super::samples::{Expected, Sample};
use crate::base::suggest;
use crate::context::assemble::{Assembly, assemble};
use crate::context::options::Options;
use crate::context::render::message::speaker;
use crate::context::request::{Files, Request};
use crate::kernel::assembler::Speaker;
use crate::kernel::context::Kind;
use crate::registry::Registry;
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
    /// A byte of a message is another.
    Byte(Byte),
}

/// The first byte that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Byte {
    /// The message's role.
    pub(super) role: String,
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
}

/// The verdict over all samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) samples: usize,
    pub(super) differences: Vec<Difference>,
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
    /// The files of the project.
    pub(super) files: &'a dyn Files,
    /// Why the registry lacks a task or file of that name, where it has errors.
    pub(super) lacking: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> SampleInputs<'a> {
    /// The task that a sample calls by a name.
    fn task<'n>(&self, wanted: &'n str) -> &'n str
    where
        'a: 'n,
    {
        self.names.get(wanted.trim_start_matches("./")).map_or(wanted, String::as_str)
    }
}

/// Renders every sample.
pub(super) fn verify(samples: &[Sample], against: SampleInputs<'_>) -> Verdict {
    let mut differences = Vec::new();
    for sample in samples {
        if let Err(kind) = compare(sample, against) {
            differences.push(Difference { line: sample.line, template: sample.template.clone(), kind });
        }
    }
    Verdict { samples: samples.len(), differences, unknown_inputs: unknown_inputs(samples, against) }
}

fn compare(sample: &Sample, against: SampleInputs<'_>) -> Result<(), DifferenceKind> {
    let SampleInputs { registry, files, lacking, .. } = against;
    let wanted = sample.template.as_str();
    let there = |registry: &&Registry, name: &str| registry.task(name).is_ok();
    let task = against.task(wanted);
    let Some(registry) = registry.filter(|registry| there(registry, task)) else {
        let why = lacking(task).unwrap_or_else(|| format!("there is no template `{wanted}`"));
        return Err(DifferenceKind::Failed(vec![why]));
    };
    let request = Request { inputs: &sample.inputs, files, ..Request::new(task) };
    let assembly = assemble(registry, &request, &Options::default())
        .map_err(|faults| DifferenceKind::Failed(faults.iter().map(ToString::to_string).collect()))?;
    let rendered = messages(&assembly);
    let expected = match &sample.expected {
        Expected::Messages(messages) => messages.clone(),
        Expected::Text(text) => match rendered.as_slice() {
            [(role, _)] => vec![(role.clone(), text.clone())],
            _ => vec![("one message".to_owned(), text.clone())],
        },
    };
    let roles = |messages: &[(String, String)]| messages.iter().map(|(role, _)| role.clone()).collect::<Vec<_>>();
    if roles(&expected) != roles(&rendered) {
        return Err(DifferenceKind::Roles(roles(&expected), roles(&rendered)));
    }
    expected.iter().zip(&rendered).try_for_each(|((role, expected), (_, rendered))| match differs(expected, rendered) {
        None => Ok(()),
        Some(byte) => Err(DifferenceKind::Byte(Byte { role: role.clone(), ..byte })),
    })
}

/// The inputs of samples that their templates do not take, each once with the first line that has it: with a slip in a name a template is
/// rendered without that value.
fn unknown_inputs(samples: &[Sample], against: SampleInputs<'_>) -> Vec<(usize, String)> {
    let mut seen = BTreeSet::new();
    let mut told = Vec::new();
    for sample in samples {
        let task = against.task(&sample.template);
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

/// What the prompt says, by who says it.
fn messages(assembly: &Assembly) -> Vec<(String, String)> {
    let mut accounts: Vec<_> =
        assembly.report.segments.iter().filter(|account| account.segment.kind != Kind::OutputFormat).collect();
    accounts.sort_by_key(|account| account.position);
    let mut messages: Vec<(String, String)> = Vec::new();
    for account in accounts.into_iter().filter(|account| account.position.is_some()) {
        let role = match speaker(&account.segment) {
            Speaker::System => "system",
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
            Speaker::Tool => "tool",
        };
        let text = account.segment.text.text();
        match messages.last_mut().filter(|(last, _)| last == role) {
            Some((_, before)) => {
                before.push_str("\n\n");
                before.push_str(text);
            }
            None => messages.push((role.to_owned(), text.to_owned())),
        }
    }
    messages
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
        role: String::new(),
        at: same,
        line: 1 + before.matches('\n').count(),
        column: 1 + before.get(begin..).unwrap_or("").chars().count(),
        expected: of(expected),
        rendered: of(rendered),
    })
}

#[cfg(test)]
mod tests {
    use super::{Byte, differs};
    use pretty_assertions::assert_eq;

    #[test]
    fn the_first_byte_that_differs_is_found_with_its_lines() {
        let byte = |at, line, column, expected: &str, rendered: &str| {
            let expected = expected.to_owned();
            let rendered = rendered.to_owned();
            Some(Byte { role: String::new(), at, line, column, expected, rendered })
        };
        assert_eq!(differs("a\nb\n", "a\nb\n"), None);
        assert_eq!(differs("a\nübe\n", "a\nüba\nc"), byte(5, 2, 3, "übe\n", "üba\n"));
        assert_eq!(differs("a\n", "a"), byte(1, 1, 2, "a\n", "a"));
        assert_eq!(differs("a\nb", "a\n"), byte(2, 2, 1, "b", ""));
        assert_eq!(differs("ä", "ö"), byte(1, 1, 1, "ä", "ö"));
    }
}
