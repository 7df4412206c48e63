//! The hash that finds a call again.

use ctxc::internals::record::recording::call_key;

#[test]
fn the_mark_of_a_fence_is_no_part_of_what_is_asked() {
    let body = |mark: &str, text: &str| {
        format!("<untrusted-{mark} name=\\\"a\\\">\\n{text}\\n</untrusted-{mark}>")
    };
    let of = |body: &str| call_key("POST", "/v1/messages", body);
    assert_eq!(of(&body("123", "5 apples")), of(&body("456", "5 apples")));
    assert_ne!(of(&body("123", "5 apples")), of(&body("123", "6 apples")));
    assert_eq!(
        of("{ \"a\" : [1.0 ,\n\"x  y\"] }"),
        of("{\"a\":[1.0,\"x  y\"]}")
    );
    assert_ne!(of("{\"a\":\"x  y\"}"), of("{\"a\":\"x y\"}"));
    assert_ne!(of("{}"), call_key("POST", "/v1/chat/completions", "{}"));
}
