//! The webhook: the permitted senders and deliveries, and a thousand deliveries to a program that
//! is killed again and again.

use super::program::{child, until};
use ctxc::runtime::{TaskJournal, TaskSource, Webhook, WebhookOptions};
use pretty_assertions::assert_eq;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const DELIVERIES: usize = 1_000;
/// Marks the process as the program that is killed, and gives its folder.
const PART: &str = "CTXC_TEST_WEBHOOK";

/// Posts a body, and returns the status; `None` if no answer came.
fn post(address: SocketAddr, path: &str, headers: &str, body: &str) -> Option<u16> {
    post_as("localhost", address, path, headers, body)
}

/// The same with the host name that the sender uses.
fn post_as(host: &str, address: SocketAddr, path: &str, headers: &str, body: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .ok()?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n",
        body.len()
    );
    stream
        .write_all([head.as_bytes(), body.as_bytes()].concat().as_slice())
        .ok()?;
    let mut answer = String::new();
    // An early refusal is answered although not all of the request was read.
    let _ = stream.read_to_string(&mut answer);
    answer.split(' ').nth(1)?.parse().ok()
}

const JSON: &str = "content-type: application/json\r\n";

fn start(folder: &Path, options: WebhookOptions) -> Webhook {
    Webhook::start(TaskJournal::open(folder).unwrap(), options).unwrap()
}

#[test]
fn a_delivery_is_a_task_once() {
    let folder = tempfile::tempdir().unwrap();
    let options = WebhookOptions {
        org: "ops".to_owned(),
        priority: 3,
        ..WebhookOptions::default()
    };
    let mut webhook = start(folder.path(), options);
    assert!(webhook.address().ip().is_loopback());
    let deliver = |headers: &str, body: &str| {
        post(webhook.address(), "/tasks", &[JSON, headers].concat(), body).unwrap()
    };
    assert_eq!(deliver("idempotency-key: a\r\n", "{\"n\": 1}"), 202);
    assert_eq!(deliver("idempotency-key: a\r\n", "{\"n\": 1}"), 200);
    assert_eq!(deliver("x-github-delivery: b\r\n", "[]"), 202);
    // Without a name, the same body is the same task.
    assert_eq!(
        (
            deliver("", "{\"n\": 2}"),
            deliver("", "{\"n\": 2}"),
            deliver("", "{\"n\": 3}")
        ),
        (202, 200, 202)
    );
    let first = webhook.claim().unwrap().unwrap();
    assert_eq!(
        (
            &*first.id,
            &*first.org,
            first.priority,
            first.payload["n"].as_u64()
        ),
        ("a", "ops", 3, Some(1))
    );
    webhook.release("a").unwrap();
    let ids: Vec<String> = std::iter::from_fn(|| webhook.claim().unwrap())
        .map(|task| task.id)
        .collect();
    assert_eq!((ids.len(), ids[0].as_str(), ids[3].as_str()), (4, "b", "a"));
    webhook.complete("b").unwrap();
    webhook.wait(Duration::from_millis(20));
    assert_eq!(webhook.claim().unwrap(), None);
}

#[test]
fn what_is_no_delivery_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut webhook = start(
        folder.path(),
        WebhookOptions {
            max_body: 100,
            ..WebhookOptions::default()
        },
    );
    let address = webhook.address();
    assert_eq!(post(address, "/tasks", JSON, "{ not json"), Some(400));
    assert_eq!(
        post(address, "/tasks", JSON, &format!("\"{}\"", "x".repeat(200))),
        Some(413)
    );
    assert_eq!(
        post(address, "/tasks", "content-type: text/plain\r\n", "{}"),
        Some(415)
    );
    assert_eq!(post(address, "/", JSON, "{}"), Some(404));
    assert_eq!(post(address, "/tasks/x", JSON, "{}"), Some(404));
    assert_eq!(
        post(
            address,
            "/tasks",
            &format!("{JSON}idempotency-key: {}\r\n", "x".repeat(300)),
            "{}"
        ),
        Some(400)
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .write_all(b"GET /tasks HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 405"), "{answer}");
    assert_eq!(webhook.claim().unwrap(), None);
}

