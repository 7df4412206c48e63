//! Parses the conditions of `[[require]]`: `has owner`, `lacks scenario`, `manifest_tokens <=
//! 4000`, `fresh_context == disabled`, `model in ["a", "b"]`, `model not in ["c"]`.

use crate::base::quoted::name_list;
use crate::base::suggest::nearest_candidate;
use crate::project::require::{Condition, ConditionTest, Field, Measure, Order, Thing};
use crate::template::setting::SettingName;

/// The reason why a condition is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConditionError {
    /// A lower-case fragment.
    pub(super) reason: String,
    /// The valid word with the most similar spelling.
    pub(super) near: Option<String>,
}

fn condition_error<T>(reason: impl Into<String>) -> Result<T, ConditionError> {
    Err(ConditionError {
        reason: reason.into(),
        near: None,
    })
}

fn unknown_word<T>(what: &str, found: &str, words: &[&'static str]) -> Result<T, ConditionError> {
    let is_word = found.chars().any(char::is_alphanumeric);
    let near = nearest_candidate(found, words.iter().copied())
        .filter(|_| is_word)
        .map(str::to_owned);
    let reason = format!(
        "{what} `{found}` is not one of {}",
        name_list(words.iter().copied())
    );
    Err(ConditionError { reason, near })
}

/// Parses a condition.
pub(super) fn parse_condition(written: &str) -> Result<Condition, ConditionError> {
    let tokens = tokenize(written)?;
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    let test = match tokens.as_slice() {
        [] => return condition_error("a condition needs at least two words"),
        [word @ ("has" | "lacks"), thing] => parse_has(thing, *word == "has")?,
        ["has" | "lacks", ..] => {
            return condition_error(format!(
                "`has` and `lacks` take one of {}",
                name_list(thing_words())
            ));
        }
        [fact, "in", rest @ ..] => parse_membership(fact, true, rest)?,
        [fact, "not", "in", rest @ ..] => parse_membership(fact, false, rest)?,
        [fact, order, value] => parse_comparison(fact, order, value)?,
        [fact] => return condition_error(format!("`{fact}` is not compared with anything")),
        [_, _, ..] => {
            return condition_error(
                "expected `has THING`, `FACT == VALUE`, `FACT <= NUMBER` or `FACT in [VALUE, …]`",
            );
        }
    };
    Ok(Condition {
        text: written.trim().to_owned(),
        test,
    })
}

fn thing_words() -> impl Iterator<Item = &'static str> {
    Thing::ALL.iter().map(|thing| thing.word())
}

fn parse_has(thing: &str, wanted: bool) -> Result<ConditionTest, ConditionError> {
    match Thing::parse(thing) {
        Some(thing) => Ok(ConditionTest::Has(thing, wanted)),
        None => unknown_word("the thing", thing, &thing_words().collect::<Vec<_>>()),
    }
}

fn fact_words() -> Vec<&'static str> {
    Measure::ALL
        .iter()
        .map(|measure| measure.word())
        .chain(Field::ALL.iter().map(|field| field.word()))
        .collect()
}

fn parse_comparison(fact: &str, order: &str, value: &str) -> Result<ConditionTest, ConditionError> {
    let Some(parsed) = Order::parse(order) else {
        let words: Vec<&'static str> = Order::ALL
            .iter()
            .map(|order| order.word())
            .chain(["in"])
            .collect();
        return unknown_word("the comparison", order, &words);
    };
    if let Some(measure) = Measure::parse(fact) {
        let digits = value.replace('_', "");
        let Ok(number) = digits.parse::<u64>() else {
            return condition_error(format!(
                "`{fact}` is compared with a whole number, not with `{value}`"
            ));
        };
        return Ok(ConditionTest::Number(measure, parsed, number));
    }
    let wanted = match parsed {
        Order::Equal => true,
        Order::Unequal => false,
        Order::AtMost | Order::Less | Order::AtLeast | Order::More
            if Field::parse(fact).is_some() =>
        {
            return condition_error(format!(
                "`{fact}` is a word: compare it with `==`, `!=` or `in`"
            ));
        }
        Order::AtMost | Order::Less | Order::AtLeast | Order::More => {
            return unknown_word("the fact", fact, &fact_words());
        }
    };
    let field = parse_field(fact)?;
    check_value(field, value)?;
    Ok(ConditionTest::Text(field, wanted, vec![value.to_owned()]))
}

fn parse_field(fact: &str) -> Result<Field, ConditionError> {
    if Measure::parse(fact).is_some() {
        return condition_error(format!(
            "`{fact}` is a number: compare it with `<=`, `>=` or `==`"
        ));
    }
    Field::parse(fact).map_or_else(|| unknown_word("the fact", fact, &fact_words()), Ok)
}

/// Checks that a setting is compared only with its own values.
fn check_value(field: Field, value: &str) -> Result<(), ConditionError> {
    let Some(words) = field.setting().map(SettingName::allowed_words) else {
        return Ok(());
    };
    if words.contains(&value) || value == "N/A" {
        return Ok(());
    }
    unknown_word(&format!("the value of `{}`", field.word()), value, words)
}

fn parse_membership(
    fact: &str,
    wanted: bool,
    rest: &[&str],
) -> Result<ConditionTest, ConditionError> {
    let field = parse_field(fact)?;
    let ["[", items @ .., "]"] = rest else {
        return condition_error("`in` takes a list: `model in [\"a\", \"b\"]`");
    };
    let mut values = Vec::new();
    for (at, item) in items.iter().enumerate() {
        match (at % 2 == 1, *item) {
            (true, ",") => {}
            (false, "," | "[" | "]") | (true, _) => {
                return condition_error("the values of a list are separated by one comma");
            }
            (false, value) => {
                check_value(field, value)?;
                values.push(value.to_owned());
            }
        }
    }
    if values.is_empty() {
        return condition_error("an empty list never matches");
    }
    Ok(ConditionTest::Text(field, wanted, values))
}

/// Splits a condition into words, quoted values without their quotes, comparison signs, `[`, `]`
/// and `,`.
fn tokenize(text: &str) -> Result<Vec<String>, ConditionError> {
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let mut token = String::new();
        match c {
            c if c.is_whitespace() => continue,
            '[' | ']' | ',' => token.push(c),
            '"' | '\'' => loop {
                match chars.next() {
                    Some(end) if end == c => break,
                    Some(inner) => token.push(inner),
                    None => {
                        return condition_error(format!("the value after {c} has no closing {c}"));
                    }
                }
            },
            '<' | '>' | '=' | '!' => {
                token.push(c);
                while let Some(sign) = chars.next_if(|c| matches!(c, '<' | '>' | '=' | '!')) {
                    token.push(sign);
                }
            }
            c => {
                token.push(c);
                while let Some(inner) = chars.next_if(|c| {
                    !c.is_whitespace()
                        && !matches!(c, '[' | ']' | ',' | '"' | '\'' | '<' | '>' | '=' | '!')
                }) {
                    token.push(inner);
                }
            }
        }
        out.push(token);
    }
    Ok(out)
}
