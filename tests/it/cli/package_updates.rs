//! `ctxc package update --all --pr-summary`: what an update changes in the project that uses the
//! packages, as Markdown.

use super::gate::git;
use super::project::{ProgramRun, Project};
use insta::assert_snapshot;
use pretty_assertions::assert_eq;

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket: {{ticket}}</description>\n  \
    <parameters>\n    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n  </parameters>\n  <output_format type=\"json\" schema=\"answer.json\"/>\n</task>\n";
const SPARE: &str =
    "<task type=\"atomic\" name=\"spare_task\"><description>Wait.</description></task>\n";
const SCHEMA: &str = r#"{"type": "object", "required": ["team"], "properties": {"team": {"enum": ["billing", "data"]}}}"#;
const CONTRACT: &str = "name: \"a|b *team* <b> @all\"\ntask: acme/rules/triage\ncontext: {objective: sort, inputs: {ticket: my invoice}}\n\
    expectations:\n  - schema: {type: object, required: [team], properties: {team: {enum: [billing, data]}}}\n";
const MAIL: &str = "<task type=\"sequential\" name=\"mail\">\n  <description>Answer.</description>\n  <parameters>\n    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n  \
    </parameters>\n  <steps>\n    <task ref=\"acme/rules/triage\"/>\n  </steps>\n</task>\n";
const SCENARIO: &str = "name: mail_of *today*\ntask: mail\nnode: /steps/0\ncontext: {objective: sort, inputs: {ticket: my invoice}}\n\
    expect_context:\n  - tokens: {max: 500}\n";

/// A repository with releases of a package.
struct Releases {
    work: Project,
    bare: Project,
    name: &'static str,
}

impl Releases {
    fn new(name: &'static str) -> Self {
        let (work, bare) = (Project::new(), Project::new());
        git(&work, &["init", "-q", "-b", "main"]);
        git(&bare, &["init", "-q", "--bare", "-b", "main"]);
        work.write_file("templates/triage.xml", TASK);
        work.write_file("templates/answer.json", SCHEMA);
        work.write_file("templates/spare.xml", SPARE);
        let releases = Self { work, bare, name };
        releases.publish("1.0.0");
        releases
    }

    /// Publishes the files as they are.
    fn publish(&self, version: &str) {
        self.publish_with(version, "\"tasks/triage\", \"tasks/spare_task\"", "");
    }

    /// Publishes the files as they are, with these exports and further settings.
    fn publish_with(&self, version: &str, exports: &str, settings: &str) {
        let name = self.name;
        let text = format!(
            "edition = \"2026\"\n[package]\nname = \"{name}\"\nversion = \"{version}\"\nexports = [{exports}]\n{settings}"
        );
        self.work.write_file("ctxc.toml", text);
        git(&self.work, &["add", "-A"]);
        git(&self.work, &["commit", "-qm", version]);
        git(&self.work, &["tag", &format!("v{version}")]);
        let bare = self.bare.path("").display().to_string();
        git(&self.work, &["push", "-q", "--tags", &bare, "main"]);
    }

    /// Publishes the files after a replacement in one of them.
    fn publish_edit(&self, version: &str, path: &str, [from, to]: [&str; 2]) {
        super::gate::replace(&self.work, path, from, to);
        self.publish(version);
    }

    fn source(&self, tag: &str) -> String {
        format!("git+file://{}@{tag}", self.bare.path("").display()).replace("/@", "@")
    }
}

/// A project that uses packages.
struct Consumer {
    work: Project,
}

impl Consumer {
    fn new(releases: &[&Releases]) -> Self {
        let work = Project::new()
            .with_file("ctxc.toml", "edition = \"2026\"\n\n[dependencies]\n")
            .with_file("templates/mail.xml", MAIL)
            .with_file("scenarios/mail.yaml", SCENARIO)
            .with_file("contracts/acme/rules/team.yaml", CONTRACT);
        let consumer = Self { work };
        for releases in releases {
            let source = releases.source("v1.0.0");
            consumer.run(&["package", "add", &source]).exits_with(0);
        }
        consumer
    }

