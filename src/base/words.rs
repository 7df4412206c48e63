//! Words of fixed spelling, each written once: what stands in files and in messages, in the order in which messages list it.

/// An enum of words: every value (`ALL`), all words (`WORDS`), the word of a value (`word`) and the value of a word (`parse`).
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$item:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        $vis enum $name {
            $($(#[$item])* $variant,)*
        }

        impl $name {
            /// Every value, in order.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$variant),*];
            /// Their words.
            pub const WORDS: [&'static str; [$($word),*].len()] = [$($word),*];

            /// Its word.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// Reads a word exactly.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.word() == word)
            }
        }
    };
}

pub(crate) use words;
