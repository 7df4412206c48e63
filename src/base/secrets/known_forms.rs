//! Keys of known services, recognised by their form: one table with a row for each prefix.
//!
//! Ignores any name before a key. The forms come from the published rules of gitleaks and
//! trufflehog, and from the vendors' documentation.

use std::sync::LazyLock;

/// The prefix of a service's keys, and the form of the rest.
#[derive(Debug)]
pub struct KeyForm {
    /// The service that issues such keys.
    pub service: &'static str,
    /// The prefix of all of them.
    pub head: &'static str,
    /// Characters allowed besides letters and digits.
    signs: &'static str,
    /// Minimum number of characters after the prefix.
    min_length: usize,
    /// The test that distinguishes the rest of a key from words.
    accepts_rest: fn(&str) -> bool,
    /// The part that is masked.
    masked_part: MaskedPart,
}

/// The part of a key that is masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MaskedPart {
    Whole,
    /// All but the prefix, which is that of a URL.
    Rest,
}

const fn key_form(
    service: &'static str,
    head: &'static str,
    signs: &'static str,
    min: usize,
    check: fn(&str) -> bool,
) -> KeyForm {
    KeyForm {
        service,
        head,
        signs,
        min_length: min,
        accepts_rest: check,
        masked_part: MaskedPart::Whole,
    }
}

const fn url_form(
    service: &'static str,
    head: &'static str,
    signs: &'static str,
    min: usize,
) -> KeyForm {
    // Rejects placeholders.
    let check = |rest: &str| {
        !["xxxx", "example"]
            .iter()
            .any(|part| rest.to_ascii_lowercase().contains(part))
    };
    KeyForm {
        service,
        head,
        signs,
        min_length: min,
        accepts_rest: check,
        masked_part: MaskedPart::Rest,
    }
}

fn accept_any(_: &str) -> bool {
    true
}

/// Letters and digits that form no word: digits, or mixed case.
fn is_opaque(rest: &str) -> bool {
    !is_word(rest.get(..64).unwrap_or(rest))
}

/// Returns true if the first 64 bytes contain a digit and at least one part that is not a word.
fn is_mixed(rest: &str) -> bool {
    let rest = rest.get(..64).unwrap_or(rest);
    has_digit(rest) && !rest.split(['-', '_', '.', '/', '+', '=']).all(is_word)
}

fn has_digit(rest: &str) -> bool {
    rest.bytes().take(64).any(|byte| byte.is_ascii_digit())
}

fn is_hex(rest: &str) -> bool {
    has_digit(rest)
        && rest
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'-' | b'_'))
}

/// Exactly 32 hexadecimal digits.
pub(crate) fn is_hex32(rest: &str) -> bool {
    rest.len() == 32 && is_hex(rest)
}

fn is_hex35(rest: &str) -> bool {
    rest.len() == 35 && is_hex(rest)
}

fn is_hex48(rest: &str) -> bool {
    rest.len() == 48 && is_hex(rest)
}

/// `8-4-4-4-12`
pub(crate) fn is_uuid(rest: &str) -> bool {
    rest.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && is_hex(rest)
}

/// A JSON Web Token, which has two dots.
fn is_web_token(rest: &str) -> bool {
    rest.matches('.').count() >= 2
}

/// Two groups: `8_24` of Resend.
fn is_resend_key(rest: &str) -> bool {
    let Some((first, second)) = rest.split_once('_') else {
        return is_opaque(rest) && rest.len() >= 30;
    };
    first.len() == 8 && second.len() >= 20 && !second.contains('_') && !is_word(second)
}

/// `14.64` of Airtable.
fn is_airtable_key(rest: &str) -> bool {
    rest.split_once('.')
        .is_some_and(|(id, key)| id.len() == 14 && key.len() == 64 && is_hex(key))
}

