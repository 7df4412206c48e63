//! The dated table of models.

use ctxc::internals::request::public_models::{find_model, table_date};
use pretty_assertions::assert_eq;

#[test]
fn a_model_is_found_with_its_date_and_behind_a_router() {
    assert_eq!(find_model("gpt-4.1-2025-04-14"), find_model("gpt-4.1"));
    assert_eq!(
        find_model("openai/gpt-4.1-2099-01-01"),
        find_model("gpt-4.1")
    );
    assert_eq!(
        find_model("claude-sonnet-4-5-20991231").map(|model| model.window),
        Some(200_000)
    );
    assert_eq!(find_model("nobody-1"), None);
    assert_eq!(find_model("-2025-04-14"), None);
    assert_eq!(table_date().len(), 10);
}
