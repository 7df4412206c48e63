//! What is replaced before a call reaches the disk: secrets by their value and by their form, personal data by its form.
//!
//! A placeholder such as `⟦email:3fa2⟧` is the same for the same value, and depends on a secret of the user's, so that nobody can try values
//! until one fits. Numbers are left alone: a card stands in a text.

use super::json_text::map_strings;
use super::recording::Redacted;
use crate::base::hash::Hasher;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The same of headers and of parameters in an address, in small letters.
const NAMES: [&str; 7] = ["authorization", "key", "token", "secret", "password", "signature", "sig"];
/// A secret of fewer characters would be found in other words: it is one where it is a word of its own, and has a letter and a digit.
const SECRET: usize = 8;
/// One of fewer characters is none.
const SHORT: usize = 4;
/// How keys of known services begin: which signs they have beside letters and digits, how many characters follow at least, and the beginnings.
/// By the published rules of gitleaks, and the pages of vendors.
const KEYS: [(&str, usize, &str); 8] = [
    ("", 16, "AKIA ASIA ABIA ACCA LTAI AKID rubygems_ CLOJARS_"),
    (
        "",
        30,
        "ghp_ gho_ ghu_ ghs_ ghr_ npm_ hf_ gsk_ r8_ sk_ dapi sbp_ xai- pplx- tvly- csk- fw_ PMAK- NRAK- dop_v1_ doo_v1_ dor_v1_",
    ),
    ("", 30, "shpat_ shpca_ shppa_ shpss_ lin_api_ ntn_ secret_ figd_ nfp_ re_ dckr_pat_ sntrys_ glsa_ squ_ sqp_ SK EAAC"),
    (
        "_-",
        16,
        "sk- rk- pk-lf- sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ whsec_ glpat- gldt- glrt- glptt- glcbt- gloas-",
    ),
    (
        "_-",
        16,
        "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp- GOCSPX- github_pat_ lsv2_ nvapi- tgp_v1_ pcsk_ jina_ pul- sb_secret_",
    ),
    ("_-", 30, "AIza pypi- hvs. hvb. ATATT3 ATBB ATCTT3 glc_ sq0csp- sq0atp- EAAA vercel_blob_rw_ AGE-SECRET-KEY- FLWSECK"),
    ("_-.=", 40, "eyJ SG. ya29. pscale_tkn_ pscale_pw_ pscale_oauth_ sl.B dp.pt. dp.st. ops_eyJ"),
    ("+/=", 40, "AccountKey= SharedAccessKey= SharedAccessSignature= /services/T"),
];

/// Replaces what must not be kept.
#[derive(Clone)]
pub struct Redactor {
    /// What placeholders depend on.
    salt: [u8; 32],
    /// The values of secrets, the longest first.
    values: Vec<String>,
    /// Whether personal data stay as they are.
    keeps_persons: bool,
    /// What a project wants replaced besides.
    own: Vec<Arc<dyn Find>>,
}

