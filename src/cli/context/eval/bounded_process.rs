//! A program that is run for a limited time: it reads a text and writes a limited number of bytes; when it ends, or has to, everything
//! that it started ends with it.

use crate::cli::interrupt;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often it is asked whether it ended.
const NAP: Duration = Duration::from_millis(5);
/// How long what it wrote is waited for once it ended.
const GRACE: Duration = Duration::from_secs(1);
/// Bytes of its standard error that are kept.
const SAID: usize = 1 << 14;

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// With exit code 0; what it wrote.
    Well(Vec<u8>),
    /// With another one, or by a signal.
    Badly {
        /// How, in words.
        how: String,
        /// The last line of its standard error; empty where it wrote none.
        said: String,
    },
    /// Its time was over.
    Late,
    /// It wrote more than it may.
    TooMuch,
    /// It could not be started: why.
    Never(String),
}

/// What a program may take.
pub(super) struct Bounds<'b> {
    pub(super) time: Duration,
    /// Bytes that it may write.
    pub(super) most: usize,
    /// When it has done what it was started for; it is ended then, and has ended well.
    pub(super) until: Option<&'b dyn Fn() -> bool>,
}

impl Bounds<'_> {
    pub(super) const fn of(time: Duration, most: usize) -> Self {
        Self { time, most, until: None }
    }
}

/// Runs a program in a folder, with some variables and without others. `argv` has its name first.
pub(super) fn run(
    argv: &[String],
    folder: &Path,
    (variables, hidden): (&[(String, String)], &[String]),
    input: &str,
    bounds: &Bounds<'_>,
) -> Ended {
    let Bounds { time, most, until } = *bounds;
    let Some((program, words)) = argv.split_first() else { return Ended::Never("it has no name".to_owned()) };
    #[allow(clippy::disallowed_methods, reason = "the one place that runs what a project names, where its user permitted it")]
    let mut command = Command::new(program);
    command.args(words).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    for name in hidden {
        command.env_remove(name);
    }
    // What it starts is in its group, and ends with that.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let begun = Instant::now();
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(why) => return Ended::Never(why.to_string()),
    };
    let _running = Running::of(&child);
    let input = input.to_owned();
    if let Some(mut stdin) = child.stdin.take() {
        // One that does not read its input may do without.
        thread::spawn(move || {
            let _ = stdin.write_all(input.as_bytes());
        });
    }
    let written = child.stdout.take().map(|out| first(out, most));
    let said = child.stderr.take().map(|err| first(err, SAID));
    let mut out: Option<Option<Vec<u8>>> = None;
    let status = loop {
        if until.is_some_and(|until| until()) {
            end(&mut child);
            return Ended::Well(Vec::new());
        }
        out = out.or_else(|| written.as_ref()?.try_recv().ok());
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            _ if begun.elapsed() > time || out == Some(None) => break None,
            _ => thread::sleep(NAP),
        }
    };
    end(&mut child);
    let out = out.or_else(|| written?.recv_timeout(GRACE).ok());
    match (status, out) {
        (_, Some(None)) => Ended::TooMuch,
        (None, _) => Ended::Late,
        (Some(status), Some(Some(out))) if status.success() => Ended::Well(out),
        (Some(status), None) if status.success() => Ended::Late,
        (Some(status), _) => {
            let said = said.and_then(|said| said.recv_timeout(GRACE).ok()).flatten().unwrap_or_default();
            let said = String::from_utf8_lossy(&said);
            let said = said.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned();
            let how =
                status.code().map_or_else(|| "a signal ended it".to_owned(), |code| format!("it ended with exit code {code}"));
            Ended::Badly { how, said }
        }
    }
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

/// The programs that run now.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// A program that runs: an interrupt of this one ends it too.
struct Running(u32);

impl Running {
    fn of(child: &Child) -> Self {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| interrupt::before(end_all));
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).insert(child.id());
        Self(child.id())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

fn end_all() {
    for id in RUNNING.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        end_group(*id);
    }
}

/// Ends a program's group: itself, and everything that it started.
fn end_group(id: u32) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw) {
        // It may have ended by itself.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = id;
}

/// Ends a program with everything that it started.
fn end(child: &mut Child) {
    end_group(child.id());
    let _ = child.kill();
    let _ = child.wait();
}
