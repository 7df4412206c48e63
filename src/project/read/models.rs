//! Reads `[models.NAME]` and `[providers.NAME]`. A fault never contains a value that may be an API
//! key.

use super::inherit::{InheritedSection, read_inheritance};
use super::row::{
    KeyReader, KeyValue, joined_row_keys, optional_row, read_rows_or_else, required_row, row_keys,
};
use super::sampling;
use super::value::{FaultSink, TomlValue, check_name, read_table, report_missing_keys, to_span};
use crate::base::span::{Span, Spanned};
use crate::base::suggest::nearest_candidate;
use crate::kernel::sampling::{Parameter, Sampling};
use crate::project::models::{ModelConfig, Prices, ProviderConfig, ProviderKind, TOKENIZERS};
use crate::project::project_fault::ProjectFaultKind;
use crate::project::roles::Tier;
use crate::project::table::{ConfigShape, ConfigTable, key_table as of};
use std::collections::{BTreeMap, BTreeSet};

/// The valid numbers of tokens in a budget.
pub(super) const TOKEN_BOUNDS: (u64, u64) = (1, 1_000_000_000);
/// An amount in US$: a role's budget, or the price of a million tokens.
pub(super) const PRICE_SHAPE: ConfigShape = ConfigShape::Number((0.0, 1e6));

