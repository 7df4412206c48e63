//! The schemas as texts, each made anew: equal tables give equal bytes.

use super::grammar::grammar;

/// The RELAX NG schema in XML: the structure, and which settings agree.
pub fn rng() -> String {
    super::rng::write(&grammar())
}

/// The XML Schema 1.0: the structure, as far as that language can say it.
pub fn xsd() -> String {
    super::xsd::write()
}
