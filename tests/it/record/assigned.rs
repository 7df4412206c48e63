//! Secrets behind their names: values that are masked everywhere, values that stay since they are
//! no secrets, and that a masked text stays as it is.

use ctxc::internals::record::redact::Redactor;
use std::fmt::Write;

pub(super) fn masked(text: &str) -> String {
    Redactor::new([7; 32], []).mask_text(text).0
}

/// Checks a text with `«…»` around the secrets against the masked values.
#[track_caller]
pub(super) fn check(marked: &str) {
    let plain = marked.replace(['«', '»'], "");
    let mut expected = String::new();
    let redactor = Redactor::new([7; 32], []);
    for part in marked.split('«') {
        match part.split_once('»') {
            Some((secret, rest)) => {
                write!(expected, "{}{rest}", redactor.placeholder("secret", secret)).unwrap();
            }
            None => expected.push_str(part),
        }
    }
    let found = masked(&plain);
    assert_eq!(found, expected, "{marked}");
    assert_eq!(masked(&found), found, "{marked}");
}

#[test]
fn values_in_environment_files_options_headers_cookies_addresses_and_connection_strings_always_go()
{
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
        // Values that begin or end as code and references do, between other lines.
        "A=1\nDB_PASSWORD=«Winter(99x»\nDB_PASSWORD=«99xhere»\nDB_PASSWORD=«self.Fjord99x»\nDB_PASSWORD=«/Fjord/99x»\n",
        "A=1\nDB_PASSWORD=«[Fjord99x]»\nDB_PASSWORD=«Fjord99.js»\nDB_PASSWORD=«FJORDWINTER»\n",
        // Lines with numbers, as tools that read files write them.
        "    11→A=1\n    12→DB_PASSWORD=«Winterzauber»\n",
        "    12→DB_PASSWORD=«Winterzauber»",
        "     1\tA=1\n     2\tDB_PASSWORD=«Winterzauber»\n",
        "curl --user=«ann:swordfish» https://host/",
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
fn values_go_that_stand_apart_from_their_names_or_among_the_words_of_commands() {
    for marked in [
        "- name: DB_PASSWORD\n  value: «hunter2plain»\n- name: OTHER\n  value: otherwise",
        "        env:\n        - name: MYSQL_ROOT_PASSWORD\n          value: «plainwords»\n        - name: MODE\n          value: \"plainer\"",
        "{\"name\":\"API_TOKEN\",\"value\":\"«plainwords»\"}",
        "{\"value\":\"«hunter2plain»\",\"name\":\"API_TOKEN\"}",
        "[{\"name\": \"MODE\", \"value\": \"abc123def4\"}, {\"name\": \"API_TOKEN\", \"type\": \"secret\", \"value\": \"«hunter2plain»\"}]",
        "{\n  \"name\": \"DB_PASSWORD\",\n  \"value\": \"«hunter2plain»\"\n}",
        "<add key=\"DbPassword\" value=\"«hunter2plain»\"/>",
        "<property name=\"hibernate.connection.password\" value=\"«hunter2plain»\" />",
        "<property value=\"«hunter2plain»\" name=\"password\"/>",
        "password:\n  «hunter2plain»\nuser: ann",
        "password: |\n  «hunter2plain»\nuser: ann",
        "secrets:\n  token: >-\n    «a8f3k2m9q1z7»",
        "\"password\":\n    \"«hunter2plain»\",",
        "password: «Ab3/xY9+q»",
        "api_key = \"«Ab3/xY9q+Zz2»\"",
        "api_key = «q7Zp/Lm9X+c4V»",
        "{\"password\":\"«p4ss/w0rd»\"}",
        "{\"api_key\":\"«q7Zp/Lm9X+c4V»\"}",
        "password: «hunter2/plain»",
        "db_password=«plainwords»",
        "A=1\ndb_password=«plainwords»\nB=2",
        "spring.datasource.password=«plainwords»",
        "X-Auth-Token: «plainwords»\nHost: h",
        "curl -H \"X-Api-Key: «plainwords»\" https://h",
        "curl -H 'Private-Token: «plainwords»' https://h",
        "mysql -u root -p«plainwords» db",
        "mysqldump -uroot -p'«hunter2plain»' db > x.sql",
        "redis-cli -h h -a «plainwords» ping",
        "sshpass -p «plainwords» ssh u@h",
        "sshpass -p '«two words»' ssh u@h",
        "echo x | docker login -u ann -p «plainwords» r.io",
        "[\"mysql\", \"-u\", \"root\", \"-p«plainwords»\"]",
        "[\"sshpass\", \"-p\", \"«plainwords»\", \"ssh\"]",
        "machine h login me password «plainwords»",
        "machine h\n  login me\n  password «plainwords»",
        "ALTER USER ann WITH PASSWORD '«plainwords»';",
        "CREATE USER ann IDENTIFIED BY '«plainwords»';",
        "requirepass «plainwords»",
        "| name | value |\n|---|---|\n| password | «hunter2plain» |\n| user | ann2024 |",
        "| `DB_PASSWORD` | `«hunter2plain»` |",
        "TOKEN='''«plainwords»'''",
        "TOKEN=\"\"\"«two\nlines»\"\"\"",
        "\"password\": {\"type\": \"string\", \"default\": \"«hunter2plain»\"}",
        "password:\n  type: string\n  default: «hunter2plain»\nmode:\n  default: hunter2plain",
        "variable \"db_password\" {\n  type    = string\n  default = \"«hunter2plain»\"\n}",
        "A=1\nDB_PASSWORD=«correct horse battery staple»\nB=2",
        "A=1\nDB_PASSWORD=«correct horse» # mine\nB=2",
        "DB_PASSWORD=«correct horse battery»\n",
        "A=1\nDB_PASSWORD=\"«first line\nsecond line»\"\nB=2",
        "DB_TOKEN=«abcdef12» python x.py",
        "PGPASSWORD=«pg-Abc123456» psql -h db",
        "db_password=«correct horse battery»\nb=2",
    ] {
        check(marked);
    }
    for text in [
        "<add key=\"Mode\" value=\"hunter2plain\"/>",
        "password:\n  type: string\n  minLength: 8",
        "password: config/database2.yml",
        "password=password",
        "password=config.password",
        "x = f(\n    password=plainwords)",
        "X-Api-Key: required",
        "mysql -u root -p db",
        "docker run -d --name mysql -p 3306:3306 -p3307:3306 mysql:8",
        "| password | string | The password of the user |",
        // A reference to a file, a list with an item of its own, the argument of a port or of
        // another command, and words of a translation.
        "secrets:\n  db-password:\n    file: db/password.txt\n",
        "- value: hunter2plain\n- name: DB_PASSWORD\n  value: changeme\n",
        "{\"NEW_PWD\": \"Enter the new one\", \"SECRET_KEY\": \"config\"}",
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: mysql-pass2\n      key: password\n",
        "ps -p 12345678, mkdir -p path/to2, curl -k https://host2, tar -w x1y2z3, docker run -p 80:8080 x",
        "the operation is identified by `\"{name}Service2\"`, the password login2 of a user, read by 'reader12'",
    ] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn code_references_and_placeholders_between_lines_of_environment_files_stay() {
    for value in [
        "$(pass db)",
        "${OTHER}",
        "os.environ[X]",
        "getenv(X)",
        "self.token",
        "/run/secrets/db1",
        "YOUR_TOKEN",
        "API_KEY",
        "[REDACTED]",
        "server.pem",
        "your-key-here",
        "Secret(",
    ] {
        let text = format!("A=1\nDB_PASSWORD={value}\nB=2\n");
        assert_eq!(masked(&text), text);
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

/// A body marks a string as a secret by its key, by the name beside it, or by the word before it in
/// a list.
#[test]
fn strings_of_json_behind_their_names_go() {
    let redactor = Redactor::new([7; 32], []);
    let json = |text: &str| redactor.mask_json(text, "", &mut Vec::new());
    for (text, gone) in [
        (r#"{"password":"hunter2!","user":"ann"}"#, "hunter2"),
        (r#"{"client_secret":"q7Zp2Lm9Xc4V"}"#, "q7Zp"),
        (
            r#"{"headers":{"Authorization":"Bearer opaque-tok3n"}}"#,
            "opaque",
        ),
        (r#"{"headers":{"Cookie":"sid=abcdef; b=ghijkl"}}"#, "abcdef"),
        (r#"{"headers":{"Cookie":"sid=abcdef; b=ghijkl"}}"#, "ghijkl"),
        (
            r#"{"env":[{"name":"DB_PASSWORD","value":"hunter2!"}]}"#,
            "hunter2",
        ),
        (
            r#"{"env":[{"value":"plainwords","name":"DB_PASSWORD"}]}"#,
            "plainwords",
        ),
        (
            r#"{"env":[{"name":"API_TOKEN","type":"x","value":"plainwords"}]}"#,
            "plainwords",
        ),
        (
            r#"{"properties":{"password":{"type":"string","default":"hunter2plain"}}}"#,
            "hunter2",
        ),
        (r#"{"password":{"value":"hunter2plain"}}"#, "hunter2"),
        (r#"{"headers":{"X-Api-Key":"plainwords"}}"#, "plainwords"),
        (
            r#"{"headers":{"x-functions-key":"plainwords"}}"#,
            "plainwords",
        ),
        (r#"{"cookies":{"sid":"winter99x"}}"#, "winter99x"),
        (
            r#"{"cookies":[{"name":"sid","value":"winter99x","path":"/"}]}"#,
            "winter99x",
        ),
        (
            r#"{"set-cookie":["a=darkest9; Path=/","sid=plainwords; Path=/"]}"#,
            "plainwords",
        ),
        (
            r#"{"argv":["curl","-d","password=plainwords"]}"#,
            "plainwords",
        ),
        (r#"{"argv":["curl","-uann:swordfish"]}"#, "swordfish"),
        (
            r#"{"argv":["keytool","-storepass","plain\"words"]}"#,
            "words",
        ),
        (
            r#"{"argv":["setx","DB_PASSWORD","plainwords"]}"#,
            "plainwords",
        ),
        (r#"{"argv":["tool","--password=winter words"]}"#, "words"),
        (r#"{"password":"p4ss/w0rd"}"#, "p4ss"),
        (
            r#"{"argv":["mysql","-u","root","-pplainwords"]}"#,
            "plainwords",
        ),
        (
            r#"{"argv":["sshpass","-p","two words","ssh"]}"#,
            "two words",
        ),
        (r#"{"argv":["curl","-u","ann:swordfish"]}"#, "swordfish"),
        (
            r#"{"argv":["tool","--password","swordfish","x"]}"#,
            "swordfish",
        ),
        (
            r#"{"headers":[["Authorization","Bearer opaque-tok3n"]]}"#,
            "opaque",
        ),
        (
            r#"{"arguments":"{\"env\":\"{\\\"api_key\\\":\\\"a8f3k2m9q1z7\\\"}\"}"}"#,
            "a8f3k2",
        ),
        (
            r#"{"content":"{\"command\":[\"tool\",\"--password\",\"swordfish\"]}"}"#,
            "swordfish",
        ),
    ] {
        let out = json(text);
        assert!(!out.contains(gone) && out.contains("⟦secret:"), "{out}");
        assert!(
            serde_json::from_str::<serde_json::Value>(&out).is_ok(),
            "{out}"
        );
        assert_eq!(json(&out), out);
    }
    for text in [
        r#"{"properties":{"password":{"type":"string","description":"the password of the user"}},"required":["password"]}"#,
        r#"{"usage":{"total_tokens":12},"key":"b3:1a2b3c4d5e6f","signature":"ErUBCkYIAxgCIkBa1b2c3d4e5f6","password":"secret"}"#,
        r#"{"name":"get_token","description":"reads a token","password":12345678}"#,
        r#"{"cookies":{"title":"Preferences","accept":"Accept","version":"0.7.2"},"argv":["curl","-d","password=$PW","-storepass"]}"#,
    ] {
        assert_eq!(json(text), text);
    }
}

#[test]
fn words_of_a_command_are_masked_with_the_option_before_them() {
    let redactor = Redactor::new([7; 32], []);
    let words = |words: &[&str]| {
        redactor.mask_words(
            &words
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>(),
        )
    };
    let out = words(&[
        "python3",
        "a.py",
        "--password",
        "swordfish",
        "--user",
        "ann",
        "--token=plainly",
        "A_SECRET=plainword",
    ]);
    assert!(
        out[3].starts_with('⟦')
            && out[5] == "ann"
            && out[6].starts_with("--token=⟦")
            && out[7].starts_with("A_SECRET=⟦"),
        "{out:?}"
    );
    let out = words(&["docker", "login", "-u", "ann", "-p", "plainwords", "r.io"]);
    assert!(
        out[5].starts_with('⟦') && out[3] == "ann" && out[6] == "r.io",
        "{out:?}"
    );
    assert!(words(&["mysqldump", "-uroot", "-pplainwords", "db"])[2].starts_with("-p⟦"));
    assert_eq!(
        words(&["docker", "run", "-p", "8080:80", "-pa", "x"]),
        ["docker", "run", "-p", "8080:80", "-pa", "x"]
    );
    assert_eq!(
        words(&["x", "--password", "--verbose"]),
        ["x", "--password", "--verbose"]
    );
}

/// Random texts of parts that masks inspect: once masked, a text stays as it is.
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
        "name",
        "value",
        "default",
        "mysql -p",
        "sshpass -p ",
        "login ann password ",
        "| ",
        "\"\"\"",
        " two words",
        "X-Api-Key",
        "eyJhbGciOiJIUzI1NiJ9.eyJhQjNkRTVnSDdqSzltTjFwUTNz.aB3dE5gH7jK9mN1pQ3sT5vW7",
        "é",
        "…",
        "$",
        "/",
    ];
    let redactor = Redactor::new([7; 32], ["known-secret-value".to_owned()]);
    let mut state = 11_u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    for _ in 0..20_000 {
        let text: String = (0..=random(14))
            .map(|_| parts[random(parts.len())])
            .collect();
        let once = redactor.mask_text(&text).0;
        assert!(!once.contains("known-secret-value"), "{text}\n{once}");
        assert_eq!(redactor.mask_text(&once).0, once, "{text}");
    }
}
