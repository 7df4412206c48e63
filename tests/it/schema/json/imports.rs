//! Reports of `ctxc import` with every outcome that one can contain.

use super::artifacts::{Artifacts, put};
use crate::cli::project::Project;
use ctxc::internals::schema::json::names;

pub(super) fn imports(out: &mut Artifacts) {
    let project = Project::new()
        .with_file("p/base.j2", "{% block b %}{% endblock %}")
        .with_file(
            "p/a.j2",
            "{% extends 'base.j2' %}{% block b %}{{ x }}{% endblock %}",
        )
        .with_file("p/bad.j2", "{{ x.zfill(2) }}{% include y %}")
        .with_file("p/latin.j2", b"\xe9".as_slice())
        .with_file("p/one_system.j2", "s")
        .with_file("p/one_user.j2", "{% if a is defined %}u{% endif %}")
        .with_file("p/page.md", "{{a}}")
        .with_file("p/d.prompt", "---\nmodel: m\n---\nd")
        .with_file("p/e.prompty", "---\nname: e\n---\nuser:\ne")
        .with_file("p/f.yaml", "_type: prompt\ntemplate: f\n")
        .with_file("p/README.md", "none")
        .with_file(
            "s.jsonl",
            "{\"template\":\"a\",\"inputs\":{\"x\":\"1\"},\"expected\":\"2\"}",
        );
    let runs: [&[&str]; 4] = [&["--dry-run"], &[], &["--verify", "s.jsonl"], &["--force"]];
    for args in runs {
        let args: Vec<&str> = ["import", "p", "--json"]
            .iter()
            .chain(args)
            .copied()
            .collect();
        put(
            out,
            names::IMPORT,
            args.join(" "),
            project.run(&args).exits_with(1).json(),
        );
        project.write_file("templates/one.xml", "<task/>");
    }
    project.run(&["import", "p", "--force"]).exits_with(1);
    put(
        out,
        names::IMPORT,
        "samples alone",
        project
            .run(&["import", "--verify", "s.jsonl", "--json"])
            .exits_with(1)
            .json(),
    );
}
