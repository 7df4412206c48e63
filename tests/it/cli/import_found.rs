//! What `import` finds under the paths that it is given, and which template each prompt has,
//! whichever paths those are.

use super::project::Project;
use pretty_assertions::assert_eq;

#[test]
fn a_prompt_keeps_its_template_whichever_paths_are_given() {
    let project = Project::new()
        .file("p/a/basic.j2", "A {{ x }}")
        .file("p/b/basic.j2", "B {{ x }}")
        .file("p/c/other.j2", "C {{ x }}");
    project
        .run(&["import", "p"])
        .code(0)
        .says("wrote 3 templates");
    let files = project.files();
    project.write("p/b/basic.j2", "{# more #}B {{ x }} {{ y }}");
    for path in ["p/b/basic.j2", "p/b", "p/c", "p"] {
        let run = project.run(&["import", path, "--force"]).code(0);
        assert_eq!(project.files(), files, "{path}\n{}", run.stdout);
    }
    let text = project.read("templates/b/b-basic.xml");
    assert!(
        text.contains("from p/b/basic.j2") && text.contains("name=\"y\""),
        "{text}"
    );
    project.run(&["check"]).code(0);
    // A new prompt takes no name that a task has anywhere.
    project.write("q/basic.j2", "Q {{ x }}");
    project
        .run(&["import", "q"])
        .code(0)
        .says("→ templates/q-basic.xml");
    project.run(&["check"]).code(0);
}

#[test]
fn a_prompt_of_langchain_is_found_on_one_line_without_its_type() {
    let project = Project::new()
        .file(
            "p/one.json",
            "{\"input_variables\": [\"q\"], \"template\": \"Ask {q}\"}",
        )
        .file(
            "p/data.json",
            "{\"kind\": [\"input_variables\", \"template\"]}",
        );
    project
        .run(&["import", "p"])
        .code(0)
        .says("p/one.json (LangChain) → templates/one.xml")
        .says("wrote 1 template;");
}

#[test]
fn statements_of_jinja_in_a_dotprompt_are_told() {
    let text = "Hi {{name}}{% if vip %}!{% endif %}";
    let project = Project::new()
        .file("p/t.prompt", format!("---\nmodel: x\n---\n{text}"))
        .file("p/bare.prompt", "Hi {{name}}");
    let run = project.run(&["import", "p"]).code(0);
    run.says("p/t.prompt: warning: `{% … %}`: they stay plain text")
        .says("p/bare.prompt: info: the text was copied into the template: its Handlebars is written in another way here;");
}
