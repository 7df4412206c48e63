//! Keys of known services: a made-up value of the real form for each row of the table.

use ctxc::internals::base::secrets::known_forms::KEY_FORMS;
use ctxc::internals::record::redact::Redactor;

/// A number of letters and digits in no order, always the same.
pub(super) fn alnum(len: usize) -> String {
    signs(
        len,
        b"aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1bC3dE5fG7hJ9kL2nM4qP6rS8tU0wV2yX4zZ6cD8eF0gH2i",
    )
}

pub(super) fn hex(len: usize) -> String {
    signs(len, b"1a2b3c4d5e6f708192a3b4c5d6e7f8091b3d5f7092b4d6f8")
}

fn upper(len: usize) -> String {
    signs(len, b"A2B7C3D4E5F6G2H7I3J4K5L6M2N7O3P4Q5R6S2T7")
}

/// With `_` and `-` in it, as many keys are.
pub(super) fn name(len: usize) -> String {
    signs(
        len,
        b"aB3dE5g_H7jK9-mN1pQ3sT5vW7xY9zA1bC3d-E5fG7hJ9kL2nM4qP6_rS8tU0wV2yX4z",
    )
}

fn signs(len: usize, of: &[u8]) -> String {
    of.iter()
        .cycle()
        .take(len)
        .map(|byte| char::from(*byte))
        .collect()
}

const UUID: &str = "1a2b3c4d-5e6f-4708-92a3-b4c5d6e7f809";

