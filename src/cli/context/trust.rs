//! `ctxc trust`: prints the permissions that the files of a project require, and stores the user's
//! answer. `require_permission` precedes everything that runs a command, reads a key or calls a
//! model on behalf of a file of the project.

use super::project::CompiledProject;
use crate::base::hash::Hash;
use crate::cli::prelude::*;
use crate::project::config::{Config, RecordedContent};
use crate::provider::endpoint::ProviderAddress;
use crate::registry::{ReadError, scenarios};
use crate::rules::input::read_fault::describe_io_error;
use crate::schema::json::names;
use crate::store::trust::{self, Permissions};
use std::collections::BTreeSet;
use std::io::{self, IsTerminal};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc trust --show\n  ctxc trust --yes\n  ctxc trust --revoke\n\n\
    A project from another author could run commands, or send your key to an address of its choice. So ctxc does neither \
    before you allow it. The permission is kept outside the project, for this folder and a hash of every command that files of the \
    project name and of every key of ctxc.toml that permits something; if one of them changes, you are asked again. `check`, \
    `build`, `render`, `manifest` and an `eval` with answers from files need no permission; scenarios with their own `command` \
    or `python` do.\n\n\
    In CI, use `--trust-hash HASH` on the command that needs it to allow one run; `ctxc trust --show` prints the hash."
)]
pub(crate) struct TrustArgs {
    /// Show the requested permissions and whether they are already granted, without asking
    #[arg(long, conflicts_with_all = ["yes", "revoke"])]
    show: bool,
    /// Allow it without asking, for use without a terminal
    #[arg(long, conflicts_with = "revoke")]
    yes: bool,
    /// Revoke the permission for this folder
    #[arg(long)]
    revoke: bool,
    #[command(flatten)]
    output: OutputArgs<DataFormat>,
}

/// The permission for those verbs that need one.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TrustHashArgs {
    /// Grant this run the permission of `ctxc trust` if the project has this hash, or one of
    /// several with commas between them: for CI
    #[arg(long, value_name = "HASH", value_parser = parse_hash, value_delimiter = ',')]
    trust_hash: Vec<Hash>,
}

fn parse_hash(text: &str) -> std::result::Result<Hash, String> {
    Hash::parse(text).ok_or_else(|| {
        "expected `b3:` and 64 hex digits, as `ctxc trust --show` prints them".to_owned()
    })
}

/// The permissions that the files of a project request: `ctxc trust --json`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct TrustReport<'p> {
    /// The version of the format.
    schema: &'static str,
    /// The hash that a permission holds for.
    hash: String,
    /// True if the user permitted it, in this folder.
    trusted: bool,
    /// The commands that files name, by path.
    commands: Vec<CommandRow<'p>>,
    /// The providers that `ctxc.toml` names, its models' own included, by name.
    providers: Vec<ProviderRow<'p>>,
    /// The addresses to which `ctxc record` would forward calls, by `[record] upstream` in
    /// `ctxc.toml`.
    upstream: &'p [String],
    /// True if recordings would keep personal data, by `[record] content = "full"`.
    keeps_personal_data: bool,
}

/// A command.
#[derive(JsonSchema, Serialize)]
pub(crate) struct CommandRow<'p> {
    /// The file that names it, relative to the project.
    path: &'p str,
    /// The command as it is written.
    command: &'p str,
    /// The package that names it; null if the project does.
    package: Option<&'p str>,
}

/// A provider that would be asked for answers.
#[derive(JsonSchema, Serialize)]
pub(crate) struct ProviderRow<'p> {
    /// The name in this project.
    name: &'p str,
    /// The protocol that it speaks.
    kind: &'static str,
    /// The address of the provider.
    base_url: &'p str,
    /// The environment variable whose value is sent there as the key; null if none is.
    api_key_env: Option<&'p str>,
}

