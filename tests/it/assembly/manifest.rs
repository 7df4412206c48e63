//! The manifest equals the contexts that a run assembles, token for token, on every agent of every
//! shipped template.

use super::settings::{registry, values};
use super::shipped::{Here, agents, run, shipped};
use crate::support::profiles::fenced_profiles;
use ctxc::internals::context::assemble::{Assembly, assemble};
use ctxc::internals::context::manifest::{
    CauseKind, Disposition, Entry, MANIFEST_SCHEMA, Manifest, ManifestOptions, Moved,
    SettingPlaces, SourceKind, Version, compare_manifests, project_manifest, task_manifest,
};
use ctxc::internals::context::options::Options;
use ctxc::internals::context::request::Request;
use ctxc::internals::context::tokens::counter;
use ctxc::internals::kernel::budget::Counting;
use ctxc::internals::kernel::tokens::{ByteCounter, ByteEstimate, TokenCounter};
use ctxc::internals::template::value_type::parse_default;
use pretty_assertions::assert_eq;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

fn alone(manifest: Manifest) -> Entry {
    assert_eq!(manifest.entries.len(), 1);
    manifest.entries.into_iter().next().unwrap()
}

#[test]
fn manifest_report_and_rendered_text_agree_token_for_token_on_every_shipped_agent() {
    let registry = shipped();
    let estimate = ByteEstimate::new("estimate", 3.5);
    let exact = counter("o200k").unwrap();
    let counters: [&dyn TokenCounter; 3] = [&ByteCounter, &estimate, &*exact];
    let (mut compared, mut left_out) = (0, Vec::new());
    for (task, node) in agents(&registry) {
        for (counter, profile) in counters.iter().flat_map(|counter| {
            fenced_profiles()
                .into_iter()
                .map(|profile| (*counter, profile))
        }) {
            let options = Options {
                profile,
                counter,
                counting: Counting::Always,
                ..Options::default()
            };
            let Some((given, assembly)) = run(&registry, &task, &node, &options) else {
                left_out.push(task);
                break;
            };
            let how = ManifestOptions {
                options,
                files: &Here,
            };
            let request = Request {
                inputs: &given.inputs,
                results: &given.results,
                ..Request::new(&task)
            };
            // Values for which the run takes a default are handed in.
            let mut inputs = given.inputs.clone();
            for own in
                alone(task_manifest(&registry, &request, Some(&node), &how).unwrap()).defaults
            {
                let mut all = registry.tasks().flat_map(|task| task.parameters().unwrap());
                let parameter = all
                    .find(|one| one.name == own.name && one.default.as_ref() == Some(&own.value))
                    .unwrap();
                inputs.insert(
                    own.name,
                    parse_default(&own.value, parameter.kind.as_deref()),
                );
            }
            let request = Request {
                inputs: &inputs,
                ..request
            };
            agree(
                &alone(task_manifest(&registry, &request, Some(&node), &how).unwrap()),
                &assembly,
            );
            compared += 1;
        }
    }
    assert_eq!(
        left_out,
        ["assess-api-change"],
        "its files are the output of a command"
    );
    assert!(compared > 300, "only {compared} compared");
}

