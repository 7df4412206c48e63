//! The keys of a mapping, and the entries merged by `<<`.

use super::fault::{YamlFault, YamlFaultKind};
use super::node::{YamlEntry, YamlNode, YamlValue};
use crate::base::span::{Span, Spanned};
use std::borrow::Cow;
use std::collections::HashSet;

/// A key whose value has not been read yet.
pub(super) enum PendingKey<'t> {
    /// A name.
    Plain(Spanned<Cow<'t, str>>),
    /// `<<`, which merges the entries of its value.
    Merge(Span),
    /// A key that was reported: its value is dropped.
    Refused,
}

/// The entries as written, and those merged by `<<`.
type EntryLists<'m, 't> = (&'m mut Vec<YamlEntry<'t>>, &'m mut Vec<YamlEntry<'t>>);

/// Takes a node as a key, or as the value of the preceding key.
pub(super) fn take_key_or_value<'t>(
    text: &'t str,
    entries: EntryLists<'_, 't>,
    key: &mut Option<PendingKey<'t>>,
    node: YamlNode<'t>,
) -> Option<YamlFault> {
    let (entries, merged) = entries;
    let Some(known) = key.take() else {
        let span = node.span;
        let is_plain = !span_is_quoted(text, node.span);
        let fault = |kind| {
            Some(YamlFault {
                span: span.visible(text),
                kind,
            })
        };
        *key = Some(match node.value {
            YamlValue::Text(merge) if merge == "<<" && is_plain => PendingKey::Merge(span),
            YamlValue::Text(word) => PendingKey::Plain(Spanned::new(word, span)),
            // A number or a word of YAML is used as the name as written.
            YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) => {
                PendingKey::Plain(Spanned::new(Cow::Borrowed(span.slice(text)), span))
            }
            YamlValue::List(_) | YamlValue::Map(_) => {
                *key = Some(PendingKey::Refused);
                return fault(YamlFaultKind::KeyWithParts);
            }
        });
        return None;
    };
    match known {
        PendingKey::Plain(key) => entries.push(YamlEntry { key, value: node }),
        PendingKey::Refused => {}
        PendingKey::Merge(at) => {
            let all = match node.value {
                YamlValue::Map(merged) => merged,
                YamlValue::List(items) if items.iter().all(|item| item.entries().is_some()) => {
                    items
                        .into_iter()
                        .filter_map(|item| {
                            if let YamlValue::Map(merged) = item.value {
                                Some(merged)
                            } else {
                                None
                            }
                        })
                        .flatten()
                        .collect()
                }
                YamlValue::Null
                | YamlValue::Bool(_)
                | YamlValue::Number(_)
                | YamlValue::Text(_)
                | YamlValue::List(_) => {
                    return Some(YamlFault {
                        span: at,
                        kind: YamlFaultKind::Merge,
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
pub(super) fn append_merged<'t>(entries: &mut Vec<YamlEntry<'t>>, all: Vec<YamlEntry<'t>>) {
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
