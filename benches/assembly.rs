//! `cargo bench --bench assembly -- ROUNDS`: assembles a context of 1,000 segments (2 MB) without
//! counting, within a budget that drops half of it, and with its tokens; and a conversation of
//! 2,000 messages (4 MB) within a quarter of its size. Prints one line of JSON for compare.py:
//! medians of the rounds in milliseconds, and the time of copying the bytes once.

use ctxc::internals::context::tokens;
use ctxc::internals::context::{
    Assembly, Counting, Inputs, Kind, Options, Request, Segment, Speaker, Turn, assemble,
};
use ctxc::internals::kernel::tokens::ByteEstimate;
use ctxc::{Config, Registry, compile_sources};
use std::hint::black_box;
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

const SEGMENTS: usize = 1_000;
const TASK: &str =
    "<task name=\"triage\" type=\"atomic\"><description>Sort the ticket.</description></task>";
const MESSAGES: usize = 2_000;
const TALK: &str = "<task name=\"reply\" type=\"atomic\"><description>Answer the last message.</description><history/></task>";
const PROSE: &str =
    "The runbook says what to look at first, who is told, and when the service is started again. ";

type BenchError = Box<dyn std::error::Error>;

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

fn measure_median<T>(
    rounds: usize,
    mut work: impl FnMut() -> Result<T, BenchError>,
) -> Result<f64, BenchError> {
    let mut times = Vec::new();
    for _ in 0..rounds.max(1) {
        let started = Instant::now();
        let made = black_box(work()?);
        times.push(started.elapsed().as_secs_f64() * 1e3);
        drop(made);
    }
    Ok(median(times))
}

fn measure(rounds: usize) -> Result<String, BenchError> {
    let registry: Registry = compile_sources(&Config::default(), [("triage.xml", TASK)])
        .registry
        .ok_or("the task is broken")?;
    let parent: Vec<Segment> = (0..SEGMENTS)
        .map(|number| {
            Segment::new(
                Kind::File,
                format!("docs/{number}.md"),
                format!("{number}\n{}", PROSE.repeat(23)),
            )
        })
        .collect();
    let bytes: usize = parent.iter().map(|segment| segment.text.text().len()).sum();
    let inputs = Inputs::new();
    let request = Request {
        inputs: &inputs,
        parent: &parent,
        ..Request::new("triage")
    };
    let whole = assemble(&registry, &request, &Options::default())?;
    let sent = |assembly: &Assembly| {
        assembly
            .messages
            .iter()
            .map(|message| message.as_str().len())
            .sum::<usize>()
    };
    if sent(&whole) < bytes || whole.report.segments.len() <= SEGMENTS {
        return Err("the context is not whole".into());
    }
    let half = Options {
        budget: Some(bytes / 2),
        ..Options::default()
    };
    let cut = assemble(&registry, &request, &half)?;
    if sent(&cut) > bytes / 2 || sent(&cut) < bytes / 3 {
        return Err("the budget is not kept, or not used".into());
    }
    let o200k = tokens::counter("o200k").ok_or("no such tokenizer")?;
    let counted = Options {
        counter: &*o200k,
        counting: Counting::Always,
        ..Options::default()
    };
    let text: String = parent.iter().map(|segment| segment.text.text()).collect();
    let copied = measure_median(rounds, || Ok(black_box(&text).clone()))?;
    let plain = measure_median(rounds, || {
        Ok(assemble(&registry, &request, &Options::default())?)
    })?;
    let fitted = measure_median(rounds, || Ok(assemble(&registry, &request, &half)?))?;
    let tokens = measure_median(rounds.min(5), || {
        Ok(assemble(&registry, &request, &counted)?)
    })?;
    let registry = compile_sources(&Config::default(), [("reply.xml", TALK)])
        .registry
        .ok_or("the task is broken")?;
    let said: Vec<Turn> = (0..MESSAGES).map(conversation_message).collect();
    let request = Request {
        history: &said,
        ..Request::new("reply")
    };
    let estimate = ByteEstimate::new("estimate", 3.5);
    let quarter = MESSAGES * PROSE.len() * 21 / 14;
    let estimated = Options {
        budget: Some(quarter),
        counter: &estimate,
        ..Options::default()
    };
    let exact = Options {
        budget: Some(quarter / 2),
        counter: &*o200k,
        ..Options::default()
    };
    let talk = measure_median(rounds, || Ok(assemble(&registry, &request, &estimated)?))?;
    let talk_tokens = measure_median(rounds.min(5), || Ok(assemble(&registry, &request, &exact)?))?;
    Ok(format!(
        "{{\"bytes\":{bytes},\"copy_ms\":{copied:.4},\"assemble_ms\":{plain:.4},\"fit_ms\":{fitted:.4},\"tokens_ms\":{tokens:.4},\
         \"talk_ms\":{talk:.4},\"talk_tokens_ms\":{talk_tokens:.4}}}\n"
    ))
}

/// Returns a message of two kilobytes: a question, an answer, a call, or its result.
fn conversation_message(number: usize) -> Turn {
    let text = format!("{number}\n{}", PROSE.repeat(21));
    match number % 4 {
        0 => Turn::new(Speaker::User, text),
        1 => {
            Turn::new(Speaker::Assistant, "").calling("c", "look", serde_json::json!({"at": text}))
        }
        2 => Turn::result("c", text),
        _ => Turn::new(Speaker::Assistant, text),
    }
}

fn main() -> ExitCode {
    // Cargo adds `--bench` to the caller's arguments.
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench");
    let Some(rounds) = arguments.next().and_then(|rounds| rounds.parse().ok()) else {
        return ExitCode::from(2);
    };
    match measure(rounds) {
        Ok(line) if std::io::stdout().write_all(line.as_bytes()).is_ok() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            drop(writeln!(std::io::stderr(), "{error}"));
            ExitCode::FAILURE
        }
    }
}
