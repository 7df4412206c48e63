//! The abilities of the terminal or file that is written to. Determined once, passed on as data.

use crate::base::fs;
use std::io::IsTerminal;

/// Modes of colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, or if `FORCE_COLOR` or `CLICOLOR_FORCE` is set; never if `NO_COLOR` is.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The abilities of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Screen {
    /// The output accepts colour codes.
    pub(crate) color: bool,
    /// The output can show box drawing characters.
    pub(crate) unicode: bool,
    /// Columns at which lines are wrapped; `None` for files and pipes, which are never wrapped.
    pub(crate) width: Option<usize>,
}

impl Screen {
    /// A file or pipe.
    pub(crate) const PLAIN: Self = Self {
        color: false,
        unicode: true,
        width: None,
    };

    /// Determines the abilities of standard output.
    pub(crate) fn of_stdout(choice: ColorChoice) -> Self {
        let terminal = std::io::stdout().is_terminal();
        Self {
            color: wants_color(choice, terminal),
            unicode: !terminal || locale_is_unicode(),
            width: if terminal {
                terminal_columns(std::io::stdout())
            } else {
                None
            },
        }
    }

    /// Updates the width from the current size of the terminal.
    pub(crate) fn with_current_width(self) -> Self {
        Self {
            width: self.width.and_then(|_| terminal_columns(std::io::stdout())),
            ..self
        }
    }

    /// Returns the columns at which standard error is wrapped.
    pub(crate) fn stderr_width() -> Option<usize> {
        terminal_columns(std::io::stderr())
    }

    /// Returns true if standard error is coloured.
    pub(crate) fn stderr_color(choice: ColorChoice) -> bool {
        wants_color(choice, std::io::stderr().is_terminal())
    }
}

/// Returns the columns of a terminal, at least 40; `None` for anything else.
#[cfg(unix)]
fn terminal_columns(output: impl std::os::fd::AsFd) -> Option<usize> {
    terminal_size::terminal_size_of(output).map(|(width, _)| usize::from(width.0).max(40))
}

/// Returns the columns of a terminal, at least 40; `None` for anything else.
#[cfg(windows)]
fn terminal_columns(output: impl std::os::windows::io::AsHandle) -> Option<usize> {
    terminal_size::terminal_size_of(output).map(|(width, _)| usize::from(width.0).max(40))
}

/// Returns true if a variable forces colour: it is set to anything but `0` and `false`.
fn forces_color(variable: &str) -> bool {
    fs::env_var(variable).is_some_and(|value| !["0", "false"].contains(&value.as_str()))
}

fn wants_color(choice: ColorChoice, terminal: bool) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if fs::env_var("NO_COLOR").is_some() => false,
        ColorChoice::Auto if forces_color("CLICOLOR_FORCE") || forces_color("FORCE_COLOR") => true,
        ColorChoice::Auto => terminal && fs::env_var("TERM").is_none_or(|term| term != "dumb"),
    }
}

/// Returns true if the terminal can show UTF-8. An unset locale counts as UTF-8: it is usual in
/// containers, where the terminal outside nearly always supports UTF-8.
fn locale_is_unicode() -> bool {
    let Some(locale) = fs::env_var("LC_ALL")
        .or_else(|| fs::env_var("LC_CTYPE"))
        .or_else(|| fs::env_var("LANG"))
    else {
        return true;
    };
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// The parts of a report that are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    /// An error.
    Error,
    /// A warning.
    Warning,
    /// An info.
    Info,
    /// A hint.
    Hint,
    /// A heading or a place.
    Strong,
    /// Secondary text.
    Dim,
    /// Advice on how to mend it.
    Help,
    /// Success.
    Good,
}

impl Screen {
    /// Returns the code that starts a colour.
    pub(crate) const fn color_start(self, paint: Paint) -> &'static str {
        if !self.color {
            return "";
        }
        match paint {
            Paint::Error => "\x1b[1;31m",
            Paint::Warning => "\x1b[1;33m",
            Paint::Info => "\x1b[1;34m",
            Paint::Hint | Paint::Help => "\x1b[36m",
            Paint::Strong => "\x1b[1m",
            Paint::Dim => "\x1b[2m",
            Paint::Good => "\x1b[32m",
        }
    }

    /// Returns the code that ends a colour.
    pub(crate) const fn color_end(self) -> &'static str {
        if self.color { "\x1b[0m" } else { "" }
    }

    /// Returns a coloured text.
    pub(crate) fn paint(self, paint: Paint, text: &str) -> String {
        format!("{}{text}{}", self.color_start(paint), self.color_end())
    }
}
