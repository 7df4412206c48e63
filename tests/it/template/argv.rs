//! Commands without a shell.

use ctxc::internals::template::argv::{ArgvFaultKind as Kind, split_command};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use std::time::{Duration, Instant};

fn words(text: &str) -> Vec<String> {
    split_command(text, 0)
        .unwrap()
        .arguments
        .into_iter()
        .map(|argument| argument.value)
        .collect()
}

/// The operators as written.
fn operators(text: &str) -> Vec<String> {
    let found = split_command(text, 0).unwrap().operators;
    assert!(
        found
            .iter()
            .all(|operator| operator.span.slice(text) == operator.value)
    );
    found.into_iter().map(|operator| operator.value).collect()
}

#[test]
fn words_are_split_as_a_shell_would() {
    assert_eq!(
        words("  python  run.py --all\t"),
        ["python", "run.py", "--all"]
    );
    assert_eq!(
        words(r#"a 'b c' "d e" f\ g h'i'"j""#),
        ["a", "b c", "d e", "f g", "hij"]
    );
    assert_eq!(words(r#"'' "" \'"#), ["", "", "'"]);
    assert_eq!(words(r#""a \" \\ \n \$" 'b\'"#), [r#"a " \ \n $"#, r"b\"]);
    assert_eq!(words("a \\\n  b"), ["a", "b"]);
    assert_eq!(words("\"a\\\nb\" c\\\nd"), ["ab", "cd"]);
    assert_eq!(words(" \n "), [""; 0]);
}

#[test]
fn expressions_are_never_split() {
    assert_eq!(
        words("run {{ f(a, 'b c') }}.txt x"),
        ["run", "{{ f(a, 'b c') }}.txt", "x"]
    );
    assert_eq!(
        words(r#"run "{{ f("a b") }} c" '{{ f('d') }} e'"#),
        ["run", r#"{{ f("a b") }} c"#, "{{ f('d') }} e"]
    );
    assert_eq!(
        words(r#"echo \{{a b}} "\{{a b}}""#),
        ["echo", r"\{{a", "b}}", r"\{{a b}}"]
    );
    assert_eq!(operators("run {{ a || b }}"), [""; 0]);
    assert_eq!(words("a {{ b c"), ["a", "{{", "b", "c"]);
}

#[test]
fn what_only_a_shell_acts_on_is_reported() {
    let all = "~/bin/a && b || c | d ; e > f >> g 2>&1 < h & `i` $(j) $K ${l} $1 *.m n? # o";
    let expected = [
        "~", "&&", "||", "|", ";", ">", ">>", ">&", "<", "&", "`", "`", "$(", "$K", "${", "$1",
        "*", "?", "#",
    ];
    assert_eq!(operators(all), expected);
    assert_eq!(words("a&&b c>d"), ["a&&b", "c>d"]);
    assert_eq!(operators(r#""$A `b` && *" "\$A""#).len(), 3);
    assert_eq!(operators(r"'$A && *' \* \$A a~b a#b $ 5$"), [""; 0]);
}

#[test]
fn a_line_end_between_words_would_be_two_commands() {
    assert_eq!(operators("\n  a b\n\n  c\n  d\n  "), ["\n", "\n"]);
    assert_eq!(operators("\n  a \\\n  b\n"), [""; 0]);
    assert_eq!(operators("a 'b\nc'"), [""; 0]);
}

#[test]
fn spans_are_those_of_the_words_as_written() {
    let found = split_command("a 'b c'\\ d", 100).unwrap();
    let spans: Vec<_> = found
        .arguments
        .iter()
        .map(|argument| (argument.span.start, argument.span.end))
        .collect();
    assert_eq!(spans, [(100, 101), (102, 110)]);
}

#[test]
fn a_quote_without_its_partner_is_a_fault() {
    let fault = |text: &str| {
        split_command(text, 10).map_err(|fault| (fault.kind, fault.span.start, fault.span.end))
    };
    assert_eq!(fault("echo it's"), Err((Kind::UnclosedSingleQuote, 17, 18)));
    assert_eq!(
        fault(r#"echo "a \""#),
        Err((Kind::UnclosedDoubleQuote, 15, 16))
    );
    assert_eq!(fault("echo \\"), Err((Kind::TrailingBackslash, 15, 16)));
}

#[test]
fn a_hostile_command_takes_no_longer_than_its_length() {
    let start = Instant::now();
    for part in [
        "{{", "'{{'", "\"{{\"", "\n a", "\n", "$a", "`", "\\{{", "a\\\n",
    ] {
        let text = format!("a {}", part.repeat(100_000));
        assert!(split_command(&text, 0).is_ok(), "{part:?}");
    }
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "{:?}",
        start.elapsed()
    );
}

proptest! {
    #[test]
    fn any_words_survive_quoting(expected in proptest::collection::vec("[^{\u{0}]{0,8}", 0..6)) {
        let single: Vec<_> = expected.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
        prop_assert_eq!(&words(&single.join(" ")), &expected);
        let escape = |word: &String| word.chars().map(|c| if "$`\"\\".contains(c) { format!("\\{c}") } else { c.to_string() }).collect::<String>();
        let double: Vec<_> = expected.iter().map(|word| format!("\"{}\"", escape(word))).collect();
        prop_assert_eq!(&words(&double.join(" ")), &expected);
        let found = split_command(&single.join(" "), 0).unwrap();
        prop_assert!(found.operators.is_empty());
    }

    #[test]
    fn spans_fit_any_text(
        parts in proptest::collection::vec(
            prop::sample::select(vec!["{{", "}}", "'", "\"", "\\", " ", "\n", "a", "é", "$", "(", "&", ">", "*", "~", "#"]),
            0..30,
        ),
    ) {
        let text = parts.concat();
        if let Ok(found) = split_command(&text, 0) {
            let mut at = 0;
            for argument in &found.arguments {
                prop_assert!(argument.span.start >= at && !argument.span.slice(&text).is_empty());
                at = argument.span.end;
            }
            for operator in &found.operators {
                prop_assert!(!operator.span.slice(&text).is_empty());
            }
        }
    }
}
