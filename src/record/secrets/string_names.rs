//! The names of strings in a JSON text: their keys, names in neighbouring or parent fields, and the
//! preceding words of a list.
//!
//! Reads no values other than names.

use super::headers::COOKIE_HEADERS;
use super::owners::{COOKIE_NAME, NAME_KEYS, VALUE_KEYS, is_cookie_field, is_key};
use crate::base::secrets::names::name_strength;
use crate::record::json_text::{StringSite, string_edits};
use std::collections::BTreeMap;

/// The name of a JSON string.
#[derive(Debug)]
pub(in crate::record) enum StringName {
    /// Its key.
    Key(String),
    /// A secret's name in a neighbouring or parent field.
    Apart(String),
    /// The preceding words of its list.
    Words(String),
}

/// The maximum length in bytes of the remembered words of a list.
const MAX_WORDS_BYTES: usize = 256;

/// The names collected from preceding strings.
#[derive(Debug, Default)]
pub(in crate::record) struct StringNames {
    /// Secrets' names in objects, next to a value.
    secrets_by_name: BTreeMap<String, String>,
    /// The pointer of the current list, and its words so far.
    list: (String, String),
}

impl StringNames {
    /// Collects the names in a text.
    pub(in crate::record) fn new(json: &str) -> Self {
        let mut names = Self::default();
        let has = |key: &&str| {
            memchr::memmem::find(
                json.as_bytes(),
                [key.get(1..).unwrap_or(""), "\""].concat().as_bytes(),
            )
            .is_some()
        };
        if VALUE_KEYS.iter().any(has) {
            string_edits(json, |site, pointer, text| {
                let (above, key) = pointer
                    .rsplit_once('/')
                    .filter(|_| site == StringSite::Value)?;
                if is_key(&NAME_KEYS, key) && text.len() <= 128 && name_strength(text).is_some() {
                    names
                        .secrets_by_name
                        .insert(above.to_owned(), text.to_owned());
                }
                None
            });
        }
        names
    }

    /// Returns the name of a string. Must be called for the strings of a text in order.
    pub(in crate::record) fn name_string(
        &mut self,
        pointer: &str,
        text: &str,
    ) -> Option<StringName> {
        let (above, key) = pointer.rsplit_once('/')?;
        let parent = || above.rsplit('/').next().unwrap_or("");
        if let Ok(number) = key.parse::<usize>() {
            if number == 0 || self.list.0 != above {
                self.list = (above.to_owned(), String::new());
            }
            let before = self.list.1.clone();
            if text.len() <= 128 && before.len() + text.len() <= MAX_WORDS_BYTES {
                self.list.1.extend([text, " "]);
            }
            // `["Authorization", "Bearer …"]`, a list with a key, and each cookie in a list.
            let first = before.trim_end();
            let is_pair =
                number == 1 && !first.is_empty() && !first.starts_with('-') && !first.contains(' ');
            let is_named = is_pair && name_strength(first).is_some();
            return Some(if is_named {
                StringName::Key(first.to_owned())
            } else if first.is_empty() || is_key(&COOKIE_HEADERS, parent()) {
                StringName::Key(parent().to_owned())
            } else {
                StringName::Words(before)
            });
        }
        let holder = if key == "value" {
            above.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '/')
        } else {
            above
        };
        if is_cookie_field(holder.rsplit('/').next().unwrap_or(""), key) {
            return Some(StringName::Key(COOKIE_NAME.to_owned()));
        }
        let above = || {
            self.secrets_by_name
                .get(above)
                .cloned()
                .or_else(|| Some(parent().to_owned()).filter(|name| name_strength(name).is_some()))
        };
        let apart = if is_key(&VALUE_KEYS, key) {
            above()
        } else {
            None
        };
        Some(apart.map_or_else(|| StringName::Key(key.to_owned()), StringName::Apart))
    }
}
