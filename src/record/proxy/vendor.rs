//! The vendors as plain data: the variables that their libraries read, and their addresses.

use crate::request::dialect::Dialect;

/// A vendor.
#[derive(Debug)]
pub struct ProxyVendor {
    /// Its name, which is also its segment in the proxy's path.
    pub name: &'static str,
    /// The variables that libraries read its address from, in order of precedence, with the suffix
    /// of the address in each.
    pub variables: &'static [(&'static str, &'static str)],
    /// Its own address.
    pub base_url: &'static str,
    /// The version prefix of its paths.
    pub version: &'static str,
    /// True if its base URL already contains the version.
    pub has_version: bool,
}

/// All vendors.
pub static VENDORS: [ProxyVendor; 4] = [
    ProxyVendor {
        name: "openai",
        variables: &[("OPENAI_BASE_URL", "/v1"), ("OPENAI_API_BASE", "/v1")],
        base_url: "https://api.openai.com/v1",
        version: "/v1",
        has_version: true,
    },
    ProxyVendor {
        name: "anthropic",
        variables: &[
            ("ANTHROPIC_BASE_URL", ""),
            ("ANTHROPIC_API_URL", ""),
            ("ANTHROPIC_API_BASE", ""),
        ],
        base_url: "https://api.anthropic.com",
        version: "/v1",
        has_version: false,
    },
    ProxyVendor {
        name: "gemini",
        variables: &[("GOOGLE_GEMINI_BASE_URL", ""), ("GEMINI_API_BASE", "")],
        base_url: "https://generativelanguage.googleapis.com",
        version: "/v1beta",
        has_version: false,
    },
    ProxyVendor {
        name: "ollama",
        variables: &[
            ("OLLAMA_HOST", ""),
            ("OLLAMA_API_BASE", ""),
            ("OLLAMA_BASE_URL", ""),
        ],
        base_url: "http://127.0.0.1:11434",
        version: "",
        has_version: false,
    },
];

/// Returns the vendor with a name.
pub fn find_vendor(name: &str) -> Option<&'static ProxyVendor> {
    VENDORS.iter().find(|vendor| vendor.name == name)
}

impl ProxyVendor {
    /// Returns a path as it is recorded: without the version for `OpenAI`, with it for the others.
    pub fn recorded_path(&self, path: &str) -> String {
        let rest = path
            .strip_prefix(self.version)
            .filter(|rest| rest.starts_with('/') && !self.version.is_empty());
        match (self.has_version, rest) {
            (true, Some(rest)) => rest.to_owned(),
            (true, None) | (false, Some(_)) => path.to_owned(),
            (false, None) if path.starts_with("/v1/") || path.starts_with("/v1alpha/") => {
                path.to_owned()
            }
            // Some clients leave out the version.
            (false, None) => format!("{}{path}", self.version),
        }
    }

    /// Returns the URL of a call recorded with an endpoint.
    pub fn call_url(&self, base: &str, endpoint: &str) -> String {
        let base = base.trim_end_matches('/');
        let is_versioned = !self.has_version
            && !self.version.is_empty()
            && endpoint.starts_with(&format!("{}/", self.version));
        let base = if is_versioned {
            base.strip_suffix(self.version).unwrap_or(base)
        } else {
            base
        };
        format!("{base}{endpoint}")
    }

    /// Normalises a user-written address: `OLLAMA_HOST` may be a host alone.
    ///
    /// # Errors
    /// The address is invalid.
    pub fn parse_base_url(&self, written: &str) -> Result<String, String> {
        let written = written.trim().trim_end_matches('/');
        let full = if written.contains("://") {
            written.to_owned()
        } else {
            format!("http://{written}")
        };
        let full = full.replacen("://0.0.0.0", "://127.0.0.1", 1);
        let (scheme, rest) = full.split_once("://").unwrap_or_default();
        let host = rest.split('/').next().unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '?' | '#' | '"' | '<' | '>');
        if !matches!(scheme, "http" | "https")
            || host.is_empty()
            || host.starts_with(':')
            || host.ends_with(':')
            || !rest.chars().all(is_plain)
        {
            return Err(format!(
                "`{written}` is not a valid address: expected one such as {}",
                self.base_url
            ));
        }
        let is_bare = self.name == "ollama" && !written.contains("://") && !host.contains(':');
        Ok(if is_bare {
            full.replacen(host, &format!("{host}:11434"), 1)
        } else {
            full
        })
    }
}

/// Returns the dialect of an endpoint; `None` for calls of another kind, which are recorded and
/// answered all the same.
pub fn endpoint_dialect(endpoint: &str) -> Option<&'static str> {
    Dialect::of_path(endpoint).map(Dialect::word)
}
