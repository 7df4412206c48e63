//! Tests of the private items of `src/session/facts/error_line.rs`.

use super::error_lines;

fn lines(output: &str) -> Vec<&str> {
    error_lines(output)
        .into_iter()
        .map(|error| error.line)
        .collect()
}

#[test]
fn a_line_of_a_program_is_no_error() {
    assert_eq!(lines("require.NoError(t, os.WriteFile("), [""; 0]);
    assert_eq!(
        lines("require.NoError: the file is gone"),
        ["require.NoError: the file is gone"]
    );
}

#[test]
fn the_head_of_every_failed_comparison_identifies_no_error() {
    assert_eq!(
        lines("Error: Not equal:\nError:  Should be true\nE   assert 1 == 2"),
        ["E   assert 1 == 2"]
    );
    assert_eq!(
        lines("error: mismatched types"),
        ["error: mismatched types"]
    );
}

#[test]
fn texts_of_passed_tests_of_go_are_no_errors() {
    let output = "Error: context deadline exceeded\n--- FAIL: TestResume (0.07s)\n    resume_test.go:4: open a.log: no such file or directory\nFAIL";
    assert_eq!(
        lines(output),
        ["resume_test.go:4: open a.log: no such file or directory"]
    );
}
