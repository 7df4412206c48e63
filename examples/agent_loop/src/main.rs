//! Answers one ticket with a model that stands in for a real one, and prints what it was told in the last turn.

use agent_loop::agent::{Library, answer};
use agent_loop::model::Stub;
use std::collections::BTreeMap;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let document = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let library = Library(BTreeMap::from([
        document(
            "docs/index.md",
            "docs/logins.md: passwords\ndocs/moves.md: moving a site\n",
        ),
        document("docs/logins.md", "The login page has a reset link.\n"),
    ]));
    let mut model = Stub::default();
    let outcome = answer(&mut model, &library, "I cannot log in.", 8_000)?;
    for said in model.told.iter().flatten().skip(2) {
        println!("[{}]\n{}\n", said.role, said.text);
    }
    println!("answered in {} turns: {}", outcome.turns, outcome.answer);
    Ok(())
}
