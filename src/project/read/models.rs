//! Reads `[models.NAME]` and `[providers.NAME]`. A fault never contains a value that may be an API
//! key.

use super::row::{At, Row, both, keys, needed, row, rows_or};
use super::sampling;
use super::value::{Sink, Value, named, needs, span, table};
use crate::base::span::{Span, Spanned};
use crate::base::suggest::nearest;
use crate::kernel::sampling::{Parameter, Sampling};
use crate::project::fault::FaultKind;
use crate::project::models::{Model, Prices, Provider, ProviderKind, TOKENIZERS};
use crate::project::roles::Tier;
use crate::project::table::{Shape, Table, table as of};
use std::collections::{BTreeMap, BTreeSet};

/// The valid numbers of tokens in a budget.
pub(super) const TOKENS: (u64, u64) = (1, 1_000_000_000);
/// An amount in US$: a role's budget, or the price of a million tokens.
pub(super) const PRICE: Shape = Shape::Number((0.0, 1e6));

/// Key names under which an API key is often written.
const SECRETS: [&str; 9] = [
    "api_key",
    "apikey",
    "api-key",
    "key",
    "secret",
    "token",
    "password",
    "access_token",
    "authorization",
];

/// The valid models, and the names of all models in the file, including invalid ones.
#[derive(Debug, Default)]
pub(super) struct Models {
    pub(super) sound: BTreeMap<String, Model>,
    pub(super) names: BTreeSet<String>,
    /// The providers that they refer to.
    pub(super) providers: Vec<Spanned<String>>,
}

pub(super) fn models(sink: &mut Sink, value: &Value<'_>) -> Models {
    let mut out = Models::default();
    for (key, value) in table(sink, "models", value).into_iter().flatten() {
        let Some(name) = named(sink, "models", key) else {
            continue;
        };
        out.names.insert(name.value.clone());
        if let Some(model) = model(sink, name, value, &mut out.providers) {
            out.sound.insert(model.name.value.clone(), model);
        }
    }
    out
}

/// `[models.NAME]`.
pub(super) static MODEL: Table = of(
    "a model",
    &both::<_, _, { MODEL_ROWS.len() + sampling::ROWS.len() }>(MODEL_ROWS, sampling::ROWS),
);

const MODEL_ROWS: &[Row<WrittenModel>] = &[
    needed(
        "provider",
        Shape::Text,
        "who serves it: a name under `[providers]`, or a kind of provider",
        |at, model| {
            model.provider = at.spanned();
        },
    ),
    row(
        "id",
        Shape::Text,
        "what its provider calls it; its name here where the key is left out",
        |at, model| match at.spanned() {
            Some(found) if found.value.trim().is_empty() => {
                at.bad(&found, "the name that its provider knows");
            }
            found => model.id = found.map(|found| found.value),
        },
    ),
    needed(
        "tier",
        TIER,
        "how able it is, in the project's own judgement",
        |at, model| model.tier = tier(at),
    ),
    row(
        "capabilities",
        Shape::Set,
        "what it can do, in words of the project's own",
        |at, model| {
            model.capabilities = at.set().into_iter().map(|found| found.value).collect();
        },
    ),
    needed(
        "context_window",
        Shape::Whole(TOKENS),
        "tokens that it takes",
        |at, model| {
            model.window = at.whole().map(|tokens| tokens.value);
        },
    ),
    row(
        "output_reserve",
        Shape::Whole((0, TOKENS.1)),
        "tokens of it that are kept free for the answer",
        |at, model| {
            model.reserve = at.whole();
        },
    ),
    row(
        "tokenizer",
        Shape::Word(&TOKENIZERS),
        "who counts its tokens",
        |at, model| model.tokenizer = tokenizer(at),
    ),
    row(
        "usd_per_million",
        Shape::Table(&PRICES),
        "what it costs",
        |at, model| model.prices = prices(at),
    ),
];

/// A model as written.
#[derive(Default)]
struct WrittenModel {
    provider: Option<Spanned<String>>,
    id: Option<String>,
    tier: Option<Spanned<Tier>>,
    capabilities: BTreeSet<String>,
    window: Option<u64>,
    reserve: Option<Spanned<u64>>,
    tokenizer: Option<&'static str>,
    prices: Option<Prices>,
}

