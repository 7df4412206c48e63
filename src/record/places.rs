//! The places of recordings and their references: `@NAME`, `@last`, `@NAME#3`, or a path (`FILE`,
//! `DIR`, `DIR#3`).
//!
//! Named recordings are in the user's data folder, never in the project. A file `last` beside them
//! contains the path of the newest one.

use super::file::{self, RecordingFileFault, RecordingLine, RecordingReadFault};
use super::foreign::{self, ForeignFault, RecordingFormat};
use super::recording::Recording;
use crate::base::contained_path::describe_io_error;
use crate::base::folders;
use crate::base::fs::{self, ReadFs, RealFs};
use std::io;
use std::path::{Path, PathBuf};

/// The extension of recording files.
pub const RECORDING_EXTENSION: &str = ".jsonl";
/// The name of the newest recording, and of the file that contains its path.
pub const LAST_NAME: &str = "last";
/// The agents whose newest session has the same kind of name, such as `@claude`: no recording has
/// one of these names.
pub const AGENT_NAMES: [&str; 4] = ["claude", "codex", "gemini", "pi"];
/// The maximum size in bytes of a recording of another tool.
const MAX_FILE_BYTES: u64 = 1 << 30;
/// The number of bytes that is enough to detect a file's format.
const FORMAT_HEAD_BYTES: u64 = 4096;
/// The maximum length in bytes of a path.
const MAX_PATH_BYTES: u64 = 1 << 16;

/// A reference to a recording or to one of its calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingSelector {
    /// The recording.
    pub place: RecordingPlace,
    /// The number of the call, from 1; `None` for all calls.
    pub number: Option<usize>,
}

/// A reference to a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordingPlace {
    /// By its name.
    Named(String),
    /// By the path of a file, or of a folder with files.
    Path(PathBuf),
}

/// A call with its place.
#[derive(Clone, Debug)]
pub struct LocatedCall {
    /// Its reference: `@NAME#3`, `DIR#3`.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// The line, whose number is 0 in a file of another tool.
    pub at: RecordingLine,
    /// The request and its response.
    pub call: Recording,
    /// The format of the tool that recorded it.
    pub format: RecordingFormat,
}

impl AsRef<Recording> for LocatedCall {
    fn as_ref(&self) -> &Recording {
        &self.call
    }
}

/// The reason why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingPlaceFault {
    /// No folder for recordings is known.
    #[error("no folder for recordings: set XDG_DATA_HOME or HOME")]
    NoDataFolder,
    /// The project has no recording with this name.
    #[error("there is no recording @{name} of this project; {}", list_names(known))]
    NoName {
        /// The name.
        name: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// The recording has fewer calls.
    #[error("{subject} has {}, so there is no call {number}", call_count(*count))]
    NoCall {
        /// The recording.
        subject: String,
        /// The requested number.
        number: usize,
        /// The number of its calls.
        count: usize,
    },
    /// A folder without recordings.
    #[error("the folder {} holds no file that ends in {RECORDING_EXTENSION}", .0.display())]
    NoFiles(PathBuf),
    /// A line of a file is not a call.
    #[error("{}: {fault}", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// The line and its fault.
        #[source]
        fault: RecordingFileFault,
    },
    /// A file of another tool holds no calls.
    #[error("{}: {fault}", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
        /// The reason.
        #[source]
        fault: ForeignFault,
    },
    /// A file cannot be read.
    #[error("{}{}", file.display(), describe_read_fault(fault))]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The reason.
        #[source]
        fault: io::Error,
    },
}

/// Describes why a file cannot be used: the system's error, or a limit of ctxc.
fn describe_read_fault(fault: &io::Error) -> String {
    let description = if fault.kind() == io::ErrorKind::Other {
        ""
    } else {
        " cannot be read"
    };
    format!("{description}: {}", describe_io_error(fault))
}

fn list_names(known: &[String]) -> String {
    if known.is_empty() {
        return "it has none yet, and `ctxc record -- COMMAND` makes one".to_owned();
    }
    format!(
        "there are {}",
        known
            .iter()
            .map(|name| format!("@{name}"))
            .collect::<Vec<_>>()
            .join(", ")
    )
}

