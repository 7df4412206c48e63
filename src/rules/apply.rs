//! Applies fixes to a text: the fixes that do not overlap, repeated until no fix makes progress.
//!
//! Never applies two overlapping fixes, never keeps a fix whose finding remains, never introduces
//! an error, never runs more than [`MAX_ROUNDS`] rounds. The caller passes the function that checks a
//! text.

use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{self, Applicability, Edit, Fix};
use crate::base::hash::Hash;
use crate::base::rule_meta::Severity;
use crate::base::span::Span;
use crate::syntax::limits::XmlLimits;
use crate::syntax::reader::XmlReader;
use crate::syntax::tree::Element;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of rounds. A fix may uncover the next finding.
pub const MAX_ROUNDS: usize = 10;

/// Maximum number of failed attempts to apply fixes, over all rounds together. Bounds the number of
/// checks of a text with many unusable fixes.
pub const MAX_TRIALS: usize = 128;

/// Rules about texts and values that cannot be parsed. Such a finding hides the other findings
/// inside the text.
const PARSING_RULES: [&str; 6] = [
    "bad-expression",
    "bad-condition",
    "bad-jinja",
    "bad-value",
    "unknown-key",
    "unknown-scenario-key",
];

/// Bytes of text for which one attempt counts once, and the number of bytes that a finding adds.
const COST_OF_TRIAL: usize = 65_536;
const COST_OF_FINDING: usize = 256;

/// The fixes that may be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixSelection {
    /// Only fixes that need no review.
    Safe,
    /// Suggested fixes too: the first of each finding.
    Suggested,
}

/// A fix that was chosen for a finding.
#[derive(Clone, Copy, Debug)]
pub struct FixChoice<'d> {
    /// The finding that the fix removes.
    pub finding: &'d Diagnostic,
    /// The fix to apply.
    pub fix: &'d Fix,
}

impl FixChoice<'_> {
    /// True if an error found after this fix may have existed before, hidden by the fixed error.
    /// That holds for a safe fix of an error, and for a fix of a text that could not be parsed.
    pub fn may_uncover_errors(&self) -> bool {
        let is_read = PARSING_RULES.contains(&self.finding.rule.name);
        is_error(self.finding) && (is_read || self.fix.applicability == Applicability::Safe)
    }
}

/// The result of fixing a text.
#[derive(Clone, Debug)]
pub struct FixedText {
    /// The fixed text.
    pub text: String,
    /// The number of findings that were removed.
    pub fixed: usize,
    /// The findings in the fixed text.
    pub remaining: Vec<Diagnostic>,
}

/// A function that returns all findings of a text.
pub type CheckText<'c> = dyn FnMut(&str) -> Vec<Diagnostic> + 'c;

/// Returns the applicable fix of a finding; `None` if it has no fix of the selected kind, or only
/// its author can choose one.
pub fn eligible_fix(finding: &Diagnostic, which: FixSelection) -> Option<&Fix> {
    if !finding.is_fixable() {
        return None;
    }
    finding
        .fixes
        .iter()
        .find(|fix| which == FixSelection::Suggested || fix.applicability == Applicability::Safe)
}

/// The findings before the first fix, with the number of times each occurs.
pub struct InitialFindings(BTreeMap<(Arc<str>, u16, String), usize>);

impl InitialFindings {
    /// Counts the findings of a text.
    pub fn count_findings(found: &[Diagnostic]) -> Self {
        let mut counts = BTreeMap::new();
        for finding in found {
            *counts.entry(Self::finding_key(finding)).or_default() += 1;
        }
        Self(counts)
    }

    /// Returns the number of these findings that are gone from `left`.
    pub fn removed_count(&self, left: &[Diagnostic]) -> usize {
        let left = Self::count_findings(left);
        self.0
            .iter()
            .map(|(entry, had)| had.saturating_sub(left.0.get(entry).copied().unwrap_or(0)))
            .sum()
    }

