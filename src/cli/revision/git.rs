//! Queries to the `git` program about revisions, and their errors.
//!
//! A revision is passed as one argument that does not begin with `-`, behind `--end-of-options`;
//! never through a shell. Queries fetch nothing, prompt for nothing, and lock nothing.

use crate::base::fs::{ReadFs, RealFs};
use crate::base::suggest;
use crate::cli::prelude::*;
use crate::rules::input::read_fault::describe_io_error;
use crate::run::process::{self, ProcessEnd, ProcessLimits};
use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Variables that select another repository than the one around the project, as git sets them in
/// hooks.
const REPOSITORY_VARIABLES: [&str; 7] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_CEILING_DIRECTORIES",
];
/// The variables for git. A partial clone would fetch missing objects with a program that its own
/// settings name: an empty list of protocols prevents this, also in versions before 2.45. Replaced
/// objects and grafts of this clone are not followed, so that an id always identifies the same
/// commit.
const GIT_ENVIRONMENT: [(&str, &str); 7] = [
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];
/// Settings that override the repository's own: only a folder with a `.git` is a repository,
/// because anyone can commit the files of a bare one; no file watcher is started; names are not
/// quoted.
const GIT_SETTINGS: [&str; 4] = [
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "advice.graftFileDeprecated=false",
];
/// Advice for a shallow clone.
pub(crate) const SHALLOW_HINT: &str = "the clone is shallow and lacks older commits: `git fetch --unshallow`, or `fetch-depth: 0` of actions/checkout";
/// The timeout of an answer.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// The maximum length of a one-line answer in bytes.
const MAX_LINE_BYTES: usize = 4096;

/// The repository around a folder.
#[derive(Clone, Debug)]
pub(super) struct GitRepository {
    folder: PathBuf,
    top: PathBuf,
    prefix: String,
}

/// The answer of git.
struct GitAnswer {
    succeeded: bool,
    stdout: Vec<u8>,
    error: String,
}

impl GitRepository {
    /// Opens the repository around a folder; `wanted` is the revision for error messages.
    pub(super) fn open_around(folder: &Path, wanted: &str) -> Result<Self> {
        let mut git = Self {
            folder: folder.to_owned(),
            top: folder.to_owned(),
            prefix: String::new(),
        };
        let answer =
            git.run_query(&["rev-parse", "--git-dir", "--show-toplevel", "--show-prefix"])?;
        let out = String::from_utf8_lossy(&answer.stdout).into_owned();
        let lines: Vec<&str> = out.split('\n').collect();
        // Versions before 2.38 lack `safe.bareRepository`.
        let repository = folder.join(lines.first().copied().unwrap_or_default());
        if !out.is_empty()
            && let (Ok(repository), Ok(folder)) = (
                RealFs.canonicalize(&repository),
                RealFs.canonicalize(folder),
            )
            && folder.starts_with(&repository)
        {
            return Err(bare_repository(&repository));
        }
        if answer.succeeded {
            let [_, top, prefix, ""] = *lines else {
                return Err(CliError::new(
                    CliErrorKind::Infrastructure,
                    format!(
                        "the path of {} has line ends, which git does not tell apart",
                        folder.display()
                    ),
                )
                .with_hint("rename the folder"));
            };
            (git.top, git.prefix) = (PathBuf::from(top), prefix.trim_end_matches('/').to_owned());
            return Ok(git);
        }
        if answer.error.contains("bareRepository") {
            return Err(bare_repository(folder));
        }
        if answer.error.contains("not a git repository") {
            let named = Some(wanted).filter(|wanted| !wanted.is_empty());
            let named = named.map_or_else(String::new, |wanted| {
                format!("`{wanted}` would be a git revision, and ")
            });
            let message = format!("{named}{} lies in no git repository", folder.display());
            return Err(CliError::usage(message).with_hint(
                "a revision needs a repository around the project: `git init`, and a commit",
            ));
        }
        let error = CliError::new(
            CliErrorKind::Infrastructure,
            format!(
                "git does not open the repository around {}: {}",
                folder.display(),
                answer.error
            ),
        );
        if answer.error.contains("dubious ownership") {
            return Err(error.with_hint(format!(
                "it belongs to another user, as in a container: `git config --global --add safe.directory {}`",
                folder.display()
            )));
        }
        Err(error)
    }

