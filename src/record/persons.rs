//! Personal data recognised by form: e-mail addresses, phone numbers, card numbers and bank
//! accounts.
//!
//! Never uses names or nearby words as evidence.

use crate::base::secrets::known_forms::run_length;

pub(super) fn email_length(text: &str) -> Option<usize> {
    /// The maximum length in bytes of the part before `@`, and of the part after it.
    const MAX_PART_BYTES: usize = 255;
    /// Endings of file and service names that no host has.
    const FILE_ENDINGS: &str = " png jpg jpeg gif svg webp service timer socket target mount slice js ts txt json yaml yml toml xml html css ";
    let len = |text: &str, takes: fn(char) -> bool| -> usize {
        text.chars()
            .take(MAX_PART_BYTES)
            .take_while(|c| takes(*c))
            .map(char::len_utf8)
            .sum()
    };
    let local = len(text, |c| {
        c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '%' | '+' | '-' | 'À'..='ɏ')
    });
    let domain = text.get(local..)?.strip_prefix('@').filter(|_| local > 0)?;
    let domain = domain.get(
        ..len(domain, |c| {
            c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | 'À'..='ɏ')
        }),
    )?;
    // `logo@2x.png`, `react@18.2.0.tgz`
    let number = domain.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_digit = |at: usize| number.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    if number.len() < domain.len()
        && (number.starts_with("x.") || number.starts_with('.') && is_digit(1))
    {
        return None;
    }
    // Top-level domains of `xn--` hosts contain hyphens and digits.
    let top = |at: usize| {
        let top = domain.get(at + 1..)?;
        let is_coded = top.starts_with("xn--");
        let len = run_length(top, |byte| {
            byte.is_ascii_alphabetic() || is_coded && (byte == b'-' || byte.is_ascii_digit())
        });
        let ends = !top
            .as_bytes()
            .get(len)
            .is_some_and(u8::is_ascii_alphanumeric);
        let end = local + 1 + at + 1 + len;
        let (name, after) = (top.get(..len)?, text.as_bytes().get(end));
        let is_code = after == Some(&b'(') && !["com", "org", "net", "edu"].contains(&name)
            || text.starts_with("git@") && matches!(after, Some(b':' | b'/'))
            || FILE_ENDINGS.contains(&format!(" {name} "));
        (at > 0 && len >= 2 && ends && !is_code).then_some(end)
    };
    domain.rmatch_indices('.').find_map(|(at, _)| top(at))
}

/// Returns the digits at the start of a text and, for each group of them, the digit count and byte
/// offset at its end. Allows at most `between` separators between two digits, and reads at most
/// `max` digits.
fn leading_digits(
    text: &str,
    separators: &[u8],
    between: usize,
    max_digits: usize,
) -> (Vec<u32>, Vec<(usize, usize)>) {
    let (mut digits, mut ends, mut since) = (Vec::new(), Vec::new(), 0);
    for (at, byte) in text.bytes().enumerate() {
        if byte.is_ascii_digit() {
            digits.push(u32::from(byte - b'0'));
            since = 0;
            if !text
                .as_bytes()
                .get(at + 1)
                .is_some_and(u8::is_ascii_alphanumeric)
            {
                ends.push((digits.len(), at + 1));
            }
        } else if since < between && separators.contains(&byte) {
            since += 1;
        } else {
            break;
        }
        if digits.len() >= max_digits {
            break;
        }
    }
    (digits, ends)
}

/// Returns the length in bytes of a card number: its first digits determine its length, it is
/// written in groups of four or more, and its check digit fits.
pub(super) fn card_length(text: &str) -> Option<usize> {
    let (digits, ends) = leading_digits(text, b" -", 1, 19);
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
    ends.iter()
        .rev()
        .find(|(count, _)| fits(*count))
        .map(|(_, len)| *len)
}

pub(super) fn iban_length(text: &str) -> Option<usize> {
    let (country, check) = (text.get(..2)?, text.get(2..4)?);
    if !country.bytes().all(|byte| byte.is_ascii_alphabetic())
        || !check.bytes().all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let mut signs: Vec<u8> = Vec::new();
    let mut longest = None;
    for (at, byte) in text.bytes().enumerate().take(43) {
        match byte {
            b' ' | b'-' if at > 3 => continue,
            // After the country code, lower-case letters belong to words.
            b'a'..=b'z' if at < 2 => signs.push(byte.to_ascii_uppercase()),
            b'A'..=b'Z' | b'0'..=b'9' => signs.push(byte),
            _ => break,
        }
        let ends = !text
            .as_bytes()
            .get(at + 1)
            .is_some_and(u8::is_ascii_alphanumeric);
        if ends && (15..=34).contains(&signs.len()) && is_iban(&signs) {
            longest = Some(at + 1);
        }
    }
    longest
}

