//! Resolved settings as they count in a hash.

use crate::settings::resolve::Resolved;
use crate::template::setting::{SettingName, Word};

/// Appends what counts in a hash: the values and whether they apply, not where they came from.
pub(super) fn canonical(resolved: &Resolved, out: &mut Vec<u8>) {
    for name in SettingName::ALL {
        let setting = resolved.get(*name);
        out.extend_from_slice(setting.value.word().as_bytes());
        out.push(if setting.applies { b'+' } else { b'-' });
    }
}
