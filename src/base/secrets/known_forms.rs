//! Keys of known services, recognised by their form: one table with a row for each prefix.
//!
//! Ignores any name before a key. The forms come from the published rules of gitleaks and
//! trufflehog, and from the vendors' documentation.

use std::sync::LazyLock;

/// The prefix of a service's keys, and the form of the rest.
#[derive(Debug)]
pub struct Form {
    /// The service that issues such keys.
    pub service: &'static str,
    /// The prefix of all of them.
    pub head: &'static str,
    /// Characters allowed besides letters and digits.
    signs: &'static str,
    /// Minimum number of characters after the prefix.
    least: usize,
    /// The test that distinguishes the rest of a key from words.
    check: fn(&str) -> bool,
    /// The part that is masked.
    goes: Goes,
}

/// The part of a key that is masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goes {
    Whole,
    /// All but the prefix, which is that of a URL.
    Rest,
}

const fn row(
    service: &'static str,
    head: &'static str,
    signs: &'static str,
    least: usize,
    check: fn(&str) -> bool,
) -> Form {
    Form {
        service,
        head,
        signs,
        least,
        check,
        goes: Goes::Whole,
    }
}

const fn address(
    service: &'static str,
    head: &'static str,
    signs: &'static str,
    least: usize,
) -> Form {
    // Rejects placeholders.
    let check = |rest: &str| {
        !["xxxx", "example"]
            .iter()
            .any(|part| rest.to_ascii_lowercase().contains(part))
    };
    Form {
        service,
        head,
        signs,
        least,
        check,
        goes: Goes::Rest,
    }
}

fn any(_: &str) -> bool {
    true
}

/// Letters and digits that form no word: digits, or mixed case.
fn opaque(rest: &str) -> bool {
    !is_word(rest.get(..64).unwrap_or(rest))
}

/// At least one part that is not a word, and a digit.
fn mixed(rest: &str) -> bool {
    let rest = rest.get(..64).unwrap_or(rest);
    has_digit(rest) && !rest.split(['-', '_', '.', '/', '+', '=']).all(is_word)
}

fn has_digit(rest: &str) -> bool {
    rest.bytes().take(64).any(|byte| byte.is_ascii_digit())
}

fn hex(rest: &str) -> bool {
    has_digit(rest)
        && rest
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'-' | b'_'))
}

/// Exactly 32 hexadecimal digits.
pub(crate) fn hex32(rest: &str) -> bool {
    rest.len() == 32 && hex(rest)
}

fn hex35(rest: &str) -> bool {
    rest.len() == 35 && hex(rest)
}

fn hex48(rest: &str) -> bool {
    rest.len() == 48 && hex(rest)
}

/// `8-4-4-4-12`
pub(crate) fn uuid(rest: &str) -> bool {
    rest.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && hex(rest)
}

/// A JSON Web Token, which has two dots.
fn web_token(rest: &str) -> bool {
    rest.matches('.').count() >= 2
}

/// Two groups: `8_24` of Resend.
fn two_groups(rest: &str) -> bool {
    let Some((first, second)) = rest.split_once('_') else {
        return opaque(rest) && rest.len() >= 30;
    };
    first.len() == 8 && second.len() >= 20 && !second.contains('_') && !is_word(second)
}

/// `14.64` of Airtable.
fn airtable(rest: &str) -> bool {
    rest.split_once('.')
        .is_some_and(|(id, key)| id.len() == 14 && key.len() == 64 && hex(key))
}

/// The rest of `xoxb-` and its like: a number first, or at least a digit.
fn slack(rest: &str) -> bool {
    has_digit(rest) && !rest.split('-').all(is_word)
        || rest
            .split('-')
            .next()
            .is_some_and(|id| id.len() >= 8 && id.bytes().all(|byte| byte.is_ascii_digit()))
}

const WORD: &str = "";
const NAME: &str = "_-";
const DOTS: &str = "_-.";
const PACK: &str = "+/=";
const ALL: &str = "_-.+/=";

