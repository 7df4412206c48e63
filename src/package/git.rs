//! Packages from git repositories, by the program `git`. A repository is never checked out: its files
//! are read as they are stored, so that no hook, filter, attribute, submodule or link of it has an
//! effect. Nothing of git's environment reaches it but the settings of the user and the machine for
//! access, such as a credential helper.

use super::archive::PackedFile;
use crate::base::contained_path::{describe_io_error, list_files_below, resolve_beside};
use crate::base::fs::{self, ReadFs, RealFs};
use crate::base::number::format_size;
use crate::base::suggest::nearest_candidate;
use crate::project::dependencies::{is_tag, mask_credentials, split_version};
use crate::run::process::{
    DEFAULT_VARIABLES, ProcessEnd, ProcessLimits, inherited_variables, run_program,
};
use semver::Version;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The protocols that a repository may be reached by, after any rewriting by the user's settings.
const PROTOCOLS: &str = "https:ssh:file";
/// The reference of a fetched revision in its temporary repository.
const FETCHED_REF: &str = "refs/ctxc/fetched";
/// The time between two measurements of a download.
const MEASURE_INTERVAL: Duration = Duration::from_millis(100);
/// The maximum number of tags in a message.
const MAX_LISTED_TAGS: usize = 5;
/// The maximum size of lists of references and files in bytes.
const MAX_LIST_BYTES: usize = 16 << 20;
/// The beginning of a file that stands for a file in Git LFS.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Variables that git and its helpers receive besides [`DEFAULT_VARIABLES`]: how the user reaches
/// servers. All others of git are left out.
const ACCESS_VARIABLES: [&str; 18] = [
    "XDG_CONFIG_HOME",
    "SSH_AUTH_SOCK",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_PROXY_SSL_CAINFO",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
];

/// Variables that no setting of the user, the machine or a repository overrides.
const FIXED_VARIABLES: [(&str, &str); 11] = [
    ("LC_ALL", "C"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS", ""),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("GIT_PROTOCOL_FROM_USER", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_LFS_SKIP_SMUDGE", "1"),
    ("GCM_INTERACTIVE", "never"),
];

/// Settings that override those of the user and the machine. A server that answers with another address would
/// receive what is meant for the first one, so redirects are not followed.
const FIXED_SETTINGS: [&str; 14] = [
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=",
    "credential.interactive=false",
    "http.followRedirects=false",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=30",
    "fetch.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "transfer.bundleURI=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.bigFileThreshold=1m",
];

/// Limits on what a repository may cost.
#[derive(Clone, Copy, Debug)]
pub struct GitLimits {
    /// The time of each call of git.
    pub time: Duration,
    /// The flag of the command line that sets it, if there is one.
    pub time_flag: Option<&'static str>,
    /// The bytes of the download, and of all files that are read.
    pub bytes: u64,
    /// The number of files of the revision.
    pub files: usize,
}

impl Default for GitLimits {
    fn default() -> Self {
        Self {
            time: Duration::from_mins(2),
            time_flag: None,
            bytes: 100 << 20,
            files: 10_000,
        }
    }
}

/// A repository that was not used.
#[derive(Debug, thiserror::Error)]
#[error("{url}: {reason}")]
pub struct GitFault {
    /// The repository.
    pub url: String,
    /// The reason.
    pub reason: GitRefusal,
}

