//! The command of a script with its values filled in. Every text of it goes by the [door](super::door), so that a shell reads none that is
//! untrusted, whatever handed the value in.

use super::door::{CommandText, Destination};
use super::node_values::NodeValues;
use crate::context::fault::Refused;
use crate::context::fill::{Filled, is_from_outside};
use crate::registry::body::Text;
use crate::template::argv;

/// A command that can be run.
#[derive(Clone, Debug)]
pub(crate) struct FilledCommand {
    /// The program and its arguments.
    pub(crate) argv: Vec<CommandText>,
    /// Variables of its own.
    pub(crate) variables: Vec<(String, CommandText)>,
}

/// Why there is no command that can be run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoCommand {
    /// The node has none.
    #[error("the script has no command")]
    Missing,
    /// It cannot be split.
    #[error("`{0}` cannot be split into arguments")]
    Split(String),
    /// A value is missing, or may not stand where it would.
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// The field of a command in places.
const COMMAND: &str = "command";

impl NodeValues<'_> {
    /// The command of the node.
    ///
    /// # Errors
    /// There is none, a value is missing, or an untrusted one would be read by a shell.
    pub(crate) fn command(&self) -> Result<FilledCommand, NoCommand> {
        let body = &self.node().body;
        let command = body.command.as_ref().ok_or(NoCommand::Missing)?;
        let argv = match (&command.line, &command.shell) {
            (Some(line), Some(shell)) => {
                let line = self.admitted(&self.fill(line, COMMAND)?, Destination::Shell, COMMAND)?;
                vec![CommandText::of_author(shell), CommandText::of_author("-c"), line]
            }
            (Some(line), None) => self.arguments(&self.words(line)?)?,
            (None, _) => {
                self.arguments(&command.args.iter().map(|arg| self.fill(arg, COMMAND)).collect::<Result<Vec<_>, _>>()?)?
            }
        };
        let variables = body.env.iter().flat_map(|env| &env.vars).map(|var| {
            let value = self.admitted(&self.fill(&var.value, "env")?, Destination::Program, "env")?;
            Ok((var.name.as_deref().unwrap_or_default().to_owned(), value))
        });
        Ok(FilledCommand { argv, variables: variables.collect::<Result<_, NoCommand>>()? })
    }

    /// A text of the node, filled; one that is untrusted as a whole has the name of its field among its untrusted values.
    fn fill(&self, text: &Text<'_>, field: &str) -> Result<Filled, NoCommand> {
        let mut filled = self.filled(text, field)?;
        if is_from_outside(text) {
            filled.untrusted.insert(field.to_owned());
        }
        Ok(filled)
    }

    fn admitted(&self, filled: &Filled, to: Destination, field: &str) -> Result<CommandText, NoCommand> {
        CommandText::admit(filled, to, &self.place(field)).map_err(|faults| NoCommand::Refused(faults.into()))
    }

    /// Arguments of a program, among them the line that it gives to a shell, if it is one.
    fn arguments(&self, filled: &[Filled]) -> Result<Vec<CommandText>, NoCommand> {
        let words: Vec<&str> = filled.iter().map(|one| one.text.text()).collect();
        let line = argv::shell_line(&words);
        let admit = |(at, one): (usize, &Filled)| {
            let to = if line == Some(at) { Destination::Shell } else { Destination::Program };
            self.admitted(one, to, COMMAND)
        };
        filled.iter().enumerate().map(admit).collect()
    }

    /// The arguments of a line, split as it is written: a value with a space in it stays one argument.
    fn words(&self, line: &Text<'_>) -> Result<Vec<Filled>, NoCommand> {
        let Some(text) = line.text.as_deref().filter(|_| line.parts.is_none()) else {
            let whole = self.fill(line, COMMAND)?;
            let untrusted = &whole.untrusted;
            let word = |text: String| Filled { untrusted: untrusted.clone(), ..Filled::of_words(&text) };
            return Ok(split(whole.text.text())?.into_iter().map(word).collect());
        };
        let one = |word: String| self.fill(&Text { text: Some(word.into()), parts: None, src: None, ..line.clone() }, COMMAND);
        split(text)?.into_iter().map(one).collect()
    }
}

fn split(text: &str) -> Result<Vec<String>, NoCommand> {
    let split = argv::split(text, 0).map_err(|_| NoCommand::Split(text.to_owned()))?;
    Ok(split.arguments.into_iter().map(|word| word.value).collect())
}
