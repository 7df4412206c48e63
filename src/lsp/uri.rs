//! Conversion between `file:` URIs and paths. Other URIs have no path.

use crate::base::percent::{decode, encode_path};
use gen_lsp_types::Uri;
use std::path::{Path, PathBuf};

/// Returns the path of a `file:` URI.
pub(super) fn to_path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.0.strip_prefix("file://")?;
    // A host may precede the path; only this machine is accepted.
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = path.split(['?', '#']).next()?;
    let decoded = decode(path)?;
    // `/c:/folder` is a drive's path.
    let drive = decoded
        .strip_prefix('/')
        .filter(|rest| rest.as_bytes().get(1) == Some(&b':') && cfg!(windows));
    let decoded = drive.unwrap_or(&decoded);
    Path::new(decoded)
        .is_absolute()
        .then(|| PathBuf::from(decoded))
}

/// Returns the URI of a path.
pub(super) fn from_path(path: &Path) -> Uri {
    let text = path.to_string_lossy();
    let text = if std::path::MAIN_SEPARATOR == '/' {
        text.into_owned()
    } else {
        text.replace(std::path::MAIN_SEPARATOR, "/")
    };
    let slash = if text.starts_with('/') { "" } else { "/" };
    let mut out = format!("file://{slash}");
    encode_path(&text, &mut out);
    Uri(out)
}

#[cfg(test)]
#[path = "../../tests/unit/lsp/uri.rs"]
mod tests;
