//! Planted sessions: every planted fact is found, hardly any other, and each with the right verdict.

use super::writers::{AGENTS, Agent, Step, write_session};
use crate::cli::project::Project;
use serde_json::Value;
use std::collections::BTreeMap;

/// A fact that a session contains.
#[derive(Clone, Debug)]
struct Planted {
    class: &'static str,
    /// A text that no other fact has.
    marker: String,
    verdict: &'static str,
    is_needed: bool,
}

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// A word that occurs once.
    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 12] = [
            "ba", "ko", "mi", "tu", "ra", "lo", "pe", "zu", "fi", "no", "va", "gu",
        ];
        (0..5)
            .map(|_| SYLLABLES[usize::try_from(self.below(12)).unwrap()])
            .collect()
    }
}

/// A session with its facts.
struct Session {
    steps: Vec<Step>,
    planted: Vec<Planted>,
}

/// The fate of a fact.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Survives,
    Goes,
    GoesAndIsNeeded,
}

/// Makes a session. The summary repeats what survives, some of it in other words.
#[allow(clippy::too_many_lines, reason = "a row for each kind of fact")]
fn make_session(agent: Agent, seed: u64) -> Session {
    let mut numbers = Numbers(seed * 7_919 + 13);
    let names_file = agent == Agent::Claude && seed.is_multiple_of(3);
    let gone = if names_file { "recoverable" } else { "lost" };
    let (mut before, mut summary, mut after, mut planted) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut tasks = Vec::new();
    for _ in 0..=numbers.below(3) {
        for kind in 0..9_u64 {
            let fate = [Fate::Survives, Fate::Goes, Fate::GoesAndIsNeeded]
                [usize::try_from(numbers.below(3)).unwrap()];
            let (a, b, c) = (numbers.word(), numbers.word(), numbers.word());
            // Only what an agent can use again is needed again.
            let is_needed = fate == Fate::GoesAndIsNeeded;
            let mut plant = |class, marker: &str, verdict, is_needed| {
                planted.push(Planted {
                    class,
                    marker: marker.to_owned(),
                    verdict,
                    is_needed,
                });
            };
            let own = if fate == Fate::Survives { "kept" } else { gone };
            match kind {
                0 => {
                    let rule = [
                        format!("Never edit the {a} {b} files by hand."),
                        format!("The {a} {b} service must stay on port-free sockets."),
                        format!("Do not call {a} from the {b} layer."),
                        format!("Use the {a} client, not {b}."),
                        format!("Make sure that {a} {b} tests run in the container."),
                        format!("I want all {a} dates as {b} text."),
                    ];
                    let rule = &rule[usize::try_from(numbers.below(6)).unwrap()];
                    before.push(Step::User(format!("Please look at the shop. {rule}")));
                    // Codex keeps the texts of the user.
                    let is_kept = fate == Fate::Survives || agent == Agent::Codex;
                    plant(
                        "instruction",
                        &a,
                        if is_kept { "kept" } else { gone },
                        false,
                    );
                    if fate == Fate::Survives {
                        summary.push(format!("The user said: {rule}"));
                    }
                }
                1..=3 => {
                    let path = format!("src/{a}/{b}.rs");
                    let (class, step) = match kind {
                        1 => ("file.read", Step::Read(path.clone())),
                        2 => ("file.created", Step::Create(path.clone())),
                        _ => ("file.modified", Step::Edit(path.clone())),
                    };
                    before.push(step);
                    plant(class, &b, own, is_needed);
                    if fate == Fate::Survives {
                        summary.push(format!(
                            "- `{}`: see there",
                            if seed.is_multiple_of(2) {
                                path.clone()
                            } else {
                                format!("{b}.rs")
                            }
                        ));
                    }
                    if is_needed {
                        after.push(Step::Read(path));
                    }
                }
                4 => {
                    let error = if numbers.below(2) == 0 {
                        format!("TypeError: {a} is not a {b} of {c}")
                    } else {
                        format!("The {a} cannot read its {b} of {c}")
                    };
                    let output = format!(
                        "running 3 checks\n=== {c}\n{error}\n    at src/x.js:{}:3",
                        numbers.below(90)
                    );
                    let run = Step::Run {
                        command: format!("npm run {c}"),
                        output,
                        fails: true,
                    };
                    before.push(run.clone());
                    plant("error", &a, own, is_needed);
                    plant("command", &format!("npm run {c}"), own, is_needed);
                    if fate == Fate::Survives {
                        summary.push(format!(
                            "`npm run {c}` failed with a TypeError: {a} was no {b} of {c}; open."
                        ));
                    }
                    if is_needed {
                        after.push(run);
                    }
                }
                5 => {
                    let version = format!(
                        "{}.{}.{}",
                        numbers.below(9),
                        numbers.below(30),
                        numbers.below(30)
                    );
                    before.push(Step::Assistant(format!(
                        "The lock file has {a} {version} at the moment, which is fine."
                    )));
                    let verdict = match fate {
                        Fate::Survives => {
                            summary.push(format!("Dependencies: {a} {version}"));
                            "kept"
                        }
                        Fate::Goes => gone,
                        Fate::GoesAndIsNeeded => {
                            summary.push(format!("Dependencies: {a} 77.0.1"));
                            "mutated"
                        }
                    };
                    plant("value", &format!("{a} {version}"), verdict, false);
                }
                6 => {
                    before.push(Step::Assistant(format!(
                        "I decided to use {a} instead of {b} for the {c} store."
                    )));
                    plant("decision", &c, own, false);
                    if fate == Fate::Survives {
                        summary.push(format!("Decision: {a} instead of {b} for the {c} store"));
                    }
                }
                7 => {
                    let task = format!("Write the {a} migration of {b}");
                    tasks.push(task.clone());
                    plant("todo", &a, own, false);
                    if fate == Fate::Survives {
                        summary.push(format!("Pending: write the {a} migration of {b}"));
                    }
                }
                _ => {
                    let command = format!("make {a}");
                    before.push(Step::Run {
                        command: command.clone(),
                        output: "ok".into(),
                        fails: false,
                    });
                    plant("command", &command, own, is_needed);
                    if fate == Fate::Survives {
                        summary.push(format!("Build with `make {a}`."));
                    }
                    if is_needed {
                        after.push(Step::Run {
                            command,
                            output: "ok".into(),
                            fails: false,
                        });
                    }
                }
            }
            // Prose and plain commands are no facts.
            before.push(Step::Assistant(format!(
                "Now I look at docs/{}.md and think about it.",
                numbers.word()
            )));
            before.push(Step::Run {
                command: "git status".into(),
                output: "src/other.rs\nerror handling".into(),
                fails: false,
            });
        }
    }
    before.push(Step::Tasks(tasks));
    let (steps, facts) = read_last_files(agent, gone, &mut numbers);
    before.extend(steps);
    planted.extend(facts);
    if names_file {
        summary.push("The full transcript is at ~/.claude/projects/shop/s.jsonl".into());
    }
    let mut steps = before;
    steps.push(Step::Compact(summary.join("\n")));
    steps.push(Step::User("continue".into()));
    steps.extend(after);
    Session { steps, planted }
}

