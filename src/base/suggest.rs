//! “Did you mean”: the nearest of a set of valid names.

/// The candidate nearest to `written`, when it is near enough to be meant: one edit in three, ignoring case,
/// `-`, `_` and spaces. Ties go to the candidate that comes first.
pub fn nearest<'c>(written: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let plain = fold(written);
    if plain.is_empty() || plain.len() > 200 {
        return None;
    }
    let limit = (plain.chars().count() / 3).max(1);
    let mut best: Option<(usize, &'c str)> = None;
    for candidate in candidates {
        let other = fold(candidate);
        if other.len().abs_diff(plain.len()) > limit * 4 {
            continue;
        }
        let distance = if other == plain { 0 } else { strsim::osa_distance(&plain, &other) };
        if distance <= limit && best.is_none_or(|(known, _)| distance < known) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}
