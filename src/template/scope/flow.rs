//! Records how names reach references during the walk, for linking. See [`DefinitionFlow`].

use crate::base::source::Position;
use crate::base::span::{Span, Spanned};
use crate::template::keywords::Trust;
use crate::template::model::{self, TaskInput};
use crate::template::names::{
    DefinitionFlow, FileFacts, FlowEvent, FlowName, Param, PartUse, ReferenceSite, Unfenced,
    UseCertainty,
};
use crate::template::parts::is_schema_file;
use crate::template::shape::ValueShape;
use crate::template::trust::{CONTEXT, TOOLS, spread_marks_back};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The names of one definition.
#[derive(Debug, Default)]
pub(super) struct FlowRecorder<'m> {
    names: Vec<RecordedName<'m>>,
    events: Vec<FlowEvent>,
    /// The parameters of the definition; true if one has no value unless it is bound.
    parameters: Vec<(u32, bool)>,
    /// The names that the current value is made of, each with the part of it that is used.
    pub(super) used: Vec<(u32, Box<str>)>,
    pub(super) uses: Vec<PartUse>,
    /// By name: the minimum size in bytes of its value as text. A value counts every time that it
    /// is used.
    sizes: HashMap<u32, u64>,
    has_sites: bool,
    /// True if the trust of a result in this definition may be needed later.
    pub(super) has_results: bool,
    /// The name of the definition's result.
    pub(super) result: Option<u32>,
    /// True if its root inherits context.
    pub(super) inherits: bool,
}

/// The maximum number of parts of a value that are recorded, and the maximum length of a chain of
/// aliases.
pub(crate) const MAX_PARTS: usize = 32;

/// A [`FlowName`] that still borrows.
#[derive(Debug, Default)]
struct RecordedName<'m> {
    word: Cow<'m, str>,
    at: Box<str>,
    span: Span,
    kind: Option<&'m str>,
    untrusted: bool,
    made_of: Vec<(u32, Box<str>)>,
    part_of: Vec<(u32, Box<str>)>,
    answer_of: Option<u32>,
    default: Option<Box<Value>>,
}

/// The known facts of a value.
#[derive(Debug, Default)]
pub(super) struct ValueFacts<'m> {
    /// The mark that makes it untrusted, or trusted regardless of its sources.
    pub(super) mark: TrustMark,
    pub(super) kind: Option<&'m str>,
    pub(super) of: Vec<(u32, Box<str>)>,
    pub(super) part_of: Vec<(u32, Box<str>)>,
    pub(super) answer_of: Option<u32>,
    pub(super) default: Option<Box<Value>>,
}

/// The mark of trust that a value has where it is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TrustMark {
    /// No mark: its sources decide.
    #[default]
    None,
    /// The value comes from outside.
    Outside,
    /// The value was checked.
    Checked,
}

impl TrustMark {
    pub(super) fn outside_if(is_outside: bool) -> Self {
        if is_outside {
            Self::Outside
        } else {
            Self::None
        }
    }
}

impl From<Option<Trust>> for TrustMark {
    fn from(written: Option<Trust>) -> Self {
        match written {
            None => Self::None,
            Some(Trust::Trusted) => Self::Checked,
            Some(Trust::Untrusted) => Self::Outside,
        }
    }
}

/// The purpose of linking, which decides how much is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkDetail {
    /// Only findings.
    Findings,
    /// A registry, which contains the trust of every value.
    Registry,
}

/// The recorded facts of one definition: its parameters, and the flow of names in it.
#[derive(Clone, Debug, Default)]
pub(super) struct DefinitionSummary {
    params: Box<[Param]>,
    inherits: bool,
    has_untrusted_result: bool,
    has_tool_result: bool,
    open_tool_result: Option<Span>,
    context: Option<Unfenced>,
    open: Option<Span>,
    flow: Option<DefinitionFlow>,
}

/// Stores the recorded facts of each definition in the facts of a file.
pub(super) fn store_summaries(summaries: Vec<DefinitionSummary>, facts: &mut FileFacts) {
    for (definition, own) in facts.definitions.iter_mut().zip(summaries) {
        definition.params = own.params;
        definition.inherits = own.inherits;
        definition.has_untrusted_result = own.has_untrusted_result;
        definition.has_tool_result = own.has_tool_result;
        definition.open_tool_result = own.open_tool_result;
        definition.context = own.context;
        definition.open = own.open;
        facts.flows.extend(own.flow);
    }
}