/// All known forms.
pub const FORMS: &[Form] = &[
    row("AWS", "AKIA", WORD, 16, any),
    row("AWS", "ASIA", WORD, 16, any),
    row("AWS", "ABIA", WORD, 16, any),
    row("AWS", "ACCA", WORD, 16, any),
    row("AWS Bedrock", "ABSK", PACK, 90, mixed),
    row("AWS Bedrock", "bedrock-api-key-", ALL, 40, mixed),
    row("Alibaba Cloud", "LTAI", WORD, 16, any),
    row("Tencent Cloud", "AKID", WORD, 16, any),
    row("RubyGems", "rubygems_", WORD, 16, any),
    row("Clojars", "CLOJARS_", WORD, 16, any),
    row("GitHub", "ghp_", WORD, 30, opaque),
    row("GitHub", "gho_", WORD, 30, opaque),
    row("GitHub", "ghu_", WORD, 30, opaque),
    row("GitHub", "ghs_", ALL, 30, mixed),
    row("GitHub", "ghr_", WORD, 30, opaque),
    row("GitHub", "github_pat_", NAME, 16, mixed),
    row("GitLab", "glpat-", DOTS, 16, mixed),
    row("GitLab", "gldt-", DOTS, 16, mixed),
    row("GitLab", "glrt-", DOTS, 16, mixed),
    row("GitLab", "glrtr-", DOTS, 16, mixed),
    row("GitLab", "glptt-", DOTS, 16, mixed),
    row("GitLab", "glcbt-", DOTS, 16, mixed),
    row("GitLab", "gloas-", DOTS, 16, mixed),
    row("GitLab", "glft-", DOTS, 16, mixed),
    row("GitLab", "glffct-", DOTS, 16, mixed),
    row("GitLab", "glimt-", DOTS, 16, mixed),
    row("GitLab", "glagent-", DOTS, 16, mixed),
    row("GitLab", "glsoat-", DOTS, 16, mixed),
    row("GitLab", "GR1348941", NAME, 20, any),
    row("npm", "npm_", WORD, 30, opaque),
    row("Hugging Face", "hf_", WORD, 30, opaque),
    row("Hugging Face", "api_org_", WORD, 30, opaque),
    row("Groq", "gsk_", WORD, 30, opaque),
    row("Replicate", "r8_", NAME, 30, mixed),
    row("Databricks", "dapi", WORD, 30, opaque),
    row("Supabase", "sbp_", WORD, 30, opaque),
    row("Supabase", "sb_secret_", NAME, 16, mixed),
    row("xAI", "xai-", NAME, 30, mixed),
    row("Perplexity", "pplx-", WORD, 30, opaque),
    row("Tavily", "tvly-", NAME, 28, mixed),
    row("Cerebras", "csk-", WORD, 30, opaque),
    row("Fireworks", "fw_", WORD, 20, mixed),
    row("Postman", "PMAK-", NAME, 30, mixed),
    row("New Relic", "NRAK-", WORD, 20, any),
    row("New Relic", "NRII-", NAME, 20, mixed),
    row("New Relic", "NRIQ-", NAME, 20, mixed),
    row("New Relic", "NRJS-", WORD, 19, hex),
    row("New Relic", "NRBR-", WORD, 19, hex),
    row("DigitalOcean", "dop_v1_", WORD, 30, opaque),
    row("DigitalOcean", "doo_v1_", WORD, 30, opaque),
    row("DigitalOcean", "dor_v1_", WORD, 30, opaque),
    row("Shopify", "shpat_", WORD, 30, opaque),
    row("Shopify", "shpca_", WORD, 30, opaque),
    row("Shopify", "shppa_", WORD, 30, opaque),
    row("Shopify", "shpss_", WORD, 30, opaque),
    row("Linear", "lin_api_", WORD, 30, opaque),
    row("Linear", "lin_oauth_", WORD, 30, opaque),
    row("Notion", "ntn_", WORD, 30, opaque),
    row("Notion", "secret_", WORD, 40, opaque),
    row("Figma", "figd_", NAME, 30, mixed),
    row("Figma", "figp_", NAME, 30, mixed),
    row("Netlify", "nfp_", WORD, 30, opaque),
    row("Resend", "re_", "_", 29, two_groups),
    row("Docker", "dckr_pat_", NAME, 24, mixed),
    row("Docker", "dckr_oat_", NAME, 24, mixed),
    row("Sentry", "sntrys_", "_+/=", 30, mixed),
    row("Sentry", "sntryu_", WORD, 30, opaque),
    row("Grafana", "glsa_", "_", 30, mixed),
    row("Grafana", "glc_", PACK, 30, mixed),
    row("SonarQube", "squ_", WORD, 30, opaque),
    row("SonarQube", "sqp_", WORD, 30, opaque),
    row("SonarQube", "sqa_", WORD, 30, opaque),
    row("Twilio", "SK", WORD, 32, hex32),
    row("Meta", "EAAC", WORD, 30, opaque),
    row("Meta", "EAAM", WORD, 80, opaque),
    row("OpenAI, Anthropic and others", "sk-", NAME, 16, mixed),
    row("OpenAI and others", "rk-", NAME, 16, mixed),
    row("ElevenLabs", "sk_", WORD, 48, hex48),
    row("others", "sk_", WORD, 30, opaque),
    row("Langfuse", "pk-lf-", NAME, 16, mixed),
    row("Stripe", "sk_live_", NAME, 16, mixed),
    row("Stripe", "sk_test_", NAME, 16, mixed),
    row("Stripe", "sk_prod_", NAME, 16, mixed),
    row("Stripe", "rk_live_", NAME, 16, mixed),
    row("Stripe", "rk_test_", NAME, 16, mixed),
    row("Stripe", "rk_prod_", NAME, 16, mixed),
    row("Stripe", "whsec_", ALL, 16, mixed),
    row("Slack", "xoxa-", NAME, 16, slack),
    row("Slack", "xoxb-", NAME, 16, slack),
    row("Slack", "xoxe-", NAME, 16, slack),
    row("Slack", "xoxe.xox", NAME, 30, mixed),
    row("Slack", "xoxo-", NAME, 16, slack),
    row("Slack", "xoxp-", NAME, 16, slack),
    row("Slack", "xoxr-", NAME, 16, slack),
    row("Slack", "xoxs-", NAME, 16, slack),
    row("Slack", "xapp-", NAME, 16, slack),
    address("Slack", "hooks.slack.com/services/", "/", 30),
    address("Slack", "hooks.slack.com/workflows/", "/", 30),
    address("Slack", "hooks.slack.com/triggers/", "/", 30),
    address("Discord", "discord.com/api/webhooks/", "_-/", 60),
    address("Discord", "discordapp.com/api/webhooks/", "_-/", 60),
    address("Zapier", "hooks.zapier.com/hooks/catch/", "/", 10),
    address(
        "Microsoft Teams",
        "webhook.office.com/webhookb2/",
        "/@-",
        60,
    ),
    address("Telegram", "api.telegram.org/bot", "_-:", 40),
    row("Google", "AIza", NAME, 30, mixed),
    row("Google", "GOCSPX-", NAME, 16, mixed),
    row("Google", "ya29.", ALL, 40, mixed),
    row("LangSmith", "lsv2_", NAME, 16, mixed),
    row("NVIDIA", "nvapi-", NAME, 16, mixed),
    row("Together", "tgp_v1_", NAME, 16, mixed),
    row("Pinecone", "pcsk_", NAME, 16, mixed),
    row("Jina", "jina_", NAME, 16, mixed),
    row("Pulumi", "pul-", NAME, 16, mixed),
    row("PyPI", "pypi-", NAME, 30, mixed),
    row("HashiCorp Vault", "hvs.", NAME, 24, mixed),
    row("HashiCorp Vault", "hvb.", NAME, 24, mixed),
    row("Atlassian", "ATATT3", "_-=", 30, mixed),
    row("Atlassian", "ATCTT3", "_-=", 30, mixed),
    row("Atlassian", "ATBB", NAME, 24, mixed),
    row("Bitbucket", "BBDC-", "+/@_-", 40, mixed),
    row("Square", "sq0csp-", NAME, 22, mixed),
    row("Square", "sq0atp-", NAME, 22, mixed),
    row("Square", "EAAA", NAME, 30, mixed),
    row("Vercel", "vercel_blob_rw_", NAME, 30, mixed),
    row("age", "AGE-SECRET-KEY-", NAME, 30, mixed),
    row("Flutterwave", "FLWSECK", NAME, 30, mixed),
    row("web token", "eyJ", ALL, 40, web_token),
    row("SendGrid", "SG.", DOTS, 40, mixed),
    row("PlanetScale", "pscale_tkn_", DOTS, 32, mixed),
    row("PlanetScale", "pscale_pw_", DOTS, 32, mixed),
    row("PlanetScale", "pscale_oauth_", DOTS, 32, mixed),
    row("Dropbox", "sl.B", NAME, 40, mixed),
    row("Dropbox", "sl.u.", NAME, 40, mixed),
    row("Doppler", "dp.pt.", WORD, 40, mixed),
    row("Doppler", "dp.st.", DOTS, 40, mixed),
    row("Doppler", "dp.ct.", WORD, 40, mixed),
    row("Doppler", "dp.sa.", WORD, 40, mixed),
    row("Doppler", "dp.scim.", WORD, 40, mixed),
    row("Doppler", "dp.audit.", WORD, 40, mixed),
    row("1Password", "ops_eyJ", ALL, 40, mixed),
    row("1Password", "A3-", "-", 30, mixed),
    row("Azure", "AccountKey=", PACK, 40, mixed),
    row("Azure", "SharedAccessKey=", PACK, 40, mixed),
    row("Azure", "SharedAccessSignature=", PACK, 40, mixed),
    row("Adafruit", "aio_", WORD, 28, opaque),
    row("Airtable", "pat", ".", 79, airtable),
    row("Apify", "apify_api_", WORD, 30, opaque),
    row("Artifactory", "AKCp", WORD, 60, mixed),
    row("Artifactory", "cmVmdGtu", WORD, 50, mixed),
    row("Buildkite", "bkua_", WORD, 40, mixed),
    row("CircleCI", "CCIPAT_", "_", 40, mixed),
    row("Cloudflare", "cfut_", WORD, 40, mixed),
    row("Cloudflare", "cfat_", WORD, 40, mixed),
    row("Cloudflare", "cfk_", WORD, 40, mixed),
    row("Cloudflare", "v1.0-", "-", 150, hex),
    row("Contentful", "CFPAT-", NAME, 40, mixed),
    row("Deno", "ddp_", WORD, 36, mixed),
    row("Deno", "ddw_", WORD, 36, mixed),
    row("Duffel", "duffel_live_", "_-=", 40, mixed),
    row("Duffel", "duffel_test_", "_-=", 40, mixed),
    row("Dynatrace", "dt0c01.", ".", 80, mixed),
    row("EasyPost", "EZAK", WORD, 54, mixed),
    row("EasyPost", "EZTK", WORD, 54, mixed),
    row("Fly.io", "fo1_", NAME, 40, mixed),
    row("Fly.io", "fm1a_", ALL, 100, mixed),
    row("Fly.io", "fm1r_", ALL, 100, mixed),
    row("Fly.io", "fm2_", ALL, 100, mixed),
    row("Frame.io", "fio-u-", "_-=", 60, mixed),
    row("Heroku", "HRKU-", NAME, 36, mixed),
    row("HubSpot", "pat-na1-", "-", 36, uuid),
    row("HubSpot", "pat-eu1-", "-", 36, uuid),
    row("Infracost", "ico-", WORD, 32, mixed),
    row("LaunchDarkly", "sdk-", "-", 36, uuid),
    row("LaunchDarkly", "api-", "-", 36, uuid),
    row("Lob", "live_", WORD, 35, hex35),
    row("Lob", "test_", WORD, 35, hex35),
    row("Mailgun", "key-", WORD, 32, hex32),
    row("Mapbox", "sk.eyJ", DOTS, 60, mixed),
    row("Octopus Deploy", "API-", WORD, 26, mixed),
    row("OpenShift", "sha256~", NAME, 43, mixed),
    row("Plaid", "access-sandbox-", "-", 36, uuid),
    row("Plaid", "access-development-", "-", 36, uuid),
    row("Plaid", "access-production-", "-", 36, uuid),
    row("PostHog", "phx_", NAME, 40, mixed),
    row("Prefect", "pnu_", WORD, 36, mixed),
    row("ReadMe", "rdme_", WORD, 60, mixed),
    row("Rootly", "rootly_", WORD, 60, hex),
    row("Scalingo", "tk-us-", NAME, 48, mixed),
    row("Brevo", "xkeysib-", "-", 70, mixed),
    row("SettleMint", "sm_pat_", WORD, 16, mixed),
    row("SettleMint", "sm_aat_", WORD, 16, mixed),
    row("SettleMint", "sm_sat_", WORD, 16, mixed),
    row("Shippo", "shippo_live_", WORD, 40, hex),
    row("Shippo", "shippo_test_", WORD, 40, hex),
    row("Sourcegraph", "sgp_", "_", 40, mixed),
    row("Sourcegraph", "slk_", WORD, 60, hex),
    row("Tailscale", "tskey-", NAME, 20, mixed),
    row("Typeform", "tfp_", ALL, 40, mixed),
    row("Voiceflow", "VF.", ".", 41, mixed),
    row("Yandex", "AQVN", NAME, 35, mixed),
];

