//! Contexts of this family's rules: a file, a case in it, or all files. Surrounding facts arrive as
//! data.

use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::RuleMeta;
use crate::base::span::Span;
use crate::kernel::agent_node::AgentNode;
use crate::project::config::Config;
use crate::scenario::model::{CaseSubject, ScenarioCase, Suite};
use crate::scenario::{ScenarioFault, paths};
use crate::template::value_type::ParameterType;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// The part of a project's scenarios that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScenarioScope {
    /// All of them.
    All,
    /// Only some: missing scenarios are not reported.
    Some,
}

/// The tasks of a project.
pub trait Tasks {
    /// Their names, sorted.
    fn names(&self) -> Vec<&str>;

    /// Returns the signature of a task; `None` if it does not exist or does not compile.
    fn signature(&self, task: &str) -> Option<Rc<TaskSignature>>;

    /// Returns the results available to an agent of a task: the agent with the given path or name,
    /// or the first one.
    fn results(&self, task: &str, node: Option<&str>) -> Option<AgentResults>;
}

/// Results of earlier steps, by the names under which a scenario can give them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentResults {
    /// Results of the steps of the task and of its references: by name and by path, each with the
    /// paths of its steps.
    pub all: BTreeMap<String, Vec<String>>,
    /// The path of the agent under test; `None` if the task has no such agent.
    pub agent: Option<String>,
    /// The agents that the task calls, each by its name if that is unique, otherwise by its path.
    pub agents: Vec<String>,
    /// True if this agent receives the conversation history, itself or by inheritance.
    pub receives_history: bool,
}

impl AgentResults {
    /// The unique names of results, without paths.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all
            .iter()
            .filter(|(name, paths)| !name.starts_with('/') && paths.len() == 1)
            .map(|(name, _)| name.as_str())
    }
}

/// A parameter of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureParameter {
    /// Its name.
    pub name: Box<str>,
    /// Its declared type.
    pub kind: Option<Box<str>>,
    /// True if a run without a value fails: required, and without a default.
    pub required: bool,
}

impl SignatureParameter {
    /// The constraints on its values.
    pub(super) fn value_constraints(&self) -> ParameterType<'_> {
        ParameterType {
            kind: self.kind.as_deref(),
            required: self.required,
        }
    }
}

/// The parameters of a task, and the context that its agents can receive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskSignature {
    /// Its parameters, declared or implicit.
    pub parameters: Vec<SignatureParameter>,
    /// The names of the inputs of its nodes and of their references.
    pub inputs: BTreeSet<String>,
    /// The files that these name.
    pub files: BTreeSet<String>,
    /// True if some nodes have files that are found during assembly.
    pub finds_files: bool,
    /// True if some nodes receive the conversation history.
    pub receives_history: bool,
    /// The agents that it calls; empty for a plain script.
    pub agents: Vec<AgentNode>,
    /// The scripts that it runs.
    pub scripts: Vec<AgentNode>,
    /// Other possible sources of their texts: tasks, fragments, values by name, steps.
    pub sources: BTreeSet<String>,
}

/// The project around scenarios.
#[derive(Clone, Copy)]
pub struct ProjectView<'w> {
    /// The project.
    pub config: &'w Config,
    /// Its tasks; `None` while they are unknown.
    pub tasks: Option<&'w dyn Tasks>,
    /// Returns true if a file of the project exists, by its path from the root.
    pub exists: &'w dyn Fn(&str) -> bool,
    /// Returns true if a link on a path leads out of the project. Such a file counts as missing.
    pub leads_out: &'w dyn Fn(&str) -> bool,
    /// The text of a project file, by its path from the root; `None` if it cannot be read.
    pub text: &'w dyn Fn(&str) -> Option<String>,
    /// Today as days since 1970; `None` if the age of cases is irrelevant.
    pub today: Option<i64>,
}

impl<'w> ProjectView<'w> {
    /// The task that a role plays.
    pub(super) fn task_of(&self, role: &str) -> Option<&'w str> {
        self.config
            .roles
            .get(role)
            .map(|role| role.task.value.as_str())
    }
}