/// What must go of a text: where it stands, and what it is.
pub type Found = (Range<usize>, &'static str);

/// Bytes of letters, digits and `+/=_-` in a row from which on they are packed data: no key is as long, but for a web token.
const PACKED: usize = 400;

/// Layers of escapes that are read: JSON in a string of JSON in an address.
const LAYERS: usize = 4;

/// Finds what a project wants replaced besides.
pub trait Find: std::fmt::Debug + Send + Sync {
    /// Every place where it stands, in order; the whole text where nobody can look.
    fn all(&self, text: &str) -> Vec<Range<usize>>;
}

/// What is found by a pattern of the project.
const OWN: &str = "own";

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    /// Replaces these values wherever they stand, besides what has a known form.
    pub fn new(salt: [u8; 32], values: impl IntoIterator<Item = String>) -> Self {
        let has = |value: &str, is: fn(&char) -> bool| value.chars().any(|c| is(&c));
        let is_secret = |value: &String| {
            value.len() >= SECRET
                || value.len() >= SHORT && has(value, char::is_ascii_alphabetic) && has(value, char::is_ascii_digit)
        };
        let mut values: Vec<String> = values.into_iter().map(|value| value.trim().to_owned()).filter(is_secret).collect();
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Self { salt, values, keeps_persons: false, own: Vec::new() }
    }

    /// The same, which replaces secrets alone.
    #[must_use]
    pub fn keeping_persons(self) -> Self {
        Self { keeps_persons: true, ..self }
    }

    /// The same, which replaces personal data too.
    #[must_use]
    pub fn masking_persons(self) -> Self {
        Self { keeps_persons: false, ..self }
    }

    /// The same, which replaces more.
    #[must_use]
    pub fn replacing(self, own: Vec<Arc<dyn Find>>) -> Self {
        Self { own, ..self }
    }

    /// What stands for a value: the same for the same value.
    pub fn placeholder(&self, kind: &str, value: &str) -> String {
        let hash = Hasher::new().field(self.salt).field(kind).field(value).finish().to_string();
        format!("⟦{kind}:{}⟧", hash.get(3..7).unwrap_or_default())
    }

    /// Where a text has what must go, and what that is, in order: as it stands, and as it reads where JSON and addresses stand in it with
    /// their escapes, one within another.
    pub fn find(&self, text: &str) -> Vec<Found> {
        let mut all = self.scan(text);
        let mut view = unescaped(text, &|at| at);
        for _ in 0..LAYERS {
            let Some((plain, places)) = view else { break };
            let place = |at: usize| places.get(at).copied().unwrap_or(text.len());
            all.extend(self.scan(&plain).into_iter().map(|(range, kind)| (place(range.start)..place(range.end), kind)));
            view = unescaped(&plain, &place);
        }
        // The sign of an escape goes with the letter that it stands before, or what is left is no JSON any more.
        for (range, _) in &mut all {
            let before = text.get(..range.start).unwrap_or("");
            range.start -= (before.len() - before.trim_end_matches('\\').len()) % 2;
        }
        merged(all)
    }

    /// The same of a text as it stands.
    fn scan(&self, text: &str) -> Vec<Found> {
        let mut found = Vec::new();
        let mut before = ' ';
        let (mut at, mut row) = (0, 0..0);
        let mut own: Vec<Range<usize>> = self.own.iter().flat_map(|one| one.all(text)).collect();
        own.sort_by_key(|range| (range.start, range.end));
        let mut own = own.into_iter().peekable();
        while let Some((rest, first)) = text.get(at..).and_then(|rest| Some((rest, rest.chars().next()?))) {
            while own.next_if(|range| range.end <= at).is_some() {}
            if let Some(range) = own.next_if(|range| range.start <= at) {
                found.push((at..range.end, OWN));
                before = ' ';
                at = range.end;
                continue;
            }
            if at >= row.end {
                row = at..at + run(rest, |byte| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte));
            }
            let is_packed = row.len() > PACKED && at > row.start;
            let one = self.at((before, text.get(..at).unwrap_or(""), is_packed), rest);
            let one = one.filter(|(_, len)| *len > 0 && rest.is_char_boundary(*len));
            let Some((kind, len)) = one else {
                before = first;
                at += first.len_utf8();
                continue;
            };
            found.push((at..at + len, kind));
            before = ' ';
            at += len;
        }
        found
    }

    /// A text with everything replaced, and how much of each kind.
    pub fn text(&self, text: &str) -> (String, BTreeMap<&'static str, u64>) {
        let mut out = String::with_capacity(text.len());
        let mut counts = BTreeMap::new();
        let mut at = 0;
        for (range, kind) in self.find(text) {
            out.push_str(text.get(at..range.start).unwrap_or(""));
            out.push_str(&self.placeholder(kind, text.get(range.clone()).unwrap_or("")));
            *counts.entry(kind).or_default() += 1;
            at = range.end;
        }
        out.push_str(text.get(at..).unwrap_or(""));
        (out, counts)
    }

    /// A JSON text with the strings in it replaced; every other byte stays. Adds what was replaced, below `root`.
    pub fn json(&self, json: &str, root: &str, redacted: &mut Vec<Redacted>) -> String {
        map_strings(json, |_, pointer, text| {
            let (changed, counts) = self.text(text);
            let row = |(kind, count): (&&str, &u64)| Redacted {
                pointer: [root, pointer].concat(),
                kind: (*kind).to_owned(),
                count: *count,
            };
            redacted.extend(counts.iter().map(row));
            (!counts.is_empty()).then_some(changed)
        })
    }

    /// What a text begins with that has to go, and its bytes; in packed data, what is known by its value, and web tokens.
    fn at(&self, (before, head, is_packed): (char, &str, bool), text: &str) -> Option<(&'static str, usize)> {
        let is_word = |end: usize| {
            let after = text.get(end..).and_then(|rest| rest.chars().next());
            !before.is_ascii_alphanumeric() && !after.is_some_and(|c| c.is_ascii_alphanumeric())
        };
        let is_here = |value: &&String| text.starts_with(value.as_str()) && (value.len() >= SECRET || is_word(value.len()));
        if let Some(value) = self.values.iter().find(is_here) {
            return Some(("secret", value.len()));
        }
        // Many scripts write no blank between words.
        if before.is_ascii_alphanumeric() || is_packed && !text.starts_with("eyJ") && !text.starts_with("ops_eyJ") {
            return None;
        }
        let first = text.bytes().next()?;
        if let Some(len) = key(text).or_else(|| head.ends_with("//").then(|| in_address(head, text)).flatten()) {
            return Some(("secret", len));
        }
        if self.keeps_persons {
            return None;
        }
        if first.is_ascii_alphabetic()
            && let Some(len) = iban(text)
        {
            return Some(("iban", len));
        }
        // Digits behind a point are those of a fraction.
        let is_fraction = || before == '.' && head.trim_end_matches('.').ends_with(|c: char| c.is_ascii_digit());
        if first.is_ascii_digit()
            && let Some(len) = card(text)
            && !is_fraction()
        {
            return Some(("card", len));
        }
        if matches!(first, b'+' | b'(' | b'0'..=b'9')
            && let Some(len) = phone(before, text)
        {
            return Some(("phone", len));
        }
        if !matches!(before, '.' | '-' | '+' | '%' | '@')
            && let Some(len) = email(text)
        {
            return Some(("email", len));
        }
        None
    }
}

