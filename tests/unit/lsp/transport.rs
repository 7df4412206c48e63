//! Tests of what `src/lsp/transport.rs` keeps to itself.

use super::{Message, NoMessage, read, refuse};

#[test]
fn what_is_no_message_is_passed_over() {
    let good = r#"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#;
    let framed = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let input = [framed("{nonsense"), "Content-Type: x\r\n\r\n".to_owned(), framed("[]"), framed(good)].concat();
    let mut input = input.as_bytes();
    let mut refused = 0;
    loop {
        match read(&mut input).unwrap() {
            Some(Ok(message)) => assert!(matches!(message, Message::Request(_))),
            Some(Err(_)) => refused += 1,
            None => break,
        }
    }
    assert_eq!(refused, 3);
}

#[test]
fn a_refusal_is_a_message_with_no_id() {
    let mut out = Vec::new();
    refuse(&mut out, &NoMessage::new("no"));
    let text = String::from_utf8(out).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert_eq!(head, format!("Content-Length: {}", body.len()));
    assert!(body.contains("\"id\":null") && body.contains("-32700"));
}
