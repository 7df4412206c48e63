//! The schemas as texts, generated on each call: equal tables yield equal bytes.

use super::grammar::build_grammar;

/// The RELAX NG schema in XML syntax: the structure and the valid combinations of settings.
pub fn rng_schema() -> String {
    super::rng::write_grammar(&build_grammar())
}

/// The XML Schema 1.0: the structure, as far as that language can express it.
pub fn xsd_schema() -> String {
    super::xsd::write_schema()
}
