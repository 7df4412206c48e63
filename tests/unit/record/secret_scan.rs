//! Secrets that the scan finds in texts before they are written, and values that it ignores.

use super::{EnvironmentFile, SecretInText, SecretScan};
use crate::base::secrets::placeholders::PUBLISHED_SAMPLES;

fn scan(text: &str) -> SecretScan {
    SecretScan::new(&[EnvironmentFile {
        path: ".env".to_owned(),
        text: text.to_owned(),
    }])
}

/// A random value of 32 characters, of no service's form.
const RANDOM: &str = "q7Zp2Lx9Vt4Kc8Rw1Nb6Yd3Hs5Jf0GmA";

#[test]
fn values_of_environment_files_are_found_in_every_form() {
    let scan = scan(
        "# mine\nDB_PASSWORD='horse \"battery\" 9'\nDATABASE_URL=postgres://app:s3cr3t-pass@db/app\nexport TOKEN=swordfish-77\n",
    );
    let name = |line: &str| match scan.find_secret(line) {
        Some(SecretInText::Environment { name, file }) => format!("{name} {file}"),
        Some(SecretInText::Random { name }) => format!("random {name}"),
        Some(SecretInText::Key) => "key".to_owned(),
        None => "none".to_owned(),
    };
    assert_eq!(
        name("the password is horse \"battery\" 9, sir"),
        "DB_PASSWORD .env"
    );
    assert_eq!(
        name(r#"{"text": "horse \"battery\" 9"}"#),
        "DB_PASSWORD .env"
    );
    assert_eq!(
        name(r#""{\"text\": \"horse \\\"battery\\\" 9\"}""#),
        "DB_PASSWORD .env"
    );
    assert_eq!(name("?p=horse%20%22battery%22%209&q=1"), "DB_PASSWORD .env");
    assert_eq!(name("Zaho: aG9yc2UgImJhdHRlcnkiIDk="), "DB_PASSWORD .env");
    assert_eq!(name("psql -W s3cr3t-pass"), "DATABASE_URL_PASSWORD .env");
    assert_eq!(name("login swordfish-77."), "TOKEN .env");
    assert_eq!(name("login swordfish-778"), "none");
    let found = scan.find_secret("login swordfish-77.").unwrap().to_string();
    assert_eq!(found, "the value of `TOKEN` in .env");
}

#[test]
fn keys_of_known_forms_are_found() {
    let scan = SecretScan::default();
    let github = concat!("ghp", "_q8Zr1LmXv7Tn3KsYb5Wd9Gf2Hj4Pc6Ra0EuB");
    for line in [
        format!("Use {github} for it."),
        github.to_owned(),
        format!("{{\"a\":\"{github}\"}}"),
        concat!("-----BEGIN OPENSSH PRIV", "ATE KEY-----").to_owned(),
    ] {
        assert_eq!(scan.find_secret(&line), Some(SecretInText::Key), "{line}");
    }
    for line in [
        "ghp_ is what such a key begins with",
        "a xghp_q8Zr",
        "-----BEGIN PUBLIC KEY-----",
        "sk-learn and sk-example",
    ] {
        assert_eq!(scan.find_secret(line), None, "{line}");
    }
}

#[test]
fn samples_of_pages_are_no_secrets_and_one_beside_them_is() {
    let scan = SecretScan::default();
    let github = concat!("ghp", "_q8Zr1LmXv7Tn3KsYb5Wd9Gf2Hj4Pc6Ra0EuB");
    for sample in PUBLISHED_SAMPLES {
        for line in [
            format!("Use {sample} here."),
            format!("api_token: {sample}"),
            format!("Authorization: Bearer {sample}"),
        ] {
            assert_eq!(scan.find_secret(&line), None, "{line}");
        }
        assert_eq!(
            scan.find_secret(&format!("{sample} {github}")),
            Some(SecretInText::Key),
            "{sample}"
        );
    }
}

#[test]
fn an_environment_file_may_begin_with_a_mark_and_names_of_its_keys_are_any() {
    let scan = scan("\u{feff}DB_PASSWORD=swordfish-77\nSUB_KEY=hQ8vX9aK7x6\n");
    for line in ["login swordfish-77", "with hQ8vX9aK7x6"] {
        assert!(
            matches!(
                scan.find_secret(line),
                Some(SecretInText::Environment { .. })
            ),
            "{line}"
        );
    }
}

/// Each value of a file, and lines that contain it: escaped, after a colon, in a connection string,
/// in base64 after a name, and a short one.
#[test]
fn values_are_found_however_the_file_and_the_line_write_them() {
    for (file, lines) in [
        (
            r#"DB_PASSWORD="horse \"battery\" 9""#,
            &[
                r#"psql -W horse "battery" 9"#,
                r#"psql -W 'horse \"battery\" 9'"#,
            ][..],
        ),
        ("DB_PASSWORD: swordfish-77", &["login swordfish-77"]),
        (
            "DB_PASSWORD=\"first line 1\nsecond line 2\"",
            &["login second line 2"],
        ),
        (
            "DB_CONN=Server=db;User Id=app;Password=sword-77;Encrypt=true",
            &["login sword-77"],
        ),
        ("DB_CONN=\"host=db password=sword-77\"", &["login sword-77"]),
        (
            "DB_PASSWORD=swordfish-77",
            &[
                "Basic c3dvcmRmaXNoLTc3",
                "Basic YTpzd29yZGZpc2gtNzc=",
                "Basic YW5uOnN3b3JkZmlzaC03Nw==",
                "Basic YXBwOnN3b3JkZmlzaC03Nw",
            ],
        ),
        (
            "DB_PASSWORD=sw0rd!",
            &["login sw0rd!", "Basic YW5uOnN3MHJkIQ=="],
        ),
        ("DB_PASSWORD=sw0rds", &["login sw0rds, as app"]),
    ] {
        let scan = scan(file);
        for line in lines {
            assert!(
                matches!(
                    scan.find_secret(line),
                    Some(SecretInText::Environment { .. })
                ),
                "{file}: {line}"
            );
        }
    }
    for (file, line) in [
        ("NAME=sw0rd!", "login sw0rd!"),
        ("DB_PASSWORD=sword", "a sword"),
        ("DB_PASSWORD=sw0rds", "xsw0rdsx"),
    ] {
        assert_eq!(scan(file).find_secret(line), None, "{file}: {line}");
    }
}

/// Values that begin like references or contain a placeholder word.
#[test]
fn a_value_under_the_name_of_a_secret_is_one_unless_all_of_it_is_a_placeholder() {
    for value in include_str!("../base/secrets/secrets_like_placeholders.txt").lines() {
        let scan = scan(&format!("DB_PASSWORD='{value}'\n"));
        assert!(
            scan.find_secret(&format!("login {value} now")).is_some(),
            "{value}"
        );
    }
}

#[test]
fn plain_values_of_environment_files_are_no_secrets() {
    let scan = scan(
        "APP_NAME=my-great-app-2024\nAWS_REGION=eu-central-1\nDEBUG=true\nPORT=80808080\nURL=https://api.example.com/v1\n\
         API_KEY=changeme-please\nSECRET=development\nMODEL=claude-sonnet-4-20250514\nTOKEN=${OTHER_TOKEN}\nLOG=/var/log/app.log\n",
    );
    let text = "my-great-app-2024 eu-central-1 true 80808080 https://api.example.com/v1 changeme-please development \
                claude-sonnet-4-20250514 ${OTHER_TOKEN} /var/log/app.log";
    assert_eq!(scan.find_secret(text), None);
}

#[test]
fn what_looks_random_beside_the_name_of_a_secret_is_found() {
    let scan = SecretScan::default();
    for line in [
        format!("apiKey: {RANDOM}"),
        format!("  \"client_secret\" : \"{RANDOM}\","),
        format!("SHOP_TOKEN={RANDOM}"),
        format!("Authorization: Bearer {RANDOM}"),
        format!("tool --api-key {RANDOM} --fast"),
        format!(r#""text": "{{\"password\": \"{RANDOM}\"}}""#),
        format!("<td>&quot;accessToken&quot;: &quot;{RANDOM}&quot;</td>"),
        "password = 0123456789abcdef0123456789abcdef".to_owned(),
        // A call has words, and a name of a program is assigned.
        format!("token = {RANDOM}(hex)"),
        format!("token = \"user_{RANDOM}\""),
        "SHOP_TOKEN=shop_sum_base64_key32".to_owned(),
        "token = \"shop_sum_base64_key32\"".to_owned(),
    ] {
        let found = scan
            .find_secret(&line)
            .unwrap_or_else(|| panic!("{line}"))
            .to_string();
        assert!(
            found.starts_with("what looks like a secret, under the name `")
                && !found.contains(RANDOM),
            "{found}"
        );
    }
    for line in [
        format!("hash: {RANDOM}"),
        format!("the key {RANDOM} opens nothing"),
        "token: ⟦secret:12ab⟧".to_owned(),
        "api_key: ${SHOP_API_KEY_OF_2024_AND_LATER}".to_owned(),
        "password: a-long-password-of-words-only".to_owned(),
        "max_tokens: 1234567890123456".to_owned(),
        "token_url: https://example.com/oauth2/v1/token".to_owned(),
        "secret: your-key-0123456789-here".to_owned(),
        "password: aaaaaaaaaaaaaaaaaaaa1".to_owned(),
        "API_KEY=gpt-4o-mini-2024-07-18".to_owned(),
        "token = Base.url_encode64(:crypto.strong_rand_bytes(32))".to_owned(),
        "token: Base.url_encode64(bytes, padding: false)".to_owned(),
        "secret = user_token_v2_base64".to_owned(),
    ] {
        assert_eq!(scan.find_secret(&line), None, "{line}");
    }
}
