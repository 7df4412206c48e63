//! The bytes of objects, from one `git cat-file --batch` that answers as long as it is asked.
//!
//! Filters of the repository (`smudge`, line ends) are not run: the bytes are those that were committed.

use super::git::{Git, PATIENCE, absent, silent};
use crate::cli::error::{CliError, Kind, Result};
use crate::run::process;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Mutex, PoisonError};

/// A line that says what comes: an id of at most 64 digits, a kind, a length.
const HEAD: u64 = 256;

/// A program that answers for objects.
#[derive(Debug)]
pub(super) struct Objects {
    talk: Mutex<CatFile>,
}

#[derive(Debug)]
struct CatFile {
    child: Child,
    /// `None` once it is to end.
    ask: Option<ChildStdin>,
    answer: BufReader<ChildStdout>,
}

impl Objects {
    /// Starts it.
    pub(super) fn open(git: &Git) -> Result<Self> {
        let mut command = git.command();
        command.args(["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|err| absent(&err))?;
        let ask = child.stdin.take();
        let answer = child.stdout.take();
        let Some(answer) = answer else { return Err(CliError::new(Kind::Infrastructure, "git cannot be talked to")) };
        Ok(Self { talk: Mutex::new(CatFile { child, ask, answer: BufReader::new(answer) }) })
    }

    /// The bytes of an object; one larger than the limit is passed by.
    pub(super) fn read(&self, id: &str, limit: u64) -> io::Result<Vec<u8>> {
        let mut talk = self.talk.lock().unwrap_or_else(PoisonError::into_inner);
        let ask = talk.ask.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        ask.write_all(format!("{id}\n").as_bytes())?;
        ask.flush()?;
        if talk.answer.buffer().is_empty() && !process::answers(talk.answer.get_ref(), PATIENCE) {
            let _ = talk.child.kill();
            return Err(io::Error::other(silent()));
        }
        let mut head = String::new();
        (&mut talk.answer).take(HEAD).read_line(&mut head)?;
        let mut words = head.split_ascii_whitespace();
        let (Some(_), Some("blob"), Some(len)) = (words.next(), words.next(), words.next()) else {
            return Err(io::Error::other("this clone does not have its content"));
        };
        let len: u64 = len.parse().map_err(|_| io::Error::other("git answers in a way that ctxc does not know"))?;
        if len > limit {
            io::copy(&mut (&mut talk.answer).take(len + 1), &mut io::sink())?;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut bytes = Vec::new();
        (&mut talk.answer).take(len + 1).read_to_end(&mut bytes)?;
        // A line end closes each object.
        if bytes.pop() != Some(b'\n') || bytes.len() as u64 != len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(bytes)
    }
}

impl Drop for CatFile {
    fn drop(&mut self) {
        // Without anybody who asks it ends by itself.
        drop(self.ask.take());
        let _ = self.child.wait();
    }
}