/// The reason why a repository was not used. A text of the server is printed without control
/// characters.
#[derive(Debug, thiserror::Error)]
pub enum GitRefusal {
    /// Git failed, with this message.
    #[error("git reports: {0}")]
    Failed(String),
    /// Git did not end in time.
    #[error("no answer within {seconds} s{}", .flag.map_or_else(String::new, |flag| format!("; `{flag}` sets another limit")))]
    TimedOut {
        /// The limit.
        seconds: u64,
        /// The flag that sets it.
        flag: Option<&'static str>,
    },
    /// The server answers with another address.
    #[error(
        "the server redirects to another address, which is not followed; name the final address"
    )]
    Redirect,
    /// It has no such tag or branch.
    #[error("it has no tag or branch `{revision}`; {advice}")]
    NoRevision {
        /// The name.
        revision: String,
        /// The nearest name, or the newest tags.
        advice: String,
    },
    /// It has more than a limit.
    #[error("more than {limit}, the limit: {what}")]
    TooLarge {
        /// The limit.
        limit: String,
        /// The thing that is too large.
        what: String,
    },
    /// An entry that is not a plain file.
    #[error("{path} is {kind}; a package consists of plain files")]
    NotAFile {
        /// Its path.
        path: String,
        /// Its kind.
        kind: &'static str,
    },
}

/// A revision in a temporary repository, which is removed with the value.
#[derive(Debug)]
pub struct FetchedTree {
    /// The commit, in hex digits.
    pub commit: String,
    /// False for a branch, whose content changes.
    pub is_tag: bool,
    call: GitCall,
    entries: BTreeMap<String, TreeEntry>,
}

#[derive(Debug)]
struct TreeEntry {
    mode: String,
    object: String,
    bytes: u64,
}

/// Calls of git for one repository.
#[derive(Debug)]
struct GitCall {
    url: String,
    limits: GitLimits,
    protocols: &'static str,
    /// True if the user's settings name a program for ssh.
    has_ssh_program: bool,
    folder: TempDir,
}

/// Fetches a tag, or a branch if there is no such tag, into a temporary repository.
///
/// # Errors
/// The repository cannot be reached, has no such revision, or exceeds the limits.
pub fn fetch_revision(
    url: &str,
    revision: &str,
    limits: &GitLimits,
) -> Result<FetchedTree, GitFault> {
    GitCall::new(url, limits, PROTOCOLS)?.fetch(revision, None)
}

/// Fetches a revision like [`fetch_revision`], of which one folder is read: the entries and limits
/// of the result are of that folder alone.
///
/// # Errors
/// The repository cannot be reached, has no such revision, or exceeds the limits.
pub fn fetch_folder(
    url: &str,
    revision: &str,
    folder: &str,
    limits: &GitLimits,
) -> Result<FetchedTree, GitFault> {
    GitCall::new(url, limits, PROTOCOLS)?.fetch(revision, Some(folder))
}

/// Returns the tags of a repository with their commits.
///
/// # Errors
/// The repository cannot be reached.
pub fn list_tags(url: &str, limits: &GitLimits) -> Result<BTreeMap<String, String>, GitFault> {
    let found = GitCall::new(url, limits, PROTOCOLS)?.list_references(&["refs/tags/*"])?;
    let tags = found
        .into_iter()
        .filter_map(|(name, commit)| Some((name.strip_prefix("refs/tags/")?.to_owned(), commit)));
    Ok(tags.filter(|(name, _)| is_tag(name)).collect())
}

impl FetchedTree {
    /// The paths of all its entries, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Reads some of its files as they are stored.
    ///
    /// # Errors
    /// One of them is a link, a submodule or stands for a file elsewhere, or they are too large.
    pub fn read_files(&self, paths: &[&str]) -> Result<Vec<PackedFile>, GitFault> {
        let call = &self.call;
        let mut objects = String::new();
        let mut total = 0_u64;
        let mut chosen = Vec::new();
        for path in paths {
            let Some(entry) = self.entries.get(*path) else {
                continue;
            };
            let kind = match entry.mode.as_str() {
                "100644" | "100755" | "100664" => None,
                "120000" => Some("a link"),
                "160000" => Some("a submodule"),
                _ => Some("not a file"),
            };
            let is_plain =
                resolve_beside("ctxc.toml", path).as_deref() == Some(*path) && !path.contains('\\');
            if let Some(kind) = kind.or((!is_plain).then_some("no path inside a folder")) {
                return Err(call.refuse_entry(path, kind));
            }
            total += entry.bytes;
            if total > call.limits.bytes {
                return Err(call.too_large(format!("its files up to {path}")));
            }
            objects.push_str(&entry.object);
            objects.push('\n');
            chosen.push((*path, entry.bytes));
        }
        if chosen.is_empty() {
            return Ok(Vec::new());
        }
        // A header of each object comes on top of its bytes.
        let most = total as usize + (chosen.len() + 1) * 128;
        let read = call.run(&["cat-file", "--batch"], &objects, most)?;
        let mut rest = read.as_slice();
        let mut files = Vec::new();
        for (path, len) in chosen {
            let header = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            let body = rest.get(header..).unwrap_or_default();
            let Some(bytes) = body.get(..len as usize) else {
                return Err(call.fail(format!("{path} cannot be read")));
            };
            if bytes.starts_with(LFS_POINTER) {
                return Err(call.refuse_entry(path, "a pointer of Git LFS"));
            }
            files.push(PackedFile {
                path: path.to_owned(),
                bytes: bytes.to_vec(),
            });
            rest = body.get(len as usize + 1..).unwrap_or_default();
        }
        Ok(files)
    }
}

