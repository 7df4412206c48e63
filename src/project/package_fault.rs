//! The reasons why a package cannot be used.

/// The message for a file that was changed after it was locked.
pub(super) const CHANGED: &str = "it differs from ctxc.lock";

/// The reason why a package, or something of it, cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackageFault {
    /// The lock file cannot be read.
    #[error("ctxc.lock cannot be read: {0}")]
    BadLock(String),
    /// The lock file does not have it.
    #[error("ctxc.lock does not have it")]
    NotLocked,
    /// The lock file has it from another source.
    #[error("ctxc.lock has it from {0}")]
    OtherSource(String),
    /// It is the project that requires it.
    #[error("it is this package itself")]
    Itself,
    /// No folder has its files.
    #[error("it is not installed")]
    NotInstalled,
    /// Its folder has no project file.
    #[error("the folder {0} has no ctxc.toml")]
    NoFolder(String),
    /// Its project file is not that of this package.
    #[error("{path} {reason}")]
    NotPackage {
        /// The path of its project file.
        path: String,
        /// The reason, after the path.
        reason: String,
    },
    /// It has errors.
    #[error("it has {count}, first: {first}")]
    Errors {
        /// Their number, in words.
        count: String,
        /// The place and the message of the first.
        first: String,
    },
    /// No dependency has this name.
    #[error("it is not among the [dependencies]")]
    Unknown,
    /// It does not export this.
    #[error("it does not export `{export}`; {exports}")]
    NotExported {
        /// The export, such as `roles/planner`.
        export: String,
        /// A list of its exports of this kind.
        exports: String,
    },
    /// Its texts come from outside.
    #[error("its texts come from outside, and a role's text is trusted")]
    Outside,
}

impl PackageFault {
    /// Returns the way out.
    pub fn help(&self) -> &'static str {
        match self {
            Self::BadLock(_) => {
                "take ctxc.lock from the repository again; without it, `ctxc package update` locks each tag as it is now"
            }
            Self::Itself => {
                "take it out of `[dependencies]`: its own definitions need no package name"
            }
            Self::NotLocked | Self::OtherSource(_) => "run `ctxc package update`",
            Self::NotInstalled => {
                "run `ctxc package update`; `ctxc package vendor` keeps packages in the project"
            }
            Self::NoFolder(_) => "name the folder of the package in `[dependencies]`",
            Self::NotPackage { reason: found, .. } | Self::Errors { first: found, .. }
                if found.ends_with(CHANGED) =>
            {
                "`ctxc package update` restores it"
            }
            Self::NotPackage { .. } => "name the folder or tag of the package itself",
            Self::Errors { .. } => {
                "run `ctxc check` in the package; `ctxc package update` restores changed files"
            }
            Self::Unknown => "`ctxc package add SOURCE` adds it",
            Self::NotExported { .. } => "everything else is private to the package",
            Self::Outside => "set `trust = \"author\"` on the dependency, or write the role here",
        }
    }
}