    fn run(&self, args: &[&str]) -> ProgramRun {
        let mut command = self.work.command(args);
        command.env("CTXC_CACHE_DIR", self.work.path("cache"));
        ProgramRun::from(command.output().unwrap())
    }

    fn summary(&self) -> String {
        let args = ["package", "update", "--all", "--pr-summary"];
        mask_commits(&self.run(&args).exits_with(0).stdout)
    }

    fn lock(&self) -> String {
        self.work.read_file("ctxc.lock")
    }
}

/// Replaces commits, which contain the time.
fn mask_commits(text: &str) -> String {
    let mask = |part: &str| {
        let is_commit = part.len() == 12 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_commit { "COMMIT" } else { part }.to_owned()
    };
    let parts: Vec<String> = text
        .split("code>")
        .map(|part| {
            part.strip_suffix("</")
                .map_or_else(|| part.to_owned(), |code| mask(code) + "</")
        })
        .collect();
    parts.join("code>")
}

#[test]
fn a_later_major_version_is_named() {
    let rules = Releases::new("acme/rules");
    rules.publish("1.1.0");
    rules.publish("2.0.0");
    rules.publish("3.0.0-rc.1");
    let shop = Consumer::new(&[&rules]);
    let line = "acme/rules: v2.0.0 exists; `ctxc package add SOURCE@v2.0.0` takes it";
    let update = ["package", "update", "--all", "--pr-summary"];
    for _ in 0..2 {
        let run = shop.run(&update).exits_with(0).stderr_contains(line);
        assert!(
            run.stdout.ends_with(&format!("\n{line}\n")),
            "{}",
            run.stdout
        );
    }
    shop.run(&["package", "add", &rules.source("v2.0.0")])
        .exits_with(0);
    shop.run(&update).exits_with(0).output_lacks("exists;");
}

