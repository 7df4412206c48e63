//! A table of tokens: the byte sequences that form one token, ranked by the order in which the
//! tokenizer learned them.
//!
//! The file of a table contains the tokens in the order of their ranks, each as its length in one
//! byte followed by its bytes. It is the vendor's complete list in a shorter form. Every single
//! byte is a token, so any text has an encoding.

/// The rank of bytes that are not a token.
pub(super) const NO_RANK: u32 = u32::MAX;
/// The number of bits of a slot that contain a rank; the others contain a part of the hash, so that
/// a miss rarely compares bytes.
const RANK_BITS: u32 = 18;
const RANK_MASK: u32 = (1 << RANK_BITS) - 1;
/// The minimum number of slots per token, which keeps searches short.
const MIN_SLOTS_PER_TOKEN: usize = 2;

/// Tokens with an index by their bytes.
pub(super) struct TokenTable {
    /// The file.
    bytes: &'static [u8],
    /// The offset of each token's bytes, by rank; the length precedes them.
    starts: Vec<u32>,
    /// Ranks by the hash of their bytes; [`NO_RANK`] marks an empty slot.
    slots: Vec<u32>,
    /// The length of the longest token in bytes.
    longest: usize,
}

impl TokenTable {
    /// Reads a table's file. Data behind a damaged length is ignored.
    pub(super) fn from_file(bytes: &'static [u8]) -> Self {
        let mut starts = Vec::with_capacity(1 << RANK_BITS);
        let mut at = 0;
        let mut longest = 0;
        while let Some(&len) = bytes.get(at)
            && starts.len() < RANK_MASK as usize
        {
            starts.push(at as u32 + 1);
            longest = longest.max(usize::from(len));
            at += usize::from(len) + 1;
        }
        let slots = vec![NO_RANK; (starts.len() * MIN_SLOTS_PER_TOKEN).next_power_of_two()];
        let mut table = Self {
            bytes,
            starts,
            slots,
            longest,
        };
        for rank in 0..table.starts.len() as u32 {
            table.insert(rank);
        }
        table
    }

    fn insert(&mut self, rank: u32) {
        let hash = hash_bytes(self.token(rank));
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while let Some(slot) = self.slots.get_mut(at) {
            if *slot == NO_RANK {
                *slot = hash_tag(hash) | rank;
                return;
            }
            at = (at + 1) & mask;
        }
    }

    /// Returns the bytes of a token; empty for an unknown rank.
    pub(super) fn token(&self, rank: u32) -> &'static [u8] {
        let found = self.starts.get(rank as usize).and_then(|&start| {
            let start = start as usize;
            let len = usize::from(*self.bytes.get(start - 1)?);
            self.bytes.get(start..start + len)
        });
        found.unwrap_or_default()
    }

    /// Returns the rank of some bytes, or [`NO_RANK`].
    pub(super) fn rank(&self, bytes: &[u8]) -> u32 {
        if bytes.len() > self.longest {
            return NO_RANK;
        }
        let hash = hash_bytes(bytes);
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        while let Some(&slot) = self.slots.get(at) {
            if slot == NO_RANK {
                return NO_RANK;
            }
            if slot & !RANK_MASK == hash_tag(hash) && self.token(slot & RANK_MASK) == bytes {
                return slot & RANK_MASK;
            }
            at = (at + 1) & mask;
        }
        NO_RANK
    }

    /// The length of the longest token in bytes.
    pub(super) const fn longest(&self) -> usize {
        self.longest
    }
}

/// Returns the part of a hash that a slot stores, from bits that do not select the slot.
const fn hash_tag(hash: u64) -> u32 {
    ((hash >> 32) as u32) & !RANK_MASK
}

/// Hashes eight bytes at a time; the tables are fixed, so collisions cannot be provoked.
fn hash_bytes(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |state: u64, word: u64| (state.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    let (words, rest) = bytes.as_chunks::<8>();
    let state = words.iter().fold(bytes.len() as u64, |state, word| {
        mix(state, u64::from_le_bytes(*word))
    });
    let last = rest
        .iter()
        .fold(0, |word, byte| word << 8 | u64::from(*byte));
    let state = mix(state, last);
    state ^ (state >> 29)
}