impl<'m> FlowRecorder<'m> {
    /// Adds a name that is not bound yet.
    pub(super) fn add_name(&mut self, name: Cow<'m, str>, facts: ValueFacts<'m>) -> u32 {
        let ValueFacts {
            mark,
            kind,
            of,
            part_of,
            answer_of,
            default,
        } = facts;
        let made_of = if mark == TrustMark::Checked {
            Vec::new()
        } else {
            of
        };
        let (at, span) = (Box::default(), Span::default());
        let untrusted = mark == TrustMark::Outside;
        self.names.push(RecordedName {
            word: name,
            at,
            span,
            kind,
            untrusted,
            made_of,
            part_of,
            answer_of,
            default,
        });
        self.names.len() as u32 - 1
    }

    /// Adds a value without a name that is made of others.
    pub(super) fn add_value(
        &mut self,
        at: String,
        mark: TrustMark,
        of: impl IntoIterator<Item = u32>,
    ) -> u32 {
        let of = of
            .into_iter()
            .map(|source| (source, Box::default()))
            .collect();
        let id = self.add_name(
            Cow::Borrowed(""),
            ValueFacts {
                mark,
                of,
                ..ValueFacts::default()
            },
        );
        self.set_position(id, at, Span::default());
        id
    }

    /// Sets the path and the span of a name.
    pub(super) fn set_position(&mut self, id: u32, at: String, span: Span) {
        if let Some(name) = self.names.get_mut(id as usize) {
            (name.at, name.span) = (at.into(), span);
        }
    }

    /// Clears the positions of values that are replaced by another value.
    pub(super) fn clear_positions(&mut self, own: &[(u32, Box<str>)]) {
        for (id, _) in own {
            self.set_position(*id, String::new(), Span::default());
        }
    }

    /// Adds sources and a mark to a value.
    pub(super) fn add_sources(&mut self, id: u32, of: Vec<(u32, Box<str>)>, mark: TrustMark) {
        if let Some(name) = self.names.get_mut(id as usize) {
            name.made_of.extend(of);
            name.untrusted |= mark == TrustMark::Outside;
        }
    }

    /// Marks a value and everything that it is an alias of as coming from outside.
    pub(super) fn mark_untrusted(&mut self, id: u32) {
        let mut open = vec![id];
        while let Some(name) = open
            .pop()
            .and_then(|id| self.names.get_mut(id as usize))
            .filter(|name| !name.untrusted)
        {
            name.untrusted = true;
            open.extend(name.part_of.iter().map(|(whole, _)| *whole));
        }
    }

    pub(super) fn record_bind(&mut self, id: u32) {
        self.events.push(FlowEvent::Bind(id));
    }

    pub(super) fn record_unbind(&mut self, left: usize) {
        self.events.push(FlowEvent::Unbind(left as u32));
    }

    pub(super) fn add_parameter(&mut self, id: u32, required: bool) {
        self.parameters.push((id, required));
    }

    /// Adds facts from a second declaration of a name. Its default replaces the earlier one.
    pub(super) fn extend_facts(&mut self, id: u32, second: ValueFacts<'m>) {
        if let Some(name) = self.names.get_mut(id as usize) {
            name.untrusted |= second.mark == TrustMark::Outside;
            name.kind = name.kind.or(second.kind);
            name.default = second.default;
        }
    }

    /// Records the use of a value. `src` is set in a separate text file.
    pub(super) fn record_use(
        &mut self,
        name: u32,
        path: &Spanned<Box<str>>,
        src: Option<Span>,
        unfenced: Option<Unfenced>,
    ) {
        if unfenced.is_some() || !path.value.is_empty() {
            let inside = src.map(|_| (path.span, Position::default()));
            let span = src.unwrap_or(path.span);
            self.uses.push(PartUse {
                name,
                path: path.value.clone(),
                expected_type: None,
                unfenced,
                reached: UseCertainty::Always,
                span,
                inside,
            });
        }
    }

    /// Sets the certainty with which the last use is reached.
    pub(super) fn set_last_certainty(&mut self, reached: UseCertainty) {
        self.uses
            .last_mut()
            .into_iter()
            .for_each(|used| used.reached = reached);
    }

    /// The value of a name if only defaults are passed.
    #[cfg(feature = "assemble")]
    pub(super) fn default_value(&self, mut name: u32) -> Option<Value> {
        let mut path = String::new();
        loop {
            let own = self.names.get(name as usize)?;
            if let Some(default) = &own.default {
                return value_at(default, &path).cloned();
            }
            let [(whole, part)] = own.part_of.as_slice() else {
                return None;
            };
            path.insert_str(0, part);
            name = *whole;
        }
    }

