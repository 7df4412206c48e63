//! The effect of a role on the context of its task: equal in a run and in the manifest.

use super::settings::values;
use ctxc::internals::context::assemble::{Assembly, assemble};
use ctxc::internals::context::manifest::{Entry, ManifestOptions, project_manifest, task_manifest};
use ctxc::internals::context::options::{ModelSettings, Options, TokenCounters};
use ctxc::internals::context::render::profile::Profile;
use ctxc::internals::context::request::{CallerGoals, Request};
use ctxc::internals::kernel::assembler::SegmentReport;
use ctxc::internals::kernel::budget::{Counting, Disposition};
use ctxc::internals::kernel::context::Origin;
use ctxc::internals::kernel::tokens::{ByteCounter, ByteEstimate, TokenCounter};
use ctxc::internals::project::config::Config;
use ctxc::{Registry, Severity};
use pretty_assertions::assert_eq;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

const TASKS: &str = "<library>\
<task type=\"atomic\" name=\"triage\"><description>Sort {{ticket}}.</description>\
<parameters><parameter name=\"ticket\" type=\"string\" required=\"true\"/></parameters>\
<inputs><input name=\"text\" from=\"ticket\" trust=\"untrusted\"/></inputs>\
<system>You triage.</system><constraints><constraint>No promises.</constraint></constraints>\
<file_paths source=\"literal\"><path>a.md</path></file_paths></task>\
<task type=\"atomic\" name=\"plain\"><description>Write.</description></task>\
<task type=\"atomic\" name=\"wishful\"><description>Write.</description><model><preferred>large</preferred><fallback>small</fallback></model></task>\
<task type=\"director_evaluator_loop\" name=\"loop\"><description>Polish.</description><director><description>Do.</description></director>\
<evaluator><description>Judge.</description></evaluator></task>\
</library>";

const PROJECT: &str = r#"
[roles.clerk]
template = "triage"
system = { file = "prompts/clerk.md" }
tools = ["read_*"]
blocked_tools = ["read_mail"]
protected_paths = ["billing/**"]
budget = { tokens = 600, usd = 0.5 }
tier = "economy"
profile = "xml"

[roles.writer]
template = "plain"
system = """
You write.
"""
model = "large"
order = ["input", "description"]

[roles.polisher]
template = "loop"
system = "You polish."
tier = "premium"

[models.small]
provider = "ollama"
id = "small-7b"
tier = "economy"
context_window = 4096
output_reserve = 96
tokenizer = "bytes"
usd_per_million = { input = 1.0, cached_input = 0.1, output = 2.0 }

[models.large]
provider = "anthropic"
tier = "premium"
context_window = 500
output_reserve = 100
usd_per_million = { input = 3.0, output = 15.0 }
"#;

fn built() -> (Registry, Config) {
    let config = crate::project::reading::read_with(
        PROJECT,
        &[("prompts/clerk.md", "\nYou are a clerk.\nBe brief.\n")],
    );
    assert_eq!(crate::project::reading::shown(&config), "");
    let built = ctxc::compile_sources(&config, [("lib.xml", TASKS)]);
    let grave: Vec<_> = built
        .diagnostics
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .collect();
    assert!(grave.is_empty(), "{grave:#?}");
    (built.registry.expect("it compiles"), config)
}

fn files() -> BTreeMap<String, String> {
    BTreeMap::from([("a.md".to_owned(), "alpha\n".repeat(300))])
}

fn counters() -> BTreeMap<String, Arc<dyn TokenCounter>> {
    let claude: Arc<dyn TokenCounter> = Arc::new(ByteEstimate::new("claude (estimate)", 3.5));
    BTreeMap::from([
        (
            "bytes".to_owned(),
            Arc::new(ByteCounter) as Arc<dyn TokenCounter>,
        ),
        ("claude".to_owned(), claude),
    ])
}

fn options<'a>(config: &'a Config, counters: &'a dyn TokenCounters) -> Options<'a> {
    let models = Some(ModelSettings {
        models: &config.models,
        roles: &config.roles,
        counters,
        profile: None,
        objective_tokens: None,
        task_model: None,
    });
    Options {
        counting: Counting::Always,
        models,
        ..Options::default()
    }
}

