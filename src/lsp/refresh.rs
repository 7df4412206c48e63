//! Sends `workspace/*/refresh` when a change in another document, in a file on disk or in the
//! project file affects tokens, lenses or hints.

use crate::lsp::prelude::*;

impl LspServer<'_> {
    /// Asks the client to request changed results again. It requests results for its own edits
    /// without being asked.
    pub(super) fn refresh_client(&mut self) {
        let mut is_other = self.workspace.take_rearranged();
        let mut is_read = false;
        for project in self.workspace.projects_mut() {
            let config_revision = project.config_revision;
            let shown = &mut project.shown;
            let changed = std::mem::take(&mut shown.changed);
            let edited = std::mem::take(&mut shown.edited);
            let before = std::mem::replace(&mut shown.config_revision, config_revision);
            // Before the first refresh the client has no results.
            is_other |= before != 0 && changed.iter().any(|name| !edited.contains(name));
            is_read |= before != 0 && before != config_revision;
        }
        let can = self.client.refreshes;
        if self.client.pulls_diagnostics && can.diagnostics && is_other {
            self.send_request("workspace/diagnostic/refresh", Value::Null);
        }
        if !is_read {
            return;
        }
        let shown = [
            (can.hints, "workspace/inlayHint/refresh"),
            (can.lenses, "workspace/codeLens/refresh"),
            (can.tokens, "workspace/semanticTokens/refresh"),
        ];
        for (_, method) in shown.into_iter().filter(|(can, _)| *can) {
            self.send_request(method, Value::Null);
        }
    }
}
