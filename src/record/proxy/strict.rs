//! The strictness of a double: it rejects requests that the provider would reject, before a
//! recording or a script answers.

use std::sync::Arc;

/// The error with which a provider would reject a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VendorRefusal {
    /// The status of the vendor's response.
    pub status: u16,
    /// The name of the rule that found the fault.
    pub rule: String,
    /// The fault of the request, and its place.
    pub message: String,
    /// The documentation page of the rule.
    pub page: String,
}

/// Checks the body of a request to a path, and returns the provider's rejection, if any. Called
/// from several threads.
pub type RefusalHook = Arc<dyn Fn(&str, &str) -> Option<VendorRefusal> + Send + Sync>;

/// The handling of requests that the provider would reject.
#[derive(Clone, Default)]
pub struct StrictMode {
    /// The check; `None` for no check.
    pub hook: Option<RefusalHook>,
    /// True to answer rejected requests all the same, and only note the rejection.
    pub is_lenient: bool,
}

impl std::fmt::Debug for StrictMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Strict")
            .field("is_lenient", &self.is_lenient)
            .finish_non_exhaustive()
    }
}

impl VendorRefusal {
    /// The message of the vendor's error body.
    pub fn error_message(&self) -> String {
        format!("{} [{}: {}]", self.message, self.rule, self.page)
    }
}
