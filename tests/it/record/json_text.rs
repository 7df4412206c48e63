//! Bodies stay as they are, byte for byte, except for the masked strings.

use ctxc::internals::record::json_text::{
    apply_json_edits, compact_json, map_strings, string_edits, to_raw_json, write_compact_edited,
};
use pretty_assertions::assert_eq;

#[test]
fn values_keep_their_bytes_and_strings_their_places() {
    let json = r#"{ "a/b" : [ 1.0, "x\u00e9 \" {", {"c": "y" } ], "d": "", "e": 1e400 }"#;
    assert_eq!(
        compact_json(json),
        r#"{"a/b":[1.0,"x\u00e9 \" {",{"c":"y"}],"d":"","e":1e400}"#
    );
    let mut seen = Vec::new();
    let same = map_strings(json, |_, pointer, text| {
        seen.push(format!("{pointer}={text}"));
        None
    });
    assert_eq!(same, json);
    assert_eq!(
        seen,
        [
            "=a/b",
            "/a~1b/1=xé \" {",
            "/a~1b/2=c",
            "/a~1b/2/c=y",
            "=d",
            "/d=",
            "=e"
        ]
    );
    let edits = string_edits(json, |_, _, text| (text == "y").then(|| "\"".to_owned()));
    let mut kept = String::new();
    write_compact_edited(json, &edits, |part| {
        std::fmt::Write::write_str(&mut kept, part)
    })
    .unwrap();
    assert_eq!(kept, compact_json(&apply_json_edits(json, edits)));
    assert!(kept.contains(r#"{"c":"\""}"#), "{kept}");
    assert_eq!(
        map_strings("[\"a\", \"b\"]", |_, _, text| (text == "b")
            .then(|| "\n".to_owned())),
        "[\"a\", \"\\n\"]"
    );
    assert_eq!(to_raw_json("data: {}\n").get(), "\"data: {}\\n\"");
    assert_eq!(to_raw_json("{\n}").get(), "{}");
}
