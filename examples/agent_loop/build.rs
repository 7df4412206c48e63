//! Compiles the templates with the program that carries them: a template with an error fails `cargo build`, with the
//! file, line and column in the message. `examples/build_step` has the same script with everything that a finding says.

use std::path::Path;
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    println!("cargo::rerun-if-changed=templates");
    println!("cargo::rerun-if-changed=ctxc.toml");

    let project = match ctxc::Project::load(Path::new(&root)) {
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
        let (line, column) = (found.start.line, found.start.column);
        println!(
            "cargo::{kind}={}:{line}:{column}: {} ({})",
            found.path, found.message, found.rule.name
        );
    }
    // Without a registry there was at least one error above, and cargo stops here.
    if let Some(registry) = built.registry {
        let out = env::var("OUT_DIR").expect("cargo sets it");
        fs::write(Path::new(&out).join("registry.json"), registry.as_bytes())
            .expect("cargo's own folder can be written");
    }
}