/// Returns true if the rest of a Slack key, after `xoxb-` or a similar prefix, begins with a
/// number, or at least contains a digit.
fn is_slack_key(rest: &str) -> bool {
    has_digit(rest) && !rest.split('-').all(is_word)
        || rest
            .split('-')
            .next()
            .is_some_and(|id| id.len() >= 8 && id.bytes().all(|byte| byte.is_ascii_digit()))
}

const NO_SIGNS: &str = "";
const NAME_SIGNS: &str = "_-";
const DOTTED_SIGNS: &str = "_-.";
const BASE64_SIGNS: &str = "+/=";
const ALL_SIGNS: &str = "_-.+/=";

/// All known forms.
pub const KEY_FORMS: &[KeyForm] = &[
    key_form("AWS", "AKIA", NO_SIGNS, 16, accept_any),
    key_form("AWS", "ASIA", NO_SIGNS, 16, accept_any),
    key_form("AWS", "ABIA", NO_SIGNS, 16, accept_any),
    key_form("AWS", "ACCA", NO_SIGNS, 16, accept_any),
    key_form("AWS Bedrock", "ABSK", BASE64_SIGNS, 90, is_mixed),
    key_form("AWS Bedrock", "bedrock-api-key-", ALL_SIGNS, 40, is_mixed),
    key_form("Alibaba Cloud", "LTAI", NO_SIGNS, 16, accept_any),
    key_form("Tencent Cloud", "AKID", NO_SIGNS, 16, accept_any),
    key_form("RubyGems", "rubygems_", NO_SIGNS, 16, accept_any),
    key_form("Clojars", "CLOJARS_", NO_SIGNS, 16, accept_any),
    key_form("GitHub", "ghp_", NO_SIGNS, 30, is_opaque),
    key_form("GitHub", "gho_", NO_SIGNS, 30, is_opaque),
    key_form("GitHub", "ghu_", NO_SIGNS, 30, is_opaque),
    key_form("GitHub", "ghs_", ALL_SIGNS, 30, is_mixed),
    key_form("GitHub", "ghr_", NO_SIGNS, 30, is_opaque),
    key_form("GitHub", "github_pat_", NAME_SIGNS, 16, is_mixed),
    key_form("GitLab", "glpat-", DOTTED_SIGNS, 16, is_mixed),
    key_form("GitLab", "gldt-", DOTTED_SIGNS, 16, is_mixed),
    key_form("GitLab", "glrt-", DOTTED_SIGNS, 16, is_mixed),
    key_form("GitLab", "glrtr-", DOTTED_SIGNS, 16, is_mixed),
    key_form("GitLab", "glptt-", DOTTED_SIGNS, 16, is_mixed),
    key_form("GitLab", "glcbt-", DOTTED_SIGNS, 16, is_mixed),
    key_form("GitLab", "gloas-", DOTTED_SIGNS, 16, is_mixed),
    key_form("GitLab", "glft-", DOTTED_SIGNS, 16, is_mixed),
    key_form("GitLab", "glffct-", DOTTED_SIGNS, 16, is_mixed),
    key_form("GitLab", "glimt-", DOTTED_SIGNS, 16, is_mixed),
    key_form("GitLab", "glagent-", DOTTED_SIGNS, 16, is_mixed),
    key_form("GitLab", "glsoat-", DOTTED_SIGNS, 16, is_mixed),
    key_form("GitLab", "GR1348941", NAME_SIGNS, 20, accept_any),
    key_form("npm", "npm_", NO_SIGNS, 30, is_opaque),
    key_form("Hugging Face", "hf_", NO_SIGNS, 30, is_opaque),
    key_form("Hugging Face", "api_org_", NO_SIGNS, 30, is_opaque),
    key_form("Groq", "gsk_", NO_SIGNS, 30, is_opaque),
    key_form("Replicate", "r8_", NAME_SIGNS, 30, is_mixed),
    key_form("Databricks", "dapi", NO_SIGNS, 30, is_opaque),
    key_form("Supabase", "sbp_", NO_SIGNS, 30, is_opaque),
    key_form("Supabase", "sb_secret_", NAME_SIGNS, 16, is_mixed),
    key_form("xAI", "xai-", NAME_SIGNS, 30, is_mixed),
    key_form("Perplexity", "pplx-", NO_SIGNS, 30, is_opaque),
    key_form("Tavily", "tvly-", NAME_SIGNS, 28, is_mixed),
    key_form("Cerebras", "csk-", NO_SIGNS, 30, is_opaque),
    key_form("Fireworks", "fw_", NO_SIGNS, 20, is_mixed),
    key_form("Postman", "PMAK-", NAME_SIGNS, 30, is_mixed),
    key_form("New Relic", "NRAK-", NO_SIGNS, 20, accept_any),
    key_form("New Relic", "NRII-", NAME_SIGNS, 20, is_mixed),
    key_form("New Relic", "NRIQ-", NAME_SIGNS, 20, is_mixed),
    key_form("New Relic", "NRJS-", NO_SIGNS, 19, is_hex),
    key_form("New Relic", "NRBR-", NO_SIGNS, 19, is_hex),
    key_form("DigitalOcean", "dop_v1_", NO_SIGNS, 30, is_opaque),
    key_form("DigitalOcean", "doo_v1_", NO_SIGNS, 30, is_opaque),
    key_form("DigitalOcean", "dor_v1_", NO_SIGNS, 30, is_opaque),
    key_form("Shopify", "shpat_", NO_SIGNS, 30, is_opaque),
    key_form("Shopify", "shpca_", NO_SIGNS, 30, is_opaque),
    key_form("Shopify", "shppa_", NO_SIGNS, 30, is_opaque),
    key_form("Shopify", "shpss_", NO_SIGNS, 30, is_opaque),
    key_form("Linear", "lin_api_", NO_SIGNS, 30, is_opaque),
    key_form("Linear", "lin_oauth_", NO_SIGNS, 30, is_opaque),
    key_form("Notion", "ntn_", NO_SIGNS, 30, is_opaque),
    key_form("Notion", "secret_", NO_SIGNS, 40, is_opaque),
    key_form("Figma", "figd_", NAME_SIGNS, 30, is_mixed),
    key_form("Figma", "figp_", NAME_SIGNS, 30, is_mixed),
    key_form("Netlify", "nfp_", NO_SIGNS, 30, is_opaque),
    key_form("Resend", "re_", "_", 29, is_resend_key),
    key_form("Docker", "dckr_pat_", NAME_SIGNS, 24, is_mixed),
    key_form("Docker", "dckr_oat_", NAME_SIGNS, 24, is_mixed),
    key_form("Sentry", "sntrys_", "_+/=", 30, is_mixed),
    key_form("Sentry", "sntryu_", NO_SIGNS, 30, is_opaque),
    key_form("Grafana", "glsa_", "_", 30, is_mixed),
    key_form("Grafana", "glc_", BASE64_SIGNS, 30, is_mixed),
    key_form("SonarQube", "squ_", NO_SIGNS, 30, is_opaque),
    key_form("SonarQube", "sqp_", NO_SIGNS, 30, is_opaque),
    key_form("SonarQube", "sqa_", NO_SIGNS, 30, is_opaque),
    key_form("Twilio", "SK", NO_SIGNS, 32, is_hex32),
    key_form("Meta", "EAAC", NO_SIGNS, 30, is_opaque),
    key_form("Meta", "EAAM", NO_SIGNS, 80, is_opaque),
    key_form(
        "OpenAI, Anthropic and others",
        "sk-",
        NAME_SIGNS,
        16,
        is_mixed,
    ),
    key_form("OpenAI and others", "rk-", NAME_SIGNS, 16, is_mixed),
    key_form("ElevenLabs", "sk_", NO_SIGNS, 48, is_hex48),
    key_form("others", "sk_", NO_SIGNS, 30, is_opaque),
    key_form("Langfuse", "pk-lf-", NAME_SIGNS, 16, is_mixed),
    key_form("Stripe", "sk_live_", NAME_SIGNS, 16, is_mixed),
    key_form("Stripe", "sk_test_", NAME_SIGNS, 16, is_mixed),
    key_form("Stripe", "sk_prod_", NAME_SIGNS, 16, is_mixed),
    key_form("Stripe", "rk_live_", NAME_SIGNS, 16, is_mixed),
    key_form("Stripe", "rk_test_", NAME_SIGNS, 16, is_mixed),
    key_form("Stripe", "rk_prod_", NAME_SIGNS, 16, is_mixed),
    key_form("Stripe", "whsec_", ALL_SIGNS, 16, is_mixed),
    key_form("Slack", "xoxa-", NAME_SIGNS, 16, is_slack_key),
    key_form("Slack", "xoxb-", NAME_SIGNS, 16, is_slack_key),
    key_form("Slack", "xoxe-", NAME_SIGNS, 16, is_slack_key),
    key_form("Slack", "xoxe.xox", NAME_SIGNS, 30, is_mixed),
    key_form("Slack", "xoxo-", NAME_SIGNS, 16, is_slack_key),
    key_form("Slack", "xoxp-", NAME_SIGNS, 16, is_slack_key),
    key_form("Slack", "xoxr-", NAME_SIGNS, 16, is_slack_key),
    key_form("Slack", "xoxs-", NAME_SIGNS, 16, is_slack_key),
    key_form("Slack", "xapp-", NAME_SIGNS, 16, is_slack_key),
    url_form("Slack", "hooks.slack.com/services/", "/", 30),
    url_form("Slack", "hooks.slack.com/workflows/", "/", 30),
    url_form("Slack", "hooks.slack.com/triggers/", "/", 30),
    url_form("Discord", "discord.com/api/webhooks/", "_-/", 60),
    url_form("Discord", "discordapp.com/api/webhooks/", "_-/", 60),
    url_form("Zapier", "hooks.zapier.com/hooks/catch/", "/", 10),
    url_form(
        "Microsoft Teams",
        "webhook.office.com/webhookb2/",
        "/@-",
        60,
    ),
    url_form("Telegram", "api.telegram.org/bot", "_-:", 40),
    key_form("Google", "AIza", NAME_SIGNS, 30, is_mixed),
    key_form("Google", "GOCSPX-", NAME_SIGNS, 16, is_mixed),
    key_form("Google", "ya29.", ALL_SIGNS, 40, is_mixed),
    key_form("LangSmith", "lsv2_", NAME_SIGNS, 16, is_mixed),
    key_form("NVIDIA", "nvapi-", NAME_SIGNS, 16, is_mixed),
    key_form("Together", "tgp_v1_", NAME_SIGNS, 16, is_mixed),
    key_form("Pinecone", "pcsk_", NAME_SIGNS, 16, is_mixed),
    key_form("Jina", "jina_", NAME_SIGNS, 16, is_mixed),
    key_form("Pulumi", "pul-", NAME_SIGNS, 16, is_mixed),
    key_form("PyPI", "pypi-", NAME_SIGNS, 30, is_mixed),
    key_form("HashiCorp Vault", "hvs.", NAME_SIGNS, 24, is_mixed),
    key_form("HashiCorp Vault", "hvb.", NAME_SIGNS, 24, is_mixed),
    key_form("Atlassian", "ATATT3", "_-=", 30, is_mixed),
    key_form("Atlassian", "ATCTT3", "_-=", 30, is_mixed),
    key_form("Atlassian", "ATBB", NAME_SIGNS, 24, is_mixed),
    key_form("Bitbucket", "BBDC-", "+/@_-", 40, is_mixed),
    key_form("Square", "sq0csp-", NAME_SIGNS, 22, is_mixed),
    key_form("Square", "sq0atp-", NAME_SIGNS, 22, is_mixed),
    key_form("Square", "EAAA", NAME_SIGNS, 30, is_mixed),
    key_form("Vercel", "vercel_blob_rw_", NAME_SIGNS, 30, is_mixed),
    key_form("age", "AGE-SECRET-KEY-", NAME_SIGNS, 30, is_mixed),
    key_form("Flutterwave", "FLWSECK", NAME_SIGNS, 30, is_mixed),
    key_form("web token", "eyJ", ALL_SIGNS, 40, is_web_token),
    key_form("SendGrid", "SG.", DOTTED_SIGNS, 40, is_mixed),
    key_form("PlanetScale", "pscale_tkn_", DOTTED_SIGNS, 32, is_mixed),
    key_form("PlanetScale", "pscale_pw_", DOTTED_SIGNS, 32, is_mixed),
    key_form("PlanetScale", "pscale_oauth_", DOTTED_SIGNS, 32, is_mixed),
    key_form("Dropbox", "sl.B", NAME_SIGNS, 40, is_mixed),
    key_form("Dropbox", "sl.u.", NAME_SIGNS, 40, is_mixed),
    key_form("Doppler", "dp.pt.", NO_SIGNS, 40, is_mixed),
    key_form("Doppler", "dp.st.", DOTTED_SIGNS, 40, is_mixed),
    key_form("Doppler", "dp.ct.", NO_SIGNS, 40, is_mixed),
    key_form("Doppler", "dp.sa.", NO_SIGNS, 40, is_mixed),
    key_form("Doppler", "dp.scim.", NO_SIGNS, 40, is_mixed),
    key_form("Doppler", "dp.audit.", NO_SIGNS, 40, is_mixed),
    key_form("1Password", "ops_eyJ", ALL_SIGNS, 40, is_mixed),
    key_form("1Password", "A3-", "-", 30, is_mixed),
    key_form("Azure", "AccountKey=", BASE64_SIGNS, 40, is_mixed),
    key_form("Azure", "SharedAccessKey=", BASE64_SIGNS, 40, is_mixed),
    key_form(
        "Azure",
        "SharedAccessSignature=",
        BASE64_SIGNS,
        40,
        is_mixed,
    ),
    key_form("Adafruit", "aio_", NO_SIGNS, 28, is_opaque),
    key_form("Airtable", "pat", ".", 79, is_airtable_key),
    key_form("Apify", "apify_api_", NO_SIGNS, 30, is_opaque),
    key_form("Artifactory", "AKCp", NO_SIGNS, 60, is_mixed),
    key_form("Artifactory", "cmVmdGtu", NO_SIGNS, 50, is_mixed),
    key_form("Buildkite", "bkua_", NO_SIGNS, 40, is_mixed),
    key_form("CircleCI", "CCIPAT_", "_", 40, is_mixed),
    key_form("Cloudflare", "cfut_", NO_SIGNS, 40, is_mixed),
    key_form("Cloudflare", "cfat_", NO_SIGNS, 40, is_mixed),
    key_form("Cloudflare", "cfk_", NO_SIGNS, 40, is_mixed),
    key_form("Cloudflare", "v1.0-", "-", 150, is_hex),
    key_form("Contentful", "CFPAT-", NAME_SIGNS, 40, is_mixed),
    key_form("Deno", "ddp_", NO_SIGNS, 36, is_mixed),
    key_form("Deno", "ddw_", NO_SIGNS, 36, is_mixed),
    key_form("Duffel", "duffel_live_", "_-=", 40, is_mixed),
    key_form("Duffel", "duffel_test_", "_-=", 40, is_mixed),
    key_form("Dynatrace", "dt0c01.", ".", 80, is_mixed),
    key_form("EasyPost", "EZAK", NO_SIGNS, 54, is_mixed),
    key_form("EasyPost", "EZTK", NO_SIGNS, 54, is_mixed),
    key_form("Fly.io", "fo1_", NAME_SIGNS, 40, is_mixed),
    key_form("Fly.io", "fm1a_", ALL_SIGNS, 100, is_mixed),
    key_form("Fly.io", "fm1r_", ALL_SIGNS, 100, is_mixed),
    key_form("Fly.io", "fm2_", ALL_SIGNS, 100, is_mixed),
    key_form("Frame.io", "fio-u-", "_-=", 60, is_mixed),
    key_form("Heroku", "HRKU-", NAME_SIGNS, 36, is_mixed),
    key_form("HubSpot", "pat-na1-", "-", 36, is_uuid),
    key_form("HubSpot", "pat-eu1-", "-", 36, is_uuid),
    key_form("Infracost", "ico-", NO_SIGNS, 32, is_mixed),
    key_form("LaunchDarkly", "sdk-", "-", 36, is_uuid),
    key_form("LaunchDarkly", "api-", "-", 36, is_uuid),
    key_form("Lob", "live_", NO_SIGNS, 35, is_hex35),
    key_form("Lob", "test_", NO_SIGNS, 35, is_hex35),
    key_form("Mailgun", "key-", NO_SIGNS, 32, is_hex32),
    key_form("Mapbox", "sk.eyJ", DOTTED_SIGNS, 60, is_mixed),
    key_form("Octopus Deploy", "API-", NO_SIGNS, 26, is_mixed),
    key_form("OpenShift", "sha256~", NAME_SIGNS, 43, is_mixed),
    key_form("Plaid", "access-sandbox-", "-", 36, is_uuid),
    key_form("Plaid", "access-development-", "-", 36, is_uuid),
    key_form("Plaid", "access-production-", "-", 36, is_uuid),
    // Signed with HS256, HS384 or HS512, or encrypted with A128GCM: sessions, and attributes of HTML.
    key_form("Phoenix", "SFMyNTY.", DOTTED_SIGNS, 40, is_mixed),
    key_form("Phoenix", "SFMzODQ.", DOTTED_SIGNS, 40, is_mixed),
    key_form("Phoenix", "SFM1MTI.", DOTTED_SIGNS, 40, is_mixed),
    key_form("Phoenix", "QTEyOEdDTQ.", DOTTED_SIGNS, 40, is_mixed),
    key_form("PostHog", "phx_", NAME_SIGNS, 40, is_mixed),
    key_form("Prefect", "pnu_", NO_SIGNS, 36, is_mixed),
    key_form("ReadMe", "rdme_", NO_SIGNS, 60, is_mixed),
    key_form("Rootly", "rootly_", NO_SIGNS, 60, is_hex),
    key_form("Scalingo", "tk-us-", NAME_SIGNS, 48, is_mixed),
    key_form("Brevo", "xkeysib-", "-", 70, is_mixed),
    key_form("SettleMint", "sm_pat_", NO_SIGNS, 16, is_mixed),
    key_form("SettleMint", "sm_aat_", NO_SIGNS, 16, is_mixed),
    key_form("SettleMint", "sm_sat_", NO_SIGNS, 16, is_mixed),
    key_form("Shippo", "shippo_live_", NO_SIGNS, 40, is_hex),
    key_form("Shippo", "shippo_test_", NO_SIGNS, 40, is_hex),
    key_form("Sourcegraph", "sgp_", "_", 40, is_mixed),
    key_form("Sourcegraph", "slk_", NO_SIGNS, 60, is_hex),
    key_form("Tailscale", "tskey-", NAME_SIGNS, 20, is_mixed),
    key_form("Typeform", "tfp_", ALL_SIGNS, 40, is_mixed),
    key_form("Voiceflow", "VF.", ".", 41, is_mixed),
    key_form("Yandex", "AQVN", NAME_SIGNS, 35, is_mixed),
];

