//! A program that runs with limits on time and output. The only place that starts programs named in
//! project files; the caller must have the user's permission.
//!
//! Its environment contains only the given variables. It leads a process group of its own. When it
//! ends or is stopped, its whole group is stopped: first by TERM, then by KILL after [`GRACE_PERIOD`].

use super::commands::{append_last_line, describe_signal, describe_timeout};
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
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Time between TERM and KILL, and the maximum wait for remaining output after the end.
pub const GRACE_PERIOD: Duration = Duration::from_secs(1);
/// Default limit on the output in bytes.
pub const MAX_OUTPUT: usize = 1 << 20;
/// Number of bytes kept of the standard error.
const MAX_STDERR: usize = 1 << 14;
/// The variables that a program inherits by default: for finding programs, and for the locale.
pub const DEFAULT_VARIABLES: [&str; 12] = [
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
pub enum ProcessEnd {
    /// The program ended by itself.
    Exited {
        /// The exit code.
        code: i32,
        /// The standard output.
        stdout: Vec<u8>,
        /// The end of the standard error.
        stderr: String,
    },
    /// The program was ended by a signal from outside.
    Signal {
        /// The number of the signal.
        signal: i32,
        /// The end of the standard error.
        stderr: String,
    },
    /// The program was stopped because its purpose was fulfilled.
    Stopped,
    /// The program exceeded its time limit.
    TimedOut,
    /// The program exceeded its output limit.
    OutputTooLarge,
    /// The program could not be started, for this reason.
    NotStarted(String),
}

/// The limits of a program.
pub struct ProcessLimits<'b> {
    /// The time limit.
    pub time: Duration,
    /// The maximum output in bytes.
    pub max_output: usize,
    /// Returns true once the purpose of the program is fulfilled. The program is stopped then.
    pub is_done: Option<&'b dyn Fn() -> bool>,
    /// The setting that raises the time limit.
    pub key: &'static str,
}

impl ProcessLimits<'_> {
    /// Creates limits on time and output.
    pub const fn new(time: Duration, most: usize) -> Self {
        Self {
            time,
            max_output: most,
            is_done: None,
            key: "timeout_s",
        }
    }
}

impl ProcessEnd {
    /// Returns the standard output of a program that ended with exit code 0.
    ///
    /// # Errors
    /// A description of any other end; `bounds` are the limits of the program.
    pub fn into_stdout(self, bounds: &ProcessLimits<'_>) -> Result<Vec<u8>, String> {
        match self {
            Self::Exited {
                code: 0,
                stdout: out,
                ..
            } => Ok(out),
            Self::Stopped => Ok(Vec::new()),
            Self::Exited { code, stderr, .. } => Err(append_last_line(
                format!("it ended with exit code {code}"),
                &stderr,
            )),
            Self::Signal { signal, stderr } => Err(describe_signal(signal, &stderr)),
            Self::TimedOut => Err(describe_timeout(bounds.time, bounds.key)),
            Self::OutputTooLarge => Err(format!(
                "it was stopped, since it wrote more than {} bytes",
                bounds.max_output
            )),
            Self::NotStarted(why) => Err(format!("it cannot be started: {why}")),
        }
    }
}

/// Returns the variables of our environment with these names.
pub fn inherited_variables<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<(String, String)> {
    names
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), fs::env_var(name)?)))
        .collect()
}