fn call_count(count: usize) -> String {
    if count == 1 {
        "1 call".to_owned()
    } else {
        format!("{count} calls")
    }
}

impl RecordingSelector {
    /// Parses `@NAME`, `@NAME#3`, a path, or a path with `#3`.
    pub fn parse(text: &str) -> Self {
        let number = |text: &str| text.parse::<usize>().ok();
        let split = text
            .rsplit_once('#')
            .and_then(|(rest, digits)| Some((rest, number(digits)?)));
        // A file's own name may end in `#3`.
        let split = split.filter(|_| text.starts_with('@') || !fs::exists(Path::new(text)));
        let (place, number) = split.map_or((text, None), |(rest, number)| (rest, Some(number)));
        let place = place.strip_prefix('@').map_or_else(
            || RecordingPlace::Path(place.into()),
            |name| RecordingPlace::Named(name.to_owned()),
        );
        Self { place, number }
    }

    /// Loads the selected calls, in order. An incomplete last line, left by a recorder that was
    /// killed, is noted and skipped.
    ///
    /// # Errors
    /// The recording or call does not exist, or cannot be read.
    pub fn load_calls(
        &self,
        project: &Path,
        note: &mut dyn FnMut(&str),
    ) -> Result<Vec<LocatedCall>, RecordingPlaceFault> {
        let mut found = Vec::new();
        self.each_call(project, |call| found.push(call))?
            .iter()
            .for_each(|line| note(line));
        Ok(found)
    }

    /// Passes the selected calls to a function one by one: a long recording is never in memory as a
    /// whole. Returns the notes.
    ///
    /// # Errors
    /// The recording or call does not exist, or cannot be read; earlier calls may have been passed
    /// on.
    pub fn each_call(
        &self,
        project: &Path,
        mut take: impl FnMut(LocatedCall),
    ) -> Result<Vec<String>, RecordingPlaceFault> {
        let (mut notes, mut count) = (Vec::new(), 0);
        for file in recording_files(&self.place, project)? {
            let mut counted = |call, at: RecordingLine, format| {
                count += 1;
                if self.number.is_none_or(|number| number == count) {
                    let name = format!("{}#{count}", self.place);
                    take(LocatedCall {
                        name,
                        file: file.clone(),
                        at,
                        call,
                        format,
                    });
                }
            };
            let unreadable = |fault| RecordingPlaceFault::Unreadable {
                file: file.clone(),
                fault,
            };
            if let Some(format) =
                detect_file_format(&file).filter(|format| *format != RecordingFormat::Ctxc)
            {
                let mut bytes = Vec::new();
                fs::read_into(&file, MAX_FILE_BYTES, &mut bytes).map_err(unreadable)?;
                let text = String::from_utf8(bytes)
                    .map_err(|_| unreadable(io::Error::other("it is not UTF-8")))?;
                let calls = foreign::read_calls(format, &text).map_err(|fault| {
                    RecordingPlaceFault::Foreign {
                        file: file.clone(),
                        fault,
                    }
                })?;
                for call in calls {
                    counted(
                        call,
                        RecordingLine {
                            line: 0,
                            offset: 0,
                            len: 0,
                        },
                        format,
                    );
                }
            } else {
                let mut is_empty = true;
                let is_cut = file::each_call(&file, |call, at| {
                    is_empty = false;
                    counted(call, at, RecordingFormat::Ctxc);
                });
                let is_cut = is_cut.map_err(|fault| match fault {
                    RecordingReadFault::Unreadable(fault) => unreadable(fault),
                    RecordingReadFault::Line(fault) => RecordingPlaceFault::Line {
                        file: file.clone(),
                        fault,
                    },
                })?;
                if let Some(line) = is_cut {
                    if is_empty {
                        let why = format!(
                            "line {line} is not a complete call: it was cut off, or this is not a recording"
                        );
                        return Err(unreadable(io::Error::other(why)));
                    }
                    let why =
                        "skipped, as its end is missing: the recorder was killed while it wrote it";
                    notes.push(format!("{}:{line}: {why}", file.display()));
                }
            }
        }
        match self.number {
            Some(number) if number == 0 || number > count => Err(RecordingPlaceFault::NoCall {
                subject: self.place.to_string(),
                number,
                count,
            }),
            _ => Ok(notes),
        }
    }
}

