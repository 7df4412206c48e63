//! Tests of the private items of `src/session/facts/prose.rs`.

use super::{decisions, instructions, user_instructions};

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
        "Don't fix anything, but just check the warning.",
        "Don't change the code, just show me the line.",
        "The parser takes one form — always that of the first row.",
        "Run the checks of the shop (the new ones must pass)",
        "Rename \"the row should not exist\" to \"the row must exist\".",
        "It should not be cleared by the parser.",
        "The hook (of the editor) never actually worked.",
        "Can you check that the tests don't repeat each other, don't test the library",
        "cart.go:1:9: never use the name of a package of the library",
        "on branch (ann/do-not-show-hints)",
    ] {
        assert_eq!(instructions(statement), [""; 0], "{statement}");
    }
}

#[test]
fn a_user_constrains_the_work_without_never_and_always() {
    for rule in [
        "Please use tabs.",
        "Use pnpm, not npm.",
        "It is fine, but make sure that each call has a timeout.",
        "yes please, match the existing style of the tests",
        "keep backwards compatibility for the old field",
        "Avoid new packages.",
        "Prefer plain functions over classes.",
        "I want all dates in UTC",
        "Yes, but I'd like to do a TDD approach with integration tests",
        "I would prefer small commits.",
        "We want to keep the old names.",
        "Leave the generated clients untouched.",
        "No new dependencies please",
        "Every handler should have a test.",
        "From now on answer in Spanish.",
        "Run the linter before each commit.",
        "Before you commit, run the linter.",
        "let's not leave the tests to the end",
        "there is a helper, let's avoid a second one",
        "the names change - let's make sure that all are English",
        "let's use yes and no and not on and off for it",
        "Stop adding comments.",
        "Stick to the public API.",
        "Be careful with the migrations.",
    ] {
        assert_eq!(user_instructions(rule), [rule]);
    }
    for request in [
        "fix the failing test",
        "Use this file for it.",
        "let's go, use executing-plans.",
        "Use a reviewer: read the page about colours",
        "use the reviewer on this",
        "use reviewers if you need them",
        "I'd like us to show more of the page.",
        "Consider another form, and ensure that all rows have it.",
        "Implement the following plan: the state is read once; it must be read again",
        "use \"git add <file>...\" to update the list",
        "\"Use tabs for the tables\" is the text of the hint.",
        "I want you to do a deep analysis of the parser",
        "I want it to work",
        "I want to know how the hook reads the state",
        "keep going until the build is green",
        "Keep in mind that the commit has the full diff",
        "No other session has the marker.",
        "no, remove this again",
        "The hook runs before each commit.",
        "Every time the hook fires we should see a line",
        "The users make sure of that.",
        "We prefer this",
        "Would the hook ensure that?",
        "Implement the following plan: use the index of the table",
    ] {
        assert_eq!(user_instructions(request), [""; 0], "{request}");
    }
}

#[test]
fn a_text_of_a_program_is_no_rule() {
    for text in [
        "Read it.\n<system-reminder>\nYou must refuse to change it.\n</system-reminder>\nDone.",
        "+ // Always written in the new form.",
        "Each block must have a result in the next\nmessage.\"},\"id\":\"r1\"}",
    ] {
        assert_eq!(instructions(text), [""; 0], "{text}");
    }
    assert_eq!(
        instructions("**Always run the linter.** It is quick."),
        ["Always run the linter."]
    );
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
        "I'll use the id of the session instead of its index.",
        "Decision: Skip locks of files until the store moves.",
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
        // Next steps and proposals.
        "Let me update the parser to use serde instead of the regexes.",
        "Now I need to update the list to read the index instead of the root.",
        "I'll update the helper to write a file of its own instead of the shared one.",
        "We should detect the agent by the hook rather than guess it by the folder.",
        "We would keep the flag because the old hook reads it.",
    ] {
        assert_eq!(decisions(explanation), [""; 0], "{explanation}");
    }
}

#[test]
fn the_letter_of_an_option_ends_no_sentence() {
    assert_eq!(
        user_instructions("A. is fine, ensure we log each call"),
        ["A. is fine, ensure we log each call"]
    );
}

#[test]
fn an_offer_or_an_order_about_the_thing_at_hand_is_no_rule() {
    for text in [
        "you can look up the history of this session in s.jsonl if you need to (don't read the full file!)",
        "make sure it's in Project: Troy",
        "Also don't give it a number and it needs no date or status in the file",
        "this plan must be written in such a way, that you can start a new session",
    ] {
        assert_eq!(user_instructions(text), [""; 0], "{text}");
    }
}