/// Prepares a program in a folder, with these variables and no others. `argv` begins with the
/// program.
///
/// # Errors
/// `argv` is empty.
pub(super) fn build_command(
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

/// Returns a program and its arguments with the program's path joined to a folder, on every system.
/// A name without a path is left for the system to find.
pub fn resolve_program(argv: &[String], folder: &Path) -> Vec<String> {
    let mut argv = argv.to_vec();
    if let Some(program) = argv.first_mut().filter(|program| program.contains('/')) {
        *program = folder.join(&*program).to_string_lossy().into_owned();
    }
    argv
}

/// Runs a program in a folder, with these variables and no others. `argv` begins with the program.
pub fn run_program(
    argv: &[String],
    folder: &Path,
    variables: &[(String, String)],
    input: &str,
    bounds: &ProcessLimits<'_>,
) -> ProcessEnd {
    let mut command = match build_command(argv, folder, variables) {
        Ok(command) => command,
        Err(why) => return ProcessEnd::NotStarted(why),
    };
    match command.spawn() {
        Ok(child) => wait_for_exit(child, input, bounds),
        Err(why) => ProcessEnd::NotStarted(why.to_string()),
    }
}

/// Waits for a program that was started as the leader of its own group.
pub fn wait_for_exit(mut child: Child, input: &str, bounds: &ProcessLimits<'_>) -> ProcessEnd {
    let begun = Instant::now();
    let _running = RunningProcess::register(&child);
    let input = input.to_owned();
    if let Some(mut stdin) = child.stdin.take() {
        // A program may ignore its input.
        thread::spawn(move || {
            let _ = stdin.write_all(input.as_bytes());
        });
    }
    let written = child
        .stdout
        .take()
        .map(|out| read_limited(out, bounds.max_output));
    let tail = child.stderr.take().map(read_tail);
    let (status, out) = wait_for_child(&mut child, written.as_ref(), begun, bounds);
    let status = match status {
        WaitOutcome::Stopped => {
            end_group(&mut child);
            return ProcessEnd::Stopped;
        }
        WaitOutcome::Ended(status) => Some(status),
        WaitOutcome::Over => None,
    };
    end_group(&mut child);
    let out = out.or_else(|| written?.recv_timeout(GRACE_PERIOD).ok());
    let stderr = || {
        tail.as_ref()
            .and_then(|tail| tail.recv_timeout(GRACE_PERIOD).ok())
            .unwrap_or_default()
    };
    match (status, out) {
        (_, Some(None)) => ProcessEnd::OutputTooLarge,
        (None, _) => ProcessEnd::TimedOut,
        // A child process still writes.
        (Some(status), None) if status.success() => ProcessEnd::TimedOut,
        (Some(status), out) => end_of_status(status, out.flatten().unwrap_or_default(), &stderr()),
    }
}

/// Returns true if the program writes something or ends within a time.
pub fn has_output_within(answer: &ChildStdout, time: Duration) -> bool {
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
enum WaitOutcome {
    Stopped,
    Ended(ExitStatus),
    Over,
}

/// The output, once it is complete; the inner `None` means that it was too large.
type CapturedOutput = Option<Option<Vec<u8>>>;

fn wait_for_child(
    child: &mut Child,
    written: Option<&Receiver<Option<Vec<u8>>>>,
    begun: Instant,
    bounds: &ProcessLimits<'_>,
) -> (WaitOutcome, CapturedOutput) {
    let mut out: CapturedOutput = None;
    loop {
        if bounds.is_done.is_some_and(|until| until()) {
            return (WaitOutcome::Stopped, out);
        }
        out = out.or_else(|| written?.try_recv().ok());
        match child.try_wait() {
            Ok(Some(status)) => return (WaitOutcome::Ended(status), out),
            _ if begun.elapsed() > bounds.time || out == Some(None) => {
                return (WaitOutcome::Over, out);
            }
            _ => thread::sleep(POLL_INTERVAL),
        }
    }
}

fn end_of_status(status: ExitStatus, out: Vec<u8>, stderr: &[u8]) -> ProcessEnd {
    let stderr = String::from_utf8_lossy(stderr).into_owned();
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return ProcessEnd::Signal { signal, stderr };
    }
    ProcessEnd::Exited {
        code: status.code().unwrap_or(-1),
        stdout: out,
        stderr,
    }
}

/// Reads a stream to its end; sends `None` as soon as it exceeds `most` bytes.
fn read_limited(stream: impl Read + Send + 'static, most: usize) -> Receiver<Option<Vec<u8>>> {
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
pub(super) fn read_tail(mut stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut tail = Vec::new();
        let mut part = [0_u8; 4096];
        while let Ok(read @ 1..) = stream.read(&mut part) {
            tail.extend_from_slice(part.get(..read).unwrap_or_default());
            tail.drain(..tail.len().saturating_sub(MAX_STDERR));
        }
        let _ = send.send(tail);
    });
    receive
}

/// The programs that are running.
static RUNNING_PROCESSES: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// A running program, which an interrupt of this process ends too.
#[derive(Debug)]
pub(super) struct RunningProcess(u32);

impl RunningProcess {
    pub(super) fn register(child: &Child) -> Self {
        RUNNING_PROCESSES
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(child.id());
        Self(child.id())
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        RUNNING_PROCESSES
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.0);
    }
}

/// Kills every running program, on an interrupt.
pub fn kill_all() {
    for id in RUNNING_PROCESSES
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .iter()
    {
        signal_group(*id, GroupSignal::Kill);
    }
}

/// A signal to a process group.
#[derive(Clone, Copy)]
enum GroupSignal {
    Term,
    Kill,
}

/// Signals the process group of a program: itself and its child processes.
fn signal_group(id: u32, signal: GroupSignal) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(id)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    {
        let signal = match signal {
            GroupSignal::Term => rustix::process::Signal::TERM,
            GroupSignal::Kill => rustix::process::Signal::KILL,
        };
        // The group may have ended already.
        let _ = rustix::process::kill_process_group(group, signal);
    }
    #[cfg(not(unix))]
    let _ = (id, signal);
}

/// Ends a program with its child processes. A program that is still running receives TERM first,
/// and some time to end.
pub(super) fn end_group(child: &mut Child) {
    if matches!(child.try_wait(), Ok(None)) {
        signal_group(child.id(), GroupSignal::Term);
        let start = Instant::now();
        while start.elapsed() < GRACE_PERIOD && matches!(child.try_wait(), Ok(None)) {
            thread::sleep(POLL_INTERVAL);
        }
    }
    signal_group(child.id(), GroupSignal::Kill);
    let _ = child.kill();
    let _ = child.wait();
}