/// Compares one entry with the report and the messages of the run.
fn agree(entry: &Entry, assembly: &Assembly) {
    let (report, title) = (&assembly.report, entry.title());
    let there = |entry: &Entry| {
        let parts = entry
            .segments
            .iter()
            .filter(|part| part.condition.is_none());
        parts
            .map(|part| (part.id.clone(), part.tokens, part.priority))
            .collect::<Vec<_>>()
    };
    let received: Vec<_> = report
        .segments
        .iter()
        .map(|account| {
            (
                account.segment.id.clone(),
                account.kept_tokens.unwrap(),
                account.segment.priority(),
            )
        })
        .collect();
    for part in &entry.segments {
        let are_bounds =
            part.least <= part.tokens && part.bound.is_none_or(|bound| part.tokens <= bound);
        assert!(
            are_bounds,
            "{title}: {} is {}, from {} to {:?}",
            part.id, part.tokens, part.least, part.bound
        );
    }
    assert_eq!(there(entry), received, "{title}");
    assert_eq!(
        (entry.total.fixed, entry.prefix_tokens),
        (report.tokens.unwrap(), report.prefix_tokens.unwrap()),
        "{title}"
    );
    assert_eq!(
        (&entry.tokenizer.name, entry.tokenizer.exact),
        (&report.tokenizer, report.is_exact)
    );
    let standing: Vec<&str> = entry
        .segments_in_order()
        .iter()
        .filter(|part| part.condition.is_none())
        .map(|part| &*part.id)
        .collect();
    let mut positioned: Vec<_> = report.segments.iter().collect();
    positioned.sort_by_key(|account| account.position);
    assert_eq!(
        standing,
        positioned
            .iter()
            .map(|account| &*account.segment.id)
            .collect::<Vec<_>>(),
        "{title}"
    );
    if entry.tokenizer.name == "bytes" {
        // Every byte of the messages belongs to a segment.
        let bytes: usize = assembly
            .messages
            .iter()
            .map(|message| message.text.text().len())
            .sum();
        assert_eq!(entry.total.fixed, bytes, "{title}");
    }
}

#[test]
fn one_pass_over_the_project_gives_the_result_of_each_task() {
    let registry = shipped();
    let how = ManifestOptions {
        options: Options::default(),
        files: &Here,
    };
    let whole = project_manifest(&registry, &how, None).unwrap();
    let mut apart = Vec::new();
    for task in registry.tasks() {
        apart.extend(
            task_manifest(&registry, &Request::new(task.name()), None, &how)
                .unwrap()
                .entries,
        );
    }
    assert_eq!(whole.entries, apart);
    assert_eq!(
        (whole.schema.as_str(), whole.registry_hash),
        (MANIFEST_SCHEMA, registry.hash().to_string())
    );
    assert_eq!(
        MANIFEST_SCHEMA,
        ctxc::internals::schema::json::names::MANIFEST
    );
    let agents: BTreeSet<String> = whole.entries.iter().map(Entry::title).collect();
    assert_eq!(agents.len(), whole.entries.len(), "every agent once");
    assert!(
        agents.contains("triage-ticket") && agents.contains("answer-customer/steps/1/cases/0"),
        "{agents:?}"
    );
}

const LONG: &str = "<task type=\"atomic\" name=\"t\"><description>Sort {{subject}}.</description>\
    <parameters><parameter name=\"subject\" required=\"true\"/><parameter name=\"ticket\" required=\"true\"/></parameters>\
    <inputs><input name=\"message\" from=\"ticket\"/></inputs><constraints><constraint>Be kind.</constraint></constraints></task>";

#[test]
fn a_budget_bounds_what_varies_and_no_run_goes_beyond() {
    let registry = registry(LONG);
    let options = Options {
        budget: Some(600),
        ..Options::default()
    };
    let how = ManifestOptions {
        options,
        files: &(),
    };
    let entry = alone(task_manifest(&registry, &Request::new("t"), None, &how).unwrap());
    let bounds: BTreeMap<&str, (usize, Option<usize>)> = entry
        .segments
        .iter()
        .map(|part| (&*part.id, (part.tokens, part.bound)))
        .collect();
    assert_eq!(entry.total.bound, Some(600));
    assert_eq!(
        bounds["constraints"].1,
        Some(bounds["constraints"].0),
        "what is known has no more than it has"
    );
    for length in [0, 40, 300, 5_000] {
        let inputs = values(&[
            ("subject", json!("login")),
            ("ticket", json!("x".repeat(length))),
        ]);
        let assembly = assemble(
            &registry,
            &Request {
                inputs: &inputs,
                ..Request::new("t")
            },
            &options,
        )
        .unwrap();
        for account in &assembly.report.segments {
            let kept = account.kept_tokens.unwrap_or(0);
            assert!(
                kept <= bounds[&*account.segment.id].1.unwrap(),
                "{} with {length}",
                account.segment.id
            );
        }
    }
    let unbounded = alone(
        task_manifest(
            &registry,
            &Request::new("t"),
            None,
            &ManifestOptions {
                options: Options::default(),
                files: &(),
            },
        )
        .unwrap(),
    );
    assert_eq!(unbounded.total.bound, None);
    let over = ManifestOptions {
        options: Options {
            budget: Some(5),
            ..Options::default()
        },
        files: &(),
    };
    let faults = task_manifest(&registry, &Request::new("t"), None, &over).unwrap_err();
    assert!(
        faults[0]
            .to_string()
            .contains("may not be cut; the budget is 5"),
        "{faults:?}"
    );
}