impl GitCall {
    fn new(url: &str, limits: &GitLimits, protocols: &'static str) -> Result<Self, GitFault> {
        let folder = fs::temp_folder().map_err(|why| GitFault {
            url: url.to_owned(),
            reason: GitRefusal::Failed(describe_io_error(&why)),
        })?;
        let mut call = Self {
            url: url.to_owned(),
            limits: *limits,
            protocols,
            has_ssh_program: false,
            folder,
        };
        // An empty template brings no hooks.
        call.run(
            &["init", "--quiet", "--bare", "--template="],
            "",
            MAX_LIST_BYTES,
        )?;
        let setting = ["config", "--get", "core.sshCommand"];
        call.has_ssh_program = call.run(&setting, "", MAX_LIST_BYTES).is_ok();
        Ok(call)
    }

    fn fetch(self, revision: &str, folder: Option<&str>) -> Result<FetchedTree, GitFault> {
        let accepts_branch = folder.is_some();
        if !is_tag(revision) {
            return Err(self.refuse_revision(revision, accepts_branch));
        }
        let names = [
            format!("refs/tags/{revision}"),
            format!("refs/heads/{revision}"),
        ];
        let found = self.list_references(&[&names[0], &names[1]])?;
        let Some(name) = names.iter().find(|name| found.contains_key(*name)) else {
            return Err(self.refuse_revision(revision, accepts_branch));
        };
        let is_tag = *name == names[0];
        let refspec = format!("+{name}:{FETCHED_REF}");
        let arguments = [
            "fetch",
            "--quiet",
            "--depth=1",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--no-write-fetch-head",
            "--",
            &self.url,
            &refspec,
        ];
        self.run(&arguments, "", MAX_LIST_BYTES)?;
        let peeled = format!("{FETCHED_REF}^{{commit}}");
        let commit = self.run(&["rev-parse", "--verify", &peeled], "", MAX_LIST_BYTES)?;
        let commit = String::from_utf8_lossy(&commit).trim().to_owned();
        let entries = self.list_entries(&commit, folder)?;
        Ok(FetchedTree {
            commit,
            is_tag,
            call: self,
            entries,
        })
    }