    fn finding_key(finding: &Diagnostic) -> (Arc<str>, u16, String) {
        // Damage may hide any other finding, so the message of a syntax error does not identify it.
        let message = if is_syntax(finding) {
            String::new()
        } else {
            finding.message.clone()
        };
        (
            Arc::clone(&finding.path),
            if is_syntax(finding) {
                0
            } else {
                finding.rule.code.0
            },
            message,
        )
    }

    /// True if a finding is no error, was caused by other fixes (such as a parameter that nothing
    /// reads any more), and its fix would delete text. Its author has to decide on that, unless the
    /// fix is safe.
    pub fn is_side_effect(&self, finding: &Diagnostic) -> bool {
        let takes = |fix: &Fix| {
            fix.edits
                .iter()
                .all(|edit| edit.insert.len() < edit.span.len() as usize)
        };
        let is_safe = || eligible_fix(finding, FixSelection::Safe).is_some();
        let takes_away =
            !is_error(finding) && finding.fixes.first().is_some_and(takes) && !is_safe();
        takes_away && !self.contains(finding)
    }

    /// True if a finding existed before the first fix, or may have been hidden by damage.
    pub fn contains(&self, finding: &Diagnostic) -> bool {
        let damage = (Arc::clone(&finding.path), 0, String::new());
        self.0.contains_key(&Self::finding_key(finding)) || self.0.contains_key(&damage)
    }
}

/// Chooses fixes that do not overlap, gravest findings first. An insertion at the border of another
/// edit waits for the next round, because the order of the two would be a guess.
pub fn choose_fixes<'d>(
    found: impl IntoIterator<Item = &'d Diagnostic>,
    selection: FixSelection,
) -> Vec<FixChoice<'d>> {
    let mut taken: BTreeMap<u32, u32> = BTreeMap::new();
    let mut chosen = Vec::new();
    let mut found: Vec<&Diagnostic> = found.into_iter().collect();
    found.sort_by_key(|finding| finding.severity);
    for finding in found {
        let Some(fix) = eligible_fix(finding, selection).filter(|fix| !fix.edits.is_empty()) else {
            continue;
        };
        if fix
            .edits
            .iter()
            .any(|edit| overlaps_edit(&taken, edit.span))
        {
            continue;
        }
        taken.extend(
            fix.edits
                .iter()
                .map(|edit| (edit.span.start, edit.span.end)),
        );
        chosen.push(FixChoice { finding, fix });
    }
    chosen
}

/// True if an edit touches one of the chosen edits, which are disjoint and keyed by their starts.
fn overlaps_edit(taken: &BTreeMap<u32, u32>, span: Span) -> bool {
    let near = taken
        .range(..=span.end)
        .rev()
        .take_while(|(_, end)| **end >= span.start);
    near.map(|(&start, &end)| Span::new(start, end))
        .any(|other| {
            let overlap = other.start < span.end && span.start < other.end;
            overlap || other.is_empty() || span.is_empty()
        })
}

