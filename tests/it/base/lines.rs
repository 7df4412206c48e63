//! Differences of texts, as edits.

use ctxc::internals::base::fix;
use ctxc::internals::base::lines::{diff_edits, diff_lines};
use ctxc::internals::base::span::Span;
use proptest::prelude::*;

#[test]
fn an_edit_is_no_longer_than_the_change() {
    let old = "<a>\n  <b>één</b>\n  <c/>\n</a>\n";
    let made = diff_edits(old, &old.replace("één", "één two").replace("<c/>", "<d/>"));
    let spans: Vec<(Span, &str)> = made
        .iter()
        .map(|edit| (edit.span, edit.insert.as_str()))
        .collect();
    assert_eq!(spans, [(Span::new(14, 23), " two</b>\n  <d")]);
    let apart = old.replace("<a>", "<a x>").replace("</a>", "</a >");
    assert_eq!(diff_edits(old, &apart).len(), 2);
    assert!(diff_edits(old, old).is_empty());
}

proptest! {
    #[test]
    fn edits_give_the_new_text(old in "[abé😀\r\n]{0,40}", new in "[abcé😀\r\n]{0,40}") {
        prop_assert_eq!(fix::apply_edits(&old, &diff_edits(&old, &new)), Some(new));
    }

    #[test]
    fn applied_changes_give_the_new_text(old in "[ab\n]{0,40}", new in "[abc\n]{0,40}") {
        let (a, b): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
        let mut made = Vec::new();
        let mut at = 0;
        for (gone, came) in diff_lines(&a, &b) {
            made.extend_from_slice(&a[at..gone.start]);
            made.extend_from_slice(&b[came]);
            at = gone.end;
        }
        made.extend_from_slice(&a[at..]);
        prop_assert_eq!(made.concat(), new);
    }
}
