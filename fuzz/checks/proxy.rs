//! Any bytes come to the proxy: it answers as HTTP or closes the connection, and answers the next call.

use ctxc::internals::project::config::RecordedContent;
use ctxc::internals::record::comparison::RequestComparison;
use ctxc::internals::record::proxy::call_recorder::RecorderOptions;
use ctxc::internals::record::proxy::replay::{Replay, ReplayMatching};
use ctxc::internals::record::proxy::request::StrictMode;
use ctxc::internals::record::proxy::server::{
    ForwardLimits, ProxyOptions, ProxyRoute, ProxyServer, ProxySource,
};
use ctxc::internals::record::proxy::vendor::VENDORS;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What stands for the path with the token of the run.
const HERE: &str = "/HERE";
/// How often a good call is made in between.
const EVERY: u64 = 16;

/// A proxy with nothing to answer from.
fn server() -> &'static ProxyServer {
    static SERVER: OnceLock<ProxyServer> = OnceLock::new();
    SERVER.get_or_init(|| {
        let route = |vendor: &'static _| ProxyRoute {
            name: "openai".to_owned(),
            vendor,
            upstream: "http://127.0.0.1:9".to_owned(),
        };
        let recorder = RecorderOptions {
            salt: [7; 32],
            secrets: Vec::new(),
            content: RecordedContent::Redacted,
            patterns: Vec::new(),
            file: None,
            observer: None,
            project: std::env::temp_dir(),
            command: None,
        };
        let source = ProxySource::Replay(Arc::new(Replay::new(
            Vec::new(),
            ReplayMatching::Key,
            RequestComparison::default(),
        )));
        let routes = vec![route(&VENDORS[0])];
        let plan = ProxyOptions {
            port: 0,
            routes,
            source,
            strict: StrictMode::default(),
            limits: ForwardLimits::default(),
            recorder,
        };
        ProxyServer::start(plan).expect("a free port")
    })
}

/// Sends bytes, says whether they end there, and reads to the end; `None` where this machine has no port left.
fn answer(sent: &[u8], ends: bool) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect(("127.0.0.1", server().port())).ok()?;
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .ok()?;
    // It may close before it has read everything.
    let _ = stream.write_all(sent);
    if ends {
        let _ = stream.shutdown(Shutdown::Write);
    }
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(why)
            if matches!(
                why.kind(),
                std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
            ) =>
        {
            panic!("no answer, and no end")
        }
        _ => Some(answer),
    }
}

/// The inputs that were sent.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Sends the bytes, the path of the run in their place.
pub(crate) fn check(data: &[u8]) {
    let url = server().url("openai");
    let path = url.splitn(4, '/').nth(3).expect("an address with a path");
    let mut sent = data.to_vec();
    if let Some(at) = data
        .windows(HERE.len())
        .position(|window| window == HERE.as_bytes())
    {
        sent.splice(at + 1..at + HERE.len(), path.bytes());
    }
    if let Some(answer) = answer(&sent, true) {
        assert!(
            answer.is_empty() || answer.starts_with(b"HTTP/1."),
            "{:?}",
            String::from_utf8_lossy(&answer)
        );
    }
    if COUNT.fetch_add(1, Ordering::Relaxed).is_multiple_of(EVERY) {
        let body = r#"{"model":"m","messages":[]}"#;
        let good = format!(
            "POST /{path}/chat/completions HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        if let Some(answer) = answer(good.as_bytes(), false) {
            assert!(
                answer.starts_with(b"HTTP/1.1 422"),
                "{:?}",
                String::from_utf8_lossy(&answer)
            );
        }
    }
}
