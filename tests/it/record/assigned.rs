//! Secrets behind their names: what goes wherever it stands, what stays since it is none, and that a masked text stays as it is.

use ctxc::internals::record::redact::Redactor;
use std::fmt::Write;

fn masked(text: &str) -> String {
    Redactor::new([7; 32], []).text(text).0
}

/// A text with `«…»` around what must go, checked against what goes.
#[track_caller]
fn check(marked: &str) {
    let plain = marked.replace(['«', '»'], "");
    let mut expected = String::new();
    let redactor = Redactor::new([7; 32], []);
    for part in marked.split('«') {
        match part.split_once('»') {
            Some((secret, rest)) => write!(expected, "{}{rest}", redactor.placeholder("secret", secret)).unwrap(),
            None => expected.push_str(part),
        }
    }
    let found = masked(&plain);
    assert_eq!(found, expected, "{marked}");
    assert_eq!(masked(&found), found, "{marked}");
}

#[test]
fn values_in_environment_files_options_headers_cookies_addresses_and_connection_strings_always_go() {
    for marked in [
        // Lines of environment files and of shells.
        "DB_PASSWORD=«correct-horse-42-battery»\nDB_HOST=db\n",
        "AWS_SECRET_ACCESS_KEY=«wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzKEY1»",
        "AZURE_OPENAI_API_KEY=«1a2b3c4d5e6f708192a3b4c5d6e7f809»\nA=1",
        "export PGPASSWORD=«swordfish»; psql",
        "PGPASSWORD=«pg-Abc123456» psql -h db",
        "POSTGRES_PASSWORD=\"«two words»\"",
        "+ export 'NPM_TOKEN=«plainword»'",
        "docker run -e MYSQL_ROOT_PASSWORD=«secretly» -p 1:1 mysql",
        "environment:\n  - GF_ADMIN_PASSWORD=«grafana-admin»\n",
        "$env:SHOP_DSN=\"«amqp-thing»\"",
        "ENV API_SECRET «abcdefgh»\nRUN x",
        "declare -x SHOP_PAT=\"«plainly»\"",
        "[\"DB_PASSWORD=«listed»\", \"X=1\"]",
        "# SHOP_AUTH=«commented»",
        // Options.
        "tool --password «swordfish» --user ann",
        "tool --password=«swordfish» x",
        "tool --api-key «abcdef» --verbose",
        "[\"tool\", \"--client-secret\", \"«abcdef»\", \"x\"]",
        "['tool', '--password', '«ab cd»']",
        "curl -u «ann:swordfish» https://host/",
        // Headers and cookies.
        "Authorization: Bearer «opaque-tok3n»\nHost: h",
        "-H \"Authorization: Basic «dXNlcjpwYXNz»\" x",
        "authorization: token «abc123def»",
        "X-Api-Key: «abc-123»\r\nHost: h",
        "{'Authorization': 'Bearer «opaque-tok3n»'}",
        "Cookie: sid=«abcdef»; theme=«darkly»\nX: y",
        "Set-Cookie: session=«abcdef»; Path=/; HttpOnly",
        "the header was Bearer «a1B2c3D4e5F6g7», and failed",
        // Addresses.
        "https://host/x?access_token=«abcdefgh»&n=1",
        "https://host/cb#id_token=«abcdefgh»",
        "GET /x?api_key=«plain»&sig=«a%2Fb%2Bc9»",
        "postgres://«app:n0t-Th1s»@db/x",
        // Connection strings.
        "Server=db;User Id=app;Password=«swordfish»;Encrypt=true",
        "host=db user=app password=«swordfish» dbname=x",
        "Endpoint=https://x.azconfig.io;Id=ab;Secret=«plainword»",
    ] {
        check(marked);
    }
}

#[test]
fn elsewhere_values_go_that_look_like_secrets() {
    for marked in [
        "{\"client_secret\":\"«q7Zp2Lm9Xc4V»\",\"n\":1}",
        "{\"password\": \"«hunter2!»\"}",
        "password: «hunter2-of-mine»\nuser: ann",
        "  db_password: '«Summer2024»'",
        "api_key = \"«a8f3k2m9q1z7»\"",
        "const apiKey = '«a8f3k2m9q1z7»';",
        "cfg.Token := \"«a8f3k2m9q1z7»\"",
        "'password' => '«p4ssw0rd»',",
        "the password is «Tr0ub4dor&3», the user ann",
        "API key: «a8f3k2m9q1z7».",
        "os.environ[\"SHOP_TOKEN\"] = \"«a8f3k2m9q1z7»\"",
        "setenv(\"SHOP_TOKEN\", \"«a8f3k2m9q1z7»\")",
        "<password>«p4ssw0rd»</password>",
        "token: «550e8400-e29b-41d4-a716-446655440000»",
        "//registry.host/:_authToken=«q7Zp2Lm9Xc4V»",
        "session=«f8d1c0e2a4b6978877665544a3b2c1d0»",
    ] {
        check(marked);
    }
}

