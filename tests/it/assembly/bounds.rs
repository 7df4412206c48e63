//! The lower and upper bounds of a manifest hold for every run, with any values, any token counter
//! and any budget.

use super::settings::{registry, values};
use crate::support::profiles::fenced_profiles;
use ctxc::Registry;
use ctxc::internals::context::assemble::{Assembly, assemble};
use ctxc::internals::context::context_source::{Fixtures, Match};
use ctxc::internals::context::manifest::{Entry, ManifestOptions, Total, task_manifest};
use ctxc::internals::context::options::Options;
use ctxc::internals::context::request::{CallerGoals, Request, StepResult};
use ctxc::internals::context::tokens::counter;
use ctxc::internals::context::{Counting, Profile, Trust};
use ctxc::internals::kernel::context::{Kind, Segment};
use ctxc::internals::kernel::tokens::{ByteCounter, ByteEstimate, TokenCounter};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

static COUNTERS: LazyLock<[Arc<dyn TokenCounter>; 4]> = LazyLock::new(|| {
    let [o200k, cl100k] = ["o200k", "cl100k"].map(|name| counter(name).unwrap());
    [
        o200k,
        cl100k,
        Arc::new(ByteCounter),
        Arc::new(ByteEstimate::new("estimate", 3.5)),
    ]
});

/// A task with the values of one run of it.
#[derive(Clone, Debug)]
struct Scene {
    /// True if the task is a step of another.
    is_step: bool,
    description: String,
    instructions: String,
    more: String,
    /// The values of a run; true for a value that a manifest knows.
    given: BTreeMap<&'static str, (String, bool)>,
    parent: Vec<Segment>,
    found: Vec<Match>,
    objective: Option<String>,
    budget: Option<usize>,
    profile: Profile,
    counter: usize,
}

/// Words that tokenizers join or split, and white space that Jinja trims.
fn words() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z]{1,7}",
        2 => Just(" ".to_owned()),
        1 => "[ \t\n]{1,6}",
        1 => "[0-9]{1,5}",
        2 => prop::sample::select(vec!["'", "'s", "'ll", "/", "//\n", ".", "…", "\"", "-", "---", "=", "#", "\r\n", "\u{a0}", "\u{2028}"])
            .prop_map(str::to_owned),
        1 => prop::sample::select(vec!["é", "\u{301}", "指示。", "ẞ", "Ⓐ", "٣", "👩\u{200d}👧", "indivis", "ible", "ſ"])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat())
}

const NAMES: [&str; 3] = ["a", "b", "z"];

/// A text with values in it, plain or Jinja.
fn template() -> impl Strategy<Value = (String, bool)> {
    let tag = prop::sample::select(vec!["a", "b", "z", "z", "c"]);
    let plain =
        prop_oneof![3 => words(), 2 => tag.clone().prop_map(|name| format!("{{{{{name}}}}}"))];
    let jinja = prop_oneof![
        3 => words(),
        2 => (tag.clone(), "-?", "-?").prop_map(|(name, begin, end)| format!("{{{{{begin} {name} {end}}}}}")),
        1 => (tag, words(), "-?", "-?").prop_map(|(name, words, begin, end)| {
            format!("{{%{begin} if {name} %}}{words}{{% else -%}} no {{% endif {end}%}}")
        }),
        1 => ("-?", "-?").prop_map(|(begin, end)| format!("{{#{begin} note {end}#}}")),
        1 => words().prop_map(|words| format!("{{% set z = \"new\" %}}{words}")),
    ];
    prop_oneof![
        prop::collection::vec(plain, 0..6).prop_map(|pieces| (pieces.concat(), false)),
        prop::collection::vec(jinja, 0..6).prop_map(|pieces| (pieces.concat(), true)),
    ]
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('\r', "&#13;")
}

fn element(name: &str, (text, is_jinja): &(String, bool)) -> String {
    let syntax = if *is_jinja { " syntax=\"jinja\"" } else { "" };
    format!("<{name}{syntax}>{}</{name}>", escaped(text))
}

