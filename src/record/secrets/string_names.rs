//! Names of the strings of a JSON text: their keys, the names beside or above them, and the words before them in a list.
//!
//! Looks at no value but those that name others.

use super::headers::COOKIES;
use super::owners::{COOKIE, NAMES, VALUES, is_cookie, is_key};
use crate::base::secrets::names::name_strength;
use crate::record::json_text::{Site, string_edits};
use std::collections::BTreeMap;

/// The name of a string of JSON.
#[derive(Debug)]
pub(in crate::record) enum Named {
    /// Its key.
    Key(String),
    /// The name of a secret beside or above it.
    Apart(String),
    /// The words before it in a list.
    Words(String),
}

/// Bytes of the words of a list that are kept.
const WORDS: usize = 256;

/// The strings that were seen last, which name those behind them.
#[derive(Debug, Default)]
pub(in crate::record) struct Names {
    /// The names of secrets that objects hold beside a value.
    beside: BTreeMap<String, String>,
    /// The list of the last word, and the words of it so far.
    list: (String, String),
}

impl Names {
    /// The names of a text.
    pub(in crate::record) fn new(json: &str) -> Self {
        let mut names = Self::default();
        let has =
            |key: &&str| memchr::memmem::find(json.as_bytes(), [key.get(1..).unwrap_or(""), "\""].concat().as_bytes()).is_some();
        if VALUES.iter().any(has) {
            string_edits(json, |site, pointer, text| {
                let (above, key) = pointer.rsplit_once('/').filter(|_| site == Site::Value)?;
                if is_key(&NAMES, key) && text.len() <= 128 && name_strength(text).is_some() {
                    names.beside.insert(above.to_owned(), text.to_owned());
                }
                None
            });
        }
        names
    }

    /// The name of a string. Takes the strings of a text in their order.
    pub(in crate::record) fn of(&mut self, pointer: &str, text: &str) -> Option<Named> {
        let (above, key) = pointer.rsplit_once('/')?;
        let parent = || above.rsplit('/').next().unwrap_or("");
        if let Ok(number) = key.parse::<usize>() {
            if number == 0 || self.list.0 != above {
                self.list = (above.to_owned(), String::new());
            }
            let before = self.list.1.clone();
            if text.len() <= 128 && before.len() + text.len() <= WORDS {
                self.list.1.extend([text, " "]);
            }
            // `["Authorization", "Bearer …"]`, and a list behind a key; each of a list of cookies.
            let first = before.trim_end();
            let is_pair = number == 1 && !first.is_empty() && !first.starts_with('-') && !first.contains(' ');
            let is_named = is_pair && name_strength(first).is_some();
            return Some(if is_named {
                Named::Key(first.to_owned())
            } else if first.is_empty() || is_key(&COOKIES, parent()) {
                Named::Key(parent().to_owned())
            } else {
                Named::Words(before)
            });
        }
        let holder =
            if key == "value" { above.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '/') } else { above };
        if is_cookie(holder.rsplit('/').next().unwrap_or(""), key) {
            return Some(Named::Key(COOKIE.to_owned()));
        }
        let above =
            || self.beside.get(above).cloned().or_else(|| Some(parent().to_owned()).filter(|name| name_strength(name).is_some()));
        let apart = if is_key(&VALUES, key) { above() } else { None };
        Some(apart.map_or_else(|| Named::Key(key.to_owned()), Named::Apart))
    }
}