#[test]
fn types_schemas_references_placeholders_code_and_plain_words_stay() {
    for text in [
        // References.
        "DB_PASSWORD=$DB_PASSWORD\nTOKEN=${TOKEN}\nA_TOKEN=$(cat token)\nSECRET_KEY={{ secret }}\nPASSWORD=%PASSWORD%\n",
        "password: process.env.DB_PASSWORD, token: os.environ[\"TOKEN\"], secret: ${{ secrets.MY_SECRET }}",
        "password: !secret db_password\ntoken: op://vault/item/token1\nsecret: arn:aws:secretsmanager:eu-west-1:1:x",
        "curl -H \"Authorization: Bearer $TOKEN\" -H 'Authorization: Bearer ${TOKEN}' -H \"Authorization: Bearer <token>\"",
        "tool --password \"$PASSWORD\" --token <token> --api-key YOUR_KEY --secret [secret]",
        // Placeholders.
        "API_KEY=your-api-key\nTOKEN=<token>\nPASSWORD=changeme\nSECRET=xxxxxxxx\nA_KEY=\nB_KEY=\"\"\nPASSWORD=***\nTOKEN=put-it-here",
        "postgres://user:password@host/db, https://username:pass@proxy.example.com:8080, http://u:p@some.host/path",
        // Types and schemas.
        "password: str, token: string; secret?: string, api_key: Optional[str] = None, apiKey: String!",
        "{\"password\":{\"type\":\"string\",\"minLength\":8},\"required\":[\"password\",\"token\"]}",
        "{\"token\":\"string\",\"secret\":null,\"password\":true,\"api_key\":\"required\"}",
        // Code.
        "password = get_password()\ntoken = self.next_token()\nsecret = secrets.token_hex(32)\napiKey = config.apiKey\n",
        "if (token === Token.OpenBrace2) { key = keys[i]; password = newPassword2; }",
        "nameKey := oauth2RedirectAppleNameStoreKeyPrefix + form.Code",
        "let token = lexer.next_token(); let secret = derive_key(&salt, 32);",
        "def f(password=None, token=default_token): return hash(password, b\"salt\")",
        "<input #secretKey=\"ngModel\" #newToken=\"model2\">, date -u '+%Y-%m-%dT%H:%M:%SZ', //ancestor::*[contains(@class,'x')]",
        "{\"chap-secret\": &api.Secret2{}, \"x\": 1}, fileKey := \"wsmn24bux7wo113/al1h9ijdeojtsjy/300_Jsjq7RdBgA.png\"",
        "viewBox=\"0 0 516.119 1083.632\", {9A19103F-16F7-4668-BE54-9A1E7A4F7556}, AWS4-HMAC-SHA256 Credential=1/2/s3",
        "http.get(\"http://host/x?access_token=\" + token, nil)",
        "<input type=\"password\" name=\"password\" placeholder=\"password\">",
        // Plain words, counts and paths.
        "max_tokens: 4096, token_count=123456, prompt_tokens: 1234567, tokenizer: cl100k_base, public_key: ssh-ed25519",
        "primary_key=\"user_id\", foreign_key: order_id, sort_key: 'created_at', keyboard: qwertz123, author: ann2024x",
        "password: required, token: invalid, the password is wrong, the token is expired, secret: internal-tls-secret",
        "SSL_KEY=/etc/ssl/private/server.key\nTOKEN_FILE=/run/secrets/token1\nPRIVATE_KEY=./server.pem",
        "--password is required. Use --token to sign in, --api-key or --secret with a value.",
        "Basic authentication, Bearer authentication, Bearer tokens, Basic auth2, Authorization: required, Cookie: a small text",
        "MAX_TOKENS=4096\nTOKEN=true\nPRIMARY_KEY=id\nCACHE_KEY=v1-linux",
        "a\u{301} ⟦secret:ab12⟧ password: ⟦secret:ab12⟧ TOKEN=⟦secret:ab12⟧ postgres://⟦secret:ab12⟧@h Bearer ⟦secret:ab12⟧",
    ] {
        assert_eq!(masked(text), text);
    }
}

