//! Sections of a segment: those found in its text, and those that `[requests.blocks]` defines by a
//! pattern.

use crate::eval::search::CompiledPattern;
use crate::request::sections::Section;
use crate::request::segments::RequestSegment;
use std::collections::BTreeMap;

/// All sections of a segment; a block of the project is the first match of its pattern.
pub fn find_sections(segment: &RequestSegment, blocks: &BTreeMap<String, String>) -> Vec<Section> {
    let mut all = segment.sections();
    if segment.is_text {
        let found = |(title, pattern): (&String, &String)| {
            let range = CompiledPattern::new(pattern)
                .ok()?
                .find(&segment.text)
                .ok()??;
            Some(Section {
                title: title.clone(),
                range,
            })
        };
        all.extend(blocks.iter().filter_map(found));
    }
    all
}
