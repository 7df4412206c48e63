//! Recognises files that contain keys or credentials by their names and texts, so that no agent
//! receives one.
//!
//! Names are compared without regard to case. Documentation and source files about secrets
//! (`docs/secrets.md`, `secrets.py`) are not key files.

use super::environment::parse_assignment;
use super::known_forms::keys_of_services;
use super::names::{is_placeholder, is_secret_name};
use std::borrow::Cow;

/// Complete names, in lower case.
const KEY_FILE_NAMES: &[&str] = &[
    ".boto",
    ".dev.vars",
    ".dockercfg",
    ".envrc",
    ".flaskenv",
    ".git-credentials",
    ".htpasswd",
    ".my.cnf",
    ".mylogin.cnf",
    ".netrc",
    ".npmrc",
    ".passwd-s3fs",
    ".pgpass",
    ".pypirc",
    ".s3cfg",
    ".terraformrc",
    ".vault-token",
    ".yarnrc.yml",
    "_netrc",
    "application_default_credentials.json",
    "auth.json",
    "client_secret.json",
    "credentials.tfrc.json",
    "htpasswd",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "id_rsa",
    "id_xmss",
    "kubeconfig",
    "pgpass.conf",
    "terraform.rc",
    "wp-config.php",
    "krb5.keytab",
];

/// Endings of names, in lower case.
const KEY_FILE_ENDINGS: &[&str] = &[
    ".agekey",
    ".bks",
    ".env",
    ".jceks",
    ".jks",
    ".kdb",
    ".kdbx",
    ".key",
    ".keychain",
    ".keystore",
    ".keytab",
    ".kubeconfig",
    ".ovpn",
    ".p12",
    ".p8",
    ".pem",
    ".pfx",
    ".pkcs12",
    ".ppk",
    ".pvk",
    ".tfstate",
    ".tfstate.backup",
    ".tfvars",
    ".tfvars.json",
    ".truststore",
    "-service-account.json",
    "_service_account.json",
];

/// Beginnings of names, in lower case, including those of copies (`id_rsa.old`) and of service
/// account files.
const KEY_FILE_BEGINNINGS: &[&str] = &[
    "id_rsa.",
    "id_rsa_",
    "id_rsa-",
    "id_dsa.",
    "id_ecdsa.",
    "id_ed25519.",
    "id_ed25519_",
    "id_ed25519-",
    "client_secret_",
    "service-account",
    "service_account",
];

/// Folders whose files are credentials, in lower case.
const KEY_FOLDERS: &[&str] = &[".aws", ".azure", ".docker", ".gnupg", ".kube", ".ssh"];

/// First parts of names that mark a file of secrets, unless it is documentation or a source file.
const SECRET_STEMS: &[&str] = &[
    "credential",
    "credentials",
    "htpasswd",
    "passwd",
    "password",
    "passwords",
    "secret",
    "secrets",
    "secring",
    "service-account",
    "serviceaccount",
    "vault_pass",
];

/// Extensions behind such a part that mark a file of values; a name without an extension is one,
/// too.
const VALUE_EXTENSIONS: &[&str] = &[
    "bak",
    "cfg",
    "conf",
    "csv",
    "db",
    "enc",
    "env",
    "gpg",
    "ini",
    "json",
    "json5",
    "jsonc",
    "local",
    "old",
    "plist",
    "prod",
    "production",
    "properties",
    "sops",
    "sqlite",
    "toml",
    "tsv",
    "txt",
    "xml",
    "yaml",
    "yml",
];

/// Returns true if the path of a file, with `/` between its parts, names a key, a credential or a
/// file of environment variables.
pub fn is_key_file(path: &str) -> bool {
    let path: Cow<'_, str> = if path.bytes().any(|byte| byte.is_ascii_uppercase()) {
        path.to_ascii_lowercase().into()
    } else {
        path.into()
    };
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or("");
    let is_environment = || {
        let behind = name.strip_prefix(".env");
        behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(['.', '-', '_']))
    };
    let is_values = || {
        let (stem, behind) = name
            .trim_start_matches('.')
            .split_once('.')
            .unwrap_or((name.trim_start_matches('.'), ""));
        SECRET_STEMS.contains(&stem)
            && (behind.is_empty()
                || behind
                    .rsplit('.')
                    .next()
                    .is_some_and(|ending| VALUE_EXTENSIONS.contains(&ending)))
    };
    is_environment()
        || KEY_FILE_NAMES.contains(&name)
        || KEY_FILE_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || KEY_FILE_BEGINNINGS
            .iter()
            .any(|beginning| name.starts_with(beginning) && !is_prose_or_source(name))
        || is_values()
        || parts.any(|folder| KEY_FOLDERS.contains(&folder))
}