fn more() -> impl Strategy<Value = String> {
    let inherit = prop::sample::select(vec!["full", "none", "subset"]);
    let trust = |untrusted: bool| {
        if untrusted {
            " trust=\"untrusted\""
        } else {
            ""
        }
    };
    let input = (
        0..3_usize,
        any::<bool>(),
        prop::option::weighted(0.3, 10_usize..120),
    )
        .prop_map(move |(at, untrusted, most)| {
            let name = NAMES[at];
            let most = most.map_or_else(String::new, |most| format!(" max_tokens=\"{most}\""));
            format!(
                "<input name=\"{name}{name}\" from=\"{name}\"{}{most}/>",
                trust(untrusted)
            )
        });
    let parts = (
        prop::collection::btree_set(input, 0..3)
            .prop_map(|inputs| inputs.into_iter().collect::<String>()),
        prop::collection::vec(template(), 0..3),
        prop::collection::vec((template(), template()), 0..3),
        any::<bool>(),
        inherit,
        any::<bool>(),
    );
    parts.prop_map(|(inputs, constraints, examples, has_file, inherit, fresh)| {
        let list = |name: &str, inner: String| if inner.is_empty() { inner } else { format!("<{name}>{inner}</{name}>") };
        let constraints: String = constraints.iter().map(|text| element("constraint", text)).collect();
        let example =
            |(input, output): &(_, _)| format!("<example>{}{}</example>", element("input", input), element("output", output));
        let examples: String = examples.iter().map(example).collect();
        let file = if has_file { "<file_paths source=\"literal\"><path>docs/a.md</path></file_paths>" } else { "" };
        let fresh = if fresh && inherit == "none" { "<fresh_context>enabled</fresh_context>" } else { "" };
        [
            list("inputs", inputs),
            list("constraints", constraints),
            list("examples", examples),
            file.to_owned(),
            format!("<context_management><inherit_context>{inherit}</inherit_context>{fresh}</context_management>"),
        ]
        .concat()
    })
}

fn scenes() -> impl Strategy<Value = Scene> {
    let segment = (
        prop::sample::select(vec![Kind::File, Kind::Input, Kind::Description]),
        words(),
        any::<bool>(),
    );
    let segment = segment.prop_map(|(kind, text, trusted)| {
        let segment = Segment::new(kind, "p", text);
        if trusted {
            segment
        } else {
            segment.untrusted()
        }
    });
    let found = words().prop_map(|text| Match {
        id: "doc".to_owned(),
        text,
        trust: Trust::Untrusted,
    });
    let value = prop_oneof![4 => words(), 1 => "[a-z ]{200,900}"];
    let given = prop::collection::vec((value, prop::bool::weighted(0.3)), NAMES.len());
    let budget = prop::option::of(prop_oneof![40_usize..400, 400_usize..4000]);
    let how = (budget, prop::sample::select(fenced_profiles()), 0..4_usize);
    let around = (
        prop::collection::vec(segment, 0..3),
        prop::collection::vec(found, 0..2),
        prop::option::of("[a-z]{1,3}"),
    );
    (
        any::<bool>(),
        template(),
        template(),
        more(),
        given,
        around,
        how,
    )
        .prop_map(
            |(
                is_step,
                description,
                instructions,
                more,
                given,
                (parent, found, objective),
                (budget, profile, counter),
            )| Scene {
                is_step,
                description: element("description", &description),
                instructions: element("instructions", &instructions),
                more,
                given: NAMES.into_iter().zip(given).collect(),
                parent,
                found,
                objective,
                budget,
                profile,
                counter,
            },
        )
}

impl Scene {
    fn registry(&self) -> Option<Registry> {
        let Self {
            description,
            instructions,
            more,
            ..
        } = self;
        let parameters = "<parameters><parameter name=\"a\"/><parameter name=\"b\"/><parameter name=\"z\" trust=\"untrusted\"/>\
            <parameter name=\"c\" default=\"the default\"/></parameters>";
        let agent = format!("{description}{instructions}{more}");
        let templates = if self.is_step {
            format!(
                "<task type=\"sequential\" name=\"t\"><description>all of {{{{a}}}}</description>{parameters}\
                 <inputs><input name=\"whole\" from=\"b\"/></inputs><steps><task as=\"plan\" type=\"atomic\"><description>plan it</description></task>\
                 <task type=\"atomic\">{agent}</task></steps></task>"
            )
        } else {
            format!("<task type=\"atomic\" name=\"t\">{parameters}{agent}</task>")
        };
        let text = format!("<library>{templates}</library>");
        ctxc::compile_sources(&ctxc::Config::default(), [("lib.xml", text.as_str())]).registry
    }

