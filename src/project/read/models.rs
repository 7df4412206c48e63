//! `[models.NAME]` and `[providers.NAME]`. No value that may be a key is ever put into a fault.

use super::roles::{named, tier};
use super::value::{Sink, Value, decimal, needs, number, set, span, table, text};
use crate::base::span::Spanned;
use crate::base::suggest::nearest;
use crate::project::fault::FaultKind;
use crate::project::keys;
use crate::project::models::{Model, Prices, Provider, ProviderKind, TOKENIZERS};
use std::collections::{BTreeMap, BTreeSet};

/// Keys that people put a key's value under.
const SECRETS: [&str; 9] =
    ["api_key", "apikey", "api-key", "key", "secret", "token", "password", "access_token", "authorization"];

/// Models, and the names of all that are written, those too that cannot be taken.
#[derive(Debug, Default)]
pub(super) struct Models {
    pub(super) sound: BTreeMap<String, Model>,
    pub(super) names: BTreeSet<String>,
    /// Whom they name as their provider.
    pub(super) providers: Vec<Spanned<String>>,
}

pub(super) fn models(sink: &mut Sink, value: &Value<'_>) -> Models {
    let mut out = Models::default();
    for (key, value) in table(sink, "models", value).into_iter().flatten() {
        let Some(name) = named(sink, "models", key) else { continue };
        out.names.insert(name.value.clone());
        if let Some(model) = model(sink, name, value, &mut out.providers) {
            out.sound.insert(model.name.value.clone(), model);
        }
    }
    out
}

fn model(sink: &mut Sink, name: Spanned<String>, value: &Value<'_>, providers: &mut Vec<Spanned<String>>) -> Option<Model> {
    let path = format!("models.{}", name.value);
    let own = table(sink, &path, value)?;
    let (mut provider, mut id, mut level, mut window, mut prices, mut tokenizer) = (None, None, None, None, None, None);
    let (mut capabilities, mut reserve) = (BTreeSet::new(), None);
    for (key, value) in own {
        let inner = key.get_ref().as_ref();
        let full = format!("{path}.{inner}");
        match inner {
            "provider" => provider = text(sink, &full, value).map(|found| found.map(str::to_owned)),
            "id" => id = text(sink, &full, value).map(|found| found.value.to_owned()),
            "tier" => level = tier(sink, &full, value),
            "capabilities" => capabilities = set(sink, &full, value).into_iter().map(|found| found.value).collect(),
            "context_window" => window = number(sink, &full, value, keys::TOKENS),
            "output_reserve" => {
                reserve = number(sink, &full, value, keys::RESERVE).map(|tokens| Spanned::new(tokens, span(&value.span())));
            }
            "tokenizer" => tokenizer = self::tokenizer(sink, &full, value),
            "usd_per_million" => prices = self::prices(sink, &full, value),
            _ => sink.unknown_key(&path, key, &keys::MODEL.names()),
        }
    }
    providers.extend(provider.clone());
    needs(sink, (&path, name.span), own, &keys::MODEL);
    let (provider, level, window) = (provider?, level?, window?);
    if let Some(tokens) = reserve.filter(|tokens| tokens.value >= window) {
        let kind = FaultKind::BadValue {
            key: format!("{path}.output_reserve"),
            found: tokens.value.to_string(),
            expected: format!("less than its `context_window`, {window}"),
            near: None,
        };
        sink.report(tokens.span, kind);
        return None;
    }
    let id = id.unwrap_or_else(|| name.value.clone());
    let (tier, reserve) = (level.value, reserve.map_or(0, |tokens| tokens.value));
    // Of a model without the key it is known once all providers are: see `tokenizers`.
    let tokenizer = tokenizer.unwrap_or_default();
    Some(Model { name, id, provider, tier, capabilities, window, reserve, prices, tokenizer })
}

