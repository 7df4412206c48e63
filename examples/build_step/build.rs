//! Compiles the templates with the program that carries them: a template with an error fails `cargo build`, with the
//! file, line and column in the message.

use std::path::Path;
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    // The tests of this package build other folders with this very script.
    println!("cargo::rerun-if-env-changed=TEMPLATES");
    let folder = env::var("TEMPLATES").unwrap_or(root);
    println!("cargo::rerun-if-changed={folder}/templates");
    println!("cargo::rerun-if-changed={folder}/ctxc.toml");

    let project = match ctxc::Project::load(Path::new(&folder)) {
        Ok(project) => project,
        Err(error) => return println!("cargo::error={error}"),
    };
    let built = project.build();
    for found in &built.diagnostics {
        let kind = match found.severity {
            ctxc::Severity::Error => "error",
            ctxc::Severity::Warning => "warning",
            _ => continue,
        };
        println!(
            "cargo::{kind}={}:{}:{}: {} ({}: {})",
            found.path,
            found.start.line,
            found.start.column,
            found.message,
            found.rule.code,
            found.rule.name
        );
        for line in found.notes.iter().chain(&found.help) {
            println!("cargo::{kind}=  {line}");
        }
        for fix in &found.fixes {
            println!("cargo::{kind}=  fix: {}", fix.title);
        }
    }
    // Without a registry there was at least one error above, and cargo stops here.
    if let Some(registry) = built.registry {
        let out = env::var("OUT_DIR").expect("cargo sets it");
        fs::write(Path::new(&out).join("registry.json"), registry.as_bytes())
            .expect("cargo's own folder can be written");
    }
}
