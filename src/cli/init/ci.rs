//! The checks of a project in CI: its needs, found in its files, and the workflow file. Pure
//! functions of files.
//!
//! Never names a registry to install ctxc from, because none has it.

use crate::base::fs::{self, ReadFs, RealFs};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The path of the workflow file.
pub(super) const WORKFLOW_PATH: &str = ".github/workflows/ctxc.yml";
/// The path of a clone of ctxc in a repository that installs it from there.
pub(super) const CLONE_PATH: &str = "tools/ctxc";
/// The maximum size of a file of git or Python that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 16;
/// The condition of steps that compare: all but the first push of a branch have a base. Events
/// other than a push have no `before`, and would match the zeros.
const HAS_BASE: &str = "(github.event_name != 'push' || github.event.before != '0000000000000000000000000000000000000000')";
/// The input of a checkout with its history.
const FULL_HISTORY: &str =
    "fetch-depth: 0 # the gate compares with the commit where the change began";
/// The argument with the hash that permits the commands of scenarios, if the repository has one.
const TRUST_ARGUMENT: &str = "${CTXC_TRUST_HASH:+--trust-hash=$CTXC_TRUST_HASH}";

/// The needs of a project in CI.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CiProject {
    /// The top of its repository, or the project's own folder without a repository.
    pub(super) top: PathBuf,
    /// The project's folder, relative to the top; empty if they are the same.
    folder: String,
    /// The branch that changes are merged into.
    branch: String,
    /// The command that installs ctxc; `None` if it is compiled from a clone in the repository.
    install: Option<String>,
    /// Steps that set up the languages of its programs.
    languages: Vec<LanguageSetup>,
    /// True if its scenarios take requests from programs, or may do so soon.
    has_programs: bool,
}

/// Steps that set up a language.
#[derive(Debug, PartialEq, Eq)]
struct LanguageSetup {
    /// The action.
    action: &'static str,
    /// The input of the action: a version, or a file that contains one.
    version: (&'static str, String),
    name: &'static str,
    /// The file that names the dependencies.
    file: &'static str,
    /// The folder of installed dependencies, if it is in the project.
    packages: &'static str,
    /// The commands that install the dependencies, a line each.
    commands: &'static [&'static str],
}

impl CiProject {
    /// Inspects the files of a project.
    pub(super) fn detect(root: &Path, install: Option<&str>) -> Self {
        let root = RealFs
            .canonicalize(root)
            .unwrap_or_else(|_| root.to_path_buf());
        let top = root
            .ancestors()
            .find(|folder| fs::exists(&folder.join(".git")))
            .unwrap_or(&root)
            .to_path_buf();
        let parts = root.strip_prefix(&top).map(|inside| {
            inside
                .iter()
                .map(|part| part.to_string_lossy().into_owned())
        });
        let folder = parts
            .map(|parts| parts.collect::<Vec<_>>().join("/"))
            .unwrap_or_default();
        let languages: Vec<LanguageSetup> = [python_setup(&root), node_setup(&root)]
            .into_iter()
            .flatten()
            .collect();
        let has_programs = !languages.is_empty() || has_programs_in(&root.join("scenarios"));
        Self {
            branch: target_branch(&top),
            top,
            folder,
            install: install.map(str::to_owned),
            languages,
            has_programs,
        }
    }

    /// Returns the workflow for GitHub. The gate is a separate job in which no program of the
    /// change runs: it uses the requests that these programs sent in the other job, and takes ctxc
    /// and the dependencies of checks from the base.
    pub(super) fn github_workflow(&self) -> String {
        let branch = quote_yaml(&self.branch);
        let mut out = format!(
            "name: ctxc\non:\n  pull_request:\n    branches: [{branch}]\n    types: [opened, synchronize, reopened, edited] # a change of the base, too\n  \
             merge_group:\n  push:\n    branches: [{branch}]\npermissions:\n  contents: read\nenv:\n  # The commit that the change is based on.\n  \
             BASE: ${{{{ github.event.pull_request.base.sha || github.event.merge_group.base_sha || github.event.before }}}}\n  \
             # A variable of the repository that permits what scenarios run: the hash that `ctxc trust --show` prints.\n  \
             CTXC_TRUST_HASH: ${{{{ vars.CTXC_TRUST_HASH }}}}\njobs:\n"
        );
        self.add_check_job(&mut out);
        self.add_gate_job(&mut out);
        out
    }

