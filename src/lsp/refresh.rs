//! What a client is told that shows something made from more than one document: that it should ask again, once another document, a
//! file on disk or the project file changed it.

use super::server::Server;
use crate::base::diagnostic::Diagnostic;
use serde_json::Value;

/// What a client can be told to ask for again.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a capability of its own, as the protocol has it")]
pub(super) struct Refreshes {
    pub(super) diagnostics: bool,
    pub(super) hints: bool,
    pub(super) lenses: bool,
    pub(super) tokens: bool,
}

impl Refreshes {
    /// Reads the parameters of `initialize`.
    pub(super) fn new(params: &Value) -> Self {
        let yes = |name: &str| {
            let pointer = format!("/capabilities/workspace/{name}/refreshSupport");
            params.pointer(&pointer).and_then(Value::as_bool).unwrap_or(false)
        };
        Self { diagnostics: yes("diagnostics"), hints: yes("inlayHint"), lenses: yes("codeLens"), tokens: yes("semanticTokens") }
    }
}

impl Server<'_> {
    /// Tells the client what to ask for again. What it edited itself it asks for anyway.
    pub(super) fn refresh(&mut self) {
        let (mut is_other, mut is_read) = (false, false);
        for world in self.worlds.all_mut() {
            let changed = std::mem::take(&mut world.changed);
            let edited = std::mem::take(&mut world.edited);
            let before = std::mem::replace(&mut world.known, world.reads);
            // Before the first time nothing was shown.
            is_other |= before != 0 && changed.iter().any(|name| !edited.contains(name));
            is_read |= before != 0 && before != world.reads;
        }
        let can = self.client.refreshes;
        if self.client.pulls && can.diagnostics && is_other {
            self.ask("workspace/diagnostic/refresh", Value::Null);
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
            self.ask(method, Value::Null);
        }
    }
}

/// Whether two lists of findings are shown alike.
pub(super) fn are_alike(one: &[Diagnostic], other: &[Diagnostic]) -> bool {
    let alike = |(one, other): (&Diagnostic, &Diagnostic)| {
        let place = (one.rule.code, one.span, one.severity) == (other.rule.code, other.span, other.severity);
        place && (&one.message, &one.labels, &one.notes, &one.help) == (&other.message, &other.labels, &other.notes, &other.help)
    };
    one.len() == other.len() && one.iter().zip(other).all(alike)
}
