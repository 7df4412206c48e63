//! What the tests of several places share.

pub(crate) mod examples;
pub(crate) mod fresh;
pub(crate) mod profiles;
pub(crate) mod stored;
