//! A program that makes calls, and the `ctxc proxy` process that it makes them through.

use crate::cli::project::{ProgramRun, Project};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};

/// The response to a request.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) head: String,
    /// The body without chunk framing.
    pub(crate) body: Vec<u8>,
    /// True if the body ended before its declared end.
    pub(crate) is_cut: bool,
}

impl HttpAnswer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }
}

/// Sends a request to an address such as `http://127.0.0.1:80/a`, and reads the answer.
pub(crate) fn post(url: &str, headers: &str, body: impl AsRef<[u8]>) -> HttpAnswer {
    send_request(
        &format!(
            "POST {{}} HTTP/1.1\r\nHost: {{}}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n",
            body.as_ref().len()
        ),
        url,
        body,
    )
}

/// Sends a request with a custom head, in which `{}` stands for the path and then for the host.
pub(crate) fn send_request(head: &str, url: &str, body: impl AsRef<[u8]>) -> HttpAnswer {
    let (host, path) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let head = head
        .replacen("{}", &format!("/{path}"), 1)
        .replacen("{}", host, 1);
    let mut stream = TcpStream::connect(host).unwrap();
    stream
        .write_all(&[head.as_bytes(), body.as_ref()].concat())
        .unwrap();
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
    let header = |name: &str| {
        head.lines().find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix(name)
                .map(|rest| rest.trim().to_owned())
        })
    };
    let mut body = Vec::new();
    let is_cut = if header("transfer-encoding:").is_some() {
        !read_chunks(&mut reader, &mut body)
    } else {
        let _ = reader.read_to_end(&mut body);
        header("content-length:")
            .is_some_and(|length| length.parse::<usize>().unwrap() != body.len())
    };
    let status = head
        .split(' ')
        .nth(1)
        .unwrap_or_default()
        .parse()
        .unwrap_or_default();
    HttpAnswer {
        status,
        head,
        body,
        is_cut,
    }
}

/// Reads chunks; returns `false` if they end before the last.
fn read_chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> bool {
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return false;
        }
        let Ok(length) = usize::from_str_radix(line.trim(), 16) else {
            return false;
        };
        let mut part = vec![0; length + 2];
        if reader.read_exact(&mut part).is_err() {
            return false;
        }
        if length == 0 {
            return true;
        }
        body.extend_from_slice(&part[..length]);
    }
}

/// A running `ctxc proxy` with its own data folder.
pub(crate) struct ProxyProcess {
    pub(crate) project: Project,
    pub(crate) variables: BTreeMap<String, String>,
    child: Option<Child>,
    out: Option<BufReader<ChildStdout>>,
}

impl ProxyProcess {
    /// Starts a proxy for a vendor at another address.
    pub(crate) fn for_upstream(upstream: &str) -> Self {
        Self::new(Project::new(), &["--upstream", upstream])
    }

    pub(crate) fn new(project: Project, args: &[&str]) -> Self {
        let mut command = proxy_command(&project, &[&["proxy"], args].concat());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut variables = BTreeMap::new();
        let mut line = String::new();
        while out.read_line(&mut line).unwrap() > 0 {
            let (name, value) = line
                .trim()
                .strip_prefix("export ")
                .unwrap()
                .split_once('=')
                .unwrap();
            variables.insert(name.to_owned(), value.trim_matches('\'').to_owned());
            if name == "no_proxy" {
                break;
            }
            line.clear();
        }
        Self {
            project,
            variables,
            child: Some(child),
            out: Some(out),
        }
    }

    pub(crate) fn url(&self, variable: &str, path: &str) -> String {
        format!(
            "{}{path}",
            self.variables
                .get(variable)
                .unwrap_or_else(|| panic!("{:?}", self.variables))
        )
    }