/// Returns the text with these fixes applied; `None` if the edits of a fix do not fit the text.
pub fn text_with_fixes(text: &str, choices: &[FixChoice<'_>]) -> Option<String> {
    fix::apply_edits(text, &sorted_edits(choices))
}

fn sorted_edits(choices: &[FixChoice<'_>]) -> Vec<Edit> {
    let mut edits: Vec<Edit> = choices
        .iter()
        .flat_map(|choice| choice.fix.edits.iter().cloned())
        .collect();
    edits.sort_by_key(|edit| edit.span);
    edits
}

/// Returns the fixes to apply next: those of the first choice that introduce no error, or, if none
/// remains, those of the next choices. `before` contains all findings of the text, `found` those to
/// fix.
pub fn next_fixes<'d>(
    text: &str,
    found: &[&'d Diagnostic],
    selection: FixSelection,
    before: &[Diagnostic],
    limits: &XmlLimits,
    trials: &mut usize,
    check: &mut CheckText<'_>,
) -> Vec<FixChoice<'d>> {
    // Syntax errors are fixed first, by themselves. Findings that they hid may appear then; such
    // findings must not excuse an error that another fix introduces.
    let (damage, rest): (Vec<&Diagnostic>, Vec<&Diagnostic>) =
        found.iter().partition(|finding| is_syntax(finding));
    for mut found in [damage, rest] {
        for _ in 0..MAX_ROUNDS {
            let choices = choose_fixes(found.iter().copied(), selection);
            let fixes = sound_fixes(text, &choices, before, limits, trials, check);
            if !fixes.is_empty() {
                return fixes;
            }
            if choices.is_empty() {
                break;
            }
            // Findings that these choices blocked may be fixable without them.
            found.retain(|finding| {
                !choices
                    .iter()
                    .any(|choice| std::ptr::eq(choice.finding, *finding))
            });
        }
    }
    Vec::new()
}

/// Returns those of the chosen fixes that together remove their findings and introduce no error.
/// `before` contains the findings of the text.
pub fn sound_fixes<'d>(
    text: &str,
    choices: &[FixChoice<'d>],
    before: &[Diagnostic],
    limits: &XmlLimits,
    trials: &mut usize,
    check: &mut CheckText<'_>,
) -> Vec<FixChoice<'d>> {
    // The cost of a check grows with the length of the text and the number of its findings.
    let cost = 1 + (text.len() + COST_OF_FINDING * before.len()) / COST_OF_TRIAL;
    passing_items(choices, trials, cost, &mut |choices| {
        text_with_fixes(text, choices).is_some_and(|after| {
            let found = check(&after);
            let edits = sorted_edits(choices);
            let change = EditedText {
                text,
                edits: &edits,
                before,
                limits,
            };
            removes_findings(choices, &edits, &found)
                && !adds_errors(
                    &change,
                    choices.iter().all(FixChoice::may_uncover_errors),
                    &found,
                )
        })
    })
}

/// Returns the items that pass together. Tries all of them, then bisects to exclude those that
/// fail. Stops when no attempts are left; each failure costs `cost` of them.
pub fn passing_items<T: Copy>(
    items: &[T],
    trials: &mut usize,
    cost: usize,
    passes: &mut dyn FnMut(&[T]) -> bool,
) -> Vec<T> {
    let mut accepted: Vec<T> = Vec::with_capacity(items.len());
    let mut open = vec![items];
    while let Some(batch) = open.pop() {
        if batch.is_empty() || *trials == 0 {
            continue;
        }
        let accepted_before = accepted.len();
        accepted.extend_from_slice(batch);
        if passes(&accepted) {
            continue;
        }
        *trials = trials.saturating_sub(cost);
        accepted.truncate(accepted_before);
        if let Some((first, second)) = batch
            .split_at_checked(batch.len() / 2)
            .filter(|_| batch.len() > 1)
        {
            open.push(second);
            open.push(first);
        }
    }
    accepted
}

/// Applies fixes to a text until nothing changes. Findings that `is_wanted` rejects are left alone.
pub fn fix_text(
    text: &str,
    selection: FixSelection,
    limits: &XmlLimits,
    is_wanted: &dyn Fn(&Diagnostic) -> bool,
    check: &mut CheckText<'_>,
) -> FixedText {
    let mut out = FixedText {
        text: text.to_owned(),
        fixed: 0,
        remaining: check(text),
    };
    let mut seen = BTreeSet::from([Hash::digest(text.as_bytes())]);
    let mut trials = MAX_TRIALS;
    let beginning = InitialFindings::count_findings(&out.remaining);
    for _ in 0..MAX_ROUNDS {
        let found: Vec<&Diagnostic> = out
            .remaining
            .iter()
            .filter(|finding| is_wanted(finding) && !beginning.is_side_effect(finding))
            .collect();
        let sound = next_fixes(
            &out.text,
            &found,
            selection,
            &out.remaining,
            limits,
            &mut trials,
            check,
        );
        let Some(text) = text_with_fixes(&out.text, &sound).filter(|_| !sound.is_empty()) else {
            break;
        };
        // Two fixes that undo each other would repeat forever.
        if !seen.insert(Hash::digest(text.as_bytes())) {
            break;
        }
        out.remaining = check(&text);
        out.text = text;
    }
    out.fixed = beginning.removed_count(&out.remaining);
    out
}

