//! The place of a project's history: the file that `[history]` names, otherwise a file in the
//! user's folder for state.

use crate::base::{folders, fs};
use crate::cli::overwrite;
use crate::cli::prelude::*;
use crate::project::config::Config;
use crate::rules::input::read_fault::describe_io_error;
use crate::store::SqliteHistory;
use crate::store::history::HistoryError;

/// The name of the history file in the project's folder for state.
const HISTORY_FILE: &str = "history.db";

/// The file of a project's history.
#[derive(Clone, Debug)]
pub(in crate::cli) struct HistoryPlace {
    path: PathBuf,
    /// True if the project file names the path.
    is_configured: bool,
}

impl HistoryPlace {
    /// Returns the place for a project.
    ///
    /// # Errors
    /// No folder for state exists, or the path leads through a link.
    pub(in crate::cli) fn for_project(root: &Path, config: &Config) -> Result<Self> {
        if let Some(path) = &config.history {
            overwrite::reject_links(root, &path.value)?;
            return Ok(Self {
                path: root.join(&path.value),
                is_configured: true,
            });
        }
        let nowhere = || {
            CliError::new(CliErrorKind::Infrastructure, "no folder outside the project to keep runs in")
                .with_hint("set XDG_STATE_HOME to a folder, or `[history] path` in ctxc.toml to a file in the project")
        };
        let folder = folders::project_state(root).ok_or_else(nowhere)?;
        Ok(Self {
            path: folder.join(HISTORY_FILE),
            is_configured: false,
        })
    }

    /// Opens the history, and creates it if it does not exist.
    ///
    /// # Errors
    /// The history cannot be opened or created.
    pub(in crate::cli) fn open_or_create(&self) -> Result<SqliteHistory> {
        let folder = self.path.parent().unwrap_or(&self.path);
        let creation = if self.is_configured {
            fs::create_dir_all(folder)
        } else {
            folders::create_private(folder)
        };
        creation.map_err(|error| {
            self.unusable_error(&HistoryError::System(describe_io_error(&error)))
        })?;
        SqliteHistory::open_or_create(&self.path).map_err(|error| self.unusable_error(&error))
    }

    /// Opens the history; `None` if it does not exist yet.
    ///
    /// # Errors
    /// The history cannot be opened.
    pub(in crate::cli) fn open(&self) -> Result<Option<SqliteHistory>> {
        SqliteHistory::open(&self.path).map_err(|error| self.unusable_error(&error))
    }

    /// Creates the error for a history that cannot be used.
    pub(in crate::cli) fn unusable_error(&self, error: &HistoryError) -> CliError {
        let hint = match error {
            HistoryError::Busy => "try again once that program has finished",
            HistoryError::Newer(..) => {
                "update ctxc, or name another file with `[history] path` in ctxc.toml"
            }
            HistoryError::Foreign(_) | HistoryError::Damaged(_) => {
                "move the file away, and the next `ctxc eval` begins a new history; nothing in it was changed"
            }
            HistoryError::System(_) => {
                "`[history] path` in ctxc.toml names another file; `ctxc eval --no-history` needs none"
            }
        };
        let path = self.path.display();
        CliError::new(
            CliErrorKind::Infrastructure,
            format!("the history in {path} cannot be used: {error}"),
        )
        .with_hint(hint)
    }
}
