//! The canonical form of resolved settings, as covered by a hash.

use crate::settings::resolve::ResolvedSettings;
use crate::template::setting::{SettingName, Word};

/// Appends the values and whether they apply, without their provenance.
pub(super) fn push_canonical(resolved: &ResolvedSettings, out: &mut Vec<u8>) {
    for name in SettingName::ALL {
        let setting = resolved.get(*name);
        out.extend_from_slice(setting.value.as_str().as_bytes());
        out.push(if setting.applies { b'+' } else { b'-' });
    }
}
