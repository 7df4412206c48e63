//! The keys of a mapping, and the entries merged by `<<`.

use super::fault::{Fault, FaultKind};
use super::node::{Entry, Node, Value};
use crate::base::span::{Span, Spanned};
use std::borrow::Cow;
use std::collections::HashSet;

/// A key whose value has not been read yet.
pub(super) enum Key<'t> {
    /// A name.
    Plain(Spanned<Cow<'t, str>>),
    /// `<<`, which merges the entries of its value.
    Merge(Span),
    /// A key that was reported: its value is dropped.
    Refused,
}

/// The entries as written, and those merged by `<<`.
type Entries<'m, 't> = (&'m mut Vec<Entry<'t>>, &'m mut Vec<Entry<'t>>);

/// Takes a node as a key, or as the value of the preceding key.
pub(super) fn pair<'t>(
    text: &'t str,
    entries: Entries<'_, 't>,
    key: &mut Option<Key<'t>>,
    node: Node<'t>,
) -> Option<Fault> {
    let (entries, merged) = entries;
    let Some(known) = key.take() else {
        let span = node.span;
        let is_plain = !span_is_quoted(text, node.span);
        let fault = |kind| {
            Some(Fault {
                span: span.visible(text),
                kind,
            })
        };
        *key = Some(match node.value {
            Value::Text(merge) if merge == "<<" && is_plain => Key::Merge(span),
            Value::Text(word) => Key::Plain(Spanned::new(word, span)),
            // A number or a word of YAML is used as the name as written.
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                Key::Plain(Spanned::new(Cow::Borrowed(span.slice(text)), span))
            }
            Value::List(_) | Value::Map(_) => {
                *key = Some(Key::Refused);
                return fault(FaultKind::KeyWithParts);
            }
        });
        return None;
    };
    match known {
        Key::Plain(key) => entries.push(Entry { key, value: node }),
        Key::Refused => {}
        Key::Merge(at) => {
            let all = match node.value {
                Value::Map(merged) => merged,
                Value::List(items) if items.iter().all(|item| item.entries().is_some()) => items
                    .into_iter()
                    .filter_map(|item| {
                        if let Value::Map(merged) = item.value {
                            Some(merged)
                        } else {
                            None
                        }
                    })
                    .flatten()
                    .collect(),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::Text(_)
                | Value::List(_) => {
                    return Some(Fault {
                        span: at,
                        kind: FaultKind::Merge,
                    });
                }
            };
            merged.extend(all);
        }
    }
    None
}

/// Appends the merged entries. Written entries take precedence, then the first of several merged
/// ones.
pub(super) fn merge<'t>(entries: &mut Vec<Entry<'t>>, all: Vec<Entry<'t>>) {
    if all.is_empty() {
        return;
    }
    let known: HashSet<String> = entries
        .iter()
        .map(|entry| entry.key.value.as_ref().to_owned())
        .collect();
    let mut new: HashSet<String> = HashSet::new();
    entries.extend(all.into_iter().filter(|entry| {
        let key = entry.key.value.as_ref();
        !known.contains(key) && new.insert(key.to_owned())
    }));
}

fn span_is_quoted(text: &str, span: Span) -> bool {
    span.slice(text).starts_with(['"', '\''])
}