/// A made-up rest behind the head of a row, in the form of its service.
#[expect(
    clippy::match_same_arms,
    reason = "one row a service, in the order of the table"
)]
pub(super) fn made_up(head: &str) -> String {
    match head {
        "AKIA" | "ASIA" | "ABIA" | "ACCA" => upper(16),
        "ABSK" => alnum(110) + "==",
        "bedrock-api-key-" => alnum(120),
        "LTAI" => alnum(20),
        "AKID" => alnum(32),
        "rubygems_" => hex(48),
        "CLOJARS_" => hex(60),
        "github_pat_" => format!("{}_{}", alnum(22), alnum(59)),
        "npm_" | "ghp_" | "gho_" | "ghu_" | "ghr_" | "ghs_" | "pnu_" | "ddp_" | "ddw_" => alnum(36),
        "glpat-" => format!("{}.01.{}", name(34), "0z1a2b3c4"),
        "glrt-" => format!("t3_{}.01.{}", name(30), "0z1a2b3c4"),
        "glptt-" => hex(40),
        "glcbt-" => format!("64_{}", name(20)),
        "glagent-" => name(50),
        "glimt-" => name(25),
        "gloas-" => hex(64),
        "gldt-" | "glrtr-" | "glft-" | "glffct-" | "glsoat-" | "GR1348941" => name(20),
        "hf_" | "api_org_" => "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH".to_owned(),
        "gsk_" => alnum(52),
        "r8_" => alnum(37),
        "dapi" => hex(32),
        "sbp_" | "pul-" | "squ_" | "sqp_" | "sqa_" | "shippo_live_" | "shippo_test_" => hex(40),
        "sb_secret_" => format!("{}_{}", name(22), alnum(8)),
        "xai-" => alnum(80),
        "pplx-" | "csk-" => alnum(48),
        "tvly-" => format!("dev-{}", alnum(32)),
        "fw_" => alnum(24),
        "PMAK-" => format!("{}-{}", hex(24), hex(34)),
        "NRAK-" => upper(27),
        "NRII-" | "NRIQ-" => name(32),
        "NRJS-" | "NRBR-" => hex(19),
        "dop_v1_" | "doo_v1_" | "dor_v1_" | "sntryu_" | "rootly_" | "slk_" => hex(64),
        "shpat_" | "shpca_" | "shppa_" | "shpss_" | "SK" | "key-" => hex(32),
        "lin_api_" | "lin_oauth_" => alnum(40),
        "ntn_" => format!("12345678901{}", alnum(35)),
        "secret_" => alnum(43),
        "figd_" | "figp_" => name(43),
        "nfp_" => alnum(36),
        "re_" => format!("{}_{}", alnum(8), alnum(24)),
        "dckr_pat_" => name(27),
        "dckr_oat_" => name(32),
        "sntrys_" => format!("eyJ{}={}_{}", alnum(120), "", alnum(43)),
        "glsa_" => format!("{}_{}", alnum(32), hex(8)),
        "glc_" => format!("eyJ{}==", alnum(100)),
        "EAAC" | "EAAM" => alnum(120),
        "sk-" => format!("proj-{}T3BlbkFJ{}", name(74), name(74)),
        "rk-" => name(40),
        "sk_" => hex(48),
        "pk-lf-"
        | "pat-na1-"
        | "pat-eu1-"
        | "sdk-"
        | "api-"
        | "access-sandbox-"
        | "access-development-"
        | "access-production-" => UUID.to_owned(),
        "sk_live_" | "sk_test_" | "sk_prod_" | "rk_live_" | "rk_test_" | "rk_prod_" => alnum(24),
        "whsec_" => format!("{}+{}/{}=", alnum(12), alnum(10), alnum(8)),
        "xoxb-" | "xoxe-" | "xoxa-" | "xoxr-" => {
            format!("123456789012-1234567890123-{}", alnum(24))
        }
        "xoxe.xox" => format!("p-1-{}", alnum(163)),
        "xoxo-" | "xoxs-" => format!("1234567890-1234567890-1234567890-{}", hex(10)),
        "xoxp-" => format!("123456789012-123456789012-123456789012-{}", hex(32)),
        "xapp-" => format!("1-A01BCDEF2GH-1234567890123-{}", hex(64)),
        "hooks.slack.com/services/" => format!("T01ABCDEF/B02GHIJKL/{}", alnum(24)),
        "hooks.slack.com/workflows/" => {
            format!("T01ABCDEF/A02GHIJKL/123456789012345678/{}", alnum(24))
        }
        "hooks.slack.com/triggers/" => format!("T01ABCDEF/1234567890123/{}", hex(32)),
        "discord.com/api/webhooks/" | "discordapp.com/api/webhooks/" => {
            format!("123456789012345678/{}", name(68))
        }
        "hooks.zapier.com/hooks/catch/" => "1234567/a1b2c3d/".to_owned(),
        "webhook.office.com/webhookb2/" => {
            format!("{UUID}@{UUID}/IncomingWebhook/{}/{UUID}", hex(32))
        }
        "api.telegram.org/bot" => format!("1234567890:A{}", name(34)),
        "AIza" => format!("Sy{}", name(33)),
        "GOCSPX-" => name(28),
        "ya29." => format!("a0{}", name(150)),
        "lsv2_" => format!("pt_{}_{}", hex(32), hex(10)),
        "nvapi-" => name(64),
        "tgp_v1_" => name(43),
        "pcsk_" => format!("{}_{}", alnum(6), alnum(63)),
        "jina_" => hex(32) + &alnum(28),
        "pypi-" => format!("AgEIcHlwaS5vcmc{}", name(150)),
        "hvs." => name(95),
        "hvb." => name(140),
        "ATATT3" => format!("xFfGF0{}={}", name(170), upper(8)),
        "ATCTT3" => format!("xFfGN0{}={}", name(170), upper(8)),
        "ATBB" => alnum(32),
        "BBDC-" => format!("{}+/{}", alnum(20), alnum(22)),
        "sq0csp-" => name(43),
        "sq0atp-" => name(22),
        "EAAA" => name(60),
        "vercel_blob_rw_" => format!("{}_{}", alnum(16), alnum(30)),
        "AGE-SECRET-KEY-" => format!("1{}", upper(58)),
        "FLWSECK" => format!("_TEST-{}-X", hex(32)),
        "eyJ" => format!("hbGciOiJIUzI1NiJ9.eyJ{}.{}", alnum(30), name(43)),
        "SG." => format!("{}.{}", name(22), name(43)),
        "pscale_tkn_" | "pscale_pw_" | "pscale_oauth_" => name(43),
        "sl.B" | "sl.u." => name(134),
        "dp.st." => format!("dev.{}", alnum(43)),
        "dp.pt." | "dp.ct." | "dp.sa." | "dp.scim." | "dp.audit." => alnum(43),
        "ops_eyJ" => alnum(300),
        "A3-" => "A2B7C3-D4E5F6G2H7I-J4K5L-M2N7O-P4Q5R".to_owned(),
        "AccountKey=" => format!("{}/+{}==", alnum(40), alnum(44)),
        "SharedAccessKey=" => format!("{}+{}=", alnum(20), alnum(22)),
        "SharedAccessSignature=" => alnum(60),
        "aio_" => alnum(28),
        "pat" => format!("{}.{}", alnum(14), hex(64)),
        "apify_api_" => alnum(36),
        "AKCp" => alnum(69),
        "cmVmdGtu" => alnum(56),
        "bkua_" => hex(40),
        "CCIPAT_" => format!("{}_{}", alnum(22), hex(40)),
        "cfut_" | "cfat_" | "cfk_" => alnum(40) + &hex(8),
        "v1.0-" => format!("{}-{}", hex(24), hex(146)),
        "CFPAT-" | "duffel_live_" | "duffel_test_" | "fo1_" | "sha256~" => name(43),
        "dt0c01." => format!("{}.{}", upper(24), upper(64)),
        "EZAK" | "EZTK" => alnum(54),
        "fm1a_" | "fm1r_" | "fm2_" => format!("{}/+{}==", alnum(150), alnum(100)),
        "fio-u-" => name(64),
        "HRKU-" => format!("AA{}", name(58)),
        "ico-" => alnum(32),
        "live_" | "test_" => hex(35),
        "sk.eyJ" => format!("{}.{}", alnum(80), name(22)),
        "API-" => upper(26),
        "SFMyNTY." | "SFMzODQ." | "SFM1MTI." => format!("g2gDaAJh{}.{}", name(90), name(43)),
        "QTEyOEdDTQ." => format!("{}.{}.{}.{}", name(48), name(16), name(90), name(22)),
        "phx_" => alnum(43),
        "rdme_" => hex(70),
        "tk-us-" => name(48),
        "xkeysib-" => format!("{}-{}", hex(64), alnum(16)),
        "sm_pat_" | "sm_aat_" | "sm_sat_" => alnum(16),
        "sgp_" => format!("{}_{}", hex(16), hex(40)),
        "tskey-" => format!("auth-{}CNTRL-{}", alnum(12), alnum(32)),
        "tfp_" => name(59),
        "VF." => format!("DM.{}.{}", hex(24), alnum(16)),
        "AQVN" => name(35),
        other => panic!("no made-up value for `{other}`: give it one of its real form"),
    }
}

