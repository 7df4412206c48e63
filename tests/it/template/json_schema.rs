//! Schemas as they are kept, and what is wrong with those that are none.

use ctxc::internals::template::json_schema::{SchemaFault, compact};
use pretty_assertions::assert_eq;

#[test]
fn layout_is_lost_and_nothing_else() {
    let text = "{ \"b\" : [ 1.0, 1e2, 12345678901234567890123 ],\r\n\t\"a\": \"two  words \\\" \\u0041 \\\\\" , \"ä\":{} }\n";
    let small =
        "{\"b\":[1.0,1e2,12345678901234567890123],\"a\":\"two  words \\\" A \\\\\",\"ä\":{}}";
    assert_eq!(compact(text).as_deref(), Ok(small));
    assert_eq!(compact(small).as_deref(), Ok(small));
    assert_eq!(compact(" true ").as_deref(), Ok("true"));
}

#[test]
fn what_is_no_schema_says_why_and_where() {
    let json = |why: &str, line, column| SchemaFault::Json {
        why: why.to_owned(),
        line,
        column,
    };
    let deep = format!("{}{}", "[".repeat(101), "]".repeat(101));
    let cases = [
        ("", SchemaFault::Empty),
        (" \n", SchemaFault::Empty),
        ("{\"a\": ", SchemaFault::Ends),
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
        ("[1]", SchemaFault::Other { found: "a list" }),
        ("\"object\"", SchemaFault::Other { found: "a string" }),
        ("null", SchemaFault::Other { found: "`null`" }),
        ("-1", SchemaFault::Other { found: "a number" }),
    ];
    for (text, fault) in cases {
        assert_eq!(compact(text), Err(fault), "{text}");
    }
}
