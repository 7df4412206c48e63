//! Segments built from the task itself: system, description, instructions, criteria, constraints,
//! inputs, files, examples, the form of the answer. An input that a text of the task already
//! contains gets no segment.

use super::draft_segment::DraftSegment;
use super::step_results::{ALWAYS_LISTED, MAX_LISTED};
use crate::context::answer_format;
use crate::context::context_source::MAX_MATCHES;
use crate::context::fault::{Fault, FaultKind, FaultPlace, MissingFrom};
use crate::context::fill::{Faults, FilledText, Filler, UnknownHandling, is_from_outside};
use crate::context::request::Request;
use crate::context::scope::{Destination, place_in, refusals};
use crate::context::task_graph::ChainLink;
use crate::context::values::{self, NameScope};
use crate::kernel::context::{
    CutPolicy, FIRST_EXPENDABLE, Kind, Origin, Segment, Stability, TracedText, Trust,
};
use crate::kernel::conversation::{Speaker, Turn};
use crate::registry::body::Text;
use crate::template::keywords::{self, FileSource};
use serde_json::Value;
use std::collections::BTreeSet;

/// Builds the segments of one node.
pub(in crate::context) struct SegmentBuilder<'a> {
    pub(in crate::context) request: &'a Request<'a>,
    pub(in crate::context) filler: Filler<'a>,
    pub(in crate::context) scope: &'a NameScope,
    pub(in crate::context) link: &'a ChainLink<'a>,
    /// Faults of the segment being written.
    pub(in crate::context) faults: Faults,
    /// The inputs that the segment needs and that are not available yet.
    pub(in crate::context) late: BTreeSet<String>,
    pub(in crate::context) used: BTreeSet<String>,
    pub(in crate::context) out: Vec<DraftSegment>,
}