/// What was found in order, overlapping ones as one.
pub(super) fn merged(mut all: Vec<Found>) -> Vec<Found> {
    all.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let mut found: Vec<Found> = Vec::new();
    for (range, kind) in all {
        match found.last_mut().filter(|(last, _)| range.start < last.end) {
            Some((last, _)) => last.end = last.end.max(range.end),
            None => found.push((range, kind)),
        }
    }
    found
}

/// What a sign looks like: blanks and hyphens of typesetters, letters of full width; `None` for one that nobody sees.
fn plain(sign: char) -> Option<char> {
    match sign {
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => None,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => Some(' '),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Some('-'),
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(sign) - 0xfee0),
        _ => Some(sign),
    }
}

/// The sign that HTML writes so: `#64`, `#x40`, `nbsp`.
fn entity(name: &str) -> Option<char> {
    match name {
        "nbsp" => Some(' '),
        "commat" => Some('@'),
        "period" => Some('.'),
        _ => {
            let number = name.strip_prefix('#')?;
            let hex = number.strip_prefix(['x', 'X']).map(|hex| u32::from_str_radix(hex, 16));
            char::from_u32(hex.unwrap_or_else(|| number.parse()).ok()?)
        }
    }
}

/// A text with one layer of escapes read, and the place of each of its bytes; `None` where it has none.
fn unescaped(text: &str, place: &dyn Fn(usize) -> usize) -> Option<(String, Vec<usize>)> {
    // Those of JSON, of addresses and of HTML, and what letters with another look begin with.
    memchr::memchr3(b'\\', b'%', b'&', text.as_bytes()).or_else(|| memchr::memchr3(0xc2, 0xe2, 0xef, text.as_bytes()))?;
    let (mut read_text, mut places, mut at) = (String::with_capacity(text.len()), Vec::with_capacity(text.len() + 1), 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let hex = |skip: usize, len: usize| {
            let digits = rest.get(skip..skip + len).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
            u32::from_str_radix(digits, 16).ok()
        };
        // Half of a pair stands for no letter.
        let sign = |len: usize| hex(2, len).map(|code| (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 2 + len));
        let escape = match rest.as_bytes() {
            [b'%', ..] => {
                let coded = (0..4).map_while(|at| hex(3 * at + 1, 2).filter(|_| rest.as_bytes().get(3 * at) == Some(&b'%')));
                let bytes: Vec<u8> = coded.filter_map(|code| u8::try_from(code).ok()).collect();
                let whole = |len: usize| std::str::from_utf8(bytes.get(..len)?).ok()?.chars().next().map(|one| (one, 3 * len));
                (1..=bytes.len()).find_map(whole)
            }
            [b'&', name @ ..] => name.iter().take(9).position(|byte| *byte == b';').and_then(|end| {
                let name = rest.get(1..=end)?;
                Some((entity(name)?, end + 2))
            }),
            [b'\\', b'u', ..] => sign(4),
            [b'\\', b'x', ..] => sign(2),
            [b'\\', b'n' | b'r' | b't' | b'b' | b'f', ..] => Some(('\n', 2)),
            [b'\\', sign @ (b'"' | b'\'' | b'/' | b'\\'), ..] => Some((char::from(*sign), 2)),
            _ => None,
        };
        let first = rest.chars().next().unwrap_or(' ');
        let (one, len) = escape.unwrap_or((first, first.len_utf8()));
        read_text.extend(plain(one));
        places.resize(read_text.len(), place(at));
        at += len;
    }
    places.push(place(text.len()));
    (read_text.len() < text.len()).then_some((read_text, places))
}

