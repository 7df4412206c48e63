//! Tests of the private items of `src/cli/init/agent.rs`.

use super::python_library;
use pretty_assertions::assert_eq;

#[test]
fn a_line_names_a_library_in_each_form_of_the_package_managers() {
    for (line, library) in [
        ("openai>=1.0", Some("openai")),
        (
            "OpenAI[realtime] == 1.2 ; python_version > '3.9'",
            Some("openai"),
        ),
        (
            "dependencies = [\"requests\", \"langchain_core~=0.3\"]",
            Some("langchain-core"),
        ),
        ("anthropic = \"^0.40\"", Some("anthropic")),
        ("  'pydantic-ai',", Some("pydantic-ai")),
        ("# openai", None),
        ("name = \"my-openai-thing\"", None),
        ("openai-whisper-server==1", None),
        ("", None),
    ] {
        assert_eq!(python_library(line).as_deref(), library, "{line}");
    }
}
