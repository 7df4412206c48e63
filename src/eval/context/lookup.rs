//! Judges lookups in the current files of the project.

use crate::context::assemble::Assembly;
use crate::context::context_source::{ContextSource, Match};
use crate::eval::prepared_case::{PreparedCase, SeenContext};
use crate::eval::verdict::{self, ExpectationOutcome, JudgedOutcome, Presence, Reason};
use crate::scenario::expect::context::LookupTest;
use crate::scenario::paths::normalize_path;
use std::cell::RefCell;

/// The current matches of a lookup.
///
/// # Errors
/// The reason why the lookup cannot run.
pub(in crate::eval) fn find_passages(
    case: &PreparedCase<'_>,
    test: &LookupTest,
) -> Result<Vec<Match>, String> {
    let index = case
        .run
        .index
        .ok_or("there are no files here that could be looked up")?;
    let role = case.receiver.role.map(|role| role.name.value.as_str());
    let ask = |query: &str| index.search_for(role, query, test.within);
    if let Some(query) = &test.query {
        return ask(&query.value);
    }
    let first_query = FirstQuery::default();
    // Only the query matters here; the context itself is judged elsewhere.
    let _: Result<Assembly, _> = case.assemble_from(&first_query);
    ask(&first_query
        .0
        .into_inner()
        .ok_or("this agent looks nothing up: give a `query`")?)
}

/// Records the first query, and finds nothing.
#[derive(Debug, Default)]
struct FirstQuery(RefCell<Option<String>>);

impl ContextSource for FirstQuery {
    fn search(&self, query: &str, _: usize) -> Result<Vec<Match>, String> {
        self.0.borrow_mut().get_or_insert_with(|| query.to_owned());
        Ok(Vec::new())
    }
}

/// Judges the matches of a lookup.
pub(super) fn judge_lookup(seen: &SeenContext<'_>, test: &LookupTest) -> JudgedOutcome {
    let found = match find_passages(seen.case, test) {
        Ok(found) => found,
        Err(why) => {
            return (
                ExpectationOutcome::Fail,
                Reason::new("an answer of the lookup", why).into_blind(),
            );
        }
    };
    let ids: Vec<String> = found.iter().map(|one| format!("`{}`", one.id)).collect();
    let here = || {
        if ids.is_empty() {
            "nothing is found".to_owned()
        } else {
            format!("found, best first: {}", ids.join(", "))
        }
    };
    let one = |name: &str, presence: Presence| {
        let path = normalize_path(name);
        let at = found
            .iter()
            .position(|one| one.id == *path || one.file() == path);
        // A misspelt file name never matches, and proves nothing.
        let is_there = || {
            seen.case
                .run
                .live
                .text(path.split(':').next().unwrap_or(&path))
                .is_ok()
        };
        let (words, found) = match (at, presence) {
            (Some(at), Presence::Required) => {
                (format!("`{name}`"), format!("it as number {}", at + 1))
            }
            (Some(at), Presence::Forbidden) => {
                (format!("no `{name}`"), format!("it as number {}", at + 1))
            }
            (None, Presence::Required) => (
                format!("`{name}` among the best {} matches", test.within),
                "others".to_owned(),
            ),
            (None, Presence::Forbidden) => (format!("no `{name}`"), "none".to_owned()),
        };
        let reason = Reason::new(words, found);
        let holds = at.is_some() == (presence == Presence::Required);
        match (holds, at) {
            (_, None) if !is_there() => (
                ExpectationOutcome::Fail,
                reason
                    .with_advice("the project has no such file")
                    .into_blind(),
            ),
            (true, _) => (ExpectationOutcome::Pass, reason),
            (false, _) => (ExpectationOutcome::Fail, reason.with_advice(here())),
        }
    };
    let finds = test
        .finds
        .iter()
        .map(|name| one(&name.value, Presence::Required));
    let lacks = test.lacks.iter();
    let lacks = lacks.map(|name| one(&name.value, Presence::Forbidden));
    verdict::all_hold(&finds.chain(lacks).collect::<Vec<_>>())
}
