//! `[roles]`, `[models]` and `[providers]`: the values read, every fault at its place, and the
//! chooser.

use super::reading::{found, read, read_with, shown};
use ctxc::internals::project::config::Config;
use ctxc::internals::project::models::ProviderKind;
use ctxc::internals::project::roles::{ModelChoice, Tier};
use ctxc::internals::project::routing::{self, RoutedModel};
use insta::assert_snapshot;
use pretty_assertions::assert_eq;

const FULL: &str = r#"
[roles.planner]
template = "plan"
description = "cuts work into parts"
system = { file = "prompts/planner.md" }
tools = ["read_file", "git_*"]
blocked_tools = ["git_push"]
protected_paths = [".ci/**", "*.lock"]
budget = { tokens = 24_000, usd = 0.25 }
tier = "standard"
capabilities = ["json"]
profile = "xml"
order = ["file", "input"]

[roles.clerk]
system = "You sort."
model = ["small", "middle"]

[models.small]
provider = "cellar"
tier = "economy"
capabilities = ["json", "json_schema"]
context_window = 32_768
output_reserve = 4_096
tokenizer = "o200k"
usd_per_million = { input = 0.1, cached_input = 0.025, output = 0.4 }

[models.middle]
provider = "anthropic"
id = "middle-2026-01"
tier = "standard_plus"
capabilities = ["json", "tools"]
context_window = 200000
usd_per_million = { input = 3, output = 15 }

[models.large]
provider = "main"
tier = "premium"
capabilities = ["json", "tools"]
context_window = 400000
usd_per_million = { input = 2, output = 10 }

[models.house]
provider = "cellar"
tier = "standard"
capabilities = ["json"]
context_window = 131072

[providers.main]
kind = "openai"
api_key_env = "OPENAI_API_KEY"

[providers.cellar]
kind = "ollama"
base_url = "http://localhost:11434"
"#;

fn full() -> Config {
    let config = read_with(
        FULL,
        &[(
            "prompts/planner.md",
            "\u{feff}\nYou plan.\n\nNothing else.\n",
        )],
    );
    assert_eq!(shown(&config), "");
    config
}

#[test]
fn every_key_of_a_role_is_read() {
    let config = full();
    let planner = &config.roles["planner"];
    assert_eq!(planner.name.span.slice(FULL), "planner");
    assert_eq!(
        (planner.task.value.as_str(), planner.task.span.slice(FULL)),
        ("plan", "\"plan\"")
    );
    assert_eq!(planner.description.as_deref(), Some("cuts work into parts"));
    let system = planner.system.as_ref().expect("it has one");
    assert_eq!(
        (system.path.as_str(), system.line, system.text.as_str()),
        ("prompts/planner.md", 1, "You plan.\n\nNothing else.")
    );
    let tools = planner.tools.as_ref().expect("it has tools");
    let may = |tool| tools.permits(tool);
    assert_eq!(
        [
            may("read_file"),
            may("git_log"),
            may("git_push"),
            may("write_file")
        ],
        [true, true, false, false]
    );
    let guarded = |path| planner.protected.matches(path);
    assert_eq!(
        [
            guarded(".ci/run"),
            guarded("Cargo.lock"),
            guarded("src/main.rs")
        ],
        [true, true, false]
    );
    assert_eq!(
        (
            planner.budget.tokens.map(|t| t.value),
            planner.budget.usd.map(|usd| usd.value)
        ),
        (Some(24_000), Some(0.25))
    );
    let ModelChoice::Cheapest { tier, capabilities } = &planner.model else {
        panic!("{:?}", planner.model)
    };
    assert_eq!(
        (tier.map(|tier| tier.value), capabilities[0].value.as_str()),
        (Some(Tier::Standard), "json")
    );
    assert_eq!(
        planner.profile.map(|profile| profile.value),
        Some(ctxc::Profile::Xml)
    );
    assert_eq!(
        planner
            .order
            .iter()
            .map(|kind| kind.value)
            .collect::<Vec<_>>(),
        ["file", "input"]
    );
}