    fn add_check_job(&self, out: &mut String) {
        self.begin_job(out, "check", "");
        out.push_str("    steps:\n");
        self.add_checkout(
            out,
            if self.has_programs {
                &[FULL_HISTORY]
            } else {
                &[]
            },
        );
        self.add_setup(out);
        add_step(out, "install ctxc", [self.install_command()]);
        if self.install.is_none() && !self.folder.is_empty() {
            out.push_str("        working-directory: .\n");
        }
        add_step(out, "check", ["ctxc check --format github --allow-empty"]);
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "      - name: eval\n        if: success() || failure()\n        run: ctxc eval --allow-empty {TRUST_ARGUMENT}"
        );
        if self.has_programs {
            let condition = format!("        if: (success() || failure()) && {HAS_BASE}");
            let _ = writeln!(out, "      - name: requests\n{condition}\n        run: |");
            let remark = "# What the programs of the change send to models. The next job decides by it, whatever this one says of it.";
            let gate = gate_commands("origin", "--save-requests=\"$RUNNER_TEMP/requests.json\"");
            for line in std::iter::once(remark).chain(gate.trim_end().lines()) {
                let _ = writeln!(
                    out,
                    "          {line}{}",
                    if line.starts_with("ctxc gate") {
                        " || true"
                    } else {
                        ""
                    }
                );
            }
            let _ = writeln!(
                out,
                "      - uses: actions/upload-artifact@v4\n{condition}\n        with:\n          name: requests\n          \
                 path: ${{{{ runner.temp }}}}/requests.json"
            );
        }
    }

    fn add_gate_job(&self, out: &mut String) {
        self.begin_job(out, "gate", "change/");
        // A job that is skipped because an earlier one failed counts as passed.
        let needs = if self.has_programs {
            "    needs: check\n"
        } else {
            ""
        };
        let runs = if self.has_programs {
            "(!cancelled()) && "
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "{needs}    # The first push of a branch has nothing to be compared with.\n    if: {runs}{HAS_BASE}"
        );
        out.push_str("    steps:\n");
        self.add_checkout(out, &["ref: ${{ env.BASE }}", "path: base"]);
        self.add_checkout(out, &["path: change", FULL_HISTORY]);
        let from_base = self.install.is_none().then(|| {
            format!("from=base; [ -e base/{CLONE_PATH} ] || from=change # ctxc comes with this change\ncargo install --locked --path \"$from/{CLONE_PATH}\"")
        });
        let install = from_base
            .as_deref()
            .or(self.install.as_deref())
            .unwrap_or_default();
        add_step(out, "install ctxc", install.lines());
        out.push_str("        working-directory: .\n");
        self.add_base_setup(out);
        let mut source = "";
        if self.has_programs {
            out.push_str("      - uses: actions/download-artifact@v4\n        continue-on-error: true # the gate names what is missing\n        with:\n          name: requests\n          path: ${{ runner.temp }}/requests\n");
            source = "--requests=\"$RUNNER_TEMP/requests/requests.json\"";
        }
        add_step(
            out,
            "gate",
            gate_commands("\"$GITHUB_WORKSPACE/base\"", source).lines(),
        );
    }

    fn begin_job(&self, out: &mut String, name: &str, below: &str) {
        let _ = writeln!(out, "  {name}:\n    runs-on: ubuntu-latest");
        let folder = format!("{below}{}", self.folder);
        if !folder.is_empty() {
            let _ = writeln!(
                out,
                "    defaults:\n      run:\n        working-directory: {}",
                quote_yaml(folder.trim_end_matches('/'))
            );
        }
    }

    fn add_checkout(&self, out: &mut String, inputs: &[&str]) {
        out.push_str("      - uses: actions/checkout@v4\n        with:\n          persist-credentials: false\n");
        for input in inputs {
            let _ = writeln!(out, "          {input}");
        }
        if self.install.is_none() {
            let _ = writeln!(
                out,
                "          submodules: true # ctxc is compiled from {CLONE_PATH}"
            );
        }
    }

    /// Adds steps that set up the languages of the change.
    fn add_setup(&self, out: &mut String) {
        for language in &self.languages {
            let LanguageSetup {
                action,
                version: (input, version),
                name,
                commands,
                ..
            } = language;
            let file = if input.ends_with("-file") {
                format!("{}{version}", self.folder_prefix())
            } else {
                version.clone()
            };
            let _ = writeln!(
                out,
                "      - uses: {action}\n        with:\n          {input}: {}",
                quote_yaml(&file)
            );
            add_step(out, name, commands.iter().copied());
        }
    }

    /// Adds steps that install the dependencies of the base for the project's own checks, if the
    /// base has a dependency file. An installation runs programs, and those of the change must not
    /// run here.
    fn add_base_setup(&self, out: &mut String) {
        for language in &self.languages {
            let LanguageSetup {
                action,
                version: (input, version),
                file,
                packages,
                commands,
                ..
            } = language;
            let folder = format!("base/{}", self.folder_prefix());
            let condition = format!(
                "        if: hashFiles({}) != ''",
                quote_expression(&format!("{folder}{file}"))
            );
            let version = if input.ends_with("-file") {
                format!("{folder}{version}")
            } else {
                version.clone()
            };
            let _ = writeln!(
                out,
                "      - uses: {action}\n{condition}\n        with:\n          {input}: {}",
                quote_yaml(&version)
            );
            let _ = writeln!(
                out,
                "      - name: install what checks of the base need\n{condition}"
            );
            let _ = writeln!(
                out,
                "        working-directory: {}\n        run: |",
                quote_yaml(folder.trim_end_matches('/'))
            );
            let to = format!(
                "\"$GITHUB_WORKSPACE/change/{}{packages}\"",
                self.folder_prefix()
            );
            let link = format!("[ ! -e {packages} ] || ln -sfn \"$PWD/{packages}\" {to}");
            for command in commands.iter().copied().chain([link.as_str()]) {
                let _ = writeln!(out, "          {command}");
            }
        }
    }

    /// Returns the commands for any other CI.
    pub(super) fn shell_commands(&self) -> String {
        let install = self.install_command();
        format!(
            "{install}\nctxc check --format concise --allow-empty\nctxc eval --allow-empty {TRUST_ARGUMENT}\n\
             # BASE is the commit that the change is based on; the clone needs its history.\n{}",
            gate_commands("origin", "")
        )
    }

    fn install_command(&self) -> &str {
        self.install
            .as_deref()
            .unwrap_or("cargo install --locked --path tools/ctxc")
    }

    fn folder_prefix(&self) -> String {
        if self.folder.is_empty() {
            String::new()
        } else {
            format!("{}/", self.folder)
        }
    }

    /// Returns true if the repository lacks the clone from which ctxc is compiled.
    pub(super) fn lacks_clone(&self) -> bool {
        self.install.is_none() && !fs::exists(&self.top.join(CLONE_PATH))
    }
}

