//! Path patterns: `*`, `?`, `[a-z]`, `{a,b}` within a folder, `**` across folders. A pattern that names a folder
//! matches everything under it. Matching takes no more than pattern × path steps and allocates nothing.

/// Alternatives that one pattern may spell out with braces.
const ALTERNATIVES: usize = 64;

/// Why a pattern cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// It is empty.
    #[error("a pattern needs at least one character")]
    Empty,
    /// It starts at the root of the machine, or leaves the project.
    #[error("a pattern is relative to the project and stays inside it")]
    Outside,
    /// `[` without `]`.
    #[error("`[` without a closing `]`")]
    Class,
    /// `{` without `}`.
    #[error("`{{` without a closing `}}`")]
    Brace,
    /// Too many alternatives.
    #[error("more than 64 alternatives in braces")]
    Alternatives,
    /// Too long.
    #[error("a pattern has at most 1,000 bytes")]
    Long,
}

/// One step of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Char(char),
    /// `?`.
    Any,
    /// `*`.
    Star,
    /// `**`, with the slash after it: any number of whole folders, or everything at the end.
    Folders,
    /// `[a-z]`, and with `true` `[!a-z]`.
    Class(Vec<(char, char)>, bool),
}

/// One pattern without braces.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Glob(Vec<Token>);

/// A list of patterns; matches what any of them matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Globs {
    globs: Vec<Glob>,
    written: Vec<String>,
}

impl Globs {
    /// Whether there is no pattern.
    pub fn is_empty(&self) -> bool {
        self.globs.is_empty()
    }

    /// The patterns as written.
    pub fn written(&self) -> &[String] {
        &self.written
    }

    /// Adds a pattern.
    pub fn add(&mut self, pattern: &str) -> Result<(), GlobError> {
        if pattern.len() > 1000 {
            return Err(GlobError::Long);
        }
        let plain = pattern.strip_prefix("./").unwrap_or(pattern).trim_end_matches('/');
        if plain.is_empty() {
            return Err(if pattern.starts_with('/') { GlobError::Outside } else { GlobError::Empty });
        }
        if plain.starts_with('/') || plain.split('/').any(|part| part == "..") {
            return Err(GlobError::Outside);
        }
        let mut globs = Vec::new();
        for alternative in expand(plain)? {
            globs.push(Glob(tokens(&alternative)?));
        }
        self.globs.append(&mut globs);
        self.written.push(pattern.to_owned());
        Ok(())
    }

    /// Whether a path relative to the project, with `/` between its parts, matches, or a folder above it does.
    pub fn matches(&self, path: &str) -> bool {
        self.globs.iter().any(|glob| glob.matches(path, Reach::Under))
    }

    /// Whether a name without folders matches as a whole.
    pub fn matches_name(&self, name: &str) -> bool {
        self.globs.iter().any(|glob| glob.matches(name, Reach::Whole))
    }
}

/// What a pattern has to cover.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// The path, or a folder above it.
    Under,
    /// All of it.
    Whole,
}

impl Glob {
    /// Greedy matching with two places to fall back to: the last `*`, and the last `**`.
    fn matches(&self, path: &str, reach: Reach) -> bool {
        let mut at = 0;
        let mut rest = path;
        let mut star: Option<(usize, &str)> = None;
        let mut folders: Option<(usize, &str)> = None;
        loop {
            let token = self.0.get(at);
            if token.is_none() && (rest.is_empty() || (reach == Reach::Under && rest.starts_with('/'))) {
                return true;
            }
            let next = rest.chars().next();
            match (token, next) {
                (Some(Token::Folders), _) => {
                    at += 1;
                    (folders, star) = (Some((at, rest)), None);
                    if at == self.0.len() {
                        return true;
                    }
                    continue;
                }
                (Some(Token::Star), _) => {
                    at += 1;
                    star = Some((at, rest));
                    continue;
                }
                (Some(token), Some(c)) if token.accepts(c) => {
                    at += 1;
                    rest = after(rest);
                    continue;
                }
                _ => {}
            }
            if let Some((to, from)) = star.filter(|(_, from)| !from.is_empty() && !from.starts_with('/')) {
                (at, rest) = (to, after(from));
                star = Some((to, rest));
            } else if let Some((to, from)) = folders
                && let Some(slash) = from.find('/')
            {
                (at, rest) = (to, from.get(slash + 1..).unwrap_or(""));
                (folders, star) = (Some((to, rest)), None);
            } else {
                return false;
            }
        }
    }
}

impl Token {
    fn accepts(&self, c: char) -> bool {
        match self {
            Self::Char(own) => *own == c,
            Self::Any => c != '/',
            Self::Class(ranges, negated) => c != '/' && ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated,
            Self::Star | Self::Folders => false,
        }
    }
}

fn after(text: &str) -> &str {
    let mut chars = text.chars();
    chars.next();
    chars.as_str()
}

/// Spells out `{a,b}`; braces may stand in braces.
fn expand(pattern: &str) -> Result<Vec<String>, GlobError> {
    let mut open = vec![pattern.to_owned()];
    let mut done = Vec::new();
    while let Some(pattern) = open.pop() {
        let Some(end) = pattern.find('}') else {
            if pattern.contains('{') {
                return Err(GlobError::Brace);
            }
            done.push(pattern);
            continue;
        };
        let head = pattern.get(..end).unwrap_or("");
        let start = head.rfind('{').ok_or(GlobError::Brace)?;
        let before = pattern.get(..start).unwrap_or("");
        let tail = pattern.get(end + 1..).unwrap_or("");
        for choice in pattern.get(start + 1..end).unwrap_or("").split(',') {
            open.push(format!("{before}{choice}{tail}"));
        }
        if open.len() + done.len() > ALTERNATIVES {
            return Err(GlobError::Alternatives);
        }
    }
    Ok(done)
}

fn tokens(pattern: &str) -> Result<Vec<Token>, GlobError> {
    let mut out = Vec::new();
    let mut chars = pattern.chars().peekable();
    let mut at_start = true;
    while let Some(c) = chars.next() {
        let token = match c {
            '?' => Token::Any,
            '[' => class(&mut chars)?,
            '*' if chars.peek() != Some(&'*') => Token::Star,
            '*' => {
                while chars.next_if_eq(&'*').is_some() {}
                let whole = at_start && matches!(chars.peek(), None | Some('/'));
                chars.next_if(|c| whole && *c == '/');
                // `a**b` means no more than `a*b`.
                if whole { Token::Folders } else { Token::Star }
            }
            c => Token::Char(c),
        };
        at_start = token == Token::Char('/') || token == Token::Folders;
        if !(token == Token::Folders && out.last() == Some(&Token::Folders)) {
            out.push(token);
        }
    }
    Ok(out)
}

fn class(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Token, GlobError> {
    let negated = chars.next_if(|c| matches!(c, '!' | '^')).is_some();
    let mut ranges = Vec::new();
    loop {
        let low = chars.next().ok_or(GlobError::Class)?;
        if low == ']' && !ranges.is_empty() {
            return Ok(Token::Class(ranges, negated));
        }
        let mut high = low;
        let mut ahead = chars.clone();
        if ahead.next() == Some('-')
            && let Some(end) = ahead.next().filter(|c| *c != ']')
        {
            high = end;
            *chars = ahead;
        }
        ranges.push((low, high));
    }
}