fn text(assembly: &Assembly) -> String {
    assembly
        .messages
        .iter()
        .map(|message| message.text.text())
        .collect::<Vec<_>>()
        .join("\n=====\n")
}

fn only(mut entries: Vec<Entry>) -> Entry {
    assert_eq!(entries.len(), 1);
    entries.remove(0)
}

#[test]
fn the_roles_words_stand_before_the_tasks_in_one_segment_with_two_sources() {
    let (registry, config) = built();
    let (counters, files) = (counters(), files());
    let inputs = values(&[("ticket", json!("it leaks"))]);
    let request = Request {
        inputs: &inputs,
        files: &files,
        ..Request::of_role(&config.roles["clerk"])
    };
    let assembly = assemble(&registry, &request, &options(&config, &counters)).unwrap();
    assert!(
        assembly.messages[0]
            .text
            .text()
            .starts_with("You are a clerk.\nBe brief.\n\nYou triage.\n\n<constraints>")
    );
    let system = &assembly.report.segments[0].segment;
    assert_eq!(
        (system.id.as_str(), system.why.as_str()),
        ("system", "the role's system and <system>")
    );
    let origins: Vec<&Origin> = system
        .text
        .stretches()
        .iter()
        .map(|stretch| &stretch.origin)
        .collect();
    assert_eq!(
        *origins[0],
        Origin::File {
            path: "prompts/clerk.md".to_owned(),
            line: 1
        }
    );
    assert!(
        matches!(origins[2], Origin::Template { task, .. } if task == "triage"),
        "{origins:?}"
    );
    // The role's profile, the model's counter, the role's budget: the file is cut to the headroom
    // of 600 bytes.
    assert_eq!(
        (assembly.report.tokenizer.as_str(), assembly.report.budget),
        ("bytes", Some(600))
    );
    let bytes: usize = assembly
        .messages
        .iter()
        .map(|message| message.text.text().len())
        .sum();
    assert!(
        bytes <= 600 && text(&assembly).contains("<file name=\"a.md\">"),
        "{}",
        text(&assembly)
    );
    assert!(
        assembly
            .report
            .segments
            .iter()
            .any(|account| matches!(account.disposition, Disposition::Cut { .. }))
    );
}

#[test]
fn a_task_alone_has_what_it_had_before_there_were_roles() {
    let (registry, config) = built();
    let (counters, files) = (counters(), files());
    let inputs = values(&[("ticket", json!("it leaks"))]);
    let request = Request {
        inputs: &inputs,
        files: &files,
        ..Request::new("triage")
    };
    let housed = assemble(&registry, &request, &options(&config, &counters)).unwrap();
    let bare = assemble(
        &registry,
        &request,
        &Options {
            counting: Counting::Always,
            ..Options::default()
        },
    )
    .unwrap();
    assert_eq!(housed, bare);
    // If the task names a model of the project, the window of that model counts.
    let wishful = assemble(
        &registry,
        &Request::new("wishful"),
        &options(&config, &counters),
    )
    .unwrap();
    assert_eq!(
        (wishful.report.tokenizer.as_str(), wishful.report.budget),
        ("claude (estimate)", Some(400))
    );
}

#[test]
fn the_system_text_of_a_role_and_the_order_of_kinds() {
    let (registry, config) = built();
    let (counters, files) = (counters(), files());
    let writer = &config.roles["writer"];
    let request = Request {
        files: &files,
        ..Request::of_role(writer)
    };
    let assembly = assemble(&registry, &request, &options(&config, &counters)).unwrap();
    assert_eq!(assembly.messages[0].text.text(), "You write.");
    let Origin::File { path, line } = &assembly.messages[0].text.stretches()[0].origin else {
        panic!()
    };
    assert_eq!(
        (path.as_str(), PROJECT.lines().nth(*line as usize)),
        ("ctxc.toml", Some("You write."))
    );
    assert_eq!(
        assembly.report.budget,
        Some(400),
        "the window of its model less what the answer needs"
    );

    // The same task by a role with and without an order: only the places differ.
    let inputs = values(&[("ticket", json!("it leaks"))]);
    let task = Request {
        inputs: &inputs,
        files: &files,
        ..Request::new("triage")
    };
    let ids = |assembly: &Assembly| {
        let mut accounts: Vec<_> = assembly.report.segments.iter().collect();
        accounts.sort_by_key(|account| account.position);
        accounts
            .into_iter()
            .map(|account| account.segment.id.clone())
            .collect::<Vec<_>>()
    };
    let usual = assemble(&registry, &task, &Options::default()).unwrap();
    assert_eq!(
        ids(&usual),
        [
            "system",
            "constraints",
            "file:a.md",
            "description",
            "input:text"
        ]
    );
    let ordered = crate::project::reading::read(
        "[roles.a]\ntemplate = \"triage\"\norder = [\"input\", \"file\"]\n",
    );
    let moved = assemble(
        &registry,
        &Request {
            role: ordered.roles.get("a"),
            ..task
        },
        &Options::default(),
    )
    .unwrap();
    assert_eq!(
        ids(&moved),
        [
            "system",
            "file:a.md",
            "constraints",
            "input:text",
            "description"
        ]
    );
    // Except for the mark, which depends on the role as well.
    let texts = |assembly: &Assembly| {
        let text = |account: &SegmentReport| {
            account
                .segment
                .text
                .text()
                .replace(&assembly.report.nonce, "N")
        };
        assembly
            .report
            .segments
            .iter()
            .map(text)
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(&moved), texts(&usual));
}

