//! “Did you mean”: the nearest of a set of valid names.

/// The remaining cost of all searches of one run, in pairs of compared characters, so that many
/// unknown names among many known ones stay fast: enough to compare names of ten characters half a
/// million times.
#[derive(Clone, Copy, Debug)]
pub struct ComparisonBudget(u64);

impl Default for ComparisonBudget {
    fn default() -> Self {
        Self(50_000_000)
    }
}

impl ComparisonBudget {
    /// The candidate nearest to `written`, as [`nearest_candidate`] defines it; `None` once the
    /// budget is used up.
    pub fn nearest_candidate<'c>(
        &mut self,
        written: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<&'c str> {
        let mut candidates = candidates.into_iter().peekable();
        candidates.peek()?;
        let plain = fold_name(written);
        if plain.is_empty() || plain.len() > 200 {
            return None;
        }
        let length = plain.chars().count();
        let limit = (length / 3).max(1);
        let mut best: Option<(usize, &'c str)> = None;
        let file = file_stem(written).map(fold_name);
        for candidate in candidates {
            self.0 = self.0.checked_sub(candidate.len() as u64)?;
            if file
                .as_ref()
                .is_some_and(|file| folded_chars(candidate).eq(file.chars()))
            {
                return Some(candidate);
            }
            // A distance is never less than the difference of the lengths, which costs almost
            // nothing to compute.
            let other = folded_chars(candidate).count();
            if other.abs_diff(length) > limit {
                continue;
            }
            // In a name of one or two letters, a changed letter makes a different name.
            let limit = if other.max(length) < 3 { 0 } else { limit };
            self.0 = self.0.checked_sub((candidate.len() * length) as u64)?;
            let other = fold_name(candidate);
            // A name with a leading `not` is the opposite, not a misspelling.
            if plain.strip_prefix("not").is_some_and(|rest| rest == other) {
                continue;
            }
            let distance = if other == plain {
                0
            } else {
                strsim::osa_distance(&plain, &other)
            };
            if distance <= limit && best.is_none_or(|(known, _)| distance < known) {
                best = Some((distance, candidate));
            }
        }
        best.map(|(_, candidate)| candidate)
    }
}

/// The candidate nearest to `written`, if it is near enough: at most one edit per three characters,
/// ignoring case, `-`, `_` and spaces. Ties go to the candidate that comes first.
pub fn nearest_candidate<'c>(
    written: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    ComparisonBudget(u64::MAX).nearest_candidate(written, candidates)
}

/// The candidate that a word most likely means: the nearest one, or the equivalent of a term of
/// another language or library.
pub fn likeliest_candidate<'c>(
    written: &str,
    mut candidates: impl Iterator<Item = &'c str> + Clone,
) -> Option<&'c str> {
    let near = nearest_candidate(written, candidates.clone());
    if near.is_some() {
        return near;
    }
    let plain = fold_name(written);
    let called = FOREIGN_WORDS
        .iter()
        .filter(|(_, others)| others.contains(&&*plain))
        .map(|(own, _)| *own);
    candidates.find(|candidate| called.clone().any(|own| own == *candidate))
}

/// Words of the language, and their equivalents elsewhere, without capitals and separators.
const FOREIGN_WORDS: &[(&str, &[&str])] = &[
    ("string", &["str", "text", "char", "varchar"]),
    ("integer", &["int", "long", "i64", "int64"]),
    ("number", &["float", "double", "decimal", "f64", "num"]),
    ("boolean", &["bool"]),
    (
        "object",
        &["dict", "map", "record", "struct", "json", "hash"],
    ),
    ("array", &["list", "tuple", "set", "sequence", "any[]"]),
    (
        "string[]",
        &[
            "list[str]",
            "list<string>",
            "array<string>",
            "str[]",
            "text[]",
        ],
    ),
    ("json", &["object", "structured"]),
    ("text", &["string", "str", "markdown", "plain"]),
    ("jinja", &["j2", "nunjucks"]),
    ("atomic", &["llm", "prompt", "single", "agent", "chat"]),
    (
        "sequential",
        &["sequence", "chain", "pipeline", "workflow", "steps"],
    ),
    ("reduce", &["mapreduce", "fold", "map"]),
    ("script", &["shell", "command", "bash", "sh", "tool"]),
    (
        "director_evaluator_loop",
        &[
            "loop",
            "evaluatorloop",
            "directorevaluator",
            "iterate",
            "while",
        ],
    ),
    ("instructions", &["prompt", "user", "body", "template"]),
    ("system", &["systemprompt", "persona"]),
    ("input", &["question", "user", "query", "in"]),
    (
        "output",
        &["answer", "assistant", "response", "completion", "out"],
    ),
    ("enabled", &["true", "yes", "on"]),
    ("disabled", &["false", "no", "off", "none"]),
    (
        "expect_context",
        &[
            "expect",
            "expected",
            "expects",
            "assert",
            "asserts",
            "assertions",
            "tests",
        ],
    ),
    (
        "absent",
        &["notcontains", "notcontain", "lacks", "excludes", "without"],
    ),
    ("exact", &["equals", "equal", "is"]),
    ("true", &["yes", "y", "on", "1"]),
    ("false", &["no", "n", "off", "0"]),
];

/// The name in a path such as `templates/reply.xml` that was written instead of a name.
fn file_stem(written: &str) -> Option<&str> {
    let file = written.rsplit(['/', '\\']).next()?;
    let stem = file.strip_suffix(".xml").unwrap_or(file);
    (stem.len() < written.len()).then_some(stem)
}

/// The name without separators and in lower case, for comparisons.
fn fold_name(name: &str) -> String {
    folded_chars(name).collect()
}

fn folded_chars(name: &str) -> impl Iterator<Item = char> {
    name.chars()
        .filter(|c| !matches!(c, '-' | '_' | ' '))
        .flat_map(char::to_lowercase)
}
