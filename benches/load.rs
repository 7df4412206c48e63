//! `cargo bench --bench load -- REGISTRY ROUNDS`: the time to load a registry, and of a lookup in
//! it. Prints one line of JSON for compare.py: medians of the rounds.
#![allow(
    clippy::disallowed_methods,
    reason = "reads the registry that it is given"
)]

use ctxc::internals::registry::Registry;
use std::hint::black_box;
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

const LOOKUPS: usize = 1_000;

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

fn measure(path: &str, rounds: usize) -> Result<String, Box<dyn std::error::Error>> {
    let bytes = std::fs::read(path)?;
    let registry = Registry::read(bytes.clone())?;
    let names: Vec<String> = registry
        .tasks()
        .map(|task| task.name().to_owned())
        .collect();
    // Names from the whole registry, in an order without locality.
    let asked: Vec<&str> = (0..LOOKUPS)
        .filter_map(|number| names.get(number * 7_919 % names.len().max(1)))
        .map(String::as_str)
        .collect();
    let (mut loads, mut lookups) = (Vec::new(), Vec::new());
    for _ in 0..rounds.max(1) {
        let bytes = bytes.clone();
        let started = Instant::now();
        let registry = black_box(Registry::read(bytes)?);
        loads.push(started.elapsed().as_secs_f64() * 1e3);
        let started = Instant::now();
        let found = asked
            .iter()
            .filter(|name| black_box(registry.find(name)).is_some())
            .count();
        lookups.push(
            started.elapsed().as_secs_f64() * 1e6
                / f64::from(u32::try_from(asked.len().max(1)).unwrap_or(u32::MAX)),
        );
        if found != asked.len() || found == 0 {
            return Err("the registry has no tasks, or not those it lists".into());
        }
    }
    let (load, lookup) = (median(loads), median(lookups));
    Ok(format!(
        "{{\"tasks\":{},\"load_ms\":{load:.4},\"lookup_us\":{lookup:.4}}}\n",
        names.len()
    ))
}

fn main() -> ExitCode {
    // Cargo adds `--bench` to the caller's arguments.
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let (Some(path), Some(rounds)) = (
        arguments.first(),
        arguments.get(1).and_then(|rounds| rounds.parse().ok()),
    ) else {
        return ExitCode::from(2);
    };
    match measure(path, rounds) {
        Ok(line) if std::io::stdout().write_all(line.as_bytes()).is_ok() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            drop(writeln!(std::io::stderr(), "{path}: {error}"));
            ExitCode::FAILURE
        }
    }
}
