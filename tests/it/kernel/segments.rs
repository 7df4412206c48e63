//! Kinds of segments of an organisation's own.

use ctxc::runtime::{CustomKind, Kind, Segment};
use ctxc::{Disposition, Inputs, Options, Profile, Request, assemble, assemble_segments};
use pretty_assertions::assert_eq;

static ALERT: CustomKind = CustomKind {
    word: "alert",
    title: "Alert",
    priority: 1,
    behind: Kind::System,
};
static METRICS: CustomKind = CustomKind {
    word: "metrics",
    title: "Metrics",
    priority: 5,
    behind: Kind::Custom(&ALERT),
};

fn segments() -> Vec<Segment> {
    vec![
        Segment::new(Kind::Custom(&METRICS), "", "m".repeat(2_000)),
        Segment::new(Kind::Description, "", "Say what to do."),
        Segment::new(Kind::Custom(&ALERT), "checkout", "12 % fail").untrusted(),
    ]
}

#[test]
fn a_kind_of_ones_own_has_its_place_heading_and_priority() {
    let assembly = assemble_segments(
        "triage",
        segments(),
        &Options {
            budget: Some(500),
            ..Options::default()
        },
    )
    .unwrap();
    let [message] = &assembly.messages[..] else {
        panic!("{:?}", assembly.messages)
    };
    let text = message.as_str();
    let at = |words: &str| {
        text.find(words)
            .unwrap_or_else(|| panic!("{words} in {text}"))
    };
    assert!(at("## Alert: checkout") < at("## Task") && at("<untrusted-") < at("12 % fail"));
    let dispositions: Vec<bool> = assembly
        .report
        .segments
        .iter()
        .map(|account| account.disposition == Disposition::Kept)
        .collect();
    assert_eq!(
        dispositions,
        [false, true, true],
        "what has the greatest number goes first"
    );
    let refused = assemble_segments(
        "triage",
        segments(),
        &Options {
            budget: Some(40),
            ..Options::default()
        },
    )
    .unwrap_err();
    assert!(
        refused.to_string().contains("`alert:checkout`"),
        "{refused}"
    );
}

#[test]
fn every_profile_writes_it() {
    for profile in Profile::ALL
        .into_iter()
        .filter(|profile| *profile != Profile::Bare)
    {
        let assembly = assemble_segments(
            "t",
            segments(),
            &Options {
                profile,
                ..Options::default()
            },
        )
        .unwrap();
        assert!(
            assembly.messages[0].as_str().contains("checkout"),
            "{profile:?}"
        );
    }
}

#[test]
fn it_stays_what_it_is_in_the_context_of_a_template() {
    let task = "<task name=\"t\" type=\"atomic\"><description>Sort.</description></task>";
    let registry = ctxc::compile_sources(&ctxc::Config::default(), [("t.xml", task)])
        .registry
        .unwrap();
    let parent = segments();
    let inputs = Inputs::new();
    let request = Request {
        inputs: &inputs,
        parent: &parent,
        ..Request::new("t")
    };
    let assembly = assemble(&registry, &request, &Options::default()).unwrap();
    let found: Vec<(&str, Kind, u8)> = assembly
        .report
        .segments
        .iter()
        .map(|account| {
            (
                &*account.segment.id,
                account.segment.kind,
                account.segment.priority(),
            )
        })
        .collect();
    assert!(
        found.contains(&("alert:checkout", Kind::Custom(&ALERT), 1)),
        "{found:?}"
    );
}

#[test]
fn kinds_are_words_in_the_order_of_their_places() {
    let mut kinds = [
        Kind::Custom(&METRICS),
        Kind::Description,
        Kind::Custom(&ALERT),
        Kind::System,
    ];
    kinds.sort();
    assert_eq!(
        kinds.map(Kind::as_str),
        ["system", "alert", "metrics", "description"]
    );
    let mut own = Kind::ALL;
    own.sort();
    assert_eq!(own, Kind::ALL);
    for kind in Kind::ALL {
        let word = serde_json::to_string(&kind).unwrap();
        assert_eq!(
            (
                word.trim_matches('"'),
                serde_json::from_str::<Kind>(&word).unwrap()
            ),
            (kind.as_str(), kind)
        );
    }
    assert_eq!(
        serde_json::to_string(&Kind::Custom(&ALERT)).unwrap(),
        "\"alert\""
    );
    assert!(
        serde_json::from_str::<Kind>("\"alert\"")
            .unwrap_err()
            .to_string()
            .starts_with("unknown variant `alert`, expected one of `tools`")
    );
}
