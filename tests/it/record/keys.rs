//! What finds a call again, and what makes no difference to it.

use ctxc::internals::record::key::key;
use ctxc::internals::record::volatile::{Part, Volatile};
use std::sync::Arc;

#[test]
fn the_mark_of_a_fence_is_no_part_of_what_is_asked() {
    let body = |mark: &str, text: &str| format!("<untrusted-{mark} name=\\\"a\\\">\\n{text}\\n</untrusted-{mark}>");
    let of = |body: &str| key("POST", "/v1/messages", body);
    assert_eq!(of(&body("123", "5 apples")), of(&body("456", "5 apples")));
    assert_ne!(of(&body("123", "5 apples")), of(&body("123", "6 apples")));
    assert_ne!(of("{}"), key("POST", "/v1/chat/completions", "{}"));
}

#[test]
fn what_is_left_out_makes_no_difference_and_all_else_does() {
    let date = |text: &str| text.find("on day ").map(|at| at..at + 8);
    let part = |place: &str| Part { place: place.to_owned(), find: None, words: String::new(), seen: Arc::default() };
    let words = Part { place: "/messages".to_owned(), find: Some(Arc::new(date)), words: String::new(), seen: Arc::default() };
    let volatile = Volatile(vec![part("/metadata/id"), part("/a~1b/0"), words]);
    let body = |id: u32, day: u32, word: &str| {
        format!(
            r#"{{"metadata":{{"id":{id},"x":1}},"a/b":[{id},2],"messages":[{{"content":"on day {day} and on day {day}: {word}"}}],"model":"m"}}"#
        )
    };
    let of = |body: &str| volatile.key("/v1/messages", body).unwrap();
    assert_eq!(of(&body(1, 1, "yes")), of(&body(2, 7, "yes")));
    assert_ne!(of(&body(1, 1, "yes")), of(&body(1, 1, "no")));
    assert_ne!(of(&body(1, 1, "yes")), of(&body(1, 1, "yes").replace("\"m\"", "\"n\"")));
    assert_ne!(of(&body(1, 1, "yes")), of(&body(1, 1, "yes").replace("\"x\":1", "\"x\":2")));
    assert_ne!(of(&body(1, 1, "yes")), volatile.key("/v1/other", &body(1, 1, "yes")).unwrap());
    assert_eq!(Volatile::default().key("/v1/messages", &body(1, 1, "yes")), None);
}
