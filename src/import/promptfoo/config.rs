//! Reads a configuration as a whole. Notes that concern all prompts are reported once, with the
//! first prompt.

use super::source::ConfigSource;
use super::{assertion, prompts, providers, tests};
use crate::import::front_matter::{self, FrontMatter};
use crate::import::note::ImportNoteKind;
use crate::import::prompt_model::{
    EngineOptions, ImportedAssertion, ImportedCase, ImportedPrompt, ImportedSuite, PromptFile,
    PromptFormat, PromptLibrary,
};
use crate::import::prompt_names::kebab_case;
use crate::syntax::yaml::YamlNode;
use std::collections::BTreeSet;

pub(in crate::import) static FORMAT: PromptFormat = PromptFormat {
    help: "Configuration of promptfoo: prompts, with tests as scenarios",
    files: "`promptfooconfig.yaml`, `.yml`, `.json`.",
    stem: Some("promptfooconfig"),
    parts: referenced_files,
    ..PromptFormat::new(
        "promptfoo",
        "promptfoo",
        &["yaml", "yml", "json"],
        read_config,
    )
};

/// The maximum number of scenarios of one prompt.
const MAX_SCENARIOS: usize = 20_000;

/// Keys that are read, and keys that do not concern prompts and tests.
const KNOWN_KEYS: [&str; 15] = [
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
fn referenced_files(text: &str) -> Vec<String> {
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

fn read_config(
    prompt: &PromptFile<'_>,
    library: &dyn PromptLibrary,
    options: EngineOptions,
) -> ImportedPrompt {
    let source = ConfigSource {
        path: prompt.path,
        library,
    };
    let mut shared = ImportedPrompt::default();
    let text = front_matter::indent_quotes(prompt.text);
    let front = front_matter::read_whole(prompt.path, &text, &mut shared);
    if shared.has_errors() {
        return shared;
    }
    let mut all = prompts::read_prompts(&source, &front, options);
    providers::read_providers(&source, &front, &mut shared);
    let known: BTreeSet<&str> = all
        .iter()
        .flat_map(|one| &one.parameters)
        .map(|parameter| parameter.name.as_str())
        .collect();
    let cases = build_cases(&source, &front, &known, &mut shared);
    for entry in front
        .root
        .entries()
        .unwrap_or_default()
        .iter()
        .filter(|entry| !KNOWN_KEYS.contains(&&*entry.key.value))
    {
        let what = format!("`{}`", entry.key.value);
        let why = "nothing here says the same".to_owned();
        shared.add_note(
            prompt.path,
            front.line_of(&entry.value),
            ImportNoteKind::LeftOut { what, why },
        );
    }
    shared.notes.sort();
    let objective = front
        .root
        .get("description")
        .and_then(YamlNode::text)
        .unwrap_or("what promptfoo tested")
        .to_owned();
    let repeat = front
        .root
        .get("evaluateOptions")
        .and_then(|options| options.get("repeat")?.to_json().as_u64());
    let runs = repeat.unwrap_or(1).clamp(1, 1000);
    for one in &mut all {
        one.model.clone_from(&shared.model);
        one.suite = (!cases.is_empty()).then(|| ImportedSuite {
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

/// The minimum score of a case, if an expectation counts towards it.
fn min_score(threshold: Option<f64>, expectations: &[ImportedAssertion]) -> Option<String> {
    let counts = |one: &ImportedAssertion| match one {
        ImportedAssertion::Expectation(one) => one.get("gate").is_none(),
        ImportedAssertion::Todo { weight, .. } => weight.as_deref() != Some("gate: false"),
    };
    let threshold = threshold.filter(|_| expectations.iter().any(counts))?;
    Some(threshold.to_string())
}

/// The cases, common to all prompts; each prompt retains the inputs that it uses. `known` are the
/// inputs of all prompts.
fn build_cases(
    source: &ConfigSource<'_>,
    front: &FrontMatter<'_>,
    known: &BTreeSet<&str>,
    shared: &mut ImportedPrompt,
) -> Vec<ImportedCase> {
    let mut cases = Vec::new();
    let mut ids = BTreeSet::new();
    let templates = front
        .root
        .get("assertionTemplates")
        .map(YamlNode::to_json)
        .unwrap_or_default();
    for test in tests::read_tests(source, front, known, shared) {
        let sets = tests::expand_lists(&test.vars)
            .filter(|sets| cases.len() + sets.len() <= MAX_SCENARIOS);
        let Some(sets) = sets else {
            let what = "a test with so many values in lists, or after so many others,".to_owned();
            let why = format!(
                "a test makes 1000 scenarios at most, and a prompt has {MAX_SCENARIOS}: split it"
            );
            shared.add_note(&test.path, test.line, ImportNoteKind::LeftOut { what, why });
            continue;
        };
        for inputs in sets {
            let mut expectations = test.lacks.clone();
            for assert in &test.asserts {
                let resolved = assertion::resolve_reference(&assert.json, &templates);
                let converted =
                    assertion::to_expectation(source, &resolved, &inputs, test.is_transformed);
                let note = match converted {
                    Ok(one) => {
                        expectations.push(ImportedAssertion::Expectation(one));
                        assertion::judge_difference(&resolved)
                    }
                    Err(why) => {
                        expectations.push(assertion::to_todo(&assert.json, &why));
                        let what = format!(
                            "the assertion `{}`",
                            assertion::assertion_type(&assert.json)
                        );
                        Some(ImportNoteKind::LeftOut { what, why })
                    }
                };
                // An assertion common to several tests is reported once.
                let is_known = |note: &ImportNoteKind| {
                    shared.notes.iter().any(|there| {
                        there.path == assert.path
                            && there.line == assert.line
                            && there.kind == *note
                    })
                };
                if let Some(note) = note.filter(|note| !is_known(note)) {
                    shared.add_note(&assert.path, assert.line, note);
                }
            }
            let base = test.name.as_deref().map_or_else(
                || "case".to_owned(),
                |name| kebab_case(name).chars().take(60).collect(),
            );
            let numbered = (2_u32..).map(|number| format!("{base}-{number}"));
            let id = std::iter::once(base.clone())
                .chain(numbered)
                .find(|id| !ids.contains(id))
                .unwrap_or_default();
            ids.insert(id.clone());
            cases.push(ImportedCase {
                id,
                name: test.name.clone(),
                inputs,
                min_score: min_score(test.threshold, &expectations),
                expectations,
            });
        }
    }
    cases
}
