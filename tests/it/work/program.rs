//! A program beside the test, which is killed.

use std::process::{Child, Command, Stdio};

/// This test binary again, as a program that runs one test, which plays the part of another
/// program: the variable marks it.
pub(super) fn child(test: &str, variable: &str, value: &std::path::Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([test, "--exact", "--nocapture", "--test-threads", "1"])
        .env(variable, value);
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until the function returns a value.
pub(super) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = std::time::Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(
            begun.elapsed() < std::time::Duration::from_mins(2),
            "{what} did not come"
        );
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
