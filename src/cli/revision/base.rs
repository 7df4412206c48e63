//! The base of a change, as an object: a commit by its id, a branch of a remote, or a branch. Never
//! a tag by its short name, because anyone who may push can create one. An ambiguous name is an
//! error that lists both meanings.

use super::git::GitRepository;
use super::project_at_revision::CommitFiles;
use crate::cli::prelude::*;

/// The branches that are tried if no base is given, in this order. Full names, so that no tag can
/// replace them.
const DEFAULT_BASES: [&str; 5] = [
    "refs/remotes/origin/HEAD",
    "refs/heads/main",
    "refs/heads/master",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
];
/// The lengths of a commit id, in both object formats.
const ID_LENGTHS: [usize; 2] = [40, 64];
/// The number of digits of an id in messages.
const SHOWN_DIGITS: usize = 12;
/// The minimum length of a shortened id.
const MIN_ID_LENGTH: usize = 4;

/// The origin of a base's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BaseNaming {
    /// Not named: a guess.
    Guess,
    /// The name of a branch, `HEAD`, or another name.
    Name,
    /// The id of a commit.
    Id,
}

/// The base of a change.
#[derive(Clone, Debug)]
pub(crate) struct ChangeBase {
    /// The base as named, or the guessed branch; of a full id, the first digits.
    pub(crate) name: String,
    pub(crate) by: BaseNaming,
    /// The commit where the change began; `None` if this clone has no commit that both sides share.
    pub(crate) commit: Option<String>,
    /// True if the change began at several commits, because branches were merged both ways.
    pub(crate) is_crossed: bool,
    /// The commit of the base.
    pub(crate) tip: String,
    /// The checked-out commit.
    pub(crate) head: String,
    /// True if older commits may be missing from this clone.
    pub(crate) is_shallow: bool,
    /// The work tree of which this repository is a submodule.
    pub(crate) outer: Option<String>,
    pub(super) git: GitRepository,
}

/// The commit of a name.
struct NamedCommit {
    by: BaseNaming,
    commit: String,
}

impl ChangeBase {
    /// Returns the base of the work in a folder. An id of zeros, which a forge passes for a new
    /// branch, counts as not given.
    pub(crate) fn find(folder: &Path, name: Option<&str>) -> Result<Self> {
        let given = name.filter(|name| !is_zeros(name));
        let git = GitRepository::open_around(folder, given.unwrap_or(""))?;
        let (name, NamedCommit { by, commit: tip }) = match given {
            Some(name) => (display_name(name), resolve_base(&git, name)?),
            None => guess_base(&git)?,
        };
        let head = git.resolve_commit("HEAD")?;
        let mut common = git.merge_bases(&tip, &head)?.into_iter();
        let commit = common.next();
        let is_crossed = common.next().is_some();
        let facts = git.query_lines(&[
            "rev-parse",
            "--is-shallow-repository",
            "--show-superproject-working-tree",
        ])?;
        let mut facts = facts.into_iter();
        let is_shallow = facts.next().is_some_and(|line| line == "true");
        Ok(Self {
            name,
            by,
            commit,
            is_crossed,
            tip,
            head,
            is_shallow,
            outer: facts.next(),
            git,
        })
    }
}

impl ChangeBase {
    /// Returns the files of a commit of the same repository, by its id.
    pub(crate) fn files_of_commit(&self, id: &str) -> Result<CommitFiles> {
        CommitFiles::new(self.git.clone(), id.to_owned())
    }
}

/// Returns a name for messages: of a full id, its first digits.
fn display_name(name: &str) -> String {
    let is_id =
        ID_LENGTHS.contains(&name.len()) && name.bytes().all(|digit| digit.is_ascii_hexdigit());
    name.get(..SHOWN_DIGITS)
        .filter(|_| is_id)
        .unwrap_or(name)
        .to_owned()
}

fn is_zeros(name: &str) -> bool {
    ID_LENGTHS.contains(&name.len()) && name.bytes().all(|digit| digit == b'0')
}

fn guess_base(git: &GitRepository) -> Result<(String, NamedCommit)> {
    let existing = existing_references(git, &DEFAULT_BASES)?;
    let Some((full, id)) = DEFAULT_BASES
        .iter()
        .find_map(|guess| existing.iter().find(|(name, _)| name == guess))
    else {
        let short: Vec<&str> = DEFAULT_BASES
            .iter()
            .map(|name| {
                name.trim_start_matches("refs/remotes/")
                    .trim_start_matches("refs/heads/")
            })
            .collect();
        return Err(CliError::usage(format!("none of {} is a branch here", short.join(", ")))
            .with_hint("name with `--base` the branch that the change is to go into; where nothing is committed yet, commit first"));
    };
    // `origin/HEAD` is another name of a branch.
    let called = git.query_line(&["rev-parse", "--abbrev-ref", full])?;
    let commit = git.resolve_commit(id)?;
    Ok((
        called.unwrap_or_else(|| full.clone()),
        NamedCommit {
            by: BaseNaming::Guess,
            commit,
        },
    ))
}

