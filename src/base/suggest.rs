//! “Did you mean”: the nearest of a set of valid names.

/// The candidate nearest to `written`, when it is near enough to be meant: one edit in three, ignoring case,
/// `-`, `_` and spaces. Ties go to the candidate that comes first.
pub fn nearest<'c>(written: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let plain = fold(written);
    if plain.is_empty() || plain.len() > 200 {
        return None;
    }
    let length = plain.chars().count();
    let limit = (length / 3).max(1);
    let mut best: Option<(usize, &'c str)> = None;
    for candidate in candidates {
        // A distance is never less than the difference of the lengths, and that costs next to nothing.
        if folded(candidate).count().abs_diff(length) > limit {
            continue;
        }
        let other = fold(candidate);
        let distance = if other == plain { 0 } else { strsim::osa_distance(&plain, &other) };
        if distance <= limit && best.is_none_or(|(known, _)| distance < known) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn fold(name: &str) -> String {
    folded(name).collect()
}

fn folded(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase)
}
