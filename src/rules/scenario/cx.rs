//! What rules of this family see: a file, a case in it, or all files, with what surrounds them handed in as data.

use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::RuleMeta;
use crate::base::span::Span;
use crate::kernel::agent_node::AgentNode;
use crate::project::config::Config;
use crate::scenario::Fault;
use crate::scenario::model::{Case, Subject, Suite};
use crate::scenario::paths;
use crate::template::value_type::Wanted;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// How much of a project's scenarios is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// All of them.
    All,
    /// Some: what is missing is not told.
    Some,
}

/// The tasks of a project.
pub trait Tasks {
    /// Their names, sorted.
    fn names(&self) -> Vec<&str>;

    /// What can be known of one; `None` where it is not there, or does not compile.
    fn signature(&self, task: &str) -> Option<Rc<TaskSignature>>;

    /// What is known of results where an agent of a task is asked: the one with a path or name, else the first one.
    fn results(&self, task: &str, node: Option<&str>) -> Option<Results>;
}

/// Results of earlier steps, by the names under which they can be given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// Those that some step of the task leaves, or one of what it refers to: by name and by path, the paths of what goes by it.
    pub all: BTreeMap<String, Vec<String>>,
    /// The path of the agent that is asked; `None` where the task has no such agent.
    pub agent: Option<String>,
    /// The agents that the task calls, each by its name where only it has that, else by its path.
    pub agents: Vec<String>,
    /// Whether this agent is shown the conversation so far, by itself or by what it inherits.
    pub hears: bool,
}

impl Results {
    /// The names that people gave, or know, each of one result: no paths of nodes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().filter(|(name, paths)| !name.starts_with('/') && paths.len() == 1).map(|(name, _)| name.as_str())
    }
}

/// A value that a task is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: Box<str>,
    /// Its declared type.
    pub kind: Option<Box<str>>,
    /// Whether a run without a value fails: it is required, and has no default.
    pub required: bool,
}

impl Parameter {
    /// What it says of its values.
    pub(super) fn wanted(&self) -> Wanted<'_> {
        Wanted { kind: self.kind.as_deref(), required: self.required }
    }
}

/// What a task is given, and what its agents can be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskSignature {
    /// Its parameters, declared or found.
    pub parameters: Vec<Parameter>,
    /// The names of the inputs of its nodes, and of what they refer to.
    pub inputs: BTreeSet<String>,
    /// The files that they name.
    pub files: BTreeSet<String>,
    /// Whether some of them have files that are found when a context is put together.
    pub finds_files: bool,
    /// Whether some of them are shown the conversation so far.
    pub hears: bool,
    /// The agents that it calls; of a script alone none.
    pub agents: Vec<AgentNode>,
    /// The scripts that it runs.
    pub scripts: Vec<AgentNode>,
    /// What else a text of theirs can come from: tasks, fragments, values by their names, steps.
    pub sources: BTreeSet<String>,
}

/// What surrounds scenarios.
#[derive(Clone, Copy)]
pub struct ProjectView<'w> {
    /// The project.
    pub config: &'w Config,
    /// Its tasks; `None` while they are not known.
    pub tasks: Option<&'w dyn Tasks>,
    /// Whether a file of the project is there, by its path from the root.
    pub exists: &'w dyn Fn(&str) -> bool,
    /// Whether a link on a path leads out of the project: what lies behind it counts as not there.
    pub leads_out: &'w dyn Fn(&str) -> bool,
    /// The text of a file of the project, by its path from the root; `None` where it cannot be read.
    pub text: &'w dyn Fn(&str) -> Option<String>,
    /// Today as days since 1970; `None` where nobody asks how old a case is.
    pub today: Option<i64>,
}

impl<'w> ProjectView<'w> {
    /// The task that a role plays.
    pub(super) fn task_of(&self, role: &str) -> Option<&'w str> {
        self.config.roles.get(role).map(|role| role.task.value.as_str())
    }
}

/// A file of scenarios.
#[derive(Clone, Copy, Debug)]
pub struct File<'f> {
    /// Relative to the project root.
    pub path: &'f Arc<str>,
    /// Its text.
    pub text: &'f str,
    /// What it says; `None` where it could not be understood.
    pub suite: Option<&'f Suite>,
    /// What reading it found.
    pub faults: &'f [Fault],
}

/// One file under check.
#[derive(Clone, Copy)]
pub struct ScenarioCx<'a> {
    /// Its path.
    pub path: &'a Arc<str>,
    /// Its text.
    pub text: &'a str,
    /// What surrounds it.
    pub world: &'a ProjectView<'a>,
}

impl ScenarioCx<'_> {
    /// A finding for a fault.
    pub(super) fn finding(&self, rule: &'static RuleMeta, fault: &Fault, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(rule, self.path, fault.span, message)
    }

    /// Adds “did you mean” and the fix that writes it.
    pub(super) fn meant(&self, finding: Diagnostic, fault: &Fault, near: Option<&str>) -> Diagnostic {
        let Some(near) = near else { return finding };
        let finding = finding.help(format!("did you mean `{near}`?"));
        mend(finding, fault, write(self.text, fault.span, near))
    }
}

/// Adds a fix, where what is to be mended stands in the file itself.
pub(super) fn mend(finding: Diagnostic, fault: &Fault, fix: Fix) -> Diagnostic {
    if fault.row.is_none() { finding.fix(fix) } else { finding }
}

