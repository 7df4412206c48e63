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
fn an_element_of_another_language_is_one_finding() {
    Project::new()
        .with_file(
            "templates/a.xml",
            "<task name=\"a\" type=\"sequential\"><description>x</description>\
             <for each=\"x\" in=\"xs\"><task type=\"atomic\"><description>{{x}}</description></task></for></task>\n",
        )
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("{% for x in xs %}")
        .stdout_contains("1 error,");
}

#[test]
fn a_list_of_tasks_is_one_finding_however_often_they_are_used() {
    let user = |number: u32| {
        format!(
            "<task name=\"a{number}\" type=\"sequential\"><description>x</description><steps><task ref=\"helper\"/></steps></task>\n"
        )
    };
    Project::new()
        .with_file("templates/a.xml", user(1))
        .with_file("templates/b.xml", user(2))
        .with_file(
            "templates/h.xml",
            "<tasks>\n<task name=\"helper\" type=\"atomic\"><description>x</description></task>\n\
             <task name=\"other\" type=\"atomic\"><description>x</description></task>\n</tasks>\n",
        )
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("did you mean `<library>`?")
        .stdout_contains("1 error;");
}

#[test]
fn a_task_in_capitals_is_a_task() {
    let task = "<Task type=\"atomic\"><description>Sort.</description></Task>\n";
    Project::new()
        .with_file("templates/a.xml", task)
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("did you mean `<task>`?");
}

#[test]
fn a_name_of_another_language_for_the_value_of_a_round_leads_to_that_value() {
    let reduce = |parameters: &str| {
        format!(
            "<task name=\"a\" type=\"reduce\"><description>x</description>{parameters}\
             <inputs><input name=\"one\">1</input></inputs>\
             <inner_task><description>Look at {{{{input}}}}, {{{{ input }}}}.</description></inner_task>\
             <reduction_task><description>{{{{current_result}}}}</description></reduction_task></task>\n"
        )
    };
    let typed = "<parameters><parameter name=\"t\" default=\"\"/></parameters>";
    for (parameters, message) in [
        ("", "`input` is a parameter of the whole task here"),
        (typed, "`input` would have no value"),
    ] {
        let project = Project::new().with_file("templates/a.xml", reduce(parameters));
        project
            .run(&["check"])
            .stdout_contains(message)
            .stdout_contains(": write `current_input`");
        project.run(&["check", "--fix", "--unsafe-fixes"]);
        assert!(
            project
                .read_file("templates/a.xml")
                .contains("{{current_input}}, {{ current_input }}")
        );
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
