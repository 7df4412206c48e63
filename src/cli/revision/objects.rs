//! The bytes of git objects, from one `git cat-file --batch` that is started at the first read.
//!
//! Filters of the repository (`smudge`, line ends) are not run: the bytes are the committed ones.

use super::git::{ANSWER_TIMEOUT, GitRepository, timeout_message};
use crate::run::process;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Mutex, PoisonError};

/// The maximum length of a header line: an id of at most 64 digits, a kind, a length.
const MAX_HEADER_BYTES: u64 = 256;

/// The objects of a repository.
#[derive(Debug)]
pub(super) struct GitObjects {
    git: GitRepository,
    program: Mutex<Option<CatFile>>,
}

#[derive(Debug)]
struct CatFile {
    child: Child,
    /// `None` once the program is to end.
    ask: Option<ChildStdin>,
    answer: BufReader<ChildStdout>,
}

impl CatFile {
    fn start(git: &GitRepository) -> io::Result<Self> {
        let mut command = git.command();
        command
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn()?;
        let ask = child.stdin.take();
        let answer = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self {
            child,
            ask,
            answer: BufReader::new(answer),
        })
    }
}

impl GitObjects {
    /// Returns the objects of a repository. Starts no program yet.
    pub(super) const fn new(git: GitRepository) -> Self {
        Self {
            git,
            program: Mutex::new(None),
        }
    }

    /// Returns the bytes of an object. An object larger than the limit is an error.
    pub(super) fn read_object(&self, id: &str, limit: u64) -> io::Result<Vec<u8>> {
        let mut program = self.program.lock().unwrap_or_else(PoisonError::into_inner);
        let cat_file = match &mut *program {
            Some(cat_file) => cat_file,
            none => none.insert(CatFile::start(&self.git)?),
        };
        let ask = cat_file.ask.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        ask.write_all(format!("{id}\n").as_bytes())?;
        ask.flush()?;
        if cat_file.answer.buffer().is_empty()
            && !process::has_output_within(cat_file.answer.get_ref(), ANSWER_TIMEOUT)
        {
            let _ = cat_file.child.kill();
            return Err(io::Error::other(timeout_message()));
        }
        let mut head = String::new();
        (&mut cat_file.answer)
            .take(MAX_HEADER_BYTES)
            .read_line(&mut head)?;
        let mut words = head.split_ascii_whitespace();
        let (Some(_), Some("blob"), Some(len)) = (words.next(), words.next(), words.next()) else {
            return Err(io::Error::other("this clone does not have its content"));
        };
        let len: u64 = len
            .parse()
            .map_err(|_| io::Error::other("git answers in a way that ctxc does not know"))?;
        if len > limit {
            io::copy(&mut (&mut cat_file.answer).take(len + 1), &mut io::sink())?;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut bytes = Vec::new();
        (&mut cat_file.answer)
            .take(len + 1)
            .read_to_end(&mut bytes)?;
        // A line break follows each object.
        if bytes.pop() != Some(b'\n') || bytes.len() as u64 != len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(bytes)
    }
}

impl Drop for CatFile {
    fn drop(&mut self) {
        // The program ends when its standard input is closed.
        drop(self.ask.take());
        let _ = self.child.wait();
    }
}
