//! Segments built from the task itself: system, description, instructions, criteria, constraints,
//! inputs, files, examples, the form of the answer. An input that a text of the task already
//! contains gets no segment.

use crate::context::answer_format;
use crate::context::context_source::MATCHES;
use crate::context::fault::{Fault, FaultKind, MissingFrom, Place};
use crate::context::fill::{Faults, Filled, Filler, Unknown, is_from_outside};
use crate::context::request::Request;
use crate::context::scope::{Destination, place, refusals};
use crate::context::segments::draft::DraftSegment;
use crate::context::segments::step_results::{MANY, NEAREST};
use crate::context::task_graph::Link;
use crate::context::values::{self, Scope};
use crate::kernel::context::{Cut, Kind, Origin, Segment, Stability, Traced, Trust};
use crate::registry::body::Text;
use crate::template::keywords::{self, FileSource};
use serde_json::Value;
use std::collections::BTreeSet;

/// Builds the segments of one node.
pub(in crate::context) struct SegmentBuilder<'a> {
    pub(in crate::context) request: &'a Request<'a>,
    pub(in crate::context) filler: Filler<'a>,
    pub(in crate::context) scope: &'a Scope,
    pub(in crate::context) link: &'a Link<'a>,
    /// Faults of the segment being written.
    pub(in crate::context) faults: Faults,
    /// The inputs that the segment needs and that are not available yet.
    pub(in crate::context) late: BTreeSet<String>,
    pub(in crate::context) used: BTreeSet<String>,
    pub(in crate::context) out: Vec<DraftSegment>,
}

