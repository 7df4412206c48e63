//! The profiles that take what is untrusted.

use ctxc::Profile;

/// All but `bare`, which has no fences.
pub(crate) fn fenced_profiles() -> Vec<Profile> {
    Profile::ALL.into_iter().filter(|profile| *profile != Profile::Bare).collect()
}
