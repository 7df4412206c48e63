//! `floors WORK FOLDER THREADS`: the lower bounds of the time of any program over a folder of
//! files.
//!
//! Each floor does the work of the previous one and one step more, over the `*.xml` files of a
//! folder, with the same walk as ctxc. Prints one number, so that the compiler cannot remove the
//! work.

use ignore::{WalkBuilder, WalkState};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

/// The work done with each file.
#[derive(Clone, Copy)]
enum Work {
    /// Nothing: the walk alone.
    Walk,
    /// Reads its length.
    Stat,
    /// Opens it, reads it into a reused buffer, closes it.
    Read,
    /// Also looks at every byte once.
    Scan,
    /// Also reads quick-xml's events.
    QuickXml,
    /// Builds roxmltree's tree.
    Roxmltree,
}

fn work(name: &str) -> Option<Work> {
    Some(match name {
        "walk" => Work::Walk,
        "stat" => Work::Stat,
        "read" => Work::Read,
        "scan" => Work::Scan,
        "quick-xml" => Work::QuickXml,
        "roxmltree" => Work::Roxmltree,
        _ => return None,
    })
}

fn read(path: &Path, buffer: &mut Vec<u8>) -> std::io::Result<()> {
    buffer.clear();
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    buffer.reserve(usize::try_from(length).unwrap_or(0) + 1);
    file.read_to_end(buffer)?;
    Ok(())
}

fn events(text: &str) -> u64 {
    let mut reader = quick_xml::Reader::from_str(text);
    let mut count = 0;
    loop {
        match reader.read_event() {
            Ok(quick_xml::events::Event::Eof) | Err(_) => return count,
            Ok(_) => count += 1,
        }
    }
}

fn one(work: Work, path: &Path, buffer: &mut Vec<u8>) -> std::io::Result<u64> {
    match work {
        Work::Walk => return Ok(1),
        Work::Stat => return Ok(std::fs::metadata(path)?.len()),
        Work::Read | Work::Scan | Work::QuickXml | Work::Roxmltree => read(path, buffer)?,
    }
    let text = || std::str::from_utf8(buffer).unwrap_or_default();
    Ok(match work {
        Work::Walk | Work::Stat | Work::Read => buffer.len() as u64,
        Work::Scan => memchr::memchr_iter(b'<', buffer).count() as u64,
        Work::QuickXml => events(text()),
        Work::Roxmltree => {
            roxmltree::Document::parse(text()).map_or(0, |tree| tree.descendants().count() as u64)
        }
    })
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, name, folder, threads] = arguments.as_slice() else {
        eprintln!("usage: floors walk|stat|read|scan|quick-xml|roxmltree FOLDER THREADS");
        return ExitCode::from(2);
    };
    let (Some(work), Ok(threads)) = (work(name), threads.parse::<usize>()) else {
        eprintln!("no such work or number of threads: {name} {threads}");
        return ExitCode::from(2);
    };
    let (files, total) = (AtomicU64::new(0), AtomicU64::new(0));
    let folder = Path::new(folder);
    if threads == 1 {
        let mut buffer = Vec::new();
        for entry in WalkBuilder::new(folder).build().filter_map(Result::ok) {
            visit(work, &entry, &mut buffer, &files, &total);
        }
    } else {
        WalkBuilder::new(folder)
            .threads(threads)
            .build_parallel()
            .run(|| {
                let (mut buffer, files, total) = (Vec::new(), &files, &total);
                Box::new(move |entry| {
                    if let Ok(entry) = entry {
                        visit(work, &entry, &mut buffer, files, total);
                    }
                    WalkState::Continue
                })
            });
    }
    let mut out = std::io::stdout();
    match writeln!(out, "{} files: {}", files.into_inner(), total.into_inner()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn visit(
    work: Work,
    entry: &ignore::DirEntry,
    buffer: &mut Vec<u8>,
    files: &AtomicU64,
    total: &AtomicU64,
) {
    let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
    if !is_file
        || entry
            .path()
            .extension()
            .is_none_or(|extension| extension != "xml")
    {
        return;
    }
    if let Ok(number) = one(work, entry.path(), buffer) {
        files.fetch_add(1, Ordering::Relaxed);
        total.fetch_add(number, Ordering::Relaxed);
    }
}
