//! pytest-lsp, by the capabilities that editors announce, with findings pushed and pulled, in bytes
//! and in UTF-16.

use super::editors::{command, expected, project, script};

#[test]
#[ignore = "needs pytestlsp: pytest-lsp from its requirements"]
fn pytestlsp_sees_and_mends_the_finding_as_every_editor() {
    let project = project();
    let mut pytest = command(&project, "pytest");
    pytest.args([
        "-q",
        "-p",
        "no:cacheprovider",
        "-o",
        "asyncio_mode=auto",
        "-W",
        "error::pytest_lsp.LspSpecificationWarning",
    ]);
    pytest
        .arg("--rootdir")
        .arg(project.path(""))
        .arg(script("pytestlsp.py"));
    pytest
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("CTXC_EXPECTED", expected().to_string());
    let output = pytest
        .output()
        .unwrap_or_else(|error| panic!("pytest: {error}"));
    let printed = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{printed}");
    // Eight profiles, twice two ways.
    assert!(printed.contains("\n32 passed"), "{printed}");
}
