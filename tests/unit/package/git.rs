//! Hostile repositories and servers, and sound ones.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "hostile repositories are made by hand"
)]

use super::*;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

/// A repository on this machine, with a folder for what its programs would write.
struct Repository(TempDir);

impl Repository {
    fn new() -> Self {
        let own = Self(fs::temp_folder().unwrap());
        own.git(&["init", "-q", "-b", "main"]);
        own
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.0.path().join(path)
    }

    fn url(&self) -> String {
        format!("file://{}", self.0.path().display())
    }

    fn git(&self, arguments: &[&str]) -> String {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
            .args(arguments)
            .current_dir(self.0.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> &Self {
        std::fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        std::fs::write(self.path(path), bytes).unwrap();
        self
    }

    fn release(&self, tag: &str) -> String {
        self.git(&["add", "-A", "--", ".", ":!marker"]);
        self.git(&["commit", "-qm", tag, "--allow-empty"]);
        self.git(&["tag", tag]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn fetch(&self, tag: &str) -> Result<FetchedTree, GitFault> {
        fetch_revision(&self.url(), tag, &GitLimits::default())
    }
}

fn refusal<T: std::fmt::Debug>(result: Result<T, GitFault>, repository: &Repository) -> String {
    result
        .unwrap_err()
        .to_string()
        .replace(&repository.url(), "URL")
}

#[test]
fn tags_and_branches_are_read_as_they_are_stored() {
    let own = Repository::new();
    own.write("ctxc.toml", "a\r\n")
        .write("templates/a.xml", "<a/>");
    let first = own.release("v1.0.0");
    own.write("ctxc.toml", "b").git(&["commit", "-qam", "b"]);
    own.git(&["tag", "-a", "-m", "release", "rules/v1.1.0"]);
    let second = own.git(&["rev-parse", "HEAD"]);

    let tree = own.fetch("v1.0.0").unwrap();
    assert_eq!(tree.commit, first);
    assert_eq!(
        tree.paths().collect::<Vec<_>>(),
        ["ctxc.toml", "templates/a.xml"]
    );
    let files = tree
        .read_files(&["templates/a.xml", "ctxc.toml", "none"])
        .unwrap();
    let bytes: Vec<&[u8]> = files.iter().map(|file| file.bytes.as_slice()).collect();
    assert_eq!(bytes, [b"<a/>".as_slice(), b"a\r\n"]);
    assert_eq!(own.fetch("rules/v1.1.0").unwrap().commit, second);
    assert_eq!(own.fetch("main").unwrap().commit, second);
    let tags = list_tags(&own.url(), &GitLimits::default()).unwrap();
    let tags: Vec<_> = tags
        .iter()
        .map(|(name, commit)| (&**name, &**commit))
        .collect();
    assert_eq!(tags, [("rules/v1.1.0", &*second), ("v1.0.0", &*first)]);
    for name in ["v9", "--upload-pack=id"] {
        assert_eq!(
            refusal(own.fetch(name), &own),
            format!(
                "URL: it has no tag or branch `{name}`; its newest releases are rules/v1.1.0, v1.0.0"
            )
        );
    }
    assert!(own.fetch("v1.0.0").unwrap().is_tag && !own.fetch("main").unwrap().is_tag);
}

#[test]
fn nothing_of_a_repository_is_run() {
    let own = Repository::new();
    let program = format!("#!/bin/sh\ntouch {}\ncat\n", own.path("marker").display());
    own.write(
        ".gitattributes",
        "* filter=evil diff=evil text eol=crlf ident\n",
    );
    own.write("ctxc.toml", "$Id$\n");
    own.release("v1");
    own.write(".git/program", &program);
    let hook = own.path(".git/program");
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for name in [
        "post-checkout",
        "post-merge",
        "pre-receive",
        "post-index-change",
        "reference-transaction",
    ] {
        std::fs::copy(&hook, own.path(".git/hooks").join(name)).unwrap();
    }
    let program = hook.to_str().unwrap();
    for key in [
        "uploadpack.packObjectsHook",
        "filter.evil.smudge",
        "filter.evil.clean",
        "filter.evil.process",
        "diff.evil.textconv",
        "core.fsmonitor",
        "core.alternateRefsCommand",
        "core.sshCommand",
        "core.gitProxy",
        "credential.helper",
    ] {
        own.git(&["config", key, program]);
    }
    let tree = own.fetch("v1").unwrap();
    let files = tree.read_files(&["ctxc.toml"]).unwrap();
    assert_eq!(files[0].bytes, b"$Id$\n");
    assert!(!own.path("marker").exists());
    assert!(!tree.call.folder.path().join("hooks").exists());
}

#[test]
fn what_is_no_plain_file_is_refused() {
    let own = Repository::new();
    own.write("ctxc.toml", "").write(
        "big.bin",
        "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n",
    );
    std::os::unix::fs::symlink("/etc/passwd", own.path("link.xml")).unwrap();
    let first = own.release("v0");
    own.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("160000,{first},sub"),
    ]);
    own.git(&["commit", "-qm", "sub"]);
    own.git(&["tag", "v1"]);
    let tree = own.fetch("v1").unwrap();
    // What a package does not contain does no harm.
    assert_eq!(tree.read_files(&["ctxc.toml"]).unwrap().len(), 1);
    for (path, kind) in [
        ("link.xml", "a link"),
        ("sub", "a submodule"),
        ("big.bin", "a pointer of Git LFS"),
    ] {
        assert_eq!(
            refusal(tree.read_files(&["ctxc.toml", path]), &own),
            format!("URL: {path} is {kind}; a package consists of plain files")
        );
    }
}

#[test]
fn paths_that_leave_a_folder_are_refused() {
    let own = Repository::new();
    own.write("a", "a");
    own.release("v0");
    let blob = own.git(&["rev-parse", "HEAD:a"]);
    for (tag, name) in [("up", ".."), ("own", ".git"), ("windows", "a\\..\\b")] {
        own.write("list", format!("100644 blob {blob}\t{name}\n"));
        let list = std::fs::File::open(own.path("list")).unwrap();
        let made = Command::new("git")
            .arg("mktree")
            .current_dir(own.0.path())
            .stdin(list)
            .output()
            .unwrap();
        let tree = String::from_utf8(made.stdout).unwrap();
        let commit = own.git(&["commit-tree", "-m", tag, tree.trim()]);
        own.git(&["tag", tag, &commit]);
        let refused = own.fetch(tag).and_then(|tree| tree.read_files(&[name]));
        let message = refusal(refused, &own);
        assert!(
            message.contains("git reports: ") || message.contains("is no path inside a folder"),
            "{message}"
        );
    }
}

#[test]
fn what_is_too_large_is_refused() {
    let own = Repository::new();
    // Bytes that no compression makes smaller, and bytes that it makes a thousandth of.
    let mut state = 1_u64;
    let mut noise = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as u8
    };
    own.write("noise", (0..3 << 20).map(|_| noise()).collect::<Vec<u8>>());
    own.release("noise");
    own.git(&["rm", "-q", "noise"]);
    own.write("zeros", vec![0; 32 << 20]);
    own.release("zeros");
    own.git(&["rm", "-q", "zeros"]);
    for number in 0..30 {
        own.write(&format!("{number}"), "");
    }
    own.write("sub/a/1", "").write("sub/b", "");
    own.release("many");
    let limits = GitLimits {
        bytes: 1 << 20,
        files: 20,
        ..GitLimits::default()
    };
    let fetch = |tag: &str| fetch_revision(&own.url(), tag, &limits);
    assert_eq!(
        refusal(fetch("noise"), &own),
        "URL: more than 1 MiB, the limit: the download"
    );
    assert_eq!(
        refusal(
            fetch("zeros").and_then(|tree| tree.read_files(&["zeros"])),
            &own
        ),
        "URL: more than 1 MiB, the limit: its files up to zeros"
    );
    assert_eq!(
        refusal(fetch("many"), &own),
        "URL: more than 20 files, the limit: its list of files"
    );
    // Of one folder, only its own files count.
    let tree = fetch_folder(&own.url(), "many", "sub/a", &limits).unwrap();
    assert_eq!(tree.paths().collect::<Vec<_>>(), ["sub/a/1"]);
}

/// A server that answers each connection with some bytes, or never. Returns its address and the
/// bytes of all requests.
fn server(answer: Option<String>) -> (String, std::sync::Arc<std::sync::Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let requests = std::sync::Arc::<std::sync::Mutex<String>>::default();
    let seen = requests.clone();
    std::thread::spawn(move || {
        let mut open: Vec<TcpStream> = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut bytes = [0; 4096];
            let len = stream.read(&mut bytes).unwrap_or(0);
            seen.lock()
                .unwrap()
                .push_str(&String::from_utf8_lossy(&bytes[..len]));
            match &answer {
                Some(answer) => drop(stream.write_all(answer.as_bytes())),
                None => open.push(stream),
            }
        }
    });
    (address, requests)
}