/// Whether what a header or a parameter of this name holds is a secret.
fn is_secret(name: &str) -> bool {
    NAMES.iter().any(|end| name.to_ascii_lowercase().ends_with(end))
}

/// The secret in a header: of `Bearer KEY` what stands behind the word.
pub(super) fn of_header<'v>(name: &str, value: &'v str) -> Option<&'v str> {
    value.split_whitespace().last().filter(|_| is_secret(name))
}

/// The query of an address without its secrets, the `?` before it included where something is left, and those secrets.
pub(super) fn without_secrets(query: &str) -> (String, Vec<String>) {
    let parameters = query.split('&').filter(|one| !one.is_empty());
    let (hidden, rest): (Vec<&str>, Vec<&str>) = parameters.partition(|one| is_secret(one.split('=').next().unwrap_or(one)));
    let plain = |value: &str| unescaped(value, &|at| at).map(|(plain, _)| plain);
    let secrets =
        hidden.iter().filter_map(|one| one.split_once('=')).flat_map(|(_, value)| [Some(value.to_owned()), plain(value)]);
    (if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) }, secrets.flatten().collect())
}

/// Bytes that a text begins with and that are all taken.
fn run(text: &str, takes: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| takes(*byte)).count()
}

/// The word of letters, digits and these signs that a text begins with, without the points behind it.
fn word<'t>(text: &'t str, signs: &str) -> &'t str {
    let len = run(text, |byte| byte.is_ascii_alphanumeric() || signs.as_bytes().contains(&byte));
    text.get(..len).unwrap_or("").trim_end_matches('.')
}

