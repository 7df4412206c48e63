//! Tests of the private items of `src/session/facts/error_line.rs`.

use super::{error_lines, main_error};

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

#[test]
fn a_result_that_failed_has_its_most_telling_line() {
    for (output, line) in [
        // A known head comes first.
        (
            "a.go:3:1: too many arguments\nfatal: no upstream branch",
            "fatal: no upstream branch",
        ),
        (
            "Exit code 1\nRebasing (1/4)\rRebasing (2/4)\rerror: cannot lock the index",
            "error: cannot lock the index",
        ),
        (
            "Exit code 2\nRunning ExUnit with seed: 3\n\n  1) test lists the carts (ShopTest)\n     test/shop_test.exs:4\n     Assertion with == failed",
            "1) test lists the carts (ShopTest)",
        ),
        (
            "=== RUN TestCart\n    cart_test.go:309: cart a: 1 line\n--- FAIL: TestCart (0.07s)\nFAIL",
            "--- FAIL: TestCart (0.07s)",
        ),
        (
            "[lint] $ golangci-lint run\ncart.go:1: : # shop/cart\ncart.go:37:10: undefined: errors\n[lint] ERROR task failed",
            "cart.go:37:10: undefined: errors",
        ),
        (
            "Starting Dialyzer\nNo :ignore_warnings opt specified\nTotal errors: 11, Skipped: 0",
            "Total errors: 11, Skipped: 0",
        ),
        (
            "Checking 1 file ...\n┃ [D] ↘ The alias of the cart is not used",
            "The alias of the cart is not used",
        ),
        (
            "Request of the page: status 404",
            "Request of the page: status 404",
        ),
    ] {
        assert_eq!(main_error(output).map(|error| error.line), Some(line));
    }
    for output in [
        "Exit code 1",
        "Exit code 1\nsrc/cart.rs\nsrc/order.rs",
        "lint\tpass\t1m42s\thttps://ci/1\ntest\tpass\t2m15s\thttps://ci/2",
        "<tool_use_error>File has not been read yet</tool_use_error>",
        "The user doesn't want to proceed with this tool use.\nIt failed before.",
        "Compiling 4 files\n=== RUN TestCart\nok  \tshop/cart\t0.3s",
    ] {
        assert_eq!(main_error(output), None, "{output}");
    }
}
