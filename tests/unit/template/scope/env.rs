//! Tests of the private items of `src/template/scope/env.rs`.

use super::*;

#[test]
fn names_are_found_whatever_their_number() {
    let names: Vec<String> = (0..100).map(|n| format!("n{}", n % 60)).collect();
    let mut env = BindingStack::default();
    for (at, name) in names.iter().enumerate() {
        env.bind(name, Span::empty_at(at as u32));
        assert_eq!(
            env.find_binding(name).map(|found| found.span.start),
            Some(at as u32)
        );
    }
    for at in (0..100_u32).rev() {
        let innermost = env
            .find_binding(&names[at as usize])
            .map(|found| found.span.start);
        assert_eq!(innermost, Some(at));
        assert_eq!(
            env.unbind_down_to(0).map(|entry| entry.binding.span.start),
            Some(at)
        );
        let next = env
            .find_binding(&names[at as usize])
            .map(|found| found.span.start);
        assert_eq!(next, at.checked_sub(60));
    }
    assert!(env.unbind_down_to(0).is_none());
}
