//! Tests of the private items of `src/session/facts/prose.rs`.

use super::{decisions, instructions};

#[test]
fn only_what_demands_something_is_an_instruction() {
    for rule in [
        "Never push to main.",
        "Please don't touch the lock file.",
        "No new packages (don't add one for this).",
        "Run the linter first, never after the commit.",
        "Also do not number the headings",
        "You should never call the store from a view.",
        "Make sure to always close the cursor.",
        "I don't want mocks in these tests.",
        "Both lists must stay in the same order.",
        "Only use the queue for mail.",
        "Every handler must have a test.",
    ] {
        assert_eq!(instructions(rule), [rule]);
    }
    for statement in [
        "The stop hook currently never writes to the log.",
        "`RetryLater` never fires, `Base` never updates.",
        "Comparing both paths → never matches.",
        "Commits of the agent don't get a trailer.",
        "This causes the counter to always return 0.",
        "We can always render it later.",
        "I don't think that agents read the table.",
        "Odd names so that the patterns don't cause a match",
        "Only index.html was part of it.",
        "The only visible output is the banner.",
        "It must have been the cache.",
        "There must be a second writer.",
        "Don't worry about the banner.",
    ] {
        assert_eq!(instructions(statement), [""; 0], "{statement}");
    }
}

#[test]
fn a_heading_is_no_part_of_a_rule() {
    assert_eq!(
        instructions("# Rules\nNever push to main."),
        ["Never push to main."]
    );
}

#[test]
fn only_a_choice_of_the_speaker_is_a_decision() {
    for choice in [
        "I decided to use sqlite for the job store.",
        "We keep sqlite because the target has no server.",
        "Let me update the parser to use serde instead of the regexes.",
        "I'll read the session by its id instead of its index.",
        "Yes, let's go with the second layout.",
        "Take the session instead of single parameters",
        "We ruled out a lock because two hosts write.",
    ] {
        assert_eq!(decisions(choice), [choice]);
    }
    for explanation in [
        "The trailer points to nothing because the step was skipped.",
        "Now it lists twenty rows instead of eight.",
        "The commit I made is right because the linter differs.",
        "Well, the counter starts at one instead of zero.",
        "That path validates something that was already decided.",
        "It checks whether the writer decided to wait for the reader.",
        "Lint passes today because the rule is off.",
        "Let me verify the trailer of each commit rather than speculate.",
    ] {
        assert_eq!(decisions(explanation), [""; 0], "{explanation}");
    }
}