/// Returns the requested references that exist, by full name, with their objects.
fn existing_references(
    git: &GitRepository,
    wanted: &[impl AsRef<str>],
) -> Result<Vec<(String, String)>> {
    let mut args = vec!["for-each-ref", "--format=%(refname) %(objectname)"];
    args.extend(wanted.iter().map(AsRef::as_ref));
    let lines = git.query_lines(&args)?;
    let pairs = lines.iter().filter_map(|line| line.split_once(' '));
    // A pattern also matches references below it.
    let exact = pairs.filter(|(name, _)| wanted.iter().any(|one| one.as_ref() == *name));
    Ok(exact
        .map(|(name, id)| (name.to_owned(), id.to_owned()))
        .collect())
}

/// Returns the commit of a base's name.
fn resolve_base(git: &GitRepository, name: &str) -> Result<NamedCommit> {
    GitRepository::check_revision(name)?;
    let steps = [name.find(['^', '~', ':']), name.find("@{")]
        .into_iter()
        .flatten()
        .min()
        .unwrap_or(name.len());
    let (own, steps) = name.split_at(steps);
    let by = |by: BaseNaming, commit: String| Ok(NamedCommit { by, commit });
    if own.is_empty() && steps.starts_with(':') {
        return Err(CliError::usage(format!("`{name}` is no fixed commit"))
            .with_hint("name a branch, or the id of a commit"));
    }
    if own.is_empty() || own == "@" || own == "HEAD" {
        return by(BaseNaming::Name, resolve_commit(git, name, name)?);
    }
    let is_id = own.len() >= MIN_ID_LENGTH && own.bytes().all(|digit| digit.is_ascii_hexdigit());
    if is_id && ID_LENGTHS.contains(&own.len()) {
        return by(BaseNaming::Id, resolve_commit(git, name, name)?);
    }
    let Some((_, id)) = find_reference(git, own, is_id)? else {
        // A shortened id, or a special reference such as `FETCH_HEAD`.
        let is_beside = own.ends_with("_HEAD")
            && own
                .bytes()
                .all(|letter| letter == b'_' || letter.is_ascii_uppercase());
        return match (is_id, is_beside) {
            (true, _) => by(BaseNaming::Id, resolve_commit(git, name, name)?),
            (false, true) => by(BaseNaming::Name, resolve_commit(git, name, name)?),
            (false, false) => Err(unknown_base(
                git,
                if steps.starts_with("://") { name } else { own },
            )?),
        };
    };
    // The reflog or upstream of a branch is only found by its name.
    let exact = if steps.starts_with("@{") {
        name.to_owned()
    } else {
        format!("{id}{steps}")
    };
    by(BaseNaming::Name, resolve_commit(git, &exact, name)?)
}

/// Returns the commit of a revision; an error contains the name as given.
fn resolve_commit(git: &GitRepository, exact: &str, name: &str) -> Result<String> {
    match git.resolve_commit(exact) {
        Err(error) if error.kind == CliErrorKind::Usage => Err(unknown_base(git, name)?),
        commit => commit,
    }
}

/// Creates the error for a base that is no commit here. Does not suggest tags.
fn unknown_base(git: &GitRepository, name: &str) -> Result<CliError> {
    let mut error = git.unknown_revision(name)?;
    for hint in &mut error.hints {
        *hint = hint.replace("a branch, a tag, a commit", "a branch, a commit");
    }
    Ok(error)
}

/// Returns the only reference with a name, and its object; `None` if there is none.
fn find_reference(git: &GitRepository, own: &str, is_id: bool) -> Result<Option<(String, String)>> {
    let places: Vec<String> = if own.starts_with("refs/") {
        vec![own.to_owned()]
    } else {
        ["refs/remotes/", "refs/heads/", "refs/tags/", "refs/"]
            .map(|place| format!("{place}{own}"))
            .into_iter()
            .collect()
    };
    let mut found = existing_references(git, &places)?;
    found.sort_by_key(|(full, _)| places.iter().position(|place| place == full));
    if found.is_empty() && !own.starts_with("refs/") {
        found = existing_references(git, &[format!("refs/remotes/{own}/HEAD")])?;
    }
    let tag = format!("refs/tags/{own}");
    let Some((first, id)) = found.first().cloned() else {
        return Ok(None);
    };
    let spelled = |full: &str| {
        format!(
            "spell out the one that is meant, such as `--base {full}`, or name its commit by its id"
        )
    };
    if first == tag && found.len() == 1 {
        let error = format!(
            "`{own}` is a tag, and the base of a change is a branch or a commit: anybody who may push can create a tag"
        );
        return Err(CliError::usage(error).with_hint(spelled(&tag)));
    }
    let ambiguous = |other: &str, meant: &str| {
        CliError::usage(format!("`{own}` has two meanings: {first} and {other}"))
            .with_hint(spelled(meant))
    };
    let commit = git.resolve_commit(&id)?;
    for (other, id) in found.iter().skip(1) {
        let at = git.resolve_commit(id)?;
        if *other == tag || first == tag {
            return Err(ambiguous(other, if first == tag { other } else { &first })
                .with_hint("a tag of the name of a branch may have been created to take its place: delete it"));
        }
        if at != commit {
            return Err(ambiguous(
                &format!("{other}, at {commit:.12} and {at:.12}"),
                &first,
            ));
        }
    }
    // A shortened id may also be the name of a branch.
    let objects = if is_id {
        git.query_lines(&["rev-parse", &format!("--disambiguate={own}")])?
    } else {
        Vec::new()
    };
    match objects
        .iter()
        .find(|object| **object != commit && **object != id)
    {
        Some(object) => Err(ambiguous(&format!("the object {object}"), &first)),
        None => Ok(Some((first, id))),
    }
}