/// Bytes that are looked at for what makes a word a key.
const LOOKED: usize = 1 << 14;

/// A private key with the lines around it; where its end is cut off, what looks like one. Who only names its first line has none.
fn pem(text: &str) -> Option<usize> {
    /// What stands before a key with a password.
    const HEADERS: [&str; 5] = ["Proc-Type:", "4,ENCRYPTED", "DEK-Info:", "AES-", "DES-"];
    let (label, body) = text.strip_prefix("-----BEGIN ")?.split_once("-----")?;
    if label.len() >= 64 || !label.contains("PRIVATE KEY") {
        return None;
    }
    let (begin, end) = (text.len() - body.len(), format!("-----END {label}-----"));
    if let Some(at) = body.get(..body.floor_char_boundary(LOOKED)).and_then(|near| near.find(&end)) {
        return Some(begin + at + end.len());
    }
    let (mut at, mut taken) = (begin, None);
    for part in body.split_inclusive(|c: char| c.is_ascii_whitespace()) {
        let line = part.trim_ascii_end();
        let packed = word(line, "+/=");
        let is_last = taken.is_some() && (packed.ends_with('=') || at + line.len() == text.len());
        if packed.len() >= 16 && !is_word(packed) || is_last && !packed.is_empty() {
            taken = Some(at + packed.len());
        } else if !line.is_empty() && !HEADERS.iter().any(|head| line.starts_with(head)) {
            break;
        }
        if packed.len() < line.len() && taken.is_some() {
            break;
        }
        at += part.len();
    }
    taken
}

/// Whether it is a word or a short one with digits (`spinner12`, `v2`, `4k`), and no part of a key.
fn is_word(part: &str) -> bool {
    let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = part.len() - letters.len();
    let is_plain = digits == 0 || digits <= 4 && part.len() < 16;
    !part.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
        && (part.len() < 8 || is_plain && letters.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

fn key(text: &str) -> Option<usize> {
    /// Bytes of the shortest key.
    const LEAST: usize = 20;
    if text.starts_with("-----BEGIN ") {
        return pem(text);
    }
    let begins = |most: usize| text.get(..text.floor_char_boundary(most)).unwrap_or(text);
    // Most words are shorter.
    if word(begins(LEAST), "_-.+/=:").len() < LEAST {
        return None;
    }
    let dotted = word(begins(128), "_-.");
    let parts: Vec<usize> = dotted.split('.').map(str::len).collect();
    if text.starts_with(['M', 'N', 'O']) && matches!(*parts, [23..=28, 6 | 7, 27..=45]) {
        return Some(dotted.len());
    }
    let bot = begins(128).split_once(":A");
    if let Some((id, rest)) = bot.filter(|(id, _)| (8..=10).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_digit())) {
        let len = word(rest, "_-").len();
        return (len >= 32).then_some(id.len() + 2 + len);
    }
    KEYS.iter().find_map(|(signs, least, heads)| {
        let head = heads.split(' ').find(|head| text.starts_with(head))?;
        let rest = word(begins(LOOKED).get(head.len()..)?, signs);
        let looked = rest.get(..64).unwrap_or(rest);
        let has_digit = looked.bytes().any(|byte| byte.is_ascii_digit());
        // A web token has two dots, and Twilio's keys are of one length; names are made of words.
        let is_key = match (head, *signs) {
            ("eyJ", _) => rest.matches('.').count() >= 2,
            ("SK", _) => rest.len() == 32 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()),
            (_, "") => *least < 30 || !is_word(looked),
            (_, "_-") => has_digit && !looked.split(['-', '_']).all(is_word),
            _ => has_digit,
        };
        (is_key && rest.len() >= *least).then(|| head.len() + word(text.get(head.len()..).unwrap_or(""), signs).len())
    })
}

