//! “Did you mean”: the nearest of a set of valid names.

/// What searches of one run may cost together, in pairs of characters compared, so that many unknown names among many known
/// ones take no longer than one would wait: names of ten characters are compared half a million times.
#[derive(Clone, Copy, Debug)]
pub struct Budget(u64);

impl Default for Budget {
    fn default() -> Self {
        Self(50_000_000)
    }
}

impl Budget {
    /// The candidate nearest to `written`, as [`nearest`] says; `None` from then on where the budget does not reach.
    pub fn nearest<'c>(&mut self, written: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
        let mut candidates = candidates.into_iter().peekable();
        candidates.peek()?;
        let plain = fold(written);
        if plain.is_empty() || plain.len() > 200 {
            return None;
        }
        let length = plain.chars().count();
        let limit = (length / 3).max(1);
        let mut best: Option<(usize, &'c str)> = None;
        let file = file_stem(written).map(fold);
        for candidate in candidates {
            self.0 = self.0.checked_sub(candidate.len() as u64)?;
            if file.as_ref().is_some_and(|file| folded(candidate).eq(file.chars())) {
                return Some(candidate);
            }
            // A distance is never less than the difference of the lengths, and that costs next to nothing.
            let other = folded(candidate).count();
            if other.abs_diff(length) > limit {
                continue;
            }
            // Of one or two letters, another one makes another name.
            let limit = if other.max(length) < 3 { 0 } else { limit };
            self.0 = self.0.checked_sub((candidate.len() * length) as u64)?;
            let other = fold(candidate);
            // The opposite is no misspelling.
            if plain.strip_prefix("not").is_some_and(|rest| rest == other) {
                continue;
            }
            let distance = if other == plain { 0 } else { strsim::osa_distance(&plain, &other) };
            if distance <= limit && best.is_none_or(|(known, _)| distance < known) {
                best = Some((distance, candidate));
            }
        }
        best.map(|(_, candidate)| candidate)
    }
}

/// The candidate nearest to `written`, when it is near enough to be meant: one edit in three, ignoring case,
/// `-`, `_` and spaces. Ties go to the candidate that comes first.
pub fn nearest<'c>(written: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    Budget(u64::MAX).nearest(written, candidates)
}

/// The candidate that a word is meant to be: the nearest, or the one that other languages and libraries call so.
pub fn likeliest<'c>(written: &str, mut candidates: impl Iterator<Item = &'c str> + Clone) -> Option<&'c str> {
    let near = nearest(written, candidates.clone());
    if near.is_some() {
        return near;
    }
    let plain = fold(written);
    let called = ELSEWHERE.iter().filter(|(_, others)| others.contains(&&*plain)).map(|(own, _)| *own);
    candidates.find(|candidate| called.clone().any(|own| own == *candidate))
}

/// Words of the language, and what they are called elsewhere, without capitals and separators.
const ELSEWHERE: &[(&str, &[&str])] = &[
    ("string", &["str", "text", "char", "varchar"]),
    ("integer", &["int", "long", "i64", "int64"]),
    ("number", &["float", "double", "decimal", "f64", "num"]),
    ("boolean", &["bool"]),
    ("object", &["dict", "map", "record", "struct", "json", "hash"]),
    ("array", &["list", "tuple", "set", "sequence", "any[]"]),
    ("string[]", &["list[str]", "list<string>", "array<string>", "str[]", "text[]"]),
    ("json", &["object", "structured"]),
    ("text", &["string", "str", "markdown", "plain"]),
    ("jinja", &["j2", "nunjucks"]),
    ("atomic", &["llm", "prompt", "single", "agent", "chat"]),
    ("sequential", &["sequence", "chain", "pipeline", "workflow", "steps"]),
    ("reduce", &["mapreduce", "fold", "map"]),
    ("script", &["shell", "command", "bash", "sh", "tool"]),
    ("director_evaluator_loop", &["loop", "evaluatorloop", "directorevaluator", "iterate", "while"]),
    ("instructions", &["prompt", "user", "body", "template"]),
    ("system", &["systemprompt", "persona"]),
    ("input", &["question", "user", "query", "in"]),
    ("output", &["answer", "assistant", "response", "completion", "out"]),
    ("enabled", &["true", "yes", "on"]),
    ("disabled", &["false", "no", "off", "none"]),
    ("expect_context", &["expect", "expected", "expects", "assert", "asserts", "assertions", "tests"]),
    ("absent", &["notcontains", "notcontain", "lacks", "excludes", "without"]),
    ("exact", &["equals", "equal", "is"]),
    ("true", &["yes", "y", "on", "1"]),
    ("false", &["no", "n", "off", "0"]),
];

/// The name that is left of `templates/reply.xml`, which is a path where a name was asked for.
fn file_stem(written: &str) -> Option<&str> {
    let file = written.rsplit(['/', '\\']).next()?;
    let stem = file.strip_suffix(".xml").unwrap_or(file);
    (stem.len() < written.len()).then_some(stem)
}

fn fold(name: &str) -> String {
    folded(name).collect()
}

fn folded(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase)
}