/// Returns the commands of the gate. They fetch missing commits of the base from `source`, and
/// permit a base without the project.
fn gate_commands(source: &str, requests: &str) -> String {
    let requests = if requests.is_empty() {
        String::new()
    } else {
        format!(" {requests}")
    };
    format!(
        "# Files of the change can look like a repository, whose settings git would follow.\n\
         export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.bareRepository GIT_CONFIG_VALUE_0=explicit\n\
         if [ \"$(git rev-parse --is-shallow-repository)\" = true ]; then git fetch --quiet --no-tags --unshallow origin; fi\n\
         git cat-file -e \"$BASE^{{commit}}\" 2>/dev/null || git fetch --quiet --no-tags {source} \"$BASE\"\n\
         if git cat-file -e \"$BASE:./ctxc.toml\" 2>/dev/null; then first=; else first=--new-project; fi\n\
         ctxc gate --base \"$BASE\" --allow-empty $first {TRUST_ARGUMENT}{requests}\n"
    )
}

/// Quotes a text for an expression of GitHub.
fn quote_expression(text: &str) -> String {
    format!("'{}'", text.replace('\'', "\'\'"))
}

/// Adds a step that runs some commands.
fn add_step<'c>(out: &mut String, name: &str, commands: impl IntoIterator<Item = &'c str>) {
    let _ = writeln!(out, "      - name: {name}\n        run: |");
    for command in commands {
        let _ = writeln!(out, "          {command}");
    }
}

