//! Enums of words with fixed spelling, each written once, in the order in which messages list them.

/// Defines an enum of words: all values (`ALL`), all words (`WORDS`), the word of a value (`word`)
/// and the value of a word (`parse`).
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

            /// The word of the value.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// Parses a word exactly.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.word() == word)
            }
        }
    };
}

/// Defines an enum of words with an additional variant for words from outside.
macro_rules! open_words {
    (
        $(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$item:meta])* $variant:ident = $word:literal,)* }
        else $(#[$own:meta])* $other:ident($inner:ty)
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $($(#[$item])* $variant,)*
            $(#[$own])*
            $other($inner),
        }

        impl $name {
            /// All values except those from outside, in order.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$variant),*];
            /// Their words, in the same order.
            pub const WORDS: [&'static str; [$($word),*].len()] = [$($word),*];

            /// The word; `None` for a value from outside.
            pub const fn known(&self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => Some($word),)*
                    Self::$other(_) => None,
                }
            }
        }
    };
}

pub(crate) use open_words;
pub(crate) use words;