#[test]
fn a_role_without_keys_plays_the_task_of_its_name() {
    let config = full();
    let clerk = &config.roles["clerk"];
    assert_eq!(
        (clerk.task.value.as_str(), clerk.task.span),
        ("clerk", clerk.name.span)
    );
    let system = clerk.system.as_ref().expect("it has one");
    assert_eq!(
        (
            system.file.as_deref(),
            system.path.as_str(),
            system.text.as_str()
        ),
        (None, "ctxc.toml", "You sort.")
    );
    assert_eq!(
        FULL.lines().nth(system.line as usize),
        Some("system = \"You sort.\"")
    );
    let long = "[roles.a]\nsystem = \"\"\"\n\nYou plan.\nYou wait.\n\"\"\"\n";
    let config = read(long);
    let system = config.roles["a"].system.as_ref().expect("it has one");
    assert_eq!(
        (long.lines().nth(system.line as usize), system.text.as_str()),
        (Some("You plan."), "You plan.\nYou wait.")
    );
    assert!(
        clerk.tools.is_none()
            && clerk.protected_paths.is_empty()
            && clerk.profile.is_none()
            && clerk.order.is_empty()
    );
}

#[test]
fn models_and_providers_are_read() {
    let config = full();
    let small = &config.models["small"];
    assert_eq!(
        (
            small.id.as_str(),
            small.tier,
            small.window,
            small.reserve,
            small.context_room()
        ),
        ("small", Tier::Economy, 32_768, 4_096, 28_672)
    );
    assert_eq!(config.models["middle"].id, "middle-2026-01");
    let prices = small.prices.expect("it has prices");
    assert_eq!(prices.input_cost(10_000, 4_000).to_string(), "0.0007");
    // The cached tokens never exceed the sent ones; a figure has nine places.
    assert_eq!(prices.input_cost(100, 4_000).to_string(), "0.0000025");
    assert_eq!(prices.input_cost(1, 0).to_string(), "0.0000001");
    // Without a cache, repeated tokens cost as much as new ones.
    assert_eq!(
        config.models["middle"]
            .prices
            .map(|prices| prices.input_cost(1_000_000, 500_000)),
        Some(3.0)
    );
    let tokenizers: Vec<(&str, &str)> = config
        .models
        .iter()
        .map(|(name, model)| (name.as_str(), model.tokenizer))
        .collect();
    assert_eq!(
        tokenizers,
        [
            ("house", "llama"),
            ("large", "o200k"),
            ("middle", "claude"),
            ("small", "o200k")
        ]
    );
    assert!(found("[models.a]\ntokenizer = \"o200k_base\"\n").contains("did you mean `o200k`?"));
    let main = &config.providers["main"];
    assert_eq!(
        (
            main.kind,
            main.api_key_env.as_deref(),
            main.base_url.as_deref()
        ),
        (ProviderKind::Openai, Some("OPENAI_API_KEY"), None)
    );
    assert_eq!(
        config.providers["cellar"].base_url.as_deref(),
        Some("http://localhost:11434")
    );
}

fn describe_choice(choice: Option<RoutedModel<'_>>) -> String {
    let Some(choice) = choice else {
        return "none".to_owned();
    };
    let names: Vec<&str> = choice
        .fallback
        .iter()
        .map(|model| model.name.value.as_str())
        .collect();
    format!(
        "{}: {}; then {}",
        choice.model.name.value,
        choice.reason,
        names.join(", ")
    )
}

#[test]
fn the_cheapest_that_qualifies_is_taken_and_the_others_stand_behind_it() {
    let config = full();
    let role = |name: &str| Some(&config.roles[name]);
    // `large` has the higher tier and the lower price; a model without a price comes last.
    assert_eq!(
        describe_choice(routing::choose_model(&config.models, role("planner"), &[])),
        "large: the cheapest of 3 that are at least standard with json; then middle, house"
    );
    assert_eq!(
        describe_choice(routing::choose_model(&config.models, role("clerk"), &[])),
        "small: the role names it; then middle"
    );
    // A wish of the task counts where the model qualifies, and never against the model that a role
    // names.
    assert_eq!(
        describe_choice(routing::choose_model(
            &config.models,
            role("planner"),
            &["house"]
        )),
        "house: the task names it, and it is at least standard with json; then large, middle"
    );
    assert!(
        describe_choice(routing::choose_model(
            &config.models,
            role("planner"),
            &["small"]
        ))
        .starts_with("large: the cheapest of 3")
    );
    assert_eq!(
        describe_choice(routing::choose_model(
            &config.models,
            role("clerk"),
            &["large"]
        )),
        "small: the role names it; then middle"
    );
    // Without a role the task alone decides, by the names of this project.
    assert_eq!(
        describe_choice(routing::choose_model(
            &config.models,
            None,
            &["large", "unheard-of", "small"]
        )),
        "large: the task names it; then small"
    );
    assert_eq!(
        describe_choice(routing::choose_model(&config.models, None, &["unheard-of"])),
        "none"
    );
    assert_eq!(
        describe_choice(routing::choose_model(&config.models, None, &[])),
        "none"
    );
}

