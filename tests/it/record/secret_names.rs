//! The names of secrets; the list of variables kept from a child is another one.

use ctxc::internals::base::secrets::names::{
    NameStrength, is_secret_name, is_secret_variable, is_withheld, name_strength,
};

#[test]
fn names_of_secrets_are_known_however_they_are_written() {
    let strong = "password PASSWORD DB_PASSWORD PGPASSWORD db.password mysql_pwd SMTP_PASS user_passwd passphrase ssh-passphrase secret \
        client_secret clientSecret client-secret CLIENT_SECRET SECRET_KEY SECRET_KEY_BASE secretKey AWS_SECRET_ACCESS_KEY \
        AZURE_OPENAI_API_KEY apiKey api_key api-key APIKEY x-api-key X-Api-Key accessKey private_key STRIPE_KEY APP_KEY \
        token GITHUB_TOKEN access_token accessToken refreshToken auth-token authtoken id_token csrfToken bot_token TOKEN_2 \
        DB_PASSWORD_PROD password1 newPassword password_confirmation NPM_AUTH AZURE_PAT SENTRY_DSN SESSION_COOKIE credentials \
        AWS_CREDENTIALS authorization Proxy-Authorization jwt MNEMONIC DB_CONNECTION_STRING connectionString conn_str WEBHOOK_URL \
        slackWebhookUrl encryption_key signingKey spring.datasource.password _authToken";
    for name in strong.split_whitespace() {
        assert!(is_secret_name(name), "{name}");
    }
    let none = "max_tokens tokens token_count tokenizer token_type tokenUrl prompt_tokens next_page_token nextToken continuationToken \
        eos_token pad_token public_key publicKey primary_key foreign_key PRIMARY_KEY cache_key partitionKey sort_key keyboard monkey \
        author authority authentication compass passenger passport bypass password_hint password_length password_file passwordField \
        secret_name secretRef key_id AWS_ACCESS_KEY_ID keyframes path pattern patch compat data spawn user username email host SSH_AUTH_SOCK \
        XAUTHORITY DATABASE_URL GIT_ASKPASS DESKTOP url string connection sidebar inside considered";
    for name in none.split_whitespace() {
        assert!(!is_secret_name(name), "{name}");
    }
    for name in [
        "cookie",
        "session",
        "key",
        "row_id_key",
        "auth",
        "pass",
        "github_pat",
        "dsn",
    ] {
        assert_eq!(name_strength(name), Some(NameStrength::Weak), "{name}");
    }
    assert!(!is_secret_name("") && !is_secret_name("__") && !is_secret_name("é_"));
}

#[test]
fn what_is_masked_and_what_no_child_receives_are_two_lists() {
    assert!(is_withheld("A_KEY") && is_withheld("A_TOKEN") && is_withheld("A_SECRET"));
    assert!(!is_withheld("PGPASSWORD") && is_secret_variable("PGPASSWORD", "x"));
    assert!(
        is_secret_variable("CACHE_KEY", "x")
            && !is_secret_variable("GOOGLE_APPLICATION_CREDENTIALS", "~/key.json")
    );
}

#[test]
fn names_of_secrets_are_distinguished_from_names_about_them() {
    for name in [
        "API_KEY",
        "apiKey",
        "x-api-key",
        "STRIPE_KEY",
        "dbPassword",
        "DB_PASS",
        "client_secret",
        "ACCESS_TOKEN",
        "refreshToken",
        "AWS_SECRET_ACCESS_KEY",
        "passphrase",
        "Authorization",
        "SECRET_KEY_BASE",
    ] {
        assert!(is_secret_name(name), "{name}");
    }
    for name in [
        "key",
        "sort_key",
        "PUBLIC_KEY",
        "PRIMARY_KEY",
        "max_tokens",
        "token_count",
        "tokenizer",
        "password_policy",
        "secret_name",
        "monkey",
        "compass",
        "author",
        "KEY",
        "token_url",
        "",
    ] {
        assert!(!is_secret_name(name), "{name}");
    }
}
