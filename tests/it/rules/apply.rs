//! Fixes applied by the engine: on every bad example of every rule, and on texts made for its
//! invariants.

use crate::project::reading::{check_template, read};
use crate::support::examples::RuleExamples as _;
use ctxc::internals::base::diagnostic::Diagnostic;
use ctxc::internals::base::fix::{Edit, Fix};
use ctxc::internals::base::rule_meta::Severity;
use ctxc::internals::base::span::Span;
use ctxc::internals::rules::apply::{self, FixSelection, FixedText, InitialFindings, MAX_TRIALS};
use ctxc::internals::rules::list;
use ctxc::internals::syntax::XmlLimits;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn fixed(text: &str, project: &str, which: FixSelection) -> FixedText {
    let config = read(project);
    apply::fix_text(text, which, &XmlLimits::default(), &|_| true, &mut |text| {
        check_template(text, &config)
    })
}

fn errors(found: &[Diagnostic]) -> BTreeMap<(&'static str, &str), usize> {
    let mut out = BTreeMap::new();
    for finding in found
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
    {
        *out.entry((finding.rule.name, finding.message.as_str()))
            .or_default() += 1;
    }
    out
}

/// Examples of project rules are tried as templates under that project; those have findings of
/// their own or none.
#[test]
fn no_fix_of_any_example_brings_a_new_error() {
    let mut counts = [0, 0];
    for rule in list::all_rules() {
        for example in rule
            .meta
            .bad_examples()
            .iter()
            .filter(|example| !example.template.is_empty())
        {
            let before = check_template(example.template, &read(example.project));
            for (at, which) in [FixSelection::Safe, FixSelection::Suggested]
                .into_iter()
                .enumerate()
            {
                let out = fixed(example.template, example.project, which);
                counts[at] += out.fixed;
                let known = errors(&before);
                for (error, count) in errors(&out.remaining) {
                    let had = known.get(&error).copied().unwrap_or(0);
                    assert!(
                        count <= had,
                        "{}: {error:?} is new in\n{}\nfixed from\n{}",
                        rule.meta.name,
                        out.text,
                        example.template
                    );
                }
                // Stable: no further fix.
                let again = fixed(&out.text, example.project, which);
                assert_eq!(
                    (again.fixed, &again.text),
                    (0, &out.text),
                    "{}",
                    rule.meta.name
                );
            }
        }
    }
    assert!(
        counts[0] >= 25 && counts[1] >= 80,
        "{counts:?} fixes applied"
    );
}

/// The engine applies nearly every offered fix: a refusal is the exception.
#[test]
fn fixes_of_examples_are_taken() {
    let mut refused = Vec::new();
    for rule in list::all_rules() {
        for example in rule
            .meta
            .bad_examples()
            .iter()
            .filter(|example| !example.template.is_empty())
        {
            let found = check_template(example.template, &read(example.project));
            let offered = found
                .iter()
                .any(|finding| finding.rule.name == rule.meta.name && finding.is_fixable());
            let out = fixed(example.template, example.project, FixSelection::Suggested);
            let left = out
                .remaining
                .iter()
                .any(|finding| finding.rule.name == rule.meta.name && finding.is_fixable());
            if offered && left {
                refused.push(rule.meta.name);
            }
        }
    }
    assert_eq!(refused, [""; 0]);
}

#[test]
fn a_fix_that_would_break_something_is_left_out_and_the_others_are_made() {
    let text = "<task type=\"atomic\" name=\"t\">\n  <description>d</description>\n  <system>s</system>\n</task>\n";
    let rule = &list::find_rule("missing-type").unwrap().meta;
    let path: Arc<str> = "t.xml".into();
    let word = text.find("s</system>").unwrap() as u32;
    let finding = |span: Span, insert: &str| {
        Diagnostic::new(rule, &path, span, "m")
            .fix(Fix::safe("f", vec![Edit::replace(span, insert)]))
    };
    let good = finding(Span::new(word, word + 1), "better");
    let bad = finding(Span::new(0, 1), "<<");
    let config = read("");
    let mut check = |text: &str| check_template(text, &config);
    let found = [bad, good];
    let before = check(text);
    let choices = apply::choose_fixes(&found, FixSelection::Safe);
    assert_eq!(choices.len(), 2);
    let sound = apply::sound_fixes(
        text,
        &choices,
        &before,
        &XmlLimits::default(),
        &mut MAX_TRIALS.clone(),
        &mut check,
    );
    assert_eq!(
        apply::text_with_fixes(text, &sound).unwrap(),
        text.replace(">s<", ">better<")
    );
}