    /// Returns the same repository, with queries from the top of its work tree.
    pub(super) fn at_top(&self) -> Self {
        Self::with_top(self.top.clone())
    }

    /// Returns the repository whose top is a folder, without a check.
    pub(super) fn with_top(folder: PathBuf) -> Self {
        Self {
            top: folder.clone(),
            folder,
            prefix: String::new(),
        }
    }

    /// Returns the top of the work tree.
    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    /// Returns the folder's path in its repository; empty for the top itself.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the command, ready for its arguments.
    #[allow(
        clippy::disallowed_methods,
        reason = "git alone knows its repositories; compiling itself runs nothing"
    )]
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new("git");
        command
            .arg("--no-pager")
            .args(GIT_SETTINGS.iter().flat_map(|setting| ["-c", setting]))
            .arg("-C")
            .arg(&self.folder);
        for name in REPOSITORY_VARIABLES {
            command.env_remove(name);
        }
        command.envs(GIT_ENVIRONMENT).stdin(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }

    fn run_query(&self, args: &[&str]) -> Result<GitAnswer> {
        self.run_query_on(args, "")
    }

    /// Runs a query with a text on standard input.
    fn run_query_on(&self, args: &[&str], input: &str) -> Result<GitAnswer> {
        let mut command = self.command();
        if !input.is_empty() {
            command.stdin(Stdio::piped());
        }
        let child = command
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|err| git_not_started(&err))?;
        match process::wait_for_exit(
            child,
            input,
            &ProcessLimits::new(ANSWER_TIMEOUT, usize::MAX - 1),
        ) {
            ProcessEnd::Exited {
                code,
                stdout: out,
                stderr,
            } => {
                let message = stderr
                    .lines()
                    .next()
                    .unwrap_or("it does not say why")
                    .trim_start_matches("fatal: ")
                    .to_owned();
                Ok(GitAnswer {
                    succeeded: code == 0,
                    stdout: out,
                    error: message,
                })
            }
            ProcessEnd::TimedOut => Err(CliError::new(
                CliErrorKind::Infrastructure,
                timeout_message(),
            )),
            ProcessEnd::Signal { .. }
            | ProcessEnd::Stopped
            | ProcessEnd::OutputTooLarge
            | ProcessEnd::NotStarted(_) => Err(CliError::new(
                CliErrorKind::Infrastructure,
                "git did not end by itself",
            )),
        }
    }

    /// Returns the answer of git if it is one line; `None` otherwise.
    pub(super) fn query_line(&self, args: &[&str]) -> Result<Option<String>> {
        let answer = self.run_query(args)?;
        let line = String::from_utf8_lossy(&answer.stdout);
        let line = line.trim_end_matches(['\n', '\r']);
        Ok(
            (answer.succeeded && !line.is_empty() && line.len() < MAX_LINE_BYTES)
                .then(|| line.to_owned()),
        )
    }

    /// Returns the lines of git's answer.
    pub(super) fn query_lines(&self, args: &[&str]) -> Result<Vec<String>> {
        let answer = self.run_query(args)?;
        Ok(String::from_utf8_lossy(&answer.stdout)
            .lines()
            .map(str::to_owned)
            .collect())
    }

    /// Returns an error if a text cannot be a revision.
    pub(super) fn check_revision(revision: &str) -> Result<()> {
        let fault = revision_fault(revision)
            .map(|fault| CliError::usage(format!("`{revision}` is not a git revision: {fault}")));
        fault.map_or(Ok(()), Err)
    }

    /// Returns the id of the commit of a revision.
    pub(super) fn resolve_commit(&self, revision: &str) -> Result<String> {
        Self::check_revision(revision)?;
        let wanted = format!("{revision}^{{commit}}");
        match self.query_line(&[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &wanted,
        ])? {
            // Older versions echo the option.
            Some(lines) => Ok(lines.lines().last().unwrap_or_default().to_owned()),
            None => Err(self.unknown_revision(revision)?),
        }
    }

    /// Returns the nearest common ancestor of two commits.
    pub(super) fn require_merge_base(&self, one: &str, other: &str) -> Result<String> {
        if let Some(base) =
            self.merge_base(&self.resolve_commit(one)?, &self.resolve_commit(other)?)?
        {
            return Ok(base);
        }
        let error = CliError::usage(format!("`{one}` and `{other}` have no commit in common"));
        Err(if self.is_shallow()? {
            error.with_hint(SHALLOW_HINT)
        } else {
            error
        })
    }

    /// Returns the nearest common ancestor of two commits, if this clone has one. If branches were
    /// merged both ways, it is the first of several.
    pub(super) fn merge_base(&self, one: &str, other: &str) -> Result<Option<String>> {
        Ok(self.merge_bases(one, other)?.into_iter().next())
    }

    /// Returns the nearest common ancestors of two commits.
    pub(super) fn merge_bases(&self, one: &str, other: &str) -> Result<Vec<String>> {
        self.query_lines(&["merge-base", "--all", one, other])
    }

    /// Returns the author's address from git's variables and settings; never one derived from the
    /// machine's name.
    pub(super) fn author_address(&self) -> Result<Option<String>> {
        // The name is not used, but git fails without one.
        let settings = ["-c", "user.useConfigOnly=true", "-c", "user.name=x"];
        let ident =
            self.query_line(&[settings.as_slice(), &["var", "GIT_AUTHOR_IDENT"]].concat())?;
        let address = ident
            .as_deref()
            .and_then(|ident| Some(ident.rsplit_once('>')?.0.rsplit_once('<')?.1.to_owned()));
        Ok(address.filter(|address| !address.is_empty()))
    }

    /// Returns the text of a file of a commit, by its path from the top; `None` if the commit lacks
    /// it.
    pub(super) fn file_text(&self, commit: &str, path: &str) -> Result<Option<String>> {
        let answer = self.run_query(&["cat-file", "blob", &format!("{commit}:{path}")])?;
        Ok(answer
            .succeeded
            .then(|| String::from_utf8_lossy(&answer.stdout).into_owned()))
    }

    /// Returns true if this clone lacks older commits.
    pub(super) fn is_shallow(&self) -> Result<bool> {
        Ok(self
            .query_line(&["rev-parse", "--is-shallow-repository"])?
            .as_deref()
            == Some("true"))
    }

    /// Creates the error for an unknown revision, with similar names.
    pub(super) fn unknown_revision(&self, revision: &str) -> Result<CliError> {
        let object = [
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            revision,
        ];
        if let Some(id) = self.query_line(&object)?
            && let Some(kind) = self.query_line(&["cat-file", "-t", &id])?
        {
            let kind = match &*kind {
                "blob" => "a file",
                "tree" => "a folder",
                _ => "an object",
            };
            let hint = "name a branch, or the id of a commit: git reads what follows a colon as a path in it";
            return Ok(CliError::usage(format!(
                "`{revision}` is {kind} of a commit, not a commit"
            ))
            .with_hint(hint));
        }
        let names = self.run_query(&[
            "for-each-ref",
            "--format=%(refname:short)",
            "refs/heads",
            "refs/tags",
            "refs/remotes",
        ])?;
        let names = String::from_utf8_lossy(&names.stdout).into_owned();
        let error = CliError::usage(format!(
            "there is no revision `{revision}` in this repository"
        ));
        if self.is_shallow()? {
            return Ok(error.with_hint(SHALLOW_HINT));
        }
        let what =
            || "a branch, a tag, a commit, or what git makes of them, such as HEAD~2".to_owned();
        Ok(error.with_suggestion_or(suggest::nearest_candidate(revision, names.lines()), what))
    }

    /// Returns the values of an answer that are terminated by NUL.
    fn query_values(&self, args: &[&str], input: &str) -> Result<Vec<String>> {
        let answer = self.run_query_on(args, input)?;
        if !answer.succeeded {
            let command = args.first().unwrap_or(&"git");
            return Err(CliError::new(
                CliErrorKind::Infrastructure,
                format!(
                    "`git {command}` cannot list the files here: {}",
                    answer.error
                ),
            ));
        }
        Ok(String::from_utf8_lossy(&answer.stdout)
            .split_terminator('\0')
            .map(str::to_owned)
            .collect())
    }

    /// Returns true if an uncommitted file is ignored.
    pub(super) fn is_ignored(&self, file: &Path) -> Result<bool> {
        Ok(self
            .run_query(&["check-ignore", "--quiet", "--", &file.to_string_lossy()])?
            .succeeded)
    }

    /// Returns the files whose content passes a filter between a commit and the work tree, by the
    /// attributes of the work tree. No filter is run.
    pub(super) fn filtered_files<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<Vec<String>> {
        let input = names.fold(String::new(), |input, name| input + name + "\0");
        if input.is_empty() {
            return Ok(Vec::new());
        }
        let values = self.query_values(&["check-attr", "-z", "--stdin", "filter"], &input)?;
        let pairs = values.chunks(3).filter_map(|chunk| {
            if let [name, _, filter] = chunk {
                Some((name, filter))
            } else {
                None
            }
        });
        let is_none = |filter: &str| matches!(filter, "unspecified" | "unset" | "set" | "");
        Ok(pairs
            .filter(|(_, filter)| !is_none(filter))
            .map(|(name, _)| name.clone())
            .collect())
    }

    /// Returns the files of the work tree that may differ from a commit, and new files that are not
    /// ignored.
    pub(super) fn changed_files(&self, commit: &str) -> Result<Vec<String>> {
        let mut names = self.query_values(&["diff-index", "--name-only", "-z", commit], "")?;
        names.extend(self.query_values(
            &["ls-files", "-o", "--exclude-standard", "--full-name", "-z"],
            "",
        )?);
        Ok(names)
    }

    /// Returns the files of the work tree that equal the index, with their objects. Contents are
    /// not read.
    pub(super) fn unchanged_files(&self) -> Result<Vec<(String, String)>> {
        let changed = self.query_values(&["diff-files", "--name-only", "-z"], "")?;
        let listed = self.query_values(&["ls-files", "-s", "-z", "--full-name"], "")?;
        let entries = listed.iter().filter_map(|line| {
            let (head, name) = line.split_once('\t')?;
            Some((name.to_owned(), head.split(' ').nth(1)?.to_owned()))
        });
        Ok(entries
            .filter(|(name, _)| !changed.contains(name))
            .collect())
    }

    /// Returns all entries of a commit, in the format of `git ls-tree -r -z`.
    pub(super) fn list_tree(&self, commit: &str) -> Result<Vec<u8>> {
        let answer = self.run_query(&["ls-tree", "-r", "-z", "--full-tree", commit])?;
        if answer.succeeded {
            return Ok(answer.stdout);
        }
        let error = CliError::new(
            CliErrorKind::Infrastructure,
            format!("git cannot list the files of {commit}: {}", answer.error),
        );
        Err(error.with_hint(
            "a partial clone may lack them, and nothing is fetched here: `git fetch` them first",
        ))
    }
}

