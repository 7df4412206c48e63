//! Numbers and `null` as inputs: shown as written, the same from every source, or reported.

use super::project::Project;

const LARGE: &str = "123456789012345678901234567890";
const TOLD: &str =
    "is beyond 64 bits: a whole number is from -9223372036854775808 to 18446744073709551615";

fn sample(case: &str) -> Project {
    let task = "<task type=\"atomic\" name=\"t\">
  <description>a={{a}}; n={{n}}; d={{d}}; o={{o}}.</description>
  <parameters>
    <parameter name=\"a\" type=\"integer\"/>
    <parameter name=\"n\" type=\"number\"/>
    <parameter name=\"d\" type=\"integer\" required=\"true\" default=\"7.0\"/>
    <parameter name=\"o\" type=\"object\" default=\"{}\"/>
  </parameters>
</task>
";
    let text = format!(
        "name: c\ntask: t\ncontext:\n  objective: go\n  inputs:\n{case}\nexpect_context:\n  - snapshot: true\n"
    );
    Project::new()
        .with_file("templates/t.xml", task)
        .with_file("scenarios/c.yaml", text)
        .with_file("large.json", format!("[{LARGE}]"))
}

#[test]
fn whole_numbers_beyond_64_bits_are_reported_where_they_are_given() {
    let project = sample("    a: 1\n    n: 2");
    for option in ["n", "a"] {
        let (one, other) = (
            format!("{option}={LARGE}"),
            if option == "n" { "a=1" } else { "n=1" },
        );
        let run = project
            .run(&["render", "t", "-i", &one, "-i", other])
            .exits_with(2);
        run.stderr_contains(&format!("--input {option}: the number {LARGE} {TOLD}"));
    }
    project
        .run(&[
            "render",
            "t",
            "-i",
            "a=1",
            "-i",
            "n=2",
            "-i",
            &format!("o={{\"x\": [-{LARGE}]}}"),
        ])
        .exits_with(2)
        .stderr_contains(TOLD);
    let steps = "<task type=\"sequential\" name=\"s\"><description>s</description><steps><task as=\"r\" type=\"atomic\"><description>one</description></task><task type=\"atomic\"><description>{{r}}</description></task></steps></task>\n";
    project.write_file("templates/s.xml", steps);
    let run = project
        .run(&[
            "render",
            "s",
            "--node",
            "/steps/1",
            "--result",
            "r=@large.json",
        ])
        .exits_with(2);
    run.stderr_contains(&format!("--result r: the number {LARGE} {TOLD}"));
    for largest in ["18446744073709551615", "-9223372036854775808"] {
        let run = project
            .run(&["render", "t", "-i", &format!("a={largest}"), "-i", "n=2.5"])
            .exits_with(0);
        assert!(
            run.stdout.contains(&format!("a={largest}; n=2.5; d=7;")),
            "{}",
            run.stdout
        );
    }
    // A scenario, with its files.
    let run = sample(&format!("    a: {LARGE}\n    n: 2"))
        .run(&["check"])
        .exits_with(1);
    assert!(
        run.stdout
            .contains("error[scenario-syntax] scenarios/c.yaml:6:8:")
            && run.stdout.contains(TOLD),
        "{}",
        run.stdout
    );
    let project = sample("    a: 1\n    n: !file n.json").with_file("scenarios/n.json", LARGE);
    let run = project.run(&["eval"]).exits_with(1);
    assert!(
        run.stdout.contains("n.json") && run.stdout.contains(TOLD),
        "{}",
        run.stdout
    );
    // A default, a conversation, a sample.
    let task = format!(
        "<task type=\"atomic\" name=\"t\"><description>{{{{a}}}}</description><parameters><parameter name=\"a\" type=\"integer\" default=\"{LARGE}\"/></parameters></task>\n"
    );
    let run = Project::new()
        .with_file("templates/t.xml", task)
        .run(&["check"])
        .exits_with(1);
    assert!(
        run.stdout.contains("error[bad-number] templates/t.xml:1:")
            && run.stdout.contains("18446744073709551615"),
        "{}",
        run.stdout
    );
    let project = sample("    a: 1\n    n: 2").with_file(
        "h.jsonl",
        format!("{{\"role\": \"user\", \"content\": {LARGE}}}\n"),
    );
    project
        .run(&[
            "render",
            "t",
            "-i",
            "a=1",
            "-i",
            "n=2",
            "--history",
            "h.jsonl",
        ])
        .exits_with(2)
        .stderr_contains(TOLD);
    project.write_file(
        "s.jsonl",
        format!("{{\"template\": \"t\", \"inputs\": {{\"a\": {LARGE}}}, \"expected\": \"\"}}\n"),
    );
    project
        .run(&["import", "--verify", "s.jsonl"])
        .exits_with(2)
        .stderr_contains(TOLD);
}

/// The context of a task with the same values from `render` and from a scenario.
fn both(values: &[(&str, &str)]) -> [String; 2] {
    let case: Vec<String> = values
        .iter()
        .map(|(name, value)| format!("    {name}: {value}"))
        .collect();
    let project = sample(&case.join("\n"));
    let given: Vec<String> = values
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let args = ["render", "t"]
        .into_iter()
        .chain(given.iter().flat_map(|one| ["-i", one.as_str()]))
        .collect::<Vec<_>>();
    let rendered = project.run(&args);
    let judged = project.run(&["eval", "--accept"]);
    let line = |text: &str| {
        text.lines()
            .find_map(|line| Some(line.get(line.find("a=")?..)?.to_owned()))
            .unwrap_or_default()
    };
    let line = |text: &str| {
        line(text)
            .split_inclusive("}.")
            .next()
            .unwrap_or("")
            .to_owned()
    };
    [line(&rendered.stdout), line(&judged.stdout)]
}

#[test]
fn null_and_whole_numbers_are_the_same_in_every_way_in() {
    for (values, shown) in [
        (
            &[("a", "3.0"), ("n", "3.0"), ("d", "null"), ("o", "null")][..],
            "a=3; n=3.0; d=7; o={}.",
        ),
        (
            &[("a", "-2e3"), ("n", "-2"), ("d", "1")],
            "a=-2000; n=-2; d=1; o={}.",
        ),
    ] {
        assert_eq!(both(values), [shown, shown]);
    }
    // If a value is required and has no default, `null` is none.
    let project = sample("    a: null\n    n: 1");
    project
        .run(&["render", "t", "-i", "a=null", "-i", "n=1"])
        .exits_with(2)
        .stderr_contains("`a` is null");
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("`a` is null");
    project
        .run(&["render", "t", "-i", "a=1e30", "-i", "n=1"])
        .exits_with(2)
        .stderr_contains("--input a: the parameter's type is integer, and `1e30` is a number");
}