#[test]
fn a_text_full_of_fixes_that_do_not_go_does_not_cost_a_check_each_in_every_round() {
    let text = "<task type=\"atomic\" name=\"t\">\n  <description>d</description>\n  <system>s</system>\n</task>\n";
    let rule = &list::find_rule("missing-type").unwrap().meta;
    let path: Arc<str> = "t.xml".into();
    let mut checks = 0_usize;
    // Each round one fix is applied, and as many remain that cannot be.
    let mut check = |text: &str| {
        checks += 1;
        let here = |at: usize, insert: &str| {
            let fix = Fix::safe(
                "f",
                vec![Edit::replace(Span::new(at as u32, at as u32 + 1), insert)],
            );
            Diagnostic::new(rule, &path, Span::new(at as u32, at as u32 + 1), "m").fix(fix)
        };
        let mut found: Vec<Diagnostic> = text
            .match_indices('e')
            .map(|(at, _)| here(at, "e"))
            .collect();
        found.extend(text.find('s').map(|at| here(at, "S")));
        found
    };
    let text = format!("{text}{}", "e s ".repeat(2_000));
    apply::fix_text(
        &text,
        FixSelection::Safe,
        &XmlLimits::default(),
        &|_| true,
        &mut check,
    );
    assert!(checks < 2 * MAX_TRIALS + 30, "{checks}");
}

#[test]
fn an_error_that_damage_had_hidden_does_not_keep_the_damage_from_being_mended() {
    // A misplaced element may be a consequence of the damage; without the damage, it is a fault.
    let text = "<task type=\"atomic\" name=\"t\">\n  <description>a < b</description>\n  <path>x</path>\n</task>\n";
    let before = check_template(text, &read(""));
    assert!(
        before.iter().all(|finding| finding.rule.code.family() == 0),
        "the second fault is hidden: {before:#?}"
    );
    let out = fixed(text, "", FixSelection::Suggested);
    assert!(out.text.contains("a &lt; b"), "{}", out.text);
}

#[test]
fn fixes_that_undo_each_other_end() {
    let rule = &list::find_rule("missing-type").unwrap().meta;
    let path: Arc<str> = "t.xml".into();
    let mut rounds = 0;
    let out = apply::fix_text(
        "a",
        FixSelection::Safe,
        &XmlLimits::default(),
        &|_| true,
        &mut |text| {
            rounds += 1;
            let other = if text == "a" { "b" } else { "a" };
            let span = Span::new(0, 1);
            vec![
                Diagnostic::new(rule, &path, span, "m")
                    .fix(Fix::safe("swap", vec![Edit::replace(span, other)])),
            ]
        },
    );
    // A finding that remains after its fix was not fixed by it.
    assert_eq!((out.text.as_str(), out.fixed), ("a", 0));
    assert!(rounds < 10);
    // If the finding is another one each time, it ends at a text that it had before, or after some
    // rounds.
    let out = apply::fix_text(
        "a",
        FixSelection::Safe,
        &XmlLimits::default(),
        &|_| true,
        &mut |text| {
            let other = if text == "a" { "b" } else { "a" };
            vec![
                Diagnostic::new(rule, &path, Span::new(0, 1), text.to_owned()).fix(Fix::safe(
                    "swap",
                    vec![Edit::replace(Span::new(0, 1), other)],
                )),
            ]
        },
    );
    assert_eq!((out.text.as_str(), out.fixed), ("b", 1));
    let out = apply::fix_text(
        "",
        FixSelection::Safe,
        &XmlLimits::default(),
        &|_| true,
        &mut |text| {
            vec![
                Diagnostic::new(rule, &path, Span::empty_at(0), text.to_owned())
                    .fix(Fix::safe("grow", vec![Edit::insert(0, "x")])),
            ]
        },
    );
    assert_eq!(out.text.len(), apply::MAX_ROUNDS);
}

#[test]
fn suggested_fixes_are_made_only_when_asked_for() {
    let text = "<task type=\"atomic\" name=\"t\">\n  <description>d</description>\n  <context_management>\n    <inherit_context>full</inherit_context>\n    <fresh_context>enabled</fresh_context>\n  </context_management>\n</task>\n";
    assert_eq!(fixed(text, "", FixSelection::Safe).text, text);
    let out = fixed(text, "", FixSelection::Suggested);
    assert_ne!(out.text, text);
    assert_eq!(errors(&out.remaining), BTreeMap::new());
}