/// A file of scenarios.
#[derive(Clone, Copy, Debug)]
pub struct ScenarioFile<'f> {
    /// Relative to the project root.
    pub path: &'f Arc<str>,
    /// Its text.
    pub text: &'f str,
    /// Its parsed content; `None` if it could not be parsed.
    pub suite: Option<&'f Suite>,
    /// Faults found while reading it.
    pub faults: &'f [ScenarioFault],
}

/// One file under check.
#[derive(Clone, Copy)]
pub struct ScenarioCx<'a> {
    /// Its path.
    pub path: &'a Arc<str>,
    /// Its text.
    pub text: &'a str,
    /// The project around it.
    pub world: &'a ProjectView<'a>,
}

impl ScenarioCx<'_> {
    /// Creates a finding for a fault.
    pub(super) fn finding(
        &self,
        rule: &'static RuleMeta,
        fault: &ScenarioFault,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(rule, self.path, fault.span, message)
    }

    /// Adds “did you mean” and a fix that writes the name.
    pub(super) fn suggest_name(
        &self,
        finding: Diagnostic,
        fault: &ScenarioFault,
        near: Option<&str>,
    ) -> Diagnostic {
        let Some(near) = near else { return finding };
        let finding = finding.help(format!("did you mean `{near}`?"));
        add_file_fix(finding, fault, replacement_fix(self.text, fault.span, near))
    }
}

/// Adds a fix if the fault is in the file itself and not in a table.
pub(super) fn add_file_fix(finding: Diagnostic, fault: &ScenarioFault, fix: Fix) -> Diagnostic {
    if fault.row.is_none() {
        finding.fix(fix)
    } else {
        finding
    }
}

/// Returns the fix that replaces a word and keeps its quotes.
fn replacement_fix(text: &str, span: Span, word: &str) -> Fix {
    let written = span.slice(text);
    let quote = written
        .chars()
        .next()
        .filter(|sign| matches!(sign, '"' | '\'') && written.len() > 1);
    let insert = quote.map_or_else(|| yaml_word(word), |quote| format!("{quote}{word}{quote}"));
    Fix::suggested(format!("write `{word}`"), vec![Edit::replace(span, insert)])
}

/// Writes a word as YAML, with quotes if it would otherwise be parsed differently.
pub(crate) fn yaml_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    if word.chars().all(is_plain) && word.starts_with(|c: char| c.is_alphabetic() || c == '/') {
        word.to_owned()
    } else {
        format!("\"{word}\"")
    }
}

/// One case under check.
#[derive(Clone, Copy)]
pub struct CaseCx<'a> {
    /// The file that contains it.
    pub file: &'a ScenarioCx<'a>,
    /// The case.
    pub case: &'a ScenarioCase,
}

