//! The checks of a project in CI: its needs, found in its files, and the workflow file. Pure
//! functions of files.
//!
//! Never names a registry to install ctxc from, because none has it.

use crate::base::fs::{self, ReadFs, RealFs};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The path of the workflow file.
pub(super) const WORKFLOW: &str = ".github/workflows/ctxc.yml";
/// The path of a clone of ctxc in a repository that installs it from there.
pub(super) const CLONE: &str = "tools/ctxc";
/// The maximum size of a file of git or Python that is read, in bytes.
const LIMIT: u64 = 1 << 16;
/// The condition of steps that compare: all but the first push of a branch have a base. Events
/// other than a push have no `before`, and would match the zeros.
const HAS_BASE: &str = "(github.event_name != 'push' || github.event.before != '0000000000000000000000000000000000000000')";
/// The input of a checkout with its history.
const HISTORY: &str = "fetch-depth: 0 # the gate compares with the commit where the change began";
/// The argument with the hash that permits the commands of scenarios, if the repository has one.
const TRUST: &str = "${CTXC_TRUST_HASH:+--trust-hash=$CTXC_TRUST_HASH}";

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
    languages: Vec<Language>,
    /// True if its scenarios take requests from programs, or may do so soon.
    has_programs: bool,
}

/// Steps that set up a language.
#[derive(Debug, PartialEq, Eq)]
struct Language {
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
    pub(super) fn of(root: &Path, install: Option<&str>) -> Self {
        let root = RealFs
            .canonical(root)
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
        let languages: Vec<Language> = [python(&root), node(&root)].into_iter().flatten().collect();
        let has_programs = !languages.is_empty() || names_programs(&root.join("scenarios"));
        Self {
            branch: branch(&top),
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
    pub(super) fn github(&self) -> String {
        let branch = quoted(&self.branch);
        let mut out = format!(
            "name: ctxc\non:\n  pull_request:\n    branches: [{branch}]\n    types: [opened, synchronize, reopened, edited] # a change of the base, too\n  \
             merge_group:\n  push:\n    branches: [{branch}]\npermissions:\n  contents: read\nenv:\n  # The commit that the change is based on.\n  \
             BASE: ${{{{ github.event.pull_request.base.sha || github.event.merge_group.base_sha || github.event.before }}}}\n  \
             # A variable of the repository that permits what scenarios run: the hash that `ctxc trust --show` prints.\n  \
             CTXC_TRUST_HASH: ${{{{ vars.CTXC_TRUST_HASH }}}}\njobs:\n"
        );
        self.check_job(&mut out);
        self.gate_job(&mut out);
        out
    }

    fn check_job(&self, out: &mut String) {
        self.begin_job(out, "check", "");
        out.push_str("    steps:\n");
        self.checkout(out, if self.has_programs { &[HISTORY] } else { &[] });
        self.set_up(out);
        step(out, "install ctxc", [self.install()]);
        if self.install.is_none() && !self.folder.is_empty() {
            out.push_str("        working-directory: .\n");
        }
        step(out, "check", ["ctxc check --format github --allow-empty"]);
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "      - name: eval\n        if: success() || failure()\n        run: ctxc eval --allow-empty {TRUST}"
        );
        if self.has_programs {
            let condition = format!("        if: (success() || failure()) && {HAS_BASE}");
            let _ = writeln!(out, "      - name: requests\n{condition}\n        run: |");
            let remark = "# What the programs of the change send to models. The next job decides by it, whatever this one says of it.";
            let gate = gate("origin", "--save-requests=\"$RUNNER_TEMP/requests.json\"");
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

    fn gate_job(&self, out: &mut String) {
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
        self.checkout(out, &["ref: ${{ env.BASE }}", "path: base"]);
        self.checkout(out, &["path: change", HISTORY]);
        let from_base = self.install.is_none().then(|| {
            format!("from=base; [ -e base/{CLONE} ] || from=change # ctxc comes with this change\ncargo install --locked --path \"$from/{CLONE}\"")
        });
        let install = from_base
            .as_deref()
            .or(self.install.as_deref())
            .unwrap_or_default();
        step(out, "install ctxc", install.lines());
        out.push_str("        working-directory: .\n");
        self.set_up_base(out);
        let mut source = "";
        if self.has_programs {
            out.push_str("      - uses: actions/download-artifact@v4\n        continue-on-error: true # the gate names what is missing\n        with:\n          name: requests\n          path: ${{ runner.temp }}/requests\n");
            source = "--requests=\"$RUNNER_TEMP/requests/requests.json\"";
        }
        step(
            out,
            "gate",
            gate("\"$GITHUB_WORKSPACE/base\"", source).lines(),
        );
    }

    fn begin_job(&self, out: &mut String, name: &str, below: &str) {
        let _ = writeln!(out, "  {name}:\n    runs-on: ubuntu-latest");
        let folder = format!("{below}{}", self.folder);
        if !folder.is_empty() {
            let _ = writeln!(
                out,
                "    defaults:\n      run:\n        working-directory: {}",
                quoted(folder.trim_end_matches('/'))
            );
        }
    }

    fn checkout(&self, out: &mut String, inputs: &[&str]) {
        out.push_str("      - uses: actions/checkout@v4\n        with:\n          persist-credentials: false\n");
        for input in inputs {
            let _ = writeln!(out, "          {input}");
        }
        if self.install.is_none() {
            let _ = writeln!(
                out,
                "          submodules: true # ctxc is compiled from {CLONE}"
            );
        }
    }

    /// Adds steps that set up the languages of the change.
    fn set_up(&self, out: &mut String) {
        for language in &self.languages {
            let Language {
                action,
                version: (input, version),
                name,
                commands,
                ..
            } = language;
            let file = if input.ends_with("-file") {
                format!("{}{version}", self.prefix())
            } else {
                version.clone()
            };
            let _ = writeln!(
                out,
                "      - uses: {action}\n        with:\n          {input}: {}",
                quoted(&file)
            );
            step(out, name, commands.iter().copied());
        }
    }

    /// Adds steps that install the dependencies of the base for the project's own checks, if the
    /// base has a dependency file. An installation runs programs, and those of the change must not
    /// run here.
    fn set_up_base(&self, out: &mut String) {
        for language in &self.languages {
            let Language {
                action,
                version: (input, version),
                file,
                packages,
                commands,
                ..
            } = language;
            let folder = format!("base/{}", self.prefix());
            let condition = format!(
                "        if: hashFiles({}) != ''",
                quoted_in_expression(&format!("{folder}{file}"))
            );
            let version = if input.ends_with("-file") {
                format!("{folder}{version}")
            } else {
                version.clone()
            };
            let _ = writeln!(
                out,
                "      - uses: {action}\n{condition}\n        with:\n          {input}: {}",
                quoted(&version)
            );
            let _ = writeln!(
                out,
                "      - name: install what checks of the base need\n{condition}"
            );
            let _ = writeln!(
                out,
                "        working-directory: {}\n        run: |",
                quoted(folder.trim_end_matches('/'))
            );
            let to = format!("\"$GITHUB_WORKSPACE/change/{}{packages}\"", self.prefix());
            let link = format!("[ ! -e {packages} ] || ln -sfn \"$PWD/{packages}\" {to}");
            for command in commands.iter().copied().chain([link.as_str()]) {
                let _ = writeln!(out, "          {command}");
            }
        }
    }

    /// Returns the commands for any other CI.
    pub(super) fn commands(&self) -> String {
        let install = self.install();
        format!(
            "{install}\nctxc check --format concise --allow-empty\nctxc eval --allow-empty {TRUST}\n\
             # BASE is the commit that the change is based on; the clone needs its history.\n{}",
            gate("origin", "")
        )
    }

    fn install(&self) -> &str {
        self.install
            .as_deref()
            .unwrap_or("cargo install --locked --path tools/ctxc")
    }

    fn prefix(&self) -> String {
        if self.folder.is_empty() {
            String::new()
        } else {
            format!("{}/", self.folder)
        }
    }

    /// Returns true if the repository lacks the clone from which ctxc is compiled.
    pub(super) fn lacks_clone(&self) -> bool {
        self.install.is_none() && !fs::exists(&self.top.join(CLONE))
    }
}

/// Returns the commands of the gate. They fetch missing commits of the base from `source`, and
/// permit a base without the project.
fn gate(source: &str, requests: &str) -> String {
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
         ctxc gate --base \"$BASE\" --allow-empty $first {TRUST}{requests}\n"
    )
}

/// Quotes a text for an expression of GitHub.
fn quoted_in_expression(text: &str) -> String {
    format!("'{}'", text.replace('\'', "\'\'"))
}

/// Adds a step that runs some commands.
fn step<'c>(out: &mut String, name: &str, commands: impl IntoIterator<Item = &'c str>) {
    let _ = writeln!(out, "      - name: {name}\n        run: |");
    for command in commands {
        let _ = writeln!(out, "          {command}");
    }
}

/// Quotes any text for YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the branch that changes are merged into: the default branch of the remote, otherwise the
/// current one.
fn branch(top: &Path) -> String {
    let named = |file: &str, before: &str| {
        let head = fs::head(&top.join(".git").join(file), LIMIT)
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
const PROGRAMS: [&str; 3] = ["request:", "command:", "python:"];

/// Returns true if a scenario in a folder names a program that sends its request, or a check of the
/// project's own.
fn names_programs(folder: &Path) -> bool {
    fs::entries_in(folder).into_iter().any(|(_, path)| {
        let text = || fs::head(&path, LIMIT).ok().flatten().unwrap_or_default();
        names_programs(&path)
            || String::from_utf8_lossy(&text()).lines().any(|line| {
                PROGRAMS
                    .iter()
                    .any(|key| line.trim_start_matches([' ', '-', '{']).starts_with(key))
            })
    })
}

fn python(root: &Path) -> Option<Language> {
    let is_there = |name: &str| fs::exists(&root.join(name));
    let is_project = || {
        let head = fs::head(&root.join("pyproject.toml"), LIMIT)
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
    Some(Language {
        action: "actions/setup-python@v5",
        version,
        name: "install what the Python programs need",
        file,
        packages,
        commands,
    })
}

fn node(root: &Path) -> Option<Language> {
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
    Some(Language {
        action: "actions/setup-node@v4",
        version,
        name: "install what the Node programs need",
        file,
        packages,
        commands,
    })
}
