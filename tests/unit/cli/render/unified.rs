//! Tests of the private items of `src/cli/render/unified.rs`.

use super::{Screen, write_diff};

fn diff(old: &str, new: &str) -> String {
    let mut out = Vec::new();
    write_diff(&mut out, "a.xml", old, new, Screen::PLAIN).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_terminal_is_not_steered() {
    let written = |screen: Screen| {
        let mut out = Vec::new();
        write_diff(
            &mut out,
            "a.xml",
            "same \u{202e}\n\told\u{1b}[2J\n",
            "same \u{202e}\n\tnew\u{9b}\r\n",
            screen,
        )
        .unwrap();
        String::from_utf8(out).unwrap()
    };
    assert!(written(Screen::PLAIN).contains(" same \u{202e}\n-\told\u{1b}[2J\n+\tnew\u{9b}\r\n"));
    let terminal = Screen {
        width: Some(80),
        ..Screen::PLAIN
    };
    assert!(
        written(terminal).contains(" same \\u{202e}\n-\told\\u{1b}[2J\n+\tnew\\u{9b}\\u{d}\n"),
        "{}",
        written(terminal)
    );
    let colored = written(Screen {
        color: true,
        ..Screen::PLAIN
    });
    assert!(
        colored.contains(" same \\u{202e}\n") && !colored.contains(['\u{202e}', '\u{9b}', '\r']),
        "{colored:?}"
    );
}

#[test]
fn a_change_in_the_middle() {
    let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    insta::assert_snapshot!(diff(old, &old.replace("5\n", "five\n").replace("9\n", "9\n10")), @r"
        --- a.xml
        +++ a.xml
        @@ -2,8 +2,9 @@
         2
         3
         4
        -5
        +five
         6
         7
         8
         9
        +10
        \ No newline at end of file
        ");
    assert_eq!(diff(old, old), "");
    assert!(diff("", "a\n").contains("@@ -0,0 +1 @@\n+a\n"));
    assert!(diff("a\n", "").contains("@@ -1 +0,0 @@\n-a\n"));
}