impl SegmentBuilder<'_> {
    /// Returns all segments of the node, in the order of their kinds.
    pub(in crate::context) fn build_segments(mut self) -> Vec<DraftSegment> {
        let body = &self.link.node.body;
        self.push_text(Kind::System, body.system.as_ref());
        self.push_text(Kind::Description, body.description.as_ref());
        self.push_text(Kind::Instructions, body.instructions.as_ref());
        self.push_text(Kind::Criteria, body.criteria.as_ref());
        self.push_constraints();
        self.push_examples();
        self.push_output_format();
        self.push_files();
        self.push_inputs();
        self.out.sort_by_key(|drafted| drafted.segment.kind);
        self.out
    }

    fn place_of(&self, field: &str) -> FaultPlace {
        place_in(self.link, &self.link.node.id, field)
    }

    pub(in crate::context) fn fill_text(&mut self, text: &Text<'_>, field: &str) -> FilledText {
        let place = self.place_of(field);
        let filled = self.filler.for_file(&self.link.tree.path).fill(
            text,
            &place,
            self.scope,
            &mut self.faults,
        );
        self.note_uses(&filled);
        filled
    }

    /// Fills one of several texts; an untrusted one is fenced under its name.
    pub(in crate::context) fn fill_one(
        &mut self,
        text: &Text<'_>,
        field: &str,
        name: &str,
    ) -> FilledText {
        if !is_from_outside(text) {
            return self.fill_text(text, field);
        }
        let outer = self.filler;
        self.filler = outer.without_fences();
        let filled = self.fill_text(text, field);
        self.filler = outer;
        filled.fenced_as(name, outer)
    }

    fn note_uses(&mut self, filled: &FilledText) {
        self.used.extend(filled.used.iter().cloned());
        self.late.extend(
            filled
                .used
                .iter()
                .filter_map(|name| self.scope.awaited_input(name).cloned()),
        );
    }

    /// Takes the names of the missing inputs; in a dry run only the first of many, and the number
    /// of the others.
    fn take_needs(&mut self) -> BTreeSet<String> {
        let mut late = std::mem::take(&mut self.late);
        if self.filler.unknown.is_dry_run() && late.len() > MAX_LISTED {
            let more = late.len() - ALWAYS_LISTED;
            late = late
                .into_iter()
                .take(ALWAYS_LISTED)
                .chain([format!("{more} more")])
                .collect();
        }
        late
    }

    pub(in crate::context) fn push_segment(
        &mut self,
        kind: Kind,
        mut filled: FilledText,
        cut: CutPolicy,
        why: &str,
    ) {
        if !self.late.is_empty() {
            self.faults.clear();
            let late = self.take_needs();
            return self.out.push(DraftSegment::defer(kind, why, late));
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
            ..Segment::from_template(kind, filled.text, why).stable(stability)
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
            ..DraftSegment::known(segment)
        });
    }

    fn push_text(&mut self, kind: Kind, text: Option<&Text<'_>>) {
        let Some(text) = text else { return };
        let key = kind.as_str();
        let filled = self.fill_text(text, key);
        if kind == Kind::System {
            let untrusted = filled.untrusted.iter().map(String::as_str);
            self.faults.extend(refusals(
                Destination::System,
                &self.place_of(key),
                untrusted,
            ));
        }
        let before = self.out.len();
        self.push_segment(kind, filled, CutPolicy::Tail, &format!("<{key}>"));
        if text.trust == keywords::Trust::Untrusted
            && let Some(pushed) = self.out.get_mut(before)
        {
            pushed.segment.trust = Trust::Untrusted;
        }
    }

    fn push_output_format(&mut self) {
        let Some(format) = &self.link.node.body.output_format else {
            return;
        };
        match answer_format::format_instructions(format, &self.link.tree.path, self.request.files) {
            Ok(text) => {
                let filled = FilledText {
                    text,
                    ..FilledText::default()
                };
                self.push_segment(
                    Kind::OutputFormat,
                    filled,
                    CutPolicy::Tail,
                    "<output_format>",
                );
            }
            Err(kind) => {
                self.faults
                    .push(Fault::at_place(self.place_of("output_format"), kind));
                self.push_segment(
                    Kind::OutputFormat,
                    FilledText::default(),
                    CutPolicy::Tail,
                    "<output_format>",
                );
            }
        }
    }

    fn push_files(&mut self) {
        let Some(files) = &self.link.node.body.file_paths else {
            return;
        };
        match files.source {
            FileSource::Literal => {
                let mut seen = BTreeSet::new();
                for path in files.paths.iter().filter(|path| seen.insert(*path)) {
                    self.push_path(path);
                }
            }
            FileSource::Command => {
                let command = files.command.as_deref().unwrap_or_default();
                if self.filler.unknown != UnknownHandling::Fault {
                    return self.push_waiting_file(
                        Kind::File,
                        "files",
                        format!("output of `{command}`"),
                    );
                }
                match self.request.files.listed(command) {
                    Ok(paths) => {
                        let mut seen = BTreeSet::new();
                        for path in paths.iter().filter(|path| seen.insert(*path)) {
                            self.push_path(path);
                        }
                    }
                    Err(reason) => {
                        let kind = FaultKind::File {
                            path: format!("`{command}`"),
                            reason,
                        };
                        self.faults
                            .push(Fault::at_place(self.place_of("file_paths"), kind));
                        self.push_file(command, TracedText::default(), "<file_paths>");
                    }
                }
            }
            FileSource::Description => {
                let Some(text) = &files.description else {
                    return;
                };
                let place = self.place_of("file_paths/description");
                let filler = self.filler.for_file(&self.link.tree.path).without_fences();
                let query = filler.fill(text, &place, self.scope, &mut self.faults);
                self.note_uses(&query);
                if !self.late.is_empty() {
                    return self.push_segment(Kind::File, query, CutPolicy::Tail, "<file_paths>");
                }
                let is_known = self.request.source.is_there() && query.unknown.is_empty();
                if self.filler.unknown != UnknownHandling::Fault && !is_known {
                    self.push_waiting_file(
                        Kind::File,
                        "files",
                        "the files that match a description".to_owned(),
                    );
                    return;
                }
                match self.request.source.files_for(
                    self.request.role_name(),
                    query.text.text(),
                    MAX_MATCHES,
                ) {
                    Ok(found) => {
                        // Matches are as stable as the text of their query.
                        let stability = query
                            .stability
                            .unwrap_or(Stability::Project)
                            .max(Stability::Project);
                        for found in found {
                            let text = TracedText::new(
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
                        self.faults.push(Fault::at_place(
                            self.place_of("file_paths"),
                            FaultKind::Source { reason },
                        ));
                        self.push_file("", TracedText::default(), "<file_paths>");
                    }
                }
            }
        }
    }

    fn push_path(&mut self, path: &str) {
        match self.request.files.text(path) {
            Ok(text) => {
                let text = TracedText::new(
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
                self.faults
                    .push(Fault::at_place(self.place_of("file_paths"), kind));
                self.push_file(path, TracedText::default(), "<file_paths>");
            }
        }
    }

    fn push_file(&mut self, path: &str, text: TracedText, why: &str) {
        let filled = FilledText {
            text,
            stability: Some(Stability::Project),
            ..FilledText::default()
        };
        // An empty file becomes no segment.
        let before = self.out.len();
        self.push_segment(Kind::File, filled, CutPolicy::Tail, why);
        if let Some(pushed) = self.out.get_mut(before) {
            pushed.segment.id = format!("file:{path}");
            pushed.segment.max_tokens = self
                .link
                .node
                .body
                .file_paths
                .as_ref()
                .and_then(|files| token_cap(files.max_tokens));
            path.clone_into(&mut pushed.segment.title);
        }
    }

    fn push_waiting_file(&mut self, kind: Kind, title: &str, what: String) {
        let id = format!("{}:{title}", kind.as_str());
        let segment = Segment::from_template(kind, TracedText::default(), "<file_paths>")
            .named(id, title)
            .stable(Stability::Call);
        let condition = Some("a file is named");
        self.out.push(DraftSegment {
            unknown: BTreeSet::from([what]),
            condition,
            ..DraftSegment::known(segment)
        });
    }

    /// Adds the inputs that no text of the node contains.
    fn push_inputs(&mut self) {
        let late_from = self.scope.deferred_from();
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
            if let Some(late) = self.scope.awaited_input(name) {
                let late = BTreeSet::from([late.clone()]);
                self.out.push(DraftSegment::defer_input(name, late));
                continue;
            }
            let mut text = TracedText::default();
            match &bound.value {
                Some(value) => text.push(&values::to_text(value), bound.origin.clone()),
                None if self.filler.unknown != UnknownHandling::Fault => text.mark_open(),
                None if !bound.argument_faults.is_empty() => {
                    self.faults.extend(bound.argument_faults.iter().cloned());
                }
                None => {
                    let (origin, named) = MissingFrom::from_origin(&bound.origin);
                    let name = named.unwrap_or(name).to_owned();
                    let place = self.place_of(&format!("inputs/{number}"));
                    self.faults
                        .push(Fault::at_place(place, FaultKind::Missing { name, origin }));
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
            let segment = Segment::from_template(Kind::Input, text, "<inputs>")
                .named(format!("input:{name}"), name)
                .stable(bound.stability);
            let segment = Segment {
                trust: bound.trust_of(&[]),
                max_tokens: token_cap(input.max_tokens),
                ..segment
            };
            // The source of the value is part of the future segment.
            let place = self.place_of(&format!("inputs/{number}"));
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
            let latent = TracedText::new(from.unwrap_or_default(), origin);
            let faults = std::mem::take(&mut self.faults);
            self.out.push(DraftSegment {
                latent,
                unknown,
                faults,
                ..DraftSegment::known(segment)
            });
        }
        let many = if self.filler.unknown.is_dry_run() && late.len() > MAX_LISTED {
            late.len() - ALWAYS_LISTED
        } else {
            0
        };
        let mut defer = |name: &str, needs: String| {
            self.out
                .push(DraftSegment::defer_input(name, BTreeSet::from([needs])));
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
pub(in crate::context) fn token_cap(tokens: Option<u32>) -> Option<usize> {
    tokens.map(|tokens| tokens as usize)
}

/// Several texts that become one segment.
#[derive(Default)]
struct JoinedTexts {
    all: FilledText,
    borders: Vec<usize>,
    /// The inputs that the deferred texts need.
    late: BTreeSet<String>,
}

impl JoinedTexts {
    /// Starts the next text, with a separator before all but the first.
    fn start_text(&mut self, between: &str) {
        let is_first = self.borders.is_empty();
        self.borders.push(self.all.text.text().len());
        self.all
            .text
            .push(if is_first { "" } else { between }, Origin::Generated);
    }

    /// Adds the facts about a text to those of the segment.
    fn merge_facts(&mut self, filled: FilledText) {
        self.all.latent.append(&filled.latent);
        self.all.unknown.extend(filled.unknown);
        self.all.untrusted.extend(filled.untrusted);
        self.all.stability = self.all.stability.max(filled.stability);
    }
}

impl SegmentBuilder<'_> {
    pub(in crate::context) fn push_constraints(&mut self) {
        if self.link.node.body.constraints.is_empty() {
            return;
        }
        let mut several = JoinedTexts::default();
        for (number, text) in self.link.node.body.constraints.iter().enumerate() {
            let fill = |author: &mut Self| {
                author.fill_one(text, &format!("constraints/{number}"), "constraint")
            };
            let Some(filled) = self.fill_known(&mut several.late, fill) else {
                continue;
            };
            several.start_text("\n");
            several.all.text.push("- ", Origin::Generated);
            append_hanging(&mut several.all.text, &filled.text);
            several.merge_facts(filled);
        }
        // A constraint is never dropped, however long the untrusted text in another one is.
        let is_kept = !several.all.untrusted.is_empty();
        let before = self.out.len();
        self.push_joined(Kind::Constraints, several, "<constraints>");
        if let Some(drafted) = self.out.get_mut(before).filter(|_| is_kept) {
            drafted.segment.priority = Some(FIRST_EXPENDABLE - 1);
        }
    }

    pub(in crate::context) fn push_examples(&mut self) {
        if self.link.node.body.examples.is_empty() {
            return;
        }
        if self.link.node.body.examples_as_turns {
            return self.push_example_turns();
        }
        let mut several = JoinedTexts::default();
        for (number, example) in self.link.node.body.examples.iter().enumerate() {
            let fill = |author: &mut Self| {
                let texts = [("input", &example.input), ("output", &example.output)];
                texts.map(|(key, text)| {
                    Some(author.fill_one(text.as_ref()?, &format!("examples/{number}/{key}"), key))
                })
            };
            let Some(filled) = self.fill_known(&mut several.late, fill) else {
                continue;
            };
            let between = if filled[0].is_some() { "\n\n" } else { "" };
            several.start_text(between);
            for (filled, word) in filled.into_iter().zip(["Input:\n", "\nOutput:\n"]) {
                let Some(filled) = filled else { continue };
                several.all.text.push(word, Origin::Generated);
                several.all.text.append(&filled.text);
                several.merge_facts(filled);
            }
        }
        self.push_joined(Kind::Examples, several, "<examples>");
    }

    /// Adds each example as two messages: the user's question and the agent's answer.
    fn push_example_turns(&mut self) {
        for (number, example) in self.link.node.body.examples.iter().enumerate() {
            let mut all = FilledText::default();
            let mut turns = Vec::new();
            let mut is_blank = false;
            let asked = (Speaker::User, "input", &example.input);
            for (speaker, key, text) in [asked, (Speaker::Assistant, "output", &example.output)] {
                let Some(text) = text else { continue };
                let filled = self.fill_one(text, &format!("examples/{number}/{key}"), key);
                is_blank |= filled.unknown.is_empty()
                    && self.faults.is_empty()
                    && filled.text.text().trim().is_empty();
                turns.push(Turn::new(speaker, filled.text.text()));
                all.text.append(&filled.text);
                all.latent.append(&filled.latent);
                all.unknown.extend(filled.unknown);
                all.untrusted.extend(filled.untrusted);
                all.stability = all.stability.max(filled.stability);
            }
            // An example without a question or an answer is skipped.
            if (is_blank || turns.len() < 2) && self.late.is_empty() {
                continue;
            }
            let before = self.out.len();
            self.push_segment(
                Kind::Examples,
                all,
                CutPolicy::TailAt(Vec::new()),
                "<examples>",
            );
            if let Some(drafted) = self.out.get_mut(before) {
                drafted.segment.id = format!("examples:{}", number + 1);
                drafted.segment.turns = turns;
            }
        }
    }

    /// Returns a filled text; `None` if it cannot be known yet, and then `late` collects the inputs
    /// that it needs.
    fn fill_known<T>(
        &mut self,
        late: &mut BTreeSet<String>,
        fill: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        let faults = self.faults.len();
        let filled = fill(self);
        let missing = std::mem::take(&mut self.late);
        if missing.is_empty() {
            return Some(filled);
        }
        self.faults.truncate(faults);
        late.extend(missing);
        None
    }

    fn push_joined(&mut self, kind: Kind, several: JoinedTexts, why: &str) {
        self.push_segment(kind, several.all, CutPolicy::TailAt(several.borders), why);
        if !several.late.is_empty() {
            self.late = several.late;
            self.push_segment(kind, FilledText::default(), CutPolicy::Tail, why);
        }
    }
}

/// Appends a text under the preceding bullet, with all further lines indented by two.
pub(in crate::context) fn append_hanging(out: &mut TracedText, text: &TracedText) {
    let mut start = 0;
    let mut untrusted = text.untrusted().iter().peekable();
    for line in text.lines() {
        if start > 0 {
            // The indentation of an untrusted line counts as untrusted, because its author
            // determines the number of lines.
            while untrusted.next_if(|range| range.end <= start).is_some() {}
            let is_inside = untrusted.peek().is_some_and(|range| range.start < start);
            let indentation = out.text().len();
            out.push("  ", Origin::Generated);
            if is_inside {
                out.mark_untrusted(indentation);
            }
        }
        out.append(&line);
        start += line.text().len();
    }
}
