//! The files that hold keys, by their names and by their texts.

use super::{holds_key, is_key_file};

#[test]
fn keys_credentials_and_environment_files_are_known_by_their_names() {
    for name in [
        "id_rsa",
        "home/ID_RSA",
        "id_rsa.bak",
        "id_ed25519-work",
        "tls/server.KEY",
        "certs/prod.pem",
        "a.p12",
        "a.pfx",
        "release.jks",
        "app.keystore",
        "team.kdbx",
        ".netrc",
        ".npmrc",
        ".pypirc",
        ".pgpass",
        "credentials",
        "Credentials.json",
        "config/credentials.yml.enc",
        "service-account-prod.json",
        "my-service-account.json",
        ".env",
        ".env.production",
        ".env_local",
        ".flaskenv",
        "worker/.dev.vars",
        "deploy/prod.env",
        "terraform.tfvars",
        "x.auto.tfvars.json",
        "terraform.tfstate.backup",
        ".htpasswd",
        ".git-credentials",
        "kubeconfig",
        "secrets.yaml",
        "config/secrets.prod.json",
        "passwords.txt",
        ".ssh/config",
        "backup/.aws/config",
        "wp-config.php",
    ] {
        assert!(is_key_file(name), "{name}");
    }
    for name in [
        "docs/secrets.md",
        "src/secrets.rs",
        "lib/credentials.py",
        "docs/service-account.md",
        "environment.ts",
        "env.d.ts",
        "keys.md",
        "keyboard.rs",
        "src/key.rs",
        "tokens.css",
        "passwords/README.md",
        "config.json",
        "monkey.txt",
        "id_rsa_notes.md",
    ] {
        assert!(!is_key_file(name), "{name}");
    }
}

/// A key's lines, put together here so that no scanner takes this file for one.
fn private_key(end: &str) -> String {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
    let (begin, close) = (
        concat!("-----BEGIN RSA PRIV", "ATE KEY-----"),
        concat!("-----END RSA PRIV", "ATE KEY-----"),
    );
    [begin, end, line, end, line, end, close].concat()
}

#[test]
fn keys_are_known_by_their_texts() {
    assert!(holds_key(&private_key("\n")));
    assert!(holds_key(&format!(
        "# Notes\n\nThe key of the host:\n\n    {}",
        private_key("\n    ")
    )));
    assert!(holds_key(&format!(
        r#"{{"type": "service_account", "private_key": "{}"}}"#,
        private_key("\\n")
    )));
    assert!(holds_key(&private_key("\n").replacen(
        "KEY-----\n",
        "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n",
        1
    )));
    assert!(holds_key("PuTTY-User-Key-File-3: ssh-ed25519\n"));
    assert!(holds_key(concat!(
        "AGE-SECRET-",
        "KEY-1QYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQ"
    )));
    assert!(holds_key(
        "# of the shop\nSTRIPE_SECRET_KEY=dGhpcyBpcyBh\nexport DB_PASSWORD='hunter2 and more'\nPORT=80\n"
    ));
}

#[test]
fn texts_about_keys_hold_none() {
    for text in [
        "A key begins with `-----BEGIN RSA PRIVATE KEY-----`, and a certificate does not.\n",
        "let begin = \"-----BEGIN PRIVATE KEY-----\\nMIIE...\";\n",
        "-----BEGIN PUBLIC KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n",
        "API_KEY=<your key>\nDB_PASSWORD=changeme\nPORT=80\n",
        "PORT=80\nHOST=localhost\nDEBUG=true\n",
        "# Configuration\n\nSet `API_KEY` and start:\n\nAPI_KEY=abcdef012345 npm start\n\nThen open the page.\nIt shows all.\n",
        "let token = next_token();\nlet rest = tail;\nif token == rest { return; }\n",
        "",
    ] {
        assert!(!holds_key(text), "{text}");
    }
}

#[test]
fn a_document_with_a_key_of_a_service_holds_a_key_and_an_example_of_one_does_not() {
    let key = concat!("gh", "p_", "x7Kq2mVb9TzR4wYcN1sD8fGhJ3kLpQ6a5EuX");
    assert!(holds_key(&format!("# Deploys\n\nUse `{key}` to push.\n")));
    assert!(!holds_key(
        "# Deploys\n\nUse `AKIAIOSFODNN7EXAMPLE` as AWS does, and a token that begins with `ghp_`.\n"
    ));
}

#[test]
fn a_source_file_that_looks_its_secrets_up_holds_none() {
    let settings = "import os\nDEBUG = False\nDATABASE_URL = os.environ[\"DATABASE_URL\"]\nSECRET_KEY = os.environ[\"SECRET_KEY\"]\n\
                    STRIPE_KEY = os.getenv(\"STRIPE_KEY\")\nPAGE_SIZE = 20\n";
    assert!(!holds_key(settings));
    assert!(!holds_key(
        "PASSWORD = \"password\"\nTOKEN = \"token\"\nEOF_TOKEN = \"end of file\"\n"
    ));
    assert!(holds_key("DB_HOST=db\nDB_PASSWORD=Zebra-99x\n"));
}
