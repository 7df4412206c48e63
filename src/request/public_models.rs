//! Facts of public models: windows, prices, floors of prompt caches. A dated table; a project's `[models]` comes before it, and of a
//! model that stands in neither nothing is known.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The table, made by `tools/public_models.py` from the price map that `LiteLLM` publishes.
const TABLE: &str = include_str!("public_models.csv");

/// Tokens that a prefix needs to be kept in the cache, where the table says nothing: what `OpenAI` says, and the least of most vendors.
pub const CACHE_FLOOR: u64 = 1024;

/// What is known of a public model. Prices are US$ for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PublicModel {
    /// Tokens that it takes.
    pub window: u64,
    /// Tokens that it answers with at most.
    pub output: u64,
    /// Price of what is sent.
    pub usd_input: Option<f64>,
    /// Price of what is sent and stands in the cache.
    pub usd_cached: Option<f64>,
    /// Price of what is sent and written to the cache.
    pub usd_write: Option<f64>,
    /// Price of what is answered.
    pub usd_output: Option<f64>,
    /// Tokens that a prefix needs to be kept in the cache.
    pub cache_floor: u64,
    /// Whether it reasons before it answers.
    pub is_reasoning: bool,
    /// Whether it goes on with an answer that was begun for it.
    pub takes_prefill: Option<bool>,
}

static MODELS: LazyLock<BTreeMap<&'static str, PublicModel>> = LazyLock::new(|| TABLE.lines().filter_map(row).collect());

fn row(line: &'static str) -> Option<(&'static str, PublicModel)> {
    let cells: Vec<&str> = line.split(',').collect();
    let &[name, _, window, output, usd_input, usd_cached, usd_write, usd_output, floor, reasoning, prefill] = cells.as_slice()
    else {
        return None;
    };
    let price = |cell: &str| cell.parse::<f64>().ok();
    let model = PublicModel {
        // The line of names has no number here.
        window: window.parse().ok()?,
        output: output.parse().ok()?,
        usd_input: price(usd_input),
        usd_cached: price(usd_cached),
        usd_write: price(usd_write),
        usd_output: price(usd_output),
        cache_floor: floor.parse().unwrap_or(CACHE_FLOOR),
        // Those that chat are asked like others, whatever the map says.
        is_reasoning: reasoning == "1" && !name.contains("-chat"),
        takes_prefill: match prefill {
            "1" => Some(true),
            "0" => Some(false),
            _ => None,
        },
    };
    Some((name, model))
}

/// What is known of a model, by the name that its vendor has for it. What a router puts in front (`openai/`) and a date behind that is not
/// in the table are taken off.
pub fn public_model(name: &str) -> Option<&'static PublicModel> {
    let name = name.rsplit('/').next().unwrap_or(name);
    MODELS.get(name).or_else(|| MODELS.get(undated(name)?))
}

/// A name without the date at its end: `-2025-04-14` or `-20250929`.
fn undated(name: &str) -> Option<&str> {
    let is_form = |text: &str, form: &str| {
        let fits = |(byte, form): (u8, u8)| if form == b'-' { byte == b'-' } else { byte.is_ascii_digit() };
        text.len() == form.len() && text.bytes().zip(form.bytes()).all(fits)
    };
    ["-0000-00-00", "-00000000"].into_iter().find_map(|form| {
        let (head, date) = name.split_at_checked(name.len().checked_sub(form.len())?)?;
        is_form(date, form).then_some(head)
    })
}

/// When the table was made.
pub fn date() -> &'static str {
    let first = TABLE.lines().next().unwrap_or_default();
    first.split(" on ").nth(1).and_then(|rest| rest.split(';').next()).unwrap_or_default()
}