    /// The error of a missing tag or branch, with the names that the repository has.
    fn refuse_revision(&self, revision: &str, accepts_branch: bool) -> GitFault {
        let patterns = ["refs/tags/*", "refs/heads/*"];
        let found = self.list_references(&patterns).unwrap_or_default();
        let short = |name: &String| name.splitn(3, '/').nth(2).unwrap_or_default().to_owned();
        let names: Vec<String> = found
            .keys()
            .map(short)
            .filter(|name| is_tag(name))
            .collect();
        let mut releases: Vec<(Version, &String)> = names
            .iter()
            .filter_map(|name| Some((split_version(name)?.1, name)))
            .collect();
        releases.sort();
        let newest = releases.iter().rev().take(MAX_LISTED_TAGS);
        let newest: Vec<&str> = newest.map(|(_, name)| name.as_str()).collect();
        let near = nearest_candidate(revision, names.iter().map(String::as_str));
        let branches = found
            .keys()
            .filter_map(|name| name.strip_prefix("refs/heads/"));
        let branches: Vec<&str> = branches.take(MAX_LISTED_TAGS).collect();
        let advice = match (near, newest.as_slice()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, _) if accepts_branch && !branches.is_empty() => {
                format!("its branches are {}", branches.join(", "))
            }
            (None, []) => "it has no tag of a release such as `v1.2.0`".to_owned(),
            (None, newest) => format!("its newest releases are {}", newest.join(", ")),
        };
        let revision = revision.to_owned();
        self.refuse(GitRefusal::NoRevision { revision, advice })
    }

    /// Returns references that match some patterns, with their commits.
    fn list_references(&self, patterns: &[&str]) -> Result<BTreeMap<String, String>, GitFault> {
        let peeled: Vec<String> = patterns.iter().map(|name| format!("{name}^{{}}")).collect();
        let mut arguments = vec!["ls-remote", "--quiet", "--", &self.url];
        arguments.extend(patterns);
        arguments.extend(peeled.iter().map(String::as_str));
        let listed = self.run(&arguments, "", MAX_LIST_BYTES)?;
        let mut found = BTreeMap::new();
        for line in String::from_utf8_lossy(&listed).lines() {
            if let Some((object, name)) = line.split_once('\t') {
                // The commit of an annotated tag follows the tag itself.
                let name = name.strip_suffix("^{}").unwrap_or(name);
                found.insert(name.to_owned(), object.to_owned());
            }
        }
        Ok(found)
    }

    /// Returns the entries of a commit, or those of one of its folders.
    fn list_entries(
        &self,
        commit: &str,
        folder: Option<&str>,
    ) -> Result<BTreeMap<String, TreeEntry>, GitFault> {
        let folder = folder.map(|folder| format!("{folder}/"));
        let mut arguments = vec!["ls-tree", "-r", "-z", "-l", "--full-tree", commit, "--"];
        arguments.extend(folder.as_deref());
        let listed = self.run(&arguments, "", MAX_LIST_BYTES)?;
        let mut entries = BTreeMap::new();
        for line in listed
            .split(|byte| *byte == 0)
            .filter(|line| !line.is_empty())
        {
            let line = std::str::from_utf8(line).map_err(|_| {
                self.refuse_entry(&String::from_utf8_lossy(line), "a name that is not UTF-8")
            })?;
            let (facts, path) = line.split_once('\t').unwrap_or((line, ""));
            let mut facts = facts.split_ascii_whitespace();
            let mode = facts.next().unwrap_or_default().to_owned();
            let object = facts.nth(1).unwrap_or_default().to_owned();
            // A submodule has no size.
            let bytes = facts.next().and_then(|size| size.parse().ok()).unwrap_or(0);
            let entry = TreeEntry {
                mode,
                object,
                bytes,
            };
            entries.insert(path.to_owned(), entry);
            if entries.len() > self.limits.files {
                let (limit, what) = (
                    format!("{} files", self.limits.files),
                    "its list of files".to_owned(),
                );
                return Err(self.refuse(GitRefusal::TooLarge { limit, what }));
            }
        }
        Ok(entries)
    }

    /// Runs git in the temporary repository, and returns its output.
    fn run(&self, arguments: &[&str], input: &str, most: usize) -> Result<Vec<u8>, GitFault> {
        let mut variables =
            inherited_variables(DEFAULT_VARIABLES.into_iter().chain(ACCESS_VARIABLES));
        let fixed = FIXED_VARIABLES
            .into_iter()
            .chain([("GIT_ALLOW_PROTOCOL", self.protocols)]);
        let fixed: BTreeMap<&str, &str> = fixed.collect();
        variables.retain(|(name, _)| !fixed.contains_key(name.as_str()));
        // The variable would override the user's setting.
        let has_ssh = self.has_ssh_program
            || variables
                .iter()
                .any(|(name, _)| name.starts_with("GIT_SSH"));
        variables.extend(
            fixed
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        if !has_ssh {
            variables.push((
                "GIT_SSH_COMMAND".to_owned(),
                "ssh -oBatchMode=yes".to_owned(),
            ));
        }
        let mut argv = vec!["git".to_owned(), "--git-dir=.".to_owned()];
        let settings = FIXED_SETTINGS.iter().flat_map(|setting| ["-c", *setting]);
        argv.extend(settings.chain(arguments.iter().copied()).map(str::to_owned));
        let measured = Cell::new(Instant::now());
        let is_too_large = || {
            if measured.get().elapsed() < MEASURE_INTERVAL {
                return false;
            }
            measured.set(Instant::now());
            folder_bytes(self.folder.path()) > self.limits.bytes
        };
        let bounds = ProcessLimits {
            is_done: Some(&is_too_large),
            ..ProcessLimits::new(self.limits.time, most)
        };
        let end = run_program(&argv, self.folder.path(), &variables, input, &bounds);
        let done = folder_bytes(self.folder.path()) <= self.limits.bytes;
        match end {
            ProcessEnd::Exited {
                code: 0, stdout, ..
            } if done => Ok(stdout),
            ProcessEnd::Exited { code: 0, .. }
            | ProcessEnd::Stopped
            | ProcessEnd::OutputTooLarge => Err(self.too_large("the download".to_owned())),
            ProcessEnd::TimedOut => {
                let (seconds, flag) = (self.limits.time.as_secs(), self.limits.time_flag);
                Err(self.refuse(GitRefusal::TimedOut { seconds, flag }))
            }
            ProcessEnd::Exited { stderr, .. } | ProcessEnd::Signal { stderr, .. } => {
                Err(self.explain(&stderr))
            }
            ProcessEnd::NotStarted(why) => Err(self.fail(format!("it cannot be started: {why}"))),
        }
    }

    /// Turns messages of git into a fault.
    fn explain(&self, stderr: &str) -> GitFault {
        if stderr.contains("unable to update url base from redirection")
            || stderr.contains("The requested URL returned error: 30")
        {
            return self.refuse(GitRefusal::Redirect);
        }
        let is_cause = |line: &&str| line.starts_with("fatal:") || line.starts_with("error:");
        let line = stderr.lines().find(is_cause).or(stderr.lines().last());
        let message = line.unwrap_or("nothing").replace(char::is_control, " ");
        self.fail(mask_addresses(&message).chars().take(300).collect())
    }

    fn refuse(&self, reason: GitRefusal) -> GitFault {
        GitFault {
            url: self.url.clone(),
            reason,
        }
    }

    fn fail(&self, message: String) -> GitFault {
        self.refuse(GitRefusal::Failed(message))
    }

    fn too_large(&self, what: String) -> GitFault {
        let limit = format_size(self.limits.bytes);
        self.refuse(GitRefusal::TooLarge { limit, what })
    }

    fn refuse_entry(&self, path: &str, kind: &'static str) -> GitFault {
        let path = path.replace(char::is_control, "�");
        self.refuse(GitRefusal::NotAFile { path, kind })
    }
}

/// Returns a message without the user names and tokens of its addresses: settings of git such as
/// `url.insteadOf` put some into an address that has none.
fn mask_addresses(message: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '\'' | '"');
    let words = message.split_inclusive(is_end);
    words.map(mask_credentials).collect()
}

/// The size of the files in a folder of git.
fn folder_bytes(folder: &Path) -> u64 {
    let files = list_files_below(folder, |_, _| false).into_iter();
    let bytes = |file: String| {
        RealFs
            .stamp(&folder.join(file))
            .map_or(0, |stamp| stamp.len)
    };
    files.map(bytes).sum()
}

#[cfg(all(test, unix))]
#[path = "../../tests/unit/package/git.rs"]
mod tests;
