//! The prompts that `import` finds under its paths, and the template of each prompt, which does not
//! depend on the paths.

use super::project::Project;
use pretty_assertions::assert_eq;

#[test]
fn a_prompt_keeps_its_template_whichever_paths_are_given() {
    let project = Project::new()
        .with_file("p/a/basic.j2", "A {{ x }}")
        .with_file("p/b/basic.j2", "B {{ x }}")
        .with_file("p/c/other.j2", "C {{ x }}");
    project
        .run(&["import", "p"])
        .exits_with(0)
        .stdout_contains("wrote 3 templates");
    let files = project.files();
    project.write_file("p/b/basic.j2", "{# more #}B {{ x }} {{ y }}");
    for path in ["p/b/basic.j2", "p/b", "p/c", "p"] {
        let run = project.run(&["import", path, "--force"]).exits_with(0);
        assert_eq!(project.files(), files, "{path}\n{}", run.stdout);
    }
    let text = project.read_file("templates/b/b-basic.xml");
    assert!(
        text.contains("from p/b/basic.j2") && text.contains("name=\"y\""),
        "{text}"
    );
    project.run(&["check"]).exits_with(0);
    // A new prompt gets no name of an existing task.
    project.write_file("q/basic.j2", "Q {{ x }}");
    project
        .run(&["import", "q"])
        .exits_with(0)
        .stdout_contains("→ templates/q-basic.xml");
    project.run(&["check"]).exits_with(0);
}

#[test]
fn a_prompt_of_langchain_is_found_on_one_line_without_its_type() {
    let project = Project::new()
        .with_file(
            "p/one.json",
            "{\"input_variables\": [\"q\"], \"template\": \"Ask {q}\"}",
        )
        .with_file(
            "p/data.json",
            "{\"kind\": [\"input_variables\", \"template\"]}",
        );
    project
        .run(&["import", "p"])
        .exits_with(0)
        .stdout_contains("p/one.json (LangChain) → templates/one.xml")
        .stdout_contains("wrote 1 template;");
}

#[test]
fn statements_of_jinja_in_a_dotprompt_are_reported() {
    let text = "Hi {{name}}{% if vip %}!{% endif %}";
    let project = Project::new()
        .with_file("p/t.prompt", format!("---\nmodel: x\n---\n{text}"))
        .with_file("p/bare.prompt", "Hi {{name}}");
    let run = project.run(&["import", "p"]).exits_with(0);
    run.stdout_contains("p/t.prompt: warning: `{% … %}`: they stay plain text")
        .stdout_contains("p/bare.prompt: info: the text was copied into the template: its Handlebars is written in another way here;");
}