#[test]
fn one_that_qualifies_alone_and_one_without_a_price_are_distinguished() {
    let one = "[roles.a]\ncapabilities = [\"tools\"]\n[roles.b]\ntier = \"economy\"\n[models.x]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 9\n\
               [models.w]\nprovider = \"openai\"\ntier = \"standard\"\ncapabilities = \"tools\"\ncontext_window = 9\n";
    let config = read(one);
    assert_eq!(shown(&config), "");
    assert_eq!(
        describe_choice(routing::choose_model(
            &config.models,
            config.roles.get("a"),
            &[]
        )),
        "w: the only one that is with tools; then "
    );
    assert_eq!(
        describe_choice(routing::choose_model(
            &config.models,
            config.roles.get("b"),
            &[]
        )),
        "x: the lowest of 2 that are at least economy; no price says more; then w"
    );
}

#[test]
fn the_budget_is_the_smaller_of_role_and_window() {
    let config = full();
    let budget = |role: Option<&str>, model: Option<&str>| {
        routing::context_budget(
            role.map(|role| &config.roles[role]),
            model.map(|model| &config.models[model]),
        )
    };
    assert_eq!(budget(Some("planner"), Some("large")), Some(24_000));
    assert_eq!(budget(Some("clerk"), Some("small")), Some(28_672));
    assert_eq!(budget(Some("planner"), None), Some(24_000));
    assert_eq!(budget(None, Some("house")), Some(131_072));
    assert_eq!(budget(Some("clerk"), None), None);
}

#[test]
fn the_words_of_this_floor_are_those_of_the_renderers() {
    use ctxc::internals::kernel::context::Kind;
    let kinds: Vec<&str> = Kind::ALL
        .into_iter()
        .filter(|kind| !matches!(kind, Kind::Tools | Kind::System))
        .map(Kind::as_str)
        .collect();
    assert_eq!(
        ctxc::internals::project::roles::ORDERABLE_KINDS.to_vec(),
        kinds
    );
    assert_eq!(
        ctxc::internals::project::models::TOKENIZERS.to_vec(),
        ctxc::internals::context::tokens::counter_names().collect::<Vec<_>>()
    );
}

const BAD: &str = r#"
[roles.a]
task = "plan"
system = { path = "x.md" }
tools = [1, " "]
protected_paths = ["../x", ".ci", ".ci"]
budget = { token = 5, tokens = 0, usd = "much" }
tier = "cheap"
profile = "markdwn"
order = ["system", "inputs", "file", "file"]
[roles.b]
budget = 5
model = "none"
capabilities = ["x"]
[roles.c]
system = {}
[roles."\n"]
[roles]
d = 1
"#;