    /// The manifest's entry and the assembled context of a run, if the run is possible.
    fn both(&self) -> Option<(Entry, Assembly)> {
        let registry = self.registry()?;
        let options = Options {
            profile: self.profile,
            budget: self.budget,
            counter: &*COUNTERS[self.counter],
            counting: Counting::Always,
            ..Options::default()
        };
        let files = BTreeMap::from([("docs/a.md".to_owned(), "One team.\n".to_owned())]);
        let of = |is_wanted: fn(bool) -> bool| -> BTreeMap<String, Value> {
            let wanted = self
                .given
                .iter()
                .filter(|(_, (_, known))| is_wanted(*known));
            wanted
                .map(|(name, (value, _))| ((*name).to_owned(), json!(value)))
                .collect()
        };
        let (all, some) = (of(|_| true), of(|known| known));
        let results = BTreeMap::from([(
            "plan".to_owned(),
            StepResult {
                content: json!(self.given["b"].0),
                ..StepResult::default()
            },
        )]);
        let node = if self.is_step { "/steps/1" } else { "/" };
        let goals = CallerGoals {
            objective: self.objective.as_deref(),
            ..CallerGoals::default()
        };
        let request = Request {
            node,
            files: &files,
            parent: &self.parent,
            goals,
            ..Request::new("t")
        };
        let dry = task_manifest(
            &registry,
            &Request {
                inputs: &some,
                ..request
            },
            Some(node),
            &ManifestOptions {
                options,
                files: &files,
            },
        );
        let source = Fixtures(self.found.clone());
        let run = assemble(
            &registry,
            &Request {
                inputs: &all,
                results: &results,
                source: &source,
                ..request
            },
            &options,
        )
        .ok()?;
        let [entry] =
            <[Entry; 1]>::try_from(dry.expect("a run that is possible has a manifest").entries)
                .ok()?;
        Some((entry, run))
    }
}

