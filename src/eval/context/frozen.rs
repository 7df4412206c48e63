//! The places of a scenario's frozen values: in a file beside it, or in its own file.

use crate::base::span::{Span, Spanned};
use crate::eval::prepared::CaseInput;
use crate::kernel::context::Origin;
use crate::scenario::model::{FrozenConversation, FrozenText, FrozenValue};
use crate::scenario::paths::resolve_beside;

/// A file of the project, and a span in it if known.
pub(super) type PlaceInFile = (String, Option<Span>);

/// The place of a text's origin; `None` if the scenario does not freeze it.
pub(super) fn frozen_place(input: &CaseInput<'_>, origin: &Origin) -> Option<PlaceInFile> {
    let situation = &input.case.situation;
    let at = |file: Option<&String>, span: Span| match file {
        Some(file) => Some((resolve_beside(input.path, file)?, None)),
        None => Some((input.path.to_owned(), Some(span))),
    };
    let value = |one: &Spanned<FrozenValue>| {
        at(
            if let FrozenValue::File(file) = &one.value {
                Some(file)
            } else {
                None
            },
            one.span,
        )
    };
    let text = |one: &Spanned<FrozenText>| {
        at(
            if let FrozenText::File(file) = &one.value {
                Some(file)
            } else {
                None
            },
            one.span,
        )
    };
    #[allow(clippy::wildcard_enum_match_arm, reason = "nothing else is frozen")]
    match origin {
        Origin::Input { name } => value(situation.inputs.get(name)?),
        Origin::Result { name } => value(situation.results.get(name)?),
        Origin::File { path, .. } => text(situation.files.get(path)?),
        Origin::Match { id } => text(&situation.matches.iter().find(|found| found.id == *id)?.text),
        Origin::Conversation => {
            let history = situation.history.as_ref()?;
            at(
                if let FrozenConversation::File(file) = &history.value {
                    Some(file)
                } else {
                    None
                },
                history.span,
            )
        }
        _ => None,
    }
}
