//! The server: listens on loopback, accepts connections, and at the end waits until every call is
//! recorded.

use super::body::ResponseStream;
use super::call_recorder::{CallRecorder, ProxyTally, RecorderOptions};
use super::exchange::Proxy;
pub use super::exchange::{ProxyRoute, ProxySource, ScriptFn};
pub use super::forward::ForwardLimits;
use super::forward::http_client;
use super::request::StrictMode;
use crate::base::fs;
use crate::base::hash::Hash;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// The options of a proxy.
pub struct ProxyOptions {
    /// The port; 0 for any free port.
    pub port: u16,
    /// The routes of the proxy.
    pub routes: Vec<ProxyRoute>,
    /// The source of answers.
    pub source: ProxySource,
    /// The check of requests before they are answered.
    pub strict: StrictMode,
    /// The time limits of a call.
    pub limits: ForwardLimits,
    /// The options of the recorder.
    pub recorder: RecorderOptions,
}

/// A running proxy.
pub struct ProxyServer {
    runtime: Runtime,
    proxy: Arc<Proxy>,
    address: SocketAddr,
    /// Receives `true` when the run ends.
    run_end: watch::Sender<bool>,
}

/// The maximum number of server threads.
const MAX_THREADS: usize = 4;
/// The time to wait at the end of a run for pending answers, and then for recording them.
const ANSWER_GRACE: Duration = Duration::from_secs(1);
const RECORDING_GRACE: Duration = Duration::from_mins(1);
/// The interval at which recorded calls are synced to disk.
const SYNC_INTERVAL: Duration = Duration::from_millis(200);

impl std::fmt::Debug for ProxyServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl ProxyServer {
    /// Starts a proxy.
    ///
    /// # Errors
    /// It cannot listen, for example because the port is in use.
    pub fn start(plan: ProxyOptions) -> io::Result<Self> {
        let threads =
            std::thread::available_parallelism().map_or(1, |count| count.get().min(MAX_THREADS));
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .enable_io()
            .enable_time()
            .build()?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, plan.port)))?;
        let address = listener.local_addr()?;
        let (run_end, has_ended) = watch::channel(false);
        let token = Hash(fs::random_bytes()).to_string();
        let client = {
            let _inside = runtime.enter();
            http_client(plan.limits)
        };
        let proxy = Arc::new(Proxy {
            token: token.get(3..35).unwrap_or_default().to_owned(),
            routes: plan.routes,
            source: plan.source,
            strict: plan.strict,
            limits: plan.limits,
            client,
            recorder: CallRecorder::new(plan.recorder),
            calls: AtomicU64::new(0),
            open: AtomicUsize::new(0),
            run_end: has_ended,
        });
        runtime.spawn(accept_connections(listener, Arc::clone(&proxy)));
        runtime.spawn(sync_regularly(Arc::clone(&proxy)));
        Ok(Self {
            runtime,
            proxy,
            address,
            run_end,
        })
    }

    /// The URL of a route.
    pub fn url(&self, route: &str) -> String {
        format!("http://{}/{}/{route}", self.address, self.proxy.token)
    }

    /// The port that the proxy listens on.
    pub const fn port(&self) -> u16 {
        self.address.port()
    }

    /// Shuts down after every call is recorded, and returns the tally.
    pub fn shut_down(self) -> ProxyTally {
        let wait = |max: Duration| {
            let start = Instant::now();
            while self.proxy.open.load(Ordering::Acquire) > 0 && start.elapsed() < max {
                std::thread::sleep(Duration::from_millis(2));
            }
        };
        wait(ANSWER_GRACE);
        // Pending forwards end now.
        let _ = self.run_end.send(true);
        wait(RECORDING_GRACE);
        self.proxy.recorder.sync_file();
        let open = self.proxy.open.load(Ordering::Acquire);
        let mut tally = self.proxy.recorder.lock_tally().clone();
        if open > 0 {
            tally.faults.push(format!(
                "{open} calls were not kept: they were not answered when the run ended"
            ));
        }
        self.runtime.shutdown_background();
        tally
    }
}

async fn accept_connections(listener: TcpListener, proxy: Arc<Proxy>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many connections are open: wait until some close.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        // Without the option, the connection is only slower.
        let _ = stream.set_nodelay(true);
        proxy.recorder.lock_tally().connections += 1;
        let proxy = Arc::clone(&proxy);
        tokio::spawn(async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let proxy = Arc::clone(&proxy);
                async move {
                    Ok::<Response<ResponseStream>, Infallible>(proxy.answer_request(request).await)
                }
            });
            // A broken connection concerns only the program.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

/// Syncs recorded calls to disk regularly, so that little is lost if the machine stops.
async fn sync_regularly(proxy: Arc<Proxy>) {
    let mut before = 0;
    loop {
        tokio::time::sleep(SYNC_INTERVAL).await;
        let calls = proxy.recorder.lock_tally().calls;
        if calls != before {
            before = calls;
            let proxy = Arc::clone(&proxy);
            // An error here only means that the runtime is shutting down.
            let _ = tokio::task::spawn_blocking(move || proxy.recorder.sync_file()).await;
        }
    }
}