/// Compares a run with the bounds of the manifest.
fn hold(entry: &Entry, run: &Assembly) -> Result<(), TestCaseError> {
    let mut parts: BTreeMap<&str, _> = entry
        .segments
        .iter()
        .map(|part| (&*part.id, part))
        .collect();
    let is_open = entry.segments.iter().any(|part| part.condition.is_some());
    for account in &run.report.segments {
        let kept = account.kept_tokens.unwrap();
        let Some(part) = parts.remove(&*account.segment.id) else {
            prop_assert!(is_open, "{} comes from nowhere", account.segment.id);
            continue;
        };
        prop_assert!(
            part.least <= kept,
            "{}: at least {}, and there are {kept}",
            part.id,
            part.least
        );
        prop_assert!(
            part.bound.is_none_or(|most| kept <= most),
            "{}: at most {:?}, and there are {kept}",
            part.id,
            part.bound
        );
    }
    for part in parts.values() {
        prop_assert!(part.least == 0, "{} is told and not there", part.id);
    }
    let (total, least, most) = (
        run.report.tokens.unwrap(),
        entry.total.least,
        entry.total.bound,
    );
    prop_assert!(
        least <= total && most.is_none_or(|most| total <= most),
        "{least} to {most:?}, and there are {total}"
    );
    if Some(least) == most {
        prop_assert_eq!(
            (entry.total.fixed, entry.prefix_tokens),
            (total, run.report.prefix_tokens.unwrap())
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn the_least_and_the_most_of_a_manifest_hold_for_every_run(scene in scenes()) {
        let both = scene.both();
        prop_assume!(both.is_some());
        let (entry, run) = both.unwrap();
        hold(&entry, &run)?;
    }
}

#[test]
fn a_limit_of_its_own_bounds_an_input_that_is_not_known() {
    let registry = registry(
        "<task type=\"atomic\" name=\"t\"><description>Sort.</description><parameters><parameter name=\"a\"/></parameters>\
         <inputs><input name=\"a\" from=\"a\" max_tokens=\"100\"/></inputs></task>",
    );
    let options = Options {
        counter: &*COUNTERS[0],
        counting: Counting::Always,
        ..Options::default()
    };
    let entry = task_manifest(
        &registry,
        &Request::new("t"),
        None,
        &ManifestOptions {
            options,
            files: &(),
        },
    )
    .unwrap()
    .entries
    .remove(0);
    assert_eq!(
        entry
            .segments
            .iter()
            .find(|part| part.kind == Kind::Input)
            .unwrap()
            .bound,
        Some(100)
    );
    let inputs = values(&[("a", json!("word ".repeat(500)))]);
    let run = assemble(
        &registry,
        &Request {
            inputs: &inputs,
            ..Request::new("t")
        },
        &options,
    )
    .unwrap();
    let total = run.report.tokens.unwrap();
    assert!(
        total > 95 && entry.total.bound.is_some_and(|most| total <= most),
        "{total} {:?}",
        entry.total
    );
}

#[test]
fn a_mark_costs_the_same_whatever_it_is() {
    for counter in COUNTERS.iter() {
        let cost = |mark: &str| counter.count(&format!("<untrusted-{mark} name=\"z\">\n"));
        let costs: Vec<usize> = (0..1000)
            .map(|number| cost(&format!("{number:03}").repeat(7)))
            .collect();
        assert_eq!(
            costs,
            vec![cost("012345678901234567890"); 1000],
            "{}",
            counter.name()
        );
    }
}

#[test]
fn the_lower_bound_is_the_context_with_empty_values() {
    let registry = registry(
        "<task type=\"atomic\" name=\"t\"><description>Send {{a}} to {{b}}, and say: it is done.</description>\
         <parameters><parameter name=\"a\"/><parameter name=\"b\"/></parameters></task>",
    );
    let options = Options {
        counter: &*COUNTERS[0],
        counting: Counting::Always,
        ..Options::default()
    };
    let entry = task_manifest(
        &registry,
        &Request::new("t"),
        None,
        &ManifestOptions {
            options,
            files: &(),
        },
    )
    .unwrap()
    .entries
    .remove(0);
    let inputs = values(&[("a", json!("word")), ("b", json!("team"))]);
    let run = assemble(
        &registry,
        &Request {
            inputs: &inputs,
            ..Request::new("t")
        },
        &options,
    )
    .unwrap();
    // With two empty values the context has 14 tokens, with two words 15.
    assert_eq!((entry.total.least, run.report.tokens), (14, Some(15)));
}

/// A number of steps, each of which sees the results of all before it.
fn steps(count: usize) -> Registry {
    steps_and(count, "")
}

/// The same, with one more behind them.
fn steps_and(count: usize, last: &str) -> Registry {
    let step = |number| {
        format!(
            "<task as=\"s{number}\" type=\"atomic\"><description>do {number}</description></task>"
        )
    };
    let steps: String = (0..count).map(step).collect();
    registry(&format!(
        "<task type=\"sequential\" name=\"t\"><description>all</description><steps>{steps}{last}</steps></task>"
    ))
}

#[test]
fn a_manifest_grows_with_its_steps_and_not_with_their_square() {
    let options = Options {
        counting: Counting::Always,
        ..Options::default()
    };
    let how = ManifestOptions {
        options,
        files: &(),
    };
    let manifest = task_manifest(&steps(2_000), &Request::new("t"), None, &how).unwrap();
    assert_eq!(manifest.entries.len(), 2_000);
    let bytes = serde_json::to_string_pretty(&manifest).unwrap().len();
    assert!(bytes < 12 << 20, "{bytes} bytes");
}

#[test]
fn what_is_known_before_a_run_never_falls_where_a_step_is_added() {
    let inner = "<task type=\"sequential\"><description>part</description><steps><task type=\"atomic\"><description>do it</description>\
        <context_management><inherit_context>full</inherit_context></context_management></task></steps></task>";
    let result = |number: usize, text: &str| {
        (
            format!("s{number}"),
            StepResult {
                content: json!(text),
                ..StepResult::default()
            },
        )
    };
    let empty: BTreeMap<_, _> = (0..60).map(|number| result(number, "")).collect();
    let third = BTreeMap::from([result(3, "hello")]);
    for (profile, counter) in Profile::ALL.into_iter().zip(COUNTERS.iter()) {
        let options = Options {
            profile,
            counter: &**counter,
            counting: Counting::Always,
            ..Options::default()
        };
        let mut totals = [(0, 0, None); 2];
        for count in 1..=40 {
            let registry = steps_and(count, inner);
            let total = |request: &Request<'_>| {
                let manifest = task_manifest(
                    &registry,
                    request,
                    Some(request.node),
                    &ManifestOptions {
                        options,
                        files: &(),
                    },
                );
                manifest.unwrap().entries.remove(0).total
            };
            // The last step itself, and the agent that inherits from the one behind it.
            let nodes = [
                format!("/steps/{}", count - 1),
                format!("/steps/{count}/steps/0"),
            ];
            for (node, (known, certain, of_third)) in nodes.iter().zip(&mut totals) {
                let request = Request {
                    node,
                    ..Request::new("t")
                };
                let Total { fixed, least, .. } = total(&request);
                assert!(
                    *known < fixed && *certain <= least,
                    "{node}: {known} and {certain}, then {fixed} and {least}"
                );
                (*known, *certain) = (fixed, least);
                let run = assemble(
                    &registry,
                    &Request {
                        results: &empty,
                        ..request
                    },
                    &options,
                )
                .unwrap()
                .report
                .tokens
                .unwrap();
                assert!(
                    least <= fixed && fixed <= run,
                    "{node}: {least}, {fixed}, and there are {run}"
                );
                // A text counted as one piece in front of a known result, and behind it, adds up to
                // the same.
                if count > 5 {
                    let more = total(&Request {
                        results: &third,
                        ..request
                    })
                    .fixed
                        - fixed;
                    assert_eq!(*of_third.get_or_insert(more), more, "{node}");
                }
            }
        }
    }
}

#[test]
fn many_results_are_reported_as_one_segment_that_holds_for_every_run() {
    let registry = steps(60);
    let results = |count: usize| {
        let result = |number: usize| {
            (
                format!("s{number}"),
                StepResult {
                    content: json!("done ".repeat(number)),
                    ..StepResult::default()
                },
            )
        };
        (0..count).map(result).collect::<BTreeMap<_, _>>()
    };
    for (profile, counter) in Profile::ALL
        .into_iter()
        .flat_map(|profile| COUNTERS.iter().map(move |counter| (profile, counter)))
    {
        for budget in [None, Some(60), Some(300), Some(3_000)] {
            let options = Options {
                profile,
                budget,
                counter: &**counter,
                counting: Counting::Always,
                ..Options::default()
            };
            let all = results(50);
            let request = Request {
                node: "/steps/50",
                results: &all,
                ..Request::new("t")
            };
            let run = assemble(&registry, &request, &options).unwrap();
            // A few steps have known results.
            for known in [0, 1, 40, 50] {
                let known = results(known);
                let some = Request {
                    results: &known,
                    ..request
                };
                let manifest = task_manifest(
                    &registry,
                    &some,
                    Some(request.node),
                    &ManifestOptions {
                        options,
                        files: &(),
                    },
                )
                .unwrap();
                let [entry] = &manifest.entries[..] else {
                    panic!("{manifest:#?}")
                };
                let ids: Vec<&str> = entry.segments.iter().map(|part| &*part.id).collect();
                let is_grouped = ids.contains(&"accumulated:earlier steps");
                assert_eq!(is_grouped, known.len() < 18, "{ids:?}");
                let (total, least, most) = (
                    run.report.tokens.unwrap(),
                    entry.total.least,
                    entry.total.bound,
                );
                assert!(
                    least <= total && most.is_none_or(|most| total <= most),
                    "{least} to {most:?}, and there are {total}"
                );
                let (mut left, mut some) = (0, 0);
                for account in &run.report.segments {
                    let kept = account.kept_tokens.unwrap();
                    let Some(part) = entry
                        .segments
                        .iter()
                        .find(|part| part.id == account.segment.id)
                    else {
                        (left, some) = (left + kept, some + 1);
                        continue;
                    };
                    assert!(
                        part.least <= kept && part.bound.is_none_or(|most| kept <= most),
                        "{}",
                        part.id
                    );
                }
                if let Some(group) = entry
                    .segments
                    .iter()
                    .find(|part| part.id == "accumulated:earlier steps")
                {
                    assert_eq!(group.variable, [format!("results of {some} earlier steps")]);
                    assert!(
                        group.least <= left && group.bound.is_none_or(|most| left <= most),
                        "{} and {left}",
                        group.least
                    );
                    // Each has a heading, except in the profile `bare`.
                    let each = if profile == Profile::Bare { 0 } else { 2 };
                    assert!(
                        budget.is_some() || group.least >= each * some,
                        "{}",
                        group.least
                    );
                }
            }
        }
    }
}

#[test]
fn what_has_to_go_is_reported_with_the_tokens_that_it_had() {
    let registry = registry(
        "<task type=\"atomic\" name=\"t\"><description>Sort.</description><constraints><constraint>One.</constraint></constraints>\
         <file_paths source=\"literal\"><path>a.md</path></file_paths></task>",
    );
    let files = BTreeMap::from([("a.md".to_owned(), "word ".repeat(40))]);
    let figures = |budget| {
        let options = Options {
            budget,
            counter: &*COUNTERS[0],
            counting: Counting::Always,
            ..Options::default()
        };
        let run = assemble(
            &registry,
            &Request {
                files: &files,
                ..Request::new("t")
            },
            &options,
        )
        .unwrap();
        let file = run
            .report
            .segments
            .iter()
            .find(|account| account.segment.kind == Kind::File)
            .unwrap();
        (file.full_tokens, file.kept_tokens)
    };
    let (full, kept) = figures(None);
    assert_eq!(full, kept);
    assert_eq!(figures(Some(30)), (full, Some(0)));
}
