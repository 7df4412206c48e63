//! Tests of what `src/registry/compile/settings.rs` keeps to itself.

use super::{RowTexts, SETTINGS, any};
use crate::base::span::{Span, Spanned};
use crate::registry::compile::json::Json;
use crate::settings::explain::View;
use crate::settings::layers::{Declarations, DeclaredDefault, DeclaredRow, Layers};
use crate::settings::operators::Operator;
use crate::settings::resolve::resolve;
use crate::template::setting::{Fresh, Inherit, Written};

#[test]
fn every_row_is_written_as_explain_writes_it() {
    let at = Span::new(31, 38);
    let default = Written { fresh_context: Some(Spanned::new(Fresh::Enabled, at)), ..Written::default() };
    let own = Written { inherit_context: Some(Spanned::new(Inherit::Subset, at)), ..Written::default() };
    let layers = Layers::new(&Declarations {
        files: vec!["ctxc.toml".into(), "shared/\"base\".toml".into()],
        rows: vec![DeclaredRow { operator: "research".into(), subtype: None, base: Operator::Sequential, written: own, file: 1 }],
        defaults: vec![DeclaredDefault { operator: "atomic".into(), subtype: Some("subtask".into()), written: default, file: 0 }],
    });
    let texts = RowTexts::new(&layers);
    for (row, _) in layers.rows() {
        for mask in 0..16_u32 {
            let mut written = Written::default();
            for (_, name) in SETTINGS.iter().enumerate().filter(|(bit, _)| mask & (1 << bit) != 0) {
                let one = any(*name);
                written.inherit_context = written.inherit_context.or(one.inherit_context);
                written.accumulate_data = written.accumulate_data.or(one.accumulate_data);
                written.accumulation_format = written.accumulation_format.or(one.accumulation_format);
                written.fresh_context = written.fresh_context.or(one.fresh_context);
            }
            let resolved = resolve(row, &layers, &written);
            let mut out = Json::default();
            texts.write(&resolved, "\"a\\\\b.xml\"", &mut out);
            let expected = serde_json::to_string(&View { resolved: &resolved, layers: &layers, path: "a\\b.xml" }).unwrap();
            assert_eq!(String::from_utf8(out.bytes).unwrap(), expected);
        }
    }
}