impl CaseCx<'_> {
    /// True if the case is a row of a table. Its spans are then those of `cases_from`.
    pub(super) const fn is_table_row(&self) -> bool {
        self.case.row.is_some()
    }

    /// Creates a finding in this case. Table lines are added later, once the findings of all rows
    /// are merged.
    pub(super) fn finding(
        &self,
        rule: &'static RuleMeta,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(rule, self.file.path, span, message)
    }

    /// Returns the place of an input's column in the header of the case's table, such as
    /// `cases.csv:1:4`.
    pub(super) fn input_column(&self, input: &str) -> Option<String> {
        let table = paths::resolve_beside(self.file.path, &self.case.row.as_ref()?.path)?;
        let text = (self.file.world.text)(&table)?;
        let mut column = 1;
        for name in text.lines().next()?.split(',') {
            let own = name.trim().trim_matches('"');
            if own.strip_prefix("inputs.").unwrap_or(own) == input {
                return Some(format!("{table}:1:{column}"));
            }
            column += name.chars().count() + 1;
        }
        None
    }

    /// Adds “did you mean” and a fix that writes the name.
    pub(super) fn suggest_name(
        &self,
        finding: Diagnostic,
        span: Span,
        near: Option<&str>,
    ) -> Diagnostic {
        let Some(near) = near else { return finding };
        let finding = finding.help(format!("did you mean `{near}`?"));
        if self.is_table_row() {
            finding
        } else {
            finding.fix(replacement_fix(self.file.text, span, near))
        }
    }

    /// Returns the task under test with its signature.
    pub(super) fn receiver(&self) -> Option<(&str, Rc<TaskSignature>)> {
        let task = match &self.case.subject.value {
            CaseSubject::Task(task) => task,
            CaseSubject::Role(_) | CaseSubject::Compaction(_) => {
                self.file.world.task_of(self.case.subject.value.role()?)?
            }
            CaseSubject::Request(_) => return None,
        };
        Some((task, self.file.world.tasks?.signature(task)?))
    }

    /// Returns the task under test with its available results.
    pub(super) fn available_results(&self) -> Option<(&str, AgentResults)> {
        let (task, _) = self.receiver()?;
        let node = self.case.node.as_ref().map(|node| node.value.as_str());
        Some((task, self.file.world.tasks?.results(task, node)?))
    }

    /// Returns the text of a file, by its path from the scenario.
    pub(super) fn file_text(&self, path: &str) -> Option<String> {
        (self.file.world.text)(&paths::resolve_beside(self.file.path, path)?)
    }

    /// True if a file of the project exists, or the case freezes it.
    pub(super) fn exists(&self, path: &str) -> bool {
        let path = paths::normalize_path(path);
        (self.file.world.exists)(&path)
            || self
                .case
                .situation
                .files
                .keys()
                .any(|frozen| paths::normalize_path(frozen) == path)
    }

    /// Adds a fix that writes a line below a key, if each key has a line of its own.
    pub(super) fn add_line_fix(
        &self,
        finding: Diagnostic,
        key: &str,
        value: Span,
        line: &str,
    ) -> Diagnostic {
        let text = self.file.text;
        let start = self.key_span(key, value).start as usize;
        let lead = text
            .get(..start)
            .map_or("", |before| before.rsplit('\n').next().unwrap_or(""));
        let rest = text
            .get(value.end as usize..)
            .map_or("", |after| after.lines().next().unwrap_or(""));
        let is_alone = lead.chars().all(|c| matches!(c, ' ' | '-'))
            && (rest.trim().is_empty() || rest.trim().starts_with('#'));
        if self.is_table_row() || !is_alone {
            return finding;
        }
        let end = value.end + rest.len() as u32;
        let insert = format!("\n{}{line}", " ".repeat(lead.len()));
        finding.fix(Fix::suggested(
            format!("write `{line}`"),
            vec![Edit::replace(Span::new(end, end), insert)],
        ))
    }

    /// The span of the key of a value; the span of the value if no key precedes it.
    pub(super) fn key_span(&self, key: &str, value: Span) -> Span {
        key_before(self.file.text, key, value).unwrap_or(value)
    }
}

/// Finds a key before its value, including its quotes.
pub(crate) fn key_before(text: &str, key: &str, value: Span) -> Option<Span> {
    let before = text.get(..value.start as usize)?;
    let before =
        before.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '|' | '>' | '+' | '-'));
    // A tag may stand in between.
    let before = before.strip_suffix("!file").unwrap_or(before).trim_end();
    let end = before.strip_suffix(':')?.trim_end();
    let quotes = usize::from(end.ends_with(['"', '\'']));
    let head = end.get(..end.len() - quotes)?.strip_suffix(key)?;
    Some(Span::from_offsets(
        head.len() - quotes.min(head.len()),
        end.len(),
    ))
}

/// All files under check.
#[derive(Clone, Copy)]
pub struct SuitesCx<'a> {
    /// The project around them.
    pub world: &'a ProjectView<'a>,
    /// The files, sorted by path.
    pub files: &'a [ScenarioFile<'a>],
    /// The part of the project's scenarios that these files are.
    pub reach: ScenarioScope,
    /// The findings of the single files.
    pub found: &'a [Diagnostic],
}

impl<'a> SuitesCx<'a> {
    /// Iterates over all cases with their files.
    pub(super) fn cases(&self) -> impl Iterator<Item = (&'a ScenarioFile<'a>, &'a ScenarioCase)> {
        self.files.iter().flat_map(|file| {
            file.suite
                .into_iter()
                .flat_map(move |suite| suite.cases.iter().map(move |case| (file, case)))
        })
    }
}
