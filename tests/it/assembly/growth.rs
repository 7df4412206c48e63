//! A manifest grows with its task, and not with the square of that: its bytes and the texts that
//! are counted, at N and 2 N. No test of time.

use super::settings::registry;
use ctxc::Registry;
use ctxc::internals::context::manifest::{
    Manifest, ManifestOptions, project_manifest, task_manifest,
};
use ctxc::internals::context::options::Options;
use ctxc::internals::context::request::Request;
use ctxc::internals::kernel::budget::Counting;
use ctxc::internals::kernel::tokens::TokenCounter;
use pretty_assertions::assert_eq;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The maximum growth per doubling, in tenths.
const MOST: usize = 23;

/// Counts bytes as tokens, and counts its calls.
#[derive(Debug, Default)]
struct Asked(AtomicUsize);

impl TokenCounter for Asked {
    fn name(&self) -> &'static str {
        "asked"
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn count(&self, text: &str) -> usize {
        self.0.fetch_add(1, Ordering::Relaxed);
        text.len()
    }
}

fn numbered(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect()
}

fn sequence(steps: &str) -> String {
    format!(
        "<task type=\"sequential\" name=\"many\"><description>All of it.</description><steps>{steps}</steps></task>"
    )
}

fn inputs(count: usize) -> String {
    let made = |number| {
        format!(
            "<input name=\"i{number}\"><task type=\"atomic\"><description>Make part {number}.</description></task></input>"
        )
    };
    let inputs = numbered(count, made);
    format!(
        "<task type=\"atomic\" name=\"many\"><description>All of it.</description><inputs>{inputs}</inputs></task>"
    )
}

fn calls(count: usize) -> String {
    let words = numbered(count, |number| format!("{{{{word('part {number}')}}}} "));
    format!("<task type=\"atomic\" name=\"many\"><description>{words}</description></task>")
}

fn references(count: usize) -> String {
    sequence(&numbered(count, |number| {
        format!("<task ref=\"leaf\" as=\"s{number}\"/>")
    }))
}

fn call_steps(count: usize) -> String {
    sequence(&numbered(count, |number| {
        format!(
            "<call template=\"word\" as=\"s{number}\"><arg name=\"text\">part {number}</arg></call>"
        )
    }))
}

fn steps(count: usize) -> String {
    sequence(&numbered(count, |number| {
        format!(
            "<task type=\"atomic\" as=\"s{number}\"><description>Make part {number}.</description></task>"
        )
    }))
}

/// Steps from outside, that read each other, and inputs that are made of each other.
fn mixed(count: usize) -> String {
    let step = |number: usize| {
        let trust = if number % 9 == 7 {
            " trust=\"untrusted\""
        } else {
            ""
        };
        let reads = if number % 5 == 4 {
            format!(" after {{{{s{}}}}}", number - 2)
        } else {
            String::new()
        };
        let inputs = format!(
            "<inputs><input name=\"a\"><task><description>first of {number}</description></task></input>\
             <input name=\"b\">of {{{{a}}}} and {{{{x}}}}</input><input name=\"c\" from=\"b\"/>\
             <input name=\"d\"><task><description>{{{{b}}}} again</description></task></input></inputs>"
        );
        format!(
            "<task type=\"atomic\" as=\"s{number}\"{trust}><description>Part {number}{reads} with {{{{d}}}}.</description>{inputs}</task>"
        )
    };
    let parameters = "<parameters><parameter name=\"x\" default=\"one\"/></parameters>";
    let steps = numbered(count, step);
    format!(
        "<task type=\"sequential\" name=\"many\"><description>All of {{{{x}}}}.</description>{parameters}<steps>{steps}</steps></task>"
    )
}

type Shape = fn(usize) -> String;

const SHAPES: [(&str, Shape); 6] = [
    ("inputs", inputs),
    ("calls", calls),
    ("references", references),
    ("call steps", call_steps),
    ("steps", steps),
    ("mixed", mixed),
];

fn compiled(many: &str) -> Registry {
    let others = "<task type=\"atomic\" name=\"leaf\"><description>Sort.</description></task>\
        <template name=\"word\" params=\"text\" returns=\"string\"><task type=\"atomic\"><description>Shorten {{text}}.</description></task></template>";
    registry(&format!("{many}{others}"))
}

fn options(counter: &dyn TokenCounter) -> ManifestOptions<'_> {
    ManifestOptions {
        options: Options {
            counter,
            counting: Counting::Always,
            ..Options::default()
        },
        files: &(),
    }
}

fn manifest(many: &str) -> (Manifest, usize) {
    let asked = Asked::default();
    let manifest = project_manifest(&compiled(many), &options(&asked), None).unwrap();
    (manifest, asked.0.into_inner())
}

#[test]
fn bytes_and_counted_texts_of_a_manifest_grow_with_the_task_alone() {
    for (name, shape) in SHAPES {
        let count = if name == "mixed" { 60 } else { 150 };
        let [one, two] = [count, 2 * count].map(|count| {
            let (manifest, asked) = manifest(&shape(count));
            assert!(manifest.entries.len() > count, "{name}");
            (serde_json::to_vec(&manifest).unwrap().len(), asked)
        });
        assert!(
            two.0 * 10 <= one.0 * MOST,
            "bytes of {count} {name}: {one:?} and {two:?}"
        );
        assert!(
            two.1 * 10 <= one.1 * MOST,
            "counted texts of {count} {name}: {one:?} and {two:?}"
        );
    }
}

#[test]
fn an_agent_of_many_is_reported_as_if_it_were_alone() {
    for (name, shape) in SHAPES {
        let registry = compiled(&shape(45));
        let how = Asked::default();
        let how = options(&how);
        let whole = task_manifest(&registry, &Request::new("many"), None, &how).unwrap();
        for entry in whole.entries {
            let alone =
                task_manifest(&registry, &Request::new("many"), Some(&entry.node), &how).unwrap();
            assert_eq!(alone.entries, [entry], "{name}");
        }
    }
}

#[test]
fn what_is_left_out_of_many_is_the_nearest_and_a_number() {
    let segment_ids = |many: &str, node: &str| -> Vec<String> {
        let (manifest, _) = manifest(many);
        let entry = manifest
            .entries
            .into_iter()
            .find(|entry| entry.task == "many" && entry.node == node)
            .unwrap();
        entry
            .late
            .iter()
            .map(|late| format!("{}: {}", late.id, late.needs.join(", ")))
            .collect()
    };
    let few = segment_ids(&inputs(40), "/inputs/8");
    assert_eq!((few.len(), &*few[31]), (32, "inherited:input:i39: i39"));
    let many = [
        "inherited:input:i7: i7",
        "inherited:input:i8: i8",
        "inherited:input:i9: i9",
        "inherited:input:i10: i10",
        "inherited:input:later inputs: 29 later inputs",
    ];
    assert_eq!(segment_ids(&inputs(40), "/inputs/7"), many);
    let calls = segment_ids(&calls(40), "/calls/3");
    assert_eq!(calls.len(), 1);
    assert!(calls[0].starts_with("inherited:description: "), "{calls:?}");
    assert_eq!(calls[0].matches("word(").count(), 4, "{calls:?}");
    assert!(calls[0].contains("36 more"), "{calls:?}");
}
