//! A program that is run for a limited time: it reads a text and writes a limited number of bytes. The one door to programs that files of a
//! project name; whoever comes here has asked whether their user permitted it.
//!
//! Its environment is what it is given and nothing else. It is the leader of a group of its own: when it ends, or has to, everything
//! that it started ends with it, asked first (TERM) and made to after [`GRACE`] (KILL).

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

/// How often it is asked whether it ended.
const NAP: Duration = Duration::from_millis(2);
/// How long it has to end by itself once it is asked to, and how long what it wrote is waited for once it ended.
pub const GRACE: Duration = Duration::from_secs(1);
/// Bytes that a program may write where nobody says less.
pub const OUTPUT: usize = 1 << 20;
/// Bytes of its standard error that are kept.
const SAID: usize = 1 << 14;
/// The variables that a program sees of ours where nobody says more: what finds programs, and how texts are written here.
pub const ENVIRONMENT: [&str; 12] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TERM", "SystemRoot"];

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Exited {
        /// Its exit code.
        code: i32,
        /// What it wrote.
        out: Vec<u8>,
        /// What it wrote to its standard error, the last bytes of it.
        said: String,
    },
    /// A signal ended it that was not ours.
    Signal {
        /// Its number.
        signal: i32,
        /// What it wrote to its standard error, the last bytes of it.
        said: String,
    },
    /// It had done what it was started for.
    Stopped,
    /// Its time was over.
    Late,
    /// It wrote more than it may.
    TooMuch,
    /// It could not be started: why.
    Never(String),
}

/// What a program may take.
pub struct Bounds<'b> {
    /// How long it may run.
    pub time: Duration,
    /// Bytes that it may write.
    pub most: usize,
    /// When it has done what it was started for; it is ended then.
    pub until: Option<&'b dyn Fn() -> bool>,
    /// What gives it more time, as its author writes it.
    pub key: &'static str,
}

impl Bounds<'_> {
    /// So long, and so many bytes.
    pub const fn of(time: Duration, most: usize) -> Self {
        Self { time, most, until: None, key: "timeout_s" }
    }
}

impl Ended {
    /// What it wrote, where it ended with exit code 0.
    ///
    /// # Errors
    /// How it ended otherwise, in words; `bounds` are those that it had.
    pub fn well(self, bounds: &Bounds<'_>) -> Result<Vec<u8>, String> {
        match self {
            Self::Exited { code: 0, out, .. } => Ok(out),
            Self::Stopped => Ok(Vec::new()),
            Self::Exited { code, said, .. } => Err(with_last_line(format!("it ended with exit code {code}"), &said)),
            Self::Signal { signal, said } => Err(killed(signal, &said)),
            Self::Late => Err(late(bounds.time, bounds.key)),
            Self::TooMuch => Err(format!("it was stopped, since it wrote more than {} bytes", bounds.most)),
            Self::Never(why) => Err(format!("it cannot be started: {why}")),
        }
    }
}

/// The variables of ours with these names.
pub fn environment<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<(String, String)> {
    names.into_iter().filter_map(|name| Some((name.to_owned(), fs::env(name)?))).collect()
}

/// Prepares a program in a folder with these variables and no others. `argv` has its name first.
///
/// # Errors
/// It has no name.
pub(super) fn command(argv: &[String], folder: &Path, variables: &[(String, String)]) -> Result<Command, String> {
    let (program, words) = argv.split_first().ok_or_else(|| "it has no name".to_owned())?;
    #[allow(clippy::disallowed_methods, reason = "the one place that runs what a project names, where its user permitted it")]
    let mut command = Command::new(program);
    command.args(words).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env_clear().envs(variables.iter().map(|(name, value)| (name, value)));
    // What it starts is in its group, and ends with that.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    Ok(command)
}

/// Runs a program in a folder with these variables and no others. `argv` has its name first.
pub fn run(argv: &[String], folder: &Path, variables: &[(String, String)], input: &str, bounds: &Bounds<'_>) -> Ended {
    let mut command = match command(argv, folder, variables) {
        Ok(command) => command,
        Err(why) => return Ended::Never(why),
    };
    match command.spawn() {
        Ok(child) => finish(child, input, bounds),
        Err(why) => Ended::Never(why.to_string()),
    }
}

/// Waits for a program that was started as the leader of a group of its own.
pub fn finish(mut child: Child, input: &str, bounds: &Bounds<'_>) -> Ended {
    let begun = Instant::now();
    let _running = Running::of(&child);
    let input = input.to_owned();
    if let Some(mut stdin) = child.stdin.take() {
        // One that does not read its input may do without.
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
    let said = || said.as_ref().and_then(|said| said.recv_timeout(GRACE).ok()).unwrap_or_default();
    match (status, out) {
        (_, Some(None)) => Ended::TooMuch,
        (None, _) => Ended::Late,
        // What it started still writes.
        (Some(status), None) if status.success() => Ended::Late,
        (Some(status), out) => of_status(status, out.flatten().unwrap_or_default(), &said()),
    }
}

/// Whether a program writes something within a time, or ends.
pub fn answers(answer: &ChildStdout, time: Duration) -> bool {
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let limit = Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: 0 };
        poll(&mut [PollFd::new(answer, PollFlags::IN)], Some(&limit)) != Ok(0)
    }
    #[cfg(not(unix))]
    {
        let _ = (answer, time);
        true
    }
}

/// How the waiting ended.
enum Waited {
    Stopped,
    Ended(ExitStatus),
    Over,
}

/// What it wrote, once that is all; `None` inside where it was too much.
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
    Ended::Exited { code: status.code().unwrap_or(-1), out, said }
}

/// Reads a stream to its end; `None` as soon as there is more than `most`.
fn first(stream: impl Read + Send + 'static, most: usize) -> Receiver<Option<Vec<u8>>> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stream.take(most as u64 + 1).read_to_end(&mut bytes);
        // Nobody may be left who waits for it.
        let _ = send.send((read.is_ok() && bytes.len() <= most).then_some(bytes));
    });
    receive
}

/// Reads a stream to its end, and keeps the last bytes of it.
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

/// The programs that run now.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// A program that runs: an interrupt of this one ends it too.
#[derive(Debug)]
pub(super) struct Running(u32);

impl Running {
    pub(super) fn of(child: &Child) -> Self {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).insert(child.id());
        Self(child.id())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// Ends every program that runs now: for an interrupt.
pub fn end_all() {
    for id in RUNNING.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        signal_group(*id, Signal::Kill);
    }
}

/// What a group is sent.
#[derive(Clone, Copy)]
enum Signal {
    Term,
    Kill,
}

/// Signals a program's group: itself, and everything that it started.
fn signal_group(id: u32, signal: Signal) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw) {
        let signal = match signal {
            Signal::Term => rustix::process::Signal::TERM,
            Signal::Kill => rustix::process::Signal::KILL,
        };
        // It may have ended by itself.
        let _ = rustix::process::kill_process_group(group, signal);
    }
    #[cfg(not(unix))]
    let _ = (id, signal);
}

/// Ends a program with everything that it started: one that still runs is asked to, and has a moment for it.
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
