//! Exit codes: documented constants. The table in `docs/CLI.md` is generated from [`EXIT_TABLE`].
//!
//! The code is taken from the verdict after all output is flushed. A closed output pipe does not
//! change it.

/// The outcome of a run of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything was done, and nothing of error severity was found.
    Success,
    /// Findings of error severity.
    Findings,
    /// The command line or the project file is wrong.
    Usage,
    /// A system error.
    Infrastructure,
    /// A change must not be merged.
    Gate,
    /// Nothing was selected.
    Nothing,
    /// Answers were recorded for another context.
    Stale,
    /// A scenario is undecided, or too few have answers.
    Inconclusive,
    /// Interrupted from the keyboard.
    Interrupted,
    /// The exit code of the command that `record` or `replay` ran.
    Command(u8),
}

/// Every exit, its number and its meaning, in the order of the documentation.
pub const EXIT_TABLE: [(Exit, u8, &str); 9] = [
    (
        Exit::Success,
        0,
        "success; a closed output pipe does not change the verdict",
    ),
    (
        Exit::Findings,
        1,
        "findings of error severity, including an unreadable input, and entries of `ctxc.toml` that do not fit the templates, such as a role whose task is gone; `build --check` if the registry is out of date; `manifest --check` if the manifest is; `eval` if a scenario fails, or is about something that does not exist; `check --diff`, `fmt --check` and `fmt --diff` if something would change; `fmt` if a file was left alone; `compaction --fail-on` if such facts were dropped",
    ),
    (
        Exit::Usage,
        2,
        "wrong usage, a path or name that does not exist, or a project file (`ctxc.toml`, `ctxc.suppressions.toml`) that is invalid, whatever the templates are",
    ),
    (
        Exit::Infrastructure,
        3,
        "output that cannot be written, a lock held by another run, a registry, manifest, recording or history of a newer schema, a required history that cannot be used, accepted results that were edited by hand, a scenario that could not be run, no `git` although a revision was named, a session that cannot be read, or a bug in ctxc",
    ),
    (
        Exit::Gate,
        4,
        "`gate` if a change may not be merged: it breaks accepted results, or contains a relaxation that was not accepted; `package can-publish` if it breaks a contract that was kept before",
    ),
    (
        Exit::Nothing,
        5,
        "nothing was selected: no template under the given paths, or no scenario (0 with `--allow-empty`); an empty file or a folder without any, where requests or sessions are read; `gate` if `--base` is the id of the commit that is checked out; `package can-publish` without a consumer; `compaction` if nothing was compacted",
    ),
    (
        Exit::Stale,
        6,
        "`eval` if answers were recorded for another request (0 with `stale = \"warn\"` in `[eval]`); `package can-publish` if a contract is undecided; `replay` and `record --script` if a call had no recorded or scripted answer",
    ),
    (
        Exit::Inconclusive,
        7,
        "`eval` and `gate` if a scenario is undecided, or fewer have answers than `--min-answered` requires; `gate` if nothing was compared; `compare` if a scenario was not compared, or none; `compaction --fail-on` if a summary cannot be read",
    ),
    (
        Exit::Interrupted,
        130,
        "interrupted (Ctrl-C); no output file is left half written",
    ),
];

/// All verdicts, the gravest first.
const PRECEDENCE: [Exit; 9] = [
    Exit::Interrupted,
    Exit::Usage,
    Exit::Infrastructure,
    Exit::Gate,
    Exit::Findings,
    Exit::Inconclusive,
    Exit::Stale,
    Exit::Nothing,
    Exit::Success,
];

impl Exit {
    /// Returns the exit code for the shell.
    pub(crate) fn code(self) -> u8 {
        if let Self::Command(code) = self {
            return code;
        }
        EXIT_TABLE
            .iter()
            .find(|(exit, _, _)| *exit == self)
            .map_or(3, |(_, code, _)| *code)
    }

    /// Returns the graver of two verdicts: 2, 3, 4, 1, 7, 6, 5, 0.
    #[must_use]
    pub(crate) fn graver_of(self, other: Self) -> Self {
        PRECEDENCE
            .into_iter()
            .find(|exit| *exit == self || *exit == other)
            .unwrap_or(self)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/cli/exit.rs"]
mod tests;
