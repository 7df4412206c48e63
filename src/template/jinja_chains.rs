//! How deep the expressions of one Jinja tag can become: an upper bound, kept while its tokens are read.

/// A bracket goes through the parser's whole ladder of precedences: it weighs as much as this many operators.
const BRACKET: u32 = 4;
/// What stands on one another between two commas of one pair of brackets.
#[derive(Clone, Copy, Default)]
struct Level {
    segment: u32,
    longest: u32,
}

/// The chains of one tag; their sum bounds the depth of its expressions.
pub(super) struct Chains {
    levels: Vec<Level>,
    pub(super) sum: u32,
}

impl Chains {
    pub(super) fn new() -> Self {
        Self { levels: vec![Level::default()], sum: 0 }
    }

    pub(super) fn link(&mut self, links: u32) {
        if let Some(level) = self.levels.last_mut() {
            level.segment = level.segment.saturating_add(links);
            self.sum = self.sum.saturating_add(links);
        }
    }

    pub(super) fn comma(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            self.sum = self.sum.saturating_sub(level.segment);
            level.longest = level.longest.max(level.segment);
            level.segment = 0;
        }
    }

    pub(super) fn open(&mut self) {
        self.link(BRACKET);
        self.levels.push(Level::default());
    }

    /// What stood in the brackets may end up under what comes after them.
    pub(super) fn close(&mut self) {
        if self.levels.len() > 1
            && let Some(level) = self.levels.pop()
        {
            self.sum = self.sum.saturating_sub(level.segment);
            self.link(level.segment.max(level.longest));
        }
    }
}