/// The name and password that stand before the host of an address, the password with `/` and `#` in it where it is no web page's.
fn in_address(head: &str, text: &str) -> Option<usize> {
    let is_web = !head.ends_with("://") || ["http://", "https://", "ssh://"].iter().any(|scheme| head.ends_with(scheme));
    let len = run(text.get(..text.floor_char_boundary(256)).unwrap_or(text), |byte| {
        !(byte.is_ascii_whitespace() || b"\"'<>?".contains(&byte) || is_web && b"/#".contains(&byte))
    });
    let all = text.get(..len)?.split("://").next()?;
    let (user, rest) = all.split_once(':').filter(|(user, _)| !user.contains(['/', '#']))?;
    // `host:5432/`
    let digits = run(rest, |byte| byte.is_ascii_digit());
    if !user.is_empty() && (1..=5).contains(&digits) && rest.get(digits..).is_some_and(|rest| rest.starts_with(['/', '@', '#'])) {
        return None;
    }
    let is_host = |rest: &str| {
        let host = run(rest, |byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
        let port = rest.get(host..).unwrap_or("").strip_prefix(':').map(|rest| rest.split(['/', ',']).next().unwrap_or(rest));
        let ends =
            matches!(rest.as_bytes().get(host), None | Some(b'/' | b',')) || port.is_some_and(|port| port.parse::<u16>().is_ok());
        ends && rest.starts_with(|c: char| c.is_ascii_alphanumeric())
    };
    let ends = |(at, _): &(usize, &str)| {
        let (password, host) = (rest.get(..*at).unwrap_or(""), rest.get(at + 1..).unwrap_or(""));
        !password.contains(['/', '#']) || *at <= 128 && is_host(host)
    };
    let password = rest.get(..rest.rmatch_indices('@').find(ends)?.0)?;
    // `$PASSWORD`, `$password` behind `$user`, `${PASSWORD}`, `{password}`, `%s`, `***`
    let is_name = |name: &str| name.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_') || user.starts_with('$'));
    let bare = password.trim_start_matches(['$', '%']);
    let is_empty = matches!(bare.bytes().next(), Some(b'{' | b'(')) && bare.ends_with(['}', ')', 's'])
        || password == "%s"
        || password.bytes().all(|byte| byte == b'*')
        || password.strip_prefix('$').is_some_and(is_name);
    (!is_empty).then_some(user.len() + 1 + password.len())
}

fn email(text: &str) -> Option<usize> {
    /// Bytes of the part before `@` at most, and of that behind it.
    const MOST: usize = 255;
    /// How names of files and of services end, and no host does.
    const FILES: &str =
        " png jpg jpeg gif svg webp service timer socket target mount slice js ts txt json yaml yml toml xml html css ";
    let len = |text: &str, takes: fn(char) -> bool| -> usize {
        text.chars().take(MOST).take_while(|c| takes(*c)).map(char::len_utf8).sum()
    };
    let local = len(text, |c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '%' | '+' | '-' | 'À'..='ɏ'));
    let domain = text.get(local..)?.strip_prefix('@').filter(|_| local > 0)?;
    let domain = domain.get(..len(domain, |c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | 'À'..='ɏ')))?;
    // `logo@2x.png`, `react@18.2.0.tgz`
    let number = domain.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_digit = |at: usize| number.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    if number.len() < domain.len() && (number.starts_with("x.") || number.starts_with('.') && is_digit(1)) {
        return None;
    }
    // Signs that hosts have may follow one.
    let top = |at: usize| {
        let top = domain.get(at + 1..)?;
        let is_coded = top.starts_with("xn--");
        let len = run(top, |byte| byte.is_ascii_alphabetic() || is_coded && (byte == b'-' || byte.is_ascii_digit()));
        let ends = !top.as_bytes().get(len).is_some_and(u8::is_ascii_alphanumeric);
        let end = local + 1 + at + 1 + len;
        let (name, after) = (top.get(..len)?, text.as_bytes().get(end));
        let is_code = after == Some(&b'(') && !["com", "org", "net", "edu"].contains(&name)
            || text.starts_with("git@") && matches!(after, Some(b':' | b'/'))
            || FILES.contains(&format!(" {name} "));
        (at > 0 && len >= 2 && ends && !is_code).then_some(end)
    };
    domain.rmatch_indices('.').find_map(|(at, _)| top(at))
}

