//! `ctxc schema`: schemas of templates, for editors and validators that know nothing of ctxc.

use super::cx::Cx;
use super::error::Result;
use super::exit::Exit;
use crate::schema;
use clap::{Args, ValueEnum};

/// Print a schema of the template language, for editors and other validators
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctxc schema rng > ctxc.rng\n  \
    ctxc schema rnc > ctxc.rnc\n  ctxc schema xsd > ctxc.xsd\n\n\
    Then: xmllint --noout --relaxng ctxc.rng templates/triage.xml\n\n\
    The RELAX NG schema refuses settings that contradict each other or the defaults of their task's type, as the compiler\n\
    does. Names, references, variables and what ctxc.toml declares are known to the compiler alone.")]
pub(crate) struct SchemaArgs {
    /// Which
    #[arg(value_name = "LANGUAGE")]
    language: Language,
}

/// Schema languages.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Language {
    /// RELAX NG: structure, and which settings agree
    Rng,
    /// The same in the compact syntax
    Rnc,
    /// XML Schema 1.0: structure and enumerations
    Xsd,
}

/// Prints a schema.
pub(crate) fn run(args: &SchemaArgs, cx: &mut Cx) -> Result<Exit> {
    let text = match args.language {
        Language::Rng => schema::rng(),
        Language::Rnc => schema::rnc(),
        Language::Xsd => schema::xsd(),
    };
    cx.print(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Success)
}
