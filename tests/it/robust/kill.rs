//! A build that is killed at any moment leaves the old registry or the new one, whole. Two builds
//! at once do each other no harm.

use super::project::{Project, said};
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant, SystemTime};

const TASKS: usize = 120;
const KILLS: u32 = 200;

/// The next of a fixed row of numbers below `below` (a linear congruential generator; its upper
/// bits are even enough).
fn next(state: &mut u64, below: u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// The time that a build with a changed registry takes, in microseconds: the median of five.
fn duration(project: &Project) -> u64 {
    let mut times: Vec<u64> = (0..5)
        .map(|round| {
            project.write(0, ["one", "two", "three", "four", "five"][round]);
            let started = Instant::now();
            project.build();
            u64::try_from(started.elapsed().as_micros()).unwrap()
        })
        .collect();
    times.sort_unstable();
    times[2]
}

#[test]
fn a_killed_build_leaves_the_old_registry_or_the_new_one() {
    let project = Project::new(TASKS);
    let whole = duration(&project);
    let states: Vec<(&str, Vec<u8>)> = ["first", "second"]
        .into_iter()
        .map(|word| {
            project.write(7, word);
            (word, project.build())
        })
        .collect();
    assert_ne!(states[0].1, states[1].1, "an edit shows in the registry");

    let (mut seed, mut killed, mut old) = (2026, 0, 0);
    for round in 0..KILLS as usize {
        let before = project.registry();
        let (word, expected) = &states[round % 2];
        project.write(7, word);
        let mut child = project
            .command(&["build", "-o", "registry.json"])
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(next(&mut seed, whole * 5 / 4)));
        child.kill().unwrap();
        killed += u32::from(child.wait().unwrap().signal() == Some(9));

        let after = project.registry();
        assert!(
            after == before || after == *expected,
            "round {round}: neither the old registry nor the new one, but {} bytes",
            after.len()
        );
        old += u32::from(after == before);
        if round % 8 == 0 {
            assert_eq!(
                project.build().len(),
                expected.len(),
                "round {round}: what the killed build left misled the next one"
            );
            assert!(
                project.registry() == *expected,
                "round {round}: the next build is wrong"
            );
        }
    }
    assert!(
        killed > KILLS / 4 && old > KILLS / 8,
        "too few kills hit a running build: {killed} killed, {old} left the old registry"
    );
}

#[test]
fn the_next_build_clears_away_what_killed_ones_left_and_nothing_else() {
    let project = Project::new(3);
    project.build();
    let file = |name: &str| {
        let file = std::fs::File::create(project.path(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_mins(1))
            .unwrap();
        file
    };
    file(".ctxc-dead.tmp");
    file("ctxc-mine.tmp");
    file("templates/.ctxc-dead.tmp");
    let alive = file(".ctxc-alive.tmp");
    alive.try_lock().unwrap();
    std::fs::write(project.path(".ctxc-young.tmp"), "").unwrap();
    project.write(1, "second");
    // A check changes nothing.
    assert_eq!(project.run(&["build", "--check"]).status.code(), Some(1));
    assert!(project.path(".ctxc-dead.tmp").exists());
    project.build();
    let names = std::fs::read_dir(project.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.contains("ctxc-")).collect();
    names.sort();
    assert_eq!(
        names,
        [".ctxc-alive.tmp", ".ctxc-young.tmp", "ctxc-mine.tmp"]
    );
    // So does the author of a template.
    std::fs::write(
        project.path("templates/task_1.xml"),
        "<task type='atomic' name='x'><description>d</description></task>",
    )
    .unwrap();
    assert!(project.path("templates/.ctxc-dead.tmp").exists());
    assert!(project.run(&["fmt"]).status.success());
    assert!(!project.path("templates/.ctxc-dead.tmp").exists());
}

#[test]
fn two_builds_at_once_leave_a_whole_registry() {
    let project = Project::new(TASKS);
    for round in 0..20 {
        project.write(7, &format!("round {round}"));
        let mut children: Vec<_> = (0..3)
            .map(|_| {
                project
                    .command(&["build", "-o", "registry.json"])
                    .spawn()
                    .unwrap()
            })
            .collect();
        let outputs: Vec<_> = children
            .drain(..)
            .map(|child| child.wait_with_output().unwrap())
            .collect();
        for output in &outputs {
            assert!(output.status.success(), "round {round}: {}", said(output));
        }
        let together = project.registry();
        std::fs::remove_file(project.path("registry.json")).unwrap();
        assert!(
            project.build() == together,
            "round {round}: a build alone gives something else"
        );
    }
}