impl SegmentBuilder<'_> {
    /// Returns all segments of the node, in the order of their kinds.
    pub(in crate::context) fn write(mut self) -> Vec<DraftSegment> {
        let body = &self.link.node.body;
        self.text(Kind::System, body.system.as_ref());
        self.text(Kind::Description, body.description.as_ref());
        self.text(Kind::Instructions, body.instructions.as_ref());
        self.text(Kind::Criteria, body.criteria.as_ref());
        self.constraints();
        self.examples();
        self.output();
        self.files();
        self.inputs();
        self.out.sort_by_key(|drafted| drafted.segment.kind);
        self.out
    }

    fn place(&self, field: &str) -> Place {
        place(self.link, &self.link.node.id, field)
    }

    pub(in crate::context) fn fill(&mut self, text: &Text<'_>, field: &str) -> Filled {
        let place = self.place(field);
        let filled =
            self.filler
                .of(&self.link.tree.path)
                .fill(text, &place, self.scope, &mut self.faults);
        self.uses(&filled);
        filled
    }

    /// Fills one of several texts; an untrusted one is fenced under its name.
    pub(in crate::context) fn fill_one(
        &mut self,
        text: &Text<'_>,
        field: &str,
        name: &str,
    ) -> Filled {
        if !is_from_outside(text) {
            return self.fill(text, field);
        }
        let outer = self.filler;
        self.filler = outer.bare();
        let filled = self.fill(text, field);
        self.filler = outer;
        filled.fenced_as(name, outer)
    }

    fn uses(&mut self, filled: &Filled) {
        self.used.extend(filled.used.iter().cloned());
        self.late.extend(
            filled
                .used
                .iter()
                .filter_map(|name| self.scope.late(name).cloned()),
        );
    }

    /// Takes the names of the missing inputs; in a dry run only the first of many, and the number
    /// of the others.
    fn fold_needs(&mut self) -> BTreeSet<String> {
        let mut late = std::mem::take(&mut self.late);
        if self.filler.unknown.is_dry() && late.len() > MANY {
            let more = late.len() - NEAREST;
            late = late
                .into_iter()
                .take(NEAREST)
                .chain([format!("{more} more")])
                .collect();
        }
        late
    }

    pub(in crate::context) fn push(&mut self, kind: Kind, mut filled: Filled, cut: Cut, why: &str) {
        if !self.late.is_empty() {
            self.faults.clear();
            let late = self.fold_needs();
            return self.out.push(DraftSegment::late(
                kind,
                (kind.word().to_owned(), ""),
                why,
                late,
            ));
        }
        let is_blank =
            filled.text.is_empty() && filled.unknown.is_empty() && self.faults.is_empty();
        if is_blank && filled.untrusted.is_empty() {
            return;
        }
        // An empty untrusted value, or one that a Jinja text only tests, still marks the segment as
        // containing untrusted text.
        if !filled.untrusted.is_empty() && filled.text.untrusted().is_empty() {
            filled.text.mark_untrusted(filled.text.text().len());
        }
        let stability = filled.stability.unwrap_or(Stability::Fixed);
        let has_untrusted_values = !filled.untrusted.is_empty();
        let segment = Segment {
            has_untrusted_values,
            cut,
            ..Segment::of(kind, filled.text, why).stable(stability)
        };
        // A segment without text of its own is absent if the value that it waits for is empty.
        let condition = (segment.text.is_empty() && !filled.unknown.is_empty())
            .then_some("what it waits for says anything");
        let faults = std::mem::take(&mut self.faults);
        self.out.push(DraftSegment {
            latent: filled.latent,
            unknown: filled.unknown,
            condition,
            faults,
            ..DraftSegment::whole(segment)
        });
    }

    fn text(&mut self, kind: Kind, text: Option<&Text<'_>>) {
        let Some(text) = text else { return };
        let key = kind.word();
        let filled = self.fill(text, key);
        if kind == Kind::System {
            let untrusted = filled.untrusted.iter().map(String::as_str);
            self.faults
                .extend(refusals(Destination::System, &self.place(key), untrusted));
        }
        let before = self.out.len();
        self.push(kind, filled, Cut::Tail, &format!("<{key}>"));
        if text.trust == keywords::Trust::Untrusted
            && let Some(pushed) = self.out.get_mut(before)
        {
            pushed.segment.trust = Trust::Untrusted;
        }
    }

    fn output(&mut self) {
        let Some(format) = &self.link.node.body.output_format else {
            return;
        };
        match answer_format::words(format, &self.link.tree.path, self.request.files) {
            Ok(text) => {
                let filled = Filled {
                    text,
                    ..Filled::default()
                };
                self.push(Kind::OutputFormat, filled, Cut::Tail, "<output_format>");
            }
            Err(kind) => {
                self.faults
                    .push(Fault::of(self.place("output_format"), kind));
                self.push(
                    Kind::OutputFormat,
                    Filled::default(),
                    Cut::Tail,
                    "<output_format>",
                );
            }
        }
    }

    fn files(&mut self) {
        let Some(files) = &self.link.node.body.file_paths else {
            return;
        };
        match files.source {
            FileSource::Literal => {
                let mut seen = BTreeSet::new();
                for path in files.paths.iter().filter(|path| seen.insert(*path)) {
                    self.file(path);
                }
            }
            FileSource::Command => {
                let command = files.command.as_deref().unwrap_or_default();
                if self.filler.unknown != Unknown::Fault {
                    return self.waiting(Kind::File, "files", format!("output of `{command}`"));
                }
                match self.request.files.listed(command) {
                    Ok(paths) => {
                        let mut seen = BTreeSet::new();
                        for path in paths.iter().filter(|path| seen.insert(*path)) {
                            self.file(path);
                        }
                    }
                    Err(reason) => {
                        let kind = FaultKind::File {
                            path: format!("`{command}`"),
                            reason,
                        };
                        self.faults.push(Fault::of(self.place("file_paths"), kind));
                        self.push_file(command, Traced::default(), "<file_paths>");
                    }
                }
            }
            FileSource::Description => {
                let Some(text) = &files.description else {
                    return;
                };
                let place = self.place("file_paths/description");
                let filler = self.filler.of(&self.link.tree.path).bare();
                let query = filler.fill(text, &place, self.scope, &mut self.faults);
                self.uses(&query);
                if !self.late.is_empty() {
                    return self.push(Kind::File, query, Cut::Tail, "<file_paths>");
                }
                let is_known = self.request.source.is_there() && query.unknown.is_empty();
                if self.filler.unknown != Unknown::Fault && !is_known {
                    self.waiting(
                        Kind::File,
                        "files",
                        "the files that match a description".to_owned(),
                    );
                    return;
                }
                match self.request.source.files_for(
                    self.request.role_name(),
                    query.text.text(),
                    MATCHES,
                ) {
                    Ok(found) => {
                        // Matches are as stable as the text of their query.
                        let stability = query
                            .stability
                            .unwrap_or(Stability::Project)
                            .max(Stability::Project);
                        for found in found {
                            let text = Traced::new(
                                found.text,
                                Origin::File {
                                    path: found.id.clone(),
                                    line: 0,
                                },
                            );
                            let before = self.out.len();
                            self.push_file(&found.id, text, "<file_paths>, matched by description");
                            if let Some(pushed) = self.out.get_mut(before) {
                                (pushed.segment.trust, pushed.segment.stability) =
                                    (found.trust, stability);
                            }
                        }
                    }
                    Err(reason) => {
                        self.faults.push(Fault::of(
                            self.place("file_paths"),
                            FaultKind::Source { reason },
                        ));
                        self.push_file("", Traced::default(), "<file_paths>");
                    }
                }
            }
        }
    }

    fn file(&mut self, path: &str) {
        match self.request.files.text(path) {
            Ok(text) => {
                let text = Traced::new(
                    text,
                    Origin::File {
                        path: path.to_owned(),
                        line: 0,
                    },
                );
                self.push_file(path, text, "<file_paths>");
                if let Some(last) = self.out.last_mut() {
                    last.segment.trust = self.request.files.trust();
                }
            }
            Err(reason) => {
                let kind = FaultKind::File {
                    path: path.to_owned(),
                    reason,
                };
                self.faults.push(Fault::of(self.place("file_paths"), kind));
                self.push_file(path, Traced::default(), "<file_paths>");
            }
        }
    }

    fn push_file(&mut self, path: &str, text: Traced, why: &str) {
        let filled = Filled {
            text,
            stability: Some(Stability::Project),
            ..Filled::default()
        };
        // An empty file becomes no segment.
        let before = self.out.len();
        self.push(Kind::File, filled, Cut::Tail, why);
        if let Some(pushed) = self.out.get_mut(before) {
            pushed.segment.id = format!("file:{path}");
            pushed.segment.max_tokens = self
                .link
                .node
                .body
                .file_paths
                .as_ref()
                .and_then(|files| cap(files.max_tokens));
            path.clone_into(&mut pushed.segment.title);
        }
    }

    fn waiting(&mut self, kind: Kind, title: &str, what: String) {
        let id = format!("{}:{title}", kind.word());
        let segment = Segment::of(kind, Traced::default(), "<file_paths>")
            .named(id, title)
            .stable(Stability::Call);
        let condition = Some("a file is named");
        self.out.push(DraftSegment {
            unknown: BTreeSet::from([what]),
            condition,
            ..DraftSegment::whole(segment)
        });
    }

    /// Adds the inputs that no text of the node contains.
    fn inputs(&mut self) {
        let late_from = self.scope.late_from();
        let mut late = Vec::new();
        for (number, input) in self.link.node.body.inputs.iter().enumerate() {
            let Some(name) = input.name.as_deref() else {
                continue;
            };
            if let Some(from) = late_from
                .filter(|from| *from < usize::MAX && input.from.is_none() && input.text().is_none())
            {
                // A task that produces an input sees another task-produced input only if it names
                // it; otherwise the two run side by side.
                late.extend((number >= from && !self.used.contains(name)).then_some(name));
                continue;
            }
            let Some(bound) = self.scope.get(name).filter(|_| !self.used.contains(name)) else {
                continue;
            };
            if let Some(late) = self.scope.late(name) {
                let late = BTreeSet::from([late.clone()]);
                self.out.push(DraftSegment::late(
                    Kind::Input,
                    (format!("input:{name}"), name),
                    "<inputs>",
                    late,
                ));
                continue;
            }
            let mut text = Traced::default();
            match &bound.value {
                Some(value) => text.push(&values::words(value), bound.origin.clone()),
                None if self.filler.unknown != Unknown::Fault => text.leave_open(),
                None if !bound.lacks.is_empty() => self.faults.extend(bound.lacks.iter().cloned()),
                None => {
                    let (origin, named) = MissingFrom::of(&bound.origin);
                    let name = named.unwrap_or(name).to_owned();
                    let place = self.place(&format!("inputs/{number}"));
                    self.faults
                        .push(Fault::of(place, FaultKind::Missing { name, origin }));
                }
            }
            // An untrusted number gives no orders, but its task reserves room for any value.
            if bound.is_from_outside() {
                text.mark_untrusted(0);
            }
            let unknown = if bound.value.is_none() && self.faults.is_empty() {
                BTreeSet::from([name.to_owned()])
            } else {
                BTreeSet::new()
            };
            let segment = Segment::of(Kind::Input, text, "<inputs>")
                .named(format!("input:{name}"), name)
                .stable(bound.stability);
            let segment = Segment {
                trust: bound.trust_of(&[]),
                max_tokens: cap(input.max_tokens),
                ..segment
            };
            // The source of the value is part of the future segment.
            let place = self.place(&format!("inputs/{number}"));
            let origin = Origin::Template {
                task: place.definition,
                node: place.node,
                field: place.field,
                line: 0,
            };
            let from = input
                .from
                .as_deref()
                .filter(|_| bound.value.is_none())
                .map(|from| Value::from(from).to_string());
            let latent = Traced::new(from.unwrap_or_default(), origin);
            let faults = std::mem::take(&mut self.faults);
            self.out.push(DraftSegment {
                latent,
                unknown,
                faults,
                ..DraftSegment::whole(segment)
            });
        }
        let many = if self.filler.unknown.is_dry() && late.len() > MANY {
            late.len() - NEAREST
        } else {
            0
        };
        let mut defer = |name: &str, needs: String| {
            self.out.push(DraftSegment::late(
                Kind::Input,
                (format!("input:{name}"), name),
                "<inputs>",
                BTreeSet::from([needs]),
            ));
        };
        late.iter()
            .take(late.len() - many)
            .for_each(|name| defer(name, (*name).to_owned()));
        if many > 0 {
            defer("later inputs", format!("{many} later inputs"));
        }
    }
}

/// Returns the value of `max_tokens`.
pub(in crate::context) fn cap(tokens: Option<u32>) -> Option<usize> {
    tokens.map(|tokens| tokens as usize)
}