/// A text with edits applied to it.
struct EditedText<'c> {
    text: &'c str,
    edits: &'c [Edit],
    before: &'c [Diagnostic],
    limits: &'c XmlLimits,
}

/// True if each finding to fix is gone from its place.
fn removes_findings(choices: &[FixChoice<'_>], edits: &[Edit], after: &[Diagnostic]) -> bool {
    let place = |finding: &Diagnostic| {
        (
            finding.rule.code.0,
            offset_before(edits, finding.span.start),
        )
    };
    let mut left: BTreeMap<(u16, u32), Vec<&str>> = BTreeMap::new();
    for finding in after {
        left.entry(place(finding))
            .or_default()
            .push(&finding.message);
    }
    choices.iter().map(|choice| choice.finding).all(|finding| {
        let here = left.get(&(finding.rule.code.0, finding.span.start));
        here.is_none_or(|messages| !messages.contains(&&*finding.message))
    })
}

/// True if the edits introduced an error. An error that a damaged region hid was not introduced by
/// the fix of the damage.
fn adds_errors(change: &EditedText<'_>, uncovers: bool, after: &[Diagnostic]) -> bool {
    let mut known: BTreeMap<(u16, &str), usize> = BTreeMap::new();
    for finding in change.before.iter().filter(|finding| is_error(finding)) {
        *known.entry(error_key(finding)).or_default() += 1;
    }
    let new: Vec<&Diagnostic> = after
        .iter()
        .filter(|finding| is_error(finding))
        .filter(|finding| match known.get_mut(&error_key(finding)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            Some(_) | None => true,
        })
        .collect();
    if new.is_empty() || uncovers && !new.iter().any(|finding| is_syntax(finding)) {
        return false;
    }
    let damages = |found: &[Diagnostic]| {
        found
            .iter()
            .filter(|finding| is_error(finding) && is_syntax(finding))
            .count()
    };
    if damages(after) >= damages(change.before) || new.iter().any(|finding| is_syntax(finding)) {
        return true;
    }
    let mut reader = XmlReader::new();
    reader.read(change.text, change.limits);
    let document = reader.document(change.text);
    let was_hidden = |finding: &&Diagnostic| {
        let at = offset_before(change.edits, finding.span.start);
        let mut around =
            std::iter::successors(document.element_at(at), |element| element.parent()).peekable();
        around.peek().is_none() || around.any(Element::is_damaged)
    };
    !new.iter().all(was_hidden)
}

fn error_key(finding: &Diagnostic) -> (u16, &str) {
    (finding.rule.code.0, &finding.message)
}

fn is_error(finding: &Diagnostic) -> bool {
    finding.severity == Severity::Error
}

fn is_syntax(finding: &Diagnostic) -> bool {
    finding.rule.code.family() == 0
}

/// Maps an offset of the changed text to its offset in the original text.
fn offset_before(edits: &[Edit], offset: u32) -> u32 {
    let mut old = 0;
    let mut new = 0;
    for edit in edits {
        let unchanged_length = edit.span.start - old;
        if offset < new + unchanged_length {
            break;
        }
        new += unchanged_length;
        old = edit.span.start;
        let inserted = edit.insert.len() as u32;
        if offset < new + inserted {
            return old;
        }
        new += inserted;
        old = edit.span.end;
    }
    old + (offset - new)
}

#[cfg(test)]
#[path = "../../tests/unit/rules/apply.rs"]
mod tests;
