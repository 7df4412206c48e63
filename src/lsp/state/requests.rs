//! Request bodies that are open in the editor as JSON files. Their findings are those of `ctxc
//! check FILE`.

use crate::base::diagnostic::Diagnostic;
use crate::lsp::prelude::*;
use crate::request::model::ModelRequest;
use crate::rules::request::check;
use crate::rules::request::cx::RequestCx;
use crate::scenario::request_source::is_request_body;

impl ProjectState {
    /// Returns the request in an open document, if it contains one.
    fn request_body(&self, name: &str) -> Option<(&Arc<str>, &str, ModelRequest)> {
        let is_json = name
            .rsplit('.')
            .next()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        let (path, buffer) = self
            .open
            .get_key_value(name)
            .filter(|(_, buffer)| is_json && !buffer.is_large())?;
        let text: &str = &buffer.text;
        // Other JSON files, such as translations of a program, also contain the key `messages`.
        let request = is_request_body(text)
            .then(|| ModelRequest::parse(text, None))?
            .ok()?;
        Some((path, text, request))
    }

    /// Returns true if an open document contains a request body.
    pub(in crate::lsp) fn is_request(&self, name: &str) -> bool {
        self.request_body(name).is_some()
    }

    /// Returns the findings of the request: parts that a provider would refuse, and misleading
    /// ones.
    pub(in crate::lsp) fn request_findings(&self, name: &str) -> Vec<Diagnostic> {
        let Some((path, text, request)) = self.request_body(name) else {
            return Vec::new();
        };
        check::request_findings(
            &RequestCx::new(path, text, &request, &self.config),
            &self.config,
        )
    }
}