#[test]
fn what_changed_is_reported_in_tokens_and_in_words() {
    let how = ManifestOptions {
        options: Options::default(),
        files: &(),
    };
    let of = |text: &str| project_manifest(&registry(text), &how, None).unwrap();
    let places = SettingPlaces::default();
    let between = |old: &Manifest, new: &Manifest| {
        let version = |manifest| Version {
            name: "",
            manifest,
            places: &places,
        };
        compare_manifests(&version(old), &version(new))
    };
    let old = of(LONG);
    assert!(
        between(&old, &of(&LONG.replace("><", ">\n    <"))).is_empty(),
        "white space is no change"
    );
    let same_length = between(&old, &of(&LONG.replace("Be kind", "Be nice")));
    let [segment] = &same_length.changed[0].segments[..] else {
        panic!("{same_length:#?}")
    };
    assert_eq!(
        (&*segment.id, segment.change, segment.tokens),
        (
            "constraints",
            Disposition::Changed,
            Moved { from: 26, to: 26 }
        )
    );
    assert_eq!(segment.words, ["another text"]);
    assert_eq!(
        segment
            .moved_by
            .iter()
            .map(|cause| cause.what)
            .collect::<Vec<_>>(),
        [CauseKind::Source(SourceKind::Template)]
    );
    let more = LONG
        .replace("Be kind.", "Be kind, and brief.")
        .replace("<description>", "<system>You sort.</system><description>");
    let difference = between(&old, &of(&more));
    let change = &difference.changed[0];
    assert_eq!(
        (
            change.total.to - change.total.from,
            change.prefix.to - change.prefix.from
        ),
        (22, 22)
    );
    let changes: Vec<_> = change
        .segments
        .iter()
        .map(|part| (&*part.id, part.change, part.tokens.from, part.tokens.to))
        .collect();
    assert_eq!(
        changes,
        [
            ("system", Disposition::Added, 0, 11),
            ("constraints", Disposition::Changed, 26, 37)
        ]
    );
}

#[test]
fn choices_and_faults_on_the_path_are_reported() {
    let text = "<task type=\"sequential\" name=\"s\"><description>d</description><steps>\
        <task type=\"atomic\" as=\"v\"><description>judge</description></task>\
        <cond><case test=\"v == 'bad'\"><task type=\"atomic\"><description>mend {{v}}</description></task></case></cond></steps></task>\
        <task type=\"atomic\" name=\"f\"><description>d</description><file_paths source=\"literal\"><path>gone.md</path></file_paths></task>\
        <task type=\"atomic\" name=\"g\"><description>d</description><file_paths source=\"literal\"><path>lost.md</path></file_paths></task>";
    let registry = registry(text);
    let how = ManifestOptions {
        options: Options::default(),
        files: &(),
    };
    let manifest = task_manifest(&registry, &Request::new("s"), None, &how).unwrap();
    let conditions: Vec<_> = manifest
        .entries
        .iter()
        .map(|entry| (entry.title(), entry.condition.clone()))
        .collect();
    assert_eq!(
        conditions,
        [
            ("s/steps/0".to_owned(), None),
            (
                "s/steps/1/cases/0".to_owned(),
                Some("v == 'bad'".to_owned())
            )
        ]
    );
    let faults = project_manifest(&registry, &how, None).unwrap_err();
    let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(
        texts[0].contains("gone.md") && texts[1].contains("lost.md"),
        "{texts:?}"
    );
}
