//! jing as the oracle of RELAX NG: the schema that the benchmarks give to other validators is
//! valid, and describes the corpus. A schema that refuses the corpus would make the others look
//! slow or fast for nothing.

use std::path::Path;
use std::process::Command;

#[test]
#[ignore = "needs jing: validates the corpus of the benchmarks"]
fn jing_accepts_the_corpus_by_the_schema_of_the_benchmarks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let corpus = folder.path().join("corpus");
    let made = Command::new("python3")
        .arg(root.join("benches/gen_corpus.py"))
        .arg(&corpus)
        .arg("400")
        .status()
        .unwrap();
    assert!(made.success());
    let expected = std::fs::read_to_string(folder.path().join("corpus.expected.json")).unwrap();
    let expected: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&expected).unwrap();
    let valid: Vec<&String> = expected
        .iter()
        .filter(|(_, verdict)| *verdict != "malformed")
        .map(|(path, _)| path)
        .collect();
    assert!(valid.len() > 350);

    let schema = root.join("benches/peers/structure.rng");
    let run = |files: &[&String]| {
        Command::new("jing")
            .arg(&schema)
            .args(files)
            .current_dir(&corpus)
            .output()
            .unwrap()
    };
    let output = run(&valid);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );

    let path = corpus.join(valid[0]);
    let text = std::fs::read_to_string(&path)
        .unwrap()
        .replace("<description>", "<descripton>")
        .replace("</description>", "</descripton>");
    std::fs::write(path, text).unwrap();
    assert!(
        !run(&valid[..1]).status.success(),
        "an element that does not exist is refused"
    );
}
