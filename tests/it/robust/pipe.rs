//! A reader that closes its pipe (`ctxc check | head -1`) causes no message, and changes no
//! verdict.

use super::project::Project;
use std::io::Read;

#[test]
fn a_closed_pipe_is_quiet_and_keeps_the_verdict() {
    let project = Project::new(0);
    // More than a pipe holds, in every format: a hundred findings of a file are shown to people.
    let bad = "a & b\n".repeat(120);
    for number in 0..20 {
        let task = format!("<task type=\"atomic\"><description>{bad}</description></task>");
        std::fs::write(project.path(&format!("templates/bad{number}.xml")), task).unwrap();
    }
    for format in ["full", "concise", "json", "jsonl"] {
        let mut child = project
            .command(&["check", "--verbose", "--format", format])
            .spawn()
            .unwrap();
        let mut first = [0_u8; 16];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        // The pipe is closed here, long before everything is written.
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{format}");
        assert_eq!(output.status.code(), Some(1), "{format}");
    }
}
