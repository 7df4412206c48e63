//! Tests of the private items of `src/session/summary_index.rs`.

use super::SummaryIndex;
use crate::session::facts::error_line::{error_lines, main_error};

/// Each pair of a rule and a summary is one of a public session; the third text is another summary.
#[test]
fn a_paraphrase_of_a_rule_keeps_it() {
    for (rule, summary, other) in [
        (
            "Don't fire EventGitCommit (avoids ACTIVE_COMMITTED complexity with no checkpoint ID).",
            "This method updates their BaseCommit to new HEAD without firing EventGitCommit.",
            "This method fires EventGitCommit. PendingCheckpointID was for the ACTIVE_COMMITTED flow.",
        ),
        (
            "if it's compatible then let's not spend too much time on it",
            "- Auto-commit: don't spend time, keep compatible if easy",
            "- Auto-commit: compatible",
        ),
        (
            "there is already scoped transcript functionality and summarisation code in explain, let's avoid code duplication",
            "- User wanted to avoid code duplication",
            "- There is code duplication in explain.",
        ),
    ] {
        assert!(SummaryIndex::new(summary).has_rule(rule), "{rule}");
        assert!(!SummaryIndex::new(other).has_rule(rule), "{rule}");
    }
}

#[test]
fn a_paraphrase_of_a_decision_keeps_it() {
    let decision = "I should leave them as `interface{}` to stay consistent with the existing codebase rather than introducing inconsistency.";
    let summary = "- User feedback: Keep `interface{}` for consistency with existing codebase";
    assert!(SummaryIndex::new(summary).has_sentence(decision));
    let other = "- Added `interface{}` to the codebase";
    assert!(!SummaryIndex::new(other).has_sentence(decision));
}

#[test]
fn a_statement_about_a_failure_keeps_the_error_that_it_distinguishes() {
    for (line, summary, other) in [
        (
            "cmd/checkpoint/committed.go:455:20: appendAssign: append result not assigned to the same slice (gocritic)",
            "- Linter error `appendAssign` - fixed",
            "- Linter error `errorlint` - fixed in committed.go",
        ),
        (
            "cmd/setup.go:1323:9: string `(unknown)` has 3 occurrences, make it a constant (goconst)",
            "`goconst` lint error on `\"(unknown)\"` string with 3 occurrences",
            "`gofmt` lint error in setup.go",
        ),
        (
            "_test.go:760: AgentPercentage = 33.3%, want ~42.9% (not inflated)",
            "The test fails: expects 42.9% but got 33.3%.",
            "The test of the percentage passes.",
        ),
        (
            "cmd/checkpoint/checkpoint.go:407:1: syntax error: unexpected keyword type, expected field name or embedded type",
            "Merge conflict in checkpoint.go, but left a syntax error (missing closing brace).",
            "Merge conflict in checkpoint.go.",
        ),
        (
            "panic: invalid checkpoint ID \"multi12345678\": must be 12 lowercase hex characters [recovered, repanicked]",
            "- \"multi12345678\" (13 chars) → fixed to \"ab12cd34ef56\"",
            "- IDs of checkpoints have 12 lowercase characters.",
        ),
        (
            "cmd/list/data.go:568:6: func getMergeBaseHash is unused (unused)",
            "- Removed unused `getMergeBaseHash()` function",
            "- Removed unused imports",
        ),
        (
            "error: failed to push some refs to 'github.com:entireio/cli.git'",
            "- **Push rejected (remote has new commits)**: Resolved with `git pull --rebase`.",
            "- The pull failed.",
        ),
        (
            "zsh: command not found: grep",
            "The configuration caused commands to fail. Worked around by explicit paths like `/usr/bin/grep`.",
            "We searched with grep.",
        ),
        (
            "TypeError: bakomi is not a kotura of mirapu",
            "A TypeError: bakomi was no kotura.",
            "`npm run zugu` failed with a TypeError: lopeka was no naviru of gufiba; open.",
        ),
    ] {
        let found = main_error(line).or_else(|| error_lines(line).pop());
        let error = found.expect("an error");
        assert!(SummaryIndex::new(summary).names_error(&error), "{line}");
        assert!(!SummaryIndex::new(other).names_error(&error), "{line}");
    }
}

#[test]
fn another_rule_of_the_same_form_keeps_none() {
    let index = SummaryIndex::new("Never touch the kobaluri service directly.");
    assert!(index.has_rule("Never touch the kobaluri service directly."));
    assert!(!index.has_rule("Never touch the mirapuzu service directly."));
}

#[test]
fn a_report_of_another_failure_with_common_words_keeps_no_error() {
    for (line, summary) in [
        (
            "error[E0308]: mismatched types",
            "Fixed the types of the form.",
        ),
        (
            "TypeError: order.lines is not iterable",
            "Fixed the order of the lines in the menu.",
        ),
        (
            "error: the request failed with status 503 after 30 retries",
            "Fixed 30 warnings of the linter.",
        ),
    ] {
        let found = main_error(line).or_else(|| error_lines(line).pop());
        let error = found.expect("an error");
        assert!(!SummaryIndex::new(summary).names_error(&error), "{line}");
    }
}

#[test]
fn a_rule_with_another_number_keeps_none() {
    let rule = "Always wrap the lines of the documentation at 80 characters.";
    let index = SummaryIndex::new("Always wrap the lines of the documentation at 100 characters.");
    assert!(!index.has_rule(rule));
    assert!(SummaryIndex::new(rule).has_rule(rule));
}
