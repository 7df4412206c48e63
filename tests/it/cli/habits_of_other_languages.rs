//! Habits from other template languages: each message names the equivalent here.

use super::project::Project;

#[test]
fn elements_and_attributes_of_other_languages_lead_to_those_of_this_one() {
    let around = |inside: &str| {
        format!(
            "<task name=\"a\" type=\"sequential\"><description>x</description>{inside}</task>\n"
        )
    };
    for (inside, help) in [
        ("<reducer>sum</reducer>", "<reduction_task>"),
        ("<files>a.txt</files>", "<file_paths source="),
        ("<for each=\"x\">y</for>", "{% for x in xs %}"),
        ("<if test=\"x\">y</if>", "{% if x %}"),
        ("<output>json</output>", "<output_format type="),
        (
            "<steps><task if=\"b\"><description>y</description></task></steps>",
            "<cond><case test=",
        ),
        (
            "<steps><task ref=\"b\"><inputs><input name=\"c\">d</input></inputs></task></steps>",
            "<call template=",
        ),
    ] {
        Project::new()
            .with_file("templates/a.xml", around(inside))
            .run(&["check"])
            .exits_with(1)
            .stdout_contains(help);
    }
}

#[test]
fn eval_shows_the_line_that_check_shows_and_what_to_write() {
    let project = Project::new()
        .with_file(
            "templates/t.xml",
            "<task name=\"t\"><description>Do it.</description></task>\n",
        )
        .with_file(
            "scenarios/a.yaml",
            "name: a\ntask: t\ncontext: {objective: x}\nexpect_context:\n  - tokens: 90\n",
        );
    for verb in ["check", "eval"] {
        project
            .run(&[verb])
            .stdout_contains("- tokens: 90")
            .stdout_contains("name the limits, such as `tokens: {max: 90}`");
    }
}