/// Runs the verb.
pub(crate) fn run_trust(args: &TrustArgs, cx: &mut Cx) -> Result<Exit> {
    if args.revoke {
        let root = crate::cli::project::find_root(&cx.options)?;
        let was_there = trust::revoke(&root).map_err(|err| storage_error(&err))?;
        cx.print_note(if was_there {
            "the permission for this folder is revoked"
        } else {
            "nothing was permitted in this folder"
        });
        return Ok(Exit::Success);
    }
    let project = CompiledProject::load_or_empty(cx)?;
    let permissions = requested_permissions(&project)?;
    let is_given = permissions.is_granted(&project.root);
    if args.yes && !is_given {
        permissions
            .grant(&project.root)
            .map_err(|err| storage_error(&err))?;
    }
    let is_given = is_given || args.yes;
    cx.emit_result(&args.output, |format, cx| match format {
        DataFormat::Json => cx.print_json(&trust_report(&permissions, &project.config, is_given)),
        DataFormat::Text => print_report(
            &permissions,
            &project.config,
            is_given,
            trust::has_permission(&project.root),
            cx,
        ),
    })?;
    if args.show || is_given || args.output.format.result_format() == DataFormat::Json {
        return Ok(Exit::Success);
    }
    if !io::stdin().is_terminal() {
        return Err(
            CliError::usage("there is nobody to ask here, so nothing was permitted")
                .with_hint("`ctxc trust --yes` permits it"),
        );
    }
    if !cx.confirm("permit all of this?")? {
        cx.print_note("nothing was permitted");
        return Ok(Exit::Success);
    }
    permissions
        .grant(&project.root)
        .map_err(|err| storage_error(&err))?;
    cx.print_note("permitted, for this folder and until one of them changes; `ctxc trust --revoke` takes it back");
    Ok(Exit::Success)
}

fn storage_error(err: &io::Error) -> CliError {
    CliError::new(
        CliErrorKind::Infrastructure,
        format!("what you permit cannot be kept: {}", describe_io_error(err)),
    )
}

fn requested_permissions(project: &CompiledProject) -> Result<Permissions> {
    let CompiledProject {
        root,
        config,
        registry,
        ..
    } = project;
    let files = scenarios::load_files(root, config, &scenarios::list_files(root, config));
    let suites = files
        .iter()
        .filter_map(|file| Some((&*file.path, file.suite.as_ref()?)));
    let unreadable = |err: ReadError| CliError::new(CliErrorKind::Infrastructure, err.to_string());
    Permissions::collect(config, registry, suites).map_err(unreadable)
}

fn trust_report<'p>(
    permissions: &'p Permissions,
    config: &'p Config,
    trusted: bool,
) -> TrustReport<'p> {
    let commands = permissions.commands.iter().map(|command| CommandRow {
        path: &command.path,
        command: &command.line,
        package: config
            .packages
            .of_file(&command.path)
            .map(|package| &*package.names.package),
    });
    let hash = permissions.hash.to_string();
    TrustReport {
        schema: names::TRUST,
        hash,
        trusted,
        commands: commands.collect(),
        providers: provider_rows(config),
        upstream: &config.record.upstream,
        keeps_personal_data: config.record.content == RecordedContent::Full,
    }
}

/// Returns the providers that `eval` could call.
fn provider_rows(config: &Config) -> Vec<ProviderRow<'_>> {
    let named = config
        .providers
        .keys()
        .chain(config.models.values().map(|model| &model.provider.value));
    let named: BTreeSet<&str> = named.map(String::as_str).collect();
    let row = |name| {
        let ProviderAddress {
            kind,
            base_url,
            variable,
            ..
        } = ProviderAddress::resolve(name, config)?;
        Some(ProviderRow {
            name,
            kind: kind.word(),
            base_url,
            api_key_env: variable,
        })
    };
    named.into_iter().filter_map(row).collect()
}