#[test]
fn a_harmless_update_lists_tokens_contracts_and_scenarios() {
    let rules = Releases::new("acme/rules");
    rules.publish_edit(
        "1.1.0",
        "templates/triage.xml",
        ["Sort the", "Sort at once the"],
    );
    let shop = Consumer::new(&[&rules]);
    assert_snapshot!(shop.summary(), @r##"
    <!-- ctxc/package-update/1 -->
    ### Update of 1 package: nothing is broken, 1 contract kept

    | package | before | after |
    |---|---|---|
    | <code>acme/rules</code> | 1.0.0 (<code>COMMIT</code>) | 1.1.0 (<code>COMMIT</code>) |

    #### <code>acme/rules</code> 1.0.0 → 1.1.0

    | category | export | change | used here |
    |---|---|---|---|
    | TOKENS | <code>tasks/triage</code> | the fewest tokens are 78, were 76 | yes |

    <details><summary>1 change that can break nothing here</summary>

    | category | export | change | used here |
    |---|---|---|---|
    | TEXT | <code>tasks/triage</code> | \`description\` has another text | yes |

    </details>

    <details><summary>1 contract that the update does not break</summary>

    | contract | verdict | why |
    |---|---|---|
    | <code>a\|b \*team\* &lt;b&gt; @all</code> in <code>contracts/acme/rules/team.yaml</code> | kept |  |

    </details>

    <!-- ctxc/manifest-diff/1 -->
    ### What agents receive: <code>before</code> → <code>after</code>

    1 agent changed; 85 → 87 (+2, +2 %) tokens known before a run.

    | agent | tokens | reusable prefix |
    |---|---|---|
    | <code>mail/steps/0</code> | 85 → 87 (+2, +2 %) | 77 |

    <details><summary><code>mail/steps/0</code></summary>

    - <code>description</code> 8 → 10 (+2, +25 %) tokens; text of the template (acme/rules@1.1.0/templates/triage.xml)

    </details>

    Affected: 1 scenario; `ctxc eval --affected` runs them.

    <details><summary>1 scenario</summary>

    - <code>mail\_of \*today\*</code>

    </details>
    "##);
    assert!(shop.lock().contains("version = \"1.1.0\""));
}

#[test]
fn a_broken_contract_comes_first_and_the_lock_is_written() {
    let rules = Releases::new("acme/rules");
    rules.publish_edit(
        "1.2.0",
        "templates/answer.json",
        ["\"data\"]", "\"legal\"]"],
    );
    let shop = Consumer::new(&[&rules]);
    assert_snapshot!(shop.summary(), @r##"
    <!-- ctxc/package-update/1 -->
    ### Update of 1 package: 1 contract broken, 2 breaking changes of what is used here

    | broken contract | with | why |
    |---|---|---|
    | <code>a\|b \*team\* &lt;b&gt; @all</code> in <code>contracts/acme/rules/team.yaml</code> | <code>acme/rules</code> | contracts/acme/rules/team.yaml:5: its answer may break the schema: $.team: it may be "legal" |

    | package | before | after |
    |---|---|---|
    | <code>acme/rules</code> | 1.0.0 (<code>COMMIT</code>) | 1.2.0 (<code>COMMIT</code>) |

    #### <code>acme/rules</code> 1.0.0 → 1.2.0

    | category | export | change | used here |
    |---|---|---|---|
    | OUTPUT | <code>tasks/triage</code> | \`team\`: it is never "data" any more (**breaks**) | yes |
    | OUTPUT | <code>tasks/triage</code> | \`team\`: it may be "legal" (**breaks**) | yes |

    <details><summary>2 other changes</summary>

    | category | export | change | used here |
    |---|---|---|---|
    | CACHE | <code>tasks/triage</code> | the reusable prefix is another | yes |
    | TEXT | <code>tasks/triage</code> | \`output\_format\` has another text | yes |

    </details>

    <!-- ctxc/manifest-diff/1 -->
    ### What agents receive: <code>before</code> → <code>after</code>

    1 agent changed; 85 tokens known before a run.

    | agent | tokens | reusable prefix |
    |---|---|---|
    | <code>mail/steps/0</code> | 85 | 77 |

    <details><summary><code>mail/steps/0</code></summary>

    - <code>output\_format</code> 68 tokens; another text; schema acme/rules@1.2.0/templates/answer.json; schema acme/rules@1.0.0/templates/answer.json

    </details>

    Affected: 1 scenario; `ctxc eval --affected` runs them.

    <details><summary>1 scenario</summary>

    - <code>mail\_of \*today\*</code>

    </details>
    "##);
    assert!(shop.lock().contains("version = \"1.2.0\""));
    shop.run(&["check"])
        .exits_with(1)
        .stdout_contains("broken-contract");
}

#[test]
fn without_newer_releases_there_is_one_line() {
    let rules = Releases::new("acme/rules");
    let shop = Consumer::new(&[&rules]);
    let lock = shop.lock();
    assert_snapshot!(shop.summary(), @r##"
    <!-- ctxc/package-update/1 -->
    No package changes: `ctxc.lock` is up to date.
    "##);
    assert_eq!(shop.lock(), lock);
    let args = ["package", "update", "--pr-summary", "body.md"];
    shop.run(&args).exits_with(2).stderr_contains("--all");
}

#[test]
fn two_packages_are_compared_and_an_empty_cache_is_filled() {
    let (rules, tone) = (Releases::new("acme/rules"), Releases::new("acme/tone"));
    let shop = Consumer::new(&[&rules, &tone]);
    rules.publish_edit("1.0.1", "templates/spare.xml", ["Wait.", "Wait a bit."]);
    tone.publish_edit(
        "1.1.0",
        "templates/answer.json",
        ["\"data\"]", "\"data\", \"legal\"]"],
    );
    std::fs::remove_dir_all(shop.work.path("cache")).unwrap();
    let run = shop.run(&["package", "update", "--all", "--pr-summary", "body.md"]);
    run.exits_with(0)
        .stdout_contains("~ acme/tone 1.0.0 → 1.1.0");
    assert_snapshot!(mask_commits(&shop.work.read_file("body.md")), @r##"
    <!-- ctxc/package-update/1 -->
    ### Update of 2 packages: nothing is broken, 1 contract kept

    | package | before | after |
    |---|---|---|
    | <code>acme/rules</code> | 1.0.0 (<code>COMMIT</code>) | 1.0.1 (<code>COMMIT</code>) |
    | <code>acme/tone</code> | 1.0.0 (<code>COMMIT</code>) | 1.1.0 (<code>COMMIT</code>) |

    #### <code>acme/rules</code> 1.0.0 → 1.0.1


    <details><summary>4 changes that can break nothing here</summary>

    | category | export | change | used here |
    |---|---|---|---|
    | TOKENS | <code>tasks/spare\_task</code> | the fewest tokens are 7, were 5 (**breaks**) | no |
    | TOKENS | <code>tasks/spare\_task</code> | the most tokens are 7, were 5 (**breaks**) | no |
    | CACHE | <code>tasks/spare\_task</code> | the reusable prefix is another | no |
    | TEXT | <code>tasks/spare\_task</code> | \`description\` has another text | no |

    </details>

    <details><summary>1 contract that the update does not break</summary>

    | contract | verdict | why |
    |---|---|---|
    | <code>a\|b \*team\* &lt;b&gt; @all</code> in <code>contracts/acme/rules/team.yaml</code> | kept |  |

    </details>

    #### <code>acme/tone</code> 1.0.0 → 1.1.0


    <details><summary>4 changes that can break nothing here</summary>

    | category | export | change | used here |
    |---|---|---|---|
    | OUTPUT | <code>tasks/triage</code> | \`team\`: it may be "legal" (**breaks**) | no |
    | TOKENS | <code>tasks/triage</code> | the fewest tokens are 80, were 76 | no |
    | CACHE | <code>tasks/triage</code> | the reusable prefix is another | no |
    | TEXT | <code>tasks/triage</code> | \`output\_format\` has another text | no |

    </details>

    <!-- ctxc/manifest-diff/1 -->
    ### What agents receive: <code>before</code> → <code>after</code>

    Every agent receives the same; what changed reaches no agent.

    Affected: 1 scenario; `ctxc eval --affected` runs them.

    <details><summary>1 scenario</summary>

    - <code>mail\_of \*today\*</code>

    </details>
    "##);
    // The next update may replace the summary, and not another file.
    rules.publish("1.0.2");
    let again = ["package", "update", "--all", "--pr-summary", "body.md"];
    shop.run(&again).exits_with(0);
    shop.work.write_file("notes.md", "ours");
    rules.publish("1.0.3");
    let lock = shop.lock();
    let other = ["package", "update", "--all", "--pr-summary", "notes.md"];
    shop.run(&other).exits_with(2).stderr_contains("notes.md");
    assert_eq!(shop.lock(), lock);
}

#[test]
fn a_project_that_does_not_compile_any_more_is_the_verdict() {
    let rules = Releases::new("acme/rules");
    rules.publish_edit(
        "1.3.0",
        "templates/triage.xml",
        ["name=\"ticket\" type", "name=\"letter\" type"],
    );
    let shop = Consumer::new(&[&rules]);
    assert_snapshot!(shop.summary(), @r##"
    <!-- ctxc/package-update/1 -->
    ### Update of 1 package: the project has errors with the new packages, 1 package not compared

    **The project has errors with the new packages:** this project has 1 error: what an agent would receive is not certain; ctxc.toml:4:1: cannot use package \`acme/rules\`: it has an error, first: acme/rules@1.3.0/templates/triage.xml:2: \`ticket\` would have no value: no parameter, input, earlier step or loop has that name; run \`ctxc check\` in the package; \`ctxc package update\` restores changed files

    | package | before | after |
    |---|---|---|
    | <code>acme/rules</code> | 1.0.0 (<code>COMMIT</code>) | 1.3.0 (<code>COMMIT</code>) |

    #### <code>acme/rules</code> 1.0.0 → 1.3.0

    Its exports and contracts are not compared: its new release has 1 error: what an agent would receive is not certain; templates/triage.xml:2:35: \`ticket\` would have no value: no parameter, input, earlier step or loop has that name; \`ctxc check\` shows them
    "##);
}

/// Another release of a package of a package breaks a contract with a package that stays.
#[test]
fn a_package_that_stays_is_compared_through_the_packages_that_it_uses() {
    let (rules, tone) = (Releases::new("acme/rules"), Releases::new("acme/tone"));
    let sort = MAIL
        .replace("mail", "sort")
        .replace("acme/rules", "acme/tone");
    rules.work.write_file("templates/sort.xml", sort);
    let settings = format!(
        "[dependencies]\n\"acme/tone\" = \"{}\"\n",
        tone.source("v1.0.0")
    );
    rules.publish_with("1.0.1", "\"tasks/triage\", \"tasks/sort\"", &settings);
    let shop = Consumer::new(&[&tone]);
    shop.run(&["package", "add", &rules.source("v1.0.1")])
        .exits_with(0);
    let contract = CONTRACT.replace("rules/triage", "rules/sort\nnode: /steps/0");
    shop.work
        .write_file("contracts/acme/rules/team.yaml", contract);
    tone.publish_edit(
        "1.1.0",
        "templates/answer.json",
        ["\"data\"]", "\"legal\"]"],
    );
    let summary = shop.summary();
    let (before, after) = summary.split_once("| package |").unwrap();
    assert!(
        before.contains("Update of 1 package: 1 contract broken"),
        "{summary}"
    );
    assert!(before.contains("it may be \"legal\""), "{summary}");
    assert!(!after.contains("| <code>acme/rules</code> |"), "{summary}");
    let part = "#### <code>acme/rules</code> 1.0.1, through the packages that it uses";
    assert!(after.contains(part), "{summary}");
    assert!(
        after.contains("of /steps/0: it may be \"legal\" (**breaks**)"),
        "{summary}"
    );
}

/// Without a sound project nothing is known of its uses, and a misspelt section is no empty one.
#[test]
fn a_project_with_errors_is_not_told_that_nothing_breaks() {
    let rules = Releases::new("acme/rules");
    rules.publish_edit(
        "1.1.0",
        "templates/triage.xml",
        [
            "</parameters>",
            "  <parameter name=\"who\" type=\"string\" required=\"true\"/>\n  </parameters>",
        ],
    );
    let shop = Consumer::new(&[&rules]);
    let broken = MAIL
        .replace("\"mail\"", "\"other\"")
        .replace("Answer.", "Answer {{nothing}}.");
    shop.work.write_file("templates/other.xml", broken);
    let summary = shop.summary();
    assert!(
        summary.contains("breaking change of what is used here"),
        "{summary}"
    );
    assert!(
        summary.contains("`who` is new and required (**breaks**) | unknown |")
            || summary.contains("\\`who\\` is new and required (**breaks**) | unknown |"),
        "{summary}"
    );
    assert!(
        summary.contains("the contexts of the project are not compared"),
        "{summary}"
    );
    let lock = shop.lock();
    super::gate::replace(&shop.work, "ctxc.toml", "[dependencies]", "[dependancies]");
    shop.run(&["package", "update"])
        .exits_with(2)
        .stderr_contains("dependancies");
    assert_eq!(shop.lock(), lock);
}

/// A runner that has the vendored packages alone compares them like any other.
#[test]
fn vendored_packages_are_compared_with_an_empty_cache() {
    let rules = Releases::new("acme/rules");
    let shop = Consumer::new(&[&rules]);
    shop.run(&["package", "vendor"]).exits_with(0);
    // A file that the lock does not list is none of the package.
    let extra = "vendor/ctxc/acme/rules/templates/extra.xml";
    shop.work.write_file(extra, TASK);
    shop.run(&["check", "contracts"]).exits_with(0);
    std::fs::remove_file(shop.work.path(extra)).unwrap();
    std::fs::remove_dir_all(shop.work.path("cache")).unwrap();
    rules.publish_edit(
        "1.1.0",
        "templates/answer.json",
        ["\"data\"]", "\"legal\"]"],
    );
    let summary = shop.summary();
    assert!(
        summary.contains("Update of 1 package: 1 contract broken"),
        "{summary}"
    );
    assert!(!summary.contains("not compared"), "{summary}");
}
