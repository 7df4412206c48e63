//! The answer to a question: one key on a terminal, a line anywhere else.

use std::io::{self, BufRead, IsTerminal};

/// Reads an answer; `None` at the end of the input.
///
/// # Errors
/// Standard input cannot be read.
pub(super) fn read_answer(is_one_key: bool) -> io::Result<Option<String>> {
    #[cfg(unix)]
    if is_one_key && io::stdin().is_terminal() {
        return read_key().map(|key| key.map(String::from));
    }
    let mut line = String::new();
    let count = io::stdin().lock().read_line(&mut line)?;
    Ok((count > 0).then(|| line.trim().to_owned()))
}

/// Reads a key without waiting for the end of a line; `None` for Ctrl-C and Ctrl-D.
#[cfg(unix)]
fn read_key() -> io::Result<Option<char>> {
    use crate::cli::interrupt;
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    use std::io::Read;
    use std::sync::Once;
    /// Guards the handler that restores the terminal if a signal ends the program.
    static HANDLER: Once = Once::new();
    let input = io::stdin();
    let usual = tcgetattr(&input)?;
    let at_exit = usual.clone();
    HANDLER.call_once(|| {
        interrupt::add_exit_handler(move || {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &at_exit);
        });
    });
    let mut by_key = usual.clone();
    by_key.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
    tcsetattr(&input, OptionalActions::Now, &by_key)?;
    let mut byte = [0];
    let read = input.lock().read(&mut byte);
    tcsetattr(&input, OptionalActions::Now, &usual)?;
    // Ctrl-C arrives as a key, so that the terminal is as before when the program ends.
    let is_end = read? == 0 || byte == [3] || byte == [4];
    Ok((!is_end).then(|| char::from(byte[0])))
}
