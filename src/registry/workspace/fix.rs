//! Fixes applied to a whole selection in memory: each round checks all files again, with the fixed
//! texts in place of the files, so that no fix brings an error into another file. Writes nothing.

use super::check::{CheckOutput, check_project};
use super::request::{NoSuchPath, Overlay, Request, StdinText};
use crate::base::diagnostic::Diagnostic;
use crate::base::fs::{self, RealFs};
use crate::registry::compile::{Chosen, Compiler, Outcome, Scratch};
use crate::rules::apply::{self, Beginning, Choice, ROUNDS, TRIALS, Which};
use crate::rules::check::{self, Active};
use crate::rules::list;
use crate::rules::rule::Check;
use crate::syntax::decode;
use crate::template::scope::Purpose;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The kinds of fixes, and the findings that they apply to.
#[derive(Clone, Copy)]
pub struct FixFilter<'w> {
    /// Only safe fixes, or suggested ones too.
    pub which: Which,
    /// Returns false for findings that are left alone.
    pub wanted: &'w dyn Fn(&Diagnostic) -> bool,
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
pub fn apply_fixes(request: &Request<'_>, filter: FixFilter<'_>) -> Result<FixOutcome, NoSuchPath> {
    let active = Active::new(request.config);
    let compiler = Compiler {
        config: request.config,
        active: &active,
        root: request.root,
        files: &RealFs,
        purpose: Purpose::Findings,
    };
    let mut found = check_project(request)?;
    let beginning = Beginning::of(&found.diagnostics);
    let mut fixer = Fixer {
        request,
        filter,
        beginning,
        compiler,
        scratch: Scratch::new(),
        files: BTreeMap::new(),
        trials: TRIALS,
    };
    for _ in 0..ROUNDS {
        // The fixed text must be the checked text, so a text that is loaded now is checked again as
        // loaded.
        if fixer.take_in(&found.diagnostics) {
            found = fixer.check(&Overlay::default())?;
        }
        let step = fixer.step(&found.diagnostics)?;
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
    let gone = fixer.beginning.gone(&found.diagnostics);
    Ok(FixOutcome {
        fixed: gone,
        files: files.filter(|file| file.after != file.before).collect(),
        left: found,
    })
}

/// A file with fixable findings.
struct File {
    before: Vec<u8>,
    text: String,
    /// The number of trials that may still fail.
    trials: usize,
}

/// A chosen fix and its file.
#[derive(Clone, Copy)]
struct Item<'d> {
    name: &'d str,
    choice: Choice<'d>,
}

struct Fixer<'m> {
    request: &'m Request<'m>,
    filter: FixFilter<'m>,
    beginning: Beginning,
    compiler: Compiler<'m>,
    scratch: Scratch,
    files: BTreeMap<String, File>,
    /// The number of trials of the whole selection that may still fail.
    trials: usize,
}

