//! `ctxc schema`: schemas of templates and artifacts, for editors and validators without ctxc.

use crate::base::suggest;
use crate::cli::artifacts;
use crate::cli::prelude::*;
use crate::schema::{self, json};
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc schema rng > ctxc.rng\n  ctxc schema xsd > ctxc.xsd\n  \
    ctxc schema json > ctxc.schema.json\n  ctxc schema json registry > registry.schema.json\n  ctxc schema scenario > scenario.schema.json\n  ctxc schema config > ctxc.schema.json\n\n\
    Then: xmllint --noout --relaxng ctxc.rng templates/triage.xml\n\n\
    The RELAX NG schema refuses settings that contradict each other or the defaults of their task's type, as the compiler \
    does. Only the compiler knows names, references, variables and what ctxc.toml declares."
)]
pub(crate) struct SchemaArgs {
    /// Kind of schema
    #[arg(value_name = "LANGUAGE")]
    language: SchemaLanguage,
    /// With json: the artifact, such as registry or diagnostics [default: all of them in one schema]
    #[arg(value_name = "ARTIFACT")]
    artifact: Option<String>,
}

/// Schema languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SchemaLanguage {
    /// RELAX NG for templates: structure, and which settings contradict each other
    Rng,
    /// XML Schema 1.0 for templates: structure and enumerations
    Xsd,
    /// JSON Schema for artifacts
    Json,
    /// JSON Schema for scenarios and suites, which are YAML or JSON
    Scenario,
    /// JSON Schema for ctxc.toml, which is TOML
    Config,
}

/// Prints a schema.
pub(crate) fn print_schema(args: &SchemaArgs, cx: &mut Cx) -> Result<Exit> {
    let text = match (args.language, &args.artifact) {
        (SchemaLanguage::Json, Some(name)) => artifact_schema(name)?,
        (_, Some(name)) => {
            return Err(CliError::usage(format!(
                "`{name}`: only `ctxc schema json` has one schema for each artifact"
            ))
            .with_hint("leave it out: the schema of templates is one"));
        }
        (SchemaLanguage::Rng, None) => schema::rng_schema(),
        (SchemaLanguage::Xsd, None) => schema::xsd_schema(),
        (SchemaLanguage::Json, None) => json::bundle(&artifacts::artifact_schemas()),
        (SchemaLanguage::Scenario, None) => schema::scenario::scenario_schema(),
        (SchemaLanguage::Config, None) => schema::config::config_schema(),
    };
    cx.print(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Success)
}

fn artifact_schema(name: &str) -> Result<String> {
    let all = artifacts::artifact_schemas();
    if let Some(found) = all.iter().find(|schema| schema.name() == name) {
        return Ok(found.to_text());
    }
    let names: Vec<&str> = all.iter().map(json::ArtifactSchema::name).collect();
    Err(CliError::usage(format!("there is no artifact `{name}`"))
        .with_suggestion(suggest::nearest_candidate(name, names.iter().copied()))
        .with_hint(format!("there are {}", names.join(", "))))
}