fn fetch_over_http(url: &str, seconds: u64) -> GitFault {
    let limits = GitLimits {
        time: Duration::from_secs(seconds),
        ..GitLimits::default()
    };
    let call = GitCall::new(url, &limits, "http").unwrap();
    call.fetch("v1", None).unwrap_err()
}

#[test]
fn a_server_that_hangs_is_left() {
    let begun = Instant::now();
    let (address, requests) = server(None);
    let fault = fetch_over_http(&format!("http://{address}/a.git"), 1);
    // No flag sets this limit.
    assert!(
        fault.to_string().ends_with(": no answer within 1 s"),
        "{fault}"
    );
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert!(requests.lock().unwrap().contains("/a.git"));
}

#[test]
fn a_redirect_is_not_followed_and_takes_no_password_along() {
    let (thief, stolen) = server(None);
    let answer = format!(
        "HTTP/1.1 302 Found\r\nLocation: http://{thief}/a.git/info/refs?service=git-upload-pack\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    let (address, requests) = server(Some(answer));
    let fault = fetch_over_http(&format!("http://me:hunter2@{address}/a.git"), 5);
    assert!(matches!(fault.reason, GitRefusal::Redirect), "{fault}");
    assert!(requests.lock().unwrap().contains("/a.git"));
    assert_eq!(*stolen.lock().unwrap(), "");
}

#[test]
fn a_protocol_without_encryption_is_not_used() {
    let (address, requests) = server(None);
    let fault = fetch_revision(
        &format!("http://{address}/a.git"),
        "v1",
        &GitLimits::default(),
    );
    assert!(
        fault
            .unwrap_err()
            .to_string()
            .contains("transport 'http' not allowed")
    );
    let fault = fetch_revision("ext::sh -c id", "v1", &GitLimits::default());
    assert!(
        fault
            .unwrap_err()
            .to_string()
            .contains("transport 'ext' not allowed")
    );
    assert_eq!(*requests.lock().unwrap(), "");
}

#[test]
fn a_token_from_settings_of_git_is_not_printed() {
    assert_eq!(
        mask_addresses(
            "fatal: could not read Password for 'http://ghp_SECRET@127.0.0.1:18999': terminal prompts disabled"
        ),
        "fatal: could not read Password for 'http://…@127.0.0.1:18999': terminal prompts disabled"
    );
    let plain = "fatal: repository 'https://example.org/a.git/' not found";
    assert_eq!(mask_addresses(plain), plain);
}