/// Digits that a text begins with, so many separators between two of them at most, and after how many of them, and bytes, a group ends.
fn digits(text: &str, (separators, between): (&[u8], usize), most: usize) -> (Vec<u32>, Vec<(usize, usize)>) {
    let (mut digits, mut ends, mut since) = (Vec::new(), Vec::new(), 0);
    for (at, byte) in text.bytes().enumerate() {
        if byte.is_ascii_digit() {
            digits.push(u32::from(byte - b'0'));
            since = 0;
            if !text.as_bytes().get(at + 1).is_some_and(u8::is_ascii_alphanumeric) {
                ends.push((digits.len(), at + 1));
            }
        } else if since < between && separators.contains(&byte) {
            since += 1;
        } else {
            break;
        }
        if digits.len() >= most {
            break;
        }
    }
    (digits, ends)
}

/// Bytes of the number of a card: as long as its first digits say, in groups of four and more, its last digit fits the others.
fn card(text: &str) -> Option<usize> {
    let (digits, ends) = digits(text, (b" -", 1), 19);
    let doubled = |(at, digit): (usize, &u32)| match (at % 2, digit * 2) {
        (0, _) => *digit,
        (_, twice) if twice > 9 => twice - 9,
        (_, twice) => twice,
    };
    let fits = |count: usize| {
        let own = digits.get(..count).unwrap_or(&[]);
        let is_long = matches!(
            (own.iter().take(4).fold(0, |number, digit| number * 10 + digit), count),
            (4000..=4999, 13 | 16 | 19)
                | (5100..=5599 | 2221..=2720 | 3500..=3599, 16)
                | (3400..=3499 | 3700..=3799, 15)
                | (3000..=3099 | 3600..=3699 | 3800..=3899, 14)
                | (6011 | 6200..=6299 | 6400..=6599, 16..=19)
        );
        // `4000 4200 4400 4600`
        is_long
            && !own.chunks(4).all(|four| four.ends_with(&[0, 0]))
            && own.iter().rev().enumerate().map(doubled).sum::<u32>() % 10 == 0
    };
    if ends.first().is_none_or(|(first, _)| *first < 4) {
        return None;
    }
    ends.iter().rev().find(|(count, _)| fits(*count)).map(|(_, len)| *len)
}

fn iban(text: &str) -> Option<usize> {
    let (country, check) = (text.get(..2)?, text.get(2..4)?);
    if !country.bytes().all(|byte| byte.is_ascii_alphabetic()) || !check.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut signs: Vec<u8> = Vec::new();
    let mut longest = None;
    for (at, byte) in text.bytes().enumerate().take(43) {
        match byte {
            b' ' | b'-' if at > 3 => continue,
            // Behind the country, small letters are those of words.
            b'a'..=b'z' if at < 2 => signs.push(byte.to_ascii_uppercase()),
            b'A'..=b'Z' | b'0'..=b'9' => signs.push(byte),
            _ => break,
        }
        let ends = !text.as_bytes().get(at + 1).is_some_and(u8::is_ascii_alphanumeric);
        if ends && (15..=34).contains(&signs.len()) && is_iban(&signs) {
            longest = Some(at + 1);
        }
    }
    longest
}