/// A body tells what a string is by its key, by the name beside it, or by the word before it in a list.
#[test]
fn strings_of_json_behind_their_names_go() {
    let redactor = Redactor::new([7; 32], []);
    let json = |text: &str| redactor.json(text, "", &mut Vec::new());
    for (text, gone) in [
        (r#"{"password":"hunter2!","user":"ann"}"#, "hunter2"),
        (r#"{"client_secret":"q7Zp2Lm9Xc4V"}"#, "q7Zp"),
        (r#"{"headers":{"Authorization":"Bearer opaque-tok3n"}}"#, "opaque"),
        (r#"{"headers":{"Cookie":"sid=abcdef; b=ghijkl"}}"#, "abcdef"),
        (r#"{"headers":{"Cookie":"sid=abcdef; b=ghijkl"}}"#, "ghijkl"),
        (r#"{"env":[{"name":"DB_PASSWORD","value":"hunter2!"}]}"#, "hunter2"),
        (r#"{"argv":["tool","--password","swordfish","x"]}"#, "swordfish"),
        (r#"{"headers":[["Authorization","Bearer opaque-tok3n"]]}"#, "opaque"),
        (r#"{"arguments":"{\"env\":\"{\\\"api_key\\\":\\\"a8f3k2m9q1z7\\\"}\"}"}"#, "a8f3k2"),
        (r#"{"content":"{\"command\":[\"tool\",\"--password\",\"swordfish\"]}"}"#, "swordfish"),
    ] {
        let out = json(text);
        assert!(!out.contains(gone) && out.contains("⟦secret:"), "{out}");
        assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok(), "{out}");
        assert_eq!(json(&out), out);
    }
    for text in [
        r#"{"properties":{"password":{"type":"string","description":"the password of the user"}},"required":["password"]}"#,
        r#"{"usage":{"total_tokens":12},"key":"b3:1a2b3c4d5e6f","signature":"ErUBCkYIAxgCIkBa1b2c3d4e5f6","password":"secret"}"#,
        r#"{"name":"get_token","description":"reads a token","password":12345678}"#,
    ] {
        assert_eq!(json(text), text);
    }
}

#[test]
fn words_of_a_command_are_masked_with_the_option_before_them() {
    let redactor = Redactor::new([7; 32], []);
    let words = |words: &[&str]| redactor.words(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    let out = words(&["python3", "a.py", "--password", "swordfish", "--user", "ann", "--token=plainly", "A_SECRET=plainword"]);
    assert!(
        out[3].starts_with('⟦') && out[5] == "ann" && out[6].starts_with("--token=⟦") && out[7].starts_with("A_SECRET=⟦"),
        "{out:?}"
    );
    assert_eq!(words(&["x", "--password", "--verbose"]), ["x", "--password", "--verbose"]);
}

/// Random texts of parts that masks look at: once masked, a text stays as it is.
#[test]
fn a_masked_text_stays_as_it_is_masked_again() {
    let parts = [
        "DB_PASSWORD",
        "password",
        "token",
        "--password",
        "Authorization",
        "Cookie",
        "api_key",
        "=",
        ": ",
        ":",
        " ",
        "\n",
        "\"",
        "'",
        ";",
        ",",
        "?",
        "&",
        "Bearer ",
        "Basic ",
        "//",
        "postgres://",
        "@",
        "host",
        "hunter2",
        "a8f3k2m9q1z7",
        "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1bC3dE5",
        "known-secret-value",
        "ann@example.org",
        "4111 1111 1111 1111",
        "+49 30 1234567",
        "\\n",
        "\\\"",
        "%40",
        "&#64;",
        "⟦secret:ab12⟧",
        "{",
        "}",
        "[",
        "]",
        "<",
        ">",
        "is ",
        "x",
        "-",
        "_",
        "ENV ",
        "export ",
        "sid=",
        "eyJhbGciOiJIUzI1NiJ9.eyJhQjNkRTVnSDdqSzltTjFwUTNz.aB3dE5gH7jK9mN1pQ3sT5vW7",
        "é",
        "…",
        "$",
        "/",
    ];
    let redactor = Redactor::new([7; 32], ["known-secret-value".to_owned()]);
    let mut state = 11_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    for _ in 0..20_000 {
        let text: String = (0..=random(14)).map(|_| parts[random(parts.len())]).collect();
        let once = redactor.text(&text).0;
        assert!(!once.contains("known-secret-value"), "{text}\n{once}");
        assert_eq!(redactor.text(&once).0, once, "{text}");
    }
}