/// Returns true if a name is that of documentation or a source file, such as `service-account.md`.
fn is_prose_or_source(name: &str) -> bool {
    const WRITTEN: &[&str] = &[
        "adoc", "go", "html", "java", "js", "md", "mdx", "py", "rb", "rs", "rst", "ts",
    ];
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| WRITTEN.contains(&ending))
}

/// Returns true if a text is a key, contains a private key or a key of a known service, or consists
/// mostly of lines that assign secrets. A placeholder is not a key.
pub fn holds_key(text: &str) -> bool {
    has_private_key(text)
        || is_mostly_assignments(text)
        || keys_of_services(text).any(|key| !is_placeholder(key))
}

/// Returns true if a text contains a private key. The header line alone, as in source files, is not
/// one.
fn has_private_key(text: &str) -> bool {
    /// Characters of base64 in the shortest first line of a key.
    const MIN_KEY_LINE: usize = 40;
    let begins = text.trim_start();
    if begins.starts_with("PuTTY-User-Key-File-") {
        return true;
    }
    let is_packed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let run = |text: &str| text.bytes().take_while(|byte| is_packed(*byte)).count();
    let follows = |at: usize| text.get(at..).unwrap_or("");
    let age = memchr::memmem::find_iter(text.as_bytes(), b"AGE-SECRET-KEY-1")
        .any(|at| run(follows(at + 15)) >= MIN_KEY_LINE);
    age || memchr::memmem::find_iter(text.as_bytes(), b"PRIVATE KEY").any(|at| {
        let line = text
            .get(..at)
            .and_then(|before| before.rsplit('\n').next())
            .unwrap_or("");
        let Some((_, rest)) = follows(at)
            .split_once("-----")
            .filter(|(label, _)| label.len() <= 24)
        else {
            return false;
        };
        // Line ends may be written as escapes, and lines may have quotes and comment characters
        // around them.
        let mut rest = rest;
        for _ in 0..8 {
            let skipped =
                rest.trim_start_matches(|c: char| c.is_whitespace() || "\"'`+>#|,".contains(c));
            let skipped = ["\\r", "\\n"].iter().fold(skipped, |rest, escape| {
                rest.strip_prefix(escape).unwrap_or(rest)
            });
            // A header of a key with a password: `Proc-Type: 4,ENCRYPTED`.
            let head = skipped.split(['\n', '\\']).next().unwrap_or("");
            let is_header = head
                .split_once(": ")
                .is_some_and(|(name, _)| name.len() <= 16 && !name.contains(' '));
            let next = if is_header {
                skipped.get(head.len()..).unwrap_or("")
            } else {
                skipped
            };
            if next.len() == rest.len() {
                break;
            }
            rest = next;
        }
        line.contains("-----BEGIN ") && run(rest) >= MIN_KEY_LINE
    })
}

/// Returns true if a text consists mostly of lines `NAME=value` with a secret among them.
fn is_mostly_assignments(text: &str) -> bool {
    let (mut lines, mut assignments, mut secrets) = (0_usize, 0_usize, 0_usize);
    for line in text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with(['#', ';']))
    {
        lines += 1;
        if let Some((name, value)) = parse_assignment(line) {
            assignments += 1;
            secrets +=
                usize::from(is_secret_name(name) && !is_placeholder(value) && is_literal(value));
        }
        // The first 50 lines suffice to detect a file of another kind.
        if lines == 50 && assignments * 2 < lines {
            return false;
        }
    }
    secrets > 0 && assignments * 5 >= lines * 4
}

/// Returns true if a value may be a literal secret: neither words, as in an enumeration, nor code
/// that looks one up.
fn is_literal(value: &str) -> bool {
    let is_code = value.contains(['(', '[', '{']) && value.contains([')', ']', '}']);
    let is_word = |part: &str| {
        let rest = part.get(1..).unwrap_or("");
        part.bytes().all(|byte| byte.is_ascii_alphabetic())
            && (rest.bytes().all(|byte| byte.is_ascii_lowercase())
                || part.bytes().all(|byte| byte.is_ascii_uppercase()))
    };
    !is_code && !value.split([' ', '_', '-']).all(is_word)
}

#[cfg(test)]
#[path = "../../../tests/unit/base/secrets/key_files.rs"]
mod tests;
