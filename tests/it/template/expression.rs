//! Expressions in text.

use ctxc::internals::base::span::Span;
use ctxc::internals::template::expression::{
    Expression, ExpressionFault, ExpressionFaultKind as Kind, MAX_ARGUMENTS, MAX_DEPTH, ScanItem,
    ValueStep, scan_plain as scan,
};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// An expression in a canonical spelling.
fn spelled(expression: &Expression<'_>) -> String {
    match expression {
        Expression::Path(path) => {
            path.rest
                .iter()
                .fold(path.root.value.to_string(), |text, step| match step {
                    ValueStep::Field(name) => format!("{text}.{}", name.value),
                    ValueStep::Index(index) => format!("{text}[{}]", index.value),
                })
        }
        Expression::Call(call) => {
            let positional = call.positional.iter().map(spelled);
            let named = call
                .named
                .iter()
                .map(|(name, value)| format!("{}={}", name.value, spelled(value)));
            format!(
                "{}({})",
                call.name.value,
                positional.chain(named).collect::<Vec<_>>().join(", ")
            )
        }
        Expression::Text(text) => format!("{:?}", text.value),
        Expression::Number(number) => number.value.to_string(),
        Expression::Boolean(value) => value.value.to_string(),
    }
}

fn show(raw: &str) -> Vec<String> {
    let piece = |piece: ScanItem<'_>| match piece {
        ScanItem::Text(span) => format!("text {:?}", span.slice(raw)),
        ScanItem::Escaped(span) => format!("escaped {:?}", span.slice(raw)),
        ScanItem::Expression(found) => {
            format!("{} = {}", found.span.slice(raw), spelled(&found.value))
        }
        ScanItem::Fault(fault) => {
            format!(
                "{:?} at {:?} of {}",
                fault.kind,
                fault.span.slice(raw),
                fault.expression.slice(raw)
            )
        }
    };
    scan(raw, 0).map(piece).collect()
}