/// The rows by the first byte of their prefixes, longer prefixes first, and a hash table that marks
/// the first three bytes of every prefix.
struct FormIndex {
    rows: Vec<Vec<&'static KeyForm>>,
    begins: Vec<bool>,
}

/// The index of three bytes in the hash table.
fn prefix_slot(first: u8, second: u8, third: u8) -> usize {
    (usize::from(first) * 31 + usize::from(second) * 131 + usize::from(third) * 517) & 0xfff
}

static FORM_INDEX: LazyLock<FormIndex> = LazyLock::new(|| {
    let mut index = FormIndex {
        rows: vec![Vec::new(); 256],
        begins: vec![false; 0x1000],
    };
    for form in KEY_FORMS {
        if let [first, second, rest @ ..] = form.head.as_bytes() {
            if let Some(rows) = index.rows.get_mut(usize::from(*first)) {
                rows.push(form);
            }
            let thirds = rest.first().map_or(0..=255, |third| *third..=*third);
            for third in thirds {
                if let Some(begins) = index.begins.get_mut(prefix_slot(*first, *second, third)) {
                    *begins = true;
                }
            }
        }
    }
    for rows in &mut index.rows {
        rows.sort_by_key(|form| std::cmp::Reverse(form.head.len()));
    }
    index
});

