//! Sections of a segment: those found in its text, and those that `[requests.blocks]` defines by a
//! pattern.

use crate::eval::search::Pattern;
use crate::request::sections::Section;
use crate::request::segments::Segment;
use std::collections::BTreeMap;

/// All sections of a segment; a block of the project is the first match of its pattern.
pub fn sections(segment: &Segment, blocks: &BTreeMap<String, String>) -> Vec<Section> {
    let mut all = segment.sections();
    if segment.is_text {
        let found = |(title, pattern): (&String, &String)| {
            let range = Pattern::new(pattern).ok()?.find(&segment.text).ok()??;
            Some(Section {
                title: title.clone(),
                range,
            })
        };
        all.extend(blocks.iter().filter_map(found));
    }
    all
}