fn print_report(
    permissions: &Permissions,
    config: &Config,
    is_given: bool,
    is_kept: bool,
    cx: &mut Cx,
) -> Result<()> {
    cx.print_line("commands that files of this project name:")?;
    for command in &permissions.commands {
        cx.print_hanging(
            &format!(
                "  {}  ({})",
                escape_line(&command.line),
                escape_line(&command.path)
            ),
            4,
        )?;
    }
    if permissions.commands.is_empty() {
        cx.print_line("  none")?;
    }
    for package in config.packages.iter() {
        let files = permissions.commands.iter().map(|command| &command.path);
        let own = files.filter(|path| package.folder.path_inside(Path::new(path)).is_some());
        let (name, version) = (&package.names.package, &package.version);
        let count = pluralize(own.count(), "command");
        cx.print_line(&format!("  of the package {name} {version}: {count}"))?;
    }
    cx.print_line("providers that it would ask:")?;
    let providers = provider_rows(config);
    for ProviderRow {
        name,
        kind,
        base_url,
        api_key_env,
    } in &providers
    {
        let key =
            api_key_env.map_or_else(|| "no key".to_owned(), |name| format!("the key in {name}"));
        let open = ProviderAddress::resolve(name, config)
            .filter(ProviderAddress::is_unencrypted)
            .map_or(
                "",
                |_| "; not encrypted: anyone on the network path can read it",
            );
        cx.print_hanging(
            &format!(
                "  {} ({kind}): {}, {}{open}",
                escape_line(name),
                escape_line(base_url),
                escape_line(&key)
            ),
            4,
        )?;
    }
    if providers.is_empty() {
        cx.print_line("  none")?;
    }
    if !config.record.upstream.is_empty() {
        cx.print_line(
            "where `ctxc record` sends calls on, with the keys of the program that it runs:",
        )?;
        for address in &config.record.upstream {
            cx.print_hanging(&format!("  {}", escape_line(address)), 4)?;
        }
    }
    if config.record.content == RecordedContent::Full {
        cx.print_line("recordings keep personal data")?;
    }
    cx.print_line(&format!("hash: {}", permissions.hash))?;
    cx.print_line(match (is_given, is_kept) {
        (true, _) => "permitted in this folder",
        (false, true) => "not permitted: something changed since you permitted it",
        (false, false) => "not permitted",
    })
}

/// Returns the permissions of a project, or an error if the user did not grant them.
pub(in crate::cli) fn require_permission(
    project: &CompiledProject,
    hashes: &TrustHashArgs,
    what: &str,
) -> Result<Permissions> {
    let permissions = requested_permissions(project)?;
    if hashes.trust_hash.contains(&permissions.hash)
        || hashes.trust_hash.is_empty() && permissions.is_granted(&project.root)
    {
        return Ok(permissions);
    }
    if hashes.trust_hash.is_empty() {
        return Err(permission_error(&project.root, what));
    }
    let commands = pluralize(permissions.commands.len(), "command");
    let providers = pluralize(provider_rows(&project.config).len(), "provider");
    Err(CliError::usage(format!(
        "{what} is not permitted: the commands or the permitting keys of ctxc.toml are not those of --trust-hash (now {commands}, {providers})"
    ))
    .with_hint(format!(
        "`ctxc trust --show` lists them; once they are reviewed, set the variable of the pipeline anew: `gh variable set CTXC_TRUST_HASH --body {}`",
        permissions.hash
    )))
}

/// Like `require_permission`, for a run that continues without the permission: the inner error
/// describes its absence.
pub(super) fn permission_or_error(
    project: &CompiledProject,
    hashes: &TrustHashArgs,
    what: &str,
) -> Result<Result<Permissions>> {
    match require_permission(project, hashes, what) {
        Err(refused) if refused.kind != CliErrorKind::Usage => Err(refused),
        permitted => Ok(permitted),
    }
}

/// Like `require_permission`, for verbs that have not loaded the project yet.
pub(crate) fn require_permission_here(hashes: &TrustHashArgs, what: &str, cx: &Cx) -> Result<()> {
    require_permission(&CompiledProject::load_or_empty(cx)?, hashes, what).map(drop)
}

fn permission_error(root: &Path, what: &str) -> CliError {
    let changed = if trust::has_permission(root) {
        ", since a command or what ctxc.toml permits changed"
    } else {
        ""
    };
    CliError::usage(format!("{what} is not permitted in this project{changed}"))
        .with_hint("`ctxc trust` shows what the project would do, and asks; in CI, `--trust-hash HASH` permits it for one run: the hash that `ctxc trust --show` prints")
}
