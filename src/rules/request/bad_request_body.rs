//! CTX701: a body that is not valid JSON, or JSON of something else.

use super::prelude::*;
use crate::request::model::NoRequest;
use serde::de::IgnoredAny;
use std::sync::Arc;

/// Nothing can be said of a request that nobody can read.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(701, "bad-request-body", "a body that is no request to a model", case!("bad-request-body")),
    check: Check::Edge,
};

pub(super) fn word(path: &Arc<str>, text: &str, offset: usize, why: &NoRequest) -> Option<Diagnostic> {
    let body = text.get(offset..)?;
    let at = match serde_json::from_str::<IgnoredAny>(body) {
        Err(error) if matches!(why, NoRequest::NoJson(_)) => {
            let line: usize = body.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
            body.floor_char_boundary(line + error.column().saturating_sub(1))
        }
        _ => 0,
    };
    let end = body.ceil_char_boundary(at + 1);
    let found = Diagnostic::new(&RULE.meta, path, Span::of(offset + at, offset + end), why.to_string());
    Some(match why {
        NoRequest::NoJson(_) => found,
        NoRequest::Other(_) => found.help("a scenario in JSON says so: `\"schema\": \"ctxc/scenario/1\"`"),
    })
}