#[test]
fn each_listed_service_has_a_key_of_its_real_form_that_is_masked_whole() {
    let redactor = Redactor::new([7; 32], []);
    for form in KEY_FORMS {
        let rest = made_up(form.head);
        let key = [form.head, &rest].concat();
        for (text, before, after) in [
            (format!("It is {key} and"), "It is ", " and"),
            (format!("{{\"k\":\"{key}\"}}"), "{\"k\":\"", "\"}"),
            (
                format!("https://host/?x={key}&y=1"),
                "https://host/?x=",
                "&y=1",
            ),
        ] {
            let (out, counts) = redactor.mask_text(&text);
            let inner = out
                .strip_prefix(before)
                .and_then(|out| out.strip_suffix(after));
            let inner = inner.unwrap_or_else(|| panic!("{}: {text}\n{out}", form.service));
            assert!(counts.get("secret") == Some(&1), "{}: {out}", form.service);
            assert!(
                !inner.contains(&rest) && inner.ends_with('⟧') && inner.matches('⟦').count() == 1,
                "{}: {out}",
                form.service
            );
            let inner = inner.trim_start_matches(form.head);
            assert!(
                rest.as_bytes()
                    .windows(6)
                    .all(|part| !inner.contains(std::str::from_utf8(part).unwrap())),
                "{}: {out}",
                form.service
            );
        }
    }
}

/// Keys without a fixed beginning.
#[test]
fn keys_without_a_beginning_of_their_own_are_masked() {
    let redactor = Redactor::new([7; 32], []);
    for key in [
        format!("MTI{}.{}.{}", alnum(23), alnum(6), name(38)),
        format!("1234567890:A{}", name(34)),
        format!("aB38Q~{}", name(34)),
        format!("{}-us21", hex(32)),
        format!("{}.atlasv1.{}", alnum(14), name(67)),
    ] {
        let out = redactor.mask_text(&format!("It is {key} and")).0;
        assert!(
            out.starts_with("It is ⟦secret:") && out.ends_with("⟧ and"),
            "{key}: {out}"
        );
    }
}

#[test]
fn what_begins_like_a_key_and_is_none_stays() {
    let redactor = Redactor::new([7; 32], []);
    for text in [
        "re_compile_all_the_patterns_of_this_module_2, re_render_component, secret_of_the_long_forgotten_city_in_the_sand",
        "live_stream_of_the_event, test_that_nothing_breaks_when_12_users_log_in, key-value-store, api-gateway-v2-internal-service",
        "API-REFERENCE, SKU-12345, pattern.matching, sdk-core-2.0.1-linux, ico-sprite-24, dapi_call, fw_update_progress_indicator_v2",
        "https://hooks.slack.com/services/ is the beginning, discord.com/api/webhooks/ too, api.telegram.org/bot<token>/getMe",
        "sm_pat_ern, pat.terns, VF.config, v1.0-beta.2, v1.0-rc1, sk.eyJ, eyJ, xoxb-, tskey-auth, phx_server",
    ] {
        assert_eq!(redactor.mask_text(text).0, text);
    }
}