proptest! {
    #[test]
    fn chosen_fixes_never_overlap(spans in prop::collection::vec(prop::collection::vec((0u32..40, 0u32..6), 1..3), 0..20)) {
        let rule = &list::find_rule("missing-type").unwrap().meta;
        let path: Arc<str> = "t.xml".into();
        let text = "0123456789012345678901234567890123456789012345678901234567890";
        let found: Vec<Diagnostic> = spans.into_iter().filter_map(|spans| {
            let mut edits: Vec<Edit> = spans.into_iter().map(|(at, len)| Edit::replace(Span::new(at, at + len), "x")).collect();
            edits.sort();
            // A rule's own edits never overlap.
            edits.windows(2).all(|pair| pair[0].span.end < pair[1].span.start).then(|| {
                Diagnostic::new(rule, &path, edits[0].span, "m").fix(Fix::safe("f", edits))
            })
        }).collect();
        let choices = apply::choose_fixes(&found, FixSelection::Safe);
        prop_assert!(apply::text_with_fixes(text, &choices).is_some());
        let mut edits: Vec<&Edit> = choices.iter().flat_map(|choice| &choice.fix.edits).collect();
        edits.sort_by_key(|edit| edit.span);
        for pair in edits.windows(2) {
            let (a, b) = (pair[0].span, pair[1].span);
            prop_assert!(a.end <= b.start && (a.end < b.start || !(a.is_empty() || b.is_empty())), "{a:?} {b:?}");
        }
        prop_assert_eq!(choices.is_empty(), found.is_empty());
    }
}

/// Pieces that slips leave behind, and those they remove.
const SLIPS: [&str; 14] = [
    "<!--",
    "-->",
    "<",
    ">",
    "</",
    "/>",
    "\"",
    "&",
    "]]>",
    "<![CDATA[",
    "</description>",
    "<task>",
    "<b and c> ",
    "x<y ",
];

/// A template with a few slips: a piece put in, some characters taken out, or the end cut off.
fn slipped() -> impl Strategy<Value = String> {
    let templates = [
        include_str!("../../../templates/triage-ticket.xml"),
        include_str!("../../../templates/investigate-incident.xml"),
        include_str!("../../../templates/house-rules.xml"),
        "<task type=\"atomic\" name=\"flat\">\n<description>d</description>\n<instructions>i</instructions>\n</task>\n",
    ];
    let slip = (
        any::<prop::sample::Index>(),
        prop::sample::select(SLIPS.to_vec()),
        0..12_u8,
    );
    (
        prop::sample::select(templates.to_vec()),
        prop::collection::vec(slip, 1..4),
    )
        .prop_map(|(template, slips)| {
            slips
                .into_iter()
                .fold(template.to_owned(), |mut text, (place, piece, how)| {
                    let at = text.floor_char_boundary(place.index(text.len() + 1));
                    match how {
                        0..6 => text.insert_str(at, piece),
                        6..11 => {
                            let end = text
                                .ceil_char_boundary((at + usize::from(how) - 5).min(text.len()));
                            text.replace_range(at..end, "");
                        }
                        _ => text.truncate(at.max(40)),
                    }
                    text
                })
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// A second run has nothing to do, every counted fix changed the text, and no error is new.
    #[test]
    fn fixing_twice_is_fixing_once(text in slipped()) {
        for which in [FixSelection::Safe, FixSelection::Suggested] {
            let found = check_template(&text, &read(""));
            let before = errors(&found);
            let once = fixed(&text, "", which);
            let twice = fixed(&once.text, "", which);
            // A finding that appears through a fix and whose own fix would delete words waits for
            // its author, who may apply it in a second run.
            let beginning = InitialFindings::count_findings(&found);
            if !once.remaining.iter().any(|finding| beginning.is_side_effect(finding)) {
                prop_assert_eq!(&twice.text, &once.text);
                prop_assert_eq!(twice.fixed, 0);
            }
            // Fixed damage may reveal as much damage behind it.
            prop_assert!(once.fixed == 0 || once.text != text);
            let (before, after): (usize, usize) = (before.values().sum(), errors(&once.remaining).values().sum());
            prop_assert!(once.fixed == 0 || after <= before + 20, "{} errors, then {}", before, after);
        }
    }
}

#[test]
fn a_safe_fix_shows_what_was_hidden_whatever_else_is_damaged() {
    let body = "<description>d</description><context_management><fresh_context>Enabled</fresh_context></context_management></task>";
    for head in [
        "<task type=\"atomic\" name=\"x\">",
        "<task type=atomic name=\"x\">",
        "<task type=\"atomic\" name=\"x\"><!-- a -- b -->",
    ] {
        let out = fixed(&format!("{head}{body}"), "", FixSelection::Safe);
        // It looked up context and inherited all of the parent's before, too: the author must
        // decide.
        assert!(out.text.contains(">enabled<"), "{}", out.text);
        let names: Vec<&str> = out
            .remaining
            .iter()
            .map(|finding| finding.rule.name)
            .collect();
        assert_eq!(names, ["context-conflict-with-default"], "{head}");
    }
}

#[test]
fn only_the_author_settles_a_merge_conflict() {
    let text = "<task type=\"atomic\" name=\"t\">\n<<<<<<< ours\n  <description>a</description>\n=======\n  <description>b</description>\n>>>>>>> theirs\n</task>\n";
    let out = fixed(text, "", FixSelection::Suggested);
    assert_eq!((out.text.as_str(), out.fixed), (text, 0));
    assert!(
        out.remaining
            .iter()
            .any(|finding| finding.rule.name == "merge-conflict" && finding.fixes.is_empty())
    );
}
