//! Advice for a wrong command line: the tips of clap if they are right, otherwise better ones.
//! Every command and flag in a tip exists.

use crate::base::suggest;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use std::ffi::OsString;

/// Names of other tools for commands of ctxc.
pub(super) const FOREIGN_COMMANDS: &[(&str, &str)] = &[
    ("compile", "build"),
    ("fix", "check --fix"),
    ("format", "fmt"),
    ("lint", "check"),
    ("preview", "render"),
    ("test", "eval"),
    ("validate", "check"),
    ("verify", "check"),
    ("version", "--version"),
    ("why", "explain"),
];
/// The minimum length of a flag that is searched inside words: shorter ones match by chance.
const MIN_FLAG_LENGTH: usize = 3;

/// Replaces the tips of an error.
pub(super) fn add_advice(mut error: Error, command: &Command, args: &[OsString]) -> Error {
    let word = |error: &Error, kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.clone()),
        _ => None,
    };
    if error.kind() == ErrorKind::InvalidSubcommand {
        let Some(written) = word(&error, ContextKind::InvalidSubcommand) else {
            return error;
        };
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::Suggested);
        // `ctxc new scenaro`: the commands of `new`.
        let group = args
            .get(1)
            .and_then(|arg| command.find_subcommand(arg))
            .filter(|verb| verb.has_subcommands());
        let near = match group {
            Some(group) => {
                nearest_verb(&written, group).map(|near| format!("{} {near}", group.get_name()))
            }
            None => nearest_verb(&written, command),
        };
        if let Some(near) = near {
            insert_tip(&mut error, &format!("`ctxc {near}`"));
        }
    } else if error.kind() == ErrorKind::UnknownArgument {
        let Some(written) = word(&error, ContextKind::InvalidArg) else {
            return error;
        };
        let takes_inputs = || {
            called_verb(command, args).is_some_and(|verb| {
                verb.get_arguments()
                    .any(|flag| flag.get_long() == Some("input"))
            })
        };
        if !written.starts_with('-') && written.contains('=') && takes_inputs() {
            insert_tip(&mut error, &format!("`--input {written}`"));
            return error;
        }
        // `ctxc record pytest tests/`: the command belongs behind `--`.
        if !written.starts_with('-')
            && let Some(verb) = called_verb(command, args)
                .filter(|verb| verb.get_arguments().any(clap::Arg::is_last_set))
        {
            let subject = if verb.get_name() == "replay" {
                " RECORDING"
            } else {
                ""
            };
            insert_tip(
                &mut error,
                &format!("`ctxc {}{subject} -- {written} …`", verb.get_name()),
            );
            return error;
        }
        // Clap's tip that a path may begin with a dash is rarely useful.
        error.remove(ContextKind::Suggested);
        if let Some(flag) = contained_flag(&written, command, args) {
            error.remove(ContextKind::SuggestedArg);
            insert_tip(&mut error, &format!("`--{flag}`"));
        }
    }
    error
}

fn insert_tip(error: &mut Error, meant: &str) {
    let tip = StyledStr::from(format!("did you mean {meant}?"));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
}

/// Returns the most likely command for a misspelt one.
fn nearest_verb(written: &str, command: &Command) -> Option<String> {
    let shown = || command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let is_top = command.find_subcommand("check").is_some();
    let elsewhere = FOREIGN_COMMANDS
        .iter()
        .find(|(word, _)| is_top && word.eq_ignore_ascii_case(written))
        .map(|(_, here)| *here);
    elsewhere
        .or_else(|| suggest::nearest_candidate(written, shown().map(Command::get_name)))
        .map(str::to_owned)
}

/// Returns the command of a command line.
fn called_verb<'c>(command: &'c Command, args: &[OsString]) -> Option<&'c Command> {
    args.iter()
        .skip(1)
        .find_map(|arg| command.find_subcommand(arg))
}

/// Returns the flag of this command that a word contains, such as `format` in `--output-format`:
/// the one at its end, or the longest.
fn contained_flag(written: &str, command: &Command, args: &[OsString]) -> Option<String> {
    let plain = |name: &str| name.replace(['-', '_'], "").to_ascii_lowercase();
    let written = plain(written.split('=').next().unwrap_or(written));
    let verb = called_verb(command, args);
    let flags = verb
        .into_iter()
        .chain([command])
        .flat_map(Command::get_arguments);
    let names = flags
        .filter(|flag| !flag.is_hide_set())
        .filter_map(clap::Arg::get_long);
    let held = names.filter(|name| name.len() >= MIN_FLAG_LENGTH && written.contains(&plain(name)));
    held.max_by_key(|name| (written.ends_with(&plain(name)), name.len()))
        .map(str::to_owned)
}