#[test]
fn every_agent_of_a_role_is_informed_who_it_is() {
    let (registry, config) = built();
    let counters = counters();
    let how = ManifestOptions {
        options: options(&config, &counters),
        files: &(),
    };
    let manifest = task_manifest(
        &registry,
        &Request::of_role(&config.roles["polisher"]),
        None,
        &how,
    )
    .unwrap();
    let first_segments: Vec<(&str, &str)> = manifest
        .entries
        .iter()
        .map(|entry| (entry.node.as_str(), entry.segments[0].id.as_str()))
        .collect();
    assert_eq!(
        first_segments,
        [("/director", "system"), ("/evaluator", "system")]
    );
}

#[test]
fn the_manifest_has_every_role_and_every_task_that_none_of_them_plays() {
    let (registry, config) = built();
    let (counters, files) = (counters(), files());
    let how = ManifestOptions {
        options: options(&config, &counters),
        files: &files,
    };
    let manifest = project_manifest(&registry, &how, None).unwrap();
    let titles: Vec<String> = manifest.entries.iter().map(Entry::title).collect();
    assert_eq!(
        titles,
        [
            "clerk: triage",
            "polisher: loop/director",
            "polisher: loop/evaluator",
            "writer: plain",
            "wishful"
        ]
    );
    let clerk = &manifest.entries[0];
    let routing = clerk.routing.as_ref().unwrap();
    assert_eq!(
        (
            clerk.role.as_deref(),
            clerk.model.as_deref(),
            &*clerk.profile
        ),
        (Some("clerk"), Some("small"), "xml")
    );
    assert_eq!(
        (
            routing.id.as_str(),
            routing.provider.as_str(),
            routing.tier.as_str()
        ),
        ("small-7b", "ollama", "economy")
    );
    assert_eq!(
        (routing.reason.as_str(), routing.fallback.as_slice()),
        (
            "the cheapest of 2 that are at least economy",
            &["large".to_owned()][..]
        )
    );
    let tools = clerk.tool_policy.as_ref().unwrap();
    assert_eq!(
        (tools.allowed.as_slice(), tools.blocked.as_slice()),
        (&["read_*".to_owned()][..], &["read_mail".to_owned()][..])
    );
    assert_eq!(clerk.protected_paths, ["billing/**"]);
    assert_eq!(
        (clerk.budget.tokens, clerk.budget.usd),
        (Some(600), Some(0.5))
    );
    let sources: Vec<Option<&str>> = clerk.segments[0]
        .source
        .iter()
        .map(|source| source.path.as_deref())
        .collect();
    assert_eq!(sources, [Some("prompts/clerk.md"), Some("lib.xml")]);
    assert_eq!(
        manifest.entries[4].routing.as_ref().unwrap().reason,
        "the task names it"
    );

    // The cost of the request at the prices of the model: whole, with the prefix from the cache,
    // upper bound.
    let cost = clerk.cost.as_ref().unwrap();
    let small = |tokens: usize| f64::from(u32::try_from(tokens).unwrap());
    let (total, prefix) = (small(clerk.total.fixed), small(clerk.prefix_tokens));
    assert!(prefix > 0.0 && prefix < total);
    assert_eq!(format!("{:.9}", cost.first), format!("{:.9}", total / 1e6));
    assert_eq!(
        format!("{:.9}", cost.again),
        format!("{:.9}", (total - prefix) / 1e6 + prefix / 1e7)
    );
    assert_eq!(format!("{:.9}", cost.most.unwrap()), "0.000600000");
    // Without a price for cached tokens a repetition costs as much as the first call.
    let writer = manifest.entries[3].cost.as_ref().unwrap();
    assert_eq!((writer.first - writer.again).to_string(), "0");

    // A single role gives the same figures.
    assert_eq!(
        only(
            task_manifest(
                &registry,
                &Request::of_role(&config.roles["clerk"]),
                None,
                &how
            )
            .unwrap()
            .entries
        ),
        *clerk
    );
}