fn model(
    sink: &mut Sink,
    name: Spanned<String>,
    value: &Value<'_>,
    providers: &mut Vec<Spanned<String>>,
) -> Option<Model> {
    let path = format!("models.{}", name.value);
    let own = table(sink, &path, value)?;
    let mut found = WrittenModel::default();
    let (mut sampling, mut answer) = (Sampling::new(), Span::default());
    rows_or(
        sink,
        &path,
        own,
        MODEL_ROWS,
        &mut found,
        &mut |sink, key, value| {
            if key.get_ref() == Parameter::MaxOutputTokens.word() {
                answer = span(&value.span());
            }
            if !sampling::take(sink, &path, key, value, &mut sampling) {
                sink.unknown_key(&path, key, &MODEL.names());
            }
        },
    );
    providers.extend(found.provider.clone());
    needs(sink, (&path, name.span), own, &MODEL);
    let provider = found.provider?;
    let tier = found.tier?.value;
    let window = found.window?;
    let longest = sampling
        .get(&Parameter::MaxOutputTokens)
        .and_then(serde_json::Value::as_u64);
    let longest = longest.map(|tokens| Spanned::new(tokens, answer));
    for (key, kept) in [
        ("output_reserve", found.reserve),
        (Parameter::MaxOutputTokens.word(), longest),
    ] {
        if let Some(tokens) = kept.filter(|tokens| tokens.value >= window) {
            let expected = format!("less than its `context_window`, {window}");
            sink.bad_value(
                &format!("{path}.{key}"),
                &tokens.map(|tokens| tokens.to_string()),
                expected,
                None,
            );
            return None;
        }
    }
    Some(Model {
        id: found.id.unwrap_or_else(|| name.value.clone()),
        name,
        provider,
        kind: None,
        tier,
        capabilities: found.capabilities,
        window,
        reserve: found.reserve.map_or(0, |tokens| tokens.value),
        prices: found.prices,
        // The tokenizer of a model without the key is set after all providers are read: see
        // `protocols`.
        tokenizer: found.tokenizer.unwrap_or_default(),
        sampling,
    })
}

/// The accepted values of a tier.
pub(super) const TIER: Shape = Shape::Word(&Tier::WORDS);

/// Reads a tier.
pub(super) fn tier(at: &mut At<'_, '_>) -> Option<Spanned<Tier>> {
    let found = at.word(["standard", "economy"])?;
    Tier::parse(found.value).map(|tier| Spanned::new(tier, found.span))
}

fn tokenizer(at: &mut At<'_, '_>) -> Option<&'static str> {
    let found = at.text()?;
    let known = TOKENIZERS.into_iter().find(|name| *name == found.value);
    if known.is_none() {
        // Vendors' names of encodings have an ending that ours do not have.
        let plain = found.value.strip_suffix("_base").unwrap_or(found.value);
        let near = nearest(plain, TOKENIZERS).map(str::to_owned);
        at.sink.bad_word_near(&at.path, found, &TOKENIZERS, near);
    }
    known
}

/// Sets the protocol of each model to that of its provider, and the default tokenizer of the
/// provider's models if it names none.
pub(super) fn protocols(models: &mut Models, providers: &Providers) {
    for model in models.sound.values_mut() {
        model.kind = ProviderKind::of(
            &model.provider.value,
            providers.sound.get(&model.provider.value),
        );
        if model.tokenizer.is_empty() {
            // For an unknown provider: the tokenizer with the highest counts.
            model.tokenizer = model.kind.map_or("bytes", ProviderKind::tokenizer);
        }
    }
}

/// Prices of a model.
static PRICES: Table = of(
    "US$ for a million tokens",
    &keys::<_, { PRICE_ROWS.len() }>(PRICE_ROWS),
);

const PRICE_ROWS: &[Row<[Option<f64>; 3]>] = &[
    needed("input", PRICE, "read", |at, prices| {
        prices[0] = at.number().map(|usd| usd.value);
    }),
    row(
        "cached_input",
        PRICE,
        "read from the provider's cache",
        |at, prices| prices[1] = at.number().map(|usd| usd.value),
    ),
    needed("output", PRICE, "written", |at, prices| {
        prices[2] = at.number().map(|usd| usd.value);
    }),
];

fn prices(at: &mut At<'_, '_>) -> Option<Prices> {
    let own = table(at.sink, &at.path, at.value)?;
    let mut found = [None; 3];
    at.rows(PRICE_ROWS, &mut found);
    at.needs(at.span(), own, &PRICES);
    let [input, cached, output] = found;
    let input = input?;
    Some(Prices {
        input,
        cached_input: cached.unwrap_or(input),
        output: output?,
    })
}

/// The valid providers, and the names of all providers in the file.
#[derive(Debug, Default)]
pub(super) struct Providers {
    pub(super) sound: BTreeMap<String, Provider>,
    pub(super) names: BTreeSet<String>,
}

