//! The destination of calls.

use ctxc::internals::record::proxy::vendor::{VENDORS, endpoint_dialect, find_vendor};
use pretty_assertions::assert_eq;

#[test]
fn a_path_leads_to_the_same_address_whatever_the_client_leaves_out() {
    let to = |name: &str, base: Option<&str>, path: &str| {
        let vendor = find_vendor(name).unwrap();
        let endpoint = vendor.recorded_path(path);
        (
            endpoint.clone(),
            vendor.call_url(
                &vendor
                    .parse_base_url(base.unwrap_or(vendor.base_url))
                    .unwrap(),
                &endpoint,
            ),
        )
    };
    let both = |endpoint: &str, address: &str| (endpoint.to_owned(), address.to_owned());
    assert_eq!(
        to("openai", None, "/v1/chat/completions"),
        both(
            "/chat/completions",
            "https://api.openai.com/v1/chat/completions"
        )
    );
    assert_eq!(
        to("openai", Some("http://h:1/x/"), "/v1/responses"),
        both("/responses", "http://h:1/x/responses")
    );
    for path in ["/v1/messages", "/messages"] {
        let expected = both("/v1/messages", "https://api.anthropic.com/v1/messages");
        assert_eq!(to("anthropic", None, path), expected);
        assert_eq!(
            to("anthropic", Some("https://api.anthropic.com/v1"), path),
            expected
        );
    }
    let path = "/v1beta/models/g:streamGenerateContent?alt=sse";
    assert_eq!(
        to("gemini", None, path),
        both(
            path,
            &format!("https://generativelanguage.googleapis.com{path}")
        )
    );
    assert_eq!(endpoint_dialect(path), Some("gemini"));
    assert_eq!(
        to("ollama", Some("0.0.0.0"), "/api/chat"),
        both("/api/chat", "http://127.0.0.1:11434/api/chat")
    );
    assert_eq!(endpoint_dialect("/embeddings"), None);
    assert_eq!(endpoint_dialect("/v1/threads/t_1/messages"), None);
    for wrong in ["", "ftp://a", "http://", "http://a b", ":80"] {
        VENDORS[0].parse_base_url(wrong).unwrap_err();
    }
}
