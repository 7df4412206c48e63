//! Lookup results for an agent: the passages that its sources return now and that end up in its
//! context.

use super::lookup::ProjectLookup;
use super::project::CompiledProject;
use crate::context::assemble::assemble;
use crate::context::context_source::{ContextSource, Match};
use crate::context::fault::Refused;
use crate::context::options::Options;
use crate::context::request::Request;
use crate::eval::draft::{self, LookedUpPassages};
use crate::kernel::context::{Origin, Segment};
use std::cell::RefCell;

/// A source that records the files found by a description.
#[derive(Debug)]
struct RecordingSource<'s, 'p> {
    source: &'s ProjectLookup<'p>,
    files: RefCell<Vec<Match>>,
}

impl ContextSource for RecordingSource<'_, '_> {
    fn search(&self, query: &str, limit: usize) -> Result<Vec<Match>, String> {
        self.source.search(query, limit)
    }

    fn search_for(
        &self,
        role: Option<&str>,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Match>, String> {
        self.source.search_for(role, query, limit)
    }

    fn files(&self, query: &str, limit: usize) -> Result<Vec<Match>, String> {
        self.files_for(None, query, limit)
    }

    fn files_for(
        &self,
        role: Option<&str>,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Match>, String> {
        let found = self.source.files_for(role, query, limit)?;
        let mut known = self.files.borrow_mut();
        let new: Vec<Match> = found
            .iter()
            .filter(|file| !known.iter().any(|other| other.id == file.id))
            .cloned()
            .collect();
        known.extend(new);
        Ok(found)
    }

    fn is_there(&self) -> bool {
        self.source.is_there()
    }
}

/// Returns the passages that are looked up for the agent of a request, by itself and by the tasks
/// around it.
pub(super) fn find_passages(
    project: &CompiledProject,
    request: &Request<'_>,
    source: &ProjectLookup<'_>,
) -> Result<LookedUpPassages, Refused> {
    let known = RecordingSource {
        source,
        files: RefCell::default(),
    };
    let request = Request {
        source: &known,
        ..*request
    };
    let assembly = assemble(&project.registry, &request, &Options::default())?;
    let mut fresh: Vec<Match> = Vec::new();
    for found in assembly
        .report
        .segments
        .iter()
        .filter_map(|account| segment_match(&account.segment))
    {
        if !fresh.iter().any(|known| known.id == found.id) {
            fresh.push(found);
        }
    }
    let held = draft::lookup_segments(&assembly);
    let mut files = known.files.into_inner();
    files.retain(|file| {
        held.iter()
            .any(|(id, text)| id.ends_with(&format!("file:{}", file.id)) && *text == file.text)
    });
    Ok(LookedUpPassages { files, fresh, held })
}

/// Returns the match that a segment consists of, if it is one.
fn segment_match(segment: &Segment) -> Option<Match> {
    let of = |origin: &Origin| {
        if let Origin::Match { id } = origin {
            Some(id.clone())
        } else {
            None
        }
    };
    let id = segment
        .text
        .stretches()
        .iter()
        .find_map(|stretch| of(&stretch.origin))?;
    Some(Match {
        id,
        text: segment.text.text().to_owned(),
        trust: segment.trust,
    })
}
