//! The reader: well-formedness, recovery, limits, decoding, edits.

mod conflicts;
mod cursor;
mod differential;
mod hostile;
mod reader;
mod recovery;
mod shape;
mod typos;
mod worded;
mod write;
mod yaml;
