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
        let plain = fold(written);
        if plain.is_empty() || plain.len() > 200 {
            return None;
        }
        let length = plain.chars().count();
        let limit = (length / 3).max(1);
        let mut best: Option<(usize, &'c str)> = None;
        for candidate in candidates {
            self.0 = self.0.checked_sub(candidate.len() as u64)?;
            // A distance is never less than the difference of the lengths, and that costs next to nothing.
            if folded(candidate).count().abs_diff(length) > limit {
                continue;
            }
            self.0 = self.0.checked_sub((candidate.len() * length) as u64)?;
            let other = fold(candidate);
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

fn fold(name: &str) -> String {
    folded(name).collect()
}

fn folded(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase)
}