impl Fixer<'_> {
    /// Reads the files that have fixable findings and are not loaded yet. Returns true if there
    /// were any.
    fn take_in(&mut self, found: &[Diagnostic]) -> bool {
        let mut new = false;
        let which = self.filter.which;
        let fixable = found.iter().filter(|finding| {
            (self.filter.wanted)(finding) && apply::eligible(finding, which).is_some()
        });
        let names: BTreeSet<&str> = fixable.map(|finding| &*finding.path).collect();
        for name in names {
            if self.files.contains_key(name) {
                continue;
            }
            let Some(before) = self.read(name) else {
                continue;
            };
            let Ok(text) = decode::decode(&before) else {
                continue;
            };
            let text = text.into_owned();
            self.files.insert(
                name.to_owned(),
                File {
                    before,
                    text,
                    trials: TRIALS,
                },
            );
            new = true;
        }
        new
    }

    fn read(&self, name: &str) -> Option<Vec<u8>> {
        if let Some(stdin) = self.request.stdin.filter(|stdin| stdin.name == name) {
            return Some(stdin.bytes.to_vec());
        }
        let mut bytes = Vec::new();
        fs::read_own(
            &self.request.root.join(name),
            self.request.config.limits.file,
            &mut bytes,
        )
        .ok()?;
        Some(bytes)
    }

    /// Checks everything with the texts of `trial` in place of the current ones.
    fn check(&self, trial: &Overlay) -> Result<CheckOutput, NoSuchPath> {
        let mut overlay = trial.clone();
        for (name, file) in &self.files {
            overlay
                .entry(name.clone())
                .or_insert_with(|| decode::encode_like(&file.text, &file.before));
        }
        let stdin = self.request.stdin.map(|stdin| {
            let bytes = overlay.get(stdin.name).map_or(stdin.bytes, Vec::as_slice);
            StdinText {
                name: stdin.name,
                bytes,
            }
        });
        check_project(&Request {
            stdin,
            overlay: &overlay,
            ..*self.request
        })
    }

    /// Runs one round: chooses fixes, tries them, applies those that pass. `None` if nothing could
    /// be fixed.
    fn step(&mut self, found: &[Diagnostic]) -> Result<Option<CheckOutput>, NoSuchPath> {
        let mut items: Vec<Item<'_>> = Vec::new();
        for of_file in found.chunk_by(|a, b| a.path == b.path) {
            items.extend(self.file(of_file));
        }
        if items.is_empty() {
            return Ok(None);
        }
        let known = errors_of_names(found);
        let mut last = None;
        let mut failed = None;
        let mut trials = self.trials;
        let kept = apply::most(&items, &mut trials, 1, &mut |items| match self
            .check(&self.trial(items))
        {
            Ok(next) => {
                let passes = items.iter().all(|item| item.choice.uncovers())
                    || !brings_errors(&known, found, &next.diagnostics);
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
        let texts = self.texts(&kept);
        for (name, text) in texts {
            if let Some(file) = self.files.get_mut(&name) {
                file.text = text;
            }
        }
        // The last trial that passed contained exactly the applied fixes.
        Ok(last)
    }

    /// The fixes of one file that add no error to it.
    fn file<'d>(&mut self, found: &'d [Diagnostic]) -> Vec<Item<'d>> {
        let Some(first) = found.first() else {
            return Vec::new();
        };
        let Some(file) = self.files.get_mut(&*first.path) else {
            return Vec::new();
        };
        let which = self.filter.which;
        let is_open = |finding: &&Diagnostic| {
            (self.filter.wanted)(finding)
                && !self.beginning.lacks(finding)
                && apply::eligible(finding, which).is_some()
        };
        let open: Vec<&Diagnostic> = found.iter().filter(is_open).collect();
        if open.is_empty() {
            return Vec::new();
        }
        let compiler = &self.compiler;
        let scratch = &mut self.scratch;
        let path = &first.path;
        let mut check_text = |text: &str| compile(compiler, scratch, path, text);
        let before = check_text(&file.text);
        let sound = apply::next(
            &file.text,
            &open,
            which,
            &before,
            &compiler.config.limits,
            &mut file.trials,
            &mut check_text,
        );
        sound
            .into_iter()
            .map(|choice| Item {
                name: &first.path,
                choice,
            })
            .collect()
    }

    fn texts(&self, items: &[Item<'_>]) -> BTreeMap<String, String> {
        let of_files = items.chunk_by(|a, b| a.name == b.name);
        let text = |items: &[Item<'_>]| {
            let name = items.first()?.name;
            let choices: Vec<Choice<'_>> = items.iter().map(|item| item.choice).collect();
            Some((
                name.to_owned(),
                apply::applied(&self.files.get(name)?.text, &choices)?,
            ))
        };
        of_files.filter_map(text).collect()
    }

    fn trial(&self, items: &[Item<'_>]) -> Overlay {
        let bytes = |(name, text): (String, String)| {
            let like = self.files.get(&name).map_or(&[][..], |file| &file.before);
            let bytes = decode::encode_like(&text, like);
            (name, bytes)
        };
        self.texts(items).into_iter().map(bytes).collect()
    }
}

fn compile(
    compiler: &Compiler<'_>,
    scratch: &mut Scratch,
    path: &Arc<str>,
    text: &str,
) -> Vec<Diagnostic> {
    match compiler.compile_text(path, text, Chosen::Named, scratch) {
        Outcome::Taken(taken) => taken.diagnostics,
        Outcome::Skipped => Vec::new(),
    }
}

/// The count of each error about names across files, by file, rule and message.
type Errors<'d> = BTreeMap<(&'d str, u16, &'d str), usize>;

fn errors_of_names(found: &[Diagnostic]) -> Errors<'_> {
    let mut errors = Errors::new();
    let rules: BTreeSet<u16> = list::all()
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
fn brings_errors(known: &Errors<'_>, before: &[Diagnostic], after: &[Diagnostic]) -> bool {
    let damaged: BTreeSet<&str> = before
        .iter()
        .filter(|finding| finding.rule.code.family() == 0)
        .map(|finding| &*finding.path)
        .collect();
    errors_of_names(after).iter().any(|(key, count)| {
        !damaged.contains(key.0) && known.get(key).is_none_or(|had| count > had)
    })
}
