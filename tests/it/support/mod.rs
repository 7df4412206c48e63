//! Helpers shared by the tests of several folders.

pub(crate) mod examples;
pub(crate) mod fresh;
pub(crate) mod profiles;
pub(crate) mod stored;
