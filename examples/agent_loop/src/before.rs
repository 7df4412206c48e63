//! The context as it was put together before: the only place of the program where a prompt could be read, and not as text.
//!
//! Kept to show what is wrong with it. `tests/turns.rs` holds each fault against [`crate::agent`].

use std::collections::HashMap;

/// Joins everything and cuts the end off.
pub fn context(
    ticket: &str,
    documents: &HashMap<String, String>,
    index: &str,
    limit: usize,
) -> String {
    let mut prompt = String::from("You answer the customers of a small hosting company.\n\n");
    // The order of a hash map: another prompt in every run, and no cache of a provider ever hits.
    for (path, text) in documents {
        prompt += &format!("## File: {path}\n\n{text}\n\n---\n\n");
    }
    prompt += &format!("## File: docs/index.md\n\n{index}\n\n---\n\n");
    // The customer's words stand where ours do, and may give orders.
    prompt +=
        &format!("## Task\n\nAnswer the ticket, or ask for one more document.\n\n{ticket}\n\n");
    prompt += "## Constraints\n\n- Promise no dates.\n- Quote no document word for word.";
    if prompt.len() > limit {
        // What comes last is lost in silence, and that is what the answer must keep to.
        prompt.truncate(prompt.floor_char_boundary(limit));
        prompt.push_str("[truncated]");
    }
    prompt
}
