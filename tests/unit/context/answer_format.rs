//! Tests of the private items of `src/context/answer_format.rs`.

use super::path_beside_template;

#[test]
fn a_file_beside_a_template_is_named_as_the_project_names_it() {
    assert_eq!(
        path_beside_template("templates/a.xml", "text/b.md"),
        "templates/text/b.md"
    );
    assert_eq!(
        path_beside_template("templates/x/a.xml", "../b.md"),
        "templates/b.md"
    );
    assert_eq!(path_beside_template("a.xml", "./b.md"), "b.md");
}