pub(super) fn providers(sink: &mut Sink, value: &Value<'_>) -> Providers {
    let mut out = Providers::default();
    for (key, value) in table(sink, "providers", value).into_iter().flatten() {
        let Some(name) = named(sink, "providers", key) else {
            continue;
        };
        out.names.insert(name.value.clone());
        if let Some(provider) = provider(sink, name, value) {
            out.sound.insert(provider.name.value.clone(), provider);
        }
    }
    out
}

/// `[providers.NAME]`.
pub(super) static PROVIDER: Table = of(
    "who serves models; no key stands in the file",
    &keys::<_, { PROVIDER_ROWS.len() }>(PROVIDER_ROWS),
);

const PROVIDER_ROWS: &[Row<WrittenProvider>] = &[
    needed(
        "kind",
        Shape::Word(&ProviderKind::WORDS),
        "the interface that it speaks",
        |at, provider| {
            if let Some(found) = at.text() {
                provider.kind = ProviderKind::parse(found.value);
                if provider.kind.is_none() {
                    at.sink.bad_word(&at.path, found, &ProviderKind::WORDS);
                }
            }
        },
    ),
    row(
        "base_url",
        Shape::Text,
        "its address, where it is not the usual one",
        |at, provider| match at.text() {
            Some(found) if holds_secret(found.value) => provider.report(at, "base_url"),
            Some(found) if !is_address(found.value) => at.bad(
                &found,
                "an address that begins with `https://` or `http://`",
            ),
            Some(found) if found.value.contains('#') => at.bad(
                &found,
                "an address without `#`: what stands behind it is never sent",
            ),
            found => provider.base_url = found.map(|found| found.value.to_owned()),
        },
    ),
    row(
        "api_key_env",
        Shape::Text,
        "the environment variable that holds the key",
        |at, provider| match at.text() {
            Some(found) if !is_variable(found.value) => provider.report(at, "api_key_env"),
            found => provider.api_key_env = found.map(|found| found.value.to_owned()),
        },
    ),
    row(
        "timeout_s",
        Shape::Whole((1, 86_400)),
        "seconds that a call may take",
        |at, provider| {
            provider.timeout_s = at.whole().map(|seconds| seconds.value);
        },
    ),
];

/// A provider as written.
struct WrittenProvider {
    name: Spanned<String>,
    kind: Option<ProviderKind>,
    base_url: Option<String>,
    api_key_env: Option<String>,
    timeout_s: Option<u64>,
}

impl WrittenProvider {
    /// Reports that a key contains a secret. The span is that of the provider's name, so that the
    /// secret is not printed.
    fn report(&self, at: &mut At<'_, '_>, key: &'static str) {
        let kind = FaultKind::KeyInFile {
            provider: self.name.value.clone(),
            key,
            at: at.span(),
        };
        at.sink.report(self.name.span, kind);
    }
}

fn provider(sink: &mut Sink, name: Spanned<String>, value: &Value<'_>) -> Option<Provider> {
    let path = format!("providers.{}", name.value);
    let own = table(sink, &path, value)?;
    let at = name.span;
    let mut found = WrittenProvider {
        name,
        kind: None,
        base_url: None,
        api_key_env: None,
        timeout_s: None,
    };
    let provider = found.name.value.clone();
    rows_or(
        sink,
        &path,
        own,
        PROVIDER_ROWS,
        &mut found,
        &mut |sink, key, value| match SECRETS
            .into_iter()
            .find(|word| word.eq_ignore_ascii_case(key.get_ref()))
        {
            Some(key) => {
                let kind = FaultKind::KeyInFile {
                    provider: provider.clone(),
                    key,
                    at: span(&value.span()),
                };
                sink.report(at, kind);
            }
            None => sink.unknown_key(&path, key, &PROVIDER.names()),
        },
    );
    needs(sink, (&path, at), own, &PROVIDER);
    let WrittenProvider {
        name,
        kind,
        base_url,
        api_key_env,
        timeout_s,
    } = found;
    Some(Provider {
        name,
        kind: kind?,
        base_url,
        api_key_env,
        timeout_s,
    })
}

/// True for the usual form of a variable's name: capitals, digits and `_`. An API key does not have
/// this form.
fn is_variable(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.len() <= 100
        && text.chars().all(is_word)
        && text.starts_with(|c: char| !c.is_ascii_digit())
}

fn is_address(text: &str) -> bool {
    let rest = ["https://", "http://"]
        .into_iter()
        .find_map(|scheme| text.strip_prefix(scheme));
    rest.is_some_and(|rest| {
        !rest.is_empty()
            && !rest.starts_with(['/', ':'])
            && !text.contains(|c: char| c.is_whitespace() || c.is_control())
    })
}

/// True if an address contains a user name or password, or a query, which may contain a key.
fn holds_secret(text: &str) -> bool {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    host.contains('@') || text.contains('?')
}
