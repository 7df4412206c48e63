//! Names in other fields than their values: `name: DB_PASSWORD` next to `value: …`, `password:
//! {default: …}`, and `cookies: {…}`.

use crate::base::secrets::names::name_strength;

/// Keys of a value whose name is in another field.
pub(super) const VALUE_KEYS: [&str; 3] = ["value", "default", "const"];
/// Keys of that name.
pub(super) const NAME_KEYS: [&str; 2] = ["name", "key"];
/// The number of bytes around a key that are searched for its name.
pub(super) const MAX_OWNER_DISTANCE: usize = 320;

/// Returns true for a character of a name.
fn is_name_sign(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-' | '.')
}

/// The name given to the values in an object of cookies.
pub(super) const COOKIE_NAME: &str = "cookie_pass";

/// Returns true if the parent of a key contains cookies, not the metadata of a package with that
/// name.
pub(super) fn is_cookie_field(holder: &str, key: &str) -> bool {
    let ending = holder.get(holder.len().saturating_sub(7)..).unwrap_or("");
    ending.eq_ignore_ascii_case("cookies")
        && !is_key(
            &[
                "integrity",
                "resolved",
                "license",
                "version",
                "domain",
                "path",
            ],
            key,
        )
}

/// Returns true if a key is in a list, ignoring case.
pub(super) fn is_key(list: &[&str], key: &str) -> bool {
    list.iter().any(|one| key.eq_ignore_ascii_case(one))
}

/// Returns the secret's name that the value of a key such as `value` belongs to: from a
/// neighbouring field, or from the parent. `head` is the text before the key and `rest` the text
/// after it.
pub(super) fn find_owner<'t>(key: &str, head: &'t str, rest: &'t str) -> Option<&'t str> {
    if head.ends_with(['"', '\''])
        && last_name(text_before_bracket(head, '{'))
            .is_some_and(|holder| is_cookie_field(holder, key))
    {
        return Some(COOKIE_NAME);
    }
    if !is_key(&VALUE_KEYS, key) {
        return None;
    }
    let opens = head.rfind(['{', '}', '<', '>']);
    let (outer, fields) = head.split_at(opens.map_or(0, |at| at + 1));
    let in_braces = outer.ends_with(['{', '<']);
    let fields = if in_braces { fields } else { last_item(fields) };
    let behind = || {
        let rest = rest
            .get(..rest.floor_char_boundary(MAX_OWNER_DISTANCE))
            .unwrap_or(rest);
        let fields = rest.split(['}', '>']).next().unwrap_or("");
        in_braces
            .then(|| secret_names(fields).into_iter().next())
            .flatten()
    };
    let beside = secret_names(fields).pop().or_else(behind);
    beside.or_else(|| {
        if in_braces {
            last_name(outer.trim_end_matches('{'))
        } else {
            parent_key(head)
        }
    })
}

/// Returns the text before the innermost open object or list.
pub(super) fn text_before_bracket(head: &str, bracket: char) -> &str {
    let open = head.rfind(['{', '}', '[', ']']).and_then(|at| {
        head.get(..at)
            .filter(|_| head.get(at..).is_some_and(|rest| rest.starts_with(bracket)))
    });
    open.unwrap_or("")
}

/// Returns the lines of the last item of a YAML list.
fn last_item(fields: &str) -> &str {
    let is_item = |at: &usize| {
        fields
            .get(..*at)
            .is_some_and(|head| head.trim_end_matches([' ', '\t', '#']).ends_with('\n'))
    };
    let at = fields.rmatch_indices("- ").map(|(at, _)| at).find(is_item);
    fields.get(at.unwrap_or(0)..).unwrap_or("")
}

/// Returns the values of fields such as `name` that name a secret, in order: `API_KEY` in
/// `name: API_KEY`.
fn secret_names<'t>(fields: &'t str) -> Vec<&'t str> {
    let parts: Vec<&str> = fields.split([':', '=']).collect();
    let named = |(before, behind): (&&'t str, &&'t str)| {
        let behind = behind.trim_start_matches([' ', '\t', '"', '\'', '`']);
        let name = behind
            .split(|c| !is_name_sign(c))
            .next()
            .filter(|name| name_strength(name).is_some())?;
        last_name(before)
            .filter(|key| is_key(&NAME_KEYS, key))
            .map(|_| name)
    };
    parts
        .iter()
        .zip(parts.iter().skip(1))
        .filter_map(named)
        .collect()
}

/// Returns the name at the end of a text, without its sign and quotes.
pub(super) fn last_name(text: &str) -> Option<&str> {
    let text = text.trim_end_matches([' ', '\t', ':', '=', '"', '\'', '>']);
    text.rsplit(|c| !is_name_sign(c))
        .next()
        .filter(|name| !name.is_empty())
}

/// Returns the YAML key above the last, deeper lines of a text.
fn parent_key(head: &str) -> Option<&str> {
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let mut lines = head.rsplit('\n');
    let own = lines
        .next()
        .filter(|line| line.trim_start_matches(['-', ' ', '"', '\'']).is_empty())
        .map(indent)?;
    let above = lines.find(|line| !line.trim().is_empty() && indent(line) < own)?;
    last_name(above.trim_end().strip_suffix(':')?)
}
