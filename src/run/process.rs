//! A program that runs with limits on time and output. The only place that starts programs named in
//! project files; the caller must have the user's permission.
//!
//! Its environment contains only the given variables. It leads a process group of its own. When it
//! ends or is stopped, its whole group is stopped: first by TERM, then by KILL after [`GRACE`].

use super::commands::{killed, late, with_last_line};
use crate::base::fs;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Interval between checks for its end.
const NAP: Duration = Duration::from_millis(2);
/// Time between TERM and KILL, and the maximum wait for remaining output after the end.
pub const GRACE: Duration = Duration::from_secs(1);
/// Default limit on the output in bytes.
pub const OUTPUT: usize = 1 << 20;
/// Number of bytes kept of the standard error.
const SAID: usize = 1 << 14;
/// The variables that a program inherits by default: for finding programs, and for the locale.
pub const ENVIRONMENT: [&str; 12] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "TERM",
    "SystemRoot",
];

/// The end of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The program ended by itself.
    Exited {
        /// The exit code.
        code: i32,
        /// The standard output.
        out: Vec<u8>,
        /// The end of the standard error.
        said: String,
    },
    /// The program was ended by a signal from outside.
    Signal {
        /// The number of the signal.
        signal: i32,
        /// The end of the standard error.
        said: String,
    },
    /// The program was stopped because its purpose was fulfilled.
    Stopped,
    /// The program exceeded its time limit.
    Late,
    /// The program exceeded its output limit.
    TooMuch,
    /// The program could not be started, for this reason.
    Never(String),
}

/// The limits of a program.
pub struct Bounds<'b> {
    /// The time limit.
    pub time: Duration,
    /// The maximum output in bytes.
    pub most: usize,
    /// Returns true once the purpose of the program is fulfilled. The program is stopped then.
    pub until: Option<&'b dyn Fn() -> bool>,
    /// The setting that raises the time limit.
    pub key: &'static str,
}

impl Bounds<'_> {
    /// Creates limits on time and output.
    pub const fn of(time: Duration, most: usize) -> Self {
        Self {
            time,
            most,
            until: None,
            key: "timeout_s",
        }
    }
}

impl Ended {
    /// Returns the standard output of a program that ended with exit code 0.
    ///
    /// # Errors
    /// A description of any other end; `bounds` are the limits of the program.
    pub fn well(self, bounds: &Bounds<'_>) -> Result<Vec<u8>, String> {
        match self {
            Self::Exited { code: 0, out, .. } => Ok(out),
            Self::Stopped => Ok(Vec::new()),
            Self::Exited { code, said, .. } => Err(with_last_line(
                format!("it ended with exit code {code}"),
                &said,
            )),
            Self::Signal { signal, said } => Err(killed(signal, &said)),
            Self::Late => Err(late(bounds.time, bounds.key)),
            Self::TooMuch => Err(format!(
                "it was stopped, since it wrote more than {} bytes",
                bounds.most
            )),
            Self::Never(why) => Err(format!("it cannot be started: {why}")),
        }
    }
}

/// Returns the variables of our environment with these names.
pub fn environment<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<(String, String)> {
    names
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), fs::env(name)?)))
        .collect()
}

/// Prepares a program in a folder, with these variables and no others. `argv` begins with the
/// program.
///
/// # Errors
/// `argv` is empty.
pub(super) fn command(
    argv: &[String],
    folder: &Path,
    variables: &[(String, String)],
) -> Result<Command, String> {
    let (program, words) = argv
        .split_first()
        .ok_or_else(|| "it has no name".to_owned())?;
    #[allow(
        clippy::disallowed_methods,
        reason = "the one place that runs what a project names, where its user permitted it"
    )]
    let mut command = Command::new(program);
    command
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
        .env_clear()
        .envs(variables.iter().map(|(name, value)| (name, value)));
    // Its child processes join its group, and end with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    Ok(command)
}

/// Runs a program in a folder, with these variables and no others. `argv` begins with the program.
pub fn run(
    argv: &[String],
    folder: &Path,
    variables: &[(String, String)],
    input: &str,
    bounds: &Bounds<'_>,
) -> Ended {
    let mut command = match command(argv, folder, variables) {
        Ok(command) => command,
        Err(why) => return Ended::Never(why),
    };
    match command.spawn() {
        Ok(child) => finish(child, input, bounds),
        Err(why) => Ended::Never(why.to_string()),
    }
}