/// Returns true if the number that the characters stand for leaves a remainder of 1 when divided by
/// 97.
fn is_iban(signs: &[u8]) -> bool {
    let (head, rest) = signs.split_at_checked(4).unwrap_or((signs, &[]));
    let number = |rest: u32, sign: &u8| match sign {
        b'0'..=b'9' => (rest * 10 + u32::from(sign - b'0')) % 97,
        _ => (rest * 100 + u32::from(sign - b'A') + 10) % 97,
    };
    rest.iter().chain(head).fold(0, number) == 1
}

/// Returns the length in bytes of a number that begins with its country code and has at least
/// `min` digits. Excludes dates, decimals, counts and IP addresses.
fn international_number_length(text: &str, min: usize) -> Option<usize> {
    // `+2500 -1300`
    let minus = text
        .as_bytes()
        .windows(3)
        .take(64)
        .position(|signs| matches!(signs, [b' ' | b'/', b'-', b'0'..=b'9']));
    let text = minus.and_then(|at| text.get(..at)).unwrap_or(text);
    let (digits, ends) = leading_digits(text, b" -./()", 3, 15);
    if digits.first() == Some(&0) || !text.starts_with(|c: char| c.is_ascii_digit() || c == '(') {
        return None;
    }
    // North American numbers have one fixed length.
    let is_long = |count: usize| count >= min && (digits.first() != Some(&1) || count == 11);
    let len = ends.iter().rev().find(|(count, _)| is_long(*count))?.1;
    let text = text.get(..len)?;
    let groups: Vec<&str> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|group| !group.is_empty())
        .collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let is_date = text.starts_with("20") && matches!(*lengths, [8] | [4, 2, 2, ..]);
    let is_dotted = matches!(lengths.len(), 2 | 4) && groups.join(".") == text;
    let is_count = lengths.iter().filter(|length| **length == 1).count() > 2;
    // Numbers in columns look the same.
    let is_table = min > 8
        && (groups.iter().skip(1).any(|group| group.starts_with("00"))
            || lengths.iter().all(|length| *length == 4));
    (!is_date && !is_dotted && !is_table && !is_count).then_some(len)
}

/// Returns the length in bytes of a phone number: with `+` or `00` before its country code, or in
/// three groups of 3, 3 and 4 digits.
pub(super) fn phone_length(before: char, text: &str) -> Option<usize> {
    if let Some(rest) = text.strip_prefix('+') {
        return international_number_length(rest, 8).map(|len| len + 1);
    }
    if matches!(before, '.' | '-' | '+') {
        return None;
    }
    if let Some(rest) = text.strip_prefix("00") {
        return international_number_length(rest, 10)
            .filter(|_| !matches!(before, ',' | '/' | '#'))
            .map(|len| len + 2);
    }
    let country = ["1-", "1 ", "1."]
        .iter()
        .find_map(|country| text.strip_prefix(country));
    let groups = country.unwrap_or(text);
    let groups = groups.strip_prefix('(').unwrap_or(groups);
    // Blanks alone also separate other numbers.
    let mut is_marked = country.is_some();
    if !groups.starts_with(|c: char| ('2'..='9').contains(&c)) {
        return None;
    }
    let mut rest = groups;
    for (at, wanted) in [3, 3, 4].into_iter().enumerate() {
        if at > 0 {
            let separator = run_length(rest, |byte| matches!(byte, b' ' | b'-' | b'.' | b')'));
            is_marked |= run_length(rest, |byte| byte == b' ') < separator;
            rest = rest
                .get(separator..)
                .filter(|_| (1..=2).contains(&separator))?;
        }
        if run_length(rest, |byte| byte.is_ascii_digit()) != wanted {
            return None;
        }
        rest = rest.get(wanted..)?;
    }
    let more = rest
        .strip_prefix('-')
        .unwrap_or(rest)
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphanumeric());
    // `516.119 1083.632`
    let is_fraction = rest
        .strip_prefix('.')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    (is_marked && !more && !is_fraction).then_some(text.len() - rest.len())
}