#[test]
fn manifest_and_run_of_a_role_agree_token_for_token() {
    let (registry, config) = built();
    let (counters, files) = (counters(), files());
    let inputs = values(&[("ticket", json!("it leaks"))]);
    for profile in [None, Some(Profile::Sections), Some(Profile::Markdown)] {
        let models = Some(ModelSettings {
            models: &config.models,
            roles: &config.roles,
            counters: &counters,
            profile,
            objective_tokens: None,
            task_model: None,
        });
        let options = Options {
            models,
            ..options(&config, &counters)
        };
        for (role, objective) in [
            ("clerk", None),
            ("clerk", Some("by noon")),
            ("writer", None),
            ("writer", Some("a poem")),
        ] {
            let inputs = if role == "clerk" {
                inputs.clone()
            } else {
                BTreeMap::new()
            };
            let goals = CallerGoals {
                objective,
                ..CallerGoals::default()
            };
            let request = Request {
                goals,
                inputs: &inputs,
                files: &files,
                ..Request::of_role(&config.roles[role])
            };
            let run = assemble(&registry, &request, &options).unwrap();
            let how = ManifestOptions {
                options,
                files: &files,
            };
            let entry = only(
                ctxc::internals::context::manifest::task_manifest(&registry, &request, None, &how)
                    .unwrap()
                    .entries,
            );
            assert_eq!(Some(entry.total.fixed), run.report.tokens, "{role}");
            // An open lookup takes no tokens from certain segments. The cache ends in front of its
            // position.
            let (open, certain): (Vec<_>, Vec<_>) = entry
                .segments
                .iter()
                .partition(|part| !part.variable.is_empty());
            let open: Vec<_> = open
                .iter()
                .map(|part| (part.id.as_str(), part.tokens))
                .collect();
            assert_eq!(
                open,
                if objective.is_some() {
                    vec![]
                } else {
                    vec![("objective", 0)]
                },
                "{role}"
            );
            if objective.is_some() || role == "clerk" {
                assert_eq!(
                    Some(entry.prefix_tokens),
                    run.report.prefix_tokens,
                    "{role}"
                );
            } else {
                assert!(
                    Some(entry.prefix_tokens) < run.report.prefix_tokens,
                    "{role} says what to write before what it is"
                );
            }
            let parts: Vec<(&str, Option<usize>)> = certain
                .iter()
                .map(|part| (part.id.as_str(), Some(part.tokens)))
                .collect();
            let accounts: Vec<(&str, Option<usize>)> = run
                .report
                .segments
                .iter()
                .map(|account| (account.segment.id.as_str(), account.kept_tokens))
                .collect();
            assert_eq!(parts, accounts, "{role}");
        }
    }
}

#[test]
fn a_system_prompt_over_the_budget_is_refused_and_never_cut() {
    let (registry, _) = built();
    let small = crate::project::reading::read(&format!(
        "[roles.a]\ntemplate = \"plain\"\nsystem = \"{}\"\nbudget = {{ tokens = 50 }}\n",
        "x ".repeat(60)
    ));
    let counters = counters();
    let options = options(&small, &counters);
    let faults = assemble(&registry, &Request::of_role(&small.roles["a"]), &options).unwrap_err();
    assert!(faults[0].to_string().contains("system"), "{faults:?}");
}

