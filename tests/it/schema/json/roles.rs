//! Roles for the manifests that schemas are tested with: every word of a role and model occurs in
//! one.

use ctxc::Profile;
use ctxc::internals::project::roles::Tier;

/// A role for each profile, and a model for each tier.
pub(super) fn roles() -> String {
    let role =
        |(tier, profile): (&str, &str)| ROLE.replace("TIER", tier).replace("PROFILE", profile);
    Tier::WORDS
        .into_iter()
        .zip(Profile::WORDS)
        .map(role)
        .collect()
}

const ROLE: &str = "\n[roles.TIER]\ntemplate = \"held\"\nsystem = \"You judge.\"\nmodel = \"TIER\"\nprofile = \"PROFILE\"
tools = [\"read_*\"]\nblocked_tools = [\"read_mail\"]\nprotected_paths = [\"src/**\"]\nbudget = { usd = 0.5 }
[models.TIER]\nprovider = \"openai\"\ntier = \"TIER\"\ncontext_window = 9000\nusd_per_million = { input = 1.5, output = 2 }\n";
