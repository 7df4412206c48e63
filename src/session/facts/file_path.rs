//! Paths of files in tool calls, relative to the folder of the session.

/// Returns a path as named in a folder.
pub fn path_in(folder: &str, path: &str) -> String {
    if folder.is_empty() || path.starts_with(['/', '~', '\\']) || path.get(1..2) == Some(":") {
        path.to_owned()
    } else {
        format!("{}/{path}", folder.trim_end_matches('/'))
    }
}

/// Returns a path without `.` and `..` between its parts.
fn plain_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match (part, parts.last()) {
            (".", _) => {}
            ("..", Some(last)) if !matches!(*last, "" | "..") => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns a path relative to a folder, with `/` between its parts; `None` for a path that is no
/// file of the work: a temporary file, a file of git or of the agent's program, a pattern. The folder of a
/// user is `~`.
pub fn relative_path(path: &str, folder: &str) -> Option<String> {
    let path = plain_path(&path.trim().replace('\\', "/"));
    let folder = folder.replace('\\', "/");
    let inside = path
        .strip_prefix(folder.trim_end_matches('/'))
        .filter(|_| !folder.is_empty())
        .and_then(|rest| rest.strip_prefix('/'));
    let own = inside.unwrap_or(&path);
    // The folder of a user is named after a person.
    let parts: Vec<&str> = own.splitn(4, '/').collect();
    let home = match parts.as_slice() {
        ["" | "C:", "home" | "Users", _, rest] => Some(format!("~/{rest}")),
        _ => None,
    };
    let own = home.as_deref().unwrap_or(own);
    let root = own
        .strip_prefix('/')
        .and_then(|rest| rest.split('/').next());
    let is_foreign = matches!(root, Some("tmp" | "private" | "var" | "dev" | "proc"))
        || own.starts_with(".git/")
        || own.contains("/.git/")
        || own.contains("/.claude/")
        || own.contains("/.codex/");
    let is_path = !own.is_empty()
        && own.len() <= 300
        && !own.contains([
            '*', '?', '{', '}', '$', '`', '\n', '|', '<', '>', '"', '\'', '=',
        ])
        && !own.contains("://")
        && !own.ends_with('/');
    (is_path && !is_foreign).then(|| own.to_owned())
}

/// Returns true if a word of a command looks like the path of a file: its last part has an
/// extension.
pub fn is_path_like(word: &str) -> bool {
    let name = base_name(word);
    // `main...HEAD` and `HEAD:a.rs` are revisions.
    !word.starts_with('-')
        && !word.contains(char::is_whitespace)
        && !name.contains("..")
        && !word.get(2..).is_some_and(|rest| rest.contains(':'))
        && name.rsplit_once('.').is_some_and(|(stem, extension)| {
            !stem.is_empty()
                && (1..=8).contains(&extension.len())
                && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && extension.bytes().any(|byte| byte.is_ascii_alphabetic())
        })
        && (word.contains('/') || has_known_extension(name))
}

/// Returns true for a file name whose extension is common in repositories.
fn has_known_extension(name: &str) -> bool {
    const KNOWN: &str = " rs py js ts tsx jsx mjs cjs go ex exs erl rb java kt swift c h cc cpp hpp cs php sh sql md txt json yaml yml toml \
        lock xml html css scss vue svelte lua zig hs ml scala proto tf ini cfg conf env csv ipynb heex eex leex dart r jl ";
    name.rsplit_once('.').is_some_and(|(_, extension)| {
        KNOWN.contains(&format!(" {} ", extension.to_ascii_lowercase()))
    })
}

/// Returns the last part of a path.
pub fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
