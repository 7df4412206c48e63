//! The command of a script with its values filled in. Every text passes the [door](super::door), so
//! that a shell never reads an untrusted value, wherever it comes from.

use super::door::{CommandText, Destination};
use super::node_values::NodeValues;
use crate::context::fault::Refused;
use crate::context::fill::{FilledText, is_from_outside};
use crate::registry::body::Text;
use crate::template::argv;

/// A command that is ready to run.
#[derive(Clone, Debug)]
pub(crate) struct FilledCommand {
    /// The program and its arguments.
    pub(crate) argv: Vec<CommandText>,
    /// Environment variables of the command.
    pub(crate) variables: Vec<(String, CommandText)>,
}

/// The reason why a node has no command to run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoCommand {
    /// The node declares no command.
    #[error("the script has no command")]
    Missing,
    /// It cannot be split.
    #[error("`{0}` cannot be split into arguments")]
    Split(String),
    /// A value is missing, or is not permitted at its place.
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// The name of the command's field in places.
const COMMAND: &str = "command";

impl NodeValues<'_> {
    /// Returns the command of the node.
    ///
    /// # Errors
    /// The node has no command, a value is missing, or a shell would read an untrusted one.
    pub(crate) fn fill_command(&self) -> Result<FilledCommand, NoCommand> {
        let body = &self.node().body;
        let command = body.command.as_ref().ok_or(NoCommand::Missing)?;
        let argv = match (&command.line, &command.shell) {
            (Some(line), Some(shell)) => {
                let line = self.admit_text(
                    &self.fill_field(line, COMMAND)?,
                    Destination::Shell,
                    COMMAND,
                )?;
                vec![
                    CommandText::of_author(shell),
                    CommandText::of_author("-c"),
                    line,
                ]
            }
            (Some(line), None) => self.admit_arguments(&self.split_line(line)?)?,
            (None, _) => self.admit_arguments(
                &command
                    .args
                    .iter()
                    .map(|arg| self.fill_field(arg, COMMAND))
                    .collect::<Result<Vec<_>, _>>()?,
            )?,
        };
        let variables = body.env.iter().flat_map(|env| &env.vars).map(|var| {
            let value = self.admit_text(
                &self.fill_field(&var.value, "env")?,
                Destination::Program,
                "env",
            )?;
            Ok((var.name.as_deref().unwrap_or_default().to_owned(), value))
        });
        Ok(FilledCommand {
            argv,
            variables: variables.collect::<Result<_, NoCommand>>()?,
        })
    }

    /// Fills a text of the node; a text that is untrusted as a whole adds the name of its field to
    /// the untrusted values.
    fn fill_field(&self, text: &Text<'_>, field: &str) -> Result<FilledText, NoCommand> {
        let mut filled = self.fill_text(text, field)?;
        if is_from_outside(text) {
            filled.untrusted.insert(field.to_owned());
        }
        Ok(filled)
    }

    fn admit_text(
        &self,
        filled: &FilledText,
        to: Destination,
        field: &str,
    ) -> Result<CommandText, NoCommand> {
        CommandText::admit(filled, to, &self.place_of(field))
            .map_err(|faults| NoCommand::Refused(faults.into()))
    }

    /// Returns the arguments of a program; the line of a shell's `-c` is admitted as a shell line.
    fn admit_arguments(&self, filled: &[FilledText]) -> Result<Vec<CommandText>, NoCommand> {
        let words: Vec<&str> = filled.iter().map(|one| one.text.text()).collect();
        let line = argv::shell_line_index(&words);
        let admit = |(at, one): (usize, &FilledText)| {
            let to = if line == Some(at) {
                Destination::Shell
            } else {
                Destination::Program
            };
            self.admit_text(one, to, COMMAND)
        };
        filled.iter().enumerate().map(admit).collect()
    }

    /// Splits a line into arguments before it is filled, so that a value with a space stays one
    /// argument.
    fn split_line(&self, line: &Text<'_>) -> Result<Vec<FilledText>, NoCommand> {
        let Some(text) = line.text.as_deref().filter(|_| line.parts.is_none()) else {
            let whole = self.fill_field(line, COMMAND)?;
            let untrusted = &whole.untrusted;
            let word = |text: String| FilledText {
                untrusted: untrusted.clone(),
                ..FilledText::from_words(&text)
            };
            return Ok(split_words(whole.text.text())?
                .into_iter()
                .map(word)
                .collect());
        };
        let one = |word: String| {
            self.fill_field(
                &Text {
                    text: Some(word.into()),
                    parts: None,
                    src: None,
                    ..line.clone()
                },
                COMMAND,
            )
        };
        split_words(text)?.into_iter().map(one).collect()
    }
}

fn split_words(text: &str) -> Result<Vec<String>, NoCommand> {
    let split = argv::split_command(text, 0).map_err(|_| NoCommand::Split(text.to_owned()))?;
    Ok(split.arguments.into_iter().map(|word| word.value).collect())
}