/// Creates the error for a folder that looks like a repository without a work tree.
fn bare_repository(folder: &Path) -> CliError {
    let message = format!(
        "{} looks like a repository of its own, without a work tree",
        folder.display()
    );
    CliError::new(CliErrorKind::Infrastructure, message).with_hint(
        "files such as `HEAD`, `objects` and `refs` make a folder one: remove them, since its settings could name another base",
    )
}

/// Returns the message that git does not answer.
pub(super) fn timeout_message() -> String {
    let folder =
        "a file in the folder `.git` may be a named pipe, or lie on a disk that does not answer";
    format!(
        "git gave no answer within {} s: {folder}",
        ANSWER_TIMEOUT.as_secs()
    )
}

/// Creates the error that git is missing or cannot be started.
pub(super) fn git_not_started(err: &io::Error) -> CliError {
    if err.kind() == io::ErrorKind::NotFound {
        return CliError::new(CliErrorKind::Infrastructure, "there is no program `git` on the path, which alone can read a revision")
            .with_hint("install git, or compare files: `ctxc manifest --output FILE` at both revisions, then name the two files");
    }
    CliError::new(
        CliErrorKind::Infrastructure,
        format!("git cannot be started: {}", describe_io_error(err)),
    )
}

/// Returns the reason why a text cannot be a revision.
fn revision_fault(revision: &str) -> Option<&'static str> {
    if revision.is_empty() {
        return Some("it is empty");
    }
    if revision.starts_with('-') {
        return Some("it begins with `-`, as options do");
    }
    if revision.chars().any(char::is_control) {
        return Some("it holds a control character");
    }
    (revision.len() >= MAX_LINE_BYTES).then_some("it is too long")
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/revision/git.rs"]
mod tests;