/// Writes a word in place of another, in the quotes that stand there.
fn write(text: &str, span: Span, word: &str) -> Fix {
    let written = span.slice(text);
    let quote = written.chars().next().filter(|sign| matches!(sign, '"' | '\'') && written.len() > 1);
    let insert = quote.map_or_else(|| plain(word), |quote| format!("{quote}{word}{quote}"));
    Fix::suggested(format!("write `{word}`"), vec![Edit::replace(span, insert)])
}

/// A word as YAML takes it without or, where it would be something else, with quotes.
pub(crate) fn plain(word: &str) -> String {
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
    /// The file it stands in.
    pub file: &'a ScenarioCx<'a>,
    /// The case.
    pub case: &'a Case,
}

impl CaseCx<'_> {
    /// Whether the case is the row of a table, so that its places are those of `cases_from`.
    pub(super) const fn is_row(&self) -> bool {
        self.case.row.is_some()
    }

    /// A finding in this case. The rows of a table that it is about are said once it is known of all of them.
    pub(super) fn finding(&self, rule: &'static RuleMeta, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(rule, self.file.path, span, message)
    }

    /// Where the first line of the case's table names an input, such as `cases.csv:1:4`.
    pub(super) fn column(&self, input: &str) -> Option<String> {
        let table = paths::beside(self.file.path, &self.case.row.as_ref()?.path)?;
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

    /// Adds “did you mean” and the fix that writes it.
    pub(super) fn meant(&self, finding: Diagnostic, span: Span, near: Option<&str>) -> Diagnostic {
        let Some(near) = near else { return finding };
        let finding = finding.help(format!("did you mean `{near}`?"));
        if self.is_row() { finding } else { finding.fix(write(self.file.text, span, near)) }
    }

    /// The task that receives the context, with what it takes.
    pub(super) fn receiver(&self) -> Option<(&str, Rc<TaskSignature>)> {
        let task = match &self.case.subject.value {
            Subject::Task(task) => task,
            Subject::Role(role) => self.file.world.task_of(role)?,
            Subject::Request(_) => return None,
        };
        Some((task, self.file.world.tasks?.signature(task)?))
    }

    /// The task that receives the context, with what is known of results.
    pub(super) fn results(&self) -> Option<(&str, Results)> {
        let (task, _) = self.receiver()?;
        let node = self.case.node.as_ref().map(|node| node.value.as_str());
        Some((task, self.file.world.tasks?.results(task, node)?))
    }

    /// The text of a file beside the scenario.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        (self.file.world.text)(&paths::beside(self.file.path, path)?)
    }

    /// Whether a file of the project is there, or the case freezes it.
    pub(super) fn exists(&self, path: &str) -> bool {
        let path = paths::plain(path);
        (self.file.world.exists)(&path) || self.case.situation.files.keys().any(|frozen| paths::plain(frozen) == path)
    }

    /// Adds a fix that writes a key on a line below another one, where each key has a line of its own.
    pub(super) fn below(&self, finding: Diagnostic, key: &str, value: Span, line: &str) -> Diagnostic {
        let text = self.file.text;
        let start = self.key_of(key, value).start as usize;
        let lead = text.get(..start).map_or("", |before| before.rsplit('\n').next().unwrap_or(""));
        let rest = text.get(value.end as usize..).map_or("", |after| after.lines().next().unwrap_or(""));
        let is_alone = lead.chars().all(|c| matches!(c, ' ' | '-')) && (rest.trim().is_empty() || rest.trim().starts_with('#'));
        if self.is_row() || !is_alone {
            return finding;
        }
        let end = value.end + rest.len() as u32;
        let insert = format!("\n{}{line}", " ".repeat(lead.len()));
        finding.fix(Fix::suggested(format!("write `{line}`"), vec![Edit::replace(Span::new(end, end), insert)]))
    }

    /// The place of a key before its value; that of the value where the key does not stand there.
    pub(super) fn key_of(&self, key: &str, value: Span) -> Span {
        key_before(self.file.text, key, value).unwrap_or(value)
    }
}

/// The place of a key that stands before its value, with its quotes.
pub(crate) fn key_before(text: &str, key: &str, value: Span) -> Option<Span> {
    let before = text.get(..value.start as usize)?;
    let before = before.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '|' | '>' | '+' | '-'));
    // A tag may stand between.
    let before = before.strip_suffix("!file").unwrap_or(before).trim_end();
    let end = before.strip_suffix(':')?.trim_end();
    let quotes = usize::from(end.ends_with(['"', '\'']));
    let head = end.get(..end.len() - quotes)?.strip_suffix(key)?;
    Some(Span::of(head.len() - quotes.min(head.len()), end.len()))
}

/// All files under check.
#[derive(Clone, Copy)]
pub struct SuitesCx<'a> {
    /// What surrounds them.
    pub world: &'a ProjectView<'a>,
    /// The files, sorted by path.
    pub files: &'a [File<'a>],
    /// Whether these are all files of the project.
    pub reach: Reach,
    /// What is found in each of them by itself.
    pub found: &'a [Diagnostic],
}

impl<'a> SuitesCx<'a> {
    /// All cases with their files.
    pub(super) fn cases(&self) -> impl Iterator<Item = (&'a File<'a>, &'a Case)> {
        self.files
            .iter()
            .flat_map(|file| file.suite.into_iter().flat_map(move |suite| suite.cases.iter().map(move |case| (file, case))))
    }
}