/// Detects the tool that wrote a file of calls from its content; `None` for another file.
pub fn detect_file_format(path: &Path) -> Option<RecordingFormat> {
    let head = fs::read_head(path, FORMAT_HEAD_BYTES).ok().flatten()?;
    foreign::detect_format(&String::from_utf8_lossy(&head))
}

impl std::fmt::Display for RecordingPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Named(name) => write!(f, "@{name}"),
            Self::Path(path) => path.display().fmt(f),
        }
    }
}

/// Lists the files of a recording, ordered by name.
fn recording_files(
    place: &RecordingPlace,
    project: &Path,
) -> Result<Vec<PathBuf>, RecordingPlaceFault> {
    match place {
        RecordingPlace::Named(name) => {
            let folder = folders::project_data(project).ok_or(RecordingPlaceFault::NoDataFolder)?;
            let file = if name == LAST_NAME {
                last_recording(&folder)
            } else {
                recording_path(&folder, name)
            };
            let no_name = || RecordingPlaceFault::NoName {
                name: name.clone(),
                known: recording_names(project),
            };
            Ok(vec![
                file.filter(|file| fs::is_file(file)).ok_or_else(no_name)?,
            ])
        }
        RecordingPlace::Path(path) if fs::is_dir(path) => {
            let names = fs::list_names(path)
                .into_iter()
                .filter(|name| name.ends_with(RECORDING_EXTENSION));
            let files: Vec<PathBuf> = names.map(|name| path.join(name)).collect();
            if files.is_empty() {
                Err(RecordingPlaceFault::NoFiles(path.clone()))
            } else {
                Ok(files)
            }
        }
        RecordingPlace::Path(path) => Ok(vec![path.clone()]),
    }
}

/// Returns the path of a recording with this name in a folder; `None` for an invalid name.
pub fn recording_path(folder: &Path, name: &str) -> Option<PathBuf> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let is_name = !name.is_empty()
        && name != LAST_NAME
        && !AGENT_NAMES.contains(&name)
        && !name.starts_with('.')
        && name.chars().all(is_plain);
    is_name.then(|| folder.join(format!("{name}{RECORDING_EXTENSION}")))
}

/// The newest recording.
fn last_recording(folder: &Path) -> Option<PathBuf> {
    let path =
        String::from_utf8(RealFs.read(&folder.join(LAST_NAME), MAX_PATH_BYTES).ok()?).ok()?;
    Some(PathBuf::from(path.trim_end_matches('\n')))
}

/// Makes a recording the newest one, regardless of its folder.
///
/// # Errors
/// The file `last` cannot be written.
pub fn set_last(project: &Path, file: &Path) -> io::Result<()> {
    let folder = folders::project_data(project)
        .ok_or_else(|| io::Error::other(RecordingPlaceFault::NoDataFolder.to_string()))?;
    folders::create_private(&folder)?;
    let path = RealFs.canonicalize(file)?;
    fs::write_atomic(
        &folder.join(LAST_NAME),
        format!("{}\n", path.display()).as_bytes(),
    )
    .map(drop)
}

/// Returns the names of a project's recordings, in order, `last` first if it exists.
pub fn recording_names(project: &Path) -> Vec<String> {
    let Some(folder) = folders::project_data(project) else {
        return Vec::new();
    };
    let last = last_recording(&folder)
        .filter(|file| fs::is_file(file))
        .map(|_| LAST_NAME.to_owned());
    let own = fs::list_names(&folder)
        .into_iter()
        .filter_map(|name| Some(name.strip_suffix(RECORDING_EXTENSION)?.to_owned()));
    last.into_iter().chain(own).collect()
}
