//! Who calls go to: plain data. The variables that the vendors' libraries read, and the addresses behind them.

use crate::request::dialect::Dialect;

/// A vendor.
#[derive(Debug)]
pub struct Vendor {
    /// Its name, and the part of the proxy's path that stands for it.
    pub name: &'static str,
    /// The variables that libraries read its address from, the first that is set before the others, and what stands behind the address in each.
    pub variables: &'static [(&'static str, &'static str)],
    /// Its own address.
    pub base_url: &'static str,
    /// The version that its paths begin with.
    pub version: &'static str,
    /// Whether an address of it has the version already.
    pub has_version: bool,
}

/// Every vendor.
pub static VENDORS: [Vendor; 4] = [
    Vendor {
        name: "openai",
        variables: &[("OPENAI_BASE_URL", "/v1"), ("OPENAI_API_BASE", "/v1")],
        base_url: "https://api.openai.com/v1",
        version: "/v1",
        has_version: true,
    },
    Vendor {
        name: "anthropic",
        variables: &[("ANTHROPIC_BASE_URL", ""), ("ANTHROPIC_API_URL", ""), ("ANTHROPIC_API_BASE", "")],
        base_url: "https://api.anthropic.com",
        version: "/v1",
        has_version: false,
    },
    Vendor {
        name: "gemini",
        variables: &[("GOOGLE_GEMINI_BASE_URL", ""), ("GEMINI_API_BASE", "")],
        base_url: "https://generativelanguage.googleapis.com",
        version: "/v1beta",
        has_version: false,
    },
    Vendor {
        name: "ollama",
        variables: &[("OLLAMA_HOST", ""), ("OLLAMA_API_BASE", ""), ("OLLAMA_BASE_URL", "")],
        base_url: "http://127.0.0.1:11434",
        version: "",
        has_version: false,
    },
];

/// The vendor of a name.
pub fn vendor(name: &str) -> Option<&'static Vendor> {
    VENDORS.iter().find(|vendor| vendor.name == name)
}

impl Vendor {
    /// A path as its dialect has it, and as it is recorded: OpenAI's stands behind the version, the others' begin with it.
    pub fn endpoint(&self, path: &str) -> String {
        let rest = path.strip_prefix(self.version).filter(|rest| rest.starts_with('/') && !self.version.is_empty());
        match (self.has_version, rest) {
            (true, Some(rest)) => rest.to_owned(),
            (true, None) | (false, Some(_)) => path.to_owned(),
            (false, None) if path.starts_with("/v1/") || path.starts_with("/v1alpha/") => path.to_owned(),
            // Some clients leave the version out.
            (false, None) => format!("{}{path}", self.version),
        }
    }

    /// Where a call goes that is recorded with an endpoint.
    pub fn address(&self, base: &str, endpoint: &str) -> String {
        let base = base.trim_end_matches('/');
        let is_versioned = !self.has_version && !self.version.is_empty() && endpoint.starts_with(&format!("{}/", self.version));
        let base = if is_versioned { base.strip_suffix(self.version).unwrap_or(base) } else { base };
        format!("{base}{endpoint}")
    }

    /// An address as people write it: `OLLAMA_HOST` may be a host alone.
    ///
    /// # Errors
    /// It is none.
    pub fn base(&self, written: &str) -> Result<String, String> {
        let written = written.trim().trim_end_matches('/');
        let full = if written.contains("://") { written.to_owned() } else { format!("http://{written}") };
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
            return Err(format!("`{written}` is no address: expected one such as {}", self.base_url));
        }
        let is_bare = self.name == "ollama" && !written.contains("://") && !host.contains(':');
        Ok(if is_bare { full.replacen(host, &format!("{host}:11434"), 1) } else { full })
    }
}

/// The dialect that is spoken at an endpoint; `None` for calls of another kind, which are recorded and answered all the same.
pub fn dialect(endpoint: &str) -> Option<&'static str> {
    Dialect::of_path(endpoint).map(Dialect::word)
}

#[cfg(test)]
mod tests {
    use super::{VENDORS, dialect, vendor};
    use pretty_assertions::assert_eq;

    #[test]
    fn a_path_leads_to_the_same_address_whatever_the_client_leaves_out() {
        let to = |name: &str, base: Option<&str>, path: &str| {
            let vendor = vendor(name).unwrap();
            let endpoint = vendor.endpoint(path);
            (endpoint.clone(), vendor.address(&vendor.base(base.unwrap_or(vendor.base_url)).unwrap(), &endpoint))
        };
        let both = |endpoint: &str, address: &str| (endpoint.to_owned(), address.to_owned());
        assert_eq!(
            to("openai", None, "/v1/chat/completions"),
            both("/chat/completions", "https://api.openai.com/v1/chat/completions")
        );
        assert_eq!(to("openai", Some("http://h:1/x/"), "/v1/responses"), both("/responses", "http://h:1/x/responses"));
        for path in ["/v1/messages", "/messages"] {
            let expected = both("/v1/messages", "https://api.anthropic.com/v1/messages");
            assert_eq!(to("anthropic", None, path), expected);
            assert_eq!(to("anthropic", Some("https://api.anthropic.com/v1"), path), expected);
        }
        let path = "/v1beta/models/g:streamGenerateContent?alt=sse";
        assert_eq!(to("gemini", None, path), both(path, &format!("https://generativelanguage.googleapis.com{path}")));
        assert_eq!(dialect(path), Some("gemini"));
        assert_eq!(to("ollama", Some("0.0.0.0"), "/api/chat"), both("/api/chat", "http://127.0.0.1:11434/api/chat"));
        assert_eq!(dialect("/embeddings"), None);
        assert_eq!(dialect("/v1/threads/t_1/messages"), None);
        for wrong in ["", "ftp://a", "http://", "http://a b", ":80"] {
            VENDORS[0].base(wrong).unwrap_err();
        }
    }
}