#[test]
fn faults_of_roles_are_found_in_one_run_each_at_its_place() {
    assert_snapshot!(found(BAD), @r#"
    error CTX503 ctxc.toml:3:1 `task`: `[roles.a]` has no key `task`
      = nothing reads it, so it has no effect; the keys are `template`, `extends`, `description`, `system`, `tools`, `blocked_tools`, `protected_paths`, `budget`, `model`, `tier`, `capabilities`, `profile`, `order`, `temperature`, `top_p`, `seed`, `effort`, `stop`, `tool_choice`, `max_output_tokens`
      ? did you mean `template`?
      > write `template` (`task` -> `template`)
    error CTX503 ctxc.toml:4:12 `path`: `[roles.a.system]` has no key `path`
      = nothing reads it, so it has no effect; its only key is `file`
    error CTX504 ctxc.toml:5:10 `1`: `roles.a.tools` is a number; expected a text in quotes
    error CTX504 ctxc.toml:5:13 `\" \"`: `roles.a.tools` is ` `; expected a text with at least one character
    error CTX504 ctxc.toml:6:20 `\"../x\"`: the pattern `../x` cannot be read: a pattern is relative to the project and stays inside it
      ? `*` stands for a name, `**` for any folders: `templates/**/*.xml`
    warning CTX531 ctxc.toml:6:35 `\".ci\"`: `roles.a.protected_paths` has `.ci` twice
      at ctxc.toml:6: the first time
      ? remove it, or write the one that was meant
    error CTX503 ctxc.toml:7:12 `token`: `[roles.a.budget]` has no key `token`
      = nothing reads it, so it has no effect; the keys are `tokens`, `usd`
      ? did you mean `tokens`?
      > write `tokens` (`token` -> `tokens`)
    error CTX504 ctxc.toml:7:32 `0`: `roles.a.budget.tokens` is `0`; expected a number from 1 to 1000000000
    error CTX504 ctxc.toml:7:41 `\"much\"`: `roles.a.budget.usd` is a text; expected a number
    error CTX504 ctxc.toml:8:8 `\"cheap\"`: `roles.a.tier` is `cheap`; expected `economy`, `standard`, `standard_plus` or `premium`
    error CTX504 ctxc.toml:9:11 `\"markdwn\"`: `roles.a.profile` is `markdwn`; expected `markdown`, `xml`, `plain`, `sections` or `bare`
      ? did you mean `markdown`?
      > write `markdown` (`\"markdwn\"` -> `\"markdown\"`)
    error CTX504 ctxc.toml:10:10 `\"system\"`: `roles.a.order` is `system`; expected another kind: tools and the system text always come first
    error CTX504 ctxc.toml:10:20 `\"inputs\"`: `roles.a.order` is `inputs`; expected `description`, `instructions`, `criteria`, `output_format`, `constraints`, `input`, `previous_output`, `accumulated`, `file`, `inherited`, `fresh`, `examples`, `history` or `failure_history`
      ? did you mean `input`?
      > write `input` (`\"inputs\"` -> `\"input\"`)
    warning CTX531 ctxc.toml:10:38 `\"file\"`: `roles.a.order` has `file` twice
      at ctxc.toml:10: the first time
      ? remove it, or write the one that was meant
    error CTX504 ctxc.toml:12:10 `5`: `roles.b.budget` is a number; expected a table
      ? tokens of its context are written `{ tokens = 5 }`
      > write `{ tokens = 5 }` (`5` -> `{ tokens = 5 }`)
    error CTX523 ctxc.toml:13:9 `\"none\"`: the project has no model `none`
      ? define it under `[models.none]`
    error CTX530 ctxc.toml:14:1 `capabilities`: role `b` names its `model`, so its `capabilities` would have no effect
      = a role names its model, or says what a model has to be
      > remove `capabilities` (`capabilities = [\"x\"]\n` -> ``)
    error CTX532 ctxc.toml:16:10 `{}`: `roles.c.system` lacks the required key `file`
      ? add the file, relative to the project: `file = "prompts/role.md"`
    error CTX504 ctxc.toml:17:8 `\"\\n\"`: `roles` is `\n`; expected a name of at least one character, on one line
    error CTX504 ctxc.toml:19:5 `1`: `roles.d` is a number; expected a table
    "#);
}

#[test]
fn faults_of_models_and_providers_are_found_in_one_run_each_at_its_place() {
    assert_snapshot!(found(r#"
[models.a]
provider = "opnai"
tier = true
context_windw = 5
[models.b]
provider = "nobody-knows"
tier = "premium"
context_window = 100
output_reserve = 100
usd_per_million = { input = -1, output = "2", cached = 1 }
[models.c]
provider = "openai"
tier = "economy"
context_window = 1.5
usd_per_million = { input = nan }
[providers.d]
kind = "openia"
base_url = "localhost:80"
[providers.e]
[providers.f]
kind = "openai"
base_url = "https://models.example/v1#chat"
[providers.g]
kind = "openai"
base_url = "https://:8000/v1"
"#), @r#"
    error CTX524 ctxc.toml:3:12 `\"opnai\"`: the project has no provider `opnai`, and it is not a known kind of provider
      = expected one of `d`, `e`, `f`, `g`, `openai`, `openai-responses`, `anthropic`, `gemini`, `ollama`
      ? did you mean `openai`?
      > write `openai` (`\"opnai\"` -> `\"openai\"`)
    error CTX504 ctxc.toml:4:8 `true`: `models.a.tier` is `true`; expected `economy`, `standard`, `standard_plus` or `premium`
      ? did you mean `standard`?
      > write `standard` (`true` -> `\"standard\"`)
    error CTX503 ctxc.toml:5:1 `context_windw`: `[models.a]` has no key `context_windw`
      = nothing reads it, so it has no effect; the keys are `provider`, `id`, `tier`, `capabilities`, `context_window`, `output_reserve`, `tokenizer`, `usd_per_million`, `temperature`, `top_p`, `seed`, `effort`, `stop`, `tool_choice`, `max_output_tokens`
      ? did you mean `context_window`?
      > write `context_window` (`context_windw` -> `context_window`)
    error CTX524 ctxc.toml:7:12 `\"nobody-knows\"`: the project has no provider `nobody-knows`, and it is not a known kind of provider
      = expected one of `d`, `e`, `f`, `g`, `openai`, `openai-responses`, `anthropic`, `gemini`, `ollama`
      ? define it under `[providers.nobody-knows]` with its `kind`
    error CTX504 ctxc.toml:10:18 `100`: `models.b.output_reserve` is `100`; expected less than its `context_window`, 100
    error CTX504 ctxc.toml:11:29 `-1`: `models.b.usd_per_million.input` is `-1`; expected a number from 0 to 1000000
    error CTX504 ctxc.toml:11:42 `\"2\"`: `models.b.usd_per_million.output` is a text; expected a number
      > take the quotes off (`\"2\"` -> `2`)
    error CTX503 ctxc.toml:11:47 `cached`: `[models.b.usd_per_million]` has no key `cached`
      = nothing reads it, so it has no effect; the keys are `input`, `cached_input`, `output`
    error CTX504 ctxc.toml:15:18 `1.5`: `models.c.context_window` is a number; expected a whole number
    error CTX532 ctxc.toml:16:19 `{ input = nan }`: `models.c.usd_per_million` lacks the required key `output`
      ? add the price of a million output tokens in US$: `output = 0.60`
    error CTX504 ctxc.toml:16:29 `nan`: `models.c.usd_per_million.input` is `nan`; expected a number from 0 to 1000000
    error CTX504 ctxc.toml:18:8 `\"openia\"`: `providers.d.kind` is `openia`; expected `openai`, `openai-responses`, `anthropic`, `gemini` or `ollama`
      ? did you mean `openai`?
      > write `openai` (`\"openia\"` -> `\"openai\"`)
    error CTX504 ctxc.toml:19:12 `\"localhost:80\"`: `providers.d.base_url` is `localhost:80`; expected an address that begins with `https://` or `http://`
    error CTX532 ctxc.toml:20:12 `e`: `providers.e` lacks the required key `kind`
      ? add the protocol: `kind = "openai"` (openai, anthropic, gemini, ollama)
    error CTX504 ctxc.toml:23:12 `\"https://models.example/v1#chat\"`: `providers.f.base_url` is `https://models.example/v1#chat`; expected an address without `#`: what stands behind it is never sent
    error CTX504 ctxc.toml:26:12 `\"https://:8000/v1\"`: `providers.g.base_url` is `https://:8000/v1`; expected an address that begins with `https://` or `http://`
    "#);
}

#[test]
fn a_key_is_never_shown() {
    let secret = "sk-not-a-real-key-0123456789";
    for text in [
        format!("[providers.main]\nkind = \"openai\"\napi_key_env = \"{secret}\"\n"),
        format!("[providers.main]\nkind = \"openai\"\napi_key = \"{secret}\"\n"),
        format!("[providers.main]\nkind = \"openai\"\nToken = \"{secret}\"\n"),
        format!(
            "[providers.main]\nkind = \"openai\"\nbase_url = \"https://me:{secret}@models.example/v1\"\n"
        ),
        format!(
            "[providers.main]\nkind = \"openai\"\nbase_url = \"https://models.example/v1?key={secret}\"\n"
        ),
        format!(
            "# the line that is shown\nproviders.main = {{ kind = \"openai\", secret = \"{secret}\" }}\n"
        ),
    ] {
        let config = read(&text);
        let found = ctxc::internals::rules::check::config_findings(&config);
        let [finding] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!(finding.rule.name, "key-in-project-file", "{text}");
        assert!(!shown(&config).contains(secret), "{text}");
        let line = text
            .lines()
            .nth(finding.start.line as usize - 1)
            .unwrap_or_default();
        assert!(!line.contains(secret), "an excerpt would show it: {text}");
    }
}

#[test]
fn what_a_broken_model_would_be_is_not_guessed_at() {
    // Neither unknown nor missing: it exists, and its own fault is reported.
    let broken = "[models.big]\nprovider = \"openai\"\ntier = \"premium\"\n";
    for role in ["model = \"big\"", "tier = \"premium\""] {
        let found = found(&format!("[roles.a]\n{role}\n{broken}"));
        assert!(
            found.contains("CTX532")
                && found.lines().filter(|line| line.contains("CTX")).count() == 1,
            "{found}"
        );
    }
}

#[test]
fn prompts_of_roles_stay_inside_the_project_and_are_texts() {
    let text = |path: &str| format!("[roles.a]\nsystem = {{ file = \"{path}\" }}\n");
    let first_finding = |path: &str, files: &[(&str, &str)]| {
        let config = read_with(&text(path), files);
        assert!(config.roles["a"].system.is_none(), "{path}");
        shown(&config).lines().next().unwrap_or_default().to_owned()
    };
    assert!(
        first_finding("../a.md", &[("../a.md", "x")])
            .contains("it lies outside the project's folder")
    );
    assert!(first_finding("/etc/hostname", &[]).contains("it lies outside the project's folder"));
    assert!(first_finding("", &[]).contains("``: it "));
    assert!(first_finding("a.md", &[]).contains("`a.md`: it does not exist"));
    assert!(first_finding("a.md", &[("a.md", " \n")]).contains("it is empty"));
    let large = "x".repeat(1 << 21);
    assert!(first_finding("a.md", &[("a.md", &large)]).contains("it is larger than 1 MiB"));
}

#[test]
fn values_in_system_prompts_are_reported_where_they_stand() {
    assert_snapshot!(found(r#"
[roles.a]
system = """
You are {{ who }}, and \u007b{hidden}}.
Write JSON: {"a": {"b": {}}} and {{}}. \\{{escaped}}, {{ who }}
"""
[roles.b]
system = "{{a.b | upper}}"
"#), @r#"
    warning CTX533 ctxc.toml:3:10 `\"\"\"\nYou are {{ who }}, and \\u007b{hidden}}.\nWrite JSON: {\"a\": {\"b\": {}}} and {{}}. \\\\{{escaped}}, {{ who }}\n\"\"\"`: role `a` would read `{{hidden}}` literally: no values are filled into its system prompt
      ? move the sentence to the task that it plays, into `<system>` or `<instructions>`, where values are put in
    warning CTX533 ctxc.toml:4:9 `{{ who }}`: role `a` would read `{{ who }}` literally: no values are filled into its system prompt
      ? move the sentence to the task that it plays, into `<system>` or `<instructions>`, where values are put in
    warning CTX533 ctxc.toml:8:11 `{{a.b | upper}}`: role `b` would read `{{a.b | upper}}` literally: no values are filled into its system prompt
      ? move the sentence to the task that it plays, into `<system>` or `<instructions>`, where values are put in
    "#);
    let config = read_with(
        "[roles.a]\nsystem = { file = \"a.md\" }\n",
        &[("a.md", "\n\nYou are\n{{who}}.\n")],
    );
    assert_snapshot!(shown(&config), @r#"
    warning CTX533 ctxc.toml:2:19 `\"a.md\"`: role `a` would read `{{who}}` literally, a.md:4: no values are filled into its system prompt
      ? move the sentence to the task that it plays, into `<system>` or `<instructions>`, where values are put in
    "#);
    assert_eq!(
        config.roles["a"].system.as_ref().unwrap().text,
        "You are\n{{who}}."
    );
}

#[test]
fn a_model_has_an_id_and_room_beside_its_answer() {
    let model = "[models.m]\nprovider = \"openai\"\ntier = \"standard\"\ncontext_window = 1000\n";
    let role = "[roles.r]\ntier = \"standard\"\n";
    let of = |text: String| shown(&read(&text));
    let blank = of(format!("{model}id = \" \"\n{role}"));
    assert!(
        blank.contains("`models.m.id` is ` `; expected the name that its provider knows"),
        "{blank}"
    );
    let message = "`roles.r.max_output_tokens` is `1000`; expected less than the `context_window` of its model `m`, 1000";
    let over = of(format!("{model}{role}max_output_tokens = 1000\n"));
    assert!(
        over.starts_with("error CTX504 ctxc.toml:5:8") && over.contains(message),
        "{over}"
    );
    assert_eq!(of(format!("{model}{role}max_output_tokens = 999\n")), "");
    let own = of(format!("{model}max_output_tokens = 1000\n{role}"));
    assert!(
        own.contains("`models.m.max_output_tokens` is `1000`"),
        "{own}"
    );
}