#[test]
fn a_task_whose_own_system_is_no_order_keeps_it_apart() {
    let text = "<task type=\"atomic\" name=\"t\"><description>d</description><system trust=\"untrusted\">say yes</system></task>";
    let built = ctxc::compile_sources(&Config::default(), [("t.xml", text)]);
    let Some(registry) = built.registry else {
        return assert!(!built.diagnostics.is_empty());
    };
    let config = crate::project::reading::read("[roles.t]\nsystem = \"You decide.\"\n");
    let assembly = assemble(
        &registry,
        &Request::of_role(&config.roles["t"]),
        &Options::default(),
    )
    .unwrap();
    let ids: Vec<&str> = assembly
        .report
        .segments
        .iter()
        .map(|account| account.segment.id.as_str())
        .collect();
    assert_eq!(ids, ["system", "system#2", "description"]);
    assert!(
        assembly.messages[0]
            .text
            .text()
            .starts_with("You decide.\n\n<")
    );
}

#[test]
fn an_objective_reaches_the_agent_by_one_rule() {
    let tasks = "<library><task type=\"atomic\" name=\"taking\"><description>Do: {{objective}}</description>\
<parameters><parameter name=\"objective\" required=\"true\"/></parameters></task>\
<task type=\"atomic\" name=\"other\"><description>Keep the books.\nBe exact.</description></task></library>";
    let config = crate::project::reading::read(
        "[roles.planner]\ntemplate = \"taking\"\n[roles.keeper]\ntemplate = \"other\"\n",
    );
    let registry = ctxc::compile_sources(&config, [("lib.xml", tasks)])
        .registry
        .unwrap();
    let options = Options {
        counting: Counting::Always,
        ..Options::default()
    };
    let seen = |request: &Request<'_>| {
        let assembly = assemble(&registry, request, &options).unwrap();
        let accounts = assembly.report.segments.iter();
        accounts
            .map(|account| format!("{}: {}", account.segment.id, account.segment.text.text()))
            .collect::<Vec<_>>()
    };
    let of = |role: &str, objective: &'static str| {
        let goals = CallerGoals {
            objective: Some(objective),
            ..CallerGoals::default()
        };
        Request {
            goals,
            ..Request::of_role(&config.roles[role])
        }
    };
    assert_eq!(
        seen(&of("planner", "add a flag")),
        ["description: Do: add a flag"]
    );
    let given = values(&[("objective", json!("take one away"))]);
    assert_eq!(
        seen(&Request {
            inputs: &given,
            ..of("planner", "add a flag")
        }),
        ["description: Do: take one away"]
    );
    let description = "description: Keep the books.\nBe exact.";
    assert_eq!(
        seen(&of("keeper", "close the year")),
        [description, "objective: close the year"]
    );
    // Nothing is repeated: neither the whole description nor a line of it.
    assert_eq!(seen(&of("keeper", "Keep the books.")), [description]);
    assert_eq!(
        seen(&of("keeper", " Keep the books.\nBe exact.\n")),
        [description]
    );
    assert_eq!(
        seen(&of("keeper", "Keep")),
        [description, "objective: Keep"]
    );
    assert_eq!(seen(&of("keeper", "")), [description]);

    // Before a run the manifest shows its position, and with a result it equals the run.
    let dry = |request: &Request<'_>| {
        let how = ManifestOptions {
            options,
            files: &(),
        };
        let entry = only(
            ctxc::internals::context::manifest::task_manifest(&registry, request, None, &how)
                .unwrap()
                .entries,
        );
        let parts = entry.segments.into_iter();
        parts
            .map(|part| (part.id, part.condition, part.variable, part.tokens))
            .collect::<Vec<_>>()
    };
    let keeper = dry(&Request::of_role(&config.roles["keeper"]));
    let open = (
        "objective".to_owned(),
        Some("the caller names one".to_owned()),
        vec!["objective".to_owned()],
        0,
    );
    assert_eq!(keeper[1], open);
    let asked = dry(&of("keeper", "close the year"));
    assert!(
        asked[1].1.is_none() && asked[1].2.is_empty() && asked[1].3 > 0,
        "{asked:?}"
    );
    assert_eq!(
        dry(&Request::of_role(&config.roles["planner"]))[0].2,
        ["objective"]
    );
    assert!(dry(&of("planner", "add a flag"))[0].2.is_empty());
    assert_eq!(
        dry(&Request::new("other")).len(),
        1,
        "a task alone says itself what is to be done"
    );
}
