//! Lines that give names their values, and files of them.

use super::{parse_assignment, parse_values};

#[test]
fn an_assignment_has_a_name_and_a_value() {
    assert_eq!(
        parse_assignment("export API_KEY=\"a b\" # mine"),
        Some(("API_KEY", "a b"))
    );
    assert_eq!(
        parse_assignment("  db.password = x=y # mine"),
        Some(("db.password", "x=y"))
    );
    for line in ["a == b", "two words=3", "=x", "x => y", "no sign", "1A=b"] {
        assert_eq!(parse_assignment(line), None, "{line}");
    }
}

#[test]
fn values_are_read_with_quotes_escapes_and_lines_and_so_are_the_passwords_in_them() {
    for (text, expected) in [
        (
            "\u{feff}A=b c # mine\nB='x # y'\n",
            &[("A", "b c"), ("B", "x # y")][..],
        ),
        (
            r#"A="say \"hi\" 9""#,
            &[("A", r#"say \"hi\" 9"#), ("A", r#"say "hi" 9"#)],
        ),
        (
            "A=\"one\n two\"\nB=3\n",
            &[("A", "one"), ("A", "two"), ("B", "3")],
        ),
        (
            r#"A="one\ntwo""#,
            &[("A", r"one\ntwo"), ("A", "one"), ("A", "two")],
        ),
        ("A: b\nB: \"c d\"\r\nno sign\n", &[("A", "b"), ("B", "c d")]),
        ("A=\"open\nB=c\n", &[("A", "open"), ("B", "c")]),
        (
            "A=p://u:pw@h/x",
            &[("A", "p://u:pw@h/x"), ("A_PASSWORD", "pw")],
        ),
        (
            "A=Server=h;Password=pw;X=1",
            &[("A", "Server=h;Password=pw;X=1"), ("A_PASSWORD", "pw")],
        ),
        (
            "A=\"host=h password='pw'\"",
            &[("A", "host=h password='pw'"), ("A_PASSWORD", "pw")],
        ),
        (
            "export A=b; export C='d'; export E=f\nG=h",
            &[("A", "b"), ("C", "d"), ("E", "f"), ("G", "h")],
        ),
        ("A=~b\nC==d", &[("A", "~b"), ("C", "=d")]),
        ("A=\"é\nB=c", &[("A", "é"), ("B", "c")]),
        ("# A=b\n; C=d", &[]),
    ] {
        let found = parse_values(text);
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }
}
