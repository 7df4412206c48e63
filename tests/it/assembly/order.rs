//! Values that hosts compare and store keep the order of their author, with and without
//! `serde_json`'s feature `preserve_order` in the host: the package `tests/hosts/ordered` enables
//! it, and compares with the file that is written here.

use crate::support::fresh::assert_fresh;

#[path = "../../hosts/ordered/src/lib.rs"]
#[allow(unreachable_pub, reason = "a crate of its own elsewhere")]
mod ordered;

#[test]
fn a_sample_of_everything_that_json_reaches_is_fresh() {
    assert_fresh("tests/hosts/ordered/expected.txt", &ordered::sample());
}

#[test]
fn a_default_stands_where_a_value_stands_that_a_run_hands_in() {
    let text = "<task type=\"atomic\" name=\"t\"><description>Do.</description><system>Be {{tone}}.</system>\
        <parameters><parameter name=\"title\" required=\"true\"/><parameter name=\"body\" default=\"none\"/>\
        <parameter name=\"tone\" default=\"kind\"/></parameters>\
        <inputs><input name=\"a\" from=\"title\"/><input name=\"b\" from=\"body\"/></inputs></task>";
    let registry = super::settings::registry(text);
    let order = |given: &[(&str, serde_json::Value)]| {
        let inputs = super::settings::values(given);
        let request = ctxc::Request {
            inputs: &inputs,
            ..ctxc::Request::new("t")
        };
        let assembly = ctxc::assemble(&registry, &request, &ctxc::Options::default()).unwrap();
        let mut all: Vec<_> = assembly
            .report
            .segments
            .iter()
            .map(|one| (one.position, one.segment.id.clone()))
            .collect();
        all.sort();
        (
            all,
            assembly
                .messages
                .iter()
                .map(|message| message.breakpoints.clone())
                .collect::<Vec<_>>(),
        )
    };
    let title = ("title", serde_json::json!("T"));
    let without = order(std::slice::from_ref(&title));
    assert_eq!(
        order(&[
            title,
            ("body", serde_json::json!("none")),
            ("tone", serde_json::json!("kind"))
        ]),
        without
    );
}
