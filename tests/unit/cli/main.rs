//! Tests of the private items of `src/cli/main.rs`.

use super::Cli;
use crate::cli::usage;
use clap::CommandFactory;
use clap::error::ErrorKind;

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn every_tip_names_a_command_that_exists() {
    let command = Cli::command();
    for (word, here) in usage::FOREIGN_COMMANDS {
        assert!(
            command.find_subcommand(word).is_none(),
            "`{word}` is a command by now"
        );
        let line = std::iter::once("ctxc").chain(here.split(' '));
        if let Err(error) = Cli::command().try_get_matches_from(line) {
            let expected = [
                ErrorKind::DisplayHelp,
                ErrorKind::DisplayVersion,
                ErrorKind::MissingRequiredArgument,
            ];
            assert!(expected.contains(&error.kind()), "{here}: {error}");
        }
    }
}
