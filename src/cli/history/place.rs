//! The place of a project's history: the file that `[history]` names, otherwise a file in the
//! user's folder for state.

use crate::base::{folders, fs};
use crate::cli::overwrite;
use crate::cli::prelude::*;
use crate::project::config::Config;
use crate::rules::input::read_fault::reason;
use crate::store::SqliteHistory;
use crate::store::history::HistoryError;

/// The name of the history file in the project's folder for state.
const FILE: &str = "history.db";

/// The file of a project's history.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Place {
    path: PathBuf,
    /// True if the project file names the path.
    is_configured: bool,
}

impl Place {
    /// Returns the place for a project.
    ///
    /// # Errors
    /// No folder for state exists, or the path leads through a link.
    pub(in crate::cli) fn of(root: &Path, config: &Config) -> Result<Self> {
        if let Some(path) = &config.history {
            overwrite::refuse_links(root, &path.value)?;
            return Ok(Self {
                path: root.join(&path.value),
                is_configured: true,
            });
        }
        let nowhere = || {
            CliError::new(Kind::Infrastructure, "no folder outside the project to keep runs in")
                .hint("set XDG_STATE_HOME to a folder, or `[history] path` in ctxc.toml to a file in the project")
        };
        let folder = folders::state(root).ok_or_else(nowhere)?;
        Ok(Self {
            path: folder.join(FILE),
            is_configured: false,
        })
    }

    /// Opens the history, and creates it if it does not exist.
    ///
    /// # Errors
    /// The history cannot be opened or created.
    pub(in crate::cli) fn make(&self) -> Result<SqliteHistory> {
        let folder = self.path.parent().unwrap_or(&self.path);
        let made = if self.is_configured {
            fs::create_dir_all(folder)
        } else {
            folders::make(folder)
        };
        made.map_err(|error| self.unusable(&HistoryError::System(reason(&error))))?;
        SqliteHistory::make(&self.path).map_err(|error| self.unusable(&error))
    }

    /// Opens the history; `None` if it does not exist yet.
    ///
    /// # Errors
    /// The history cannot be opened.
    pub(in crate::cli) fn open(&self) -> Result<Option<SqliteHistory>> {
        SqliteHistory::open(&self.path).map_err(|error| self.unusable(&error))
    }

    /// Creates the error for a history that cannot be used.
    pub(in crate::cli) fn unusable(&self, error: &HistoryError) -> CliError {
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
            Kind::Infrastructure,
            format!("the history in {path} cannot be used: {error}"),
        )
        .hint(hint)
    }
}
