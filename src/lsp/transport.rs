//! Messages over standard input and output, with one thread for each direction. The input queue is
//! unbounded, so that pending edits can be applied together.

use super::dispatch::{SessionEnd, serve};
use lsp_server::{Connection, Message};
use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

/// Serves the client on standard input and output. Requests sent before the client closes its end
/// are answered.
///
/// # Errors
/// The client sent an invalid message.
pub fn serve_stdio() -> io::Result<SessionEnd> {
    let (connection, writer, faults) = connect_stdio();
    let ended = serve(&connection);
    // The writer ends when all messages are written or the client has closed its end.
    drop(connection);
    let _ = writer.join();
    faults.try_recv().map_or(Ok(ended), Err)
}

/// Connects a server to standard input and output. Also returns the writing thread and the errors
/// of invalid messages.
fn connect_stdio() -> (Connection, JoinHandle<()>, Receiver<io::Error>) {
    let (server, Connection { sender, receiver }) = Connection::memory();
    let (fault, faults) = channel();
    let writer = std::thread::spawn(move || {
        for message in receiver {
            // If the client has disconnected, the reader detects the end of the input.
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
                // The client disconnected, possibly in the middle of a message.
                Ok(None) => return,
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return,
                Err(error) => return drop(fault.send(error)),
            }
        }
    });
    (server, writer, faults)
}