/// Key names under which an API key is often written.
const SECRET_KEYS: [&str; 9] = [
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
pub(super) struct ReadModels {
    pub(super) sound: BTreeMap<String, ModelConfig>,
    pub(super) names: BTreeSet<String>,
    /// The providers that they refer to.
    pub(super) providers: Vec<Spanned<String>>,
    /// The names of those that the project takes over from its workspace.
    pub(super) inherited: BTreeSet<String>,
}

impl ReadModels {
    /// Moves everything to one place: the key that takes the models over from a workspace.
    pub(super) fn move_to(&mut self, span: Span) {
        for provider in &mut self.providers {
            provider.span = span;
        }
        for model in self.sound.values_mut() {
            model.name.span = span;
            model.provider.span = span;
        }
        self.inherited = self.names.clone();
    }

    /// Adds the models of a workspace that have no model of the same name.
    pub(super) fn inherit(&mut self, shared: Self) {
        for (name, model) in shared.sound {
            if !self.names.contains(&name) {
                self.sound.insert(name, model);
            }
        }
        self.inherited = shared.inherited.difference(&self.names).cloned().collect();
        self.names.extend(shared.names);
        self.providers.extend(shared.providers);
    }
}

pub(super) fn read_models(
    sink: &mut FaultSink,
    value: &TomlValue<'_>,
    inherited: &mut Vec<InheritedSection>,
) -> ReadModels {
    let mut out = ReadModels::default();
    for (key, value) in read_table(sink, "models", value).into_iter().flatten() {
        if read_inheritance(sink, "models", key, value, inherited) {
            continue;
        }
        let Some(name) = check_name(sink, "models", key) else {
            continue;
        };
        out.names.insert(name.value.clone());
        if let Some(model) = read_model(sink, name, value, &mut out.providers) {
            out.sound.insert(model.name.value.clone(), model);
        }
    }
    out
}

/// `[models.NAME]`.
pub(super) static MODEL: ConfigTable = of(
    "a model",
    &joined_row_keys::<_, _, { MODEL_ROWS.len() + sampling::ROWS.len() }>(
        MODEL_ROWS,
        sampling::ROWS,
    ),
);

const MODEL_ROWS: &[KeyReader<WrittenModel>] = &[
    required_row(
        "provider",
        ConfigShape::Text,
        "its provider: a name under `[providers]`, or a kind of provider",
        |at, model| {
            model.provider = at.read_string();
        },
    ),
    optional_row(
        "id",
        ConfigShape::Text,
        "its name at its provider; default: its name here",
        |at, model| match at.read_string() {
            Some(found) if found.value.trim().is_empty() => {
                at.report_bad_value(&found, "the name that its provider knows");
            }
            found => model.id = found.map(|found| found.value),
        },
    ),
    required_row(
        "tier",
        TIER_SHAPE,
        "its capability, in the project's own judgement",
        |at, model| model.tier = read_tier(at),
    ),
    optional_row(
        "capabilities",
        ConfigShape::Set,
        "its capabilities, in words of the project's own",
        |at, model| {
            model.capabilities = at
                .read_unique_texts()
                .into_iter()
                .map(|found| found.value)
                .collect();
        },
    ),
    required_row(
        "context_window",
        ConfigShape::Whole(TOKEN_BOUNDS),
        "tokens that it takes",
        |at, model| {
            model.window = at.read_whole().map(|tokens| tokens.value);
        },
    ),
    optional_row(
        "output_reserve",
        ConfigShape::Whole((0, TOKEN_BOUNDS.1)),
        "tokens of the window that are reserved for the answer",
        |at, model| {
            model.reserve = at.read_whole();
        },
    ),
    optional_row(
        "tokenizer",
        ConfigShape::Word(&TOKENIZERS),
        "its tokenizer",
        |at, model| model.tokenizer = read_tokenizer(at),
    ),
    optional_row(
        "usd_per_million",
        ConfigShape::Table(&PRICES),
        "its prices",
        |at, model| model.prices = read_prices(at),
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

fn read_model(
    sink: &mut FaultSink,
    name: Spanned<String>,
    value: &TomlValue<'_>,
    providers: &mut Vec<Spanned<String>>,
) -> Option<ModelConfig> {
    let path = format!("models.{}", name.value);
    let own = read_table(sink, &path, value)?;
    let mut found = WrittenModel::default();
    let (mut sampling, mut answer) = (Sampling::new(), Span::default());
    read_rows_or_else(
        sink,
        &path,
        own,
        MODEL_ROWS,
        &mut found,
        &mut |sink, key, value| {
            if key.get_ref() == Parameter::MaxOutputTokens.word() {
                answer = to_span(&value.span());
            }
            if !sampling::read_parameter(sink, &path, key, value, &mut sampling) {
                sink.unknown_key(&path, key, &MODEL.key_names());
            }
        },
    );
    providers.extend(found.provider.clone());
    report_missing_keys(sink, Spanned::new(&path, name.span), own, &MODEL);
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
    Some(ModelConfig {
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
        // `set_protocols`.
        tokenizer: found.tokenizer.unwrap_or_default(),
        sampling,
    })
}

/// The accepted values of a tier.
pub(super) const TIER_SHAPE: ConfigShape = ConfigShape::Word(&Tier::WORDS);

/// Reads a tier.
pub(super) fn read_tier(at: &mut KeyValue<'_, '_>) -> Option<Spanned<Tier>> {
    let found = at.read_word(["standard", "economy"])?;
    Tier::parse(found.value).map(|tier| Spanned::new(tier, found.span))
}

fn read_tokenizer(at: &mut KeyValue<'_, '_>) -> Option<&'static str> {
    let found = at.read_text()?;
    let known = TOKENIZERS.into_iter().find(|name| *name == found.value);
    if known.is_none() {
        // Vendors' names of encodings have an ending that ours do not have.
        let plain = found.value.strip_suffix("_base").unwrap_or(found.value);
        let near = nearest_candidate(plain, TOKENIZERS).map(str::to_owned);
        at.sink.bad_word_near(&at.path, found, &TOKENIZERS, near);
    }
    known
}

/// Sets the protocol of each model to that of its provider, and the default tokenizer of the
/// provider's models if it names none.
pub(super) fn set_protocols(models: &mut ReadModels, providers: &ReadProviders) {
    for model in models.sound.values_mut() {
        model.kind = ProviderKind::for_provider(
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
static PRICES: ConfigTable = of(
    "US$ per million tokens",
    &row_keys::<_, { PRICE_ROWS.len() }>(PRICE_ROWS),
);

const PRICE_ROWS: &[KeyReader<[Option<f64>; 3]>] = &[
    required_row("input", PRICE_SHAPE, "read", |at, prices| {
        prices[0] = at.read_number().map(|usd| usd.value);
    }),
    optional_row(
        "cached_input",
        PRICE_SHAPE,
        "read from the provider's cache",
        |at, prices| prices[1] = at.read_number().map(|usd| usd.value),
    ),
    required_row("output", PRICE_SHAPE, "written", |at, prices| {
        prices[2] = at.read_number().map(|usd| usd.value);
    }),
];

fn read_prices(at: &mut KeyValue<'_, '_>) -> Option<Prices> {
    let own = read_table(at.sink, &at.path, at.value)?;
    let mut found = [None; 3];
    at.read_table(PRICE_ROWS, &mut found);
    at.report_missing_keys(at.span(), own, &PRICES);
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
pub(super) struct ReadProviders {
    pub(super) sound: BTreeMap<String, ProviderConfig>,
    pub(super) names: BTreeSet<String>,
}

pub(super) fn read_providers(sink: &mut FaultSink, value: &TomlValue<'_>) -> ReadProviders {
    let mut out = ReadProviders::default();
    for (key, value) in read_table(sink, "providers", value).into_iter().flatten() {
        let Some(name) = check_name(sink, "providers", key) else {
            continue;
        };
        out.names.insert(name.value.clone());
        if let Some(provider) = read_provider(sink, name, value) {
            out.sound.insert(provider.name.value.clone(), provider);
        }
    }
    out
}

/// `[providers.NAME]`.
pub(super) static PROVIDER: ConfigTable = of(
    "a provider of models; the file contains no key",
    &row_keys::<_, { PROVIDER_ROWS.len() }>(PROVIDER_ROWS),
);

const PROVIDER_ROWS: &[KeyReader<WrittenProvider>] = &[
    required_row(
        "kind",
        ConfigShape::Word(&ProviderKind::WORDS),
        "its interface",
        |at, provider| {
            if let Some(found) = at.read_text() {
                provider.kind = ProviderKind::parse(found.value);
                if provider.kind.is_none() {
                    at.sink.bad_word(&at.path, found, &ProviderKind::WORDS);
                }
            }
        },
    ),
    optional_row(
        "base_url",
        ConfigShape::Text,
        "its address, unless it is the usual one",
        |at, provider| match at.read_text() {
            Some(found) if contains_secret(found.value) => provider.report_secret(at, "base_url"),
            Some(found) if !is_address(found.value) => at.report_bad_value(
                &found,
                "an address that begins with `https://` or `http://`",
            ),
            Some(found) if found.value.contains('#') => at.report_bad_value(
                &found,
                "an address without `#`: what stands behind it is never sent",
            ),
            found => provider.base_url = found.map(|found| found.value.to_owned()),
        },
    ),
    optional_row(
        "api_key_env",
        ConfigShape::Text,
        "the environment variable that contains the key",
        |at, provider| match at.read_text() {
            Some(found) if !is_variable_name(found.value) => {
                provider.report_secret(at, "api_key_env");
            }
            found => provider.api_key_env = found.map(|found| found.value.to_owned()),
        },
    ),
    optional_row(
        "timeout_s",
        ConfigShape::Whole((1, 86_400)),
        "the time limit of a call, in seconds",
        |at, provider| {
            provider.timeout_s = at.read_whole().map(|seconds| seconds.value);
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
    fn report_secret(&self, at: &mut KeyValue<'_, '_>, key: &'static str) {
        let kind = ProjectFaultKind::KeyInFile {
            provider: self.name.value.clone(),
            key,
            at: at.span(),
        };
        at.sink.report(self.name.span, kind);
    }
}

fn read_provider(
    sink: &mut FaultSink,
    name: Spanned<String>,
    value: &TomlValue<'_>,
) -> Option<ProviderConfig> {
    let path = format!("providers.{}", name.value);
    let own = read_table(sink, &path, value)?;
    let at = name.span;
    let mut found = WrittenProvider {
        name,
        kind: None,
        base_url: None,
        api_key_env: None,
        timeout_s: None,
    };
    let provider = found.name.value.clone();
    read_rows_or_else(
        sink,
        &path,
        own,
        PROVIDER_ROWS,
        &mut found,
        &mut |sink, key, value| match SECRET_KEYS
            .into_iter()
            .find(|word| word.eq_ignore_ascii_case(key.get_ref()))
        {
            Some(key) => {
                let kind = ProjectFaultKind::KeyInFile {
                    provider: provider.clone(),
                    key,
                    at: to_span(&value.span()),
                };
                sink.report(at, kind);
            }
            None => sink.unknown_key(&path, key, &PROVIDER.key_names()),
        },
    );
    report_missing_keys(sink, Spanned::new(&path, at), own, &PROVIDER);
    let WrittenProvider {
        name,
        kind,
        base_url,
        api_key_env,
        timeout_s,
    } = found;
    Some(ProviderConfig {
        name,
        kind: kind?,
        base_url,
        api_key_env,
        timeout_s,
    })
}

/// True for the usual form of a variable's name: capitals, digits and `_`. An API key does not have
/// this form.
fn is_variable_name(text: &str) -> bool {
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
fn contains_secret(text: &str) -> bool {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    host.contains('@') || text.contains('?')
}