/// Whether the number that the signs stand for leaves 1 when it is divided by 97.
fn is_iban(signs: &[u8]) -> bool {
    let (head, rest) = signs.split_at_checked(4).unwrap_or((signs, &[]));
    let number = |rest: u32, sign: &u8| match sign {
        b'0'..=b'9' => (rest * 10 + u32::from(sign - b'0')) % 97,
        _ => (rest * 100 + u32::from(sign - b'A') + 10) % 97,
    };
    rest.iter().chain(head).fold(0, number) == 1
}

/// Bytes of a number that begins with its country, of so many digits at least; dates, decimals, counts and addresses of hosts are none.
fn abroad(text: &str, least: usize) -> Option<usize> {
    // `+2500 -1300`
    let minus = text.as_bytes().windows(3).take(64).position(|signs| matches!(signs, [b' ' | b'/', b'-', b'0'..=b'9']));
    let text = minus.and_then(|at| text.get(..at)).unwrap_or(text);
    let (digits, ends) = digits(text, (b" -./()", 3), 15);
    if digits.first() == Some(&0) || !text.starts_with(|c: char| c.is_ascii_digit() || c == '(') {
        return None;
    }
    // North America's numbers are of one length.
    let is_long = |count: usize| count >= least && (digits.first() != Some(&1) || count == 11);
    let len = ends.iter().rev().find(|(count, _)| is_long(*count))?.1;
    let text = text.get(..len)?;
    let groups: Vec<&str> = text.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty()).collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let is_date = text.starts_with("20") && matches!(*lengths, [8] | [4, 2, 2, ..]);
    let is_dotted = matches!(lengths.len(), 2 | 4) && groups.join(".") == text;
    let is_count = lengths.iter().filter(|length| **length == 1).count() > 2;
    // Numbers in columns have the same look.
    let is_table =
        least > 8 && (groups.iter().skip(1).any(|group| group.starts_with("00")) || lengths.iter().all(|length| *length == 4));
    (!is_date && !is_dotted && !is_table && !is_count).then_some(len)
}

/// A number with a `+` or `00` before its country, or in three groups of 3, 3 and 4 digits.
fn phone(before: char, text: &str) -> Option<usize> {
    if let Some(rest) = text.strip_prefix('+') {
        return abroad(rest, 8).map(|len| len + 1);
    }
    if matches!(before, '.' | '-' | '+') {
        return None;
    }
    if let Some(rest) = text.strip_prefix("00") {
        return abroad(rest, 10).filter(|_| !matches!(before, ',' | '/' | '#')).map(|len| len + 2);
    }
    let country = ["1-", "1 ", "1."].iter().find_map(|country| text.strip_prefix(country));
    let groups = country.unwrap_or(text);
    let groups = groups.strip_prefix('(').unwrap_or(groups);
    // Blanks alone stand between other numbers too.
    let mut is_marked = country.is_some();
    if !groups.starts_with(|c: char| ('2'..='9').contains(&c)) {
        return None;
    }
    let mut rest = groups;
    for (at, wanted) in [3, 3, 4].into_iter().enumerate() {
        if at > 0 {
            let separator = run(rest, |byte| matches!(byte, b' ' | b'-' | b'.' | b')'));
            is_marked |= run(rest, |byte| byte == b' ') < separator;
            rest = rest.get(separator..).filter(|_| (1..=2).contains(&separator))?;
        }
        if run(rest, |byte| byte.is_ascii_digit()) != wanted {
            return None;
        }
        rest = rest.get(wanted..)?;
    }
    let more = rest.strip_prefix('-').unwrap_or(rest).bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    (is_marked && !more).then_some(text.len() - rest.len())
}

/// A text with its placeholders alike, whoever's secret they depend on.
pub fn without_hashes(text: &str) -> String {
    let mut parts = text.split('⟦');
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let known = part.split_once('⟧').and_then(|(inner, rest)| Some((inner.split_once(':')?.0, rest)));
        match known {
            Some((kind, rest)) => out.extend(["⟦", kind, "⟧", rest]),
            None => out.extend(["⟦", part]),
        }
    }
    out
}