    /// A sample value of the type of a name, if values of that type have no parts.
    #[cfg(feature = "assemble")]
    pub(super) fn sample_value(&self, name: u32) -> Option<Value> {
        match self.names.get(name as usize)?.kind? {
            "text" | "string" => Some("sample".into()),
            "number" | "integer" => Some(3.into()),
            "boolean" => Some(true.into()),
            _ => None,
        }
    }

    /// Records a part that a default lacks; the use of it may be recorded already.
    #[cfg(feature = "assemble")]
    pub(super) fn record_missing_part(
        &mut self,
        name: u32,
        path: &Spanned<Box<str>>,
        src: Option<(Span, Position)>,
        reached: UseCertainty,
    ) {
        let is_same = |used: &&mut PartUse| {
            used.name == name
                && used.path == path.value
                && used.inside.is_some() == src.is_some()
                && (src.is_some() || used.span == path.span)
        };
        if let Some(used) = self.uses.iter_mut().find(is_same) {
            used.reached = used.reached.min(reached);
        } else {
            let (span, inside) = src.map_or((path.span, None), |(src, start)| {
                (src, Some((path.span, start)))
            });
            let path = path.value.clone();
            self.uses.push(PartUse {
                name,
                path,
                expected_type: None,
                unfenced: None,
                reached,
                span,
                inside,
            });
        }
    }

    /// The text of a name.
    #[cfg(feature = "assemble")]
    pub(super) fn name_text(&self, name: u32) -> &str {
        self.names.get(name as usize).map_or("", |name| &name.word)
    }

    /// Passes each use since `from` in a separate text file to `place`, with the text of its name,
    /// to set its position.
    pub(super) fn update_positions(
        &mut self,
        from: usize,
        mut place: impl FnMut(&str, &mut (Span, Position)),
    ) {
        for part in self.uses.iter_mut().skip(from) {
            if let Some(inside) = &mut part.inside {
                place(
                    self.names
                        .get(part.name as usize)
                        .map_or("", |name| &name.word),
                    inside,
                );
            }
        }
    }

    /// Records the use of a value as one of a type.
    pub(super) fn record_typed_use(&mut self, name: u32, kind: Option<&str>, span: Span) {
        if let Some(kind) = kind {
            self.uses.push(PartUse {
                name,
                path: Box::default(),
                expected_type: Some(kind.into()),
                unfenced: None,
                reached: UseCertainty::Always,
                span,
                inside: None,
            });
        }
    }

    /// The used parts of the parameters of a definition.
    fn used_parts(&self) -> BTreeMap<u32, BTreeSet<Box<str>>> {
        let mut parts: BTreeMap<u32, BTreeSet<Box<str>>> = BTreeMap::new();
        for used in self
            .uses
            .iter()
            .filter(|used| !used.path.is_empty() && used.reached == UseCertainty::Always)
        {
            let part_of = |name: u32| {
                self.names
                    .get(name as usize)
                    .map_or(&[][..], |name| &name.part_of)
            };
            for (name, path) in value_aliases(used.name, &used.path, part_of)
                .into_iter()
                .filter(|(name, _)| part_of(*name).is_empty())
            {
                parts.entry(name).or_default().insert(path.into());
            }
        }
        parts
    }

    /// The name that was added last.
    pub(super) fn last_name(&self) -> Option<u32> {
        (self.names.len() as u32).checked_sub(1)
    }

    /// Records a reference.
    pub(super) fn record_reference(&mut self, site: ReferenceSite) {
        self.has_sites = true;
        self.events.push(FlowEvent::Reference(Box::new(site)));
    }

    pub(super) fn event_count(&self) -> usize {
        self.events.len()
    }

    /// Connects the references in the text of an input, recorded since `mark`, to the last name.
    pub(super) fn attach_input_references(&mut self, mark: usize, input: &TaskInput<'_>) {
        if let (model::TaskInputValue::Text, Some(last)) = (&input.value, self.last_name()) {
            self.set_destination(mark, (input.trust != Some(Trust::Trusted)).then_some(last));
        }
    }

    /// The minimum size of a text with `own` bytes that uses the names recorded since `from`.
    pub(super) fn min_text_size(&self, own: usize, from: usize) -> u64 {
        let used = self
            .used
            .iter()
            .skip(from)
            .filter_map(|(name, _)| self.sizes.get(name));
        used.fold(own as u64, |sum, size| sum.saturating_add(*size))
    }

    /// Records the size in bytes of a name's value.
    pub(super) fn set_size(&mut self, name: u32, size: u64) {
        if size > 0 {
            self.sizes.insert(name, size);
        }
    }