/// Waits for a program that was started as the leader of its own group.
pub fn finish(mut child: Child, input: &str, bounds: &Bounds<'_>) -> Ended {
    let begun = Instant::now();
    let _running = Running::of(&child);
    let input = input.to_owned();
    if let Some(mut stdin) = child.stdin.take() {
        // A program may ignore its input.
        thread::spawn(move || {
            let _ = stdin.write_all(input.as_bytes());
        });
    }
    let written = child.stdout.take().map(|out| first(out, bounds.most));
    let said = child.stderr.take().map(last);
    let (status, out) = wait(&mut child, written.as_ref(), begun, bounds);
    let status = match status {
        Waited::Stopped => {
            end(&mut child);
            return Ended::Stopped;
        }
        Waited::Ended(status) => Some(status),
        Waited::Over => None,
    };
    end(&mut child);
    let out = out.or_else(|| written?.recv_timeout(GRACE).ok());
    let said = || {
        said.as_ref()
            .and_then(|said| said.recv_timeout(GRACE).ok())
            .unwrap_or_default()
    };
    match (status, out) {
        (_, Some(None)) => Ended::TooMuch,
        (None, _) => Ended::Late,
        // A child process still writes.
        (Some(status), None) if status.success() => Ended::Late,
        (Some(status), out) => of_status(status, out.flatten().unwrap_or_default(), &said()),
    }
}

/// Returns true if the program writes something or ends within a time.
pub fn answers(answer: &ChildStdout, time: Duration) -> bool {
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let limit = Timespec {
            tv_sec: time.as_secs().cast_signed(),
            tv_nsec: 0,
        };
        poll(&mut [PollFd::new(answer, PollFlags::IN)], Some(&limit)) != Ok(0)
    }
    #[cfg(not(unix))]
    {
        let _ = (answer, time);
        true
    }
}

/// The end of the waiting.
enum Waited {
    Stopped,
    Ended(ExitStatus),
    Over,
}

/// The output, once it is complete; the inner `None` means that it was too large.
type Written = Option<Option<Vec<u8>>>;

fn wait(
    child: &mut Child,
    written: Option<&Receiver<Option<Vec<u8>>>>,
    begun: Instant,
    bounds: &Bounds<'_>,
) -> (Waited, Written) {
    let mut out: Written = None;
    loop {
        if bounds.until.is_some_and(|until| until()) {
            return (Waited::Stopped, out);
        }
        out = out.or_else(|| written?.try_recv().ok());
        match child.try_wait() {
            Ok(Some(status)) => return (Waited::Ended(status), out),
            _ if begun.elapsed() > bounds.time || out == Some(None) => return (Waited::Over, out),
            _ => thread::sleep(NAP),
        }
    }
}

fn of_status(status: ExitStatus, out: Vec<u8>, said: &[u8]) -> Ended {
    let said = String::from_utf8_lossy(said).into_owned();
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Ended::Signal { signal, said };
    }
    Ended::Exited {
        code: status.code().unwrap_or(-1),
        out,
        said,
    }
}

/// Reads a stream to its end; sends `None` as soon as it exceeds `most` bytes.
fn first(stream: impl Read + Send + 'static, most: usize) -> Receiver<Option<Vec<u8>>> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stream.take(most as u64 + 1).read_to_end(&mut bytes);
        // The receiver may be gone already.
        let _ = send.send((read.is_ok() && bytes.len() <= most).then_some(bytes));
    });
    receive
}

/// Reads a stream to its end, and keeps its last bytes.
pub(super) fn last(mut stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut kept = Vec::new();
        let mut part = [0_u8; 4096];
        while let Ok(read @ 1..) = stream.read(&mut part) {
            kept.extend_from_slice(part.get(..read).unwrap_or_default());
            kept.drain(..kept.len().saturating_sub(SAID));
        }
        let _ = send.send(kept);
    });
    receive
}

/// The programs that are running.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// A running program, which an interrupt of this process ends too.
#[derive(Debug)]
pub(super) struct Running(u32);

impl Running {
    pub(super) fn of(child: &Child) -> Self {
        RUNNING
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(child.id());
        Self(child.id())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.0);
    }
}

/// Kills every running program, on an interrupt.
pub fn end_all() {
    for id in RUNNING
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .iter()
    {
        signal_group(*id, Signal::Kill);
    }
}

/// A signal to a process group.
#[derive(Clone, Copy)]
enum Signal {
    Term,
    Kill,
}

/// Signals the process group of a program: itself and its child processes.
fn signal_group(id: u32, signal: Signal) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(id)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    {
        let signal = match signal {
            Signal::Term => rustix::process::Signal::TERM,
            Signal::Kill => rustix::process::Signal::KILL,
        };
        // The group may have ended already.
        let _ = rustix::process::kill_process_group(group, signal);
    }
    #[cfg(not(unix))]
    let _ = (id, signal);
}

/// Ends a program with its child processes. A program that is still running receives TERM first,
/// and some time to end.
pub(super) fn end(child: &mut Child) {
    if matches!(child.try_wait(), Ok(None)) {
        signal_group(child.id(), Signal::Term);
        let asked = Instant::now();
        while asked.elapsed() < GRACE && matches!(child.try_wait(), Ok(None)) {
            thread::sleep(NAP);
        }
    }
    signal_group(child.id(), Signal::Kill);
    let _ = child.kill();
    let _ = child.wait();
}