#[test]
fn a_token_and_a_signature_are_held_against_every_delivery() {
    let folder = tempfile::tempdir().unwrap();
    let (token, secret) = (
        Some("letmein".to_owned()),
        Some("It's a Secret to Everybody".to_owned()),
    );
    let options = WebhookOptions {
        token,
        secret,
        ..WebhookOptions::default()
    };
    assert_eq!(
        format!("{options:?}").matches("Secret").count()
            + format!("{options:?}").matches("letmein").count(),
        0
    );
    let mut webhook = start(folder.path(), options);
    let address = webhook.address();
    // The example of GitHub's documentation, as a JSON text.
    let body = "\"Hello, World!\"";
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, b"It's a Secret to Everybody");
    let hex = |text: &str| {
        ring::hmac::sign(&key, text.as_bytes())
            .as_ref()
            .iter()
            .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
    };
    assert_eq!(
        hex("Hello, World!"),
        "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    );
    let bearer = "authorization: Bearer letmein\r\n";
    let signed = format!("x-hub-signature-256: sha256={}\r\n", hex(body));
    let deliver = |path: &str, headers: &[&str]| {
        post(
            address,
            path,
            &[&[JSON][..], headers].concat().concat(),
            body,
        )
        .unwrap()
    };
    assert_eq!(deliver("/tasks", &[]), 401);
    assert_eq!(deliver("/tasks", &[&signed]), 401);
    assert_eq!(deliver("/tasks", &[bearer]), 401);
    assert_eq!(deliver("/tasks/wrong", &[&signed]), 401);
    assert_eq!(
        deliver(
            "/tasks",
            &[
                bearer,
                &format!("x-hub-signature-256: sha256={}\r\n", hex("other"))
            ]
        ),
        401
    );
    assert_eq!(
        deliver("/tasks", &[bearer, "x-hub-signature-256: sha256=zz\r\n"]),
        401
    );
    assert_eq!(webhook.claim().unwrap(), None);
    assert_eq!(deliver("/tasks", &[bearer, &signed]), 202);
    assert_eq!(deliver("/tasks/letmein", &[&signed]), 200);
}

/// A foreign name that resolves to this machine would let a page in a browser deliver.
#[test]
fn an_open_webhook_is_called_by_this_machines_own_names_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut webhook = start(&folder.path().join("open"), WebhookOptions::default());
    let address = webhook.address();
    for host in [
        "evil.example",
        &format!("evil.example:{}", address.port()),
        "localhost.evil.example",
        "10.0.0.1",
        "",
    ] {
        assert_eq!(
            post_as(host, address, "/tasks", JSON, "{}"),
            Some(403),
            "{host}"
        );
    }
    assert_eq!(webhook.claim().unwrap(), None);
    for (body, host) in [
        ("1", address.to_string()),
        ("2", "LOCALHOST:80".to_owned()),
        ("3", "[::1]:80".to_owned()),
        ("4", "[::1]".to_owned()),
    ] {
        assert_eq!(
            post_as(&host, address, "/tasks", JSON, body),
            Some(202),
            "{host}"
        );
    }
    // If senders authenticate themselves, a tunnel may bring its own host name along.
    let options = WebhookOptions {
        token: Some("letmein".to_owned()),
        ..WebhookOptions::default()
    };
    let webhook = start(&folder.path().join("proven"), options);
    assert_eq!(
        post_as(
            "tunnel.example",
            webhook.address(),
            "/tasks/letmein",
            JSON,
            "{}"
        ),
        Some(202)
    );
}

#[test]
fn an_address_that_others_reach_needs_both() {
    let folder = tempfile::tempdir().unwrap();
    let address = "0.0.0.0:0".parse().unwrap();
    for (token, secret) in [
        (None, None),
        (Some("a"), None),
        (None, Some("a")),
        (Some("a"), Some("")),
    ] {
        let (token, secret) = (token.map(str::to_owned), secret.map(str::to_owned));
        let options = WebhookOptions {
            address,
            token,
            secret,
            ..WebhookOptions::default()
        };
        let refused =
            Webhook::start(TaskJournal::open(folder.path()).unwrap(), options).unwrap_err();
        assert_eq!(
            refused.note,
            "other machines reach 0.0.0.0:0: a webhook there needs a token and a secret for signatures"
        );
    }
}