#[test]
fn expressions_are_found_in_text() {
    assert_eq!(show("no braces { } }}"), [r#"text "no braces { } }}""#]);
    assert_eq!(show(""), [""; 0]);
    assert_eq!(
        show("a {{name}}{{ a.b[0].c }} b"),
        [
            r#"text "a ""#,
            "{{name}} = name",
            "{{ a.b[0].c }} = a.b[0].c",
            r#"text " b""#
        ]
    );
    assert_eq!(
        show(r"say \{{x}} {{y-1_z}}"),
        [
            r#"text "say ""#,
            r#"escaped "\\{{""#,
            r#"text "x}} ""#,
            "{{y-1_z}} = y-1_z"
        ]
    );
    assert_eq!(show("{{ größe }}"), ["{{ größe }} = größe"]);
}

#[test]
fn calls_hold_arguments_of_every_kind() {
    let raw = r#"{{ f( a.b, 'it', "q", -1.5, true, g(x), k = v, n=h( ) ) }}"#;
    assert_eq!(
        show(raw),
        [format!(
            r#"{raw} = f(a.b, "it", "q", -1.5, true, g(x), k=v, n=h())"#
        )]
    );
    assert_eq!(show("{{f(a,)}}"), ["{{f(a,)}} = f(a)"]);
}

#[test]
fn white_space_stands_between_parts_and_numbers_are_as_written() {
    assert_eq!(
        show("{{ a . b [ 0 ] .c }}"),
        ["{{ a . b [ 0 ] .c }} = a.b[0].c"]
    );
    assert_eq!(show("{{ f ( a , ) }}"), ["{{ f ( a , ) }} = f(a)"]);
    let long = "12345678901234567890123";
    for number in ["007", "1.5e3", "1.5E+3", "-1e-7", "0", long] {
        assert_eq!(
            show(&format!("{{{{f({number})}}}}")),
            [format!("{{{{f({number})}}}} = f({number})")]
        );
    }
    assert_eq!(show("{{a[007]}}"), ["{{a[007]}} = a[7]"]);
    for (text, kind) in [
        ("{{f(1.)}}", Kind::UnclosedCall),
        ("{{f(1e)}}", Kind::UnclosedCall),
        ("{{f(+1)}}", Kind::BadCharacter('+')),
    ] {
        assert_eq!(first_fault(text), Some(kind), "{text}");
    }
    assert_eq!(first_fault("{{f(,)}}"), Some(Kind::BadCharacter(',')));
}

#[test]
fn spans_are_those_of_the_document() {
    let pieces: Vec<_> = scan("x {{ a.b }}", 100).collect();
    let [ScanItem::Text(text), ScanItem::Expression(found)] = &pieces[..] else {
        panic!("{pieces:?}")
    };
    let Expression::Path(path) = &found.value else {
        panic!("{found:?}")
    };
    assert_eq!(
        (*text, found.span, path.root.span),
        (
            Span::new(100, 102),
            Span::new(102, 111),
            Span::new(105, 106)
        )
    );
}

#[test]
fn a_faulty_expression_gives_the_place_and_hides_nothing_after_it() {
    assert_eq!(
        show("{{}}{{ }}"),
        ["Empty at \"{{}}\" of {{}}", "Empty at \"{{ }}\" of {{ }}"]
    );
    assert_eq!(
        show("{{a {{b}}"),
        ["Unclosed at \"{{\" of {{", "text \"a \"", "{{b}} = b"]
    );
    assert_eq!(
        show("{{a\n\nb"),
        ["Unclosed at \"{{\" of {{", "text \"a\\n\\nb\""]
    );
    assert_eq!(
        show("{{a b}}{{c}}"),
        ["TrailingText at \"b\" of {{a b}}", "{{c}} = c"]
    );
    assert_eq!(
        show("{{ a | upper }}"),
        ["TrailingText at \"| upper\" of {{ a | upper }}"]
    );
    assert_eq!(show("{{1}}"), ["BadCharacter('1') at \"1\" of {{1}}"]);
    assert_eq!(show("{{a.}}"), ["BadCharacter('}') at \"}\" of {{a.}}"]);
    assert_eq!(show("{{a[x]}}"), ["BadIndex at \"\" of {{a[x]}}"]);
    assert_eq!(
        show("{{a[4294967296]}}"),
        ["BadIndex at \"4294967296\" of {{a[4294967296]}}"]
    );
    assert_eq!(
        show("{{f(a}}{{b}}"),
        ["UnclosedCall at \"\" of {{f(a}}", "{{b}} = b"]
    );
    assert_eq!(show("{{f(}}"), ["UnclosedCall at \"\" of {{f(}}"]);
    assert_eq!(
        show("{{f('a)}}\nb's"),
        ["UnclosedString at \"'\" of {{f('a)}}", "text \"\\nb's\""]
    );
    assert_eq!(
        show("{{f(k=1, a)}}"),
        ["PositionalAfterNamed at \"a\" of {{f(k=1, a)}}"]
    );
    assert_eq!(
        show("{{f(k=1, k=2)}}"),
        ["DuplicateArgument at \"k\" of {{f(k=1, k=2)}}"]
    );
    assert_eq!(
        show(r"{{a \{{b"),
        [
            "Unclosed at \"{{\" of {{",
            "text \"a \"",
            r#"escaped "\\{{""#,
            "text \"b\""
        ]
    );
}

fn first_fault(raw: &str) -> Option<Kind> {
    let fault = |piece: ScanItem<'_>| match piece {
        ScanItem::Fault(ExpressionFault { kind, .. }) => Some(kind),
        ScanItem::Text(_) | ScanItem::Escaped(_) | ScanItem::Expression(_) => None,
    };
    scan(raw, 0).find_map(fault)
}

#[test]
fn nesting_and_arguments_have_limits() {
    let nested = |depth: usize| format!("{{{{{}a{}}}}}", "f(".repeat(depth), ")".repeat(depth));
    assert_eq!(first_fault(&nested(MAX_DEPTH as usize)), None);
    assert_eq!(
        first_fault(&nested(MAX_DEPTH as usize + 1)),
        Some(Kind::TooDeep)
    );
    assert_eq!(first_fault(&nested(1_000_000)), Some(Kind::TooDeep));
    let many = |count: usize| format!("{{{{f({})}}}}", "a,".repeat(count));
    assert_eq!(first_fault(&many(MAX_ARGUMENTS)), None);
    assert_eq!(
        first_fault(&many(MAX_ARGUMENTS + 1)),
        Some(Kind::TooManyArguments)
    );
}

#[test]
fn hostile_text_takes_no_longer_than_its_length() {
    let start = Instant::now();
    // Each of these takes minutes when a fault makes the scan go back.
    for part in [
        "{{", "{{a", "{{f('", "{{f(\"a'", "{{&", "\\{{", "{{a[", "{{f(a,", "{{f(k=", "{{'a}}",
        "{{ \t",
    ] {
        assert!(scan(&part.repeat(100_000), 0).count() > 0);
    }
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "{:?}",
        start.elapsed()
    );
}

proptest! {
    #[test]
    fn pieces_cover_the_text_without_gaps(
        parts in proptest::collection::vec(
            prop::sample::select(vec![
                "{{", "}}", "{", "}", "\\", "a", "b.c", "(", ")", "[0]", ",", "=", "'", "\"", "&quot;", "&", "\n", " ", "1", "-", "é",
            ]),
            0..40,
        ),
        offset in 0u32..1000,
    ) {
        let raw = parts.concat();
        let mut at = offset;
        for piece in scan(&raw, offset) {
            let span = match piece {
                ScanItem::Text(span) | ScanItem::Escaped(span) => span,
                ScanItem::Expression(found) => {
                    let local = Span::new(found.span.start - offset, found.span.end - offset).slice(&raw);
                    prop_assert!(local.starts_with("{{") && local.ends_with("}}"));
                    if let Expression::Path(path) = &found.value {
                        let root = Span::new(path.root.span.start - offset, path.root.span.end - offset);
                        prop_assert_eq!(root.slice(&raw), path.root.value.as_ref());
                    }
                    found.span
                }
                ScanItem::Fault(fault) => {
                    prop_assert!(fault.expression.encloses(fault.span), "{fault:?}");
                    fault.expression
                }
            };
            prop_assert!(span.start == at && span.end > span.start);
            at = span.end;
        }
        prop_assert_eq!(at as usize, offset as usize + raw.len());
    }
}
