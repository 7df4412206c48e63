//! Reads a configuration as a whole. Notes that concern all prompts are reported once, with the
//! first prompt.

use super::source::Source;
use super::{assertion, prompts, providers, tests};
use crate::import::front_matter::{self, Front};
use crate::import::model::{Asserted, Case, Format, Imported, Library, Options, Prompt, Suite};
use crate::import::names::kebab;
use crate::import::note::NoteKind;
use crate::syntax::yaml::Node;
use std::collections::BTreeSet;

pub(in crate::import) static FORMAT: Format = Format {
    help: "Configuration of promptfoo: prompts, with tests as scenarios",
    files: "`promptfooconfig.yaml`, `.yml`, `.json`.",
    stem: Some("promptfooconfig"),
    parts,
    ..Format::new(("promptfoo", "promptfoo"), &["yaml", "yml", "json"], read)
};

/// The maximum number of scenarios of one prompt.
const MOST: usize = 20_000;

/// Keys that are read, and keys that do not concern prompts and tests.
const KNOWN: [&str; 15] = [
    "description",
    "prompts",
    "providers",
    "targets",
    "tests",
    "defaultTest",
    "assertionTemplates",
    "evaluateOptions",
    "outputPath",
    "sharing",
    "tags",
    "commandLineOptions",
    "env",
    "writeLatestResults",
    "metadata",
];

/// The files that a configuration refers to.
fn parts(text: &str) -> Vec<String> {
    let end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ']' | '}');
    let name = |rest: &str| {
        rest.split(end)
            .next()
            .unwrap_or("")
            .trim_start_matches("./")
            .to_owned()
    };
    text.split("file://")
        .skip(1)
        .map(name)
        .filter(|name| !name.is_empty())
        .collect()
}

fn read(prompt: &Prompt<'_>, library: &dyn Library, options: Options) -> Imported {
    let source = Source {
        path: prompt.path,
        library,
    };
    let mut shared = Imported::default();
    let text = front_matter::indented(prompt.text);
    let front = front_matter::whole(prompt.path, &text, &mut shared);
    if shared.is_refused() {
        return shared;
    }
    let mut all = prompts::read(&source, &front, options);
    providers::read(&source, &front, &mut shared);
    let cases = cases(&source, &front, &mut shared);
    for entry in front
        .root
        .entries()
        .unwrap_or_default()
        .iter()
        .filter(|entry| !KNOWN.contains(&&*entry.key.value))
    {
        let what = format!("`{}`", entry.key.value);
        let why = "nothing here says the same".to_owned();
        shared.note(
            prompt.path,
            front.line_of(&entry.value),
            NoteKind::LeftOut { what, why },
        );
    }
    shared.notes.sort();
    let objective = front
        .root
        .get("description")
        .and_then(Node::text)
        .unwrap_or("what promptfoo tested")
        .to_owned();
    let repeat = front
        .root
        .get("evaluateOptions")
        .and_then(|options| options.get("repeat")?.to_json().as_u64());
    let runs = repeat.unwrap_or(1).clamp(1, 1000);
    for one in &mut all {
        one.model.clone_from(&shared.model);
        one.suite = (!cases.is_empty()).then(|| Suite {
            objective: objective.clone(),
            runs,
            cases: cases.clone(),
        });
    }
    let mut all = all.into_iter();
    let mut first = all.next().unwrap_or_default();
    first.notes.append(&mut shared.notes);
    first.others = all.collect();
    first
}

/// The cases, common to all prompts; each prompt retains the inputs that it uses.
fn cases(source: &Source<'_>, front: &Front<'_>, shared: &mut Imported) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut ids = BTreeSet::new();
    let templates = front
        .root
        .get("assertionTemplates")
        .map(Node::to_json)
        .unwrap_or_default();
    for test in tests::read(source, front, shared) {
        let sets = tests::expanded(&test.vars).filter(|sets| cases.len() + sets.len() <= MOST);
        let Some(sets) = sets else {
            let what = "a test with so many values in lists, or after so many others,".to_owned();
            let why =
                format!("a test makes 1000 scenarios at most, and a prompt has {MOST}: split it");
            shared.note(&test.path, test.line, NoteKind::LeftOut { what, why });
            continue;
        };
        for inputs in sets {
            let mut expectations = test.lacks.clone();
            for assert in &test.asserts {
                match assertion::expectation(
                    source,
                    &assertion::resolved(&assert.json, &templates),
                    &inputs,
                    test.is_transformed,
                ) {
                    Ok(one) => expectations.push(Asserted::Expectation(one)),
                    Err(why) => {
                        expectations.push(assertion::todo(&assert.json, &why));
                        let what = format!("the assertion `{}`", assertion::word(&assert.json));
                        let note = NoteKind::LeftOut { what, why };
                        // An assertion common to several tests is reported once.
                        if !shared.notes.iter().any(|there| {
                            there.path == assert.path
                                && there.line == assert.line
                                && there.kind == note
                        }) {
                            shared.note(&assert.path, assert.line, note);
                        }
                    }
                }
            }
            let base = test.name.as_deref().map_or_else(
                || "case".to_owned(),
                |name| kebab(name).chars().take(60).collect(),
            );
            let numbered = (2_u32..).map(|number| format!("{base}-{number}"));
            let id = std::iter::once(base.clone())
                .chain(numbered)
                .find(|id| !ids.contains(id))
                .unwrap_or_default();
            ids.insert(id.clone());
            cases.push(Case {
                id,
                name: test.name.clone(),
                inputs,
                expectations,
            });
        }
    }
    cases
}