    /// Sets the name that the results of the references recorded since `mark` become part of.
    pub(super) fn set_destination(&mut self, mark: usize, into: Option<u32>) {
        for event in self.events.iter_mut().skip(mark) {
            if let FlowEvent::Reference(site) = event {
                site.into = into;
            }
        }
    }

    /// Takes the names used since the last call, without duplicates.
    pub(super) fn take_used(&mut self) -> Vec<(u32, Box<str>)> {
        let mut used = std::mem::take(&mut self.used);
        used.sort_unstable();
        used.dedup();
        used
    }

    pub(super) fn finish(self, owner: u32, purpose: LinkDetail) -> DefinitionSummary {
        let reached = Unfenced::ALL.map(|own| {
            let uses = self
                .uses
                .iter()
                .filter(|used| used.unfenced == Some(own) && !self.is_inert(used.name, &used.path));
            spread_marks_back(self.names.len(), uses.map(|used| used.name), |at, into| {
                self.push_sources(at, into);
            })
        });
        let in_result = spread_marks_back(self.names.len(), self.result, |at, into| {
            self.push_sources(at, into);
        });
        let params = if self.parameters.is_empty() {
            Box::default()
        } else {
            self.build_params(&reached, &in_result)
        };
        let keeps = self.needs_flow(purpose);
        let has_untrusted_result = self
            .names
            .iter()
            .zip(&in_result)
            .any(|(name, is)| *is && name.untrusted);
        let tools = self.names.iter().position(|name| &*name.at == TOOLS);
        let has_tool_result = tools.is_some_and(|tools| in_result.get(tools) == Some(&true));
        let inherits = self.inherits;
        let around = self.names.iter().position(|name| &*name.at == CONTEXT);
        let context = Unfenced::first_marked(&reached, |marks| {
            around.and_then(|at| marks.get(at)) == Some(&true)
        });
        let shown = reached.get(Unfenced::Open as usize).into_iter().flatten();
        let open = self
            .names
            .iter()
            .zip(shown)
            .find(|(name, is)| **is && name.untrusted)
            .map(|(name, _)| name.span);
        let open_tool_result = tools.and_then(|tools| {
            self.tool_result_span(tools as u32, reached.get(Unfenced::Open as usize)?)
        });
        let flow = keeps.then(|| {
            let has_parts =
                |kind: &str| !matches!(ValueShape::for_type(kind), ValueShape::Scalar(_));
            let whole = |own: RecordedName<'_>| FlowName {
                name: own.word.into(),
                at: own.at,
                span: own.span,
                kind: own.kind.map(Box::from),
                untrusted: own.untrusted,
                made_of: own.made_of.into(),
                part_of: own.part_of.into(),
                default: own
                    .default
                    .filter(|_| own.kind.is_some_and(has_parts))
                    .map(|own| Box::new(ValueShape::from_value(&own))),
                answer_of: own.answer_of,
            };
            let names = self.names.into_iter().map(whole).collect();
            DefinitionFlow {
                owner,
                names,
                events: self.events.into(),
                uses: self.uses.into(),
                result: self.result,
            }
        });
        DefinitionSummary {
            params,
            inherits,
            has_untrusted_result,
            has_tool_result,
            open_tool_result,
            context,
            open,
            flow,
        }
    }

    /// The span of the first of the `some` names that holds the answer of an agent that may call
    /// tools; an empty span if none of these has one. `None` if no tool result reaches them.
    fn tool_result_span(&self, tools: u32, some: &[bool]) -> Option<Span> {
        let is_made_of =
            |name: &RecordedName<'_>, source: u32| name.made_of.iter().any(|(of, _)| *of == source);
        let is_answer = |at: u32| {
            self.names
                .get(at as usize)
                .is_some_and(|name| is_made_of(name, tools))
        };
        let named = || {
            let mut names = self
                .names
                .iter()
                .zip(some)
                .filter(|(name, is)| **is && !name.span.is_empty());
            names
                .find(|(name, _)| name.made_of.iter().any(|(of, _)| is_answer(*of)))
                .map(|(name, _)| name.span)
        };
        (some.get(tools as usize) == Some(&true)).then(|| named().unwrap_or_default())
    }

    /// Adds the sources of a value that can contain a text.
    fn push_sources(&self, at: usize, into: &mut Vec<u32>) {
        let all = self
            .names
            .get(at)
            .into_iter()
            .flat_map(|name| &name.made_of);
        into.extend(
            all.filter(|(source, path)| !self.is_inert(*source, path))
                .map(|(source, _)| *source),
        );
    }

    /// The parameters of the definition.
    fn build_params(&self, unfenced: &[Vec<bool>; 5], in_result: &[bool]) -> Box<[Param]> {
        let parts = self.used_parts();
        let param = |(id, required): &(u32, bool)| {
            let RecordedName {
                word,
                kind,
                untrusted,
                ..
            } = self.names.get(*id as usize)?;
            let is_inert = kind.is_some_and(|kind| ValueShape::for_type(kind).is_inert());
            let is = |marks: &[bool]| !is_inert && marks.get(*id as usize) == Some(&true);
            let parts = parts
                .get(id)
                .into_iter()
                .flatten()
                .take(MAX_PARTS)
                .cloned()
                .collect();
            let (unfenced, in_result) = (Unfenced::first_marked(unfenced, is), is(in_result));
            let is_held = is_inert && *untrusted;
            Some(Param {
                is_trusted_by_type: is_held,
                name: Box::from(&**word),
                required: *required,
                kind: kind.map(Box::from),
                unfenced,
                in_result,
                parts,
            })
        };
        self.parameters.iter().filter_map(param).collect()
    }

    /// True if a part of a value cannot contain a foreign text, according to declared types.
    /// Linking answers the same question for a [`DefinitionFlow`], also with schemas and answers.
    fn is_inert(&self, mut name: u32, path: &str) -> bool {
        let mut path = Cow::Borrowed(path);
        loop {
            let Some(own) = self.names.get(name as usize) else {
                return false;
            };
            // The type of a parameter of an inner body is not enforced.
            let is_held = || {
                own.at
                    .rsplit_once("/parameters/")
                    .is_none_or(|(node, _)| node.is_empty())
            };
            let shape = own.kind.filter(|_| is_held()).map(ValueShape::for_type);
            if shape.is_some_and(|shape| shape.part_at(&path).is_ok_and(ValueShape::is_inert)) {
                return true;
            }
            let [(whole, part)] = own.part_of.as_slice() else {
                return false;
            };
            if !part.is_empty() {
                path = Cow::Owned([&**part, &*path].concat());
            }
            name = *whole;
        }
    }

    /// The type of a part of a value, as far as declarations and texts determine it.
    pub(super) fn part_type(&self, mut name: u32, path: &str) -> Option<&'static str> {
        let mut path = Cow::Borrowed(path);
        loop {
            let own = self.names.get(name as usize)?;
            if let Some(kind) = own.kind {
                return ValueShape::for_type(kind).part_at(&path).ok()?.type_name();
            }
            let [(whole, part)] = own.part_of.as_slice() else {
                return None;
            };
            path = Cow::Owned([&**part, &*path].concat());
            name = *whole;
        }
    }

    /// True if linking requires more than the parameters of the definition.
    fn needs_flow(&self, purpose: LinkDetail) -> bool {
        // Without any known type, no use of a part can be faulty.
        let is_used = |used: &PartUse| !used.path.is_empty() || used.expected_type.is_some();
        let has_uses =
            || self.uses.iter().any(is_used) && self.names.iter().any(|name| name.kind.is_some());
        let is_marked = || self.names.iter().any(|name| name.untrusted);
        // Trust matters to a registry, to unfenced uses, and to schemas in files.
        let is_asked = || {
            purpose == LinkDetail::Registry
                || self
                    .uses
                    .iter()
                    .any(|used| used.unfenced.is_some_and(|own| own != Unfenced::Open))
                || self
                    .names
                    .iter()
                    .any(|name| name.kind.is_some_and(is_schema_file))
        };
        self.has_sites || has_uses() || (self.has_results || is_marked()) && is_asked()
    }
}

/// Returns the part of a value at a path such as `.a[0]`.
#[cfg(feature = "assemble")]
fn value_at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split(['.', '['])
        .skip(1)
        .try_fold(value, |value, step| match step.strip_suffix(']') {
            Some(number) => value.get(number.parse::<usize>().ok()?),
            None => value.get(step),
        })
}

/// Returns a part of a value under each of its names, at most [`MAX_PARTS`], starting with the
/// given one.
pub(crate) fn value_aliases<'n>(
    name: u32,
    path: &str,
    part_of: impl Fn(u32) -> &'n [(u32, Box<str>)],
) -> Vec<(u32, String)> {
    let mut all = vec![(name, path.to_owned())];
    let mut at = 0;
    while let Some((name, path)) = all.get(at) {
        let further = part_of(*name)
            .iter()
            .take(MAX_PARTS.saturating_sub(all.len()));
        let further: Vec<_> = further
            .map(|(whole, part)| (*whole, format!("{part}{path}")))
            .collect();
        all.extend(further);
        at += 1;
    }
    all
}
