//! The profiles that accept untrusted text.

use ctxc::Profile;

/// All profiles except `bare`, which has no fences.
pub(crate) fn fenced_profiles() -> Vec<Profile> {
    Profile::ALL
        .into_iter()
        .filter(|profile| *profile != Profile::Bare)
        .collect()
}
