//! The canonical form of resolved settings, as covered by a hash.

use crate::settings::resolve::Resolved;
use crate::template::setting::{SettingName, Word};

/// Appends the values and whether they apply, without their provenance.
pub(super) fn canonical(resolved: &Resolved, out: &mut Vec<u8>) {
    for name in SettingName::ALL {
        let setting = resolved.get(*name);
        out.extend_from_slice(setting.value.word().as_bytes());
        out.push(if setting.applies { b'+' } else { b'-' });
    }
}