    pub(crate) fn post_chat(&self, body: impl AsRef<[u8]>) -> HttpAnswer {
        post(
            &self.url("OPENAI_BASE_URL", "/chat/completions"),
            "Content-Type: application/json\r\nAuthorization: Bearer k3y-of-the-test\r\n",
            body,
        )
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Ends the proxy as Ctrl-C does.
    pub(crate) fn stop(&mut self) -> ProgramRun {
        self.send_signal("-INT");
        self.wait_for_end()
    }

    pub(crate) fn send_signal(&self, signal: &str) {
        assert!(
            Command::new("kill")
                .args([signal, &self.pid().to_string()])
                .status()
                .unwrap()
                .success()
        );
    }

    pub(crate) fn wait_for_end(&mut self) -> ProgramRun {
        let mut stdout = String::new();
        self.out
            .take()
            .unwrap()
            .read_to_string(&mut stdout)
            .unwrap();
        let output = self.child.take().unwrap().wait_with_output().unwrap();
        let run = ProgramRun::from(output);
        ProgramRun { stdout, ..run }
    }

    /// Returns the lines of the only recording.
    pub(crate) fn recorded_lines(&self) -> Vec<serde_json::Value> {
        self.recording_text()
            .lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect()
    }

    /// Returns the text of the only recording.
    pub(crate) fn recording_text(&self) -> String {
        let files = self.project.files();
        let file = files
            .iter()
            .find(|file| is_recording(file))
            .unwrap_or_else(|| panic!("{files:?}"));
        self.project.read_file(file)
    }
}

impl Drop for ProxyProcess {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Returns true if a path is that of a recording.
pub(crate) fn is_recording(path: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, ending)| ending == "jsonl")
}

/// Returns the program with a data folder inside the project.
pub(crate) fn proxy_command(project: &Project, args: &[&str]) -> Command {
    let mut command = project.command(args);
    command.env("XDG_DATA_HOME", project.path(".data"));
    for name in [
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_API_BASE",
        "ANTHROPIC_BASE_URL",
        "OLLAMA_HOST",
        "NO_PROXY",
        "no_proxy",
    ] {
        command.env_remove(name);
    }
    command
}

/// Returns the arguments after `--` that make this test binary the recorded program: it sends the
/// bodies in `CTXC_TEST_CALLS`, one a line.
pub(crate) fn caller_arguments() -> Vec<String> {
    let binary = std::env::current_exe().unwrap().display().to_string();
    [
        &binary,
        "--exact",
        "record::client::a_program_that_makes_calls",
        "--nocapture",
        "--test-threads=1",
    ]
    .map(str::to_owned)
    .to_vec()
}

#[test]
fn a_program_that_makes_calls() {
    let Ok(calls) = std::env::var("CTXC_TEST_CALLS") else {
        return;
    };
    let base = std::env::var("OPENAI_BASE_URL").unwrap();
    for body in calls.lines() {
        let headers = format!(
            "Authorization: Bearer {}\r\n",
            std::env::var("OPENAI_API_KEY").unwrap_or_default()
        );
        if body.contains("\"claude-") {
            let answer = post(
                &format!(
                    "{}/v1/messages",
                    std::env::var("ANTHROPIC_BASE_URL").unwrap()
                ),
                "x-api-key: k\r\n",
                body,
            );
            println!("status {}: {}", answer.status, answer.text());
            continue;
        }
        if body.contains("\"contents\"") {
            let base = std::env::var("GOOGLE_GEMINI_BASE_URL").unwrap();
            let answer = post(
                &format!("{base}/v1beta/models/gemini-2.5-pro:generateContent"),
                "x-goog-api-key: k\r\n",
                body,
            );
            println!("status {}: {}", answer.status, answer.text());
            continue;
        }
        let path = if body.contains("\"messages\"") {
            "/chat/completions"
        } else {
            "/embeddings"
        };
        let answer = post(&format!("{base}{path}"), &headers, body);
        println!("status {}: {}", answer.status, answer.text());
    }
    assert!(std::env::var("CTXC_TEST_FAILS").is_err(), "asked for");
}