/// Reads the last files before a compaction and takes a last decision, with the facts of both.
fn read_last_files(
    agent: Agent,
    gone: &'static str,
    numbers: &mut Numbers,
) -> (Vec<Step>, Vec<Planted>) {
    let (mut before, mut planted) = (Vec::new(), Vec::new());
    // Claude Code reads its five latest files again; the others lose them.
    for at in 0..5 {
        let name = format!("{}{at}", numbers.word());
        before.push(Step::Read(format!("notes/{name}.txt")));
        let verdict = if agent == Agent::Claude {
            "reloaded"
        } else {
            gone
        };
        planted.push(Planted {
            class: "file.read",
            marker: name,
            verdict,
            is_needed: false,
        });
    }
    // pi keeps the last message.
    let word = numbers.word();
    before.push(Step::Assistant(format!(
        "I decided to keep {word} because of the plan for tomorrow."
    )));
    let verdict = if agent == Agent::Pi { "kept" } else { gone };
    planted.push(Planted {
        class: "decision",
        marker: word,
        verdict,
        is_needed: false,
    });
    (before, planted)
}

/// The sums over all sessions.
#[derive(Debug, Default)]
struct Tally {
    planted: usize,
    found: usize,
    right: usize,
    false_facts: usize,
    reported: usize,
    examples: Vec<String>,
}

fn compare(session: &Session, document: &Value, tally: &mut Tally) {
    let facts = document["compactions"][0]["facts"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    tally.reported += facts.len();
    let mut used: BTreeMap<usize, usize> = BTreeMap::new();
    for planted in &session.planted {
        tally.planted += 1;
        let at = facts.iter().position(|fact| {
            fact["class"] == planted.class
                && fact["text"].as_str().unwrap().contains(&planted.marker)
        });
        let Some(at) = at else {
            tally.examples.push(format!("not found: {planted:?}"));
            continue;
        };
        tally.found += 1;
        used.insert(at, 1);
        let fact = &facts[at];
        if fact["verdict"] == planted.verdict
            && fact["needed_again"].is_object() == planted.is_needed
        {
            tally.right += 1;
        } else {
            tally.examples.push(format!("wrong: {planted:?}: {fact}"));
        }
    }
    for (at, fact) in facts.iter().enumerate() {
        if !used.contains_key(&at) {
            tally.false_facts += 1;
            tally.examples.push(format!("none: {fact}"));
        }
    }
}

#[test]
fn planted_facts_are_found_with_their_verdicts() {
    let mut tally = Tally::default();
    for batch in 0..10_u64 {
        let sessions: Vec<Session> = (0..50)
            .map(|at| {
                let seed = batch * 50 + at;
                make_session(AGENTS[usize::try_from(seed % 4).unwrap()], seed)
            })
            .collect();
        let mut project = Project::new();
        let mut args = vec![
            "compaction".to_owned(),
            "--json".to_owned(),
            "--all".to_owned(),
        ];
        for (at, session) in sessions.iter().enumerate() {
            let agent = AGENTS[(usize::try_from(batch * 50).unwrap() + at) % 4];
            let name = format!("s{at}.jsonl");
            // A summary that names the transcript names this one.
            let text = write_session(agent, &session.steps);
            project =
                project.with_file(&name, text.replace("shop/s.jsonl", &format!("shop/{name}")));
            args.push(name);
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let document = project.run(&args).exits_with(0).json();
        for (session, row) in sessions
            .iter()
            .zip(document["sessions"].as_array().unwrap())
        {
            compare(session, row, &mut tally);
        }
    }
    let examples = tally
        .examples
        .iter()
        .take(12)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    println!(
        "{} planted, {} found, {} right, {} false of {}",
        tally.planted, tally.found, tally.right, tally.false_facts, tally.reported
    );
    assert_eq!(tally.found, tally.planted, "{examples}");
    assert!(
        tally.false_facts * 50 <= tally.reported,
        "{} of {}\n{examples}",
        tally.false_facts,
        tally.reported
    );
    assert!(
        tally.right * 100 >= tally.planted * 98,
        "{} of {}\n{examples}",
        tally.right,
        tally.planted
    );
}
