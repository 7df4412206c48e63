//! Fixes applied to a whole selection in memory: each round checks all files again, with the fixed
//! texts in place of the files, so that no fix brings an error into another file. Writes nothing.

use super::project_check::{CheckOutput, check_project};
use super::request::{CheckRequest, FileOverlay, NoSuchPath, StdinFile};
use crate::base::diagnostic::Diagnostic;
use crate::base::fs::{self, RealFs};
use crate::registry::compile::{CompileBuffers, CompileOutcome, CompileReason, Compiler};
use crate::rules::apply::{self, FixChoice, FixSelection, InitialFindings, MAX_ROUNDS, MAX_TRIALS};
use crate::rules::check::{self, ActiveRules};
use crate::rules::list;
use crate::rules::rule::Check;
use crate::syntax::decode;
use crate::template::scope::LinkDetail;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The kinds of fixes, and the findings that they apply to.
#[derive(Clone, Copy)]
pub struct FixFilter<'w> {
    /// Only safe fixes, or suggested ones too.
    pub selection: FixSelection,
    /// Returns false for findings that are left alone.
    pub is_wanted: &'w dyn Fn(&Diagnostic) -> bool,
}

/// A file that fixes changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedFile {
    /// Its name in findings.
    pub name: String,
    /// Its bytes as checked.
    pub before: Vec<u8>,
    /// Its bytes with the fixes, in their original encoding.
    pub after: Vec<u8>,
}

/// The result of fixing a selection.
#[derive(Debug)]
pub struct FixOutcome {
    /// Changed files, by name.
    pub files: Vec<FixedFile>,
    /// The number of findings that are gone.
    pub fixed: usize,
    /// The result of a check of the fixed files.
    pub left: CheckOutput,
}

/// Fixes every finding that the filter accepts.
///
/// # Errors
/// A given path does not exist.
pub fn apply_fixes(
    request: &CheckRequest<'_>,
    filter: FixFilter<'_>,
) -> Result<FixOutcome, NoSuchPath> {
    let active = ActiveRules::new(request.config);
    let compiler = Compiler {
        config: request.config,
        active: &active,
        root: request.root,
        files: &RealFs,
        purpose: LinkDetail::Findings,
        package: None,
    };
    let mut found = check_project(request)?;
    let beginning = InitialFindings::count_findings(&found.diagnostics);
    let mut fixer = SelectionFixer {
        request,
        filter,
        beginning,
        compiler,
        scratch: CompileBuffers::new(),
        files: BTreeMap::new(),
        trials: MAX_TRIALS,
    };
    for _ in 0..MAX_ROUNDS {
        // The fixed text must be the checked text, so a text that is loaded now is checked again as
        // loaded.
        if fixer.load_fixable_files(&found.diagnostics) {
            found = fixer.check_overlaid(&FileOverlay::default())?;
        }
        let step = fixer.run_round(&found.diagnostics)?;
        let Some(next) = step else { break };
        found = next;
    }
    let files = fixer.files.into_iter().map(|(name, file)| {
        let after = decode::encode_like(&file.text, &file.before);
        FixedFile {
            name,
            before: file.before,
            after,
        }
    });
    let removed = fixer.beginning.removed_count(&found.diagnostics);
    Ok(FixOutcome {
        fixed: removed,
        files: files.filter(|file| file.after != file.before).collect(),
        left: found,
    })
}

/// A file with fixable findings.
struct FixableFile {
    before: Vec<u8>,
    text: String,
    /// The number of trials that may still fail.
    trials: usize,
}

/// A chosen fix and its file.
#[derive(Clone, Copy)]
struct ChosenFix<'d> {
    name: &'d str,
    choice: FixChoice<'d>,
}