/// The number of leading bytes for which `takes` is true.
pub(crate) fn run_length(text: &str, takes: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| takes(*byte)).count()
}

/// The leading word of letters, digits and these signs, without trailing dots.
pub(crate) fn leading_word<'t>(text: &'t str, signs: &str) -> &'t str {
    let len = run_length(text, |byte| {
        byte.is_ascii_alphanumeric() || signs.as_bytes().contains(&byte)
    });
    text.get(..len).unwrap_or("").trim_end_matches('.')
}

/// Maximum length of the text that is tested for a key.
pub(crate) const MAX_KEY_BYTES: usize = 1 << 14;

/// Returns true if a key may begin with these bytes.
pub(crate) fn may_begin_key(first: u8, second: u8, third: u8) -> bool {
    FORM_INDEX
        .begins
        .get(prefix_slot(first, second, third))
        .is_some_and(|begins| *begins)
}

/// The masked part of the key that a text begins with: its start, which for a URL lies behind the
/// prefix, and its end.
pub(crate) fn find_key(text: &str) -> Option<(usize, usize)> {
    let [first, second, third, ..] = text.as_bytes() else {
        return None;
    };
    if !may_begin_key(*first, *second, *third) {
        return None;
    }
    let begins = |max: usize| text.get(..text.floor_char_boundary(max)).unwrap_or(text);
    FORM_INDEX
        .rows
        .get(usize::from(*first))?
        .iter()
        .find_map(|form| {
            let rest = begins(MAX_KEY_BYTES).strip_prefix(form.head)?;
            let rest = leading_word(rest, form.signs);
            let is_key = rest.len() >= form.min_length && (form.accepts_rest)(rest);
            let from = if form.masked_part == MaskedPart::Rest {
                form.head.len()
            } else {
                0
            };
            is_key.then(|| {
                (
                    from,
                    form.head.len()
                        + leading_word(text.get(form.head.len()..).unwrap_or(""), form.signs).len(),
                )
            })
        })
}

/// The keys of known services that begin at a word of a text.
pub(crate) fn keys_of_services(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    (0..bytes.len().saturating_sub(2)).filter_map(|at| {
        let [first, second, third, ..] = *bytes.get(at..)? else {
            return None;
        };
        let is_inside = at
            .checked_sub(1)
            .and_then(|before| bytes.get(before))
            .is_some_and(u8::is_ascii_alphanumeric);
        if is_inside || !may_begin_key(first, second, third) {
            return None;
        }
        let rest = text.get(at..)?;
        find_key(rest).and_then(|(_, end)| rest.get(..end))
    })
}

/// Returns true if a part is a word or a short word with digits (`spinner12`, `v2`, `4k`) and thus
/// not part of a key.
pub(crate) fn is_word(part: &str) -> bool {
    let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = part.len() - letters.len();
    let is_plain = digits == 0 || digits <= 4 && part.len() < 16;
    !part.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
        && (part.len() < 8 || is_plain && letters.bytes().all(|byte| byte.is_ascii_alphabetic()))
}
