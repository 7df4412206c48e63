//! Conditions.

use ctxc::internals::base::span::Span;
use ctxc::internals::template::condition::{
    Comparator, Condition, ConditionPosition, ConditionValue, Expected, MAX_DEPTH,
    collect_variables, parse,
};
use ctxc::internals::template::expression::ValueStep;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

/// A condition with all its parentheses.
fn spelled(condition: &Condition<'_>) -> String {
    let join = |parts: &[Condition<'_>], word: &str| {
        parts.iter().map(spelled).collect::<Vec<_>>().join(word)
    };
    match condition {
        Condition::And(parts) => format!("({})", join(parts, " and ")),
        Condition::Or(parts) => format!("({})", join(parts, " or ")),
        Condition::Not(part) => format!("(not {})", spelled(part)),
        Condition::Compare(found) => {
            format!(
                "({} {} {})",
                spelled(&found.left),
                sign(found.operator.value),
                spelled(&found.right)
            )
        }
        Condition::Value(ConditionValue::Path(path)) => {
            path.rest
                .iter()
                .fold(path.root.value.to_string(), |text, step| match step {
                    ValueStep::Field(name) => format!("{text}.{}", name.value),
                    ValueStep::Index(index) => format!("{text}[{}]", index.value),
                })
        }
        Condition::Value(ConditionValue::Number(number)) => number.value.to_string(),
        Condition::Value(ConditionValue::Text(text)) => format!("{:?}", text.value),
        Condition::Value(ConditionValue::Boolean(value)) => value.value.to_string(),
    }
}

const fn sign(operator: Comparator) -> &'static str {
    match operator {
        Comparator::Equal => "==",
        Comparator::NotEqual => "!=",
        Comparator::Less => "lt",
        Comparator::LessOrEqual => "le",
        Comparator::Greater => "gt",
        Comparator::GreaterOrEqual => "ge",
    }
}

fn read(text: &str) -> String {
    spelled(&parse(text, ConditionPosition::Exact(0)).unwrap())
}

#[test]
fn words_and_signs_are_the_same() {
    assert_eq!(
        read("a lt 1 and b le 2 or c gt 3 and d ge 4"),
        "(((a lt 1) and (b le 2)) or ((c gt 3) and (d ge 4)))"
    );
    assert_eq!(
        read("a<1 and b<=2 or c>3 and d>=4"),
        "(((a lt 1) and (b le 2)) or ((c gt 3) and (d ge 4)))"
    );
    assert_eq!(
        read("a=='x' or b!=\"it's\""),
        r#"((a == "x") or (b != "it's"))"#
    );
}

#[test]
fn binding_is_not_then_and_then_or() {
    assert_eq!(
        read("not a == b and c or d and not (e or f)"),
        "(((not (a == b)) and c) or (d and (not (e or f))))"
    );
    assert_eq!(read("not not a"), "(not (not a))");
    assert_eq!(read("  ( ( a ) )  "), "a");
    assert_eq!(read("(a lt b) == (c gt d)"), "((a lt b) == (c gt d))");
    assert_eq!(
        read("notes and order or android"),
        "((notes and order) or android)"
    );
}

#[test]
fn values_of_every_kind() {
    assert_eq!(
        read("steps[0].result.score ge -0.5"),
        "(steps[0].result.score ge -0.5)"
    );
    assert_eq!(read("true"), "true");
    assert_eq!(
        read("evaluation-result.success == false"),
        "(evaluation-result.success == false)"
    );
}

#[test]
fn white_space_and_exponents_are_those_of_expressions() {
    assert_eq!(read("a . b [ 0 ] lt 1.5e3"), "(a.b[0] lt 1.5e3)");
    assert_eq!(read("a == 007"), "(a == 007)");
}

#[test]
fn variables_are_the_roots_in_order() {
    let text = "not (b.c == a[1]) and f lt 'd' or b";
    let condition = parse(text, ConditionPosition::Exact(100)).unwrap();
    let found: Vec<_> = collect_variables(&condition)
        .into_iter()
        .map(|path| (path.root.value.as_ref(), path.root.span.start))
        .collect();
    assert_eq!(found, [("b", 105), ("a", 112), ("f", 122), ("b", 134)]);
}

#[test]
fn a_changed_text_has_one_place() {
    let whole = Span::new(7, 30);
    let condition = parse("a == b", ConditionPosition::Whole(whole)).unwrap();
    assert!(
        collect_variables(&condition)
            .iter()
            .all(|path| path.root.span == whole)
    );
    assert_eq!(
        parse("a ==", ConditionPosition::Whole(whole))
            .unwrap_err()
            .span,
        whole
    );
}