/// Quotes any text for YAML.
fn quote_yaml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the branch that changes are merged into: the default branch of the remote, otherwise the
/// current one.
fn target_branch(top: &Path) -> String {
    let named = |file: &str, before: &str| {
        let head = fs::read_head(&top.join(".git").join(file), MAX_FILE_BYTES)
            .ok()
            .flatten()?;
        let name = String::from_utf8(head)
            .ok()?
            .trim()
            .strip_prefix(before)?
            .to_owned();
        (!name.is_empty()).then_some(name)
    };
    let remote = named("refs/remotes/origin/HEAD", "ref: refs/remotes/origin/");
    remote
        .or_else(|| named("HEAD", "ref: refs/heads/"))
        .unwrap_or_else(|| "main".to_owned())
}

/// Keys of scenarios that name a program: one that sends the request, or a check.
const PROGRAM_KEYS: [&str; 3] = ["request:", "command:", "python:"];

/// Returns true if a scenario in a folder names a program that sends its request, or a check of the
/// project's own.
fn has_programs_in(folder: &Path) -> bool {
    fs::list_entries(folder).into_iter().any(|(_, path)| {
        let text = || {
            fs::read_head(&path, MAX_FILE_BYTES)
                .ok()
                .flatten()
                .unwrap_or_default()
        };
        has_programs_in(&path)
            || String::from_utf8_lossy(&text()).lines().any(|line| {
                PROGRAM_KEYS
                    .iter()
                    .any(|key| line.trim_start_matches([' ', '-', '{']).starts_with(key))
            })
    })
}

fn python_setup(root: &Path) -> Option<LanguageSetup> {
    let is_there = |name: &str| fs::exists(&root.join(name));
    let is_project = || {
        let head = fs::read_head(&root.join("pyproject.toml"), MAX_FILE_BYTES)
            .ok()
            .flatten()
            .unwrap_or_default();
        String::from_utf8_lossy(&head)
            .lines()
            .any(|line| ["[build-system]", "[project]"].contains(&line.trim()))
    };
    let (file, commands): (&str, &[&str]) = if is_there("uv.lock") {
        (
            "uv.lock",
            &[
                "pip install uv",
                "uv sync --frozen",
                "echo \"$PWD/.venv/bin\" >> \"$GITHUB_PATH\"",
            ],
        )
    } else if is_there("poetry.lock") {
        (
            "poetry.lock",
            &[
                "pip install poetry",
                "POETRY_VIRTUALENVS_CREATE=false poetry install --no-interaction",
            ],
        )
    } else if is_there("requirements.txt") {
        ("requirements.txt", &["pip install -r requirements.txt"])
    } else if is_project() {
        ("pyproject.toml", &["pip install ."])
    } else {
        return None;
    };
    let version = if is_there(".python-version") {
        ("python-version-file", ".python-version".to_owned())
    } else {
        ("python-version", "3.12".to_owned())
    };
    let packages = ".venv";
    Some(LanguageSetup {
        action: "actions/setup-python@v5",
        version,
        name: "install what the Python programs need",
        file,
        packages,
        commands,
    })
}

fn node_setup(root: &Path) -> Option<LanguageSetup> {
    let is_there = |name: &str| fs::exists(&root.join(name));
    if !is_there("package.json") {
        return None;
    }
    let (file, commands): (&str, &[&str]) = if is_there("pnpm-lock.yaml") {
        (
            "pnpm-lock.yaml",
            &["corepack enable", "pnpm install --frozen-lockfile"],
        )
    } else if is_there("yarn.lock") {
        (
            "yarn.lock",
            &["corepack enable", "yarn install --frozen-lockfile"],
        )
    } else if is_there("package-lock.json") {
        ("package-lock.json", &["npm ci"])
    } else {
        ("package.json", &["npm install --no-package-lock"])
    };
    let version = if is_there(".nvmrc") {
        ("node-version-file", ".nvmrc".to_owned())
    } else {
        ("node-version", "22".to_owned())
    };
    let packages = "node_modules";
    Some(LanguageSetup {
        action: "actions/setup-node@v4",
        version,
        name: "install what the Node programs need",
        file,
        packages,
        commands,
    })
}
