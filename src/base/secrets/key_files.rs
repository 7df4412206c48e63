//! Files that hold keys or credentials, recognised by their names and by their texts, so that no agent is shown one.
//!
//! Names are compared without regard to case. A document or a source file that is about secrets (`docs/secrets.md`, `secrets.py`) is none.

use super::environment::assignment;
use super::known_forms::keys_of_services;
use super::names::{is_placeholder, is_secret_name};
use std::borrow::Cow;

/// Whole names, in small letters.
const NAMES: &[&str] = &[
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

/// How names end, in small letters.
const ENDINGS: &[&str] = &[
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

/// How names begin, in small letters, with what follows a whole name in a copy (`id_rsa.old`) and how files of service accounts are named.
const BEGINNINGS: &[&str] = &[
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

/// Folders whose files are credentials, in small letters.
const FOLDERS: &[&str] = &[".aws", ".azure", ".docker", ".gnupg", ".kube", ".ssh"];

/// First parts of names that tell a file of secrets from others if it is no document and no source file.
const STEMS: &[&str] = &[
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

/// What follows such a part in the name of a file of values; with nothing behind it, it is one, too.
const VALUES: &[&str] = &[
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

/// Whether the path of a file, with `/` between its parts, names a key, a credential or a file of environment variables.
pub fn is_key_file(path: &str) -> bool {
    let path: Cow<'_, str> =
        if path.bytes().any(|byte| byte.is_ascii_uppercase()) { path.to_ascii_lowercase().into() } else { path.into() };
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or("");
    let is_environment = || {
        let behind = name.strip_prefix(".env");
        behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(['.', '-', '_']))
    };
    let is_values = || {
        let (stem, behind) = name.trim_start_matches('.').split_once('.').unwrap_or((name.trim_start_matches('.'), ""));
        STEMS.contains(&stem) && (behind.is_empty() || behind.rsplit('.').next().is_some_and(|ending| VALUES.contains(&ending)))
    };
    is_environment()
        || NAMES.contains(&name)
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning) && !is_written(name))
        || is_values()
        || parts.any(|folder| FOLDERS.contains(&folder))
}

/// Whether a name is that of a document or a source file, such as `service-account.md`.
fn is_written(name: &str) -> bool {
    const WRITTEN: &[&str] = &["adoc", "go", "html", "java", "js", "md", "mdx", "py", "rb", "rs", "rst", "ts"];
    name.rsplit_once('.').is_some_and(|(_, ending)| WRITTEN.contains(&ending))
}

/// Returns whether a text is a key, has a private key or a key of a known service in it, or is mostly lines that give secrets their values. A key
/// that is written as an example is none.
pub fn holds_key(text: &str) -> bool {
    has_private_key(text) || is_assignments(text) || keys_of_services(text).any(|key| !is_placeholder(key))
}

/// Whether a private key stands in a text. A text that only names the first line of one, as source files do, has none.
fn has_private_key(text: &str) -> bool {
    /// Characters of base64 in the shortest first line of a key.
    const LINE: usize = 40;
    let begins = text.trim_start();
    if begins.starts_with("PuTTY-User-Key-File-") {
        return true;
    }
    let is_packed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let run = |text: &str| text.bytes().take_while(|byte| is_packed(*byte)).count();
    let follows = |at: usize| text.get(at..).unwrap_or("");
    let age = memchr::memmem::find_iter(text.as_bytes(), b"AGE-SECRET-KEY-1").any(|at| run(follows(at + 15)) >= LINE);
    age || memchr::memmem::find_iter(text.as_bytes(), b"PRIVATE KEY").any(|at| {
        let line = text.get(..at).and_then(|before| before.rsplit('\n').next()).unwrap_or("");
        let Some((_, rest)) = follows(at).split_once("-----").filter(|(label, _)| label.len() <= 24) else { return false };
        // Line ends may be written as escapes, and lines may have quotes and signs of comments around them.
        let mut rest = rest;
        for _ in 0..8 {
            let skipped = rest.trim_start_matches(|c: char| c.is_whitespace() || "\"'`+>#|,".contains(c));
            let skipped = ["\\r", "\\n"].iter().fold(skipped, |rest, escape| rest.strip_prefix(escape).unwrap_or(rest));
            // What stands before a key with a password: `Proc-Type: 4,ENCRYPTED`.
            let head = skipped.split(['\n', '\\']).next().unwrap_or("");
            let is_header = head.split_once(": ").is_some_and(|(name, _)| name.len() <= 16 && !name.contains(' '));
            let next = if is_header { skipped.get(head.len()..).unwrap_or("") } else { skipped };
            if next.len() == rest.len() {
                break;
            }
            rest = next;
        }
        line.contains("-----BEGIN ") && run(rest) >= LINE
    })
}

/// Whether a text is mostly lines `NAME=value`, with a secret among them.
fn is_assignments(text: &str) -> bool {
    let (mut lines, mut assignments, mut secrets) = (0_usize, 0_usize, 0_usize);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])) {
        lines += 1;
        if let Some((name, value)) = assignment(line) {
            assignments += 1;
            secrets += usize::from(is_secret_name(name) && !is_placeholder(value) && is_literal(value));
        }
        // A file of another kind shows itself soon.
        if lines == 50 && assignments * 2 < lines {
            return false;
        }
    }
    secrets > 0 && assignments * 5 >= lines * 4
}

/// Returns whether a value may be a secret in place: neither words, as those of an enumeration are, nor code that looks one up.
fn is_literal(value: &str) -> bool {
    let is_code = value.contains(['(', '[', '{']) && value.contains([')', ']', '}']);
    let is_word = |part: &str| {
        let rest = part.get(1..).unwrap_or("");
        part.bytes().all(|byte| byte.is_ascii_alphabetic())
            && (rest.bytes().all(|byte| byte.is_ascii_lowercase()) || part.bytes().all(|byte| byte.is_ascii_uppercase()))
    };
    !is_code && !value.split([' ', '_', '-']).all(is_word)
}

#[cfg(test)]
#[path = "../../../tests/unit/base/secrets/key_files.rs"]
mod tests;