#[test]
fn a_fault_reports_what_was_expected_and_what_was_found() {
    let fault = |text: &str| {
        let fault = parse(text, ConditionPosition::Exact(0)).unwrap_err();
        assert_eq!(fault.span.slice(text), fault.found);
        (fault.expected, fault.found, fault.span.start)
    };
    let at = |expected, found: &str, start| (expected, found.to_owned(), start);
    assert_eq!(fault(""), at(Expected::Value, "", 0));
    assert_eq!(fault("a ==  "), at(Expected::Value, "", 6));
    assert_eq!(fault("a and or b"), at(Expected::Value, "or", 6));
    assert_eq!(fault("and"), at(Expected::Value, "and", 0));
    assert_eq!(fault("a b"), at(Expected::Operator, "b", 2));
    assert_eq!(fault("a == b c"), at(Expected::Connective, "c", 7));
    assert_eq!(fault("a lt b lt c"), at(Expected::Connective, "lt", 7));
    assert_eq!(fault("a = 1"), at(Expected::DoubleEquals, "=", 2));
    assert_eq!(fault("a === 1"), at(Expected::Value, "=", 4));
    assert_eq!(fault("a && b"), at(Expected::And, "&&", 2));
    assert_eq!(fault("a || b"), at(Expected::Or, "||", 2));
    assert_eq!(fault("!a"), at(Expected::Not, "!", 0));
    assert_eq!(fault("(a or b"), at(Expected::ClosingParenthesis, "", 7));
    assert_eq!(fault("(a b)"), at(Expected::ClosingParenthesis, "b", 3));
    assert_eq!(fault("(a = b)"), at(Expected::DoubleEquals, "=", 3));
    assert_eq!(fault("a)"), at(Expected::Operator, ")", 1));
    assert_eq!(fault("a == 'b"), at(Expected::ClosingQuote, "'", 5));
    assert_eq!(fault("a. == 1"), at(Expected::Field, "==", 3));
    assert_eq!(fault("a[x]"), at(Expected::Index, "x", 2));
    assert_eq!(fault("a[1 == 2"), at(Expected::Index, "==", 4));
    assert_eq!(fault("a == {{b}}"), at(Expected::Value, "{", 5));
}

#[test]
fn nesting_has_a_limit() {
    let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    let limit = MAX_DEPTH as usize;
    assert!(parse(&nested(limit), ConditionPosition::Exact(0)).is_ok());
    for text in [
        nested(limit + 1),
        nested(1_000_000),
        "not ".repeat(1_000_000) + "a",
    ] {
        assert_eq!(
            parse(&text, ConditionPosition::Exact(0))
                .unwrap_err()
                .expected,
            Expected::LessNesting
        );
    }
    let long = "a == 1 and ".repeat(200_000) + "b";
    assert!(parse(&long, ConditionPosition::Exact(0)).is_ok());
}

/// A condition and its spelling with all parentheses.
fn conditions() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["a", "b.c", "d[0]", "1", "-2.5", "'x y'", "true"])
        .prop_map(str::to_owned);
    leaf.prop_recursive(5, 32, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|part| format!("not ({part})")),
            (
                inner.clone(),
                prop::sample::select(vec!["==", "!=", "<", "ge"]),
                inner.clone()
            )
                .prop_map(|(left, sign, right)| format!("({left}) {sign} ({right})")),
            (
                inner.clone(),
                prop::sample::select(vec!["and", "or"]),
                inner
            )
                .prop_map(|(left, word, right)| format!("{left} {word} {right}")),
        ]
    })
}

proptest! {
    #[test]
    fn the_full_spelling_means_the_same(text in conditions()) {
        let once = read(&text);
        let twice = read(&once.replace('"', "'"));
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn no_text_makes_it_panic_and_spans_fit(
        parts in proptest::collection::vec(
            prop::sample::select(vec!["a", "and", "or", "not", " ", "(", ")", "==", "=", "<", "&", "'", "\"", "1", "-", ".", "[", "]", "é"]),
            0..30,
        ),
    ) {
        let text = parts.concat();
        match parse(&text, ConditionPosition::Exact(0)) {
            Ok(condition) => for path in collect_variables(&condition) {
                prop_assert_eq!(path.root.span.slice(&text), path.root.value.as_ref());
            },
            Err(fault) => prop_assert_eq!(fault.span.slice(&text), fault.found),
        }
    }
}
