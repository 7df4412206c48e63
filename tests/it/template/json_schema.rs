//! Schemas as they are stored, and the faults of invalid ones.

use ctxc::internals::template::json_schema::{AnswerSchemaFault, compact_schema};
use pretty_assertions::assert_eq;

#[test]
fn layout_is_lost_and_nothing_else() {
    let text = "{ \"b\" : [ 1.0, 1e2, 12345678901234567890123 ],\r\n\t\"a\": \"two  words \\\" \\u0041 \\\\\" , \"ä\":{} }\n";
    let small =
        "{\"b\":[1.0,1e2,12345678901234567890123],\"a\":\"two  words \\\" A \\\\\",\"ä\":{}}";
    assert_eq!(compact_schema(text).as_deref(), Ok(small));
    assert_eq!(compact_schema(small).as_deref(), Ok(small));
    assert_eq!(compact_schema(" true ").as_deref(), Ok("true"));
}

#[test]
fn what_is_no_schema_gives_reason_and_place() {
    let json = |why: &str, line, column| AnswerSchemaFault::Json {
        why: why.to_owned(),
        line,
        column,
    };
    let deep = format!("{}{}", "[".repeat(101), "]".repeat(101));
    let cases = [
        ("", AnswerSchemaFault::Empty),
        (" \n", AnswerSchemaFault::Empty),
        ("{\"a\": ", AnswerSchemaFault::UnexpectedEnd),
        ("<schema/>", json("expected value", 1, 1)),
        (
            "{\n  \"ä\": \"ö\" \"b\"\n}",
            json("expected `,` or `}`", 2, 12),
        ),
        ("{} {}", json("trailing characters", 1, 4)),
        (
            "{\"a\": 1,\n \"a\": 2}",
            json("`a` a second time in one object", 2, 4),
        ),
        (&*deep, json("values nested deeper than 100", 1, 102)),
        ("[1]", AnswerSchemaFault::WrongType { found: "a list" }),
        (
            "\"object\"",
            AnswerSchemaFault::WrongType { found: "a string" },
        ),
        ("null", AnswerSchemaFault::WrongType { found: "`null`" }),
        ("-1", AnswerSchemaFault::WrongType { found: "a number" }),
    ];
    for (text, fault) in cases {
        assert_eq!(compact_schema(text), Err(fault), "{text}");
    }
}
