//! Messages over standard input and output, one thread each way. What comes waits in a queue without an end, so that edits are taken together.

use super::dispatch::{Ended, serve};
use lsp_server::{Connection, Message};
use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

/// Serves the client at the other end of the process's input and output. What was asked before it closed its end is answered.
///
/// # Errors
/// The client sent something that is no message.
pub fn serve_stdio() -> io::Result<Ended> {
    let (connection, writer, faults) = stdio();
    let ended = serve(&connection);
    // The writer ends when nothing more can come and all is written, or when nobody is there to read it.
    drop(connection);
    let _ = writer.join();
    faults.try_recv().map_or(Ok(ended), Err)
}

/// Connects a server to the process's input and output; with the thread that writes, and what is no message.
fn stdio() -> (Connection, JoinHandle<()>, Receiver<io::Error>) {
    let (server, Connection { sender, receiver }) = Connection::memory();
    let (fault, faults) = channel();
    let writer = std::thread::spawn(move || {
        for message in receiver {
            // Who has gone away reads nothing; the reader sees the end of the input.
            if message.write(&mut io::stdout()).is_err() {
                break;
            }
        }
    });
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            match Message::read(&mut input) {
                Ok(Some(message)) => drop(sender.send(message)),
                // The client went away, perhaps in the middle of a message.
                Ok(None) => return,
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return,
                Err(error) => return drop(fault.send(error)),
            }
        }
    });
    (server, writer, faults)
}