/// The program that is killed: three workers that note when they begin and end a task.
fn work(place: &Path) {
    let webhook = Mutex::new(start(&place.join("state"), WebhookOptions::default()));
    let address = webhook.lock().unwrap().address().to_string();
    fs::write(place.join("address.new"), address).unwrap();
    fs::rename(place.join("address.new"), place.join("address")).unwrap();
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(place.join("log"))
        .unwrap();
    let process = std::process::id();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while place.exists() {
                    let Some(task) = webhook.lock().unwrap().claim().unwrap() else {
                        std::thread::sleep(Duration::from_millis(1));
                        continue;
                    };
                    (&log)
                        .write_all(format!("{process} begin {}\n", task.id).as_bytes())
                        .unwrap();
                    std::thread::sleep(Duration::from_micros(300));
                    (&log)
                        .write_all(format!("{process} end {}\n", task.id).as_bytes())
                        .unwrap();
                    webhook.lock().unwrap().complete(&task.id).unwrap();
                }
            });
        }
    });
}

#[test]
fn a_thousand_deliveries_to_a_program_that_is_killed_again_and_again() {
    if let Some(place) = std::env::var_os(PART) {
        return work(&PathBuf::from(place));
    }
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let next = AtomicUsize::new(0);
    let is_delivered = AtomicBool::new(false);
    let log = || fs::read_to_string(place.join("log")).unwrap_or_default();
    let is_worked_off = || {
        log()
            .lines()
            .filter_map(|line| line.split(" end ").nth(1))
            .collect::<std::collections::BTreeSet<_>>()
            .len()
            == DELIVERIES
    };
    let mut kills = 0;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= DELIVERIES {
                        break;
                    }
                    // A sender delivers until it is acknowledged.
                    until("an acknowledgement", || {
                        let address = fs::read_to_string(place.join("address"))
                            .ok()?
                            .parse()
                            .ok()?;
                        let headers = format!("{JSON}idempotency-key: d{number}\r\n");
                        post(address, "/tasks", &headers, &format!("{{\"n\": {number}}}"))
                            .filter(|status| matches!(status, 200 | 202))
                    });
                }
                if next.load(Ordering::Relaxed) >= DELIVERIES + 4 {
                    is_delivered.store(true, Ordering::Release);
                }
            });
        }
        loop {
            let _ = fs::remove_file(place.join("address"));
            let mut program = child(
                "work::webhook::a_thousand_deliveries_to_a_program_that_is_killed_again_and_again",
                PART,
                place,
            );
            until("the program", || {
                place.join("address").exists().then_some(())
            });
            let is_last = is_delivered.load(Ordering::Acquire);
            if is_last {
                until("the end", || is_worked_off().then_some(()));
            } else {
                std::thread::sleep(Duration::from_millis(40 + 17 * (kills % 5)));
            }
            program.kill().unwrap();
            program.wait().unwrap();
            kills += 1;
            if is_last {
                break;
            }
        }
    });
    assert!(kills >= 3, "{kills} kills are few");
    let mut running: BTreeMap<String, String> = BTreeMap::new();
    let mut ended: BTreeMap<String, u32> = BTreeMap::new();
    for line in log().lines() {
        let [process, what, id] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        if what == "begin" {
            let other = running.insert(id.to_owned(), process.to_owned());
            assert!(
                other.is_none_or(|other| other != process),
                "{id} runs twice at once"
            );
        } else {
            assert_eq!(running.remove(id).as_deref(), Some(process));
            *ended.entry(id.to_owned()).or_default() += 1;
        }
    }
    assert_eq!(ended.len(), DELIVERIES, "none is lost");
    let again = ended.values().filter(|count| **count > 1).count();
    assert!(
        again <= 3 * kills as usize,
        "{again} ran to their end more than once, of {kills} kills"
    );
}
