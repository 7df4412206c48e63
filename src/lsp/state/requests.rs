//! Requests to models that are open in the editor: files of JSON that hold the body of one. Their findings are those of `ctxc check FILE`.

use crate::base::diagnostic::Diagnostic;
use crate::lsp::prelude::*;
use crate::request::model::Request;
use crate::rules::request::check;
use crate::rules::request::cx::RequestCx;
use crate::scenario::request_body::is_request_body;

impl ProjectState {
    /// The body of a request, where an open document holds one.
    fn request(&self, name: &str) -> Option<(&Arc<str>, &str, Request)> {
        let is_json = name.rsplit('.').next().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        let (path, buffer) = self.open.get_key_value(name).filter(|(_, buffer)| is_json && !buffer.is_large())?;
        let text: &str = &buffer.text;
        // Other JSON has messages as well, such as those of a translated program.
        let request = is_request_body(text).then(|| Request::read(text, None))?.ok()?;
        Some((path, text, request))
    }

    /// Whether an open document holds the body of a request.
    pub(in crate::lsp) fn is_request(&self, name: &str) -> bool {
        self.request(name).is_some()
    }

    /// What a provider would refuse of it, and what misleads.
    pub(in crate::lsp) fn of_request(&self, name: &str) -> Vec<Diagnostic> {
        let Some((path, text, request)) = self.request(name) else { return Vec::new() };
        check::request(&RequestCx::new(path, text, &request, &self.config), &self.config)
    }
}