struct SelectionFixer<'m> {
    request: &'m CheckRequest<'m>,
    filter: FixFilter<'m>,
    beginning: InitialFindings,
    compiler: Compiler<'m>,
    scratch: CompileBuffers,
    files: BTreeMap<String, FixableFile>,
    /// The number of trials of the whole selection that may still fail.
    trials: usize,
}

impl SelectionFixer<'_> {
    /// Reads the files that have fixable findings and are not loaded yet. Returns true if there
    /// were any.
    fn load_fixable_files(&mut self, found: &[Diagnostic]) -> bool {
        let mut new = false;
        let selection = self.filter.selection;
        let fixable = found.iter().filter(|finding| {
            (self.filter.is_wanted)(finding) && apply::eligible_fix(finding, selection).is_some()
        });
        let names: BTreeSet<&str> = fixable.map(|finding| &*finding.path).collect();
        for name in names {
            if self.files.contains_key(name) {
                continue;
            }
            let Some(before) = self.read_bytes(name) else {
                continue;
            };
            let Ok(text) = decode::decode(&before) else {
                continue;
            };
            let text = text.into_owned();
            self.files.insert(
                name.to_owned(),
                FixableFile {
                    before,
                    text,
                    trials: MAX_TRIALS,
                },
            );
            new = true;
        }
        new
    }

    fn read_bytes(&self, name: &str) -> Option<Vec<u8>> {
        if let Some(stdin) = self.request.stdin.filter(|stdin| stdin.name == name) {
            return Some(stdin.bytes.to_vec());
        }
        let mut bytes = Vec::new();
        fs::read_regular(
            &self.request.root.join(name),
            self.request.config.limits.file,
            &mut bytes,
        )
        .ok()?;
        Some(bytes)
    }

    /// Checks everything with the texts of `trial` in place of the current ones.
    fn check_overlaid(&self, trial: &FileOverlay) -> Result<CheckOutput, NoSuchPath> {
        let mut overlay = trial.clone();
        for (name, file) in &self.files {
            overlay
                .entry(name.clone())
                .or_insert_with(|| decode::encode_like(&file.text, &file.before));
        }
        let stdin = self.request.stdin.map(|stdin| {
            let bytes = overlay.get(stdin.name).map_or(stdin.bytes, Vec::as_slice);
            StdinFile {
                name: stdin.name,
                bytes,
            }
        });
        check_project(&CheckRequest {
            stdin,
            overlay: &overlay,
            ..*self.request
        })
    }

    /// Runs one round: chooses fixes, tries them, applies those that pass. `None` if nothing could
    /// be fixed.
    fn run_round(&mut self, found: &[Diagnostic]) -> Result<Option<CheckOutput>, NoSuchPath> {
        let mut items: Vec<ChosenFix<'_>> = Vec::new();
        for of_file in found.chunk_by(|a, b| a.path == b.path) {
            items.extend(self.choose_fixes(of_file));
        }
        if items.is_empty() {
            return Ok(None);
        }
        let known = count_name_errors(found);
        let mut last = None;
        let mut failed = None;
        let mut trials = self.trials;
        let kept = apply::passing_items(&items, &mut trials, 1, &mut |items| match self
            .check_overlaid(&self.trial_overlay(items))
        {
            Ok(next) => {
                let passes = items.iter().all(|item| item.choice.may_uncover_errors())
                    || !adds_name_errors(&known, found, &next.diagnostics);
                if passes {
                    last = Some(next);
                }
                passes
            }
            Err(missing) => {
                failed = Some(missing);
                true
            }
        });
        if let Some(missing) = failed {
            return Err(missing);
        }
        self.trials = trials;
        let texts = self.fixed_texts(&kept);
        for (name, text) in texts {
            if let Some(file) = self.files.get_mut(&name) {
                file.text = text;
            }
        }
        // The last trial that passed contained exactly the applied fixes.
        Ok(last)
    }

    /// The fixes of one file that add no error to it.
    fn choose_fixes<'d>(&mut self, found: &'d [Diagnostic]) -> Vec<ChosenFix<'d>> {
        let Some(first) = found.first() else {
            return Vec::new();
        };
        let Some(file) = self.files.get_mut(&*first.path) else {
            return Vec::new();
        };
        let selection = self.filter.selection;
        let is_open = |finding: &&Diagnostic| {
            (self.filter.is_wanted)(finding)
                && !self.beginning.is_side_effect(finding)
                && apply::eligible_fix(finding, selection).is_some()
        };
        let open: Vec<&Diagnostic> = found.iter().filter(is_open).collect();
        if open.is_empty() {
            return Vec::new();
        }
        let compiler = &self.compiler;
        let scratch = &mut self.scratch;
        let path = &first.path;
        let mut check_text = |text: &str| compile_findings(compiler, scratch, path, text);
        let before = check_text(&file.text);
        let sound = apply::next_fixes(
            &file.text,
            &open,
            selection,
            &before,
            &compiler.config.limits,
            &mut file.trials,
            &mut check_text,
        );
        sound
            .into_iter()
            .map(|choice| ChosenFix {
                name: &first.path,
                choice,
            })
            .collect()
    }

    fn fixed_texts(&self, items: &[ChosenFix<'_>]) -> BTreeMap<String, String> {
        let of_files = items.chunk_by(|a, b| a.name == b.name);
        let text = |items: &[ChosenFix<'_>]| {
            let name = items.first()?.name;
            let choices: Vec<FixChoice<'_>> = items.iter().map(|item| item.choice).collect();
            Some((
                name.to_owned(),
                apply::text_with_fixes(&self.files.get(name)?.text, &choices)?,
            ))
        };
        of_files.filter_map(text).collect()
    }

    fn trial_overlay(&self, items: &[ChosenFix<'_>]) -> FileOverlay {
        let bytes = |(name, text): (String, String)| {
            let like = self.files.get(&name).map_or(&[][..], |file| &file.before);
            let bytes = decode::encode_like(&text, like);
            (name, bytes)
        };
        self.fixed_texts(items).into_iter().map(bytes).collect()
    }
}

fn compile_findings(
    compiler: &Compiler<'_>,
    scratch: &mut CompileBuffers,
    path: &Arc<str>,
    text: &str,
) -> Vec<Diagnostic> {
    match compiler.compile_text(path, text, CompileReason::Named, scratch) {
        CompileOutcome::Taken(taken) => taken.diagnostics,
        CompileOutcome::Skipped => Vec::new(),
    }
}

/// The count of each error about names across files, by file, rule and message.
type NameErrorCounts<'d> = BTreeMap<(&'d str, u16, &'d str), usize>;

fn count_name_errors(found: &[Diagnostic]) -> NameErrorCounts<'_> {
    let mut errors = NameErrorCounts::new();
    let rules: BTreeSet<u16> = list::all_rules()
        .filter(|rule| matches!(rule.check, Check::Link(_) | Check::FileAndLink(..)))
        .map(|rule| rule.meta.code.0)
        .collect();
    for finding in found
        .iter()
        .filter(|finding| check::is_error(finding) && rules.contains(&finding.rule.code.0))
    {
        *errors
            .entry((&finding.path, finding.rule.code.0, &finding.message))
            .or_default() += 1;
    }
    errors
}

/// Returns true if there is a new error about names. Files that had syntax errors are exempt:
/// fixing them uncovers names that could not be read before.
fn adds_name_errors(
    known: &NameErrorCounts<'_>,
    before: &[Diagnostic],
    after: &[Diagnostic],
) -> bool {
    let damaged: BTreeSet<&str> = before
        .iter()
        .filter(|finding| finding.rule.code.family() == 0)
        .map(|finding| &*finding.path)
        .collect();
    count_name_errors(after).iter().any(|(key, count)| {
        !damaged.contains(key.0) && known.get(key).is_none_or(|had| count > had)
    })
}
