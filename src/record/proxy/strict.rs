//! What a double refuses because the provider would: asked before a recording or a script answers.

use std::sync::Arc;

/// Why a provider would refuse a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The status that the vendor answers with.
    pub status: u16,
    /// The name of the rule that found it.
    pub rule: String,
    /// What is wrong with the request, and where.
    pub message: String,
    /// The page of the rule.
    pub page: String,
}

/// Looks at the body of a request that goes to a path, and says whether its provider would refuse it. Asked from several threads.
pub type Hook = Arc<dyn Fn(&str, &str) -> Option<Refusal> + Send + Sync>;

/// What is done with a request that would be refused.
#[derive(Clone, Default)]
pub struct Strict {
    /// Who looks; nobody where it is `None`.
    pub hook: Option<Hook>,
    /// Whether the request is answered all the same, and the refusal only noted.
    pub is_lenient: bool,
}

impl std::fmt::Debug for Strict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Strict").field("is_lenient", &self.is_lenient).finish_non_exhaustive()
    }
}

impl Refusal {
    /// The message of the vendor's error body.
    pub fn words(&self) -> String {
        format!("{} [{}: {}]", self.message, self.rule, self.page)
    }
}
