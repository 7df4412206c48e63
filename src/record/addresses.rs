//! Secrets in URLs: passwords before a host and parameters with secret names; and secrets in
//! headers.
//!
//! Sends nothing and reads no project.

use super::escapes::unescape_once;
use crate::base::secrets::known_forms::run_length;
use crate::base::secrets::names::name_strength;

/// Lower-case endings of header and parameter names whose values are always secrets. URLs without
/// these parameters are part of a call's key, so the list must not change.
const SECRET_NAME_ENDINGS: [&str; 7] = [
    "authorization",
    "key",
    "token",
    "secret",
    "password",
    "signature",
    "sig",
];

/// Returns true if the values of headers and parameters with this name are secrets.
fn has_secret_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    SECRET_NAME_ENDINGS.iter().any(|end| lower.ends_with(end))
}

/// Returns the secrets in a header: the credential of `Bearer KEY`, each value of a cookie.
pub(super) fn header_secrets<'v>(name: &str, value: &'v str) -> Vec<&'v str> {
    if name.to_ascii_lowercase().ends_with("cookie") {
        return value
            .split(';')
            .filter_map(|pair| pair.split_once('='))
            .map(|(_, value)| value.trim())
            .collect();
    }
    value
        .split_whitespace()
        .last()
        .filter(|_| has_secret_name(name) || name_strength(name).is_some())
        .into_iter()
        .collect()
}

/// Returns the query of a URL without its secrets, `?` included unless empty, and the secrets.
pub(super) fn split_secrets(query: &str) -> (String, Vec<String>) {
    let parameters = query.split('&').filter(|one| !one.is_empty());
    let (hidden, rest): (Vec<&str>, Vec<&str>) =
        parameters.partition(|one| has_secret_name(one.split('=').next().unwrap_or(one)));
    let secrets = hidden
        .iter()
        .filter_map(|one| one.split_once('='))
        .flat_map(|(_, value)| [Some(value.to_owned()), unescape_once(value)]);
    (
        if rest.is_empty() {
            String::new()
        } else {
            format!("?{}", rest.join("&"))
        },
        secrets.flatten().collect(),
    )
}

/// Returns the length of the user name and password before the host of a URL. Outside web schemes,
/// the password may contain `/` and `#`.
pub(super) fn login_length(head: &str, text: &str) -> Option<usize> {
    let is_web = !head.ends_with("://")
        || ["http://", "https://", "ssh://"]
            .iter()
            .any(|scheme| head.ends_with(scheme));
    let len = run_length(
        text.get(..text.floor_char_boundary(256)).unwrap_or(text),
        |byte| {
            !(byte.is_ascii_whitespace()
                || b"\"'<>?".contains(&byte)
                || is_web && b"/#".contains(&byte))
        },
    );
    let all = text.get(..len)?.split("://").next()?;
    let (user, rest) = all
        .split_once(':')
        .filter(|(user, _)| !user.contains(['/', '#']))?;
    if user.starts_with('⟦') || rest.starts_with('⟦') {
        return None;
    }
    // `host:5432/`
    let digits = run_length(rest, |byte| byte.is_ascii_digit());
    if !user.is_empty()
        && (1..=5).contains(&digits)
        && rest
            .get(digits..)
            .is_some_and(|rest| rest.starts_with(['/', '@', '#']))
    {
        return None;
    }
    let is_host = |rest: &str| {
        let host = run_length(rest, |byte| {
            byte.is_ascii_alphanumeric() || b".-_".contains(&byte)
        });
        let port = rest
            .get(host..)
            .unwrap_or("")
            .strip_prefix(':')
            .map(|rest| rest.split(['/', ',']).next().unwrap_or(rest));
        let ends = matches!(rest.as_bytes().get(host), None | Some(b'/' | b','))
            || port.is_some_and(|port| port.parse::<u16>().is_ok());
        ends && rest.starts_with(|c: char| c.is_ascii_alphanumeric())
    };
    let ends = |(at, _): &(usize, &str)| {
        let (password, host) = (
            rest.get(..*at).unwrap_or(""),
            rest.get(at + 1..).unwrap_or(""),
        );
        !password.contains(['/', '#']) || *at <= 128 && is_host(host)
    };
    let password = rest.get(..rest.rmatch_indices('@').find(ends)?.0)?;
    // `user:password`
    if rest.starts_with(':')
        || user.starts_with(['[', ']']) && is_one_of("password passwd pass pw", password)
    {
        return None;
    }
    is_login(user, password).then_some(user.len() + 1 + password.len())
}

fn is_one_of(words: &str, word: &str) -> bool {
    words.split(' ').any(|one| one.eq_ignore_ascii_case(word))
}

/// Returns true if a user name and password are neither references nor generic words.
fn is_login(user: &str, password: &str) -> bool {
    // `$PASSWORD`, `$password` behind `$user`, `${PASSWORD}`, `{password}`, `%s`, `***`
    let is_name = |name: &str| {
        name.bytes()
            .all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_') || user.starts_with('$'))
    };
    let bare = password.trim_start_matches(['$', '%']);
    let is_empty = matches!(bare.bytes().next(), Some(b'{' | b'('))
        && bare.ends_with(['}', ')', 's'])
        || password == "%s"
        || ["<", "&lt;", "YOUR_"]
            .iter()
            .any(|open| password.starts_with(open))
        || password.bytes().all(|byte| b"*.+".contains(&byte))
        || password.strip_prefix('$').is_some_and(is_name);
    let names_both = is_one_of(
        "user username usr u name login id",
        user.trim_start_matches(['[', ']']),
    ) && is_one_of("pass password passwd pw pwd p secret", password);
    !is_empty && !names_both
}

/// The length of the name and password before `@` of an address without `//`:
/// `user:password@tcp(host)`, `jdbc:oracle:thin:user/password@host`.
pub(super) fn driver_login_length(head: &str, rest: &str) -> Option<usize> {
    let word = head
        .rsplit(|sign: char| sign.is_whitespace() || "\"'`<>⟧".contains(sign))
        .next()?;
    let is_variable = |name: &str| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let (login, sign) = if ["tcp(", "unix("]
        .iter()
        .any(|protocol| rest.starts_with(protocol))
    {
        (
            word.split_once('=')
                .filter(|(name, _)| is_variable(name))
                .map_or(word, |(_, login)| login),
            ':',
        )
    } else {
        (word.rsplit_once("jdbc:oracle:")?.1.split_once(':')?.1, '/')
    };
    let (user, password) = login.split_once(sign).filter(|_| !login.contains("//"))?;
    (!user.is_empty() && password.len() >= 4 && is_login(user, password)).then_some(login.len())
}