fn tokenizer(sink: &mut Sink, path: &str, value: &Value<'_>) -> Option<&'static str> {
    let found = text(sink, path, value)?;
    let known = TOKENIZERS.into_iter().find(|name| *name == found.value);
    if known.is_none() {
        // The vendors' own word for a table has an ending that ours has not.
        let plain = found.value.strip_suffix("_base").unwrap_or(found.value);
        let near = nearest(plain, TOKENIZERS).map(str::to_owned);
        sink.bad_word_near(path, found, &TOKENIZERS, near);
    }
    known
}

/// Gives each model that names none the tokenizer of its provider's models.
pub(super) fn tokenizers(models: &mut Models, providers: &Providers) {
    for model in models.sound.values_mut().filter(|model| model.tokenizer.is_empty()) {
        let named = providers.sound.get(&model.provider.value).map(|provider| provider.kind);
        let kind = named.or_else(|| ProviderKind::parse(&model.provider.value));
        // Of a provider that is not known, more tokens than any tokenizer counts.
        model.tokenizer = kind.map_or("bytes", ProviderKind::tokenizer);
    }
}

fn prices(sink: &mut Sink, path: &str, value: &Value<'_>) -> Option<Prices> {
    let own = table(sink, path, value)?;
    let (mut input, mut cached, mut output) = (None, None, None);
    for (key, value) in own {
        let inner = key.get_ref().as_ref();
        let full = format!("{path}.{inner}");
        match inner {
            "input" => input = decimal(sink, &full, value, keys::PRICE),
            "cached_input" => cached = decimal(sink, &full, value, keys::PRICE),
            "output" => output = decimal(sink, &full, value, keys::PRICE),
            _ => sink.unknown_key(path, key, &keys::PRICES.names()),
        }
    }
    needs(sink, (path, span(&value.span())), own, &keys::PRICES);
    let input = input?;
    Some(Prices { input, cached_input: cached.unwrap_or(input), output: output? })
}

/// Providers, and the names of all that are written.
#[derive(Debug, Default)]
pub(super) struct Providers {
    pub(super) sound: BTreeMap<String, Provider>,
    pub(super) names: BTreeSet<String>,
}

pub(super) fn providers(sink: &mut Sink, value: &Value<'_>) -> Providers {
    let mut out = Providers::default();
    for (key, value) in table(sink, "providers", value).into_iter().flatten() {
        let Some(name) = named(sink, "providers", key) else { continue };
        out.names.insert(name.value.clone());
        if let Some(provider) = provider(sink, name, value) {
            out.sound.insert(provider.name.value.clone(), provider);
        }
    }
    out
}

fn provider(sink: &mut Sink, name: Spanned<String>, value: &Value<'_>) -> Option<Provider> {
    let path = format!("providers.{}", name.value);
    let own = table(sink, &path, value)?;
    let (mut kind, mut base_url, mut api_key_env) = (None, None, None);
    for (key, value) in own {
        let inner = key.get_ref().as_ref();
        let (full, at) = (format!("{path}.{inner}"), span(&value.span()));
        let secret = |key| FaultKind::KeyInFile { provider: name.value.clone(), key, at };
        match inner {
            "kind" => {
                if let Some(found) = text(sink, &full, value) {
                    kind = ProviderKind::parse(found.value);
                    if kind.is_none() {
                        sink.bad_word(&full, found, &ProviderKind::WORDS);
                    }
                }
            }
            "base_url" => match text(sink, &full, value) {
                Some(found) if holds_secret(found.value) => sink.report(name.span, secret("base_url")),
                Some(found) if !is_address(found.value) => {
                    let expected = "an address that begins with `https://` or `http://`".to_owned();
                    let kind = FaultKind::BadValue { key: full, found: found.value.to_owned(), expected, near: None };
                    sink.report(found.span, kind);
                }
                found => base_url = found.map(|found| found.value.to_owned()),
            },
            "api_key_env" => match text(sink, &full, value) {
                Some(found) if !is_variable(found.value) => sink.report(name.span, secret("api_key_env")),
                found => api_key_env = found.map(|found| found.value.to_owned()),
            },
            _ => match SECRETS.into_iter().find(|word| word.eq_ignore_ascii_case(inner)) {
                Some(key) => sink.report(name.span, secret(key)),
                None => sink.unknown_key(&path, key, &keys::PROVIDER.names()),
            },
        }
    }
    needs(sink, (&path, name.span), own, &keys::PROVIDER);
    Some(Provider { name, kind: kind?, base_url, api_key_env })
}

/// The name of a variable as they are written everywhere: capitals. A key is none.
fn is_variable(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.len() <= 100 && text.chars().all(is_word) && text.starts_with(|c: char| !c.is_ascii_digit())
}

fn is_address(text: &str) -> bool {
    let rest = ["https://", "http://"].into_iter().find_map(|scheme| text.strip_prefix(scheme));
    rest.is_some_and(|rest| !rest.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control()))
}

/// Whether an address carries a name with a password, or a key behind its question mark.
fn holds_secret(text: &str) -> bool {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    host.contains('@') || text.contains('?')
}