/// The rows by the first byte of their prefixes, longer prefixes first, and a hash table that marks
/// the first three bytes of every prefix.
struct Index {
    rows: Vec<Vec<&'static Form>>,
    begins: Vec<bool>,
}

/// The index of three bytes in the hash table.
fn slot(first: u8, second: u8, third: u8) -> usize {
    (usize::from(first) * 31 + usize::from(second) * 131 + usize::from(third) * 517) & 0xfff
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index {
        rows: vec![Vec::new(); 256],
        begins: vec![false; 0x1000],
    };
    for form in FORMS {
        if let [first, second, rest @ ..] = form.head.as_bytes() {
            if let Some(rows) = index.rows.get_mut(usize::from(*first)) {
                rows.push(form);
            }
            let thirds = rest.first().map_or(0..=255, |third| *third..=*third);
            for third in thirds {
                if let Some(begins) = index.begins.get_mut(slot(*first, *second, third)) {
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
pub(crate) fn run(text: &str, takes: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| takes(*byte)).count()
}

/// The leading word of letters, digits and these signs, without trailing dots.
pub(crate) fn word<'t>(text: &'t str, signs: &str) -> &'t str {
    let len = run(text, |byte| {
        byte.is_ascii_alphanumeric() || signs.as_bytes().contains(&byte)
    });
    text.get(..len).unwrap_or("").trim_end_matches('.')
}

/// Maximum length of the text that is tested for a key.
pub(crate) const LOOKED: usize = 1 << 14;

/// Returns true if a key may begin with these bytes.
pub(crate) fn may_be_known(first: u8, second: u8, third: u8) -> bool {
    INDEX
        .begins
        .get(slot(first, second, third))
        .is_some_and(|begins| *begins)
}

/// The masked part of the key that a text begins with: its start, which for a URL lies behind the
/// prefix, and its end.
pub(crate) fn known_form(text: &str) -> Option<(usize, usize)> {
    let [first, second, third, ..] = text.as_bytes() else {
        return None;
    };
    if !may_be_known(*first, *second, *third) {
        return None;
    }
    let begins = |most: usize| text.get(..text.floor_char_boundary(most)).unwrap_or(text);
    INDEX
        .rows
        .get(usize::from(*first))?
        .iter()
        .find_map(|form| {
            let rest = begins(LOOKED).strip_prefix(form.head)?;
            let rest = word(rest, form.signs);
            let is_key = rest.len() >= form.least && (form.check)(rest);
            let from = if form.goes == Goes::Rest {
                form.head.len()
            } else {
                0
            };
            is_key.then(|| {
                (
                    from,
                    form.head.len()
                        + word(text.get(form.head.len()..).unwrap_or(""), form.signs).len(),
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
        if is_inside || !may_be_known(first, second, third) {
            return None;
        }
        let rest = text.get(at..)?;
        known_form(rest).and_then(|(_, end)| rest.get(..end))
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
