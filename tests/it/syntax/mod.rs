//! The reader: well-formedness, recovery, limits, decoding, edits.

mod reader;
mod recovery;
mod worded;
mod write;
