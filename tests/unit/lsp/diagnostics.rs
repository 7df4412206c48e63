//! Tests of the private items of `src/lsp/diagnostics.rs`.

use super::UNNECESSARY;
use crate::rules::list;

#[test]
fn every_rule_whose_places_fade_is_one() {
    for name in UNNECESSARY {
        assert_eq!(
            list::find_rule(name).map(|rule| rule.meta.name),
            Some(*name)
        );
    }
}
